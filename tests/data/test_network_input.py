"""The network's input: centered, balanced, and the same for sparse views."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.network_input import fit_input


@pytest.fixture
def features(rng):
    return [
        (rng.random((20, 4)) + 3).astype(np.float32),
        (rng.random((20, 7)) * (rng.random((20, 7)) < 0.3)).astype(np.float32),
    ]


def centered(features):
    scaling = fit_input(features)
    matrix = scaling(features)
    return (matrix.toarray() if sparse.issparse(matrix) else matrix) - scaling.center


def test_every_view_has_mean_zero_and_mean_square_length_one(features):
    for block in np.split(centered(features), [4], axis=1):
        np.testing.assert_allclose(block.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose((block**2).sum(axis=1).mean(), 1, rtol=1e-4)


def test_sparse_views_stay_sparse_and_mean_the_same(features):
    as_sparse = [sparse.csr_array(view) for view in features]
    assert sparse.issparse(fit_input(as_sparse)(as_sparse))
    np.testing.assert_allclose(centered(as_sparse), centered(features), atol=1e-5)


def test_a_view_of_equal_rows_becomes_zero(features):
    alike = [*features, np.ones((20, 3), dtype=np.float32)]
    np.testing.assert_allclose(centered(alike)[:, -3:], 0, atol=1e-6)


def rows_of_input(features, present):
    scaling = fit_input(features, present)
    matrix = scaling(features, present)
    weights, means = scaling.row_centers(features, present)
    return (matrix.toarray() if sparse.issparse(matrix) else matrix) - weights @ means


@pytest.fixture
def incomplete(features, rng):
    present = rng.random((20, 2)) < 0.6
    present[:, 0] |= ~present.any(axis=1)
    return [view * own[:, None] for view, own in zip(features, present.T, strict=True)], present


def test_absent_views_say_nothing_and_the_present_ones_are_scaled_up(incomplete):
    """Row i, view v: f_v (x_iv - mean_v) sqrt(V / n_i) where it is there, else 0, in a loop."""
    features, present = incomplete
    expected = []
    for view, own in zip(features, present.T, strict=True):
        there = view[own].astype(np.float64)
        spread = ((there - there.mean(axis=0)) ** 2).sum(axis=1).mean()
        block = np.zeros(view.shape)
        for i in np.flatnonzero(own):
            block[i] = (view[i] - there.mean(axis=0)) / np.sqrt(spread)
            block[i] *= np.sqrt(2 / present[i].sum())
        expected.append(block)
    np.testing.assert_allclose(rows_of_input(features, present), np.hstack(expected), atol=1e-4)


def test_rows_are_as_long_on_average_with_one_view_as_with_both(rng):
    features = [rng.normal(size=(4000, 3)).astype(np.float32) for _ in range(2)]
    present = np.ones((4000, 2), dtype=bool)
    present[:2000, 1] = False
    features[1][:2000] = 0
    square = (rows_of_input(features, present) ** 2).sum(axis=1)
    assert square[:2000].mean() == pytest.approx(square[2000:].mean(), rel=0.1)


def test_incomplete_sparse_views_stay_sparse_and_mean_the_same(incomplete):
    features, present = incomplete
    as_sparse = [sparse.csr_array(view) for view in features]
    assert sparse.issparse(fit_input(as_sparse, present)(as_sparse, present))
    expected = rows_of_input(features, present)
    np.testing.assert_allclose(rows_of_input(as_sparse, present), expected, atol=1e-4)


def test_a_mask_that_is_true_throughout_changes_nothing(features):
    present = np.ones((20, 2), dtype=bool)
    np.testing.assert_allclose(rows_of_input(features, present), centered(features), atol=1e-6)


def test_a_sample_of_graphs_alone_has_no_features(features):
    present = np.ones((20, 2), dtype=bool)
    present[3] = False
    features = [view * own[:, None] for view, own in zip(features, present.T, strict=True)]
    assert not rows_of_input(features, present)[3].any()


def test_weighed_views_are_multiplied_with_their_centres(features):
    scaling = fit_input(features)
    weighed = scaling.weighed(features, np.array([2.0, 0.5]))
    found = weighed(features) - weighed.center
    np.testing.assert_allclose(found, centered(features) * np.repeat([2.0, 0.5], [4, 7]), atol=1e-5)
