"""Read a `Dataset` from files and objects of any supported format."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manyview.data.annotated import is_annotated
from manyview.data.checksums import views_checksum
from manyview.data.dataset import Dataset
from manyview.data.frames import has_two_levels, is_frame, view_frames
from manyview.data.io.annotated_files import read_annotated, read_annotated_file
from manyview.data.io.joined_tables import join_tables, read_tables
from manyview.data.io.label_files import labels_in_table, read_label_file
from manyview.data.io.matlab import read_mat
from manyview.data.io.numpy_files import read_npy, read_npz
from manyview.data.io.paths import (
    ANNOTATED_SUFFIXES,
    NPY_SUFFIX,
    SINGLE_SUFFIXES,
    AnyPath,
    existing_path,
    files_checksum,
    find_files,
)
from manyview.data.io.reading import (
    Reading,
    ReadOptions,
    describe_views,
    missing_notes,
    view_notes,
)
from manyview.data.io.tables import frame_table
from manyview.data.label_values import LabelColumn, describe_labels
from manyview.data.views import MultiView, View, check_views
from manyview.errors import InputError
from manyview.validation import check_choice

KEYS = ("views_key", "labels_key", "graphs_key")


def read_views(
    data: AnyPath | Sequence[AnyPath] | Any,
    *,
    views_key: str | Sequence[str] | None = None,
    labels_key: str | None = None,
    graphs_key: str | None = None,
    samples_in: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    labels: AnyPath | Any = None,
    missing: str | None = None,
    ignore: str | Sequence[str] | None = None,
) -> Dataset:
    """Read views and labels from files, data frames, or a MuData or AnnData.

    The reader detects the layout and records in `notes` what it found. If two interpretations
    are possible and differ, it raises an error that names the option to pass.

    Parameters
    ----------
    data
        A `.mat` file (MATLAB 5 or 7.3), an `.npz` archive, an `.h5mu` or `.h5ad` file, `.npy`
        arrays (one per view, memory-mapped, so that they may be larger than memory), CSV, TSV or
        Parquet tables (one per view, joined on sample ids), or a folder that holds one of these.
        Or an object: a MuData or AnnData, a dict of pandas or polars frames (one per view, joined
        on sample ids, which are the index in pandas), or one frame, with two-level columns if it
        holds several views.
    views_key, labels_key, graphs_key
        In `.mat` and `.npz`: the variables that hold the views (one, or a list), the labels, and
        precomputed graphs. In a MuData: paths of views, such as `rna` (the X of that modality),
        `rna/layers/counts` or `rna/obsm/X_pca`, and of a graph, such as `rna/obsp/distances`.
    samples_in
        `rows` or `columns`, if the sizes leave it open.
    id_column, label_column
        In tables and frames: the columns of sample ids and of labels. In a MuData or AnnData,
        labels are a column of `.obs`; observations are joined on `obs_names` and lack the views
        of modalities that do not name them.
    labels
        A file or frame of labels: CSV, TSV, text, Parquet or `.npy`, joined on sample ids if both
        sides have them, else by row order. In a folder, `labels.csv`, `y.csv` or `classes.csv` is
        found without it.
    missing
        None refuses single missing values; "impute" leaves them as NaN for a method with the same
        setting. Samples that lack a whole view, because a table does not name them or their row
        is blank, are always kept.
    ignore
        Names of files of a folder to leave out. Other files that cannot be read are refused, so
        that no view is lost without notice.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "shapes.npz"
    >>> np.savez(file, view1=np.eye(3), view2=[[1, 0.5], [2, 1], [3, 4]], y=[1, 2, 2])
    >>> data = read_views(file)
    >>> data.views, data.labels
    (MultiView(3 samples; view1: 3, view2: 2), array([1, 2, 2]))
    >>> data.notes
    ('view1, view2: 2 views of 3 samples (3, 2 features); labels in y: 2 classes from 1 to 2.',)
    """
    if samples_in is not None:
        check_choice("samples_in", samples_in, ("rows", "columns"))
    if missing is not None:
        check_choice("missing", missing, ("error", "impute"))
    ignore = (ignore,) if isinstance(ignore, str) else ignore
    options = ReadOptions(
        views_key, labels_key, graphs_key, samples_in, id_column, label_column, missing, ignore
    )
    if is_annotated(data):
        name = type(data).__name__
        _refuse_options(options, ("labels_key", "samples_in", "id_column"), "files", name)
        given = _given_labels(labels, options)
        reading = read_annotated(data, options, given, name)
    else:
        frames = _frames(data)
        if frames is None:
            return _read_files(data, labels, options)
        name = "frame" if len(frames) == 1 else "frames"
        _refuse_options(options, (*KEYS, "samples_in"), "files", f"data {name}")
        tables = [frame_table(frame, f"frame {view!r}", view) for view, frame in frames.items()]
        given = _given_labels(labels, options)
        reading = join_tables(tables, options, given)
    return _as_dataset(name, reading, None, options.may_lack_values, given)


def _frames(data: Any) -> dict[str, Any] | None:
    """Return the data frames by view name; None if the data holds none."""
    if has_two_levels(data):
        return view_frames(data)
    if is_frame(data):
        return {"view1": data}
    if isinstance(data, Mapping) and data and all(is_frame(frame) for frame in data.values()):
        return {str(name): frame for name, frame in data.items()}
    if isinstance(data, Mapping) or hasattr(data, "shape"):
        raise InputError(
            "data must be files, data frames, a MuData or an AnnData; got "
            f"{type(data).__name__}. Pass arrays to MultiView or fit."
        )
    return None


def _given_labels(labels: Any, options: ReadOptions) -> LabelColumn | None:
    """Return labels from a separate file or frame; None if there is none."""
    if labels is None:
        return None
    if is_frame(labels) or hasattr(labels, "to_frame"):
        frame = labels if is_frame(labels) else labels.to_frame()
        table = frame_table(frame, "labels", "labels")
        return labels_in_table(table, options.id_column, options.label_column)
    path = existing_path(labels)
    return read_label_file(path, id_column=options.id_column, label_column=options.label_column)


def _read_files(data: AnyPath | Sequence[AnyPath], labels: Any, options: ReadOptions) -> Dataset:
    is_object = labels is not None and not isinstance(labels, (str, Path))
    found = find_files(data, None if is_object else labels, options.ignore or ())
    name, paths, label_path, skipped = found
    sha256 = files_checksum(paths if label_path is None else [*paths, label_path])
    given = _given_labels(labels if is_object else label_path, options)
    reading = _read(paths, options, given)
    dataset = _as_dataset(name, reading, sha256, options.may_lack_values, given)
    if skipped:
        note = f"Ignored: {', '.join(skipped)}."
        dataset = replace(dataset, notes=(*dataset.notes, note))
    return dataset


def _read(paths: Sequence[Path], options: ReadOptions, given: LabelColumn | None) -> Reading:
    suffix, file = paths[0].suffix.casefold(), paths[0].name
    if suffix in ANNOTATED_SUFFIXES:
        _refuse_options(options, ("labels_key", "samples_in"), "arrays and tables", file)
        if given is None:
            _refuse_options(options, ("id_column",), "tables", file)
        return read_annotated_file(paths[0], options, given)
    if suffix in (*SINGLE_SUFFIXES, NPY_SUFFIX) and given is None:
        _refuse_options(options, ("id_column", "label_column"), "tables", file)
    if suffix in SINGLE_SUFFIXES:
        reader = read_mat if suffix == ".mat" else read_npz
        return reader(paths[0], options, given)
    _refuse_options(options, KEYS, ".mat and .npz files", file)
    if suffix == NPY_SUFFIX:
        return read_npy(paths, options, given)
    return read_tables(paths, options, given)


def _refuse_options(
    options: ReadOptions, names: Sequence[str], meant_for: str, source: str
) -> None:
    for name in names:
        value = getattr(options, name)
        if value is not None:
            raise InputError(
                f"{name} is for {meant_for}; got {value!r} with {source}.", parameter=name
            )


def _as_dataset(
    name: str,
    reading: Reading,
    sha256: str | None,
    may_lack_values: bool,
    given: LabelColumn | None,
) -> Dataset:
    """Check the views and align passed labels; without `sha256`, use the checksum of the views."""
    if given is not None:
        reading.labels, notes = given.align(reading.n_samples, reading.sample_ids)
        reading.labels_source = given.source
        reading.notes.extend(notes)
    views = check_views(
        MultiView(
            {**reading.views, **reading.graphs},
            graphs=tuple(reading.graphs),
            columns=reading.columns,
            present=reading.present,
        ),
        may_lack_values=may_lack_values,
        sample_names=reading.sample_ids,
    )
    if reading.labels is None:
        about_labels = "no labels found"
    else:
        about_labels = describe_labels(reading.labels, reading.labels_source)
    n_samples = len(views)
    ids = reading.sample_ids or [str(row) for row in range(n_samples)]
    return Dataset(
        name=name,
        views=views,
        labels=reading.labels,
        sample_ids=np.array(ids),
        notes=(
            f"{describe_views(reading)}; {about_labels}.",
            *missing_notes(views),
            *view_notes(_complete_rows(views)),
            *reading.notes,
        ),
        sha256=sha256 or views_checksum(views),
    )


def _complete_rows(views: MultiView) -> dict[str, View]:
    """Return the rows of each feature view that have no missing value."""
    complete = {}
    for name in views.feature_names:
        gone = ~views.present[:, views.names.index(name)]
        gone[views.nonfinite_rows(name)] = True
        view = views[name]
        complete[name] = view[~gone] if gone.any() else view
    return {name: view for name, view in complete.items() if view.shape[0]}
