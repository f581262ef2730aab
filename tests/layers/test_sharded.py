"""Layers on a divided support against the same layers on the whole one, with their gradients."""

import numpy as np
import pytest
import rank_tasks
from shared_problems import random_problem

from manyview.distributed.world import ALONE


@pytest.mark.parametrize("is_reordered", [False, True])
@pytest.mark.parametrize("bounds", [(0, 10, 18), (0, 4, 4, 18), (0, 3, 9, 15, 18)])
def test_values_and_gradients_of_all_processes_are_those_of_one(ranks, rng, bounds, is_reordered):
    problem = random_problem(rng, bounds, is_reordered=is_reordered)
    n_pairs = problem.inputs().support.n_pairs
    given = rng.random(n_pairs), *rng.normal(size=(2, 18, 3))
    whole = rank_tasks.run_layers(ALONE, problem, *given)
    parts = ranks.run("run_layers", problem.n_ranks, problem, *given)
    for_graph = np.zeros(n_pairs)
    for part in parts:
        rows = part["samples"]
        assert np.allclose(part["product"], whole["product"][rows])
        assert np.allclose(part["for_hidden"], whole["for_hidden"][rows])
        assert np.allclose(part["confidence"], whole["confidence"])
        for_graph[part["pairs"]] += part["for_graph"]
    # What several processes hold gets a part of its gradient in each of them.
    assert np.allclose(for_graph, whole["for_graph"])
    assert np.allclose(sum(part["for_threshold"] for part in parts), whole["for_threshold"])
