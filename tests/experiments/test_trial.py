"""Trials: their identity, and that no method ever sees a hidden label."""

from dataclasses import replace

import numpy as np
import pytest

from manyview.base.classifier import MethodCard
from manyview.data.dataset import Dataset
from manyview.data.splits import draw_labeled
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.experiments.trial import Trial, checksum_of, run_trial
from manyview.methods import METHODS, find_method


@pytest.fixture
def dataset(tiny_views):
    names = np.arange(60).astype(str)
    return Dataset("tiny", MultiView(tiny_views.views), tiny_views.labels, names, (), "abc")


TRIAL = Trial("tiny", "knn", {}, 0.2, "stratified", 0)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "svm"},
        {"params": {"n_neighbors": 3}},
        {"label_ratio": 0.3},
        {"protocol": "random"},
        {"seed": 1},
        {"keep": ("curve",)},
    ],
)
def test_key_changes_with_everything_that_defines_a_trial(change):
    assert replace(TRIAL, **change).key("abc") != TRIAL.key("abc")


def test_key_changes_with_the_data_and_the_methods_code_alone(monkeypatch):
    assert TRIAL.key("abc") == replace(TRIAL, dataset="another name").key("abc")
    assert TRIAL.key("abc") != TRIAL.key("abd")
    before, other = TRIAL.key("abc"), replace(TRIAL, method="svm").key("abc")
    card = find_method("knn").card
    newer = MethodCard(**(vars(card) | {"version": card.version + 1}))
    monkeypatch.setattr(find_method("knn"), "card", newer)
    assert TRIAL.key("abc") != before
    assert replace(TRIAL, method="svm").key("abc") == other


def test_description_makes_the_same_trial():
    trial = Trial("tiny", "mgcn-dns", {"tau": 0.1 + 0.2}, 0.01, "random", 3, ("curve",))
    assert Trial.from_description(trial.describe()) == trial


@pytest.mark.parametrize("name", METHODS)
def test_no_method_sees_a_hidden_label(name, dataset, tiny_views):
    """Other truths behind the hidden labels: the same predictions, other scores."""
    quick = {"max_epochs": 20} if "max_epochs" in METHODS[name]().get_params() else {}
    trial = Trial("tiny", name, quick, 0.2, "stratified", 0)
    shown = draw_labeled(dataset.labels, 0.2, random_state=0)
    one = run_trial(trial, dataset)
    lies = dataset.labels.copy()
    hidden = np.flatnonzero(~shown)
    lies[hidden] = (lies[hidden] + 1) % 3  # as many of each class, so the same split is drawn
    np.testing.assert_array_equal(draw_labeled(lies, 0.2, random_state=0).sum(), shown.sum())
    # The split follows from the labels, so it is held fixed to compare the fits alone.
    from manyview.experiments import trial as trial_module

    original = trial_module.hide_labels
    try:
        trial_module.hide_labels = lambda *_, **__: np.where(shown, dataset.labels, -1)
        two = run_trial(trial, replace(dataset, labels=lies))
    finally:
        trial_module.hide_labels = original
    assert one["predictions"] == two["predictions"]
    assert one["accuracy"] > two["accuracy"]


def test_outcome_tells_scores_time_and_memory(dataset):
    outcome = run_trial(TRIAL, dataset)
    assert 0.5 < outcome["accuracy"] <= 1
    assert outcome["n_labeled"] == 12
    assert outcome["seconds"] >= 0
    assert 10 < outcome["peak_memory_mb"] < 100_000
    assert "warnings" not in outcome


def test_curve_weights_and_graphs_are_kept_where_asked(dataset):
    trial = Trial("tiny", "mgcn-dns", {"max_epochs": 5}, 0.2, keep=("curve", "weights", "graphs"))
    outcome = run_trial(trial, dataset)
    plain = run_trial(replace(trial, keep=()), dataset)
    assert outcome["predictions"] == plain["predictions"]  # looking changes nothing
    assert len(outcome["curve"]["loss"]) == len(outcome["curve"]["test_accuracy"]) == 5
    assert np.sum(outcome["view_importance"]) == pytest.approx(1, abs=1e-4)
    assert np.shape(outcome["graphs"]["selected"]) == (60, 60)
    assert outcome["graph_edges"]["selected"] <= outcome["graph_edges"]["fused"]
    assert "curve" not in plain


def test_data_without_labels_are_refused(dataset):
    with pytest.raises(InputError, match="has no labels"):
        run_trial(TRIAL, replace(dataset, labels=None))


def test_checksum_follows_the_content(tmp_path, shapes):
    before = checksum_of(str(shapes))
    assert before == checksum_of(str(shapes))
    moved = shapes.rename(tmp_path / "other.npz")
    assert checksum_of(str(moved)) == before
    content = moved.read_bytes()
    moved.write_bytes(content + b"\0")
    assert checksum_of(str(moved)) != before
    assert len(checksum_of("digits")) == 64
