"""Tune: the choice, continuation of a stopped tuning, and refused calls."""

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
            "method": KNNClassifier(n_neighbors=4), "n_candidates": 6, "space": SPACE,
            "random_state": 0, "n_splits": 4,
        }  # fmt: skip
        labels = changes.pop("labels", tiny_views.known_labels)
        return tune(tiny_views.views, labels, **{**settings, **changes})

    return call


def findings(tuning):
    """Everything a tuning found, without times."""
    candidates = [replace(candidate, seconds=0.0) for candidate in tuning.candidates_]
    return tuning.best_params_, tuning.best_score_, candidates, tuning.importance_, tuning.note_


def test_first_candidate_is_the_defaults_scored_as_cross_validate_does(quick, tiny_views):
    tuning = quick()
    seed = int(np.random.SeedSequence(0).generate_state(2)[0])
    split = LabelHidingSplit(4, random_state=seed)
    found = cross_validate(
        KNNClassifier(n_neighbors=4), TransductiveViews(tiny_views.views), tiny_views.known_labels,
        cv=split, scoring=SCORERS["accuracy"],
    )  # fmt: skip
    assert tuning.candidates_[0].number == 0
    assert tuning.candidates_[0].scores == tuple(found["test_score"])
    assert tuning.candidates_[0].params == tuning.default_params_
    assert tuning.default_params_ == {"n_neighbors": 4, "scaling": "unit"}
    assert len({json.dumps(t.params) for t in tuning.candidates_ if t.stage == "search"}) == 6


def test_same_seed_gives_the_same_tuning_and_another_seed_another(quick):
    first = quick(n_candidates=8)
    assert findings(first) == findings(quick(n_candidates=8))
    assert findings(first)[2] != findings(quick(n_candidates=8, random_state=1))[2]


def test_tuning_never_sees_a_label_that_is_not_given(tiny_views):
    """Labels are the only source: the samples without one could be anything."""
    seen = []

    class Watching(KNNClassifier):
        def fit(self, views, y):
            seen.append((views.rows.copy(), np.array(y)))
            return super().fit(views, y)

    labels = tiny_views.known_labels
    tune(tiny_views.views, labels, method=Watching(), space=SPACE, n_candidates=3, random_state=0)
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


def test_better_candidate_is_chosen_and_fitted(quick, monkeypatch):
    planted(monkeypatch, lambda params, noise: 0.1 * (params["n_neighbors"] == 3) + 0.001 * noise)
    tuning = quick(n_candidates=14)
    assert tuning.best_params_["n_neighbors"] == 3
    assert not tuning.is_default
    assert tuning.best_estimator_.n_neighbors == 3
    assert tuning.best_estimator_.is_labeled_.sum() == 12
    assert tuning.gain_.mean == pytest.approx(0.1, abs=0.01)
    assert tuning.best_score_ - tuning.default_score_ == pytest.approx(tuning.gain_.mean)
    assert tuning.note_.endswith("on new folds.")
    assert next(iter(tuning.importance_)) == "n_neighbors"
    assert {candidate.stage for candidate in tuning.candidates_} == {"search", "confirmation"}


def test_defaults_stay_without_a_gain(quick, monkeypatch):
    planted(monkeypatch, lambda params, noise: 0.0)
    tuning = quick(n_candidates=14)
    assert tuning.is_default
    assert tuning.gain_ is None
    assert "no candidate beats them by more than the standard error" in tuning.note_


def test_gain_by_chance_does_not_pass_the_confirmation(quick, monkeypatch):
    """Better on the folds of the search alone, worse on new ones."""
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
    tuning = quick(n_candidates=14)
    assert tuning.is_default
    assert "none on new folds" in tuning.note_


def test_stopped_tuning_continues_as_if_it_had_not_been_stopped(quick, tmp_path):
    whole = quick(n_candidates=7)
    quick(n_candidates=3, folder=tmp_path / "study")
    steps = []
    again = quick(n_candidates=7, folder=tmp_path / "study", on_step=steps.append)
    assert findings(again) == findings(whole)
    assert [step.n_done for step in steps][:4] == [4, 5, 6, 7]
    assert findings(
        quick(n_candidates=7, folder=tmp_path / "study", random_state=None)
    ) == findings(whole)


def test_half_a_line_left_by_a_crash_does_no_harm(quick, tmp_path):
    quick(n_candidates=3, folder=tmp_path)
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"key": "search-0003", "num')
    assert findings(quick(n_candidates=5, folder=tmp_path)) == findings(quick(n_candidates=5))


def test_ctrl_c_ends_the_search_and_keeps_what_was_found(quick, monkeypatch, tmp_path):
    quick(n_candidates=2, folder=tmp_path)
    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    tuning = quick(folder=tmp_path)
    assert tuning.stopped_ == "interrupted"
    assert len(tuning.candidates_) == 2
    assert len(tuning.best_estimator_.transduction_) == 60
    monkeypatch.undo()
    assert findings(quick(folder=tmp_path)) == findings(quick())


def test_ctrl_c_before_the_defaults_are_scored_is_raised(quick, monkeypatch):
    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quick()


def interrupt(*_):
    raise KeyboardInterrupt


