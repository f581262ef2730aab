"""Tune: what it chooses, that it goes on where it stopped, and what it refuses."""

import json
import sys
from dataclasses import replace

import numpy as np
import optuna
import pytest
from sklearn.model_selection import cross_validate

from manyview.base.classifier import MultiViewClassifier
from manyview.baselines.knn import KNNClassifier
from manyview.data.cross_validation import LabelHidingSplit, TransductiveViews
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.tuning import folds as folds_module
from manyview.tuning.scorers import SCORERS
from manyview.tuning.search import tune

SPACE = {"n_neighbors": [1, 2, 3, 5, 8, 12, 20], "scaling": ["unit", "standard"]}


@pytest.fixture
def quick(tiny_views):
    """Tune kNN on 60 samples; keyword arguments replace those of the call."""

    def call(**changes):
        settings = {
            "method": KNNClassifier(n_neighbors=4), "n_trials": 6, "space": SPACE,
            "random_state": 0, "n_splits": 4,
        }  # fmt: skip
        labels = changes.pop("labels", tiny_views.known_labels)
        return tune(tiny_views.views, labels, **{**settings, **changes})

    return call


def told(tuning):
    """All that a tuning found, times aside."""
    trials = [replace(trial, seconds=0.0) for trial in tuning.trials_]
    return tuning.best_params_, tuning.best_score_, trials, tuning.importance_, tuning.note_


def test_first_trial_is_the_defaults_scored_as_cross_validate_does(quick, tiny_views):
    tuning = quick()
    seed = int(np.random.SeedSequence(0).generate_state(2)[0])
    split = LabelHidingSplit(4, random_state=seed)
    found = cross_validate(
        KNNClassifier(n_neighbors=4), TransductiveViews(tiny_views.views), tiny_views.known_labels,
        cv=split, scoring=SCORERS["accuracy"],
    )  # fmt: skip
    assert tuning.trials_[0].number == 0
    assert tuning.trials_[0].scores == tuple(found["test_score"])
    assert tuning.trials_[0].params == tuning.default_params_
    assert tuning.default_params_ == {"n_neighbors": 4, "scaling": "unit"}
    assert len({json.dumps(t.params) for t in tuning.trials_ if t.stage == "search"}) == 6


def test_same_seed_gives_the_same_tuning_and_another_seed_another(quick):
    first = quick(n_trials=8)
    assert told(first) == told(quick(n_trials=8))
    assert told(first)[2] != told(quick(n_trials=8, random_state=1))[2]


def test_tuning_never_sees_a_label_that_is_not_given(tiny_views):
    """Labels are the only source: the samples without one could be anything."""
    seen = []

    class Watching(KNNClassifier):
        def fit(self, views, y):
            seen.append((views.rows.copy(), np.array(y)))
            return super().fit(views, y)

    labels = tiny_views.known_labels
    tune(tiny_views.views, labels, method=Watching(), space=SPACE, n_trials=3, random_state=0)
    for rows, given in seen:
        np.testing.assert_array_equal(given, labels[rows])
    n_whole = sum(len(rows) == 60 for rows, _ in seen)
    assert n_whole == 1  # the last fit, with the chosen parameters


def planted(monkeypatch, gain):
    """Score models by a formula instead of fitting them: `gain(params, rng)` over the folds."""

    def score(self, model):
        params = model.get_params()
        stage = int(self.splits[0][1].sum())
        noise = np.random.default_rng([stage, params["n_neighbors"]]).normal(size=5)
        base = np.array([0.5, 0.55, 0.6, 0.52, 0.57])
        return (base + gain(params, noise)).tolist()

    monkeypatch.setattr(folds_module.Folds, "score", score)


def test_a_configuration_that_is_better_is_chosen_and_fitted(quick, monkeypatch):
    planted(monkeypatch, lambda params, noise: 0.1 * (params["n_neighbors"] == 3) + 0.001 * noise)
    tuning = quick(n_trials=14)
    assert tuning.best_params_["n_neighbors"] == 3
    assert not tuning.is_default
    assert tuning.best_estimator_.n_neighbors == 3
    assert tuning.best_estimator_.is_labeled_.sum() == 12
    assert tuning.gain_.mean == pytest.approx(0.1, abs=0.01)
    assert tuning.best_score_ - tuning.default_score_ == pytest.approx(tuning.gain_.mean)
    assert tuning.note_.endswith("on fresh folds.")
    assert next(iter(tuning.importance_)) == "n_neighbors"
    assert {trial.stage for trial in tuning.trials_} == {"search", "confirmation"}


