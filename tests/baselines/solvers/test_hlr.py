"""Self-representations of HLR-M2VS against literal loops over their equations."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.solvers import hlr
from manyview.baselines.solvers.hlr import (
    hypergraph_laplacian,
    memory_needed,
    order_by_content,
    self_representations,
    shrink_tensor,
)
from manyview.graphs import nearest_columns, neighbors


def unit_columns(rng, n_features, n_samples):
    view = rng.normal(size=(n_features, n_samples))
    return view / np.linalg.norm(view, axis=0)


def literal_shrinkage(tensor, threshold):
    """Transform, decompose every slice in full, shrink, transform back, as published."""
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


def literal_representations(views, lambda1, lambda2, n_iter):
    """Run the iterations as published: X_v [feature, sample], explicit inverses."""
    n_samples, n_views = views[0].shape[1], len(views)
    identity = np.eye(n_samples)
    z, g, q, w, b = ([np.zeros((n_samples, n_samples)) for _ in views] for _ in range(5))
    e, y = ([np.zeros_like(x) for x in views] for _ in range(2))
    mu1 = mu2 = rho = 1e-4
    residuals, objective = [], []
    for iteration in range(n_iter):
        affinities = [(np.abs(one) + np.abs(one.T)) / 2 for one in z]
        if iteration == 0:
            laplacians = [np.zeros((n_samples, n_samples)) for _ in views]
        else:
            laplacians = [literal_hypergraph(one, 3) for one in affinities]
        for v, x in enumerate(views):
            kernel = np.linalg.inv(2 * identity + x.T @ x)
            inner = (x.T @ y[v] + b[v] + mu2 * q[v] - w[v] + rho * g[v]) / mu1
            z[v] = kernel @ (inner + x.T @ x - x.T @ e[v])
        stacked = np.vstack([x - x @ z[v] + y[v] / mu1 for v, x in enumerate(views)])
        for j in range(n_samples):
            length = np.linalg.norm(stacked[:, j])
            stacked[:, j] *= max(1 - lambda1 / mu1 / length, 0)
        e = np.split(stacked, np.cumsum([len(x) for x in views])[:-1])
        for v in range(n_views):
            system = 2 * lambda2 * laplacians[v] + mu2 * identity
            q[v] = (mu2 * z[v] - b[v]) @ np.linalg.inv(system)
        tensor = np.stack([z[v] + w[v] / rho for v in range(n_views)])
        g = list(literal_shrinkage(tensor, 1 / rho)[0])
        for v, x in enumerate(views):
            w[v] = w[v] + rho * (z[v] - g[v])
            y[v] = y[v] + mu1 * (x - x @ z[v] - e[v])
            b[v] = b[v] + mu2 * (q[v] - z[v])
        nuclear = tensor_norm(np.stack(g))
        rough = sum(np.trace(q[v] @ laplacians[v] @ q[v].T) for v in range(n_views))
        noise = np.linalg.norm(stacked, axis=0).sum()
        objective.append(nuclear + lambda1 * noise + lambda2 * rough)
        residuals.append(
            (
                max(np.linalg.norm(x - x @ z[v] - e[v], np.inf) for v, x in enumerate(views)),
                max(np.linalg.norm(z[v] - g[v], np.inf) for v in range(n_views)),
            )
        )
        mu1, mu2, rho = 2 * mu1, 2 * mu2, 2 * rho
    return np.array([(np.abs(one) + np.abs(one.T)) / 2 for one in z]), objective, residuals


@pytest.mark.parametrize(
    ("n_samples", "widths"),
    [(14, (4, 9)), (15, (3, 12, 7)), (12, (5,)), (16, (2, 2, 2))],
    ids=["even", "odd", "one view", "narrow"],
)
@pytest.mark.parametrize("weights", [(0.2, 0.4), (0.1, 1.2), (0.5, 0.0)])
def test_iterations_equal_the_literal_ones(rng, n_samples, widths, weights):
    views = [unit_columns(rng, width, n_samples) for width in widths]
    expected, objective, residuals = literal_representations(views, *weights, n_iter=18)
    found = self_representations(
        [view.T for view in views],
        noise_weight=weights[0],
        smoothness=weights[1],
        max_iter=18,
        tol=0.0,
    )
    np.testing.assert_allclose(found.affinities, expected, atol=1e-8)
    np.testing.assert_allclose(found.objective, objective, atol=1e-8)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-8)


def test_more_features_than_samples_give_the_same_representations(rng):
    views = [unit_columns(rng, 40, 13), unit_columns(rng, 20, 13)]
    expected, objective, _ = literal_representations(views, 0.2, 0.4, n_iter=16)
    found = self_representations(
        [view.T for view in views], noise_weight=0.2, smoothness=0.4, max_iter=16, tol=0.0
    )
    np.testing.assert_allclose(found.affinities, expected, atol=1e-8)
    np.testing.assert_allclose(found.objective, objective, atol=1e-8)


def test_residuals_fall_below_the_tolerance_and_stop_the_iterations(tiny_views):
    seen = []
    found = self_representations(
        list(tiny_views.views.values()),
        noise_weight=0.2,
        smoothness=0.4,
        max_iter=60,
        tol=1e-5,
        on_iteration=lambda n_done, residual: seen.append((n_done, residual)),
    )
    assert max(found.residuals[-1]) < 1e-5 < max(found.residuals[-2])
    assert len(found.residuals) == len(found.objective) < 60
    assert seen == [(n + 1, max(both)) for n, both in enumerate(found.residuals)]
    last = found.objective[-4:]
    assert max(last) - min(last) < 1e-2 * last[-1]


def test_samples_are_represented_by_their_own_subspace(rng):
    """Three planes in space of nine dimensions: affinity falls on the samples of one plane."""
    plane = np.arange(45) % 3
    views = []
    for _ in range(2):
        bases = np.linalg.qr(rng.normal(size=(9, 6)))[0].T.reshape(3, 2, 9)
        view = np.einsum("sk,skd->sd", rng.normal(size=(45, 2)), bases[plane])
        views.append(view / np.linalg.norm(view, axis=1, keepdims=True))
    found = self_representations(views, noise_weight=0.2, smoothness=0.4, max_iter=22, tol=1e-5)
    is_same = plane[:, None] == plane
    for affinity in found.affinities:
        assert affinity[is_same].sum() > 5 * affinity[~is_same].sum()


def test_view_of_zeros_is_harmless(rng):
    views = [np.zeros((12, 3)), unit_columns(rng, 4, 12).T]
    found = self_representations(views, noise_weight=0.2, smoothness=0.4, max_iter=22, tol=1e-5)
    assert np.isfinite(found.affinities).all()


def test_order_by_content_does_not_depend_on_the_given_order(rng):
    views = [rng.normal(size=(30, 4)), rng.integers(3, size=(30, 2)).astype(np.float32)]
    shuffle = rng.permutation(30)
    first, second = order_by_content(views), order_by_content([view[shuffle] for view in views])
    np.testing.assert_array_equal(np.sort(first), np.arange(30))
    np.testing.assert_array_equal(first, shuffle[second])


def test_order_by_content_sees_values_not_formats(rng):
    view = rng.integers(3, size=(25, 6)).astype(float)
    view[:, 0] = np.arange(25)
    stored = sparse.csr_array(view)
    with_zeros = sparse.csr_array(view + 1)
    with_zeros.data -= 1
    assert with_zeros.nnz > stored.nnz
    expected = order_by_content([view])
    np.testing.assert_array_equal(order_by_content([stored]), expected)
    np.testing.assert_array_equal(order_by_content([with_zeros]), expected)
    assert np.abs(np.corrcoef(expected, np.arange(25))[0, 1]) < 0.5


def test_memory_needed_grows_with_the_square_of_the_samples():
    small, large = memory_needed(5_000, (30, 9, 9)), memory_needed(10_000, (30, 9, 9))
    assert large / small == pytest.approx(4, rel=0.1)
    assert 12 < large < 16


@pytest.mark.parametrize("widths", [(30, 9, 9), (220, 200), (900, 900)])
def test_memory_needed_is_what_is_used(rng, widths, monkeypatch):
    for module in (hlr, neighbors):  # blocks have a limit of their own
        monkeypatch.setattr(module, "BLOCK_BYTES", 2**16)
    monkeypatch.setattr(nearest_columns, "CHUNK_BYTES", 2**16)
    views = [unit_columns(rng, width, 400).T.astype(np.float32) for width in widths]
    tracemalloc.start()
    self_representations(views, noise_weight=0.2, smoothness=0.4, max_iter=2, tol=1e-5)
    peak = tracemalloc.get_traced_memory()[1] / 2**30
    tracemalloc.stop()
    assert peak == pytest.approx(memory_needed(400, widths), rel=0.3)


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
    monkeypatch.setattr(hlr, "BLOCK_BYTES", 16 * 2 * 6 * 3)  # three columns
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
    shuffled = blocks[:, order][:, :, order]
    assert tensor_norm(blocks) < tensor_norm(shuffled) - 0.1


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
