"""Propagation equals literal powers of the graph, computed by features or by rows."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.graphs.normalization import renormalize
from manyview.graphs.support import GraphSupport
from manyview.layers import propagation
from manyview.layers.propagation import diffuse, diffuse_rows, power_sum
from manyview.layers.sparse_product import csr_tensor

with warnings.catch_warnings():  # its import calls what torch has deprecated
    warnings.simplefilter("ignore")
    from torch_geometric.nn import SSGConv
    from torch_geometric.utils import from_scipy_sparse_matrix

N_NODES, N_INPUTS = 12, 5
SETTINGS = {"n_steps": 4, "alpha": 0.2}


@pytest.fixture
def graph(rng):
    weights = np.triu(rng.random((N_NODES, N_NODES)) * (rng.random((N_NODES, N_NODES)) < 0.3), 1)
    return sparse.csr_array(weights + weights.T)


@pytest.fixture
def on_support(graph):
    support = GraphSupport.from_graphs([graph])
    return support, support.weights_of(renormalize(graph))


@pytest.fixture
def features(rng):
    values = rng.normal(size=(N_NODES, N_INPUTS)) * (rng.random((N_NODES, N_INPUTS)) < 0.6)
    return torch.from_numpy(values)


def as_csr(features):
    matrix = sparse.csr_array(features.numpy())
    parts = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)
    return csr_tensor(*(torch.from_numpy(part) for part in parts), matrix.shape)


def literal_operator(dense, n_steps, alpha):
    """P = alpha I + (1 - alpha)/K sum_{k=1..K} T^k, densely."""
    powers = [np.linalg.matrix_power(dense, k) for k in range(1, n_steps + 1)]
    return alpha * np.eye(len(dense)) + (1 - alpha) / n_steps * sum(powers)


def test_diffuse_equals_pyg(graph, on_support, features):
    edges, weights = from_scipy_sparse_matrix(graph)
    convolution = SSGConv(N_INPUTS, N_INPUTS, alpha=0.2, K=4, bias=False).double()
    convolution.lin.weight.data = torch.eye(N_INPUTS, dtype=torch.float64)
    expected = convolution(features, edges, weights)
    torch.testing.assert_close(diffuse(*on_support, features, **SETTINGS), expected)


def test_diffuse_equals_the_dense_powers(graph, on_support, features):
    operator = literal_operator(renormalize(graph).toarray(), **SETTINGS)
    np.testing.assert_allclose(
        diffuse(*on_support, features, **SETTINGS), operator @ features.numpy()
    )


def test_power_sum_starts_with_the_signal_itself(graph, on_support, features):
    dense = renormalize(graph).toarray()
    expected = sum(np.linalg.matrix_power(dense, k) for k in range(4)) @ features.numpy()
    np.testing.assert_allclose(power_sum(*on_support, features, 4), expected)
    torch.testing.assert_close(power_sum(*on_support, features, 1), features)


@pytest.mark.parametrize("block_columns", [2, 512])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("is_centered", [False, True])
@pytest.mark.parametrize("rows", [[7], [3, 0, 9], [1, 2, 4, 8, 10, 11], list(range(12))])
def test_rows_are_the_same_by_features_and_by_rows(
    on_support, features, rows, is_centered, is_sparse, block_columns, monkeypatch
):
    """Up to 4 rows, P is computed on the rows; from 5 on, the 5 features are diffused."""
    monkeypatch.setattr(propagation, "BLOCK_COLUMNS", block_columns)
    rows = torch.tensor(rows)
    center = features.mean(dim=0) if is_centered else None
    expected = diffuse(*on_support, features - (0 if center is None else center), **SETTINGS)[rows]
    given = as_csr(features) if is_sparse else features
    torch.testing.assert_close(diffuse_rows(*on_support, given, center, rows, **SETTINGS), expected)


def test_wide_sparse_features_never_become_dense(on_support, features, monkeypatch):
    def refuse(*_):
        raise AssertionError("made dense")

    given = as_csr(features)
    monkeypatch.setattr(torch.Tensor, "to_dense", refuse)
    diffuse_rows(*on_support, given, features.mean(dim=0), torch.tensor([0, 1]), **SETTINGS)
    with pytest.raises(AssertionError, match="made dense"):
        diffuse_rows(*on_support, given, None, torch.arange(12), **SETTINGS)


@pytest.mark.parametrize("n_ranks", [2, 4])
@pytest.mark.parametrize("n_features", [3, 6])  # of four processes, one has none
def test_processes_that_share_the_features_diffuse_as_one(ranks, graph, rng, n_ranks, n_features):
    features, rows = rng.normal(size=(12, n_features)), np.array([1, 2, 4, 7, 8, 10])
    task = renormalize(graph), features, features.mean(axis=0), rows
    (alone,) = ranks.run("diffuse_shared", 1, *task)
    for shared in ranks.run("diffuse_shared", n_ranks, *task):
        np.testing.assert_allclose(shared, alone, rtol=1e-14)
