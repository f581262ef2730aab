"""Checksums of views and labels, to recognize the same input."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.label_values import is_known
from manyview.data.mixed_table import MixedTable
from manyview.data.rows import row_blocks
from manyview.data.views import MultiView
from manyview.errors import DataFileError


def views_checksum(views: MultiView) -> str:
    """Return a checksum of the names, types and values of the views, and of `present`.

    Examples
    --------
    >>> one, other = MultiView(np.eye(3)), MultiView(2 * np.eye(3))
    >>> views_checksum(one) == views_checksum(MultiView(np.eye(3)))
    True
    >>> views_checksum(one) == views_checksum(other)
    False
    """
    digest = hashlib.sha256(views.positions.astype(np.int64).tobytes())
    if not views.present.all():
        digest.update(views.present.tobytes())
    for name, view in views.items():
        head = (name, view.shape, str(view.dtype), name in views.graph_names)
        digest.update(repr(head).encode())
        if isinstance(view, MixedTable):
            cells = [
                (own, column.tolist()) for own, column in zip(view.names, view.columns, strict=True)
            ]
            digest.update(repr((cells, sorted(view.kinds.items()))).encode())
            continue
        parts = (
            (view.indptr.astype(np.int64), view.indices.astype(np.int64), view.data)
            if isinstance(view, sparse.csr_array)
            else (view,)
        )
        for part in parts:
            for rows in row_blocks(part):  # a view in a file need not fit in memory
                digest.update(np.ascontiguousarray(part[rows]).data)
    return digest.hexdigest()


def labels_checksum(labels: Any) -> str:
    """Return a checksum of the labels; every form of an unknown label counts the same.

    Examples
    --------
    >>> labels_checksum([1, -1]) == labels_checksum([1.0, None])
    True
    """
    values = np.asarray(labels, dtype=object)
    written = [
        (str(float(label)) if isinstance(label, (int, float, np.number)) else str(label))
        if known
        else None
        for label, known in zip(values.tolist(), is_known(values), strict=True)
    ]
    return hashlib.sha256(json.dumps(written).encode()).hexdigest()


def git_blob_id(path: Path) -> str:
    """Return the checksum that `git hash-object` prints for a file.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "empty"
    >>> file.touch()
    >>> git_blob_id(file)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.sha1(usedforsecurity=False)
            digest.update(f"blob {path.stat().st_size}\0".encode())
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise DataFileError(f"{path} cannot be opened: {error.strerror}.") from error
    return digest.hexdigest()
