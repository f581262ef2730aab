"""Parts of a support: every process has the whole rows of its samples, and every edge an owner."""

import numpy as np
import pytest
from shared_problems import random_problem


@pytest.mark.parametrize("is_scattered", [False, True])
@pytest.mark.parametrize("is_reordered", [False, True])
@pytest.mark.parametrize("bounds", [(0, 9, 20), (0, 0, 6, 20), (0, 5, 11, 11, 20)])
def test_each_process_has_the_rows_of_its_samples_and_the_other_ends_of_their_edges(
    ranks, rng, bounds, is_reordered, is_scattered
):
    problem = random_problem(
        rng, bounds, missing=0.3, isolated=2, is_reordered=is_reordered, is_scattered=is_scattered
    )
    support = problem.inputs().support
    starts, columns = support.row_starts.numpy(), support.columns.numpy()
    ends = np.column_stack([support.upper_rows.numpy(), support.upper_columns.numpy()])
    order = np.arange(20) if support.order is None else support.order.numpy()
    owners = np.empty(20, dtype=int)
    for rank, part in enumerate(ranks.run("part_of_support", problem.n_ranks, problem)):
        own = part["places"]
        assert len(own) == np.diff(bounds)[rank]
        owners[own] = rank
        assert np.array_equal(part["samples"], order[own])
        ours = np.split(part["columns"], part["row_lengths"].cumsum()[:-1]) if len(own) else []
        for place, found in zip(own, ours, strict=True):
            assert np.array_equal(np.sort(found), columns[starts[place] : starts[place + 1]])
        assert set(part["known"]) == set(own) | set(part["columns"])
        edges = np.flatnonzero(np.isin(ends, own).any(axis=1))
        held = part["pairs"][: len(edges)]
        assert np.array_equal(np.sort(held), edges)
        of_part = np.column_stack([part["lower"], part["higher"]])
        assert np.array_equal(np.sort(of_part, axis=1), ends[held])
        assert np.array_equal(part["pairs"][len(edges) :], len(ends) + part["known"])
        assert np.array_equal(part["received_pairs"], held)  # from the process of the lower end
        assert np.array_equal(part["joined_pairs"], np.arange(len(ends)))
    expected = problem.partition()
    numbers = np.repeat(np.arange(problem.n_ranks), expected.blocks.counts)
    assert np.array_equal(owners[expected.places.numpy()], numbers)
