"""Fits that several processes share: the result of one process, and refusals in all of them."""

import numpy as np
import pytest
from sklearn.base import clone

from manyview import ManyviewClassifier, MGCNDNSClassifier, hide_labels, load_dataset
from manyview.distributed.world import World, use_world
from manyview.errors import InputError
from manyview.estimators.shared_fit import pick_shared_device, shared_seed

FAST = {"hidden": 8, "max_epochs": 30}
MODELS = {
    "edge": MGCNDNSClassifier(random_state=0, **FAST),
    "low-rank": MGCNDNSClassifier(graph_learning="low-rank", random_state=0, **FAST),
    "full": MGCNDNSClassifier(graph_learning="full", random_state=0, **FAST),
    "none": MGCNDNSClassifier(graph_learning=None, node_selection="top-k", random_state=0, **FAST),
    "calibrated": MGCNDNSClassifier(calibration="temperature", random_state=0, **FAST),
    "manyview": ManyviewClassifier(MGCNDNSClassifier(**FAST), random_state=0),
    "all epochs": ManyviewClassifier(
        MGCNDNSClassifier(**FAST),
        graph_epochs=None,
        initial_teacher="network",
        cross_fit=False,
        class_weight="balanced",
        random_state=0,
    ),
}


@pytest.mark.parametrize(("name", "size"), [*zip(MODELS, [2, 3, 2, 3, 2, 2, 3], strict=True)])
@pytest.mark.filterwarnings("ignore:probabilities are not calibrated")
def test_shared_fit_equals_the_fit_of_one_process(ranks, shared_views, name, size):
    model = MODELS[name]
    given = shared_views.views, shared_views.known_labels
    alone = clone(model).fit(*given)
    for shared in ranks.run("fit_shared", size, model, *given):
        # Single precision, and rounding that grows with the epochs.
        assert np.allclose(shared.label_distributions_, alone.label_distributions_, atol=0.01)
        assert np.array_equal(shared.transduction_, alone.transduction_)
        assert shared.training_curve_.n_epochs == alone.training_curve_.n_epochs
        assert np.allclose(shared.training_curve_.loss, alone.training_curve_.loss, atol=1e-3)
        assert len(shared.stages_) == len(alone.stages_)
        assert np.allclose(shared.predict_proba(given[0]), alone.predict_proba(given[0]), atol=0.01)


def test_all_processes_of_a_fit_end_with_the_same_model(ranks, shared_views):
    model = ManyviewClassifier(MGCNDNSClassifier(**FAST), cross_fit=False)  # draws its own seed
    first, *others = ranks.run(
        "fit_shared", 4, model, shared_views.views, shared_views.known_labels
    )
    for other in others:
        assert np.array_equal(other.label_distributions_, first.label_distributions_)
        assert (other.selected_graph_ != first.selected_graph_).nnz == 0


def test_samples_without_a_view_are_fitted_as_in_one_process(ranks, shared_views):
    views = {name: view.copy() for name, view in shared_views.views.items()}
    views["shape"][10:25] = np.nan
    model = MODELS["edge"]
    alone = clone(model).fit(views, shared_views.known_labels)
    for shared in ranks.run("fit_shared", 2, model, views, shared_views.known_labels):
        assert np.allclose(shared.label_distributions_, alone.label_distributions_, atol=0.01)


def test_a_warm_start_is_shared_too(ranks, shared_views):
    model = MGCNDNSClassifier(warm_start=True, random_state=0, **FAST)
    given = shared_views.views, shared_views.known_labels
    alone = clone(model).fit(*given).fit(*given)
    for shared in ranks.run("fit_shared_twice", 2, model, *given):
        assert shared.training_curve_.n_epochs == alone.training_curve_.n_epochs
        assert np.allclose(shared.label_distributions_, alone.label_distributions_, atol=0.01)


@pytest.mark.parametrize(
    ("changed", "what"),
    [("views", "the views"), ("labels", "the labels"), ("settings", "the settings")],
)
def test_other_data_or_settings_in_one_process_are_refused_in_all(
    ranks, shared_views, changed, what
):
    refused = ranks.run(
        "refusal_of_fit",
        2,
        MGCNDNSClassifier(random_state=0, **FAST),
        shared_views.views,
        shared_views.known_labels,
        changed,
    )
    sentence = (
        f"{what} must be the same in all 2 processes of the fit; those of process 1 differ from "
        "those of process 0. Give every process the same data and the same settings."
    )
    assert refused == [sentence, sentence]


def test_callbacks_are_refused_in_a_shared_fit(ranks, shared_views):
    refused = ranks.run(
        "refusal_of_fit",
        2,
        MGCNDNSClassifier(random_state=0, **FAST),
        shared_views.views,
        shared_views.known_labels,
        "callbacks",
    )
    assert all(one.startswith("callbacks cannot be used in a fit that") for one in refused)


def test_seed_is_that_of_random_state_in_one_process():
    assert shared_seed(7) == 7


def test_a_shared_fit_takes_the_processor_and_refuses_other_devices():
    with use_world(World(0, 2)):
        assert pick_shared_device("auto").type == "cpu"
        with pytest.raises(InputError, match="must be 'auto' or 'cpu' in a fit that several"):
            pick_shared_device("meta")


@pytest.mark.data
@pytest.mark.parametrize("model", [MGCNDNSClassifier, ManyviewClassifier])
def test_real_data_get_the_predictions_of_one_process(ranks, model):
    data = load_dataset("bbcsports")  # sparse views
    labels = hide_labels(data.labels, keep=0.05, random_state=0)
    alone = model(random_state=0).fit(data.views, labels)
    for shared in ranks.run("fit_shared", 2, model(random_state=0), data.views, labels):
        assert np.array_equal(shared.transduction_, alone.transduction_)
        assert shared.training_curve_.n_epochs == alone.training_curve_.n_epochs
