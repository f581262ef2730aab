"""A fitted method in a notebook: scikit-learn's diagram, what was learned, and a report."""

from dataclasses import dataclass

import numpy as np
import pytest
import sklearn
from models import manyview
from pages import fit_nasty, parts_of
from sklearn.base import clone

from manyview import METHODS, InputError, ManyviewClassifier


@pytest.fixture(scope="module")
def model(shared_views):
    model = manyview(max_epochs=5, random_state=0)
    return model.fit(shared_views.views, shared_views.known_labels)


def learned(model):
    """Return the parts of what follows scikit-learn's diagram."""
    markup = model._repr_html_()
    return parts_of(markup[markup.index('<div class="manyview">') :])


def test_diagram_of_scikit_learn_stays(model):
    markup = model._repr_html_()
    assert "sk-top-container" in markup
    assert "sk-top-container" in clone(model)._repr_html_()


def test_nothing_is_learned_before_the_fit(model):
    assert 'class="manyview"' not in ManyviewClassifier()._repr_html_()
    assert 'class="manyview"' in model._repr_html_()


def test_notebooks_get_the_summary_with_the_diagram(model):
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert "48 samples labeled from 12 labels" in bundle["text/html"]


def test_summary_lists_views_and_classes(model):
    parts = learned(model)
    heads = parts.text("th")
    assert heads[:4] == ["view", "features", "scaling", "importance"]
    assert {"shape", "color", "class", "labels", "predicted", "0", "1", "2"} <= set(heads)
    unlabeled = ~model.is_labeled_
    n_first = int((model.transduction_[unlabeled] == 0).sum())
    assert [f"{n_first}", "4"] == [parts.text("td")[7], parts.text("td")[6]]
    assert any("2 networks, the last with" in line for line in parts.text("p"))


def test_text_display_of_scikit_learn_is_respected(model):
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


@pytest.mark.parametrize("name", ["svm", "random-forest", "amgl", "gcn-fusion"])
def test_methods_without_some_facts_show_the_others(name, tiny_views):
    model = METHODS[name](random_state=0).fit(tiny_views.views, tiny_views.known_labels)
    parts = learned(model)
    assert parts.text("b") == ["48 samples labeled from 12 labels"]
    assert "shape" in parts.text("th")


def test_many_classes_are_cut(rng):
    labels = np.repeat(np.arange(30), 4)
    views = 5 * rng.normal(size=(30, 6))[labels] + rng.normal(size=(120, 6))
    known = np.where(np.arange(120) % 4 < 2, labels, -1)
    model = METHODS["svm"]().fit(views, known)
    assert "and 18 more classes" in learned(model).text("td")


def test_estimated_accuracy_is_shown_where_the_fit_has_one(model):
    @dataclass
    class Estimate:
        value: float = 0.912
        low: float = 0.85
        high: float = 0.95

    @dataclass
    class Performance:
        accuracy: Estimate

    fitted = clone(model)
    vars(fitted).update(vars(model))
    fitted.performance_ = Performance(Estimate())
    line = "estimated accuracy 91.2% (95% interval 85.0% to 95.0%)"
    assert line in learned(fitted).text("p")
    fitted.performance_ = None
    assert line not in learned(fitted).text("p")


def test_nasty_names_stay_text():
    _, _, model = fit_nasty(max_epochs=2)
    parts = learned(model)
    assert not parts.all("img")
    assert not parts.all("script")


def test_summary_is_short_as_text_and_a_table_in_notebooks(model):
    summary = model.fit_summary()
    assert repr(summary).startswith("FitSummary(")
    assert len(repr(summary)) < 150
    parts = parts_of(summary._repr_html_())
    assert parts.text("th") == ["view", "scaling", "importance", "shape", "color"]


def test_report_is_written_by_the_model(model, shared_views, tmp_path):
    report = model.report(tmp_path / "report.html", y=shared_views.labels)
    assert report.path == tmp_path / "report.html"
    page = report.path.read_text(encoding="utf-8")
    assert page == report.html
    right = (model.transduction_ == shared_views.labels)[~model.is_labeled_].mean()
    assert f"<b>{right:.1%}</b> are right" in page


def test_report_of_a_model_without_a_fit_is_refused():
    with pytest.raises(sklearn.exceptions.NotFittedError):
        ManyviewClassifier().report()


def test_report_refuses_labels_of_other_samples(model):
    with pytest.raises(InputError, match=r"60 fitted samples.*got shape \(2,\)"):
        model.report(y=[0, 1])
