"""The classifier's contract: scikit-learn's rules, learned attributes, bad input."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch
from models import mgcn_dns
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.network.training import TrainingCurve


@pytest.fixture
def model(tiny_views):
    return MGCNDNSClassifier(random_state=0, max_epochs=40).fit(
        tiny_views.views, tiny_views.known_labels
    )


def fit_quickly(views, labels, **parameters):
    return mgcn_dns(random_state=0, max_epochs=8, **parameters).fit(views, labels)


def test_transduction_labels_every_sample_well(model, tiny_views):
    assert (model.transduction_ == tiny_views.labels).mean() > 0.9
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1.0)
    assert model.label_distributions_.shape == (len(tiny_views.labels), len(model.classes_))


def test_learned_graphs_follow_from_weights_gates_and_threshold(model):
    """A_f, A_hat and A_select again, dense and in float64, Eq. (3)-(16)."""
    mixing = model.mixing_weights_.astype(np.float64)
    graphs = np.stack([graph.toarray() for graph in model.view_graphs_])
    mixtures = np.einsum("vi,ijk->vjk", mixing, graphs)
    importance = mixing.sum(axis=0) / mixing.sum()
    fused = np.einsum("v,vjk->jk", importance, mixtures)
    refined = fused * model.edge_gates_.toarray()
    scores = refined.sum(axis=0) / (refined != 0).sum(axis=0)
    n = len(scores)
    rank = np.arange(1, n + 1)
    gap = np.abs(scores[:, None] - scores).sum(axis=1)
    logits = ((n + 1 - 2 * rank)[:, None] * scores - gap) / model._node_selection().tau
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    gain = ((2**p - 1) / np.log2(rank + 1)[:, None]).sum(axis=0)
    confidence = (gain - gain.min()) / (gain.max() - gain.min())
    surplus = np.maximum((confidence[:, None] + confidence) / 2 - model.threshold_, 0)
    selected = refined * surplus / surplus.max()
    np.testing.assert_allclose(model.view_importance_, importance, atol=1e-6)
    np.testing.assert_allclose(model.fused_graph_.toarray(), fused, atol=1e-5)
    np.testing.assert_allclose(model.refined_graph_.toarray(), refined, atol=1e-5)
    np.testing.assert_allclose(model.node_confidence_, confidence, atol=1e-4)
    np.testing.assert_allclose(model.selected_graph_.toarray(), selected, atol=1e-5)


def test_same_seed_gives_the_same_bits(tiny_views):
    one, two = (fit_quickly(tiny_views.views, tiny_views.known_labels) for _ in range(2))
    other = MGCNDNSClassifier(random_state=1, max_epochs=8).fit(
        tiny_views.views, tiny_views.known_labels
    )
    np.testing.assert_array_equal(one.label_distributions_, two.label_distributions_)
    assert (one.label_distributions_ != other.label_distributions_).any()


def test_fit_leaves_global_random_state_alone(tiny_views):
    torch_before, numpy_before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    MGCNDNSClassifier(max_epochs=2).fit(tiny_views.views, tiny_views.known_labels)
    assert torch.equal(torch_before, torch.random.get_rng_state())
    np.testing.assert_array_equal(numpy_before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("graph_learning", ["edge", "low-rank", "full", None])
@pytest.mark.parametrize("node_selection", ["differentiable", "top-k", None])
def test_every_combination_of_modules_fits_and_predicts(tiny_views, graph_learning, node_selection):
    model = fit_quickly(
        tiny_views.views,
        tiny_views.known_labels,
        graph_learning=graph_learning,
        node_selection=node_selection,
    )
    assert set(model.predict(tiny_views.views)) <= set(model.classes_)
    assert (model.edge_gates_ is None) == (graph_learning is None)
    assert (model.threshold_ is None) == (node_selection != "differentiable")


def test_top_k_keeps_at_most_k_edges_a_sample(tiny_views):
    model = fit_quickly(
        tiny_views.views, tiny_views.known_labels, node_selection="top-k", n_selected=3
    )
    assert max(np.diff(model.selected_graph_.indptr)) <= 3
    assert max(np.diff(model.refined_graph_.indptr)) > 3


@pytest.mark.parametrize("n_layers", [1, 3])
def test_depth_is_free(tiny_views, n_layers):
    model = fit_quickly(tiny_views.views, tiny_views.known_labels, n_layers=n_layers)
    assert len(model.inductive_state_.weights) == n_layers
    assert model.predict(tiny_views.views).shape == model.transduction_.shape


def names_of(labels):
    return np.array(["apple", "pear", "plum"], dtype=object)[labels]


@pytest.mark.parametrize("unknown", [None, float("nan"), -1])
def test_text_labels_may_be_unknown_as_none_nan_or_minus_one(tiny_views, unknown):
    labels = names_of(tiny_views.labels)
    labels[tiny_views.known_labels == -1] = unknown
    model = fit_quickly(tiny_views.views, labels)
    assert model.classes_.tolist() == ["apple", "pear", "plum"]
    assert set(model.transduction_) <= {"apple", "pear", "plum"}


def test_labels_may_be_booleans_floats_and_pandas(tiny_views):
    is_first = (tiny_views.labels == 0).astype(object)
    is_first[tiny_views.known_labels == -1] = None
    assert fit_quickly(tiny_views.views, is_first).classes_.tolist() == [False, True]
    as_float = np.where(tiny_views.known_labels == -1, np.nan, tiny_views.labels)
    assert fit_quickly(tiny_views.views, as_float).classes_.tolist() == [0.0, 1.0, 2.0]
    series = pd.Series(names_of(tiny_views.labels)).where(tiny_views.known_labels != -1)
    assert fit_quickly(tiny_views.views, series).classes_.tolist() == ["apple", "pear", "plum"]


def test_plain_list_of_text_labels_keeps_none_unknown(tiny_views):
    names = names_of(tiny_views.labels).tolist()
    labels = [
        n if known != -1 else None for n, known in zip(names, tiny_views.known_labels, strict=True)
    ]
    assert "None" not in fit_quickly(tiny_views.views, labels).classes_


def test_fit_with_every_sample_labeled_serves_predict(tiny_views):
    views = MultiView(tiny_views.views)
    rows = np.arange(len(views)) % 4 != 0
    model = MGCNDNSClassifier(random_state=0).fit(views[rows], tiny_views.labels[rows])
    assert model.score(views[~rows], tiny_views.labels[~rows]) > 0.9


@pytest.mark.parametrize("form", ["list", "tuple", "dict", "frames", "sparse", "MultiView"])
def test_views_may_come_in_every_form(tiny_views, form):
    views = tiny_views.views
    given = {
        "list": list(views.values()),
        "tuple": tuple(views.values()),
        "dict": views,
        "frames": {name: pd.DataFrame(view) for name, view in views.items()},
        "sparse": {name: sparse.csr_matrix(view) for name, view in views.items()},
        "MultiView": MultiView(views),
    }[form]
    model = fit_quickly(given, tiny_views.known_labels, scaling="unit")
    expected = fit_quickly(views, tiny_views.known_labels, scaling="unit")
    np.testing.assert_allclose(model.label_distributions_, expected.label_distributions_, atol=1e-4)
    assert model.predict(given).shape == (len(tiny_views.labels),)


def test_one_array_is_one_view(tiny_views):
    wide = np.hstack(list(tiny_views.views.values()))
    assert fit_quickly(wide, tiny_views.known_labels).view_names_ == ["view1"]


def test_cross_validation_and_grid_search_take_a_multiview(tiny_views):
    views, labels = MultiView(tiny_views.views), tiny_views.labels
    scores = cross_val_score(MGCNDNSClassifier(random_state=0), views, labels, cv=3)
    assert scores.mean() > 0.9
    search = GridSearchCV(
        MGCNDNSClassifier(random_state=0, max_epochs=5), {"graph__n_neighbors": [3, 5]}, cv=2
    )
    assert search.fit(views, labels).best_params_["graph__n_neighbors"] in (3, 5)


def test_clone_and_parameters_round_trip():
    model = mgcn_dns(n_neighbors=7, scaling=["unit", "standard"])
    assert clone(model).get_params() == model.get_params()


def test_pickle_keeps_the_predictions(model, tiny_views):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict_proba(tiny_views.views), model.predict_proba(tiny_views.views)
    )


def test_saved_model_predicts_the_same(model, tiny_views, tmp_path):
    model.save(tmp_path / "model")
    again = MGCNDNSClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    np.testing.assert_array_equal(
        again.predict_proba(tiny_views.views), model.predict_proba(tiny_views.views)
    )
    assert again.get_params() == model.get_params()
    assert (again.selected_graph_ != model.selected_graph_).nnz == 0


def test_predict_before_fit_says_not_fitted(tiny_views):
    with pytest.raises(NotFittedError):
        MGCNDNSClassifier().predict(tiny_views.views)


def test_auto_neighbors_adapt_to_class_size_and_labels(rng):
    views = rng.normal(size=(60, 4))
    assert fit_quickly(views, np.repeat(np.arange(12), 5)).n_neighbors_ == 3
    assert fit_quickly(views, np.repeat([0, 1], 30)).n_neighbors_ == 10
    views, labels = rng.normal(size=(300, 4)), np.full(300, -1)
    labels[:2] = [0, 1]
    assert fit_quickly(views, labels).n_neighbors_ == 20


def ring(n):
    ahead = np.roll(np.eye(n), 1, axis=1)
    return sparse.csr_array(ahead + ahead.T)


def test_a_view_may_be_a_given_graph(tiny_views):
    same = tiny_views.labels[:, None] == tiny_views.labels
    views = MultiView({**tiny_views.views, "links": sparse.csr_array(same * 1.0)}, graphs=["links"])
    model = fit_quickly(views, tiny_views.known_labels)
    assert model.view_importance_.shape == (3,)
    assert cross_val_score(model, views, tiny_views.labels, cv=3).mean() > 0.9


def test_graphs_alone_are_enough(tiny_views):
    same = sparse.csr_array((tiny_views.labels[:, None] == tiny_views.labels) * 1.0)
    views = MultiView({"links": same}, graphs=["links"])
    model = MGCNDNSClassifier(random_state=0).fit(views, tiny_views.known_labels)
    assert (model.transduction_ == tiny_views.labels).all()
    assert (model.predict(views) == tiny_views.labels).all()


def test_class_weight_moves_predictions_towards_the_heavy_class(tiny_views):
    light = fit_quickly(tiny_views.views, tiny_views.known_labels, class_weight={0: 1e-3})
    heavy = fit_quickly(tiny_views.views, tiny_views.known_labels, class_weight={0: 1e3})
    assert heavy.label_distributions_[:, 0].mean() > light.label_distributions_[:, 0].mean()
    assert fit_quickly(tiny_views.views, tiny_views.known_labels, class_weight="balanced")


def test_interrupt_keeps_the_best_so_far(tiny_views, monkeypatch):
    seen = Counter()

    def interrupt(self, tol):
        seen["epochs"] += 1
        if seen["epochs"] == 4:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(TrainingCurve, "has_converged", interrupt)
    with pytest.warns(ConvergenceWarning, match="interrupted after 4 epochs"):
        model = fit_quickly(tiny_views.views, tiny_views.known_labels)
    assert model.training_curve_.stopped == "interrupted"
    assert np.isfinite(model.label_distributions_).all()


def test_progress_goes_to_the_error_stream_only(tiny_views, capsys):
    fit_quickly(tiny_views.views, tiny_views.known_labels, verbose=True)
    fit_quickly(tiny_views.views, tiny_views.known_labels)
    assert capsys.readouterr().out == ""


def test_views_at_predict_follow_their_names_not_their_order(model, tiny_views):
    turned = dict(reversed(tiny_views.views.items()))
    np.testing.assert_array_equal(
        model.predict_proba(turned), model.predict_proba(tiny_views.views)
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 60}, "n_neighbors must be smaller than the number of samples; got 60"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1; got 0"),
        ({"n_neighbors": "aut"}, "Did you mean 'auto'?"),
        ({"gamma": 0}, "gamma must be above 0; got 0"),
        ({"gamma": -1.0}, "gamma must be above 0; got -1.0"),
        ({"tau": -0.3}, "tau must be above 0; got -0.3"),
        ({"tau": float("nan")}, "tau must be above 0; got nan"),
        ({"tau": "soft"}, "tau must be a number above 0; got 'soft'"),
        ({"metric": "cosin"}, "Did you mean 'cosine'?"),
        ({"scaling": "tf-idf"}, "Did you mean 'tfidf'?"),
        ({"scaling": ["unit"]}, "one for each of the 2 feature views; got 1"),
        ({"scaling": {"colour": "unit"}}, "a name in scaling must be one of"),
        ({"symmetry": "intersection"}, "symmetry must be one of 'union', 'mutual'"),
        ({"graph_learning": "edges"}, "Did you mean 'edge'?"),
        ({"node_selection": "topk"}, "Did you mean 'top-k'?"),
        ({"rank_axis": "row"}, "Did you mean 'rows'?"),
        ({"ranking": "quick"}, "ranking must be"),
        ({"hidden": 0}, "hidden must be a whole number of at least 1"),
        ({"n_layers": 1.5}, "n_layers must be a whole number of at least 1; got 1.5"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1; got 1.0"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
        ({"learning_rate": 1e30}, "Lower learning_rate"),
        ({"initial_threshold": 1}, "initial_threshold must be above 0 and below 1"),
        ({"class_weight": "balance"}, "Did you mean 'balanced'?"),
        ({"class_weight": {7: 1.0}}, "a class in class_weight must be one of 0, 1, 2; got 7"),
        ({"device": "quantum"}, "device must be 'auto' or one that torch has here"),
        (
            {"random_state": -1},
            "random_state must be a whole number of at least 0, a numpy generator or None; got -1",
        ),
    ],
)
def test_fit_refuses_a_wrong_parameter_in_one_sentence(tiny_views, parameters, message):
    model = mgcn_dns(max_epochs=3, **({"random_state": 0} | parameters))
    with pytest.raises(InputError) as refusal:
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_predict_refuses_other_views(model, tiny_views):
    (first, one), (second, two) = tiny_views.views.items()
    with pytest.raises(InputError, match="views must be those of the fit"):
        model.predict({first: one, "other": two})
    with pytest.raises(ValueError, match="features"):
        model.predict({first: one, second: two[:, :-1]})
    swapped = {first: np.hstack([one, two[:, :1]]), second: two[:, 1:]}
    with pytest.raises(InputError, match=f"view '{first}' has .* features, but was fitted with"):
        model.predict(swapped)


def test_graph_views_are_checked(tiny_views):
    n = len(tiny_views.labels)
    views = MultiView({**tiny_views.views, "links": ring(n)}, graphs=["links"])
    model = fit_quickly(views, tiny_views.known_labels)
    few = MultiView({**tiny_views.views, "links": ring(n)[:, :5]}, graphs=["links"])
    with pytest.raises(InputError, match=f"one column for each of the {n} samples"):
        model.predict(few)
    negative = MultiView({**tiny_views.views, "links": -ring(n)}, graphs=["links"])
    with pytest.raises(InputError, match="weights of 0 or more; got -1"):
        fit_quickly(negative, tiny_views.known_labels)


def test_columns_of_frames_are_matched_by_name_at_predict(tiny_views):
    frames = {
        name: pd.DataFrame(view, columns=[f"{name}{i}" for i in range(view.shape[1])])
        for name, view in tiny_views.views.items()
    }
    model = fit_quickly(frames, tiny_views.known_labels)
    turned = {name: frame[frame.columns[::-1]] for name, frame in frames.items()}
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(frames))
    lacking = {name: frame.rename(columns={f"{name}0": "else"}) for name, frame in frames.items()}
    with pytest.raises(InputError, match="must have the columns of the fit; it lacks 1"):
        model.predict(lacking)
    short = {name: frame.drop(columns=f"{name}1") for name, frame in frames.items()}
    with pytest.raises(InputError, match=r"view 'shape' must have the columns .* lacks 1: shape1"):
        model.predict(short)
    wide = {name: frame.assign(age=1.0) for name, frame in frames.items()}
    with pytest.raises(InputError, match=r"view 'shape' must have the columns .* 1 are new: age"):
        model.predict(wide)
