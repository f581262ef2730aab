"""Parameter groups: equal by value, checked by rule, refused by path."""

import pytest
from sklearn.base import clone

from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.parameters import (
    CalibrationConfig,
    GraphLearningConfig,
    NeighborGraph,
    NodeSelectionConfig,
    TrainingConfig,
)

GROUPS = [
    CalibrationConfig,
    GraphLearningConfig,
    NeighborGraph,
    NodeSelectionConfig,
    TrainingConfig,
]


@pytest.mark.parametrize("group", GROUPS)
def test_groups_are_equal_by_value_and_cloned(group):
    one = group()
    one.check("group")
    assert clone(one) == one
    assert clone(one) is not one


@pytest.mark.parametrize(
    ("group", "path", "message"),
    [
        (
            CalibrationConfig(n_folds=0),
            "x__n_folds",
            "n_folds must be a whole number of at least 1",
        ),
        (CalibrationConfig(form="platt"), "x", "x must be one of 'temperature', None; got 'platt'"),
        (
            GraphLearningConfig(rank=0),
            "x__rank",
            "rank must be a whole number of at least 1; got 0",
        ),
        (GraphLearningConfig(gamma=0), "x__gamma", "gamma must be above 0; got 0"),
        (NodeSelectionConfig(n_selected=1.5), "x__n_selected", "n_selected must be a whole number"),
        (NodeSelectionConfig(ranking="quick"), "x__ranking", "ranking must be one of 'auto'"),
        (
            NeighborGraph(symmetry="both"),
            "x__symmetry",
            "symmetry must be one of 'union', 'mutual'",
        ),
        (TrainingConfig(dropout=1), "x__dropout", "dropout must be at least 0 and below 1; got 1"),
    ],
)
def test_the_first_wrong_parameter_is_refused_by_path(group, path, message):
    with pytest.raises(InputError, match=message) as refusal:
        group.check("x")
    assert refusal.value.parameter == path


def test_a_graph_is_checked_against_the_number_of_samples():
    views = MultiView([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    NeighborGraph(n_neighbors=2).check_for(views)
    with pytest.raises(InputError, match="n_neighbors must be smaller than the number of samples"):
        NeighborGraph(n_neighbors=3).check_for(views)
    with pytest.raises(InputError, match="search must be one of 'auto'"):
        NeighborGraph(search="fast").check_for(views)


def test_settings_have_the_k_that_was_chosen():
    settings = NeighborGraph(metric="euclidean").settings(7)
    assert (settings["n_neighbors"], settings["metric"]) == (7, "euclidean")