def test_defaults_stay_when_all_differences_are_luck(quick, monkeypatch):
    planted(monkeypatch, lambda params, noise: 0.0)
    tuning = quick(n_trials=14)
    assert tuning.is_default
    assert tuning.gain_ is None
    assert "nothing that was tried beats them" in tuning.note_


def test_luck_of_the_search_does_not_pass_the_confirmation(quick, monkeypatch):
    """Better on the folds of the search alone, worse on fresh ones."""
    search_folds = []

    def gain(params, noise):
        return 0.1 * (params["n_neighbors"] == 3)

    planted(monkeypatch, gain)
    plain = folds_module.Folds.score

    def score(self, model):
        search_folds.append(self.splits[0][1].tolist())
        scores = np.array(plain(self, model))
        is_search = search_folds[0] == self.splits[0][1].tolist()
        return scores.tolist() if is_search else [0.5] * 5

    monkeypatch.setattr(folds_module.Folds, "score", score)
    tuning = quick(n_trials=14)
    assert tuning.is_default
    assert "none of these on fresh folds" in tuning.note_


def test_stopped_tuning_goes_on_as_if_it_had_not_been_stopped(quick, tmp_path):
    whole = quick(n_trials=7)
    quick(n_trials=3, folder=tmp_path / "study")
    steps = []
    again = quick(n_trials=7, folder=tmp_path / "study", on_trial=steps.append)
    assert told(again) == told(whole)
    assert [step.n_done for step in steps][:4] == [4, 5, 6, 7]
    assert told(quick(n_trials=7, folder=tmp_path / "study", random_state=None)) == told(whole)


def test_half_a_line_left_by_a_crash_does_no_harm(quick, tmp_path):
    quick(n_trials=3, folder=tmp_path)
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"key": "search-0003", "num')
    assert told(quick(n_trials=5, folder=tmp_path)) == told(quick(n_trials=5))


def test_ctrl_c_ends_the_search_and_keeps_what_was_found(quick, monkeypatch, tmp_path):
    quick(n_trials=2, folder=tmp_path)
    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    tuning = quick(folder=tmp_path)
    assert tuning.stopped_ == "interrupted"
    assert len(tuning.trials_) == 2
    assert len(tuning.best_estimator_.transduction_) == 60
    monkeypatch.undo()
    assert told(quick(folder=tmp_path)) == told(quick())


def test_ctrl_c_before_the_defaults_are_scored_is_handed_on(quick, monkeypatch):
    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quick()


def interrupt(*_):
    raise KeyboardInterrupt


