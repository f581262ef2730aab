"""The base class: what a failed fit leaves, predictions with a threshold, the summary of a fit."""

import numpy as np
import pytest
from models import manyview, mgcn_dns

from manyview.errors import InputError


@pytest.fixture(scope="module")
def model(shared_views):
    model = manyview(max_epochs=5, random_state=0)
    return model.fit(shared_views.views, shared_views.known_labels)


def test_a_failed_fit_leaves_the_model_as_it_was(tiny_views):
    model = mgcn_dns(max_epochs=3, random_state=0)
    model.fit(tiny_views.views, tiny_views.known_labels)
    before = dict(vars(model))
    with pytest.raises(InputError):
        model.fit(tiny_views.views, tiny_views.known_labels[:-1])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_summary_of_a_network_method(model):
    summary = model.fit_summary()
    assert summary.n_neighbors == model.n_neighbors_
    assert summary.n_iter == model.training_curve_.n_epochs
    assert summary.n_networks == 2 == len(summary.stages)
    assert list(summary.view_importance) == model.view_names_
    assert sum(summary.view_importance.values()) == pytest.approx(1)
    assert list(summary.graphs) == ["fused", "refined", "selected"]
    assert summary.temperature == model.temperature_
    assert summary.calibration is None


def test_summary_of_a_method_without_graphs(tiny_views):
    from manyview.baselines.svm import SVMClassifier

    summary = SVMClassifier().fit(tiny_views.views, tiny_views.known_labels).fit_summary()
    assert (summary.graphs, summary.stages, summary.n_networks) == ({}, (), 1)
    assert summary.training_curve is summary.view_importance is summary.n_neighbors is None


def test_predictions_below_a_probability_are_unknown(model):
    confidence = model.label_distributions_.max(axis=1)
    middle = float(np.median(confidence))
    predictions = model.predictions(min_probability=middle)
    assert ((predictions == -1) == (confidence < middle)).all()
