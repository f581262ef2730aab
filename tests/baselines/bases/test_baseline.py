"""What holds for all baselines: refused parameters, saved models, renumbered and sparse samples."""

from dataclasses import is_dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from manyview.baselines.amgl import AMGLClassifier
from manyview.baselines.awdr import AWDRClassifier
from manyview.baselines.co_gcn import CoGCNClassifier
from manyview.baselines.dsrl import DSRLClassifier
from manyview.baselines.erl_mvsc import ERLMVSCClassifier
from manyview.baselines.gcn import GCNFusionClassifier
from manyview.baselines.grand import GRANDClassifier
from manyview.baselines.hist_gradient_boosting import BoostingClassifier
from manyview.baselines.hlr_m2vs import HLRM2VSClassifier
from manyview.baselines.knn import KNNClassifier
from manyview.baselines.label_spreading import LabelSpreadingClassifier
from manyview.baselines.logistic_regression import LogisticRegressionClassifier
from manyview.baselines.mlan import MLANClassifier
from manyview.baselines.mvar import MVARClassifier
from manyview.baselines.random_forest import ForestClassifier
from manyview.baselines.self_training import SelfTrainingSVMClassifier
from manyview.baselines.ssgcn import SSGCNClassifier
from manyview.baselines.svm import SVMClassifier
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.system.config import config_context

