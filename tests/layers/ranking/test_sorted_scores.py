"""Sorted scores, and the reach of rows of the rank probabilities."""

import pytest
import torch

from manyview.layers.ranking.sorted_scores import SortedScores, descending_order


@pytest.fixture
def ranked(generator):
    scores = torch.rand(40, generator=generator, dtype=torch.float64)
    return SortedScores(scores, temperature=0.3)


def literal_fall(scores, row, node):
    """Top of the row's logits less that of the node, from Eq. (9)-(10)."""
    scores, m = scores.tolist(), len(scores)

    def logit(node):
        gap = sum(abs(scores[node] - other) for other in scores)
        return (m - 1 - 2 * row) * scores[node] - gap

    return logit(row) - logit(node)


def test_fall_equals_the_logits_of_the_equation(ranked):
    nodes = torch.arange(40)
    for row in (0, 1, 17, 39):
        expected = [literal_fall(ranked.scores, row, node) for node in range(40)]
        found = ranked.fall(torch.tensor(row), nodes)
        torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


def test_fall_among_equal_scores_is_exactly_zero():
    ranked = SortedScores(torch.full((1001,), 10.1), temperature=0.01)
    assert (ranked.fall(torch.tensor(5), torch.arange(1001)) == 0).all()


def test_fall_keeps_its_digits_under_an_outlier():
    scores = torch.cat([torch.linspace(0.1, 0.0, 2000), torch.tensor([1e8])]).double()
    ranked = SortedScores(scores, temperature=0.01)
    expected = literal_fall(torch.linspace(0.1, 0.0, 2000).double()[900:1100] / 0.01, 100, 150)
    found = ranked.fall(torch.tensor(1001), torch.tensor(1051))
    torch.testing.assert_close(found.item(), expected, rtol=1e-3, atol=0)


@pytest.mark.parametrize("direction", [-1, 1])
@pytest.mark.parametrize("depth", [0.0, 2.0, 20.0, 1e9])
def test_reach_is_the_last_node_that_falls_no_further(ranked, direction, depth):
    rows = torch.arange(40)
    reached = ranked.reach(rows, torch.full((40,), direction), depth)
    for row, last in enumerate(reached.tolist()):
        near = [j for j in range(40) if literal_fall(ranked.scores, row, j) <= depth + 1e-12]
        assert last == (min(near) if direction < 0 else max(near))


def test_tie_bounds_hold_each_run_of_equal_scores():
    ranked = SortedScores(torch.tensor([2.0, 5.0, 2.0, 1.0, 2.0]), temperature=1.0)
    first, past = ranked.tie_bounds
    assert first.tolist() == [0, 1, 1, 1, 4]
    assert past.tolist() == [1, 4, 4, 4, 5]


@pytest.mark.parametrize("n_nodes", [0, 1, 50, 40_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_order_is_that_of_a_stable_sort(generator, n_nodes, dtype):
    scores = torch.randn(n_nodes, generator=generator, dtype=dtype)
    scores[::3] = scores[::3].round()  # ties, 0.0 and -0.0 among them
    scores[::1000], scores[1::1000] = torch.inf, 1e-42
    expected = scores.sort(descending=True, stable=True).indices
    assert torch.equal(descending_order(scores), expected)
    strided = torch.stack([scores, -scores], dim=1)[:, 0]
    assert torch.equal(descending_order(strided), expected)
