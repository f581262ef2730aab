"""Pictures of samples whose view holds pixels: square and gray, encoded as PNG."""

import struct
import zlib
from math import ceil, isqrt

import numpy as np

from manyview.data.views import MultiView

PIXEL_VIEWS = {"digits": "pixels"}  # of the catalog: data set -> view


def pixels_of(views: MultiView, name: str | None) -> np.ndarray | None:
    """Return a view of square pictures, [sample, pixel]; None where there is none of that name."""
    view = views[name] if name in views.feature_names else None
    if not isinstance(view, np.ndarray) or isqrt(view.shape[1]) ** 2 != view.shape[1]:
        return None
    return view


def gray_png(values: np.ndarray) -> bytes:
    r"""Encode a square picture as PNG, the smallest value white and the largest black.

    Examples
    --------
    >>> gray_png(np.array([0, 1, 1, 0]))[:4]
    b'\x89PNG'
    """
    return _png(_gray_levels(values))


def gray_sheet(pictures: np.ndarray, n_columns: int) -> bytes:
    """Encode square pictures, [picture, pixel], as one PNG, row by row on a sheet.

    A sheet of small pictures takes a fraction of the bytes of as many files.
    """
    side = isqrt(pictures.shape[1])
    sheet = np.full((ceil(len(pictures) / n_columns) * side, n_columns * side), 255, np.uint8)
    for number, values in enumerate(pictures):
        top, left = (side * place for place in divmod(number, n_columns))
        sheet[top : top + side, left : left + side] = _gray_levels(values)
    return _png(sheet)


def _gray_levels(values: np.ndarray) -> np.ndarray:
    side = isqrt(len(values))
    low, high = float(np.min(values)), float(np.max(values))
    scaled = (np.asarray(values, dtype=np.float64) - low) / ((high - low) or 1.0)
    return np.round(255 * (1 - scaled)).astype(np.uint8).reshape(side, side)


def _png(levels: np.ndarray) -> bytes:
    height, width = levels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in levels)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data)
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
