"""Label propagation over a graph, against dense inverses, literal loops and limits."""

import time

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from manyview import load_dataset
from manyview.data.labels import one_hot
from manyview.graphs import harmonic
from manyview.graphs.harmonic import harmonic_labels, regularized_labels
from manyview.graphs.knn_graph import knn_graph
from manyview.graphs.normalization import laplacian, normalized_laplacian

LAPLACIANS = pytest.mark.parametrize("laplacian_of", [laplacian, normalized_laplacian])
AS_MATRIX = pytest.mark.parametrize(
    "as_matrix", [sparse.csr_array, lambda matrix: matrix.toarray()], ids=["sparse", "dense"]
)


@pytest.fixture
def graph(rng):
    """60 samples, nonnegative weights, one component."""
    weights = np.triu(np.where(rng.random((60, 60)) < 0.15, rng.random((60, 60)), 0.0), 1)
    weights += np.diag(np.full(59, 0.1), 1)
    return sparse.csr_array(weights + weights.T)


@pytest.fixture
def y_encoded(rng):
    return np.where(rng.random(60) < 0.2, rng.integers(0, 3, size=60), -1)


def dense_harmonic(matrix, y_encoded, n_classes):
    """-inv(L_uu) L_ul Y_l as it is written."""
    labeled, unknown = np.flatnonzero(y_encoded >= 0), np.flatnonzero(y_encoded < 0)
    labels = np.zeros((len(y_encoded), n_classes))
    labels[labeled, y_encoded[labeled]] = 1
    inverse = np.linalg.inv(matrix[np.ix_(unknown, unknown)])
    labels[unknown] = -inverse @ matrix[np.ix_(unknown, labeled)] @ labels[labeled]
    return labels


def averaged_labels(weights, y_encoded, n_classes, n_rounds):
    """Replace unknown rows by the mean of their neighbors, again and again."""
    labels = np.array([[float(code == c) for c in range(n_classes)] for code in y_encoded])
    for _ in range(n_rounds):
        for i in np.flatnonzero(y_encoded < 0):
            labels[i] = weights[i] @ labels / weights[i].sum()
    return labels


def chain(n_samples):
    ones = np.ones(n_samples - 1)
    return sparse.csr_array(sparse.diags_array([ones, ones], offsets=[-1, 1]))


@LAPLACIANS
@AS_MATRIX
def test_harmonic_labels_equal_the_dense_inverse(graph, y_encoded, laplacian_of, as_matrix):
    matrix = laplacian_of(graph)
    found = harmonic_labels(as_matrix(matrix), y_encoded, 3)
    np.testing.assert_allclose(found, dense_harmonic(matrix.toarray(), y_encoded, 3), atol=1e-11)


def test_harmonic_labels_are_the_limit_of_averaging_neighbors(graph, y_encoded):
    expected = averaged_labels(graph.toarray(), y_encoded, 3, n_rounds=300)
    np.testing.assert_allclose(harmonic_labels(laplacian(graph), y_encoded, 3), expected, atol=1e-9)


@LAPLACIANS
def test_harmonic_labels_balance_every_unknown_row(graph, y_encoded, laplacian_of):
    matrix = laplacian_of(graph)
    found = harmonic_labels(matrix, y_encoded, 3)
    np.testing.assert_allclose((matrix @ found)[y_encoded < 0], 0, atol=1e-11)


@AS_MATRIX
def test_harmonic_labels_are_probabilities_that_sum_to_one(graph, y_encoded, as_matrix):
    found = harmonic_labels(as_matrix(laplacian(graph)), y_encoded, 3)
    assert found.min() > -1e-12
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-11)


def test_harmonic_labels_on_a_chain_are_a_straight_line():
    y_encoded = np.full(11, -1)
    y_encoded[[0, 10]] = 0, 1
    found = harmonic_labels(laplacian(chain(11)), y_encoded, 2)
    np.testing.assert_allclose(found[:, 1], np.linspace(0, 1, 11), atol=1e-12)


def test_known_labels_are_held_exactly(graph, y_encoded):
    found = harmonic_labels(normalized_laplacian(graph), y_encoded, 3)
    np.testing.assert_array_equal(found[y_encoded >= 0], np.eye(3)[y_encoded[y_encoded >= 0]])


