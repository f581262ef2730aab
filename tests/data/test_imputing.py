"""Single unknown values, filled with what the fit has learned."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.imputing import fill_unknown, fit_fill_values
from manyview.data.views import MultiView
from manyview.errors import InputError

NAN = np.nan
VALUES = np.array([[1.0, NAN], [NAN, 4.0], [4.0, 8.0], [NAN, NAN]])


def test_unknown_values_become_the_mean_of_the_known_ones_in_their_column():
    views = MultiView({"a": VALUES, "b": np.ones((4, 1))})
    filled = fill_unknown(views, fit_fill_values(views))
    np.testing.assert_array_equal(filled["a"][:3], [[1.0, 6.0], [2.5, 4.0], [4.0, 8.0]])
    assert filled.present[:, 0].tolist() == [True, True, True, False]  # the view is not made up
    assert filled["b"] is views["b"]
    assert np.isnan(views["a"]).sum() == 4


def test_sparse_views_are_filled_with_the_same_values():
    dense = np.array([[NAN, 0.0, 3.0], [2.0, NAN, 0.0], [0.0, 1.0, 0.0]])
    one, other = MultiView(dense), MultiView(sparse.csr_array(dense))
    expected = fill_unknown(one, fit_fill_values(one))["view1"]
    filled = fill_unknown(other, fit_fill_values(other))["view1"]
    assert sparse.issparse(filled)
    np.testing.assert_allclose(filled.toarray(), expected)


def test_new_samples_are_filled_with_the_means_of_the_fit():
    means = fit_fill_values(MultiView(VALUES[:3]))
    new = fill_unknown(MultiView([[NAN, 100.0]]), means)
    np.testing.assert_array_equal(new["view1"], [[2.5, 100.0]])


def test_masked_rows_do_not_count():
    views = MultiView({"a": VALUES[:3], "b": np.ones((3, 1))}, present={"a": [True, True, False]})
    np.testing.assert_array_equal(fit_fill_values(views)["a"], [1.0, 4.0])


def test_a_column_without_any_known_value_is_refused_by_name():
    views = MultiView({"a": np.array([[1.0, NAN], [2.0, NAN]])}, columns={"a": ["x", "age"]})
    with pytest.raises(InputError, match=r"view 'a' must have .*; column 'age' has none"):
        fit_fill_values(views)
