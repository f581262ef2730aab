"""What fraction of the memory bandwidth the sparse product reaches.

The bandwidth is measured as STREAM does it: copy (one array read, one written) and triad (two read,
one written) of arrays far larger than the caches. The product A H must move every array it works
on at least once: columns and weights of the edges, starts of the rows, H, and the result. It
fetches a row of H for every edge, which costs bandwidth too where the row is not in a cache; both
counts are given.
"""

import time
from collections.abc import Callable
from typing import Any

import torch

from manyview.layers.sparse_product import propagate

STREAM_NUMBERS = 2**26  # float32, 256 MB per array
N_REPEATS = 7
MIN_SECONDS = 0.05  # a product of few samples is repeated this long


def bandwidth_fractions(support: Any, hidden_width: int) -> dict[str, float]:
    """Return GB/s of copy, triad and the sparse product, and its fraction of the better."""
    copy, triad = stream()
    compulsory, gathered, seconds = product(support, hidden_width)
    best = max(copy, triad)
    return {
        "copy": copy,
        "triad": triad,
        "product_seconds": seconds,
        "product": compulsory / seconds / 1e9,
        "product_gathered": gathered / seconds / 1e9,
        "fraction": compulsory / seconds / 1e9 / best,
        "fraction_gathered": gathered / seconds / 1e9 / best,
    }


def stream() -> tuple[float, float]:
    """Return the bandwidth of copy and triad in GB/s."""
    source, other = torch.ones(STREAM_NUMBERS), torch.ones(STREAM_NUMBERS)
    target = torch.empty_like(source)
    n_bytes = 4 * STREAM_NUMBERS
    copy = _median_seconds(lambda: target.copy_(source))
    triad = _median_seconds(lambda: torch.add(source, other, alpha=3.0, out=target))
    return 2 * n_bytes / copy / 1e9, 3 * n_bytes / triad / 1e9


@torch.no_grad()
def product(support: Any, hidden_width: int) -> tuple[int, int, float]:
    """Return bytes that must move, bytes with one row fetched per edge, and seconds."""
    weights = torch.rand(support.n_edges)
    hidden = torch.rand(support.n_samples, hidden_width)
    index = support.columns.element_size()
    n_edges, n_samples = support.n_edges, support.n_samples
    for_graph = n_edges * (index + 4) + (n_samples + 1) * support.row_starts.element_size()
    row = 4 * hidden_width
    compulsory = for_graph + 2 * n_samples * row
    gathered = for_graph + (n_edges + n_samples) * row
    return compulsory, gathered, _median_seconds(lambda: propagate(support, weights, hidden))


def _median_seconds(function: Callable[[], Any]) -> float:
    function()
    start = time.perf_counter()
    function()
    n_calls = max(1, round(MIN_SECONDS / max(time.perf_counter() - start, 1e-6)))
    seconds = []
    for _ in range(N_REPEATS):
        start = time.perf_counter()
        for _ in range(n_calls):
            function()
        seconds.append((time.perf_counter() - start) / n_calls)
    return sorted(seconds)[N_REPEATS // 2]
