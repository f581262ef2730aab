"""Find the files of a data set: from a path, a list of paths or a folder."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from manyview.data.io.compression import PACKS, TableFile, data_stem, data_suffix
from manyview.data.io.label_files import LABEL_SUFFIXES
from manyview.data.io.table_files import LABEL_STEMS, TABLE_SUFFIXES
from manyview.data.io.workbooks import refuse_old_excel
from manyview.data.label_values import shown_names
from manyview.errors import DataFileError, InputError, did_you_mean
from manyview.system.paths import AnyPath, check_regular, expand_user, file_mode, names_in

ANNOTATED_SUFFIXES = (".h5mu", ".h5ad")
SINGLE_SUFFIXES = (".mat", ".npz", *ANNOTATED_SUFFIXES)  # one file holds all views
NPY_SUFFIX = ".npy"
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp")
DATA_SUFFIXES = (*SINGLE_SUFFIXES, NPY_SUFFIX, *TABLE_SUFFIXES)

KINDS = f"{', '.join(DATA_SUFFIXES)}; tables also with {', '.join(PACKS)}"


@dataclass(frozen=True)
class FoundFiles:
    """The files of a data set, and its name."""

    name: str
    paths: list[Path]  # of views
    label_paths: list[Path]


def find_files(
    path: AnyPath | Sequence[AnyPath], labels: Sequence[AnyPath] = (), ignore: Sequence[str] = ()
) -> FoundFiles:
    """Find the files of views and of labels; refuse what cannot be read and is not ignored."""
    label_paths = [existing_path(one) for one in labels]
    for label_path in label_paths:
        if label_path.is_dir():
            raise DataFileError(f"labels must be a file; got the folder {label_path}.")
    paths = [existing_path(one) for one in ([path] if isinstance(path, (str, Path)) else path)]
    if len(paths) != 1:
        _check_list(paths)
        _check_ignored(ignore, paths, "the list of files")
        return FoundFiles("+".join(data_stem(one) for one in paths), paths, label_paths)
    (found,) = paths
    if not found.is_dir():
        _check_suffix(found)
        _check_ignored(ignore, paths, found.name)
        return FoundFiles(data_stem(found), paths, label_paths)
    paths, label_paths = _files_of_folder(found, label_paths, ignore)
    return FoundFiles(found.resolve().name, paths, label_paths)


def existing_path(path: AnyPath) -> Path:
    """Return the path of a file or folder.

    Refuse one that does not exist, and suggest a similar name; refuse pipes, devices and sockets,
    which may have no end.
    """
    found = expand_user(path)
    mode = file_mode(found)
    if mode is None:
        hint = did_you_mean(found.name, names_in(found.parent))
        raise DataFileError(f"There is no file or folder {found}.{hint}")
    check_regular(found, mode)
    return found


def file_suffix(path: Path) -> str:
    """Return the ending that decides how a file is read; only tables may be compressed."""
    suffix = data_suffix(path)
    return suffix if suffix in (*TABLE_SUFFIXES, ".txt") else path.suffix.casefold()


def _check_suffix(path: Path) -> None:
    refuse_old_excel(TableFile(path))
    if file_suffix(path) not in DATA_SUFFIXES:
        raise DataFileError(f"a data file must end in one of {KINDS}; got {path.name}.")


def _check_ignored(ignore: Sequence[str], paths: Sequence[Path], source: str) -> None:
    """Refuse names to ignore that are neither files nor parts of a workbook or archive."""
    present = [path.name for path in paths]
    for name in ignore:
        if name.partition("/")[0] not in present:
            raise DataFileError(
                f"{source} has no file {name!r} to ignore.{did_you_mean(name, present)}"
            )


def _check_list(paths: Sequence[Path]) -> None:
    if not paths:
        raise InputError("path must name at least one file; got an empty list.")
    for one in paths:
        if one.is_dir():
            raise DataFileError(f"a list of paths must name files; got the folder {one}.")
        _check_suffix(one)
        if file_suffix(one) in SINGLE_SUFFIXES:
            raise DataFileError(
                f"a list of paths must name tables, one per view; got {one.name}. "
                "Read it alone: it holds all views."
            )
    if len({file_suffix(one) == NPY_SUFFIX for one in paths}) > 1:
        raise DataFileError(
            "a list of paths must name .npy arrays or tables, not both; got "
            f"{', '.join(one.name for one in paths[:5])}."
        )


def _files_of_folder(
    folder: Path, label_paths: list[Path], ignore: Sequence[str]
) -> tuple[list[Path], list[Path]]:
    files = [
        existing_path(file) for file in _entries(folder) if not (file.is_dir() or _is_hidden(file))
    ]
    _check_ignored(ignore, files, str(folder))
    files = [file for file in files if file.name not in ignore]
    label_files = [
        file
        for file in files
        if data_stem(file).casefold() in LABEL_STEMS and file_suffix(file) in LABEL_SUFFIXES
    ]
    if not label_paths and len(label_files) > 1:
        names = " and ".join(file.name for file in label_files)
        raise DataFileError(
            f"{folder} has {len(label_files)} files of labels: {names}. "
            f"Pass labels={str(label_files[0])!r}, or another of them."
        )
    label_paths = label_paths or label_files
    files = [file for file in files if file not in (*label_files, *label_paths)]
    arrays = [file for file in files if file_suffix(file) in SINGLE_SUFFIXES]
    matrices = [file for file in files if file_suffix(file) == NPY_SUFFIX]
    tables = [file for file in files if file_suffix(file) in TABLE_SUFFIXES]
    others = [file for file in files if file not in (*arrays, *matrices, *tables)]
    _refuse_unread(folder, others, has_data=bool(arrays or matrices or tables))
    if len(arrays) > 1 or sum(map(bool, (arrays, matrices, tables))) > 1:
        names = ", ".join(file.name for file in (*arrays, *matrices, *tables)[:5])
        raise DataFileError(f"{folder} has more than one data set: {names}. Pass one file.")
    return arrays or matrices or tables, label_paths


def _refuse_unread(folder: Path, others: Sequence[Path], *, has_data: bool) -> None:
    """Refuse files that cannot be read: a view would be lost without notice."""
    shown = shown_names([file.name for file in others])
    if not has_data:
        images = any(file.suffix.casefold() in IMAGE_SUFFIXES for file in others)
        way_out = " Compute features of the images first, one table or array per view." * images
        raise DataFileError(
            f"{folder} has no data file ({KINDS}); it has {shown or 'nothing'}.{way_out}"
        )
    if others:
        raise DataFileError(
            f"{folder} has {len(others)} file(s) that cannot be read: {shown}. Save tables as "
            f"CSV, .xlsx or Parquet (read are {KINDS}), or leave a file out: pass "
            f"ignore={others[0].name!r}."
        )


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise DataFileError(f"{folder} cannot be read: {error.strerror}.") from error


def _is_hidden(file: Path) -> bool:
    return file.name.startswith(".")


def files_checksum(paths: Sequence[Path]) -> str:
    """Return a checksum of the contents of the files."""
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda one: one.name):
        try:
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        except OSError as error:
            raise DataFileError(f"{path} cannot be opened: {error.strerror}.") from error
    return digest.hexdigest()