def test_ctrl_c_during_a_fit_stops_the_tuning(tiny_views, monkeypatch):
    monkeypatch.setattr("manyview.network.training.TrainingCurve.has_converged", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tune(
            tiny_views.views, tiny_views.known_labels, method=MGCNDNSClassifier(max_epochs=30),
            n_candidates=2, random_state=0, n_splits=2,
        )  # fmt: skip


def test_time_limit_ends_the_search_after_the_current_candidate(quick):
    tuning = quick(minutes=1e-9)
    assert tuning.stopped_ == "minutes"
    assert [candidate.number for candidate in tuning.candidates_] == [0]


def test_exhausted_space_ends_the_search(quick):
    tuning = quick(space={"n_neighbors": [3, 5]}, n_candidates=20)
    assert tuning.stopped_ == "exhausted"
    assert sum(candidate.stage == "search" for candidate in tuning.candidates_) <= 3


def test_candidate_that_fails_is_recorded_and_not_chosen(quick):
    tuning = quick(space={"n_neighbors": [3, 5, 0]}, n_candidates=10)
    failed = [candidate for candidate in tuning.candidates_ if candidate.params["n_neighbors"] == 0]
    assert "n_neighbors must be a whole number of at least 1" in failed[0].error
    assert failed[0].score is None
    row = next(row for row in tuning.table() if row["n_neighbors"] == 0)
    assert row["gain"] is None
    assert tuning.best_params_["n_neighbors"] != 0


def test_space_may_hold_distributions_of_optuna(quick):
    space = {"n_neighbors": optuna.distributions.IntDistribution(1, 20)}
    tuning = quick(space=space)
    tried = [candidate.params["n_neighbors"] for candidate in tuning.candidates_[1:]]
    assert len(tried) >= 5
    assert all(1 <= k <= 20 for k in tried)


def test_mgcn_dns_is_tuned_over_graph_layers_and_modules(tiny_views):
    tuning = tune(
        tiny_views.views, tiny_views.known_labels, method=MGCNDNSClassifier(max_epochs=3),
        n_candidates=3, n_splits=2, random_state=0,
    )  # fmt: skip
    assert set(tuning.default_params_) == {
        "graph__n_neighbors", "graph_learning__gamma", "node_selection__tau", "n_layers", "hidden",
        "learning_rate", "graph_learning", "node_selection",
    }  # fmt: skip
    assert all(candidate.scores for candidate in tuning.candidates_)
    assert tuning.best_estimator_.max_epochs == 3


def test_few_labels_keep_the_defaults_with_a_reason(quick, tiny_views):
    weak = np.full(60, -1)
    for label in range(3):
        weak[np.flatnonzero(tiny_views.labels == label)[:1]] = label
    with pytest.warns(UserWarning, match="a typical class has 1 labels"):
        tuning = quick(labels=weak)
    assert (tuning.stopped_, tuning.candidates_, tuning.is_default) == ("weak", (), True)
    assert tuning.best_estimator_.is_labeled_.sum() == 3
    with pytest.raises(InputError, match="no label can be hidden"):
        quick(labels=weak, force=True)


def test_force_tunes_with_two_labels_per_class(quick, tiny_views):
    weak = np.full(60, -1)
    for label in range(3):
        weak[np.flatnonzero(tiny_views.labels == label)[:2]] = label
    with pytest.warns(UserWarning, match="force=True"):
        assert quick(labels=weak).stopped_ == "weak"
    assert len(quick(labels=weak, force=True).candidates_) >= 6


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
        ({"space": {"n_neighbor": [1]}}, "no parameter 'n_neighbor'. Did you mean 'n_neighbors'"),
        ({"space": {"n_neighbors": []}}, r"space\['n_neighbors'\] must be a list of values"),
        ({"space": {"n_neighbors": "auto"}}, "must be a list of values"),
        ({"space": {"n_neighbors": [[1]]}}, "must hold texts, numbers, booleans or None"),
        ({"n_candidates": 0}, "n_candidates must be a whole number of at least 1"),
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
def test_folder_of_another_tuning_is_refused(quick, tmp_path, changes, message):
    quick(n_candidates=1, folder=tmp_path)
    with pytest.raises(InputError, match=f"holds another tuning: it has .*{message}"):
        quick(n_candidates=1, folder=tmp_path, **changes)


def test_folder_of_other_labels_or_of_something_else_is_refused(quick, tmp_path, tiny_views):
    quick(n_candidates=1, folder=tmp_path / "one")
    with pytest.raises(InputError, match="other labels"):
        quick(n_candidates=1, folder=tmp_path / "one", labels=tiny_views.labels)
    with pytest.raises(InputError, match="is not empty and holds no tuning"):
        quick(n_candidates=1, folder=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        quick(n_candidates=1, folder=tmp_path / "file")


def test_folder_in_use_is_refused(quick, tmp_path):
    def second(step):
        with pytest.raises(InputError, match="in use by another process"):
            quick(folder=tmp_path)

    assert quick(n_candidates=1, folder=tmp_path, on_step=second).stopped_ == "done"


def test_missing_optuna_is_named_with_the_command_that_installs_it(quick, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r'pip install "manyview\[tune\]"'):
        quick()


def test_method_without_a_default_space_asks_for_one(tiny_views):
    class Plain(MultiViewClassifier):
        card = KNNClassifier.card

    with pytest.raises(InputError, match="Name the values to try"):
        tune(tiny_views.views, tiny_views.known_labels, method=Plain())
