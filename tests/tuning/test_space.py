"""Search spaces: the default ones, and distributions of Optuna."""

import optuna
import pytest

from manyview.base.classifier import MultiViewClassifier
from manyview.baselines.knn import KNNClassifier
from manyview.errors import InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS
from manyview.tuning.search import tune
from manyview.tuning.space import default_space


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


def test_method_without_a_default_space_asks_for_one(tiny_views):
    class Plain(MultiViewClassifier):
        card = KNNClassifier.card

    with pytest.raises(InputError, match="Name the values to try"):
        tune(tiny_views.views, tiny_views.known_labels, method=Plain())


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_default_space_that_starts_with_its_defaults(name):
    model = METHODS[name]()
    for path, choices in default_space(model, 60).items():
        assert choices[0] == model.get_params()[path]
        assert 2 <= len(choices) == len(set(map(repr, choices)))


def test_space_of_manyview_is_that_of_its_inner_estimator():
    inner = default_space(MGCNDNSClassifier(), 60)
    outer = default_space(ManyviewClassifier(), 60)
    prefixed = {k if k.startswith("graph__") else f"estimator__{k}": v for k, v in inner.items()}
    assert outer == prefixed
