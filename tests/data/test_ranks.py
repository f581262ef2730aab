"""Ranks of values among those of a fit."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

from manyview.data import ranks
from manyview.data.ranks import column_ranks, fit_quantiles


@pytest.fixture
def counts(rng):
    """200 rows: counts over nine orders of magnitude, mostly zeros, few values, continuous."""
    heavy = np.floor(10 ** rng.uniform(0, 9, size=200))
    zeros = np.where(rng.random(200) < 0.8, 0, heavy)
    return np.column_stack([heavy, zeros, rng.integers(0, 3, size=200), rng.normal(size=200)])


def test_fitted_values_have_their_average_ranks(counts):
    found = column_ranks(counts, fit_quantiles(counts))
    for column, own in zip(counts.astype(np.float32).T, found.T, strict=True):
        np.testing.assert_allclose(own, 2 * (rankdata(column) - 1) / 199 - 1, atol=1e-12)


def test_ranks_depend_on_the_order_alone(counts):
    moved = np.sign(counts) * np.log1p(np.abs(counts))
    np.testing.assert_allclose(
        column_ranks(moved, fit_quantiles(moved)), column_ranks(counts, fit_quantiles(counts))
    )


def test_new_values_are_between_those_they_lie_between(counts):
    quantiles = fit_quantiles(counts)
    new = np.linspace(-1e9, 2e9, 999)[:, None] * np.ones(4)
    found = column_ranks(new, quantiles)
    assert (np.diff(found, axis=0) >= 0).all()
    assert found.min() == -1
    assert found.max() == 1
    halfway = column_ranks(np.array([[1.5]]), np.array([[1.0], [2.0], [9.0]], np.float32))
    assert halfway.item() == pytest.approx(-0.5)


def test_many_rows_are_ranked_among_some_of_them(rng):
    view = rng.gamma(0.3, size=(30_000, 2)) ** 4
    quantiles = fit_quantiles(view)
    assert quantiles.shape == (1001, 2)
    exact = np.column_stack([2 * (rankdata(column) - 1) / 29_999 - 1 for column in view.T])
    np.testing.assert_allclose(column_ranks(view, quantiles), exact, atol=0.003)


def test_single_and_double_precision_have_the_same_ranks(rng):
    view = rng.choice([0.1, 0.2, 0.7], size=(50, 3))
    single = view.astype(np.float32)
    for fitted in (view, single):
        quantiles = fit_quantiles(fitted)
        assert quantiles.dtype == np.float32
        np.testing.assert_array_equal(
            column_ranks(view, quantiles), column_ranks(single, quantiles)
        )


def test_values_beyond_single_precision_are_ranked(counts):
    counts[0, 0] = 1e99
    assert column_ranks(counts, fit_quantiles(counts))[0, 0] == 1


def test_sparse_views_have_the_ranks_of_dense_ones(counts):
    quantiles = fit_quantiles(sparse.csr_array(counts))
    np.testing.assert_array_equal(quantiles, fit_quantiles(counts))
    np.testing.assert_array_equal(
        column_ranks(sparse.csr_array(counts), quantiles), column_ranks(counts, quantiles)
    )


def test_one_row_has_no_rank():
    assert column_ranks(np.array([[5.0], [7.0]]), fit_quantiles(np.array([[5.0]]))).tolist() == [
        [0.0],
        [0.0],
    ]


def test_quantiles_of_other_columns_are_refused(counts):
    with pytest.raises(ValueError, match="zip"):
        column_ranks(counts, fit_quantiles(counts)[:, :2])


def test_the_number_of_quantiles_is_a_limit_not_a_rule(rng, monkeypatch):
    monkeypatch.setattr(ranks, "MAX_QUANTILES", 5)
    assert fit_quantiles(np.arange(9.0)[:, None]).ravel().tolist() == [0, 2, 4, 6, 8]
