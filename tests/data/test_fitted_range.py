"""Where the fitted samples lie: thresholds, counts by class and limits, dense and sparse alike."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.fitted_range import count_beyond, fit_range, fit_ranges
from manyview.data.views import MultiView


def test_thresholds_are_near_the_quartiles(rng):
    view = rng.normal(size=(5000, 3)) * [1, 10, 100]
    fitted = fit_range(view, np.zeros(5000, dtype=int), 1)
    for counts in (fitted.n_below, fitted.n_above):
        assert counts.shape == (1, 3)
        assert (np.abs(counts / 5000 - 0.25) < 0.12).all()
    np.testing.assert_array_equal(fitted.smallest, view.min(axis=0))
    np.testing.assert_array_equal(fitted.largest, view.max(axis=0))


def test_samples_beyond_a_threshold_are_counted_by_class(rng):
    view, classes = rng.normal(size=(300, 4)), rng.integers(3, size=300)
    fitted = fit_range(view, classes, 4)
    assert fitted.n_samples.tolist() == [*np.bincount(classes), 0]
    for number in range(4):
        own = view[classes == number]
        np.testing.assert_array_equal(fitted.n_above[number], (own > fitted.high).sum(axis=0))
        np.testing.assert_array_equal(fitted.n_below[number], (own < fitted.low).sum(axis=0))


@pytest.mark.parametrize("offset", [0.0, -2.0, 2.0])
def test_zeros_of_sparse_views_count(rng, offset):
    dense = np.where(rng.random((200, 30)) < 0.3, rng.normal(size=(200, 30)) + offset, 0.0)
    classes = rng.integers(3, size=200)
    expected, got = (fit_range(view, classes, 3) for view in (dense, sparse.csr_array(dense)))
    for name in ("low", "high", "smallest", "largest", "n_below", "n_above", "n_samples"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name), err_msg=name)
    ones = np.ones((1, 200), dtype=np.float32)
    for threshold in (-1.0, 0.0, 1.0):
        limits = np.full(30, threshold)
        np.testing.assert_array_equal(
            count_beyond(sparse.csr_array(dense), limits, ones, is_above=True)[0],
            (dense > threshold).sum(axis=0),
        )


def test_columns_of_two_values_are_split_between_them():
    column = np.repeat([0.0, 1.0], [20, 80])[:, None]
    fitted = fit_range(column, np.zeros(100, dtype=int), 1)
    assert (fitted.n_below.item(), fitted.n_above.item()) == (20, 80)


def test_encoded_categories_are_not_compared_next_to_numbers(rng):
    categories = np.eye(3)[rng.integers(3, size=200)]
    rare = (np.arange(200) % 50 == 0)[:, None]
    number = rng.normal(size=(200, 1))
    classes = np.zeros(200, dtype=int)
    mixed = fit_range(np.hstack([categories, rare, number]), classes, 1)
    assert mixed.compared_columns().tolist() == [False] * 4 + [True]
    assert fit_range(np.hstack([categories, rare]), classes, 1).compared_columns().tolist() == [
        True, True, True, False,
    ]  # fmt: skip
    assert fit_range(np.ones((9, 2)), np.zeros(9, dtype=int), 1).compared_columns().all()


def test_far_limits_are_wider_where_rare_values_are_large(rng):
    columns = np.column_stack(
        [rng.normal(size=2000), rng.lognormal(sigma=2, size=2000), np.ones(2000)]
    )
    fitted = fit_range(columns, np.zeros(2000, dtype=int), 1)
    lower, upper = fitted.far_limits()
    width = fitted.largest - fitted.smallest
    in_widths = (upper - fitted.largest)[:2] / width[:2]
    assert 3 < in_widths[0] < 8
    assert in_widths[1] > 20
    assert lower[2] == -np.inf
    assert upper[2] == np.inf


def test_samples_that_lack_a_view_do_not_count(rng):
    view = rng.normal(size=(40, 2))
    view[30:] = np.nan
    views = MultiView({"a": view, "b": rng.normal(size=(40, 2))})
    ranges = fit_ranges(views, np.arange(40) % 2, 2)
    assert ranges["a"].n_samples.tolist() == [15, 15]
    np.testing.assert_array_equal(ranges["a"].largest, view[:30].max(axis=0))
    assert ranges["b"].n_samples.tolist() == [20, 20]


def test_graphs_have_no_range(rng):
    views = MultiView({"a": rng.normal(size=(9, 2)), "links": np.eye(9)}, graphs=["links"])
    assert list(fit_ranges(views, np.zeros(9, dtype=int), 1)) == ["a"]
