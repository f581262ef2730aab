"""Samples that lack whole views: at fit, at predict, in files, and what is refused."""

import warnings

import numpy as np
import pytest
from models import build
from scipy import sparse
from sklearn.model_selection import cross_val_score

from manyview.data.cross_validation import TransductiveViews
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS
from manyview.numerics import softmax

TAKES_MISSING = [name for name, method in METHODS.items() if method.takes_missing_views]


@pytest.fixture
def present(rng):
    """Each of 60 samples has at least one of two views; a third of all pairs is gone."""
    present = np.ones((60, 2), dtype=bool)
    lacking = rng.permutation(60)[:40]
    present[lacking, rng.integers(2, size=40)] = False
    return present


@pytest.fixture
def incomplete(tiny_views, present):
    return MultiView(tiny_views.views, present=present)


def make(name="mgcn-dns", *, max_epochs=10, **parameters):
    known = METHODS[name]().get_params()
    has_epochs = any(key.endswith("max_epochs") for key in known)
    quick = {"max_epochs": max_epochs} if has_epochs else {}
    if not any(key.endswith("metric") for key in known):
        parameters.pop("metric", None)
    return build(METHODS[name], random_state=0, **quick, **parameters)


def with_values(views, present, value):
    """Put a value where samples lack a view."""
    changed = {name: np.array(view, dtype=np.float64) for name, view in views.items()}
    for view, own in zip(changed.values(), present.T, strict=True):
        view[~own] = value
    return changed


@pytest.mark.parametrize("name", TAKES_MISSING)
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_what_an_absent_row_holds_cannot_matter(name, metric, tiny_views, incomplete, present):
    labels = tiny_views.known_labels
    model = make(name, metric=metric).fit(incomplete, labels)
    for value in (1e9, np.inf, np.nan, -3.0):
        garbage = MultiView(with_values(tiny_views.views, present, value), present=present)
        again = make(name, metric=metric).fit(garbage, labels)
        np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
        if model.is_inductive():
            expected = model.predict_proba(incomplete[:20])
            np.testing.assert_array_equal(again.predict_proba(garbage[:20]), expected)


def test_rows_of_nan_need_no_mask(tiny_views, incomplete, present):
    model = make().fit(incomplete, tiny_views.known_labels)
    given = with_values(tiny_views.views, present, np.nan)
    again = make().fit(given, tiny_views.known_labels)
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)


@pytest.mark.parametrize("name", TAKES_MISSING)
def test_a_mask_that_is_true_throughout_changes_no_bit(name, tiny_views):
    whole = MultiView(tiny_views.views, present=np.ones((60, 2), dtype=bool))
    one = make(name).fit(tiny_views.views, tiny_views.known_labels)
    other = make(name).fit(whole, tiny_views.known_labels)
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)


@pytest.mark.parametrize("name", TAKES_MISSING)
def test_incomplete_samples_are_labeled_well(name, tiny_views, incomplete):
    model = make(name, max_epochs=30).fit(incomplete, tiny_views.known_labels)
    assert (model.transduction_ == tiny_views.labels).mean() > 0.85


def test_absent_samples_have_no_edges_and_the_fused_graph_follows(tiny_views, incomplete, present):
    model = make().fit(incomplete, tiny_views.known_labels)
    graphs = np.stack([graph.toarray() for graph in model.view_graphs_])
    for graph, own in zip(graphs, present.T, strict=True):
        assert not graph[~own].any()
        assert not graph[:, ~own].any()
        assert (graph.diagonal()[own] > 0).all()
    mixing = model.mixing_weights_.astype(np.float64)
    coefficients = mixing.sum(axis=0) / mixing.sum() @ mixing
    both = present[:, None] & present  # [sample, sample, view]
    total = both @ coefficients
    expected = np.einsum("v,vij->ij", coefficients, graphs) / np.where(total > 0, total, 1)
    np.testing.assert_allclose(model.fused_graph_.toarray(), expected, atol=1e-6)


@pytest.mark.slow
def test_an_approximate_search_leaves_absent_samples_out(rng):
    pytest.importorskip("pynndescent")
    views = {name: rng.normal(size=(300, 6)) for name in "ab"}
    present = np.ones((300, 2), dtype=bool)
    present[::3, 1] = False
    labels = np.where(np.arange(300) < 40, np.arange(300) % 2, -1)
    model = make(search="approximate", n_neighbors=5)
    model.fit(MultiView(views, present=present), labels)
    assert not model.view_graphs_[1].toarray()[::3].any()
    assert model.neighbor_recall_["b"] > 0.9


