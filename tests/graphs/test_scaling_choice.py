"""Scaling chosen without labels, by edge overlap with other views; "unit" without a clear gain."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.scaling import SCALINGS, scaling_by_view
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.graphs import knn_graph, scaling_choice
from manyview.graphs.prepare import prepare_views
from manyview.graphs.scaling_choice import AUTO, choose_scalings


@pytest.fixture
def raw(rng):
    """Three views of the same classes; in "table" one column is noise of another unit."""
    classes = np.repeat(np.arange(4), 30)
    hidden = 4 * rng.normal(size=(4, 5))[classes] + rng.normal(size=(120, 5))
    views = {name: hidden + rng.normal(size=(120, 5)) for name in ("image", "sound", "table")}
    views["table"] = np.column_stack([views["table"], 60 * rng.normal(size=120)])
    return MultiView(views)


def chosen(views, scaling=AUTO, **settings):
    kinds = scaling_by_view(scaling, views, (AUTO, *SCALINGS))
    settings = {"n_neighbors": 8, "metric": "cosine"} | settings
    return choose_scalings(views, kinds, **settings).kinds


def test_columns_of_other_units_are_standardized_if_it_increases_the_overlap(raw):
    assert chosen(raw)["table"] == "standard"
    assert {chosen(raw)[name] for name in ("image", "sound")} == {"unit"}


def test_prepared_views_use_and_name_what_was_chosen(raw):
    prepared = prepare_views(raw, scaling=AUTO, n_neighbors=8, metric="cosine")
    by_hand = prepare_views(raw, scaling=dict(prepared.scalings), n_neighbors=8, metric="cosine")
    assert prepared.scalings["table"] == "standard"
    np.testing.assert_array_equal(prepared.features["table"], by_hand.features["table"])


def test_a_scaling_named_by_the_user_is_kept(raw):
    assert chosen(raw, {"table": "rows", "image": AUTO})["table"] == "rows"
    assert chosen(raw, "tfidf") == dict.fromkeys(raw.names, "tfidf")


def test_a_single_view_is_unit(raw):
    assert chosen(MultiView({"table": raw["table"]})) == {"table": "unit"}


def test_precomputed_graphs_count_in_the_overlap(raw):
    classes = np.repeat(np.arange(4), 30)
    links = sparse.csr_array((classes[:, None] == classes).astype(float))
    views = MultiView({"table": raw["table"], "links": links}, graphs=["links"])
    assert chosen(views) == {"table": "standard"}


def test_views_of_mostly_zeros_are_unit_however_they_are_stored(rng):
    words = rng.poisson(0.05, size=(60, 80)).astype(float)
    for form in (words, sparse.csr_array(words)):
        views = MultiView({"words": form, "image": rng.normal(size=(60, 4))})
        assert chosen(views)["words"] == "unit"


def test_order_and_numbering_do_not_matter(raw, rng):
    order = rng.permutation(len(raw))
    turned = MultiView({name: raw[name][order] for name in reversed(raw.names)})
    assert chosen(turned) == chosen(raw)


def test_a_draw_of_many_samples_leads_to_the_same_choice(raw, monkeypatch):
    monkeypatch.setattr(scaling_choice, "MAX_COMPARED", 80)
    assert chosen(raw, seed=3)["table"] == "standard"
    assert chosen(raw, seed=3) == chosen(raw, seed=3)


def test_samples_that_lack_a_view_are_left_out_of_it(raw):
    present = np.ones((120, 3), dtype=bool)
    present[::3, 2] = False
    assert chosen(MultiView(raw, present=present))["table"] == "standard"


def test_only_methods_that_can_choose_take_auto(raw):
    with pytest.raises(InputError, match="scaling must be"):
        scaling_by_view(AUTO, raw)


@pytest.fixture
def searches(monkeypatch):
    """Count the exact searches by their shapes."""
    shapes = []
    for module in (scaling_choice, knn_graph):

        def counted(features, search=module.nearest_neighbors, **settings):
            shapes.append(features.shape)
            return search(features, **settings)

        monkeypatch.setattr(module, "nearest_neighbors", counted)
    return shapes


def assert_same_graphs(prepared, by_hand):
    for name, graph in by_hand.graphs.items():
        np.testing.assert_array_equal(prepared.graphs[name].toarray(), graph.toarray())
    assert prepared.recalls == by_hand.recalls


@pytest.mark.parametrize("missing", [False, True])
def test_every_view_is_searched_once_per_scaling(raw, searches, missing):
    if missing:
        present = np.ones((120, 3), dtype=bool)
        present[[4, 70], 1] = False
        raw = MultiView(dict(raw.items()), present=present)
    kinds = {"image": AUTO, "sound": "standard", "table": AUTO}
    prepared = prepare_views(raw, scaling=kinds, n_neighbors=8, metric="cosine")
    assert len(searches) == 5  # "sound" has one scaling
    by_hand = prepare_views(raw, scaling=prepared.scalings, n_neighbors=8, metric="cosine")
    assert len(searches) == 8
    assert_same_graphs(prepared, by_hand)


def test_searches_among_some_samples_are_not_those_among_all(raw, searches, monkeypatch):
    monkeypatch.setattr(scaling_choice, "MAX_COMPARED", 60)
    prepared = prepare_views(raw, scaling=AUTO, n_neighbors=8, metric="cosine")
    assert [n_samples for n_samples, _ in searches] == [60] * 6 + [120] * 3
    by_hand = prepare_views(raw, scaling=prepared.scalings, n_neighbors=8, metric="cosine")
    assert_same_graphs(prepared, by_hand)