@LAPLACIANS
@AS_MATRIX
def test_samples_no_label_reaches_get_exact_zeros(graph, y_encoded, laplacian_of, as_matrix):
    three = sparse.csr_array(sparse.block_diag([graph, chain(4), sparse.csr_array((1, 1))]))
    all_codes = np.append(y_encoded, np.full(5, -1))
    found = harmonic_labels(as_matrix(laplacian_of(three)), all_codes, 3)
    np.testing.assert_array_equal(found[60:], 0)
    alone = harmonic_labels(as_matrix(laplacian_of(graph)), y_encoded, 3)
    np.testing.assert_allclose(found[:60], alone, atol=1e-11)


def test_stored_zeros_are_no_path():
    matrix = sparse.csr_array(laplacian(chain(4)))
    matrix[1, 2] = matrix[2, 1] = 0.0
    matrix[1, 1] = matrix[2, 2] = 1.0
    assert matrix.nnz == 10
    found = harmonic_labels(matrix, np.array([0, -1, -1, -1]), 1)
    np.testing.assert_allclose(found.ravel(), [1, 1, 0, 0])
    assert matrix.nnz == 10  # the caller's matrix is left alone


def test_a_weak_link_carries_a_label_across():
    weights = chain(8).tolil()
    weights[3, 4] = weights[4, 3] = 1e-9
    y_encoded = np.array([0, -1, -1, -1, -1, -1, -1, -1])
    found = harmonic_labels(laplacian(sparse.csr_array(weights)), y_encoded, 1)
    np.testing.assert_allclose(found, 1, atol=1e-4)


def test_without_labels_all_is_zero_and_with_all_labels_nothing_changes(graph):
    matrix = laplacian(graph)
    np.testing.assert_array_equal(harmonic_labels(matrix, np.full(60, -1), 3), 0)
    y_encoded = np.arange(60) % 3
    np.testing.assert_array_equal(harmonic_labels(matrix, y_encoded, 3), np.eye(3)[y_encoded])


def test_a_class_without_labels_gets_zeros(graph, y_encoded):
    found = harmonic_labels(laplacian(graph), y_encoded, 5)
    np.testing.assert_array_equal(found[:, 3:], 0)


@LAPLACIANS
def test_harmonic_labels_follow_samples_when_they_are_renumbered(
    graph, y_encoded, rng, laplacian_of
):
    order = rng.permutation(60)
    before = harmonic_labels(laplacian_of(graph), y_encoded, 3)
    renumbered = sparse.csr_array(graph[order][:, order])
    after = harmonic_labels(laplacian_of(renumbered), y_encoded[order], 3)
    np.testing.assert_allclose(after, before[order], atol=1e-11)


def test_whole_number_and_float32_laplacians_are_solved_in_float64(y_encoded):
    matrix = laplacian(chain(60))
    expected = harmonic_labels(matrix, y_encoded, 3)
    for dtype in (np.int64, np.float32):
        found = harmonic_labels(sparse.csr_array(matrix.astype(dtype)), y_encoded, 3)
        np.testing.assert_allclose(found, expected, atol=1e-11)


def test_long_chains_fall_back_on_a_factorization():
    n_samples = 6000  # each iteration reaches one sample further
    y_encoded = np.full(n_samples, -1)
    y_encoded[[0, -1]] = 0, 1
    found = harmonic_labels(laplacian(chain(n_samples)), y_encoded, 2)
    np.testing.assert_allclose(found[:, 1], np.linspace(0, 1, n_samples), atol=1e-6)


def test_factorization_and_iterations_agree(graph, y_encoded, monkeypatch):
    iterated = harmonic_labels(laplacian(graph), y_encoded, 3)
    smoothed = regularized_labels(laplacian(graph), one_hot(y_encoded, 3))
    monkeypatch.setattr(harmonic, "MAX_ITERATIONS", 1)
    np.testing.assert_allclose(
        harmonic_labels(laplacian(graph), y_encoded, 3), iterated, atol=1e-11
    )
    factorized = regularized_labels(laplacian(graph), one_hot(y_encoded, 3))
    np.testing.assert_allclose(factorized, smoothed, atol=1e-11)