def test_ctrl_c_inside_a_fit_is_that_of_the_tuning(tiny_views, monkeypatch):
    monkeypatch.setattr("manyview.network.training.TrainingCurve.has_converged", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tune(
            tiny_views.views, tiny_views.known_labels, method=MGCNDNSClassifier(max_epochs=30),
            n_trials=2, random_state=0, n_splits=2,
        )  # fmt: skip


def test_time_budget_ends_the_search_after_the_trial_at_work(quick):
    tuning = quick(minutes=1e-9)
    assert tuning.stopped_ == "minutes"
    assert [trial.number for trial in tuning.trials_] == [0]


def test_space_that_is_tried_out_ends_the_search(quick):
    tuning = quick(space={"n_neighbors": [3, 5]}, n_trials=20)
    assert tuning.stopped_ == "exhausted"
    assert sum(trial.stage == "search" for trial in tuning.trials_) <= 3


def test_configuration_that_fails_is_told_and_left_out(quick):
    tuning = quick(space={"n_neighbors": [3, 5, 0]}, n_trials=10)
    failed = [trial for trial in tuning.trials_ if trial.params["n_neighbors"] == 0]
    assert "n_neighbors must be a whole number of at least 1" in failed[0].error
    assert failed[0].score is None
    row = next(row for row in tuning.table() if row["n_neighbors"] == 0)
    assert row["gain"] is None
    assert tuning.best_params_["n_neighbors"] != 0


def test_space_may_hold_distributions_of_optuna(quick):
    space = {"n_neighbors": optuna.distributions.IntDistribution(1, 20)}
    tuning = quick(space=space)
    tried = [trial.params["n_neighbors"] for trial in tuning.trials_[1:]]
    assert len(tried) >= 5
    assert all(1 <= k <= 20 for k in tried)


def test_mgcn_dns_is_tuned_over_its_graph_layers_and_switches(tiny_views):
    tuning = tune(
        tiny_views.views, tiny_views.known_labels, method=MGCNDNSClassifier(max_epochs=3),
        n_trials=3, n_splits=2, random_state=0,
    )  # fmt: skip
    assert set(tuning.default_params_) == {
        "n_neighbors", "gamma", "tau", "n_layers", "hidden", "learning_rate", "graph_learning",
        "node_selection",
    }  # fmt: skip
    assert all(trial.scores for trial in tuning.trials_)
    assert tuning.best_estimator_.max_epochs == 3


def test_few_labels_keep_the_defaults_and_say_why(quick, tiny_views):
    weak = np.full(60, -1)
    for label in range(3):
        weak[np.flatnonzero(tiny_views.labels == label)[:1]] = label
    with pytest.warns(UserWarning, match="a typical class has 1 labels"):
        tuning = quick(labels=weak)
    assert (tuning.stopped_, tuning.trials_, tuning.is_default) == ("weak", (), True)
    assert tuning.best_estimator_.is_labeled_.sum() == 3
    with pytest.raises(InputError, match="no label can be hidden"):
        quick(labels=weak, force=True)


def test_force_tunes_with_two_labels_a_class(quick, tiny_views):
    weak = np.full(60, -1)
    for label in range(3):
        weak[np.flatnonzero(tiny_views.labels == label)[:2]] = label
    with pytest.warns(UserWarning, match="force=True"):
        assert quick(labels=weak).stopped_ == "weak"
    assert len(quick(labels=weak, force=True).trials_) >= 6


def test_texts_as_labels_are_tuned_like_numbers(quick, tiny_views):
    names = np.array(["hen", "cow", "pig"], dtype=object)
    labels = np.where(tiny_views.known_labels < 0, None, names[tiny_views.known_labels])
    assert set(quick(labels=labels).best_estimator_.transduction_) <= set(names)
    assert set(quick(labels=labels.tolist()).best_estimator_.transduction_) <= set(names)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "mgcn-dn"}, "No method is named 'mgcn-dn'. Did you mean 'mgcn-dns'"),
        ({"method": 3}, "method must be a name of METHODS or one of its classifiers; got 3"),
        ({"space": {}}, "space must name at least one parameter to try; got none"),
        ({"space": {"n_neighbors": [1]}}, "got 'n_neighbors'. Did you mean 'n_neighbors'"),
        ({"space": {"n_neighbors": []}}, r"space\['n_neighbors'\] must be a list of values"),
        ({"space": {"n_neighbors": "auto"}}, "must be a list of values"),
        ({"space": {"n_neighbors": [[1]]}}, "must hold texts, numbers, booleans or None"),
        ({"n_trials": 0}, "n_trials must be a whole number of at least 1"),
        ({"minutes": 0}, "minutes must be above 0"),
        ({"scoring": "acuracy"}, "Did you mean 'accuracy'"),
        ({"n_splits": 1}, "n_splits must be a whole number of at least 2"),
    ],
)
def test_calls_that_break_a_rule_are_refused(quick, changes, message):
    with pytest.raises(InputError, match=message):
        quick(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"random_state": 1}, "another random_state"),
        ({"space": {"n_neighbors": [1, 2]}}, "another space"),
        ({"method": "svm", "space": {"penalty": [1.0]}}, "another method"),
        ({"scoring": "macro_f1"}, "another scoring"),
    ],
)
def test_folder_of_another_study_is_refused(quick, tmp_path, changes, message):
    quick(n_trials=1, folder=tmp_path)
    with pytest.raises(InputError, match=f"holds the tuning of another study: .*{message}"):
        quick(n_trials=1, folder=tmp_path, **changes)


def test_folder_of_other_labels_or_of_something_else_is_refused(quick, tmp_path, tiny_views):
    quick(n_trials=1, folder=tmp_path / "one")
    with pytest.raises(InputError, match="other labels"):
        quick(n_trials=1, folder=tmp_path / "one", labels=tiny_views.labels)
    with pytest.raises(InputError, match="holds something else than a tuning"):
        quick(n_trials=1, folder=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        quick(n_trials=1, folder=tmp_path / "file")


def test_folder_in_use_is_refused(quick, tmp_path):
    def second(step):
        with pytest.raises(InputError, match="in use by another tuning"):
            quick(folder=tmp_path)

    assert quick(n_trials=1, folder=tmp_path, on_trial=second).stopped_ == "done"


def test_absent_optuna_is_named_with_the_command_that_installs_it(quick, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r'pip install "manyview\[tune\]"'):
        quick()


def test_method_without_a_space_of_its_own_asks_for_one(tiny_views):
    class Plain(MultiViewClassifier):
        card = KNNClassifier.card

    with pytest.raises(InputError, match="Say what to try"):
        tune(tiny_views.views, tiny_views.known_labels, method=Plain())
