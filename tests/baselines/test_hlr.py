import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines import representation_terms, self_representation
from manyview.baselines._hlr import (
    memory_needed,
    order_by_content,
    self_representations,
)


def unit_columns(rng, n_features, n_samples):
    view = rng.normal(size=(n_features, n_samples))
    return view / np.linalg.norm(view, axis=0)


def literal_laplacian(points, n_members=3):
    """Laplacian of the hypergraph of the columns."""
    n_points = points.shape[1]
    distances = np.linalg.norm(points[:, :, None] - points[:, None, :], axis=0)
    edges = np.argsort(distances, axis=1)[:, :n_members]
    variance = np.mean([distances[i, edges[i]] for i in range(n_points)]) ** 2
    incidence = np.zeros((n_points, n_points))
    for i in range(n_points):
        incidence[edges[i], i] = np.sqrt(np.exp(-(distances[i, edges[i]] ** 2) / variance).sum())
    scale = np.diag(np.sum(incidence**2, axis=1) ** -0.5)
    return np.eye(n_points) - scale @ incidence @ incidence.T @ scale / n_members


def literal_shrinkage(tensor, threshold):
    """Shrink [row, column, view], transformed along the rows, slice by slice."""
    turned = np.fft.fft(np.transpose(tensor, (1, 2, 0)), axis=2)
    for i in range(turned.shape[2]):
        left, singular, right = np.linalg.svd(turned[:, :, i], full_matrices=False)
        turned[:, :, i] = (left * np.maximum(singular - threshold, 0)) @ right
    return np.transpose(np.fft.ifft(turned, axis=2).real, (2, 0, 1))


def literal_representations(views, lambda1, lambda2, n_iter):
    """Run the iterations as they are written: X_v [feature, sample], explicit inverses."""
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
            laplacians = [literal_laplacian(one) for one in affinities]
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
        tensor = np.stack([z[v] + w[v] / rho for v in range(n_views)], axis=2)
        g = list(np.moveaxis(literal_shrinkage(tensor, 1 / rho), 2, 0))
        for v, x in enumerate(views):
            w[v] = w[v] + rho * (z[v] - g[v])
            y[v] = y[v] + mu1 * (x - x @ z[v] - e[v])
            b[v] = b[v] + mu2 * (q[v] - z[v])
        slices = np.fft.fft(np.stack(g, axis=2), axis=0)
        nuclear = sum(np.linalg.norm(one, "nuc") for one in slices) / n_samples
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


def test_more_features_than_samples_give_the_same_mixtures(rng):
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
    settled = found.objective[-4:]
    assert max(settled) - min(settled) < 1e-2 * settled[-1]


def test_samples_are_mixed_from_their_own_subspace(rng):
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
    for module in (representation_terms, self_representation):  # torch's blocks are not traced
        monkeypatch.setattr(module, "BLOCK_BYTES", 2**16)
    views = [unit_columns(rng, width, 400).T.astype(np.float32) for width in widths]
    tracemalloc.start()
    self_representations(views, noise_weight=0.2, smoothness=0.4, max_iter=2, tol=1e-5)
    peak = tracemalloc.get_traced_memory()[1] / 2**30
    tracemalloc.stop()
    assert peak == pytest.approx(memory_needed(400, widths), rel=0.3)
