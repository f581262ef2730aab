"""Pictures of samples: files of one folder, or a view that holds pixels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyview.data.mixed_table import MixedTable
from manyview.data.pixels import gray_png, pixels_of
from manyview.data.views import MultiView
from manyview.errors import InputError

SUFFIXES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".bmp": "image/bmp", ".avif": "image/avif",
}  # fmt: skip
N_LOOKED_AT = 50  # cells of a column that tell whether it names files


class Images:
    """Finds the picture of a sample.

    A column that names image files comes first, then a file in `folder` with the sample's id, then
    the pixels of a view. Only files inside `folder` are ever read.

    Parameters
    ----------
    views, sample_ids
        The data.
    folder
        Folder of the pictures; None if there is none.
    pixels
        Name of a view whose columns are the pixels of square gray pictures, row by row.
    """

    def __init__(
        self,
        views: MultiView,
        sample_ids: Sequence[str],
        folder: Path | None = None,
        pixels: str | None = None,
    ) -> None:
        self.folder = None if folder is None else folder.resolve()
        if folder is not None and not folder.is_dir():
            raise InputError(f"There is no folder of images {folder}.", parameter="images")
        self.sample_ids = sample_ids
        self.column = image_column(views)
        self.pixels = None if pixels is None else _pixel_view(views, pixels)
        self._by_stem: dict[str, str] = {}
        if self.folder is not None:
            for file in sorted(self.folder.iterdir()):
                if file.suffix.casefold() in SUFFIXES:
                    self._by_stem.setdefault(file.stem, file.name)
                    self._by_stem[file.name] = file.name

    @property
    def is_any(self) -> bool:
        """Whether samples may have pictures."""
        return self.pixels is not None or bool(self._by_stem) or self.names_files

    @property
    def names_files(self) -> bool:
        """Whether a column names files and there is a folder to find them in."""
        return self.column is not None and self.folder is not None

    def has(self, row: int) -> bool:
        """Whether a sample has a picture."""
        return self.pixels is not None or self.file(row) is not None

    def file(self, row: int) -> Path | None:
        """Return the file of a sample's picture; None if it has none inside the folder."""
        if self.folder is None:
            return None
        cell = None if self.column is None else self.column[row]
        for name in (cell, self._by_stem.get(str(self.sample_ids[row]))):
            file = None if not name else self._inside(str(name))
            if file is not None:
                return file
        return None

    def read(self, row: int) -> tuple[bytes, str] | None:
        """Return the content of a sample's picture and its media type."""
        file = self.file(row)
        if file is not None:
            try:
                return file.read_bytes(), SUFFIXES[file.suffix.casefold()]
            except OSError:
                return None
        if self.pixels is None:
            return None
        return gray_png(self.pixels[row]), "image/png"

    def _inside(self, name: str) -> Path | None:
        """Return a file of the folder; None for anything outside of it, links included."""
        assert self.folder is not None
        try:
            file = (self.folder / name).resolve()
            is_good = file.is_relative_to(self.folder) and file.is_file()
        except (OSError, ValueError):
            return None
        return file if is_good and file.suffix.casefold() in SUFFIXES else None


def image_column(views: MultiView) -> np.ndarray | None:
    """Return the first column of texts whose cells end like the names of image files."""
    for _, view in views.items():
        if not isinstance(view, MixedTable):
            continue
        for column in view.columns:
            if column.dtype.kind == "f":
                continue
            cells = [str(cell) for cell in column.tolist() if cell is not None][:N_LOOKED_AT]
            if cells and all(Path(cell).suffix.casefold() in SUFFIXES for cell in cells):
                return column
    return None


def _pixel_view(views: MultiView, name: str) -> Any:
    if name not in views.feature_names:
        raise InputError(
            f"pixels must name a view; got {name!r}, the views are "
            f"{', '.join(views.feature_names)}.",
            parameter="pixels",
        )
    pixels = pixels_of(views, name)
    if pixels is None:
        raise InputError(
            f"pixels must name a view of square pictures; {name} has {views[name].shape[1]} "
            "columns.",
            parameter="pixels",
        )
    return pixels
