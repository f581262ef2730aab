"""Parts of a support: every process has the whole rows of its samples, and every edge an owner."""

import numpy as np
import pytest
from shared_problems import random_problem

from manyview.graphs.sharding import edge_blocks


@pytest.mark.parametrize("is_reordered", [False, True])
@pytest.mark.parametrize("bounds", [(0, 9, 20), (0, 0, 6, 20), (0, 5, 11, 11, 20)])
def test_each_process_has_the_rows_of_its_block_and_the_other_ends_of_their_edges(
    ranks, rng, bounds, is_reordered
):
    problem = random_problem(rng, bounds, missing=0.3, isolated=2, is_reordered=is_reordered)
    support = problem.inputs().support
    starts, columns = support.row_starts.numpy(), support.columns.numpy()
    lower, higher = support.upper_rows.numpy(), support.upper_columns.numpy()
    order = np.arange(20) if support.order is None else support.order.numpy()
    samples = []
    for rank, part in enumerate(ranks.run("part_of_support", problem.n_ranks, problem)):
        start, stop = bounds[rank : rank + 2]
        rows = columns[starts[start] : starts[stop]]
        assert np.array_equal(part["columns"], rows)
        assert np.array_equal(part["row_lengths"], np.diff(starts[start : stop + 1]))
        assert np.array_equal(part["nodes"], np.union1d(rows, np.arange(start, stop)))
        block = range(start, stop)
        edges = np.flatnonzero(np.isin(lower, block) | np.isin(higher, block))
        assert np.array_equal(part["lower"], lower[edges])
        assert np.array_equal(part["higher"], higher[edges])
        assert np.array_equal(part["pairs"][: len(edges)], edges)
        assert np.array_equal(part["pairs"][len(edges) :], len(lower) + part["nodes"])
        assert np.array_equal(part["received_pairs"], edges)  # from the process of the lower end
        samples.append(part["samples"])
    assert np.array_equal(np.concatenate(samples), order)


def test_blocks_have_nearly_the_same_number_of_edges(rng):
    support = random_problem(rng, (0, 60), density=0.1).inputs().support
    blocks = edge_blocks(support, 3)
    lengths = support.row_starts.diff().numpy()
    sums = [lengths[blocks.slice_of(rank)].sum() for rank in range(3)]
    assert max(sums) - min(sums) <= 2 * lengths.max()
