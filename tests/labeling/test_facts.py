"""Columns of a sample: unusual ones first, texts as texts."""

import numpy as np
from scipy import sparse

from manyview.data.mixed_table import MixedTable
from manyview.data.views import MultiView
from manyview.labeling.facts import N_COLUMNS, SampleColumns


def test_columns_far_from_the_class_come_first(rng):
    view = rng.normal(size=(50, 20))
    view[0, 7] = 9.0
    facts = SampleColumns(MultiView({"shape": view})).describe(0, np.arange(1, 25), [30, 31, -1])
    (fact,) = facts
    assert (fact.name, len(fact.columns), fact.n_more) == ("shape", N_COLUMNS, 20 - N_COLUMNS)
    first = fact.columns[0]
    assert (first.name, first.value, first.at) == ("8", "9", 1.0)
    spread = view[:, 7].std()
    expected = (9 - view[1:25, 7].mean()) / spread
    assert abs(first.from_class - expected) < 1e-3
    assert abs(first.from_neighbors - (9 - view[[30, 31], 7].mean()) / spread) < 1e-3
    unusual = [one.unusual for one in fact.columns]
    assert unusual == sorted(unusual, reverse=True)


def test_sparse_views_show_only_what_the_sample_has():
    view = sparse.csr_array(np.diag(np.arange(1.0, 7.0)))
    (fact,) = SampleColumns(MultiView({"words": view})).describe(2, np.array([3, 4, 5]), [])
    assert [(one.name, one.value) for one in fact.columns] == [("3", "3")]


def test_before_the_first_fit_nothing_is_compared():
    view = np.arange(8.0).reshape(4, 2)
    (fact,) = SampleColumns(MultiView({"shape": view})).describe(0, np.zeros(0, dtype=int), [])
    assert all(one.from_class is None and one.from_neighbors is None for one in fact.columns)


def test_tables_show_texts_words_and_numbers():
    table = MixedTable(
        ("note", "color", "age"),
        (
            np.array(["long text " * 9, "b", "c", None, "e"], dtype=object),
            np.array(["red", "blue", "blue", "blue", "red"], dtype=object),
            np.array([1.0, 2.0, np.nan, 4.0, 5.0]),
        ),
    )
    (fact,) = SampleColumns(MultiView({"record": table})).describe(0, np.array([1, 2, 3]), [4])
    by_name = {one.name: one for one in fact.columns}
    assert fact.columns[0].name == "note"
    assert (by_name["note"].kind, by_name["color"].kind) == ("text", "word")
    assert (by_name["color"].from_class, by_name["color"].from_neighbors) == (1.0, 0.0)
    assert by_name["age"].from_neighbors < 0


def test_a_view_that_a_sample_lacks_is_named():
    view = np.array([[np.nan, np.nan], [1, 2], [3, 4]])
    views = MultiView({"shape": np.eye(3), "color": view})
    facts = SampleColumns(views).describe(0, np.array([1, 2]), [1])
    assert [fact.is_present for fact in facts] == [True, False]
