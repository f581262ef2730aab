"""Neighbors cached on disk, in files named by a checksum of their inputs.

    CACHE/neighbors-KEY.npz     indices, distances and recall; plain arrays, nothing pickled

KEY is a checksum of the scaled features, the settings of the search and its version, so a file
is never out of date. Any file can be deleted at any time.
"""

import hashlib
import json
import warnings
import zipfile
from pathlib import Path
from time import monotonic

import numpy as np
from scipy import sparse

from manyview.data.views import View
from manyview.distributed.world import ALONE, World
from manyview.errors import DataFileError
from manyview.graphs.knn_graph import find_neighbors, is_approximate
from manyview.graphs.neighbors import Neighbors
from manyview.system.config import get_config
from manyview.system.files import whole_file
from manyview.system.paths import expand_user

SEARCH_VERSION = 3  # increased when the same features no longer give the same neighbors
BLOCK_ROWS = 2**14  # rows hashed at a time


def cached_neighbors(
    features: View,
    *,
    n_neighbors: int,
    metric: str,
    search: str,
    seed: int,
    exact: Neighbors | None = None,
    world: World = ALONE,
) -> Neighbors:
    """Find the neighbors of each sample, or read them from the cache folder.

    The folder is `cache_dir` of `config_context`; None caches nothing, and searches shorter than
    its `cache_after` are not cached. A damaged file gives a warning and is replaced. A folder that
    cannot be written gives a warning, too. Of several processes, the first reads and writes its
    folder for all.

    Parameters
    ----------
    exact
        Exact neighbors of the same features, if another step has searched them; they are used
        unless the search is approximate.
    """
    cache_dir = get_config().cache_dir if world.rank == 0 else None
    approximate = is_approximate(search, features.shape[0])
    settings = {
        "n_neighbors": n_neighbors,
        "metric": metric,
        "search": "approximate" if approximate else "exact",
        "seed": seed if approximate else None,
        "version": SEARCH_VERSION,
    }
    path, began = None, monotonic()
    if cache_dir is not None:
        path = expand_user(cache_dir) / f"neighbors-{content_key(features, settings)}.npz"
    shape = features.shape[0], n_neighbors
    cached = world.from_first(lambda: None if path is None else _read(path, shape))
    if cached is not None:
        return cached
    if exact is not None and not approximate and exact.indices.shape[1] == n_neighbors:
        found = exact
    else:
        found = find_neighbors(
            features,
            n_neighbors=n_neighbors,
            metric=metric,
            search=search,
            seed=seed,
            world=world,
        )
    if path is not None and monotonic() - began >= get_config().cache_after:
        _write(path, found)
    return found


def content_key(features: View, settings: dict[str, object]) -> str:
    """Compute the checksum of a view's content and of plain settings: 64 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> content_key(np.eye(2), {}) == content_key(np.eye(2), {})
    True
    >>> content_key(np.eye(2), {}) == content_key(np.eye(2, dtype=np.float32), {})
    False
    """
    is_sparse = isinstance(features, sparse.csr_array)
    parts = (
        (features.data, features.indices, features.indptr)
        if isinstance(features, sparse.csr_array)
        else (features,)
    )
    described = [is_sparse, list(features.shape), *[str(part.dtype) for part in parts], settings]
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for part in parts:
        for start in range(0, len(part), BLOCK_ROWS):
            digest.update(np.ascontiguousarray(part[start : start + BLOCK_ROWS]).data)
    return digest.hexdigest()


def _read(path: Path, shape: tuple[int, int]) -> Neighbors | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            indices, distances = archive["indices"], archive["distances"]
            recall = float(archive["recall"])
        n_samples = shape[0]
        if indices.shape != shape or distances.shape != shape:
            raise ValueError(f"it holds neighbors of shape {indices.shape}, not {shape}")
        if indices.min(initial=0) < -1 or indices.max(initial=0) >= n_samples:
            raise ValueError("it names samples that do not exist")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())
        warnings.warn(
            f"the cached neighbors in {path} cannot be read ({reason[:120]}); searching again.",
            UserWarning,
            stacklevel=3,
        )
        return None
    return Neighbors(indices.astype(np.int64), distances, recall)


def _write(path: Path, found: Neighbors) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as temporary, temporary.open("wb") as file:
            np.savez(
                file,
                indices=found.indices.astype(np.int32),
                distances=found.distances,
                recall=np.float64(found.recall),
            )
    except (OSError, DataFileError) as error:
        warnings.warn(f"neighbors are not cached: {error}", UserWarning, stacklevel=3)
