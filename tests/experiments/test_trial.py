"""Trials: their keys, their outcomes, and that no method sees a hidden label."""

from dataclasses import replace

import numpy as np
import pytest

from manyview.base.method_card import MethodCard
from manyview.data.splits import draw_labeled
from manyview.errors import InputError
from manyview.experiments.trial import Trial, checksum_of, run_trial
from manyview.methods import METHODS, find_method

TRIAL = Trial("tiny", "knn", {}, 0.2, "stratified", 0)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "svm"},
        {"params": {"n_neighbors": 3}},
        {"label_ratio": 0.3},
        {"protocol": "random"},
        {"seed": 1},
        {"artifacts": ("curve",)},
    ],
)
def test_key_changes_with_everything_that_defines_a_trial(change):
    assert replace(TRIAL, **change).key("abc") != TRIAL.key("abc")


def test_key_changes_with_the_data_and_the_version_of_the_method(monkeypatch):
    assert TRIAL.key("abc") == replace(TRIAL, dataset="another name").key("abc")
    assert TRIAL.key("abc") != TRIAL.key("abd")
    before, other = TRIAL.key("abc"), replace(TRIAL, method="svm").key("abc")
    card = find_method("knn").card
    newer = MethodCard(**(vars(card) | {"version": card.version + 1}))
    monkeypatch.setattr(find_method("knn"), "card", newer)
    assert TRIAL.key("abc") != before
    assert replace(TRIAL, method="svm").key("abc") == other


def test_description_gives_the_same_trial():
    trial = Trial("tiny", "mgcn-dns", {"tau": 0.1 + 0.2}, 0.01, "random", 3, ("curve",))
    assert Trial.from_description(trial.describe()) == trial


@pytest.mark.parametrize("name", METHODS)
def test_no_method_sees_a_hidden_label(name, dataset, tiny_views):
    """Other truths behind the hidden labels: the same predictions, other scores."""
    params = METHODS[name]().get_params()
    quick = {path: 20 for path in params if path.endswith("max_epochs")}
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


def test_outcome_has_scores_time_and_memory(dataset):
    outcome = run_trial(TRIAL, dataset)
    assert 0.5 < outcome["accuracy"] <= 1
    assert outcome["n_labeled"] == 12
    assert outcome["seconds"] >= 0
    assert 10 < outcome["peak_memory_mb"] < 100_000
    assert "warnings" not in outcome


def test_fits_on_the_same_views_read_neighbors_from_the_cache(dataset, tmp_path, monkeypatch):
    def search(*_, **__):
        raise AssertionError("neighbors were searched again")

    for name in ("mgcn-dns", "manyview"):
        cache, params = tmp_path / name, METHODS[name]().get_params()
        quick = {path: 2 for path in params if path.endswith("max_epochs")}
        plain = run_trial(Trial("tiny", name, quick, 0.2), dataset)
        first = run_trial(Trial("tiny", name, quick, 0.2), dataset, cache)
        assert len(list(cache.glob("neighbors-*.npz"))) >= 2  # one per view
        with monkeypatch.context() as patch:
            patch.setattr("manyview.graphs.cached_neighbors.find_neighbors", search)
            second = run_trial(Trial("tiny", name, quick, 0.2), dataset, cache)
            run_trial(Trial("tiny", name, quick, 0.3, seed=1), dataset, cache)
            with pytest.raises(AssertionError, match="searched again"):
                run_trial(Trial("tiny", name, quick, 0.2), dataset)
        assert plain["predictions"] == first["predictions"] == second["predictions"]


def test_fits_of_hlr_m2vs_on_the_same_views_read_graphs_from_the_cache(dataset, tmp_path):
    trial = Trial("tiny", "hlr-m2vs", {"max_iter": 3}, 0.2)
    first = run_trial(trial, dataset, tmp_path)
    stored = set(tmp_path.rglob("affinities-*.npz"))
    assert len(stored) == 1
    run_trial(replace(trial, seed=1), dataset, tmp_path)
    assert set(tmp_path.rglob("affinities-*.npz")) == stored
    assert run_trial(trial, dataset)["predictions"] == first["predictions"]


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
