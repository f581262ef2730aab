"""Fast ranking against every row computed in float64."""

import dense_reference
import numpy as np
import pytest
import torch
from models import manyview

from manyview.data.catalog.load import load_dataset
from manyview.data.splits import hide_labels
from manyview.layers.node_selection import node_confidence
from manyview.layers.ranking import fast_ranking
from manyview.layers.ranking.fast_ranking import FastRanking, fast_gain
from manyview.layers.ranking.rank_blocks import RankBlocks
from manyview.layers.ranking.ranking import FAST_FROM, discounted_gain
from manyview.layers.ranking.sorted_scores import SortedScores

DISTRIBUTIONS = [
    "uniform",
    "mean edge weights",
    "normal",
    "gamma",
    "two tight clusters",
    "Cauchy",
    "Pareto",
    "twenty values",
    "many ties",
    "an outlier",
    "equal but one",
    "several scales",
    "log-normal",
]


def scores_of(name, n_nodes, generator):
    uniform = torch.rand(n_nodes, generator=generator, dtype=torch.float64)
    other = torch.rand(n_nodes, generator=generator, dtype=torch.float64)
    normal = torch.randn(n_nodes, generator=generator, dtype=torch.float64)
    outlier = torch.tensor([1e3], dtype=torch.float64)
    scale = torch.where(other < 0.6, 1 + 1e-2 * normal, 3 + normal)
    return {
        "uniform": uniform,
        "mean edge weights": 0.05 + 0.01 * normal,
        "normal": normal,
        "gamma": -uniform.log() - other.log(),
        "two tight clusters": torch.arange(n_nodes) % 2 + 1e-3 * normal,
        "Cauchy": torch.tan(torch.pi * (uniform - 0.5)),
        "Pareto": 1 / (uniform + 1e-9),
        "twenty values": (20 * uniform).floor() / 20,
        "many ties": (n_nodes / 10 * uniform).floor() / (n_nodes / 10),
        "an outlier": torch.cat([0.1 * uniform[1:], outlier]),
        "equal but one": torch.cat([torch.full_like(uniform[1:], 0.3), outlier]),
        "several scales": torch.where(other < 0.3, 1e-4 * normal, scale),
        "log-normal": (2 * normal).exp(),
    }[name].float()


def with_gradient(scores, incoming, temperature, ranking):
    scores = scores.clone().requires_grad_()
    confidence = node_confidence(scores, temperature, ranking=ranking)
    (gradient,) = torch.autograd.grad(confidence, scores, incoming.to(scores))
    return confidence.detach().double(), gradient.double()


def assert_fast_is_near_exact(scores, temperature, generator):
    """Hold float32 scores to confidence within 1e-4, gradient within 1e-3 of its largest entry.

    Both must be ten times better than that.
    """
    incoming = torch.randn(len(scores), generator=generator)
    exact, exact_gradient = with_gradient(scores.double(), incoming, temperature, "exact")
    fast, gradient = with_gradient(scores, incoming, temperature, "fast")
    torch.testing.assert_close(fast, exact, rtol=0, atol=1e-5)
    largest = exact_gradient.abs().max().item()
    torch.testing.assert_close(gradient, exact_gradient, rtol=0, atol=1e-4 * largest)


