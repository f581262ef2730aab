"""Artifacts of a trial: training curve, view weights and graphs."""

from dataclasses import replace

import numpy as np
import pytest

from manyview.experiments.artifacts import ARTIFACTS
from manyview.experiments.trial import Trial, run_trial


def test_curve_weights_and_graphs_are_stored_on_request(dataset):
    trial = Trial("tiny", "mgcn-dns", {"max_epochs": 5}, 0.2, artifacts=ARTIFACTS)
    outcome = run_trial(trial, dataset)
    plain = run_trial(replace(trial, artifacts=()), dataset)
    assert outcome["predictions"] == plain["predictions"]  # observing does not change the fit
    assert len(outcome["curve"]["loss"]) == len(outcome["curve"]["test_accuracy"]) == 5
    assert np.sum(outcome["view_importance"]) == pytest.approx(1, abs=1e-4)
    assert np.shape(outcome["graphs"]["selected"]) == (60, 60)
    assert outcome["graph_edges"]["selected"] <= outcome["graph_edges"]["fused"]
    assert "curve" not in plain
