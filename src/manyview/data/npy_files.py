"""NumPy arrays in files of their own, one view each, mapped from the disk and not loaded."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from manyview.data.label_values import LabelColumn
from manyview.data.reading import (
    Reading,
    ReadOptions,
    check_rows,
    samples_are_rows,
    unreadable,
)
from manyview.errors import DataFileError


def read_npy(
    paths: Sequence[Path], options: ReadOptions, given_labels: LabelColumn | None = None
) -> Reading:
    """Read one view from each `.npy` file; rows are read from the disk when they are used.

    Samples are in rows unless `samples_in`, or the number of labels, says otherwise.
    """
    arrays = {path.stem: _map_array(path) for path in paths}
    if len(arrays) < len(paths):
        raise DataFileError("two files have the same name; a view is named as its file.")
    names = ", ".join(path.name for path in paths)
    n_samples, labels_source = None, ""
    if given_labels is not None and given_labels.sample_ids is None:
        n_samples, labels_source = len(given_labels.labels), given_labels.source
    rows = options.samples_in != "columns"
    if options.samples_in is None and n_samples is not None:
        fit = [array.shape == (n_samples, n_samples) for array in arrays.values()]
        rows = all(fit) or samples_are_rows(arrays, n_samples, None, names)
    views = {name: array if rows else array.T for name, array in arrays.items()}
    check_rows(views, n_samples, names, labels_source)
    return Reading(dict(views), ", ".join(views))


def _map_array(path: Path) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if "allow_pickle" not in str(error) and "Python objects" not in str(error):
            raise unreadable(path, "an .npy array", error) from error
        raise DataFileError(
            f"{path.name} holds Python objects, which only pickle could load; manyview never "
            "unpickles. Save it as plain numbers."
        ) from error
    except Exception as error:  # numpy raises many kinds on damaged files
        raise unreadable(path, "an .npy array", error) from error
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiub":
        raise DataFileError(
            f"{path.name} must hold a 2-D array of numbers to be a view; got shape "
            f"{getattr(array, 'shape', None)} of {getattr(array, 'dtype', 'another kind')}."
        )
    return np.asarray(array)
