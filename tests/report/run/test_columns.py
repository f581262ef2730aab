"""Importance of columns: of the classifiers that look at them, and in the report."""

import numpy as np
import pandas as pd
import pytest
from models import manyview
from pages import parts_of

from manyview.data.views import MultiView
from manyview.methods import METHODS
from manyview.report.run.columns import column_section, column_uses

TABLE_METHODS = ["logistic-regression", "random-forest", "hist-gradient-boosting"]


@pytest.fixture(scope="module")
def herd():
    """120 animals: the mass tells cows from hens, the coat helps, all else is noise."""
    rng = np.random.default_rng(0)
    is_cow = rng.random(120) < 0.5
    body = pd.DataFrame({"height": rng.normal(size=120), "mass": 3 * is_cow + rng.normal(size=120)})
    looks = pd.DataFrame(
        {
            "coat": np.where(is_cow ^ (rng.random(120) < 0.2), "fur", "feathers"),
            "tag": rng.normal(size=120),
        }
    )
    labels = np.where(is_cow, "cow", "hen").astype(object)
    labels[40:] = None
    return {"body": body, "looks": looks}, labels


@pytest.fixture(scope="module")
def mixture(herd):
    return manyview(max_epochs=20, random_state=0).fit(*herd)


@pytest.mark.parametrize("name", TABLE_METHODS)
def test_column_that_tells_the_classes_apart_is_first(herd, name):
    uses = column_uses(METHODS[name]().fit(*herd))
    assert (uses[0].view, uses[0].column) == ("body", "mass")
    assert sum(one.mean for one in uses) == pytest.approx(1)
    assert all(one.mean >= 0 for one in uses)


def test_columns_of_a_mixed_table_have_the_names_of_the_table(herd):
    uses = column_uses(METHODS["logistic-regression"]().fit(*herd))
    names = {(one.view, one.column) for one in uses}
    assert {("body", "height"), ("body", "mass"), ("looks", "tag")} <= names
    assert any(view == "looks" and column.startswith("coat") for view, column in names)


def test_importance_in_a_regression_is_the_coefficient_times_the_spread(tiny_views):
    model = METHODS["logistic-regression"]().fit(tiny_views.views, tiny_views.known_labels)
    table = np.asarray(model.concatenator_(MultiView(tiny_views.views)))
    sizes = np.abs(model.coef_).mean(axis=1) * table.std(axis=0)
    np.testing.assert_allclose(model.column_importance(), sizes / sizes.sum(), rtol=1e-4)


def test_importance_in_a_forest_counts_comparisons(tiny_views):
    model = METHODS["random-forest"]().fit(tiny_views.views, tiny_views.known_labels)
    column = model.trees_.column
    assert set(np.flatnonzero(model.column_importance())) == set(column[column >= 0].tolist())


def test_classifiers_of_a_mixture_count_by_their_weight(mixture):
    learners = mixture.table_learners_
    assert learners
    total = sum(one.weight for one in learners)
    expected = sum(one.weight / total * one.model.column_importance() for one in learners)
    uses = column_uses(mixture)
    np.testing.assert_allclose([one.mean for one in uses], np.sort(expected)[::-1])
    assert (uses[0].view, uses[0].column) == ("body", "mass")


def test_section_draws_each_classifier_and_lists_all_columns(mixture):
    section = column_section(mixture)
    parts = parts_of("".join(section.parts))
    uses = [one for one in column_uses(mixture) if one.mean > 0]
    assert parts.text("title") == [f"Importance for {name}" for name in uses[0].by_model]
    assert f"All {len(uses)} columns" in parts.text("summary")
    assert parts.text("th")[-len(uses)] == "mass"
    assert f"{uses[0].mean:.1%}" in parts.text("td")


def test_columns_without_a_name_are_numbered(tiny_views):
    model = METHODS["random-forest"]().fit(tiny_views.views, tiny_views.known_labels)
    section = column_section(model)
    parts = parts_of("".join(section.parts))
    assert any(text.startswith("column ") for text in parts.text("th"))
    assert {text.rsplit(" ", 1)[0] for text in parts.text("text") if text[-1] != "%"} <= {
        "shape",
        "color",
    }


def test_methods_that_see_no_columns_have_no_section(fitted):
    assert column_uses(fitted[2]) == []
    assert column_section(fitted[2]) is None
