"""The network's input: centred, balanced, and the same for sparse views."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.inputs import fit_input


@pytest.fixture
def features(rng):
    return [
        (rng.random((20, 4)) + 3).astype(np.float32),
        (rng.random((20, 7)) * (rng.random((20, 7)) < 0.3)).astype(np.float32),
    ]


def centred(features):
    scaling = fit_input(features)
    matrix = scaling(features)
    return (matrix.toarray() if sparse.issparse(matrix) else matrix) - scaling.center


def test_every_view_has_mean_zero_and_mean_square_length_one(features):
    for block in np.split(centred(features), [4], axis=1):
        np.testing.assert_allclose(block.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose((block**2).sum(axis=1).mean(), 1, rtol=1e-4)


def test_sparse_views_stay_sparse_and_mean_the_same(features):
    as_sparse = [sparse.csr_array(view) for view in features]
    assert sparse.issparse(fit_input(as_sparse)(as_sparse))
    np.testing.assert_allclose(centred(as_sparse), centred(features), atol=1e-5)


def test_a_view_of_equal_rows_becomes_zero(features):
    alike = [*features, np.ones((20, 3), dtype=np.float32)]
    np.testing.assert_allclose(centred(alike)[:, -3:], 0, atol=1e-6)
