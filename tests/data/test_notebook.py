"""Views and data sets in a notebook."""

import numpy as np
import pytest
from pages import NASTY_VIEWS, fit_nasty, parts_of
from scipy import sparse

from manyview import Dataset, MultiView, load_dataset


def test_views_are_listed_with_their_features(tiny_views):
    parts = parts_of(MultiView(tiny_views.views)._repr_html_())
    assert parts.text("b") == ["MultiView: 60 samples, 2 views"]
    assert parts.text("th") == ["view", "features", "values", "shape", "color"]
    assert parts.text("td") == ["5", "numbers", "8", "numbers"]


def test_kinds_of_views_and_missing_samples_are_named(rng):
    dense = rng.normal(size=(10, 3))
    dense[:2] = np.nan
    views = {
        "body": dense,
        "words": sparse.random(10, 20, 0.1, random_state=0),
        "links": np.eye(10),
    }
    texts = parts_of(MultiView(views, graphs=["links"])._repr_html_()).text("td")
    assert texts == [
        "3", "numbers", "2", "20", "numbers, sparse (10.0% stored)", "0", "graph", "0",
    ]  # fmt: skip


def test_mixed_tables_and_named_samples_are_shown():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"kind": ["a", "b"], "size": [1.0, 2.0]}, index=["<p1>", "p2"])
    markup = MultiView({"table": frame})._repr_html_()
    parts = parts_of(markup)
    assert "table of mixed columns" in parts.text("td")
    assert "Samples are named from <p1> to p2." in parts.text("p")


def test_many_views_are_cut():
    views = MultiView([np.ones((2, 1))] * 30)
    assert "and 18 more views" in parts_of(views._repr_html_()).text("td")


def test_dataset_shows_classes_and_is_short_as_text():
    data = load_dataset("digits")
    assert repr(data).startswith("Dataset('digits', MultiView(1797 samples; pixels: 64")
    assert len(repr(data)) < 150
    parts = parts_of(data._repr_html_())
    assert parts.text("b") == ["digits: 1,797 samples, 5 views"]
    assert "183" in parts.text("td")


def test_dataset_without_labels_says_so(tiny_views):
    data = Dataset("shapes", MultiView(tiny_views.views), None, np.arange(60), ("read",), "")
    assert parts_of(data._repr_html_()).text("p") == ["No labels.", "read"]


def test_nasty_names_stay_text():
    data, _, _ = fit_nasty(max_epochs=2)
    parts = parts_of(data._repr_html_())
    assert set(NASTY_VIEWS) <= set(parts.text("th"))
    assert not parts.all("img")
    assert not parts.all("script")
