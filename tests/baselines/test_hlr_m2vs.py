"""HLR-M2VS as a classifier."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines import hlr_m2vs
from manyview.baselines.amgl import auto_weighted_labels
from manyview.baselines.hlr_m2vs import HLRM2VSClassifier, affinity_graphs
from manyview.baselines.solvers.hlr import memory_needed, self_representations
from manyview.errors import InputError
from manyview.graphs.normalization import normalized_laplacian
from manyview.graphs.weighted_neighbors import probabilistic_neighbors
from manyview.system import memory
from manyview.system.cached_arrays import arrays_checksum
from manyview.system.config import config_context

SETTINGS = {"noise_weight": 0.2, "smoothness": 0.4, "max_iter": 22, "tol": 1e-5}


@pytest.fixture
def fitted(tiny_views):
    return HLRM2VSClassifier().fit(tiny_views.views, tiny_views.known_labels)


def fit_cached(cache_dir, views, labels, **parameters):
    with config_context(cache_dir=cache_dir):
        return HLRM2VSClassifier(**parameters).fit(views, labels)


def hidden_accuracy(model, tiny_views):
    hidden = tiny_views.known_labels == -1
    return np.mean(model.transduction_[hidden] == tiny_views.labels[hidden])


def test_planted_classes_are_found(fitted, tiny_views):
    assert hidden_accuracy(fitted, tiny_views) > 0.9
    np.testing.assert_allclose(fitted.label_distributions_.sum(axis=1), 1)
    assert fitted.view_weights_.sum() == pytest.approx(1)
    assert len(fitted.objective_) == len(fitted.residuals_) == fitted.n_iter_


def test_known_labels_stay(fitted, tiny_views):
    known = tiny_views.known_labels != -1
    np.testing.assert_array_equal(fitted.transduction_[known], tiny_views.known_labels[known])


def test_graphs_are_the_probabilistic_neighbors_of_the_affinities(rng):
    features = [rng.normal(size=(25, width)) for width in (4, 6)]
    graphs, _ = affinity_graphs(features, n_neighbors=5, **SETTINGS)
    affinities = self_representations(features, **SETTINGS).affinities
    for graph, affinity in zip(graphs, affinities, strict=True):
        expected = probabilistic_neighbors(affinity.T, n_neighbors=5)
        np.testing.assert_allclose(graph.toarray(), expected.toarray(), atol=1e-12)


def test_labels_are_those_of_amgl_on_the_graphs(fitted, tiny_views):
    propagated = auto_weighted_labels(
        [normalized_laplacian(graph) for graph in fitted.view_graphs_],
        tiny_views.known_labels,
        3,
        max_iter=20,
        tol=1e-6,
    )
    np.testing.assert_array_equal(fitted.transduction_, propagated.labels.argmax(axis=1))
    np.testing.assert_allclose(fitted.view_weights_, propagated.weights / propagated.weights.sum())


def test_result_follows_samples_when_they_are_renumbered(fitted, tiny_views):
    for order in (np.argsort(tiny_views.labels, kind="stable"), np.arange(60)[::-1]):
        again = HLRM2VSClassifier().fit(
            {name: view[order] for name, view in tiny_views.views.items()},
            tiny_views.known_labels[order],
        )
        np.testing.assert_allclose(
            again.label_distributions_, fitted.label_distributions_[order], atol=1e-6
        )
        for graph, before in zip(again.view_graphs_, fitted.view_graphs_, strict=True):
            expected = before.toarray()[np.ix_(order, order)]
            np.testing.assert_allclose(graph.toarray(), expected, atol=1e-6)


def test_sparse_views_give_the_same(tiny_views):
    views = {name: np.where(view > 1, view, 0.0) for name, view in tiny_views.views.items()}
    dense = HLRM2VSClassifier().fit(views, tiny_views.known_labels)
    as_sparse = {name: sparse.csr_array(view) for name, view in views.items()}
    again = HLRM2VSClassifier().fit(as_sparse, tiny_views.known_labels)
    np.testing.assert_allclose(again.label_distributions_, dense.label_distributions_, atol=1e-5)


@pytest.mark.parametrize("kind", [str, Path])
def test_cached_graphs_serve_other_labels(tiny_views, tmp_path, monkeypatch, kind):
    first = fit_cached(kind(tmp_path), tiny_views.views, tiny_views.known_labels)
    n_calls = []
    monkeypatch.setattr(hlr_m2vs, "self_representations", lambda *_, **__: n_calls.append(1))
    fewer = tiny_views.known_labels.copy()
    fewer[np.flatnonzero(fewer != -1)[::4]] = -1
    model = fit_cached(kind(tmp_path), tiny_views.views, fewer, random_state=5)
    assert not n_calls
    for graph, before in zip(model.view_graphs_, first.view_graphs_, strict=True):
        np.testing.assert_array_equal(graph.toarray(), before.toarray())
    assert model.objective_ == first.objective_
    np.testing.assert_array_equal(model.residuals_, first.residuals_)
    with pytest.raises(AttributeError):  # another parameter needs another computation
        fit_cached(tmp_path, tiny_views.views, fewer, smoothness=0.5)
    assert n_calls


def test_cached_fit_equals_one_without_a_cache(fitted, tiny_views, tmp_path):
    for _ in range(2):  # the second reads what the first wrote
        model = fit_cached(tmp_path, tiny_views.views, tiny_views.known_labels)
        np.testing.assert_array_equal(model.label_distributions_, fitted.label_distributions_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays | {"data-0": 2 * arrays["data-0"]}, "its checksum is wrong"),
        (lambda arrays: sign({n: a for n, a in arrays.items() if n != "data-1"}), "data-1"),
        (
            lambda arrays: sign(arrays | {"indices-0": arrays["indices-0"] + 10**6}),
            "indices must be",
        ),
        (lambda arrays: sign(arrays | {"indptr-1": arrays["indptr-1"][::-1]}), "index pointer"),
        (lambda arrays: sign(arrays | {"data-0": arrays["data-0"] * np.nan}), "not finite"),
        (lambda arrays: sign(arrays | {"residuals": np.zeros((2, 3))}), "unpack"),
        (lambda arrays: arrays | {"objective": np.array([Bomb()])}, "allow_pickle"),
    ],
)
def test_cached_file_that_was_changed_is_computed_again(
    fitted, tiny_views, tmp_path, change, message
):
    fit_cached(tmp_path, tiny_views.views, tiny_views.known_labels)
    (file,) = tmp_path.iterdir()
    np.savez(file, **change(dict(np.load(file).items())))
    with pytest.warns(UserWarning, match=rf"affinities in .* cannot be read \(.*{message}"):
        model = fit_cached(tmp_path, tiny_views.views, tiny_views.known_labels)
    np.testing.assert_array_equal(model.label_distributions_, fitted.label_distributions_)
    again = fit_cached(tmp_path, tiny_views.views, tiny_views.known_labels)  # was replaced
    np.testing.assert_array_equal(again.label_distributions_, fitted.label_distributions_)


class Bomb:
    """Stops the test when it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("a cached file was unpickled",)


