"""Readers: one door from files to a `Dataset`, whatever their format."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from manyview.data.dataset import Dataset
from manyview.data.joined_tables import read_tables
from manyview.data.label_files import LABEL_STEMS, LABEL_SUFFIXES, read_label_file
from manyview.data.label_values import LabelColumn, describe_labels
from manyview.data.mat_files import read_mat
from manyview.data.npy_files import read_npy
from manyview.data.npz_files import read_npz
from manyview.data.reading import (
    Reading,
    ReadOptions,
    describe_views,
    missing_notes,
    view_notes,
)
from manyview.data.table_files import PARQUET_SUFFIXES, TEXT_SUFFIXES
from manyview.data.views import MultiView, View, check_views
from manyview.errors import DataFileError, InputError, check_choice, did_you_mean

ARRAY_SUFFIXES = (".mat", ".npz")
NPY_SUFFIX = ".npy"
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES)

AnyPath = str | Path


def read_views(
    path: AnyPath | Sequence[AnyPath],
    *,
    views_key: str | Sequence[str] | None = None,
    labels_key: str | None = None,
    graphs_key: str | None = None,
    samples_in: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    labels: AnyPath | None = None,
    missing: str | None = None,
) -> Dataset:
    """Read views and labels from a file, a folder, or a list of tables or `.npy` arrays.

    The reader finds the layout by itself and says in `notes` what it found. Where two
    readings are possible and differ, it refuses and names the option that decides.

    Parameters
    ----------
    path
        A `.mat` file (MATLAB 5 or 7.3), an `.npz` archive, `.npy` arrays (one view each, read
        from the disk when used, so that they may be larger than the memory), CSV, TSV or
        Parquet tables (one view each, joined on sample ids), or a folder that holds one of
        these.
    views_key, labels_key, graphs_key
        In `.mat` and `.npz`: the variables that hold the views (one, or a list), the
        labels, and graphs given as views.
    samples_in
        `rows` or `columns`, where the sizes alone do not tell.
    id_column, label_column
        In tables: the column that names the samples, and the one that holds the labels.
    labels
        A file of labels: CSV, TSV, text, Parquet or `.npy`, joined on sample ids where
        both sides have them, else by row order. In a folder, `labels.csv`, `y.csv` or
        `classes.csv` is found without it.
    missing
        None refuses single unknown values; "impute" leaves them as NaN, to be filled in by a
        method with the same setting. Samples that lack a whole view, because a table does not
        name them or their row is blank, are always kept.

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
    options = ReadOptions(
        views_key, labels_key, graphs_key, samples_in, id_column, label_column, missing
    )
    name, paths, label_path, skipped = _find_files(path, labels)
    sha256 = _sha256(paths if label_path is None else [*paths, label_path])
    given_labels = None
    if label_path is not None:
        given_labels = read_label_file(label_path, id_column=id_column, label_column=label_column)
    reading = _read(paths, options, given_labels)
    if given_labels is not None:
        aligned, notes = given_labels.align(reading.n_samples, reading.sample_ids)
        reading.labels, reading.labels_source = aligned, given_labels.source
        reading.notes.extend(notes)
    if skipped:
        reading.notes.append(f"Not read: {', '.join(skipped)}.")
    return _as_dataset(name, reading, sha256, options.may_lack_values)


def _read(paths: Sequence[Path], options: ReadOptions, given_labels: LabelColumn | None) -> Reading:
    suffix = paths[0].suffix.casefold()
    if suffix in ARRAY_SUFFIXES:
        if given_labels is None:
            _refuse_options(options, ("id_column", "label_column"), "tables", paths[0])
        reader = read_mat if suffix == ".mat" else read_npz
        return reader(paths[0], options, given_labels)
    if suffix == NPY_SUFFIX and given_labels is None:
        _refuse_options(options, ("id_column", "label_column"), "tables", paths[0])
    _refuse_options(
        options, ("views_key", "labels_key", "graphs_key"), ".mat and .npz files", paths[0]
    )
    if suffix == NPY_SUFFIX:
        return read_npy(paths, options, given_labels)
    return read_tables(paths, options, given_labels)


def _refuse_options(options: ReadOptions, names: Sequence[str], meant_for: str, path: Path) -> None:
    for name in names:
        value = getattr(options, name)
        if value is not None:
            raise InputError(f"{name} is for {meant_for}; got {value!r} with {path.name}.")


def _as_dataset(name: str, reading: Reading, sha256: str, may_lack_values: bool) -> Dataset:
    views = check_views(
        MultiView(
            {**reading.views, **reading.graphs},
            graphs=tuple(reading.graphs),
            columns=reading.columns,
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
            *view_notes(_whole_rows(views)),
            *reading.notes,
        ),
        sha256=sha256,
    )