@pytest.mark.parametrize("temperature", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_fast_confidence_is_near_the_exact_one(generator, name, temperature):
    assert_fast_is_near_exact(scores_of(name, 3000, generator), temperature, generator)


@pytest.mark.parametrize(
    ("name", "temperature"), [("uniform", 1.0), ("Cauchy", 1.0), ("several scales", 0.1)]
)
def test_fast_confidence_is_near_the_exact_one_at_20000_nodes(generator, name, temperature):
    assert_fast_is_near_exact(scores_of(name, 20_000, generator), temperature, generator)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_fast_confidence_is_near_the_exact_one_at_all_sizes(generator, name, temperature):
    for n_nodes in (40, 701, 20_000):
        assert_fast_is_near_exact(scores_of(name, n_nodes, generator), temperature, generator)


@pytest.mark.parametrize(
    ("dataset", "max_epochs"),
    [
        ("digits", 20),
        *(
            pytest.param(name, max_epochs, marks=[pytest.mark.data, pytest.mark.slow])
            for name in ("bbcnews", "bbcsports", "mnist", "mnist-10k", "caltech101-20")
            for max_epochs in (1, 20)
        ),
    ],
)
def test_fast_confidence_is_near_the_exact_one_on_learned_graphs(generator, dataset, max_epochs):
    data = load_dataset(dataset)
    labels = hide_labels(data.labels, 0.1, random_state=0)
    model = manyview(max_epochs=max_epochs, n_neighbors=10, random_state=0)
    model.fit(data.views, labels)
    for graph in (model.fused_graph_, model.refined_graph_):
        n_edges = np.diff(graph.tocsc().indptr)
        scores = torch.from_numpy(graph.sum(axis=0) / n_edges).float()
        for temperature in (0.1, 1.0):
            assert_fast_is_near_exact(scores, temperature, generator)


@pytest.mark.parametrize("temperature", [0.01, 1.0])
def test_fast_confidence_of_equal_scores_is_one(temperature):
    scores = torch.full((2000,), 0.3)
    assert (node_confidence(scores, temperature, ranking="fast") == 1).all()


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 16, 17, 40, 100])
def test_fast_gain_of_few_nodes_equals_the_dense_one(generator, n_nodes):
    scores = torch.rand(n_nodes, generator=generator, dtype=torch.float64).requires_grad_()
    probabilities = dense_reference.rank_probabilities(scores, 0.3)
    expected = dense_reference.discounted_gain(probabilities)
    gain = fast_gain(scores, 0.3)
    torch.testing.assert_close(gain, expected, rtol=1e-6, atol=1e-7)
    incoming = torch.rand(n_nodes, generator=generator, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(gain, scores, incoming)
    (expected_gradient,) = torch.autograd.grad(expected, scores, incoming)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("temperature", [0.1, 1.0, 20.0])
def test_fast_gain_passes_gradcheck(generator, temperature):
    """At the third temperature one smooth block holds all nodes."""
    scores = torch.rand(48, generator=generator, dtype=torch.float64).requires_grad_()
    blocks = RankBlocks(SortedScores(scores, temperature))
    assert blocks.is_smooth.any() == (temperature == 20.0)
    assert torch.autograd.gradcheck(
        lambda values: fast_gain(values, temperature),
        (scores,),
        atol=1e-5,
        rtol=1e-4,
        fast_mode=True,
    )


@pytest.mark.parametrize("temperature", [0.01, 1.0])
def test_equal_scores_have_equal_gains(generator, temperature):
    scores = torch.randint(0, 50, (4000,), generator=generator) / 50
    gain = fast_gain(scores, temperature)
    for value in scores.unique():
        assert len(gain[scores == value].unique()) == 1


def test_fast_gain_follows_nodes_when_they_are_renumbered(generator):
    scores = scores_of("many ties", 3000, generator).requires_grad_()
    order = torch.randperm(3000, generator=generator)
    incoming = torch.randn(3000, generator=generator, dtype=torch.float64)
    before, after = fast_gain(scores, 0.1), fast_gain(scores[order], 0.1)
    assert torch.equal(after, before[order])
    (gradient,) = torch.autograd.grad(before, scores, incoming)
    (renumbered,) = torch.autograd.grad(after, scores, incoming[order])
    largest = gradient.abs().max().item()
    torch.testing.assert_close(renumbered, gradient, rtol=0, atol=1e-6 * largest)


def test_fast_gain_is_the_same_every_time(generator):
    scores = scores_of("several scales", 3000, generator).requires_grad_()
    results = []
    for _ in range(2):
        gain = fast_gain(scores, 0.1)
        (gradient,) = torch.autograd.grad(gain.square().sum(), scores)
        results.append((gain, gradient))
    assert all(torch.equal(*pair) for pair in zip(*results, strict=True))


@pytest.mark.parametrize("temperature", [0.01, 1.0])
def test_probabilities_kept_for_the_gradient_change_nothing(generator, monkeypatch, temperature):
    scores = scores_of("several scales", 3000, generator).requires_grad_()
    incoming = torch.randn(3000, generator=generator, dtype=torch.float64)
    gradients = []
    for n_kept in (10**9, 0):
        monkeypatch.setattr(fast_ranking, "KEPT_ENTRIES", n_kept)
        gain = fast_gain(scores, temperature)
        gradients.append(torch.autograd.grad(gain, scores, incoming)[0])
    kept, computed_again = gradients
    largest = kept.abs().max().item()
    torch.testing.assert_close(computed_again, kept, rtol=0, atol=1e-6 * largest)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-11])
