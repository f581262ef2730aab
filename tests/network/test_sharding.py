"""Trainings that several processes share against the same training in one process."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from shared_problems import random_problem, solve

from manyview.distributed.world import ALONE
from manyview.layers.sparse_product import csr_tensor
from manyview.network.sharding import take_rows

TOLERANCE = 1e-5  # of the logits; what the design asks for. In fact they differ by rounding.


def assert_shared_training_equals_one_process(ranks, problem):
    alone = solve(problem, ALONE)
    for shared in ranks.run("solve_shared", problem.n_ranks, problem):
        assert np.abs(shared.logits - alone.logits).max() < TOLERANCE
        assert np.allclose(shared.loss, alone.loss, atol=1e-7)
        assert np.allclose(shared.accuracy, alone.accuracy)
        for name, values in alone.weights.items():
            assert np.abs(shared.weights[name] - values).max(initial=0) < TOLERANCE, name


@pytest.mark.parametrize(
    ("graph_learning", "bounds"),
    [
        ("edge", (0, 12, 24)),
        ("edge", (0, 7, 7, 12, 24)),
        ("low-rank", (0, 5, 16, 24)),
        ("low-rank", (0, 3, 12, 20, 24)),
        ("full", (0, 5, 16, 24)),
        (None, (0, 12, 24)),
    ],
)
def test_shared_training_equals_one_process_with_every_graph_learning(
    ranks, rng, graph_learning, bounds
):
    network = {"graph_learning": graph_learning}
    assert_shared_training_equals_one_process(ranks, random_problem(rng, bounds, network=network))


@pytest.mark.parametrize(
    ("changes", "is_reordered"),
    [
        ({"node_selection": "top-k"}, False),
        ({"node_selection": None}, True),
        ({"rank_axis": "as-printed"}, True),
        ({"ranking": "fast"}, False),
        ({"initial_threshold": 0.999}, True),  # near all confidences: the limit of Eq. (16)
        ({"n_layers": 1}, False),
        ({"n_layers": 3}, True),
        ({"dropout": 0.0}, False),
    ],
    ids=str,
)
def test_shared_training_equals_one_process_with_every_form_of_the_network(
    ranks, rng, changes, is_reordered
):
    problem = random_problem(
        rng,
        (0, 9, 17, 30),
        network=changes,
        is_reordered=is_reordered,
        is_scattered=not is_reordered,
        missing=0.2,
    )
    assert_shared_training_equals_one_process(ranks, problem)


@pytest.mark.parametrize(
    ("center", "is_sparse", "is_fixed"),
    [
        (None, True, False),
        ("columns", False, False),
        ("columns", False, True),
        ("rows", False, True),
        ("rows", True, False),
        ("rows", True, True),
    ],
)
def test_shared_training_equals_one_process_with_every_input(
    ranks, rng, center, is_sparse, is_fixed
):
    problem = random_problem(
        rng,
        (0, 8, 20),
        center=center,
        is_sparse=is_sparse,
        is_fixed=is_fixed,
        is_reordered=True,
        is_scattered=True,
        n_epochs=6,
    )
    assert_shared_training_equals_one_process(ranks, problem)


@pytest.mark.parametrize("is_fixed", [False, True])
def test_shared_training_equals_one_process_on_pseudo_labels_and_class_weights(
    ranks, rng, is_fixed
):
    targets = rng.dirichlet(np.ones(3), size=22)
    problem = replace(
        random_problem(rng, (0, 6, 6, 22), is_fixed=is_fixed),
        soft_targets=(targets, rng.random(22)),
        class_weight=np.array([0.5, 1.0, 2.0]),
    )
    assert_shared_training_equals_one_process(ranks, problem)


@settings(max_examples=10)
@given(
    counts=st.lists(st.integers(0, 8), min_size=2, max_size=4).filter(lambda c: sum(c) > 3),
    seed=st.integers(0, 2**31),
    density=st.sampled_from([0.0, 0.1, 0.4]),
    missing=st.sampled_from([0.0, 0.4]),
    n_labeled=st.integers(1, 6),
    isolated=st.integers(0, 3),
    graph_learning=st.sampled_from(["edge", "low-rank"]),
    is_scattered=st.booleans(),
)
def test_shared_training_equals_one_process_on_random_graphs(
    ranks, counts, seed, density, missing, n_labeled, isolated, graph_learning, is_scattered
):
    problem = random_problem(
        np.random.default_rng(seed),
        (0, *np.cumsum(counts).tolist()),
        density=density,
        missing=missing,
        n_labeled=n_labeled,
        isolated=isolated,
        network={"graph_learning": graph_learning},
        is_scattered=is_scattered,
    )
    assert_shared_training_equals_one_process(ranks, problem)


def test_a_process_without_labels_learns_from_those_of_others(ranks, rng):
    problem = random_problem(rng, (0, 10, 20))
    labels = np.full(20, -1)
    labels[:6] = [0, 1, 2, 0, 1, 2]
    assert_shared_training_equals_one_process(ranks, replace(problem, labels=labels))


def test_rows_of_sparse_and_dense_matrices_are_selected_in_any_order(rng):
    matrix = rng.normal(size=(5, 4)) * (rng.random((5, 4)) < 0.5)
    rows = torch.tensor([3, 0, 0, 4])
    dense = torch.from_numpy(matrix)
    stored = sparse.csr_array(matrix)
    starts, columns = (
        torch.from_numpy(part.astype(np.int64)) for part in (stored.indptr, stored.indices)
    )
    in_csr = csr_tensor(starts, columns, torch.from_numpy(stored.data), stored.shape)
    assert np.array_equal(take_rows(dense, rows).numpy(), matrix[rows.numpy()])
    assert np.array_equal(take_rows(in_csr, rows).to_dense().numpy(), matrix[rows.numpy()])
