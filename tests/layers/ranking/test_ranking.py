"""Discounted gain without the matrix of rank probabilities, Eq. (9)-(12)."""

from math import exp, log2

import dense_reference
import pytest
import torch

from manyview.layers.ranking import ranking
from manyview.layers.ranking.ranking import discounted_gain, rank_discount


def literal_probabilities(scores, temperature):
    """Loop over Eq. (9)-(10); row i is rank i + 1."""
    scores, m = scores.tolist(), len(scores)
    gaps = [sum(abs(score - other) for other in scores) for score in scores]
    rows = []
    for i in range(1, m + 1):
        logits = [((m + 1 - 2 * i) * scores[j] - gaps[j]) / temperature for j in range(m)]
        powers = [exp(logit - max(logits)) for logit in logits]
        rows.append([power / sum(powers) for power in powers])
    return rows


def literal_gain(scores, temperature, rank_axis):
    """Loop over Eq. (12), summed over ranks for each node, or as printed."""
    p, m = literal_probabilities(scores, temperature), len(scores)
    if rank_axis == "as-printed":
        gain = [sum((2 ** p[i][j] - 1) / log2(j + 2) for j in range(m)) for i in range(m)]
    else:
        gain = [sum((2 ** p[r][j] - 1) / log2(r + 2) for r in range(m)) for j in range(m)]
    return torch.tensor(gain, dtype=torch.float64)


def dense_gain(scores, temperature):
    return dense_reference.discounted_gain(dense_reference.rank_probabilities(scores, temperature))


