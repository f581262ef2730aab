import numpy as np
from scipy import sparse

from manyview.baselines.bases.concatenated import concatenate_views
from manyview.data.views import MultiView


def test_table_holds_the_unit_rows_of_all_views(tiny_views):
    _, table = concatenate_views(MultiView(tiny_views.views), "unit")
    rows = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in tiny_views.views.values()]
    np.testing.assert_allclose(table, np.hstack(rows), rtol=1e-5)


def test_new_samples_are_scaled_as_the_fitted_ones(tiny_views):
    views = MultiView(tiny_views.views)
    concatenator, table = concatenate_views(views, "standard")
    np.testing.assert_array_equal(concatenator(views[[3, 5]]), table[[3, 5]])


def test_table_of_new_samples_is_sparse_where_that_of_the_fit_was(rng):
    mostly_zeros = np.where(rng.random((40, 50)) < 0.05, 1.0, 0.0)
    mostly_zeros[7] = 1.0  # a full row alone would be kept dense
    concatenator, table = concatenate_views(MultiView([mostly_zeros]), "none")
    assert isinstance(table, sparse.csr_array)
    assert isinstance(concatenator(MultiView([mostly_zeros[[7]]])), sparse.csr_array)


def test_table_of_new_samples_is_dense_where_that_of_the_fit_was(rng):
    dense = rng.normal(size=(10, 30))
    concatenator, _ = concatenate_views(MultiView([dense]), "none")
    assert isinstance(concatenator(MultiView([np.zeros((1, 30))])), np.ndarray)
