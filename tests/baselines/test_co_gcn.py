"""Co-GCN as a classifier."""

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.co_gcn import CoGCNClassifier
from manyview.baselines.gcn import GCNFusionClassifier
from manyview.data.views import MultiView


def fit_quickly(views, labels, **parameters):
    settings = {"max_epochs": 30, "random_state": 0} | parameters
    return CoGCNClassifier(**settings).fit(views, labels)


@pytest.mark.parametrize("variant", ["per-view", "single"])
def test_one_view_gives_the_predictions_of_gcn_fusion(tiny_views, variant):
    view = tiny_views.views["shape"]
    settings = {"max_epochs": 40, "weight_decay": 0.1, "random_state": 0}
    model = CoGCNClassifier(variant=variant, **settings).fit(view, tiny_views.known_labels)
    gcn = GCNFusionClassifier(**settings).fit(view, tiny_views.known_labels)
    np.testing.assert_allclose(model.label_distributions_, gcn.label_distributions_, atol=1e-4)
    assert (model.mixing_weights_ == 1).all()


@pytest.mark.parametrize("official_weights", [False, True])
@pytest.mark.parametrize(("variant", "shape"), [("per-view", (2, 2, 2)), ("single", (1, 1, 2))])
def test_mixing_weights_lie_on_the_simplex_and_are_learned(
    tiny_views, variant, shape, official_weights
):
    model = fit_quickly(
        tiny_views.views,
        tiny_views.known_labels,
        variant=variant,
        official_weights=official_weights,
    )
    assert model.mixing_weights_.shape == shape
    assert (model.mixing_weights_ > 0).all()
    np.testing.assert_allclose(model.mixing_weights_.sum(axis=2), 1, rtol=1e-6)
    assert np.abs(model.mixing_weights_ - 0.5).max() > 1e-6
    np.testing.assert_allclose(model.view_importance_.sum(), 1, rtol=1e-6)
    if official_weights:
        assert np.abs(model.mixing_weights_ - 0.5).max() < 0.01


def test_the_better_graph_gets_the_larger_weight(tiny_views, rng):
    views = {"noise": rng.normal(size=(60, 6)), **tiny_views.views}
    model = fit_quickly(views, tiny_views.known_labels)
    assert model.view_importance_.argmin() == 0


@pytest.mark.parametrize("official_weights", [False, True])
@pytest.mark.parametrize("variant", ["per-view", "single"])
def test_classifier_finds_planted_classes(tiny_views, variant, official_weights):
    model = CoGCNClassifier(variant=variant, official_weights=official_weights, random_state=0)
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert (model.transduction_ == tiny_views.labels).mean() > 0.95
    assert model.training_curve_.stopped == "converged"


@pytest.mark.parametrize("variant", ["per-view", "single"])
def test_given_graphs_are_in_all_mixtures_and_have_no_net(tiny_views, variant):
    same_class = sparse.csr_array((tiny_views.labels[:, None] == tiny_views.labels) * 1.0)
    views = MultiView({**tiny_views.views, "links": same_class}, graphs=["links"])
    model = fit_quickly(views, tiny_views.known_labels, variant=variant)
    n_nets = 2 if variant == "per-view" else 1
    assert model.mixing_weights_.shape[::2] == (n_nets, 3)
    alone = MultiView({"links": same_class}, graphs=["links"])
    model = fit_quickly(alone, tiny_views.known_labels, variant=variant)
    np.testing.assert_array_equal(model.transduction_, tiny_views.labels)
