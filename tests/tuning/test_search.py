"""Tune: its candidates, when it stops, and refused calls."""

import json
import sys

import numpy as np
import pytest
from sklearn.model_selection import cross_validate

from manyview.baselines.knn import KNNClassifier
from manyview.data.cross_validation import LabelHidingSplit, TransductiveViews
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.tuning import folds as folds_module
from manyview.tuning.scorers import SCORERS
from manyview.tuning.search import tune


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


def test_same_seed_gives_the_same_tuning_and_another_seed_another(quick, findings):
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
    tune(
        tiny_views.views,
        labels,
        method=Watching(),
        space={"n_neighbors": [1, 3, 8]},
        n_candidates=3,
        random_state=0,
    )
    for rows, given in seen:
        np.testing.assert_array_equal(given, labels[rows])
    n_whole = sum(len(rows) == 60 for rows, _ in seen)
    assert n_whole == 1  # the last fit, with the chosen parameters


def interrupt(*_):
    raise KeyboardInterrupt


def test_ctrl_c_before_the_defaults_are_scored_is_raised(quick, monkeypatch):
    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quick()


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


def test_strings_as_labels_are_tuned_like_numbers(quick, tiny_views):
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


def test_missing_optuna_is_named_with_the_command_that_installs_it(quick, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r'pip install "manyview\[tune\]"'):
        quick()