def test_large_supports_are_renumbered_with_their_samples(tiny_views, incomplete, monkeypatch):
    model = make(dropout=0.0).fit(incomplete, tiny_views.known_labels)
    monkeypatch.setattr("manyview.graphs.support.REORDERED_FROM", 1)
    again = make(dropout=0.0, graph_learning=None).fit(incomplete, tiny_views.known_labels)
    monkeypatch.undo()
    plain = make(dropout=0.0, graph_learning=None).fit(incomplete, tiny_views.known_labels)
    np.testing.assert_allclose(
        again.fused_graph_.toarray(), plain.fused_graph_.toarray(), atol=1e-4
    )
    assert model.fused_graph_.shape == (60, 60)


def test_sparse_and_dense_views_give_the_same(tiny_views, present):
    views = {name: np.maximum(view, 0) for name, view in tiny_views.views.items()}
    dense = MultiView(views, present=present)
    thin = MultiView({n: sparse.csr_array(v) for n, v in views.items()}, present=present)
    one = make(dropout=0.0, scaling="unit").fit(dense, tiny_views.known_labels)
    other = make(dropout=0.0, scaling="unit").fit(thin, tiny_views.known_labels)
    np.testing.assert_allclose(one.label_distributions_, other.label_distributions_, atol=1e-3)
    np.testing.assert_allclose(
        one.predict_proba(dense[:9]), other.predict_proba(thin[:9]), atol=1e-3
    )


def test_a_given_graph_may_lack_samples(tiny_views, rng):
    graph = np.abs(rng.normal(size=(60, 60))) * (rng.random((60, 60)) < 0.1)
    present = np.ones((60, 3), dtype=bool)
    present[5:15, 2] = False
    given = {**tiny_views.views, "links": graph}
    views = MultiView(given, graphs=["links"], present=present)
    model = make().fit(views, tiny_views.known_labels)
    links = model.view_graphs_[2].toarray()
    assert not links[5:15].any()
    assert not links[:, 5:15].any()
    garbage = graph.copy()
    garbage[5:15] = np.nan
    garbage[:, 5:15] = 7.0
    again = MultiView({**given, "links": garbage}, graphs=["links"], present=present)
    expected = make().fit(again, tiny_views.known_labels).label_distributions_
    np.testing.assert_array_equal(model.label_distributions_, expected)
    assert np.isfinite(model.predict_proba(again[:20])).all()


def literal_fused(inductive_state, n_neighbors, new):
    """Edges and loops of new samples, one at a time, over the views that both ends have."""
    rows, loops = [], []
    for i in range(len(new)):
        row, loop, own = np.zeros(50), 0.0, new.present[i]
        for v, (name, anchor) in enumerate(inductive_state.indexes.items()):
            if not own[v]:
                continue
            fitted = np.flatnonzero(anchor.degrees > 0)
            x = anchor.scaler(new[[i]][name])[0].astype(np.float64)
            points = anchor.features[fitted].astype(np.float64)
            nearest = fitted[np.argsort(-(points @ x))[:n_neighbors]]
            for j in nearest:
                both = [
                    u
                    for u, other in enumerate(inductive_state.indexes.values())
                    if own[u] and other.degrees[j] > 0
                ]
                weight = 1 / np.sqrt((len(nearest) + 1) * anchor.degrees[j])
                share = inductive_state.coefficients[v] / inductive_state.coefficients[both].sum()
                row[j] += share * weight
            share = inductive_state.coefficients[v] / inductive_state.coefficients[own].sum()
            loop += share / (len(nearest) + 1)
        rows.append(row)
        loops.append(loop)
    return np.array(rows), np.array(loops)


def test_new_samples_are_linked_in_the_views_they_have(tiny_views, incomplete):
    model = make(max_epochs=30, n_neighbors=4).fit(incomplete[:50], tiny_views.known_labels[:50])
    new = incomplete[50:]
    assert not new.present.all()
    links = model.inductive_state_.connect(new)
    edges, loops = model.inductive_state_._fuse(links.view_edges, links.view_degrees, new)
    expected = literal_fused(model.inductive_state_, 4, new)
    np.testing.assert_allclose(edges.toarray(), expected[0], atol=1e-6)
    np.testing.assert_allclose(loops, expected[1], atol=1e-6)
    assert (model.predict(new) == tiny_views.labels[50:]).mean() > 0.7


