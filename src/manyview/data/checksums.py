"""Checksums of views and labels, to recognize the same input."""

import hashlib
import json
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.label_values import is_known
from manyview.data.views import MultiView


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
        parts = (
            (view.indptr.astype(np.int64), view.indices.astype(np.int64), view.data)
            if isinstance(view, sparse.csr_array)
            else (view,)
        )
        for part in parts:
            digest.update(np.ascontiguousarray(part).data)
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