def sign(arrays):
    """Give changed arrays the checksum that fits."""
    arrays = {name: array for name, array in arrays.items() if name != "checksum"}
    return arrays | {"checksum": np.array(arrays_checksum(arrays))}


def test_fit_without_a_cache_writes_nothing(tiny_views, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fit_cached(None, tiny_views.views, tiny_views.known_labels)
    assert not list(tmp_path.iterdir())


def test_learned_attributes_hold_no_dense_square_array(fitted):
    for value in vars(fitted).values():
        assert not (isinstance(value, np.ndarray) and value.shape == (60, 60))


def test_work_that_does_not_fit_is_refused_before_it_starts(rng):
    views = [rng.normal(size=(10_000, width)).astype(np.float32) for width in (30, 9, 9)]
    labels = np.where(np.arange(10_000) < 50, np.arange(10_000) % 2, -1)
    with (
        config_context(max_memory=12.0),
        pytest.raises(InputError, match=r"HLR-M2VS on 10,000 samples in 3 views needs about 13"),
    ):
        HLRM2VSClassifier().fit(views, labels)


def test_auto_memory_is_half_of_what_is_free(tiny_views, monkeypatch):
    needed = memory_needed(60, [5, 8])
    monkeypatch.setattr(memory, "free_memory", lambda: 1.9 * needed)
    with pytest.raises(InputError, match="raise max_memory"):
        HLRM2VSClassifier().fit(tiny_views.views, tiny_views.known_labels)
    with config_context(max_memory=1):
        HLRM2VSClassifier().fit(tiny_views.views, tiny_views.known_labels)
    monkeypatch.setattr(memory, "free_memory", lambda: 2.1 * needed)
    HLRM2VSClassifier().fit(tiny_views.views, tiny_views.known_labels)


def test_progress_goes_to_the_error_stream(tiny_views, capsys):
    HLRM2VSClassifier(verbose=True, max_iter=2).fit(tiny_views.views, tiny_views.known_labels)
    assert capsys.readouterr().out == ""


def test_odd_inputs_are_labeled(rng):
    labels = np.array(["a", "b", *[None] * 10], dtype=object)
    copies = np.repeat(rng.normal(size=(4, 3)), 3, axis=0)
    for views in ([copies], [copies, np.ones((12, 2))], [copies, copies], [rng.random((12, 1))]):
        model = HLRM2VSClassifier(n_neighbors=3).fit(views, labels)
        assert set(model.transduction_) <= {"a", "b"}
    everything = np.repeat(["a", "b"], 6)
    model = HLRM2VSClassifier(n_neighbors=3).fit([copies], everything)
    np.testing.assert_array_equal(model.transduction_, everything)
