"""Read `.h5mu` and `.h5ad` files, and MuData and AnnData objects."""

from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from manyview.data.annotated import annotated_labels, find_label_column, is_mudata, open_annotated
from manyview.data.coerce import as_matrix
from manyview.data.io.hdf5_files import check_hdf5
from manyview.data.io.reading import Reading, ReadOptions, import_extra, unreadable
from manyview.data.io.tables import LABEL_NAMES
from manyview.data.label_columns import LabelColumn
from manyview.errors import DataFileError, InputError


def load_annotated(path: Path) -> Any:
    """Load a MuData or an AnnData from its file."""
    suffix = path.suffix.casefold()
    library = import_extra("mudata" if suffix == ".h5mu" else "anndata", path.name, "omics")
    read = library.read_h5mu if suffix == ".h5mu" else library.read_h5ad
    check_hdf5(path, f"an {suffix} file")
    try:
        with catch_warnings():
            simplefilter("ignore")  # about the next version of the library
            return read(path)
    except Exception as error:  # h5py and the libraries raise many kinds on damaged files
        raise unreadable(path, f"an {suffix} file", error) from error


def read_annotated_file(path: Path, options: ReadOptions, given: LabelColumn | None) -> Reading:
    """Read views and labels from an `.h5mu` or `.h5ad` file."""
    data = load_annotated(path)
    try:
        return read_annotated(data, options, given, path.name)
    except InputError as error:
        raise DataFileError(str(error)) from error


def read_annotated(
    data: Any, options: ReadOptions, given: LabelColumn | None, source: str
) -> Reading:
    """Read views, and labels from a column of `.obs`, of a MuData or AnnData.

    Without `label_column`, a single column named label, labels, class, target or y is used, of the
    data or else of the modalities.
    """
    opened = open_annotated(data, options.views_key, options.graphs_key, source)
    views = {name: as_matrix(view, name) for name, view in opened.views.items()}
    graphs = (
        {} if options.graphs_key is None else {options.graphs_key: views.pop(options.graphs_key)}
    )
    reading = Reading(
        views,
        f"{source} ({', '.join(views)})" if is_mudata(data) else source,
        graphs=graphs,
        columns={name: list(columns) for name, columns in opened.columns.items()},
        sample_ids=opened.sample_ids,
        present=opened.present,
    )
    n_left, n_kept = opened.n_left_out, len(opened.sample_ids)
    if n_left:
        reading.notes.append(
            f"{n_left} of {n_left + n_kept} observations have none of these views; they are left "
            "out."
        )
    label_column = options.label_column if given is None else None
    if given is None and label_column is None:
        label_column = find_label_column(data, LABEL_NAMES)
    if label_column is not None:
        column = annotated_labels(data, label_column, source)
        reading.labels, notes = column.align(reading.n_samples, reading.sample_ids)
        reading.labels_source = column.source
        reading.notes.extend(notes)
    return reading