BASELINES = [
    AMGLClassifier,
    AWDRClassifier,
    CoGCNClassifier,
    DSRLClassifier,
    ERLMVSCClassifier,
    BoostingClassifier,
    ForestClassifier,
    GCNFusionClassifier,
    GRANDClassifier,
    HLRM2VSClassifier,
    KNNClassifier,
    LabelSpreadingClassifier,
    LogisticRegressionClassifier,
    MLANClassifier,
    MVARClassifier,
    SelfTrainingSVMClassifier,
    SSGCNClassifier,
    SVMClassifier,
]
WRONG_PARAMETERS = {
    AMGLClassifier: [
        ("n_neighbors", 60, "n_neighbors must be smaller than the number of samples; got 60"),
        ("n_neighbors", "auto", "n_neighbors must be a whole number"),
        ("scaling", "row", "scaling must be one of"),
        ("max_iter", 0, "max_iter must be"),
        ("tol", -1.0, "tol must be"),
        ("halve_unlabeled", 0.5, "halve_unlabeled must be one of"),
    ],
    AWDRClassifier: [
        ("ridge", 0, "ridge must be"),
        ("n_neighbors", 0, "n_neighbors must be"),
        ("max_iter", 0, "max_iter must be"),
        ("tol", -1, "tol must be"),
    ],
    BoostingClassifier: [
        ("max_iter", 0, "max_iter must be a whole number of at least 1"),
        ("learning_rate", 0, "learning_rate must be above 0"),
        ("max_leaf_nodes", 1, "max_leaf_nodes must be a whole number of at least 2; got 1"),
        ("min_samples_leaf", 0, "min_samples_leaf must be"),
        ("min_samples_leaf", "few", "min_samples_leaf must be one of 'auto'"),
        ("l2_regularization", -1, "l2_regularization must be at least 0"),
        ("class_weight", "balance", "Did you mean 'balanced'?"),
        ("random_state", -1, "random_state must be a whole number of at least 0"),
    ],
    CoGCNClassifier: [
        ("variant", "per_view", "Did you mean 'per-view'?"),
        ("official_weights", "yes", "official_weights must be one of True, False; got 'yes'"),
        ("hidden", 1.5, "hidden must be a whole number of at least 1; got 1.5"),
        ("dropout", -0.1, "dropout must be at least 0 and below 1; got -0.1"),
    ],
    DSRLClassifier: [
        ("n_epochs", 0, "n_epochs must be a whole number"),
        ("n_layers", 2.5, "n_layers must be a whole number"),
        ("n_neighbors", 0, "n_neighbors must be a whole number"),
        ("learning_rate", 0, "learning_rate must be above 0"),
        ("weight_decay", -1, "weight_decay must be at least 0"),
        ("device", "abacus", "device must be"),
    ],
    ERLMVSCClassifier: [
        ("weight_power", 1.0, "weight_power must not be 1"),
        ("smoothness", 0, "smoothness must be above 0"),
        ("fidelity", -1, "fidelity must be above 0"),
        ("sparsity", -1, "sparsity must be at least 0"),
        ("n_neighbors", 0, "n_neighbors must be a whole number"),
        ("as_released", "yes", "as_released must be one of True, False"),
        ("scaling", "row", "scaling must be one of"),
    ],
    ForestClassifier: [
        ("n_estimators", 0, "n_estimators must be a whole number of at least 1; got 0"),
        ("min_samples_leaf", 0.5, "min_samples_leaf must be a whole number of at least 1"),
        ("class_weight", "balance", "Did you mean 'balanced'?"),
        ("scaling", "ranks", "scaling must be one of"),
        ("random_state", -1, "random_state must be a whole number of at least 0"),
    ],
    GCNFusionClassifier: [
        ("n_neighbors", 60, "n_neighbors must be smaller than the number of samples; got 60"),
        ("metric", "cosin", "Did you mean 'cosine'?"),
        ("scaling", "units", "Did you mean 'unit'?"),
        ("symmetry", "or", "symmetry must be one of 'union', 'mutual'"),
        ("hidden", 0, "hidden must be a whole number of at least 1"),
        ("dropout", 1.0, "dropout must be at least 0 and below 1; got 1.0"),
        ("learning_rate", 0, "learning_rate must be above 0"),
        ("weight_decay", -1, "weight_decay must be at least 0"),
        ("tol", -1, "tol must be at least 0"),
        ("max_epochs", 0, "max_epochs must be a whole number of at least 1"),
        ("class_weight", "balance", "Did you mean 'balanced'?"),
        ("device", "quantum", "device must be 'auto'"),
        ("random_state", -1, "random_state must be a whole number of at least 0"),
    ],
    GRANDClassifier: [
        ("n_steps", -1, "n_steps must be a whole number of at least 0; got -1"),
        ("n_draws", 0, "n_draws must be a whole number of at least 1; got 0"),
        ("node_dropout", 1.0, "node_dropout must be at least 0 and below 1; got 1.0"),
        ("input_dropout", -0.1, "input_dropout must be at least 0 and below 1; got -0.1"),
        ("dropout", 1.0, "dropout must be at least 0 and below 1; got 1.0"),
        ("consistency", -1, "consistency must be at least 0; got -1"),
        ("temperature", 0, "temperature must be above 0; got 0"),
        ("tol", -1, "tol must be at least 0; got -1"),
        ("hidden", 0, "hidden must be a whole number of at least 1"),
    ],
    HLRM2VSClassifier: [
        ("noise_weight", 0, "noise_weight must be above 0"),
        ("smoothness", -1, "smoothness must be at least 0"),
        ("n_neighbors", 60, "n_neighbors must be smaller"),
        ("max_iter", 0, "max_iter must be"),
        ("tol", -1, "tol must be"),
        ("scaling", "units", "scaling must be one of"),
        ("verbose", "yes", "verbose must be one of"),
    ],
    KNNClassifier: [
        ("n_neighbors", value, "n_neighbors must be") for value in (0, 2.5, "many", True)
    ],
    LabelSpreadingClassifier: [
        ("alpha", 0, "alpha must be"),
        ("alpha", 1, "alpha must be"),
        ("max_iter", 0, "max_iter must be"),
        ("n_neighbors", 0, "n_neighbors must be"),
    ],
    LogisticRegressionClassifier: [
        ("penalty", 0, "penalty must be above 0; got 0"),
        ("max_iter", 0, "max_iter must be"),
        ("tol", -1, "tol must be"),
        ("class_weight", "balance", "Did you mean 'balanced'?"),
    ],
    MLANClassifier: [
        ("n_neighbors", 60, "n_neighbors must be smaller"),
        ("smoothness", -1.0, "smoothness must be at least 0"),
        ("scaling", "row", "scaling must be one of"),
        ("max_iter", 0, "max_iter must be"),
        ("tol", -1.0, "tol must be"),
        ("compound_weights", "yes", "compound_weights must be one of"),
    ],
    MVARClassifier: [
        ("ridge", 0, "ridge must be"),
        ("power", 1, "power must be"),
        ("labeled_weight", 0, "labeled_weight must be"),
        ("tol", -1, "tol must be"),
    ],
    SelfTrainingSVMClassifier: [
        ("fraction_per_iter", 0, "fraction_per_iter must be above 0 and at most 1; got 0"),
        ("fraction_per_iter", 2, "fraction_per_iter must be above 0 and at most 1; got 2"),
        ("selection", "x", "selection must be one of 'by-class', 'most-confident'"),
    ],
    SSGCNClassifier: [
        ("n_steps", 0, "n_steps must be a whole number of at least 1; got 0"),
        ("alpha", 1.0, "alpha must be at least 0 and below 1; got 1.0"),
        ("alpha", -0.1, "alpha must be at least 0 and below 1; got -0.1"),
    ],
    SVMClassifier: [
        ("kernel", "poly", "kernel must be"),
        ("penalty", 0, "penalty must be"),
        ("gamma", "auto", "gamma must be"),
        ("gamma", -1, "gamma must be"),
        ("class_weight", "x", "class_weight must be"),
    ],
}

