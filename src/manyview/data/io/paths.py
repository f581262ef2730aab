"""Find the files of a data set: from a path, a list of paths or a folder."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from manyview.data.io.label_files import LABEL_STEMS, LABEL_SUFFIXES
from manyview.data.io.tables import PARQUET_SUFFIXES, TEXT_SUFFIXES
from manyview.errors import DataFileError, InputError, did_you_mean

ANNOTATED_SUFFIXES = (".h5mu", ".h5ad")
SINGLE_SUFFIXES = (".mat", ".npz", *ANNOTATED_SUFFIXES)  # one file holds all views
NPY_SUFFIX = ".npy"
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES)
DATA_SUFFIXES = (*SINGLE_SUFFIXES, NPY_SUFFIX, *TABLE_SUFFIXES)

AnyPath = str | Path


def find_files(
    path: AnyPath | Sequence[AnyPath], labels: AnyPath | None
) -> tuple[str, list[Path], Path | None, list[str]]:
    """Return the name of the data, the view files, the label file, and the skipped files."""
    label_path = None if labels is None else existing_path(labels)
    if label_path is not None and label_path.is_dir():
        raise DataFileError(f"labels must be a file; got the folder {label_path}.")
    if not isinstance(path, (str, Path)):
        paths = [existing_path(one) for one in path]
        if len(paths) == 1:
            return find_files(paths[0], label_path)
        _check_list(paths)
        return "+".join(one.stem for one in paths), paths, label_path, []
    found = existing_path(path)
    if not found.is_dir():
        _check_suffix(found)
        return found.stem, [found], label_path, []
    paths, label_path, skipped = _files_of_folder(found, label_path)
    return found.resolve().name, paths, label_path, skipped


def existing_path(path: AnyPath) -> Path:
    """Refuse a path that does not exist, and suggest a similar name."""
    found = Path(path).expanduser()
    if found.exists():
        return found
    names = []
    if found.parent.is_dir():
        names = [file.name for file in sorted(found.parent.iterdir())]
    raise DataFileError(f"There is no file or folder {found}.{did_you_mean(found.name, names)}")


def _check_suffix(path: Path) -> None:
    if path.suffix.casefold() not in DATA_SUFFIXES:
        raise DataFileError(
            f"a data file must end in one of {', '.join(DATA_SUFFIXES)}; got {path.name}."
        )


def _check_list(paths: Sequence[Path]) -> None:
    if not paths:
        raise InputError("path must name at least one file; got an empty list.")
    for one in paths:
        if one.is_dir():
            raise DataFileError(f"a list of paths must name files; got the folder {one}.")
        _check_suffix(one)
        if one.suffix.casefold() in SINGLE_SUFFIXES:
            raise DataFileError(
                f"a list of paths must name tables, one per view; got {one.name}. "
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
            f"{folder} has {len(label_files)} files of labels: {names}. "
            f"Pass labels={str(label_files[0])!r}, or another of them."
        )
    if label_path is None and label_files:
        label_path = label_files[0]
    files = [file for file in files if file not in label_files and file != label_path]
    arrays = [file for file in files if file.suffix.casefold() in SINGLE_SUFFIXES]
    matrices = [file for file in files if file.suffix.casefold() == NPY_SUFFIX]
    tables = [file for file in files if file.suffix.casefold() in TABLE_SUFFIXES]
    skipped = [file.name for file in files if file not in (*arrays, *matrices, *tables)]
    if not arrays and not matrices and not tables:
        holds = ", ".join(skipped[:5]) or "nothing"
        raise DataFileError(
            f"{folder} has no data file ({', '.join(DATA_SUFFIXES)}); it has {holds}."
        )
    if len(arrays) > 1 or sum(map(bool, (arrays, matrices, tables))) > 1:
        names = ", ".join(file.name for file in (*arrays, *matrices, *tables)[:5])
        raise DataFileError(f"{folder} has more than one data set: {names}. Pass one file.")
    return arrays or matrices or tables, label_path, skipped


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
