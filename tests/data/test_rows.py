"""Rows in blocks give the same numbers without a float64 copy; rows are scattered among zeros."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from manyview import read_views
from manyview.data import checksums, rows, scaling
from manyview.data.checksums import views_checksum
from manyview.data.network_input import fit_input
from manyview.data.rows import row_blocks, scatter_rows
from manyview.data.scaling import SCALINGS, fit_scaler, suggest_scaling
from manyview.data.views import MultiView, check_views
from manyview.errors import InputError
from manyview.graphs import neighbors
from manyview.graphs.neighbors import nearest_neighbors


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, whatever the size that is asked for."""

    def few_rows(view, n_bytes=None):
        return row_blocks(view, n_bytes=8 * 3 * int(np.prod(view.shape[1:])))

    for module in (scaling, rows, neighbors):
        monkeypatch.setattr(module, "row_blocks", few_rows)
    monkeypatch.setattr("manyview.data.network_input.row_blocks", few_rows)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("kind", SCALINGS)
def test_scaling_in_blocks_gives_the_same_numbers(rng, request, kind, dtype):
    view = (50 * rng.random((20, 6))).astype(dtype)
    whole = fit_scaler(view, kind)(view)
    request.getfixturevalue("small_blocks")
    np.testing.assert_allclose(fit_scaler(view, kind)(view), whole, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_searching_blocks_of_points_finds_the_same_neighbors(rng, request, metric):
    features = rng.integers(-3, 4, size=(40, 3)).astype(np.float32)
    whole = nearest_neighbors(features, n_neighbors=5, metric=metric)
    among = nearest_neighbors(features[:7], features, n_neighbors=5, metric=metric)
    request.getfixturevalue("small_blocks")
    blocked = nearest_neighbors(features, n_neighbors=5, metric=metric)
    np.testing.assert_array_equal(blocked.indices, whole.indices)
    np.testing.assert_allclose(blocked.distances, whole.distances, rtol=1e-6)
    blocked = nearest_neighbors(features[:7], features, n_neighbors=5, metric=metric)
    np.testing.assert_array_equal(blocked.indices, among.indices)


def test_checks_and_inputs_in_blocks_give_the_same(rng, request):
    features = [rng.random((20, 4)).astype(np.float32), rng.random((20, 2)).astype(np.float32)]
    whole, counts = (
        fit_input(features),
        rng.integers(0, 3, size=(30, 5)) * (rng.random((30, 5)) < 0.1),
    )
    advice = suggest_scaling(counts)
    request.getfixturevalue("small_blocks")
    np.testing.assert_allclose(fit_input(features).factors, whole.factors, rtol=1e-6)
    np.testing.assert_allclose(fit_input(features).center, whole.center, rtol=1e-6)
    assert suggest_scaling(counts) == advice
    features[0][17, 1] = np.nan
    with pytest.raises(InputError, match="the first is row 17"):
        check_views(features)


def test_joined_inputs_equal_the_views_times_their_factors(rng):
    features = [rng.random((20, 4)).astype(np.float32), rng.random((20, 2)).astype(np.float32)]
    scaling_of_input = fit_input(features)
    pairs = zip(features, scaling_of_input.factors, strict=True)
    expected = np.hstack([view * factor for view, factor in pairs])
    np.testing.assert_array_equal(scaling_of_input(features), expected)


def peak_of(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("kind", ["unit", "standard"])
def test_no_view_is_copied_into_float64_as_a_whole(rng, monkeypatch, dtype, kind):
    monkeypatch.setattr(scaling, "row_blocks", lambda view: row_blocks(view, n_bytes=2**20))
    view = rng.random((40_000, 50), dtype=np.float32).astype(dtype)
    as_float32, as_float64 = 4 * view.size, 8 * view.size

    def read_check_and_scale():
        checked = check_views(MultiView(view))["view1"]
        fit_scaler(checked, kind)(checked)

    assert peak_of(read_check_and_scale) < as_float32 + 0.4 * as_float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("read", [read_views, np.load], ids=["by manyview", "by NumPy"])
def test_a_view_in_a_file_is_mapped_and_not_copied(rng, tmp_path, monkeypatch, read, order, dtype):
    for module in (rows, scaling, checksums):
        monkeypatch.setattr(module, "row_blocks", lambda view: row_blocks(view, n_bytes=2**18))
    file = tmp_path / "one.npy"
    np.save(file, np.asarray(rng.random((20_000, 200)), dtype, order=order))
    views = []

    def read_check_and_hash():
        mapped = {"one": np.load(file, mmap_mode="r")} if read is np.load else read(file).views
        views.append(check_views(mapped))
        views_checksum(views[0])
        fit_scaler(views[0]["one"], "standard")

    assert peak_of(read_check_and_hash) < 0.25 * file.stat().st_size
    assert isinstance(views[0]["one"].base, np.memmap)
    assert views[0]["one"].dtype == dtype


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_a_search_among_many_points_copies_a_part_of_them_at_a_time(rng, monkeypatch, metric):
    points = rng.random((40_000, 50), dtype=np.float32)
    monkeypatch.setattr(neighbors, "POINT_BYTES", 2**20)
    monkeypatch.setattr(neighbors, "BLOCK_BYTES", 2**20)
    peak = peak_of(lambda: nearest_neighbors(points[:20], points, n_neighbors=5, metric=metric))
    assert peak < 0.5 * 8 * points.size


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("taken", [[], [2], [0, 2, 4], [0, 1, 2, 3, 4]])
def test_scattered_rows_are_found_again_among_zeros(rng, kind, taken):
    values = (rng.random((5, 3)) * (rng.random((5, 3)) < 0.7)).astype(np.float32)
    scattered = scatter_rows(kind(values[taken]), np.array(taken, dtype=int), 5)
    assert type(scattered) is type(kind(values))
    assert scattered.dtype == np.float32
    dense = scattered if isinstance(scattered, np.ndarray) else scattered.toarray()
    is_taken = np.isin(np.arange(5), taken)
    np.testing.assert_array_equal(dense, np.where(is_taken[:, None], values, 0))
