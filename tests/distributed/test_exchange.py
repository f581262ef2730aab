"""Exchanges against a literal loop over the processes, in one process."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview.distributed.blocks import Blocks, even_blocks
from manyview.distributed.exchange import ExchangePlan, exchange_rows, gather_rows, sum_over
from manyview.distributed.world import ALONE


@st.composite
def divided_rows(draw):
    """Blocks of some rows, some of them empty, and the rows that each process needs of others."""
    counts = draw(st.lists(st.integers(0, 4), min_size=2, max_size=4))
    blocks = Blocks((0, *np.cumsum(counts).tolist()))
    needed = []
    for rank in range(len(counts)):
        own = blocks.slice_of(rank)
        others = [row for row in range(blocks.n_total) if not own.start <= row < own.stop]
        needed.append(sorted(draw(st.sets(st.sampled_from(others)))) if others else [])
    return blocks, needed


@settings(max_examples=25)
@given(divided_rows(), st.integers(0, 2**31))
def test_received_rows_are_those_of_other_blocks_and_gradients_go_back(ranks, divided, seed):
    blocks, needed = divided
    rng = np.random.default_rng(seed)
    size, rows = len(needed), rng.normal(size=(blocks.n_total, 2))
    held = [
        sorted([*range(*blocks.slice_of(rank).indices(blocks.n_total)), *needed[rank]])
        for rank in range(size)
    ]
    weights = [rng.normal(size=(len(own), 2)) for own in held]
    gradient = np.zeros_like(rows)
    for own, factors in zip(held, weights, strict=True):
        for row, factor in zip(own, factors, strict=True):
            gradient[row] += 2 * factor * rows[row]
    results = ranks.run("complete", size, blocks.bounds, rows, needed, weights)
    for rank, (completed, own_gradient) in enumerate(results):
        assert np.array_equal(completed, rows[held[rank]].reshape(-1, 2))
        assert np.allclose(own_gradient, gradient[blocks.slice_of(rank)], atol=1e-12)


@pytest.mark.parametrize("bounds", [(0, 3, 5), (0, 0, 4, 5), (0, 2, 2, 2, 7)])
def test_joined_rows_get_the_gradients_of_all_processes(ranks, rng, bounds):
    size, blocks = len(bounds) - 1, Blocks(bounds)
    rows, weights = rng.normal(size=(bounds[-1], 3)), rng.normal(size=(size, bounds[-1], 1))
    gradient = 2 * rows * weights.sum(axis=0)
    results = ranks.run("join_with_gradient", size, bounds, rows, weights)
    for rank, (joined, own_gradient) in enumerate(results):
        assert np.array_equal(joined, rows)
        assert np.allclose(own_gradient, gradient[blocks.slice_of(rank)])


@pytest.mark.parametrize("size", [2, 3, 4])
def test_sums_and_held_parameters_get_the_gradients_of_all_processes(ranks, rng, size):
    values, weights = rng.normal(size=(2, size, 5))
    total = values.sum(axis=0)
    for own_total, own_gradient, held_gradient in ranks.run(
        "add_with_gradient", size, values, weights
    ):
        assert np.allclose(own_total, total)
        assert np.allclose(own_gradient, 6 * total * weights.sum(axis=0))
        assert np.allclose(held_gradient, (total**2 * weights).sum())


def test_nothing_is_exchanged_in_a_world_of_one():
    rows = torch.arange(4.0)
    plan = ExchangePlan.of(ALONE, even_blocks(4, 1), torch.tensor([], dtype=torch.long))
    assert (plan.n_needed, plan.n_below) == (0, 0)
    assert exchange_rows(plan, rows) is rows
    assert gather_rows(ALONE, even_blocks(4, 1), rows) is rows
    assert sum_over(ALONE, rows) is rows
