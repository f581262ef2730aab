import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from manyview.distributed.blocks import Blocks, balanced_blocks, even_blocks


@given(st.integers(0, 50), st.integers(1, 8))
def test_even_blocks_cover_all_numbers_and_differ_by_at_most_one(n_total, n_blocks):
    counts = even_blocks(n_total, n_blocks).counts
    assert len(counts) == n_blocks
    assert sum(counts) == n_total
    assert max(counts) - min(counts) <= 1


@given(st.integers(0, 50), st.integers(1, 5), st.integers(1, 9))
def test_even_blocks_end_at_multiples_of_a_number(n_total, n_blocks, multiple_of):
    blocks = even_blocks(n_total, n_blocks, multiple_of)
    assert sum(blocks.counts) == n_total
    assert all(bound % multiple_of == 0 or bound == n_total for bound in blocks.bounds)
    assert max(blocks.counts) - min(blocks.counts) < 2 * multiple_of


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(1, 6))
def test_balanced_blocks_cover_all_things_and_differ_by_at_most_one_of_them(costs, n_blocks):
    blocks = balanced_blocks(costs, n_blocks)
    assert blocks.bounds[0] == 0
    assert blocks.bounds[-1] == blocks.n_total == len(costs)
    assert list(blocks.bounds) == sorted(blocks.bounds)
    by_block = [sum(costs[blocks.slice_of(rank)]) for rank in range(n_blocks)]
    mean, largest = sum(costs) / n_blocks, max(costs, default=0)
    assert all(abs(cost - mean) <= largest + 1e-9 for cost in by_block)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_every_number_belongs_to_the_block_that_contains_it(counts):
    blocks = Blocks((0, *np.cumsum(counts).tolist()))
    owners = np.repeat(np.arange(len(counts)), counts)
    assert blocks.counts == counts
    assert np.array_equal(blocks.owners(torch.arange(sum(counts))).numpy(), owners)


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_no_things_make_empty_blocks(n_blocks):
    assert balanced_blocks([], n_blocks).counts == [0] * n_blocks
