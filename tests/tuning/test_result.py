"""The verdict: candidates are chosen only for a gain beyond chance."""

import numpy as np
import pytest
from pages import parts_of

from manyview.tuning import folds as folds_module


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
    assert "n_neighbors=3" in repr(tuning)
    assert repr(tuning).endswith(tuning.note_)
    assert len(repr(tuning)) < 300
    parts = parts_of(tuning._repr_html_())
    scores = [float(one) for one in parts.text("td") if one.startswith("0.")]
    assert scores[0] == pytest.approx(max(scores))
    assert tuning.note_ in parts.text("p")


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