SHORT = {
    BoostingClassifier: {"max_iter": 20},
    CoGCNClassifier: {"max_epochs": 30},
    ForestClassifier: {"n_estimators": 30},
    GCNFusionClassifier: {"max_epochs": 30},
    GRANDClassifier: {"max_epochs": 30},
}

every_baseline = pytest.mark.parametrize("method", BASELINES)


def quick(method, **parameters):
    """The method with a short training."""
    return method(**{"random_state": 0} | SHORT.get(method, {}) | parameters)


def assert_equal(one, two):
    """Compare learned attributes of any type."""
    if isinstance(one, sparse.csr_array):
        one, two = one.toarray(), two.toarray()
    if is_dataclass(one):
        assert type(one) is type(two)
        one, two = vars(one), vars(two)
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        one, two = list(one.values()), list(two.values())
    if isinstance(one, (list, tuple)):
        for pair in zip(one, two, strict=True):
            assert_equal(*pair)
    else:
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("method", "parameter", "value", "message"),
    [(method, *case) for method, cases in WRONG_PARAMETERS.items() for case in cases],
)
def test_fit_refuses_a_wrong_parameter_in_one_sentence(
    tiny_views, method, parameter, value, message
):
    with pytest.raises(InputError) as refusal:
        quick(method, **{parameter: value}).fit(tiny_views.views, tiny_views.known_labels)
    assert message in str(refusal.value)


@every_baseline
def test_constraints_name_parameters_and_errors_carry_their_name(tiny_views, method):
    assert set(method._parameter_constraints) <= set(method().get_params())
    for parameter in method._parameter_constraints:
        model = clone(method()).set_params(**{parameter: [0.5]})
        with pytest.raises(InputError, match=f"{parameter} must be") as refusal:
            model.fit(tiny_views.views, tiny_views.known_labels)
        assert refusal.value.parameter == parameter


@every_baseline
def test_saved_model_keeps_its_parameters_and_all_it_learned(tiny_views, tmp_path, method):
    weighted = {"class_weight": "balanced"} if "class_weight" in method().get_params() else {}
    model = quick(method, **weighted).fit(tiny_views.views, tiny_views.known_labels)
    model.save(tmp_path)
    loaded = method.load(tmp_path)
    assert loaded.get_params() == model.get_params()
    learned = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert len(learned) > 5
    for name, value in learned.items():
        assert_equal(value, getattr(loaded, name))
    if method.is_inductive():
        np.testing.assert_array_equal(
            loaded.predict_proba(tiny_views.views), model.predict_proba(tiny_views.views)
        )


@pytest.mark.parametrize("method", [AMGLClassifier, MLANClassifier, HLRM2VSClassifier])
def test_planted_classes_are_found_and_known_labels_stay(tiny_views, method):
    model = method().fit(tiny_views.views, tiny_views.known_labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.9
    known = tiny_views.known_labels >= 0
    np.testing.assert_array_equal(model.transduction_[known], tiny_views.known_labels[known])
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1.0)
    assert model.view_weights_.sum() == pytest.approx(1.0)
    assert model.n_iter_ == len(model.objective_) <= model.max_iter


@pytest.mark.parametrize(
    ("method", "fitted_accuracy", "new_accuracy"),
    [
        (AWDRClassifier, 0.95, 0.9),
        (BoostingClassifier, 0.75, 0.75),
        (ForestClassifier, 0.9, 0.9),
        (LogisticRegressionClassifier, 0.95, 0.9),
        (MVARClassifier, 0.9, 0.8),
        (SelfTrainingSVMClassifier, 0.95, 0.9),
    ],
)
def test_planted_classes_are_found_in_fitted_and_new_samples(
    tiny_views, method, fitted_accuracy, new_accuracy
):
    views, is_new = MultiView(tiny_views.views), np.arange(60) % 4 == 0
    model = method().fit(views[~is_new], tiny_views.known_labels[~is_new])
    assert np.mean(model.transduction_ == tiny_views.labels[~is_new]) > fitted_accuracy
    assert np.mean(model.predict(views[is_new]) == tiny_views.labels[is_new]) > new_accuracy
    if method in (AWDRClassifier, MVARClassifier):
        assert model.view_weights_.sum() == pytest.approx(1)
        assert model.n_iter_ == len(model.objective_) <= model.max_iter