def test_new_samples_may_all_lack_a_view_that_the_fit_had(tiny_views, incomplete):
    model = make().fit(tiny_views.views, tiny_views.known_labels)
    only = MultiView(tiny_views.views, present={"shape": np.zeros(60, dtype=bool)})
    assert np.isfinite(model.predict_proba(only)).all()
    alone = model.predict_proba(only[[3]])
    np.testing.assert_allclose(alone, model.predict_proba(only)[[3]], atol=1e-6)


def test_views_may_come_in_another_order_at_predict(tiny_views, incomplete, present):
    model = make().fit(incomplete, tiny_views.known_labels)
    turned = {name: tiny_views.views[name] for name in ("color", "shape")}
    other = MultiView(turned, present=present[:, ::-1])
    np.testing.assert_allclose(
        model.predict_proba(other), model.predict_proba(incomplete), atol=1e-6
    )


def test_saved_models_know_who_lacked_what(tiny_views, incomplete, tmp_path):
    model = make(missing="impute").fit(incomplete, tiny_views.known_labels)
    model.save(tmp_path)
    again = MGCNDNSClassifier.load(tmp_path)
    expected = model.predict_proba(incomplete)
    np.testing.assert_array_equal(again.predict_proba(incomplete), expected)


def test_cross_validation_keeps_the_mask(tiny_views, incomplete):
    scores = cross_val_score(make(max_epochs=30), incomplete, tiny_views.labels, cv=3)
    assert scores.mean() > 0.8


def test_single_nans_are_refused_or_filled(tiny_views):
    views = {name: view.copy() for name, view in tiny_views.views.items()}
    views["shape"][7, 2] = np.nan
    with pytest.raises(InputError, match=r"view 'shape' holds NaN .* or fit with missing='impute'"):
        make().fit(views, tiny_views.known_labels)
    model = make(missing="impute").fit(views, tiny_views.known_labels)
    filled = views["shape"].copy()
    filled[7, 2] = np.nanmean(filled[:, 2])
    expected = make().fit({**views, "shape": filled}, tiny_views.known_labels)
    np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)
    new = {name: view[[7]] for name, view in views.items()}
    plain = {**new, "shape": filled[[7]]}
    np.testing.assert_array_equal(model.predict_proba(new), expected.predict_proba(plain))
    with pytest.raises(InputError, match="view 'shape' holds NaN"):
        expected.predict(new)
    with pytest.raises(InputError, match="missing must be one of 'error', 'impute'; got 'mean'"):
        make(missing="mean").fit(tiny_views.views, tiny_views.known_labels)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in TAKES_MISSING])
def test_other_methods_refuse_and_name_those_that_can(name, tiny_views, incomplete):
    with pytest.raises(InputError, match=r"needs every sample in every view, and 40 of 60") as told:
        make(name).fit(incomplete, tiny_views.known_labels)
    for able in TAKES_MISSING:
        assert able in str(told.value)


def test_a_view_that_nobody_has_is_refused(tiny_views):
    views = MultiView(tiny_views.views, present={"shape": np.zeros(60, dtype=bool)})
    with pytest.raises(InputError, match="view 'shape' is missing for all 60 samples"):
        make().fit(views, tiny_views.known_labels)


def test_a_view_that_no_labeled_sample_has_gives_a_warning(tiny_views):
    own = tiny_views.known_labels == -1
    views = MultiView(tiny_views.views, present={"shape": own})
    with pytest.warns(UserWarning, match="view 'shape' is missing for all labeled samples"):
        model = make(max_epochs=30).fit(views, tiny_views.known_labels)
    assert (model.transduction_ == tiny_views.labels).mean() > 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(views[:5])


def test_a_new_sample_without_any_view_is_refused_by_its_row(tiny_views, incomplete):
    model = make().fit(incomplete, tiny_views.known_labels)
    nothing = {name: np.full((2, view.shape[1]), np.nan) for name, view in incomplete.items()}
    nothing["shape"][0] = 1.0
    with pytest.raises(InputError, match=r"1 of 2 lack all .*, the first is row 1"):
        model.predict(nothing)


