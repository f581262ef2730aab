"""Find the files of a data set: from a path, a list of paths or a folder."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from manyview.data.io.label_files import LABEL_STEMS, LABEL_SUFFIXES
from manyview.data.io.tables import PARQUET_SUFFIXES, TEXT_SUFFIXES
from manyview.data.label_values import shown_names
from manyview.errors import DataFileError, InputError, did_you_mean

ANNOTATED_SUFFIXES = (".h5mu", ".h5ad")
SINGLE_SUFFIXES = (".mat", ".npz", *ANNOTATED_SUFFIXES)  # one file holds all views
NPY_SUFFIX = ".npy"
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES)
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp")
DATA_SUFFIXES = (*SINGLE_SUFFIXES, NPY_SUFFIX, *TABLE_SUFFIXES)

AnyPath = str | Path


def find_files(
    path: AnyPath | Sequence[AnyPath], labels: AnyPath | None, ignore: Sequence[str] = ()
) -> tuple[str, list[Path], Path | None, list[str]]:
    """Return the name of the data, the view files, the label file, and the ignored files."""
    label_path = None if labels is None else existing_path(labels)
    if label_path is not None and label_path.is_dir():
        raise DataFileError(f"labels must be a file; got the folder {label_path}.")
    if not isinstance(path, (str, Path)):
        paths = [existing_path(one) for one in path]
        if len(paths) == 1:
            return find_files(paths[0], label_path, ignore)
        _check_list(paths)
        return "+".join(one.stem for one in paths), paths, label_path, []
    found = existing_path(path)
    if not found.is_dir():
        _check_suffix(found)
        return found.stem, [found], label_path, []
    paths, label_path = _files_of_folder(found, label_path, ignore)
    return found.resolve().name, paths, label_path, list(ignore)


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
    folder: Path, label_path: Path | None, ignore: Sequence[str]
) -> tuple[list[Path], Path | None]:
    files = sorted(
        file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")
    )
    present = [file.name for file in files]
    for name in ignore:
        if name not in present:
            raise DataFileError(
                f"{folder} has no file {name!r} to ignore.{did_you_mean(name, present)}"
            )
    files = [file for file in files if file.name not in ignore]
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
    others = [file for file in files if file not in (*arrays, *matrices, *tables)]
    shown = shown_names([file.name for file in others])
    if not arrays and not matrices and not tables:
        images = any(file.suffix.casefold() in IMAGE_SUFFIXES for file in files)
        way_out = " Compute features of the images first, one table or array per view." * images
        raise DataFileError(
            f"{folder} has no data file ({', '.join(DATA_SUFFIXES)}); it has "
            f"{shown or 'nothing'}.{way_out}"
        )
    if others:
        raise DataFileError(
            f"{folder} has {len(others)} file(s) that cannot be read: {shown}. Save tables as CSV "
            f"or Parquet, or leave a file out: pass ignore={others[0].name!r}."
        )
    if len(arrays) > 1 or sum(map(bool, (arrays, matrices, tables))) > 1:
        names = ", ".join(file.name for file in (*arrays, *matrices, *tables)[:5])
        raise DataFileError(f"{folder} has more than one data set: {names}. Pass one file.")
    return arrays or matrices or tables, label_path


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