@pytest.mark.parametrize(
    ("method", "parameters", "tolerance"),
    [
        (AMGLClassifier, {}, {"atol": 1e-8}),
        (AWDRClassifier, {}, {"atol": 1e-8}),
        (BoostingClassifier, {}, {"atol": 0}),
        (ForestClassifier, {}, {"atol": 0}),
        (LogisticRegressionClassifier, {}, {"atol": 1e-4}),
        (CoGCNClassifier, {"dropout": 0.0}, {"atol": 1e-4}),
        (DSRLClassifier, {}, {"rtol": 1e-5}),
        (ERLMVSCClassifier, {}, {"rtol": 1e-6}),
        (GCNFusionClassifier, {"dropout": 0.0}, {"atol": 1e-4}),
        (GRANDClassifier, {"dropout": 0.0, "node_dropout": 0.0}, {"atol": 1e-4}),
        (MLANClassifier, {}, {"atol": 1e-8}),
        (MVARClassifier, {}, {"atol": 1e-6}),
        (SSGCNClassifier, {}, {"atol": 1e-3}),
    ],
)
def test_predictions_follow_samples_when_they_are_renumbered(
    tiny_views, rng, method, parameters, tolerance
):
    order = rng.permutation(60)
    before = quick(method, **parameters).fit(tiny_views.views, tiny_views.known_labels)
    renumbered = {name: view[order] for name, view in tiny_views.views.items()}
    after = quick(method, **parameters).fit(renumbered, tiny_views.known_labels[order])
    np.testing.assert_allclose(
        after.label_distributions_, before.label_distributions_[order], **tolerance
    )
    if before.view_weights_ is not None:
        np.testing.assert_allclose(after.view_weights_, before.view_weights_)
    np.testing.assert_array_equal(after.transduction_, before.transduction_[order])


@pytest.mark.parametrize(
    ("method", "atol"),
    [
        (BoostingClassifier, 0),
        (CoGCNClassifier, 1e-4),
        (ForestClassifier, 0),
        (GCNFusionClassifier, 1e-4),
        (GRANDClassifier, 1e-4),
        (LogisticRegressionClassifier, 1e-4),
        (LabelSpreadingClassifier, 1e-5),
        (MLANClassifier, 1e-8),
    ],
)
def test_sparse_views_give_the_predictions_of_dense_ones(tiny_views, method, atol):
    dense = quick(method).fit(tiny_views.views, tiny_views.known_labels)
    views = {name: sparse.csr_array(view) for name, view in tiny_views.views.items()}
    model = quick(method).fit(views, tiny_views.known_labels)
    np.testing.assert_allclose(model.label_distributions_, dense.label_distributions_, atol=atol)
    np.testing.assert_array_equal(model.transduction_, dense.transduction_)


@pytest.mark.parametrize(
    "model",
    [
        quick(CoGCNClassifier),
        quick(CoGCNClassifier, variant="single"),
        quick(GCNFusionClassifier),
        quick(GRANDClassifier),
        quick(GRANDClassifier, input_dropout=0.5),
        quick(ForestClassifier),
    ],
)
def test_same_seed_gives_the_same_bits_and_another_seed_others(tiny_views, model):
    one, two, other = (
        clone(model).set_params(random_state=seed).fit(tiny_views.views, tiny_views.known_labels)
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one.label_distributions_, two.label_distributions_)
    assert not np.array_equal(one.label_distributions_, other.label_distributions_)


@pytest.mark.parametrize(
    "method",
    [
        AWDRClassifier,
        DSRLClassifier,
        ERLMVSCClassifier,
        HLRM2VSClassifier,
        MVARClassifier,
        SelfTrainingSVMClassifier,
        SVMClassifier,
    ],
)
def test_fit_refuses_work_that_does_not_fit_in_memory(tiny_views, method):
    with (
        config_context(max_memory=1e-9),
        pytest.raises(InputError, match=r"needs about .* GB of memory.* raise max_memory"),
    ):
        method().fit(tiny_views.views, tiny_views.known_labels)


@pytest.mark.parametrize(
    ("method", "max_iter"),
    [(AMGLClassifier, 3), (AWDRClassifier, 2), (ERLMVSCClassifier, 2), (MLANClassifier, 3)],
)
def test_fit_warns_at_its_call_when_it_does_not_converge(tiny_views, method, max_iter):
    model = method(max_iter=max_iter, tol=0.0)
    with pytest.warns(
        ConvergenceWarning, match=f"did not converge in max_iter={max_iter} iterations"
    ) as caught:
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert caught[0].filename == __file__
    assert method.card.title in str(caught[0].message)