def _whole_rows(views: MultiView) -> dict[str, View]:
    """Rows of each feature view that are known throughout: what can be said of its values."""
    whole = {}
    for name in views.feature_names:
        gone = ~views.present[:, views.names.index(name)]
        gone[views.unfinite_rows(name)] = True
        view = views[name]
        whole[name] = view[~gone] if gone.any() else view
    return {name: view for name, view in whole.items() if view.shape[0]}


def _find_files(
    path: AnyPath | Sequence[AnyPath], labels: AnyPath | None
) -> tuple[str, list[Path], Path | None, list[str]]:
    """Return the data's name, the files of the views, that of the labels, and those left."""
    label_path = None if labels is None else _existing(labels)
    if label_path is not None and label_path.is_dir():
        raise DataFileError(f"labels must be a file; got the folder {label_path}.")
    if not isinstance(path, (str, Path)):
        paths = [_existing(one) for one in path]
        if len(paths) == 1:
            return _find_files(paths[0], label_path)
        _check_list(paths)
        return "+".join(one.stem for one in paths), paths, label_path, []
    found = _existing(path)
    if not found.is_dir():
        _check_suffix(found)
        return found.stem, [found], label_path, []
    paths, label_path, skipped = _files_of_folder(found, label_path)
    return found.resolve().name, paths, label_path, skipped


def _existing(path: AnyPath) -> Path:
    found = Path(path).expanduser()
    if found.exists():
        return found
    near = []
    if found.parent.is_dir():
        near = [neighbour.name for neighbour in sorted(found.parent.iterdir())]
    raise DataFileError(f"There is no file or folder {found}.{did_you_mean(found.name, near)}")


def _check_suffix(path: Path) -> None:
    known = (*ARRAY_SUFFIXES, NPY_SUFFIX, *TABLE_SUFFIXES)
    if path.suffix.casefold() not in known:
        raise DataFileError(
            f"{path.name} has an unknown ending; it must be one of {', '.join(known)}."
        )


def _check_list(paths: Sequence[Path]) -> None:
    if not paths:
        raise InputError("path must name at least one file; got an empty list.")
    for one in paths:
        if one.is_dir():
            raise DataFileError(f"a list of paths must name files; got the folder {one}.")
        _check_suffix(one)
        if one.suffix.casefold() in ARRAY_SUFFIXES:
            raise DataFileError(
                f"a list of paths must name tables, one view each; got {one.name}. "
                "Read it alone: it holds all views."
            )
    if len({one.suffix.casefold() == NPY_SUFFIX for one in paths}) > 1:
        raise DataFileError(
            "a list of paths must name .npy arrays or tables, not both; got "
            f"{', '.join(one.name for one in paths[:5])}."
        )


def _files_of_folder(
    folder: Path, label_path: Path | None
) -> tuple[list[Path], Path | None, list[str]]:
    files = sorted(
        file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")
    )
    label_files = [
        file
        for file in files
        if file.stem.casefold() in LABEL_STEMS and file.suffix.casefold() in LABEL_SUFFIXES
    ]
    if label_path is None and len(label_files) > 1:
        names = " and ".join(file.name for file in label_files)
        raise DataFileError(
            f"{folder} holds {len(label_files)} files of labels: {names}. "
            f"Pass labels={str(label_files[0])!r}, or another."
        )
    if label_path is None and label_files:
        label_path = label_files[0]
    files = [file for file in files if file not in label_files and file != label_path]
    arrays = [file for file in files if file.suffix.casefold() in ARRAY_SUFFIXES]
    matrices = [file for file in files if file.suffix.casefold() == NPY_SUFFIX]
    tables = [file for file in files if file.suffix.casefold() in TABLE_SUFFIXES]
    skipped = [file.name for file in files if file not in (*arrays, *matrices, *tables)]
    if not arrays and not matrices and not tables:
        holds = ", ".join(skipped[:5]) or "nothing"
        raise DataFileError(
            f"{folder} holds no data file "
            f"({', '.join((*ARRAY_SUFFIXES, NPY_SUFFIX, *TABLE_SUFFIXES))}); "
            f"it holds {holds}."
        )
    if len(arrays) > 1 or sum(map(bool, (arrays, matrices, tables))) > 1:
        names = ", ".join(file.name for file in (*arrays, *matrices, *tables)[:5])
        raise DataFileError(f"{folder} holds more than one data set: {names}. Name one file.")
    return arrays or matrices or tables, label_path, skipped


def _sha256(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda one: one.name):
        try:
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        except OSError as error:
            raise DataFileError(f"{path} cannot be opened: {error.strerror}.") from error
    return digest.hexdigest()
