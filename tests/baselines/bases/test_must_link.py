"""Must-links, label smoothing that stays precise far from labels, and the methods on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from manyview.baselines.bases.must_link import (
    check_must_link_memory,
    heat_kernel_graphs,
    must_link_graph,
    precise_smoothed_labels,
)
from manyview.baselines.dsrl import DSRLClassifier
from manyview.baselines.erl_mvsc import ERLMVSCClassifier
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.graphs.harmonic import regularized_labels
from manyview.graphs.normalization import laplacian
from manyview.graphs.weighted_neighbors import heat_kernel_graph
from manyview.system.config import config_context


def chain(n_samples, weight):
    return sparse.csr_array(weight * (np.eye(n_samples, k=1) + np.eye(n_samples, k=-1)))


def test_links_equal_a_loop_over_pairs(rng):
    y_encoded = rng.integers(-1, 3, size=25)
    links = must_link_graph(y_encoded).toarray()
    for i in range(25):
        for j in range(25):
            assert links[i, j] == (y_encoded[i] >= 0 and y_encoded[i] == y_encoded[j])


def test_links_take_a_class_with_a_single_label():
    assert_array_equal(must_link_graph(np.array([-1, 1, 0, -1])).toarray().diagonal(), [0, 1, 1, 0])


def test_too_many_links_are_refused_before_they_are_made():
    y_encoded = np.repeat([0, 1], 50_000)
    with (
        config_context(max_memory=1.0),
        pytest.raises(InputError, match=r"5,000,000,000 links .* needs about .* raise max_memory"),
    ):
        check_must_link_memory(y_encoded, 4, "DSRL")


def test_every_view_gets_its_graph_and_a_given_graph_stays(rng):
    features, given = rng.normal(size=(8, 3)), chain(8, 0.5)
    views = MultiView({"shape": features, "friends": given}, graphs="friends")
    built, taken = heat_kernel_graphs(views, scaling="none", n_neighbors=3, seed=0)
    expected = heat_kernel_graph(features.astype(np.float32), n_neighbors=3, seed=0)
    assert_array_equal(built.toarray(), expected.toarray())
    assert_array_equal(taken.toarray(), given.toarray())


def test_more_neighbors_than_samples_link_all(rng):
    views = MultiView(rng.normal(size=(6, 3)))
    (graph,) = heat_kernel_graphs(views, scaling="none", n_neighbors=20, seed=0)
    assert graph.nnz == 6 * 5


def test_far_labels_equal_a_dense_solution_in_every_entry(rng):
    graph = sparse.csr_array(sparse.random_array((40, 40), density=0.1, rng=rng))
    roughness = laplacian(sparse.csr_array(graph + graph.T))
    known = np.zeros((40, 2))
    known[[0, 1], [0, 1]] = 1.0
    far = precise_smoothed_labels(roughness, roughness.diagonal(), known)
    dense = np.linalg.solve(np.eye(40) + roughness.toarray(), known)
    assert_allclose(far, dense, rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("weight", [1e-3, 1.0])
def test_labels_pass_down_a_long_chain_as_its_closed_form_says(weight):
    roughness = laplacian(chain(60, weight))
    known = np.zeros((60, 1))
    known[0] = 1.0
    far = precise_smoothed_labels(roughness, roughness.diagonal(), known)[:, 0]
    # Inside: weight f_{i-1} - (1 + 2 weight) f_i + weight f_{i+1} = 0
    root = (1 + 2 * weight - np.sqrt(1 + 4 * weight)) / (2 * weight)
    assert_allclose(far[10:40] / far[9:39], root, rtol=1e-4)


def test_conjugate_gradients_alone_would_lose_the_far_end():
    roughness = laplacian(chain(60, 1e-3))
    known = np.zeros((60, 1))
    known[0] = 1.0
    assert regularized_labels(roughness, known)[40, 0] == 0
    assert precise_smoothed_labels(roughness, roughness.diagonal(), known)[40, 0] > 0


def test_unlinked_samples_stay_exactly_zero():
    graph = sparse.csr_array(sparse.block_diag([chain(5, 0.3), chain(4, 0.3)]))
    roughness = laplacian(graph)
    known = np.zeros((9, 2))
    known[[0, 4], [0, 1]] = 1.0
    assert_array_equal(precise_smoothed_labels(roughness, roughness.diagonal(), known)[5:], 0.0)


must_link_methods = pytest.mark.parametrize(
    "model",
    [DSRLClassifier(), ERLMVSCClassifier(), ERLMVSCClassifier(as_released=True)],
    ids=["dsrl", "erl-mvsc", "erl-mvsc as released"],
)


@must_link_methods
def test_a_given_graph_is_a_view(rng, model):
    truth = np.repeat([0, 1], 15)
    friends = np.equal.outer(truth, truth) * (rng.random((30, 30)) < 0.4)
    views = MultiView({"friends": friends.astype(float)}, graphs="friends")
    model = clone(model).fit(views, np.where(np.arange(30) % 15 < 3, truth, -1))
    assert_array_equal(model.transduction_, truth)


@must_link_methods
@pytest.mark.parametrize(
    "labels",
    [[0, 1, -1, -1, -1, -1], [0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5]],
    ids=["one label per class", "all labeled", "every sample a class"],
)
def test_smallest_data_are_labeled(rng, model, labels):
    views = [rng.normal(size=(6, 3)), np.ones((6, 2))]
    model = clone(model).fit(views, labels)
    assert_allclose(model.label_distributions_.sum(axis=1), 1.0)
    known = np.array(labels) >= 0
    assert_array_equal(model.transduction_[known], np.array(labels)[known])