def random_scores(n_nodes, generator):
    return torch.rand(n_nodes, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("rank_axis", ["rows", "as-printed"])
@pytest.mark.parametrize("temperature", [0.01, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("n_nodes", [1, 2, 17])
def test_gain_equals_a_literal_loop(generator, n_nodes, temperature, rank_axis):
    scores = random_scores(n_nodes, generator)
    torch.testing.assert_close(
        discounted_gain(scores, temperature, rank_axis),
        literal_gain(scores, temperature, rank_axis),
    )


@pytest.mark.parametrize("rank_axis", ["rows", "as-printed"])
def test_gain_equals_a_literal_loop_under_ties(generator, rank_axis):
    scores = torch.randint(0, 4, (15,), generator=generator).double() / 4
    torch.testing.assert_close(
        discounted_gain(scores, 0.2, rank_axis), literal_gain(scores, 0.2, rank_axis)
    )


def test_gain_follows_nodes_when_they_are_renumbered(generator):
    scores, order = random_scores(20, generator), torch.randperm(20, generator=generator)
    before = discounted_gain(scores, 0.5)
    torch.testing.assert_close(discounted_gain(scores[order], 0.5), before[order])


def test_gain_as_printed_depends_on_how_nodes_are_numbered(generator):
    scores, order = random_scores(20, generator), torch.randperm(20, generator=generator)
    before = discounted_gain(scores, 0.5, "as-printed")
    after = discounted_gain(scores[order], 0.5, "as-printed")
    assert not torch.allclose(after, before[order], rtol=0.01)
    assert not torch.allclose(after.sort().values, before.sort().values, rtol=0.01)


def test_vanishing_temperature_gives_the_exact_sort(generator):
    scores = random_scores(30, generator)
    rank = scores.argsort(descending=True).argsort()
    expected = rank_discount(30, scores)[rank]
    torch.testing.assert_close(discounted_gain(scores, 1e-7), expected)


def test_large_temperature_makes_all_ranks_equally_likely(generator):
    gain = discounted_gain(random_scores(30, generator), 1e9)
    expected = (2 ** (1 / 30) - 1) * rank_discount(30, gain).sum()
    torch.testing.assert_close(gain, expected.expand(30))


def test_two_nodes_have_a_closed_form():
    high, low, temperature = 0.9, 0.4, 0.3
    gain = discounted_gain(torch.tensor([low, high], dtype=torch.float64), temperature)
    right = 1 / (1 + exp(-(high - low) / temperature))  # each takes its own rank
    expected = [
        (2 ** (1 - right) - 1) + (2**right - 1) / log2(3),
        (2**right - 1) + (2 ** (1 - right) - 1) / log2(3),
    ]
    torch.testing.assert_close(gain, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("rank_axis", ["rows", "as-printed"])
@pytest.mark.parametrize("block_rows", [1, 3, 20])
def test_gain_and_gradient_do_not_depend_on_the_block_size(
    generator, monkeypatch, block_rows, rank_axis
):
    scores = random_scores(20, generator).requires_grad_()
    incoming = random_scores(20, generator)
    whole = discounted_gain(scores, 0.2, rank_axis)
    (whole_gradient,) = torch.autograd.grad(whole, scores, incoming)
    monkeypatch.setattr(ranking, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr(ranking, "BLOCK_ENTRIES", 0)
    blocked = discounted_gain(scores, 0.2, rank_axis)
    (gradient,) = torch.autograd.grad(blocked, scores, incoming)
    torch.testing.assert_close(blocked, whole)
    torch.testing.assert_close(gradient, whole_gradient)


@pytest.mark.parametrize("rank_axis", ["rows", "as-printed"])
@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_gain_passes_gradcheck(generator, monkeypatch, temperature, rank_axis):
    monkeypatch.setattr(ranking, "BLOCK_ROWS", 4)
    monkeypatch.setattr(ranking, "BLOCK_ENTRIES", 0)
    scores = random_scores(10, generator).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda values: discounted_gain(values, temperature, rank_axis), (scores,)
    )


def test_gradient_under_ties_equals_the_dense_one(generator, monkeypatch):
    monkeypatch.setattr(ranking, "BLOCK_ROWS", 4)
    monkeypatch.setattr(ranking, "BLOCK_ENTRIES", 0)
    scores = (torch.randint(0, 4, (15,), generator=generator).double() / 4).requires_grad_()
    incoming = random_scores(15, generator)
    (gradient,) = torch.autograd.grad(discounted_gain(scores, 0.2), scores, incoming)
    (expected,) = torch.autograd.grad(dense_gain(scores, 0.2), scores, incoming)
    torch.testing.assert_close(gradient, expected)


def hard_scores(name, generator, n_nodes=2000):
    uniform = torch.rand(n_nodes, generator=generator)
    normal = torch.randn(n_nodes, generator=generator)
    clusters = (torch.arange(n_nodes) % 2) + 1e-3 * normal
    return {
        "mean edge weights": 0.05 + 0.01 * normal,
        "normal": normal,
        "heavy tail": 1 / (uniform + 1e-4),
        "two tight clusters": clusters,
        "ties": (20 * uniform).floor() / 20,
        "an outlier": torch.cat([0.1 * uniform[1:], torch.tensor([1e3])]),
        "all equal": torch.full((n_nodes,), 0.3),
    }[name]


@pytest.mark.parametrize("temperature", [0.01, 0.5, 10.0])
@pytest.mark.parametrize(
    "name",
    [
        "mean edge weights",
        "normal",
        "heavy tail",
        "two tight clusters",
        "ties",
        "an outlier",
        "all equal",
    ],
)
def test_float32_stays_near_the_dense_float64(generator, name, temperature):
    scores = hard_scores(name, generator).requires_grad_()
    exact_scores = scores.detach().double().requires_grad_()
    incoming = torch.rand(len(scores), generator=generator)
    gain = discounted_gain(scores, temperature, ranking="exact")
    exact = dense_gain(exact_scores, temperature)
    assert gain.dtype == torch.float32
    torch.testing.assert_close(gain.double(), exact, rtol=0, atol=2e-6 * exact.max().item())
    (gradient,) = torch.autograd.grad(gain, scores, incoming)
    (exact_gradient,) = torch.autograd.grad(exact, exact_scores, incoming.double())
    largest = exact_gradient.abs().max().item()
    torch.testing.assert_close(gradient.double(), exact_gradient, rtol=0, atol=2e-5 * largest)


def test_probabilities_outside_the_window_are_below_rounding(generator):
    scores = 0.05 + 0.01 * torch.randn(700, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(
        discounted_gain(scores, 0.01), dense_gain(scores, 0.01), rtol=1e-11, atol=0
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_scores_have_equal_gains(generator, dtype):
    scores = torch.randint(0, 20, (500,), generator=generator).to(dtype) / 20
    gain = discounted_gain(scores, 0.3, ranking="exact")
    assert gain.dtype == dtype
    assert len(gain.unique()) == len(scores.unique())
