"""Blocks of positions and their interpolation points."""

import pytest
import torch

from manyview.layers.ranking.block_pairs import PairLogits
from manyview.layers.ranking.block_points import ScorePoints, in_units, point_weights, rank_points
from manyview.layers.ranking.chebyshev import N_POINTS
from manyview.layers.ranking.rank_blocks import NEGLIGIBLE, RankBlocks
from manyview.layers.ranking.sorted_scores import SortedScores


def blocks_of(scores, temperature=1.0, **options):
    return RankBlocks(SortedScores(scores.double(), temperature), **options)


@pytest.fixture
def blocks(generator):
    """Smooth blocks and, round a jump, single units."""
    scores = torch.rand(1000, generator=generator)
    blocks = blocks_of(torch.cat([scores, 5 + 0.01 * scores]))
    assert blocks.is_smooth.any()
    assert not blocks.is_smooth.all()
    return blocks


def assert_covers_all(blocks):
    n_positions = blocks.lasts - blocks.starts + 1
    assert n_positions.sum() == blocks.ranked.n_nodes
    assert (blocks.starts[1:] == blocks.lasts[:-1] + 1).all()
    assert blocks.of_unit.tolist() == [
        block
        for block, (start, last) in enumerate(
            zip(blocks.starts.tolist(), blocks.lasts.tolist(), strict=True)
        )
        for _ in range(start // N_POINTS, last // N_POINTS + 1)
    ]


@pytest.mark.parametrize("n_nodes", [1, 2, 15, 16, 17, 33, 100, 1000, 2049])
@pytest.mark.parametrize("temperature", [1e-3, 1.0, 1e3])
def test_blocks_cover_every_position_once(generator, n_nodes, temperature):
    assert_covers_all(blocks_of(torch.rand(n_nodes, generator=generator), temperature))


def test_equal_scores_are_one_block():
    assert len(blocks_of(torch.full((5000,), 0.3)).starts) == 1


def test_narrow_rows_are_computed_one_by_one(generator):
    assert not blocks_of(torch.rand(500, generator=generator), 1e-4).is_smooth.any()


def test_blocks_hold_every_node_their_rows_reach(blocks):
    ranked, nodes = blocks.ranked, torch.arange(blocks.ranked.n_nodes)
    first = blocks.starts[blocks.first_reached]
    last = blocks.lasts[blocks.past_reached - 1]
    for block, (start, stop) in enumerate(zip(blocks.starts, blocks.lasts + 1, strict=True)):
        for row in range(int(start), int(stop), 5):
            near = nodes[ranked.fall(torch.tensor(row), nodes) <= NEGLIGIBLE]
            assert first[block] <= near.min()
            assert near.max() <= last[block]


def test_halving_cuts_the_chosen_blocks_in_two(blocks):
    before, n_units = blocks.sizes.clone(), blocks.n_units
    chosen = torch.arange(len(before)) % 2 == 0
    n_cut = int((chosen & (before > 1)).sum())
    blocks.halve(chosen)
    assert len(blocks.sizes) in (len(before) + n_cut, len(before) + n_cut - 1)  # past the end
    assert blocks.n_units == n_units
    assert_covers_all(blocks)
    for _ in range(12):
        blocks.halve(torch.ones_like(blocks.is_smooth))
    assert len(blocks.sizes) == n_units


def test_rank_points_sum_polynomials_as_all_ranks_do(blocks, generator):
    n_nodes = blocks.ranked.n_nodes
    by_rank = torch.rand(n_nodes, generator=generator, dtype=torch.float64)
    ranks, weights = rank_points(blocks), point_weights(blocks, by_rank)
    for block, (start, last) in enumerate(zip(blocks.starts, blocks.lasts, strict=True)):
        own = torch.arange(int(start), int(last) + 1)
        length = 16.0 * blocks.sizes[block]
        for degree in (0, 1, 3, 15):
            expected = (by_rank[own] * ((own - start) / length) ** degree).sum()
            found = (weights[block] * ((ranks[block] - start) / length) ** degree).sum()
            torch.testing.assert_close(found, expected)


def test_score_points_sum_and_interpolate_polynomials_exactly(blocks, generator):
    nodes, ranked = ScorePoints(blocks), blocks.ranked
    of_node = blocks.of_unit.repeat_interleave(N_POINTS)[: ranked.n_nodes]
    local = ranked.scores - ranked.scores[nodes.middles[of_node]]
    by_node = torch.rand(ranked.n_nodes, generator=generator, dtype=torch.float64)
    collected = nodes.collect(in_units(by_node, blocks.n_units)[:, None])[:, 0]
    for degree in (0, 1, 5):
        at_nodes, at_points = local**degree, nodes.scores**degree
        expected = torch.zeros(len(blocks.starts)).double()
        expected.index_add_(0, of_node, by_node * at_nodes)
        torch.testing.assert_close((collected * at_points).sum(dim=1), expected)
        interpolated = nodes.interpolate(at_points[:, None]).flatten()[: ranked.n_nodes]
        torch.testing.assert_close(interpolated, at_nodes)


def test_logits_of_single_units_are_those_of_the_equation(generator):
    """Differences within a row count; its level is free."""
    blocks = blocks_of(torch.rand(300, generator=generator), 1e-3)
    ranked, nodes = blocks.ranked, ScorePoints(blocks)
    rows = PairLogits(blocks, nodes)
    (pairs,) = rows.pairs()
    assert len(pairs.rows) == pairs.n_single > len(blocks.starts)
    assert rows.count() == len(pairs.rows) * N_POINTS**2
    positions = torch.arange(N_POINTS)
    row = (blocks.starts[pairs.rows][:, None] + positions)[:, :, None]
    node = (blocks.starts[pairs.nodes][:, None] + positions)[:, None].clamp(max=299)
    expected = -ranked.fall(row.clamp(max=299), node)
    expected -= 2.0 * (row - row.clamp(max=299)) * ranked.scores[node]  # ranks past the last
    logits = rows.logits(pairs, rows.tilts(pairs))
    torch.testing.assert_close(
        logits - logits[:, :, :1], expected - expected[:, :, :1], rtol=1e-9, atol=1e-9
    )


def test_logits_of_smooth_blocks_are_those_of_the_equation_on_the_tangent(blocks):
    ranked, nodes = blocks.ranked, ScorePoints(blocks)
    rows = PairLogits(blocks, nodes)
    n_nodes, positions = ranked.n_nodes, torch.arange(ranked.n_nodes).double()
    gaps = (ranked.scores[:, None] - ranked.scores).abs().sum(dim=1)
    for pairs in rows.pairs():
        smooth = slice(pairs.n_single, None)
        middle = nodes.middles[pairs.nodes[smooth]]
        slope = n_nodes - 1 - 2 * positions[middle]  # of the sum of gaps, at the middle node
        scores = ranked.scores[middle][:, None] + nodes.scores[pairs.nodes[smooth]]
        tangent = gaps[middle][:, None] + slope[:, None] * (scores - ranked.scores[middle][:, None])
        row_slopes = n_nodes - 1 - 2 * rows.ranks[pairs.rows[smooth]]
        expected = row_slopes[:, :, None] * scores[:, None] - tangent[:, None]
        logits = rows.logits(pairs, rows.tilts(pairs))[smooth]
        torch.testing.assert_close(
            logits - logits[:, :, :1], expected - expected[:, :, :1], rtol=1e-9, atol=1e-9
        )