@pytest.mark.parametrize("weight", [1e-17, 1e-30, 1e-300])
@pytest.mark.parametrize("max_iterations", [2000, 1])
@AS_MATRIX
def test_a_link_lost_in_rounding_never_gives_nonsense(
    monkeypatch, weight, max_iterations, as_matrix
):
    monkeypatch.setattr(harmonic, "MAX_ITERATIONS", max_iterations)
    weights = chain(8).tolil()
    weights[3, 4] = weights[4, 3] = weight
    y_encoded = np.array([0, 1, -1, -1, -1, -1, -1, -1])
    found = harmonic_labels(as_matrix(laplacian(sparse.csr_array(weights))), y_encoded, 2)
    assert found.min() > -1e-6
    assert found.max() < 1 + 1e-6
    np.testing.assert_allclose(found[2:4], [[0, 1], [0, 1]], atol=1e-9)


def test_one_hot_rows_of_unknown_samples_are_zeros():
    np.testing.assert_array_equal(one_hot(np.array([2, -1, 0]), 3), [[0, 0, 1], [0] * 3, [1, 0, 0]])


@pytest.mark.parametrize(
    "as_regularizer",
    [sparse.csr_array, lambda matrix: matrix.toarray(), aslinearoperator],
    ids=["sparse", "dense", "operator"],
)
def test_regularized_labels_equal_the_dense_inverse(graph, y_encoded, as_regularizer):
    regularizer = 3.0 * laplacian(graph)
    labels = one_hot(y_encoded, 3)
    expected = np.linalg.inv(np.eye(60) + regularizer.toarray()) @ labels
    found = regularized_labels(as_regularizer(regularizer), labels)
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_regularized_labels_keep_their_total_and_stay_positive(graph, y_encoded):
    labels = one_hot(y_encoded, 3)
    found = regularized_labels(laplacian(graph), labels)
    np.testing.assert_allclose(found.sum(axis=0), labels.sum(axis=0))  # (I + L) 1 = 1
    assert found.min() > -1e-12
    assert found.max() < 1


def test_regularized_labels_at_the_ends_are_the_labels_and_their_mean(graph, y_encoded):
    labels = one_hot(y_encoded, 3)
    np.testing.assert_array_equal(regularized_labels(0 * laplacian(graph), labels), labels)
    flat = regularized_labels(1e9 * laplacian(graph), labels)
    np.testing.assert_allclose(flat, np.tile(labels.mean(axis=0), (60, 1)), atol=1e-6)


def test_regularized_labels_follow_samples_when_they_are_renumbered(graph, y_encoded, rng):
    order = rng.permutation(60)
    before = regularized_labels(laplacian(graph), one_hot(y_encoded, 3))
    renumbered = laplacian(sparse.csr_array(graph[order][:, order]))
    after = regularized_labels(renumbered, one_hot(y_encoded[order], 3))
    np.testing.assert_allclose(after, before[order], atol=1e-11)


def test_operator_that_does_not_converge_warns(graph, y_encoded, monkeypatch):
    monkeypatch.setattr(harmonic, "MAX_ITERATIONS", 2)
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 conjugate gradient"):
        regularized_labels(aslinearoperator(laplacian(graph)), one_hot(y_encoded, 3))


@pytest.mark.slow
@pytest.mark.data
@LAPLACIANS
def test_ten_thousand_samples_take_seconds(rng, laplacian_of):
    data = load_dataset("mnist-10k")
    features = np.asarray(data.views["isoprojection"])
    matrix = laplacian_of(knn_graph(features, n_neighbors=10, metric="euclidean"))
    digits = np.unique(data.labels, return_inverse=True)[1]
    y_encoded = np.where(rng.random(10_000) < 0.01, digits, -1)
    start = time.perf_counter()
    found = harmonic_labels(matrix, y_encoded, 10)
    assert time.perf_counter() - start < 10
    np.testing.assert_allclose((matrix @ found)[y_encoded < 0], 0, atol=1e-9)
    assert np.mean(found.argmax(axis=1)[y_encoded < 0] == digits[y_encoded < 0]) > 0.7