@pytest.mark.parametrize("largest", [1e-9, 1e-6, 1e-4, 1e-3, 1e-2])
def test_series_has_the_terms_it_needs_and_no_more(largest, tolerance):
    n_terms = fast_ranking._n_terms(largest, tolerance)
    p = torch.tensor(largest, dtype=torch.float64)
    powers = p ** torch.arange(1, fast_ranking.MAX_TERMS + 1)
    for terms, whole in (
        (fast_ranking.GAIN_TERMS, fast_ranking._gain_of(p)),
        (fast_ranking.SLOPE_TERMS, fast_ranking._slope_of(p)),
    ):
        by_count = (torch.tensor(terms, dtype=torch.float64) * powers).cumsum(0)
        left_out = (whole - by_count).abs() / p
        assert left_out[n_terms - 1] <= 1.1 * tolerance or n_terms == fast_ranking.MAX_TERMS
    # Left out of the slope, which is the larger.
    assert n_terms == 1 or left_out[n_terms - 2] > 0.9 * tolerance


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_entries_grow_no_faster_than_nodes(generator, name):
    for temperature in (0.01, 1.0):
        counts = []
        for n_nodes in (4_000, 64_000):
            ranked = SortedScores(scores_of(name, n_nodes, generator), temperature)
            blocks = RankBlocks(ranked)
            n_pairs = (blocks.past_reached - blocks.first_reached).sum().item()
            counts.append(256 * n_pairs / n_nodes)
        assert counts[1] < max(1.3 * counts[0], 150)
        assert max(counts) < 200


@pytest.mark.parametrize("max_change", [20.0, 40.0, 80.0])
@pytest.mark.parametrize("name", ["uniform", "gamma", "twenty values", "several scales"])
def test_expected_error_shows_blocks_that_are_too_coarse(generator, name, max_change):
    scores = scores_of(name, 3000, generator).double()
    coarse = FastRanking(RankBlocks(SortedScores(scores, 1.0), max_change))
    exact = discounted_gain(scores, 1.0, ranking="exact")[coarse.order]
    error = (coarse.gain - exact).abs().max() / (exact.max() - exact.min())
    assert error > 1e-4 or max_change < 40
    assert coarse.error.max() > min(error, 1.0) / 3


def test_too_coarse_blocks_are_halved_until_the_error_is_small(generator, monkeypatch):
    scores = scores_of("gamma", 3000, generator).double()
    exact = discounted_gain(scores, 1.0, ranking="exact")
    n_tried = []

    def coarse_blocks(ranked):
        return RankBlocks(ranked, max_change=200.0)

    def counted(blocks):
        n_tried.append(len(blocks.sizes))
        return FastRanking(blocks)

    monkeypatch.setattr(fast_ranking, "RankBlocks", coarse_blocks)
    monkeypatch.setattr(fast_ranking, "FastRanking", counted)
    gain = fast_gain(scores, 1.0)
    assert len(n_tried) > 1
    assert n_tried == sorted(n_tried)
    scale = (exact.max() - exact.min()).item()
    torch.testing.assert_close(gain, exact, rtol=0, atol=1e-5 * scale)


def test_auto_is_fast_for_many_nodes_only(generator):
    few, many = (torch.rand(n, generator=generator) for n in (FAST_FROM - 1, FAST_FROM))
    assert torch.equal(discounted_gain(few, 1.0), discounted_gain(few, 1.0, ranking="exact"))
    assert torch.equal(discounted_gain(many, 1.0), discounted_gain(many, 1.0, ranking="fast"))
    printed = discounted_gain(many, 1.0, "as-printed", "fast")
    assert torch.equal(printed, discounted_gain(many, 1.0, "as-printed", "exact"))
