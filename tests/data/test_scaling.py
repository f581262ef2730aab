"""Scaling: one view, all views of a set, new samples, and which scaling is suggested."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from manyview.data.scaling import (
    fit_scaler,
    fit_scalers,
    scale_views,
    scaling_by_view,
    standard_rows,
    suggest_scaling,
)
from manyview.data.views import MultiView
from manyview.errors import InputError


@pytest.fixture
def view(rng):
    return rng.gamma(2.0, size=(30, 6))


def test_unit_scales_rows_to_length_one(view):
    np.testing.assert_allclose(fit_scaler(view, "unit")(view), normalize(view), rtol=1e-6)


def test_standard_is_scikit_learns_then_unit_rows(view):
    expected = normalize(StandardScaler().fit_transform(view))
    np.testing.assert_allclose(fit_scaler(view, "standard")(view), expected, atol=1e-6)


def test_tfidf_is_scikit_learns(rng):
    counts = rng.poisson(0.5, size=(20, 8))
    expected = TfidfTransformer().fit_transform(counts).toarray()
    scaler = fit_scaler(counts, "tfidf")
    np.testing.assert_allclose(scaler(counts), expected, atol=1e-6)
    np.testing.assert_allclose(scaler(sparse.csr_array(counts)).toarray(), expected, atol=1e-6)


def test_none_leaves_values_alone(view):
    np.testing.assert_array_equal(fit_scaler(view, "none")(view), view.astype(np.float32))


AS_VIEW = pytest.mark.parametrize(
    "as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)


def literal_standard_rows(rows):
    """(value - mean) / (standard deviation + 1e-8), each row by itself."""
    expected = []
    for row in rows.tolist():
        mean = sum(row) / len(row)
        spread = (sum((value - mean) ** 2 for value in row) / (len(row) - 1)) ** 0.5
        expected.append([(value - mean) / (spread + 1e-8) for value in row])
    return expected


@AS_VIEW
def test_rows_equal_a_literal_loop(rng, as_view):
    view = rng.random((20, 8)) * (rng.random((20, 8)) < 0.3) + np.eye(20, 8)
    view[15] = 0
    expected = literal_standard_rows(view)
    np.testing.assert_allclose(standard_rows(as_view(view)), expected, atol=1e-12)
    np.testing.assert_allclose(fit_scaler(view, "rows")(as_view(view)), expected, atol=1e-6)


@AS_VIEW
def test_rows_are_dense_in_float32_even_where_the_view_is_sparse(as_view):
    scaled = fit_scaler(np.eye(20), "rows")(as_view(np.eye(20)))
    assert isinstance(scaled, np.ndarray)
    assert scaled.dtype == np.float32


def test_rows_have_mean_zero_and_variance_one(view):
    scaled = standard_rows(view)
    np.testing.assert_allclose(scaled.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(scaled.std(axis=1, ddof=1), 1, rtol=1e-7)


def test_rows_do_not_depend_on_each_row_s_own_unit_and_origin(view, rng):
    moved = rng.uniform(1, 9, size=(30, 1)) * view + rng.normal(size=(30, 1))
    np.testing.assert_allclose(standard_rows(moved), standard_rows(view), atol=1e-6)


@AS_VIEW
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 / 3, -1e300])
def test_constant_rows_become_exact_zeros(as_view, value):
    np.testing.assert_array_equal(standard_rows(as_view(np.full((2, 7), value))), 0)


@AS_VIEW
def test_rows_of_a_single_column_become_zeros(as_view, rng):
    single = rng.normal(size=(5, 1))
    scaled = fit_scaler(single, "rows")(as_view(single))
    np.testing.assert_array_equal(scaled, np.zeros((5, 1)))


def test_rows_take_whole_numbers_and_leave_their_input_alone():
    counts = np.array([[3, 1, 2], [200, 0, 100]], dtype=np.uint8)
    np.testing.assert_allclose(standard_rows(counts), [[1, -1, 0], [1, -1, 0]], atol=1e-7)
    assert counts.tolist() == [[3, 1, 2], [200, 0, 100]]


@pytest.mark.parametrize("scaling", ["unit", "tfidf", "none"])
def test_sparse_and_dense_views_scale_alike(rng, scaling):
    dense = rng.random((20, 8)) * (rng.random((20, 8)) < 0.3)
    dense_scaled = fit_scaler(dense, scaling)(dense)
    sparse_view = sparse.csr_array(dense)
    sparse_scaled = fit_scaler(sparse_view, scaling)(sparse_view)
    assert sparse.issparse(sparse_scaled)
    np.testing.assert_allclose(sparse_scaled.toarray(), dense_scaled, atol=1e-6)


def test_standard_keeps_the_zeros_of_a_sparse_view(rng):
    view = sparse.random_array((20, 8), density=0.2, rng=rng, format="csr")
    assert fit_scaler(view, "standard")(view).nnz == view.nnz


def test_rows_of_zeros_stay_zeros(view):
    view[3] = 0
    for scaling in ("unit", "tfidf"):
        np.testing.assert_array_equal(fit_scaler(view, scaling)(view)[3], 0)


def test_new_rows_use_what_was_learned(view):
    for scaling in ("standard", "rows"):
        scaler = fit_scaler(view, scaling)
        np.testing.assert_array_equal(scaler(view[:5]), scaler(view)[:5])


def cosines(rows):
    unit = normalize(rows)
    return unit @ unit.T


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(lambda rng: np.full(30, 1e6), id="constant"),
        pytest.param(lambda rng: 1e9 + rng.normal(size=30), id="far from zero"),
    ],
)
def test_a_column_without_news_does_not_wreck_a_unit_view(view, rng, column):
    spoiled = np.column_stack([view, column(rng)])
    scaled = fit_scaler(spoiled, "unit")(spoiled)
    off_diagonal = ~np.eye(30, dtype=bool)
    agreement = np.corrcoef(cosines(scaled)[off_diagonal], cosines(view)[off_diagonal])[0, 1]
    assert agreement > 0.6
    # Without taming every cosine would be 1.
    assert np.ptp(cosines(scaled)) > 0.3


def test_a_huge_column_is_brought_down_to_the_others(view, rng):
    spoiled = np.column_stack([view, 1e13 * rng.random(30)])
    scaled = fit_scaler(spoiled, "unit")(spoiled)
    assert np.abs(scaled[:, :-1]).mean() > 0.1
    assert np.isfinite(scaled).all()


def test_ordinary_columns_are_not_touched(view):
    scaler = fit_scaler(view, "unit")
    assert scaler.center is None
    np.testing.assert_array_equal(scaler.factor, 1.0)


def test_a_single_column_keeps_its_order_as_a_direction():
    view = np.array([[1.0], [2.0], [3.0], [10.0]])
    scaled = fit_scaler(view, "unit")(view)
    assert scaled.shape == (4, 2)
    to_first = cosines(scaled)[0]
    assert (np.diff(to_first) < 0).all()


def test_a_view_of_constants_becomes_zeros():
    view = np.full((5, 3), 7.0)
    assert not np.any(fit_scaler(view, "unit")(view).astype(bool).sum())


def test_mostly_zero_views_become_sparse_in_float32():
    view = np.eye(20)
    scaled = fit_scaler(view, "unit")(view)
    assert sparse.issparse(scaled)
    assert scaled.dtype == np.float32


def test_suggestions_speak_up_only_where_another_scaling_fits(rng, view):
    assert suggest_scaling(view) is None
    counts = 2 * rng.poisson(0.05, size=(50, 40))
    assert "tfidf" in suggest_scaling(counts)
    assert "tfidf" in suggest_scaling(sparse.csr_array(counts))
    units = view * np.array([1, 1, 1, 1, 1, 1000.0])
    assert "'standard'" in suggest_scaling(units)
    assert "lie far from 0" in suggest_scaling(view + 1000)
    assert "constant" in suggest_scaling(np.ones((4, 3)))


def test_scaling_is_one_word_a_list_or_a_dict(tiny_views):
    views = MultiView(tiny_views.views)
    assert scaling_by_view("rows", views) == {"shape": "rows", "color": "rows"}
    assert scaling_by_view(["unit", "none"], views) == {"shape": "unit", "color": "none"}
    assert scaling_by_view({"color": "standard"}, views) == {"shape": "unit", "color": "standard"}


def test_nothing_is_none_as_the_command_line_reads_it(tiny_views):
    views = MultiView(tiny_views.views)
    assert scaling_by_view(None, views) == {"shape": "none", "color": "none"}
    assert scaling_by_view({"shape": None}, views) == {"shape": "none", "color": "unit"}


@pytest.mark.parametrize(
    ("scaling", "message"),
    [
        ("unti", "Did you mean 'unit'"),
        (["unit"], "one for each of the 2 feature views; got 1"),
        ({"colour": "unit"}, "Did you mean 'color'"),
    ],
)
def test_wrong_scaling_is_refused(tiny_views, scaling, message):
    with pytest.raises(InputError, match=message):
        scaling_by_view(scaling, MultiView(tiny_views.views))


def test_new_samples_are_scaled_as_the_fitted_ones(tiny_views):
    views = MultiView(tiny_views.views)
    scalers = fit_scalers(views, "standard")
    whole = scale_views(views, scalers)
    part = scale_views(views[:7], scalers)
    for name in views.names:
        np.testing.assert_array_equal(part[name], whole[name][:7])


def test_unscaled_values_beyond_single_precision_are_refused():
    view = np.full((3, 2), 1e30)
    with pytest.raises(InputError, match=r"at most 1e\+15 in magnitude with scaling 'none'"):
        fit_scaler(view, "none")(view)
    assert fit_scaler(view, "unit")(view).shape == (3, 2)


def test_columns_are_standardized_and_views_of_any_width_have_the_same_weight(view):
    scaled = fit_scaler(view, "columns")(view)
    expected = StandardScaler().fit_transform(view) / np.sqrt(6)
    np.testing.assert_allclose(scaled, expected, atol=1e-6)
    assert np.mean(np.sum(scaled**2, axis=1)) == pytest.approx(1, rel=1e-5)


def test_columns_of_a_sparse_view_keep_their_zeros(rng):
    dense = rng.random((20, 8)) * (rng.random((20, 8)) < 0.3)
    thin = sparse.csr_array(dense)
    scaled = fit_scaler(thin, "columns")(thin)
    spread = dense.std(axis=0)
    expected = np.divide(dense, spread * np.sqrt(8), out=np.zeros_like(dense), where=spread > 0)
    np.testing.assert_allclose(scaled.toarray(), expected, atol=1e-6)


@AS_VIEW
def test_columns_limit_what_single_precision_cannot_square(view, as_view):
    scaler = fit_scaler(as_view(view), "columns")
    scaled = scaler(as_view(np.full((1, 6), 1e99)))
    largest = np.abs(scaled.toarray() if sparse.issparse(scaled) else scaled)
    np.testing.assert_allclose(largest, 1e15, rtol=1e-6)
    constant = fit_scaler(np.full((5, 2), 3.0), "columns")
    assert not constant(np.array([[9.0, 9.0]])).toarray().any()


@AS_VIEW
def test_rank_is_column_ranks_then_unit_rows(view, as_view):
    view[:, 2] = 10 ** np.round(4 * view[:, 2])
    expected = normalize(np.column_stack([2 * (rankdata(c) - 1) / 29 - 1 for c in view.T]))
    scaler = fit_scaler(as_view(view), "rank")
    scaled = scaler(as_view(view))
    assert isinstance(scaled, np.ndarray)
    np.testing.assert_allclose(scaled, expected, atol=1e-6)
    np.testing.assert_array_equal(scaler(as_view(view[:5])), scaled[:5])


def test_rank_drops_constant_columns_also_where_new_samples_differ(view):
    view[:, 1] = 4.0
    scaler = fit_scaler(view, "rank")
    new = view.copy()
    new[:, 1] = np.arange(30)
    np.testing.assert_array_equal(scaler(new), scaler(view))
    assert not scaler(view)[:, 1].any()


def test_rank_of_a_single_column_keeps_its_order_as_a_direction():
    view = np.array([[1.0], [10.0], [1e6], [1e9]])
    scaled = fit_scaler(view, "rank")(view)
    assert scaled.shape == (4, 2)
    assert (np.diff(cosines(scaled)[0]) < 0).all()
