"""Read a `Dataset` from files and objects of any supported format."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manyview.data.annotated import is_annotated
from manyview.data.checksums import views_checksum
from manyview.data.column_kinds import parse_kinds
from manyview.data.dataset import Dataset
from manyview.data.frames import has_two_levels, is_frame, view_frames
from manyview.data.imputing import complete_rows
from manyview.data.io.annotated_files import read_annotated, read_annotated_file
from manyview.data.io.joined_tables import join_tables, read_tables
from manyview.data.io.label_files import labels_in_table, read_label_file
from manyview.data.io.matlab import read_mat
from manyview.data.io.numpy_files import read_npy, read_npz
from manyview.data.io.paths import (
    ANNOTATED_SUFFIXES,
    NPY_SUFFIX,
    SINGLE_SUFFIXES,
    existing_path,
    file_suffix,
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
from manyview.data.label_columns import LabelColumn, merge_labels
from manyview.data.label_values import describe_labels
from manyview.data.views import MultiView, check_n_views, check_views
from manyview.errors import DataFileError, InputError
from manyview.system.paths import AnyPath
from manyview.validation import check_choice

KEYS = ("views_key", "labels_key", "graphs_key")


def read_views(
    data: AnyPath | Sequence[AnyPath] | Any,
    *,
    views_key: str | Sequence[str] | None = None,
    labels_key: str | None = None,
    graphs_key: str | None = None,
    samples_in: str | None = None,
    id_column: str | Mapping[str, str] | None = None,
    label_column: str | None = None,
    labels: AnyPath | Any = None,
    missing: str | None = None,
    ignore: str | Sequence[str] | None = None,
    columns: Mapping[str, Any] | Sequence[str] | str | None = None,
) -> Dataset:
    """Read views and labels from files, data frames, or a MuData or AnnData.

    The reader detects the layout and records in `notes` what it found. If two interpretations
    are possible and differ, it raises an error that names the option to pass.

    Parameters
    ----------
    data
        A `.mat` file (MATLAB 5 or 7.3), an `.npz` archive, an `.h5mu` or `.h5ad` file, `.npy`
        arrays (one per view, memory-mapped, so that they may be larger than memory), CSV, TSV,
        Excel, Parquet or Feather tables (one per view, also one per sheet of a workbook, joined on
        sample ids; text may be compressed), or a folder or zip archive that holds one of these.
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
        In tables and frames: the columns of sample ids and of labels. The ids may be those of the
        data of a fit, `Dataset.id_columns`, for tables that have them. In a MuData or AnnData,
        labels are a column of `.obs`; observations are joined on `obs_names` and lack the views
        of modalities that do not name them.
    labels
        A file or frame of labels, or a list of them to merge: a table, text or `.npy`, joined on
        sample ids if both sides have them, else by row order. A sample with two different labels
        is refused. In a folder, `labels.csv`, `y.csv` or `classes.csv` is found without it.
    missing
        None refuses single missing values; "impute" leaves them as NaN for a method with the same
        setting. Samples that lack a whole view, because a table does not name them or their row
        is blank, are always kept.
    ignore
        Names of files of a folder to leave out, or of parts of a workbook or archive, such as
        `book.xlsx/Notes`. Other files that cannot be read are refused, so that no view is lost
        without notice.
    columns
        In tables and frames: the kinds of columns that are found out otherwise, by name, such as
        `{"zip": "category"}` or `"zip=category"`: number, category, boolean, date or text. Or the
        `column_kinds_` of a fitted model.

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
        views_key,
        labels_key,
        graphs_key,
        samples_in,
        id_column,
        label_column,
        missing,
        ignore,
        None if columns is None else parse_kinds(columns),
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
    """Return labels from separate files or frames, merged; None if there are none."""
    columns = [_label_column(one, options) for one in _as_list(labels)]
    return merge_labels(columns) if columns else None


def _as_list(labels: Any) -> list[Any]:
    if labels is None:
        return []
    return list(labels) if isinstance(labels, (list, tuple)) else [labels]


def _label_column(labels: Any, options: ReadOptions) -> LabelColumn:
    if is_frame(labels) or hasattr(labels, "to_frame"):
        frame = labels if is_frame(labels) else labels.to_frame()
        table = frame_table(frame, "labels", "labels")
        return labels_in_table(table, options.given_id_column, options.label_column)
    if not isinstance(labels, (str, Path)):
        raise InputError(
            "labels must be a file or frame of labels, or a list of these; got "
            f"{type(labels).__name__}. Pass an array of labels to fit.",
            parameter="labels",
        )
    path = existing_path(labels)
    return read_label_file(
        path, id_column=options.given_id_column, label_column=options.label_column
    )


def _read_files(data: AnyPath | Sequence[AnyPath], labels: Any, options: ReadOptions) -> Dataset:
    given_items = _as_list(labels)
    is_path = [isinstance(one, (str, Path)) for one in given_items]
    ignore = options.ignore or ()
    label_files = [one for one, yes in zip(given_items, is_path, strict=True) if yes]
    found = find_files(data, label_files, ignore)
    sha256 = files_checksum([*found.paths, *found.label_paths])
    given = _given_labels(given_items or found.label_paths, options)
    reading = _read(found.paths, options, given)
    dataset = _as_dataset(found.name, reading, sha256, options.may_lack_values, given)
    if ignore:
        note = f"Ignored: {', '.join(ignore)}."
        dataset = replace(dataset, notes=(*dataset.notes, note))
    return dataset


def _read(paths: Sequence[Path], options: ReadOptions, given: LabelColumn | None) -> Reading:
    check_n_views(len(paths))
    suffix, file = file_suffix(paths[0]), paths[0].name
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
        value = options.given_id_column if name == "id_column" else getattr(options, name)
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
    _check_names([*reading.views, *reading.graphs], "names of views")
    _check_names(reading.sample_ids or (), "sample ids")
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
            *view_notes(complete_rows(views)),
            *reading.notes,
        ),
        sha256=sha256 or views_checksum(views),
        id_columns=reading.id_columns,
    )


def _check_names(names: Sequence[str], what: str) -> None:
    """Refuse NUL characters, which arrays of texts drop at the end and no file name can have."""
    wrong = [name for name in names if "\0" in name]
    if wrong:
        raise DataFileError(
            f"{what} must not hold NUL characters; got {wrong[0][:80]!r}"
            f"{f' and {len(wrong) - 1} more' if len(wrong) > 1 else ''}. Remove them, or save the "
            "file again if it is damaged."
        )
