"""One table of all views, filled where samples lack some of them."""

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.bases.concatenated import concatenate_views
from manyview.baselines.bases.table import fill_absent, present_means
from manyview.data.views import MultiView


@pytest.fixture
def incomplete(rng):
    present = np.ones((12, 3), dtype=bool)
    present[2:5, 0] = present[7, 2] = False
    views = {name: rng.random((12, width)) for name, width in {"a": 2, "b": 3, "c": 1}.items()}
    return MultiView(views, present=present)


@pytest.mark.parametrize("as_table", [np.asarray, sparse.csr_array])
def test_only_cells_of_absent_views_are_filled(incomplete, as_table):
    concatenator, table = concatenate_views(incomplete, "none")
    expected = np.array(table)
    expected[2:5, :2], expected[7, 5] = [10, 11], 15
    values = np.arange(10.0, 16)
    filled = fill_absent(as_table(table), incomplete, concatenator.scalers, values)
    assert type(filled) is type(as_table(table))
    found = filled.toarray() if sparse.issparse(filled) else filled
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert not table[2:5, :2].any()


@pytest.mark.parametrize("as_table", [np.asarray, sparse.csr_array])
def test_means_are_of_the_samples_that_have_the_view(incomplete, as_table):
    concatenator, table = concatenate_views(incomplete, "none")
    expected = [
        incomplete[name][incomplete.present[:, number]].mean(axis=0)
        for number, name in enumerate("abc")
    ]
    means = present_means(as_table(table), incomplete, concatenator.scalers)
    np.testing.assert_allclose(means, np.concatenate(expected), rtol=1e-6)


def test_a_table_of_complete_samples_is_returned_as_it_is(rng):
    views = MultiView({"a": rng.random((4, 2))})
    concatenator, table = concatenate_views(views, "none")
    assert fill_absent(table, views, concatenator.scalers, np.zeros(2)) is table