def test_a_view_of_one_sample_has_a_graph_of_its_loop(tiny_views):
    own = np.zeros(60, dtype=bool)
    own[tiny_views.known_labels.argmax()] = True
    model = make().fit(MultiView(tiny_views.views, present={"shape": own}), tiny_views.known_labels)
    assert model.view_graphs_[0].nnz == 1


def test_the_pass_run_again_gives_the_predictions_of_the_fit(tiny_views, incomplete):
    model = make().fit(incomplete, tiny_views.known_labels)
    again = softmax(model.explainer().replay.logits() / model.temperature_)
    np.testing.assert_allclose(again, model.label_distributions_, atol=1e-4)


def test_leaving_a_view_out_is_lacking_it(tiny_views, present):
    """Of everybody at once: the graph of the other view, with its own features alone."""
    model = make(node_selection=None, graph_learning=None)
    model.fit(MultiView(tiny_views.views, present=present), tiny_views.known_labels)
    explainer = model.explainer()
    inductive_state = model.inductive_state_
    features, factor = (
        inductive_state.indexes["color"].features,
        inductive_state.input_scaling.factors[1],
    )
    center = inductive_state.input_scaling.center[5:]
    scale = np.sqrt(2 / present.sum(axis=1))[:, None]
    hidden = scale * present[:, [1]] * (features * factor - center)
    graph = model.view_graphs_[1].toarray()
    hidden = np.maximum(graph @ hidden @ inductive_state.weights[0][5:], 0)
    expected = graph @ hidden @ inductive_state.weights[1]
    logits = explainer.replay.logits(left_out=0)
    np.testing.assert_allclose(logits[present[:, 1]], expected[present[:, 1]], atol=1e-4)
    alone = ~present[:, 1]
    np.testing.assert_allclose(logits[alone], explainer.replay.logits()[alone])


def test_reasons_of_a_sample_add_up_and_name_only_views_it_has(tiny_views, incomplete, present):
    model = make().fit(incomplete, tiny_views.known_labels)
    row = int(np.flatnonzero(~present[:, 0])[0])
    why = model.explain(row)
    parts = [why.itself, *why.neighbors]
    assert sum(part.margin for part in parts) == pytest.approx(why.margin)
    assert {view for part in parts for view in part.views} == {"color"}
    assert [one.view for one in model.view_effects()] == ["shape", "color"]


def test_cross_validation_over_labels_and_warm_starts_know_the_mask(tiny_views, incomplete):
    everybody = TransductiveViews(incomplete)
    assert everybody.checksum() != TransductiveViews(tiny_views.views).checksum()
    rows = np.flatnonzero(tiny_views.known_labels >= 0)
    model = make().fit(everybody[rows], tiny_views.labels[rows])
    expected = make().fit(incomplete, tiny_views.known_labels)
    np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)
    warm = make(warm_start=True).fit(incomplete, tiny_views.known_labels)
    warm.fit(incomplete, tiny_views.known_labels)
    with pytest.raises(InputError):
        warm.fit(tiny_views.views, tiny_views.known_labels)


@pytest.mark.parametrize("name", ["random-forest", "hist-gradient-boosting"])
def test_trees_that_ask_who_lacks_a_view_are_saved(name, rng, tmp_path):
    """scikit-learn's threshold between known and missing values is infinite."""
    labels = np.arange(60) % 2
    views = {"a": rng.normal(size=(60, 2)), "b": rng.normal(size=(60, 2))}
    incomplete = MultiView(views, present=np.column_stack([np.ones(60, dtype=bool), labels == 0]))
    model = make(name).fit(incomplete, labels)
    assert (model.transduction_ == labels).all()
    model.save(tmp_path)
    loaded = METHODS[name].load(tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(incomplete), model.predict_proba(incomplete))


def test_ranks_are_among_the_samples_that_have_the_view(tiny_views, incomplete, present, tmp_path):
    model = make(scaling="rank").fit(incomplete, tiny_views.known_labels)
    quantiles = model.inductive_state_.indexes["color"].scaler.quantiles
    own = np.sort(tiny_views.views["color"][present[:, 1]].astype(np.float32), axis=0)
    np.testing.assert_array_equal(quantiles, own)
    model.save(tmp_path)
    loaded = MGCNDNSClassifier.load(tmp_path)
    new = MultiView({name: 3 * view for name, view in tiny_views.views.items()}, present=present)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are unlike the fitted samples
        np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
