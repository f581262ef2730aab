"""Nested parameters: scikit-learn's clone, get_params, set_params and searches reach them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from manyview import (
    CalibrationConfig,
    GraphLearningConfig,
    ManyviewClassifier,
    MGCNDNSClassifier,
    MultiView,
    NeighborGraph,
    NodeSelectionConfig,
    PseudoLabeler,
)
from manyview.base.parameters import parameter_path
from manyview.errors import InputError

CLASSIFIERS = [ManyviewClassifier, MGCNDNSClassifier]


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_a_constructor_is_short_enough_to_read(method):
    assert len(method().get_params(deep=False)) <= 16


def test_defaults_of_groups_are_parameters_by_path():
    params = ManyviewClassifier().get_params()
    assert params["graph"] is None
    assert params["graph__n_neighbors"] == "auto"
    assert params["estimator__hidden"] == 64
    assert params["estimator__node_selection__tau"] == 1.0
    assert params["pseudo_labeler__sharpness"] == 3.0
    assert "graph__n_neighbors" not in ManyviewClassifier().get_params(deep=False)


def test_setting_a_path_makes_the_group_and_leaves_other_instances_alone():
    model = ManyviewClassifier().set_params(graph__n_neighbors=7, estimator__graph_learning="full")
    assert model.graph == NeighborGraph(n_neighbors=7)
    assert model.estimator.graph_learning == "full"
    assert ManyviewClassifier().get_params()["graph__n_neighbors"] == "auto"


def test_a_word_and_a_path_go_together():
    model = MGCNDNSClassifier().set_params(graph_learning="low-rank", graph_learning__rank=4)
    assert model.graph_learning == GraphLearningConfig(form="low-rank", rank=4)
    model = MGCNDNSClassifier(node_selection=None).set_params(node_selection__tau=0.3)
    assert model.node_selection == NodeSelectionConfig(form=None, tau=0.3)


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_clone_copies_groups(method):
    model = method(graph=NeighborGraph(metric="euclidean"))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.graph is not model.graph
    copy.set_params(graph__metric="cosine")
    assert model.graph.metric == "euclidean"


def test_clone_copies_groups_that_words_may_stand_for():
    model = MGCNDNSClassifier(calibration=CalibrationConfig(n_folds=2))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.calibration is not model.calibration
    copy.set_params(calibration__n_folds=1)
    assert model.calibration.n_folds == 2


def test_grid_search_reaches_nested_parameters(tiny_views):
    grid = {"graph__n_neighbors": [3, 5], "estimator__hidden": [8]}
    model = ManyviewClassifier(MGCNDNSClassifier(max_epochs=3), random_state=0)
    search = GridSearchCV(model, grid, cv=2).fit(MultiView(tiny_views.views), tiny_views.labels)
    assert search.best_params_["graph__n_neighbors"] in (3, 5)
    assert search.best_estimator_.estimator.hidden == 8


def test_a_group_and_its_path_give_the_same_fit(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    objects = MGCNDNSClassifier(
        graph=NeighborGraph(n_neighbors=4),
        node_selection=NodeSelectionConfig(tau=0.5),
        max_epochs=3,
        random_state=0,
    )
    paths = MGCNDNSClassifier(max_epochs=3, random_state=0)
    paths.set_params(graph__n_neighbors=4, node_selection__tau=0.5)
    np.testing.assert_array_equal(
        objects.fit(*given).label_distributions_, paths.fit(*given).label_distributions_
    )


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("hidden", "estimator__hidden"),
        ("n_neighbors", "graph__n_neighbors"),
        ("tau", "estimator__node_selection__tau"),
        ("scaling", "scaling"),
        ("graph__metric", "graph__metric"),
    ],
)
def test_short_names_are_completed(name, path):
    assert parameter_path(ManyviewClassifier(), name) == path


def test_ambiguous_and_unknown_names_are_refused():
    with pytest.raises(InputError, match=r"several parameters 'form': write graph_learning__form"):
        parameter_path(MGCNDNSClassifier(), "form")
    with pytest.raises(InputError, match="'form': write estimator__graph_learning__form or"):
        parameter_path(ManyviewClassifier(), "form")
    with pytest.raises(
        InputError, match="does not use estimator__graph__metric; set graph__metric"
    ):
        parameter_path(ManyviewClassifier(), "estimator__graph__metric")
    with pytest.raises(InputError, match=r"no parameter 'hiden'. Did you mean 'hidden'"):
        parameter_path(ManyviewClassifier(), "hiden")


@pytest.mark.parametrize(
    ("model", "parameter", "message"),
    [
        (MGCNDNSClassifier(graph=5), "graph", r"graph must be a parameter object, .*; got 5"),
        (MGCNDNSClassifier(graph="cosine"), "graph", r"graph=NeighborGraph\(\)"),
        (
            ManyviewClassifier(graph=NeighborGraph(metric="cos")),
            "graph__metric",
            "metric must be one of 'cosine', 'euclidean'; got 'cos'",
        ),
        (
            MGCNDNSClassifier(graph_learning="edges"),
            "graph_learning",
            "graph_learning must be one of 'edge', .* Did you mean 'edge'",
        ),
        (
            ManyviewClassifier(MGCNDNSClassifier(hidden=0)),
            "estimator__hidden",
            "hidden must be a whole number of at least 1; got 0",
        ),
        (
            ManyviewClassifier(PseudoLabeler()),
            "estimator",
            "estimator must be an MGCNDNSClassifier",
        ),
    ],
)
def test_wrong_groups_are_refused_by_name(tiny_views, model, parameter, message):
    with pytest.raises(InputError, match=message) as refusal:
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert refusal.value.parameter == parameter
