import numpy as np
import pytest

from manyview.baselines import representation_terms
from manyview.baselines._hlr import hypergraph_laplacian, shrink_tensor


def literal_shrinkage(tensor, threshold):
    """Transform, decompose every slice in full, shrink, transform back: as it is written."""
    n_rows = tensor.shape[1]
    slices = np.fft.fft(tensor.transpose(2, 0, 1), axis=2)  # [column, view, frequency]
    norm = 0.0
    for frequency in range(n_rows):
        left, singular, right = np.linalg.svd(slices[:, :, frequency], full_matrices=False)
        shrunk = np.maximum(singular - threshold, 0)
        norm += shrunk.sum() / n_rows
        slices[:, :, frequency] = left @ np.diag(shrunk) @ right
    back = np.fft.ifft(slices, axis=2)
    np.testing.assert_allclose(back.imag, 0, atol=1e-12)
    return back.real.transpose(1, 2, 0), norm


def tensor_norm(tensor):
    return literal_shrinkage(tensor, 0.0)[1]


def literal_hypergraph(points, n_members):
    n_points = len(points)
    distances = np.array([[np.linalg.norm(one - other) for other in points] for one in points])
    edges = [np.argsort(row)[:n_members] for row in distances]
    variance = np.mean([distances[i, j] for i in range(n_points) for j in edges[i]]) ** 2
    incidence = np.zeros((n_points, n_points))  # [point, edge]
    for i, edge in enumerate(edges):
        weight = sum(np.exp(-(distances[i, j] ** 2) / variance) for j in edge)
        incidence[edge, i] = np.sqrt(weight)
    of_points = np.diag(1 / np.sqrt((incidence**2).sum(axis=1)))
    return np.eye(n_points) - of_points @ incidence @ incidence.T @ of_points / n_members


@pytest.mark.parametrize("shape", [(3, 12, 12), (2, 7, 7), (1, 5, 9), (4, 1, 3), (5, 6, 2)])
@pytest.mark.parametrize("threshold", [0.0, 1.5, 4.0])
def test_shrunk_tensor_equals_the_literal_decomposition(rng, shape, threshold):
    tensor = rng.normal(size=shape)
    shrunk = np.empty(shape)
    norm = shrink_tensor(tensor, threshold, out=shrunk)
    expected, expected_norm = literal_shrinkage(tensor, threshold)
    np.testing.assert_allclose(shrunk, expected, atol=1e-12)
    # A singular value of 0 is the root of rounding.
    assert norm == pytest.approx(expected_norm, abs=1e-6)


def test_shrunk_tensor_is_the_nearest_of_small_norm(rng):
    tensor, threshold = rng.normal(size=(3, 6, 6)), 1.2
    shrunk = np.empty_like(tensor)
    shrink_tensor(tensor, threshold, out=shrunk)

    def cost(candidate):
        return threshold * tensor_norm(candidate) + np.sum((candidate - tensor) ** 2) / 2

    for size in (1e-3, 1e-1, 1.0):
        for _ in range(5):
            assert cost(shrunk) < cost(shrunk + size * rng.normal(size=tensor.shape))


def test_shrinking_may_overwrite_its_input_and_work_in_blocks(rng, monkeypatch):
    tensor = rng.normal(size=(2, 10, 10))
    expected = literal_shrinkage(tensor, 2.0)[0]
    monkeypatch.setattr(representation_terms, "BLOCK_BYTES", 16 * 2 * 6 * 3)  # three columns
    shrink_tensor(tensor, 2.0, out=tensor)
    np.testing.assert_allclose(tensor, expected, atol=1e-12)


def test_large_threshold_shrinks_to_exactly_nothing(rng):
    tensor = rng.normal(size=(2, 8, 8))
    assert shrink_tensor(tensor, 1e6, out=tensor) == 0
    assert not tensor.any()


def test_equal_views_stay_equal_when_shrunk(rng):
    tensor = np.repeat(rng.normal(size=(1, 9, 9)), 3, axis=0)
    shrink_tensor(tensor, 0.5, out=tensor)
    np.testing.assert_allclose(tensor[0], tensor[1], atol=1e-12)
    np.testing.assert_allclose(tensor[0], tensor[2], atol=1e-12)


def test_norm_depends_on_the_order_of_the_rows(rng):
    """Why samples must not come in the order of their classes."""
    blocks = np.kron(np.eye(3), np.ones((4, 4)))[None]
    order = rng.permutation(12)
    mixed = blocks[:, order][:, :, order]
    assert tensor_norm(blocks) < tensor_norm(mixed) - 0.1


@pytest.mark.parametrize("n_members", [2, 3, 5])
def test_hypergraph_laplacian_equals_the_literal_one(rng, n_members):
    points = rng.normal(size=(15, 4))
    found = hypergraph_laplacian(points, n_members).toarray()
    np.testing.assert_allclose(found, literal_hypergraph(points, n_members), atol=1e-13)


def test_hypergraph_laplacian_is_symmetric_with_eigenvalues_from_0_to_1(rng):
    found = hypergraph_laplacian(rng.normal(size=(30, 3))).toarray()
    np.testing.assert_array_equal(found, found.T)
    values = np.linalg.eigvalsh(found)
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert values[-1] <= 1 + 1e-12


def test_hypergraph_laplacian_does_not_see_scale_or_place(rng):
    points = rng.normal(size=(20, 3))
    before = hypergraph_laplacian(points).toarray()
    np.testing.assert_allclose(hypergraph_laplacian(7 * points + 2).toarray(), before, atol=1e-10)


def test_hypergraph_laplacian_follows_points_when_they_are_renumbered(rng):
    points, order = rng.normal(size=(20, 3)), rng.permutation(20)
    before = hypergraph_laplacian(points).toarray()
    after = hypergraph_laplacian(points[order]).toarray()
    np.testing.assert_allclose(after, before[np.ix_(order, order)], atol=1e-13)


def test_groups_far_apart_share_no_hyperedge(rng):
    points = np.repeat([[0.0], [100.0]], 6, axis=0) + rng.random((12, 1))
    found = hypergraph_laplacian(points).toarray()
    assert not found[:6, 6:].any()
    # The smooth vectors: the root of the degree on one group, 0 on the other.
    assert np.sum(np.linalg.eigvalsh(found) < 1e-12) >= 2


@pytest.mark.parametrize("n_points", [1, 2, 3, 7])
def test_equal_points_weigh_alike(n_points):
    found = hypergraph_laplacian(np.ones((n_points, 2))).toarray()
    assert np.isfinite(found).all()
    assert np.linalg.eigvalsh(found)[0] == pytest.approx(0, abs=1e-12)
