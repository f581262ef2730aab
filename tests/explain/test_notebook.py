"""Explanations as short text and in notebooks."""

from dataclasses import replace

import pytest
from models import manyview, mgcn_dns
from pages import fit_nasty, parts_of

from manyview.explain.records import ViewEffects


@pytest.fixture(scope="module")
def model(shared_views):
    model = mgcn_dns(max_epochs=10, random_state=0)
    return model.fit(shared_views.views, shared_views.known_labels)


def test_explanation_prints_a_short_text_and_no_raw_dataclass(model):
    why = model.explain(7)
    text = repr(why)
    assert str(why) == text
    assert "Evidence(" not in text
    assert "Explanation(" not in text
    lines = text.splitlines()
    assert 3 <= len(lines) <= 5
    assert max(map(len, lines)) <= 100
    chance = why.probabilities[why.prediction]
    assert lines[0].startswith(f"Sample 7: predicted {why.prediction} ({chance:.2f}), then ")
    first = why.neighbors[0]
    assert f"{first.name} (" in lines[1]
    assert f"and {len(why.neighbors) - 3} more" in lines[1]
    assert lines[2] == "  views: " + ", ".join(
        f"{one.view} {round(one.margin, 2) + 0.0:+.2f}" for one in why.views
    )


def test_a_given_label_and_a_view_that_matters_are_named(model, shared_views):
    labeled = next(row for row in range(60) if shared_views.known_labels[row] != -1)
    assert f", given as {shared_views.known_labels[labeled]}:" in repr(model.explain(labeled))
    explained = [model.explain(row) for row in range(60)]
    changed = [why for why in explained if any(one.changes_prediction for one in why.views)]
    assert changed
    for why in changed:
        view = next(one for one in why.views if one.changes_prediction)
        line = f"without {view.view}: predicted {view.prediction_without}"
        assert line in repr(why)
        assert ", changed" in why._repr_html_()


def test_html_lists_classes_neighbors_and_views(model):
    why = model.explain(7)
    parts = parts_of(why._repr_html_())
    assert len(parts.all("table")) == 3
    assert "itself" in parts.text("th") or len(why.neighbors) > 8
    assert {"shape", "color"} <= set(parts.text("th"))
    assert any(
        f"and {len(why.neighbors) + 1 - 8} more neighbors" == one for one in parts.text("td")
    )


def test_the_sum_is_that_of_what_is_listed(model):
    why = model.explain(7)
    total = f"{round(why.margin, 2) + 0.0:+.2f}"
    assert f"The contributions add up to {total}, the log-odds of" in why._repr_html_()
    more = replace(why, logit=why.logit + 1)  # from a part that is not in the graph
    rest = f"{round(more.margin, 2) + 0.0:+.2f}"
    line = f"These contributions add up to {total} of {rest}, the log-odds of"
    assert line in more._repr_html_()


def test_single_view_has_no_table_of_views(shared_views):
    model = mgcn_dns(max_epochs=3, random_state=0)
    model.fit(shared_views.views["shape"], shared_views.known_labels)
    assert len(parts_of(model.explain(0)._repr_html_()).all("table")) == 2
    assert repr(model.view_effects()) == "There is only one view, so none can be removed."
    assert "only one view" in model.view_effects()._repr_html_()


def test_nasty_names_stay_text():
    _, _, model = fit_nasty(max_epochs=2)
    markup = model.explain(0)._repr_html_() + model.view_effects()._repr_html_()
    parts = parts_of(markup)
    assert not parts.all("img")
    assert not parts.all("script")


def test_view_effects_are_a_table(model):
    effects = model.view_effects()
    assert isinstance(effects, tuple)
    lines = repr(effects).splitlines()
    assert len(lines) == 2
    one = effects[0]
    assert lines[0] == (
        f"without shape: {one.n_changed} predictions change ({one.fraction_changed:.1%}), "
        f"accuracy {one.accuracy_without:.1%} instead of {one.accuracy:.1%}"
    )
    parts = parts_of(effects._repr_html_())
    assert parts.text("th")[:3] == ["removed view", "changed predictions", "accuracy without it"]


def test_view_effects_without_labels_have_no_accuracy(model):
    effects = ViewEffects(model.view_effects([-1] * 60))
    assert "accuracy" not in repr(effects)
    assert "accuracy" not in effects._repr_html_()


def test_columns_are_listed_only_where_they_are_known(shared_views):
    model = manyview(max_epochs=5, random_state=0)
    model.fit(shared_views.views, shared_views.known_labels)
    assert model.table_learners_
    assert "columns that count most" not in model.explain(7)._repr_html_()
    html = model.explain(7, shared_views.views)._repr_html_()
    assert "columns that count most" in html
    assert "Contributions of classifiers" in html
