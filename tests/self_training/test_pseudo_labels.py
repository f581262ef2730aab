"""Lessons against literal loops, for their properties and at their limits."""

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.network.training import distillation_loss
from manyview.self_training.pseudo_labels import (
    ANSWERS_COUNT_FOR,
    LEAST_AGREEMENT,
    NEIGHBORS_SHARE,
    SHARPNESS,
    TRUST,
    align_class_prior,
    assortativity,
    estimate_class_prior,
    graph_agreement,
    make_pseudo_labels,
    smooth,
    without_loops,
)


def random_predictions(n_samples=30, n_classes=4, seed=0, certain=1.0):
    rng = np.random.default_rng(seed)
    values = rng.gamma(1 / certain, size=(n_samples, n_classes)) + 1e-6
    return values / values.sum(axis=1, keepdims=True)


def random_graph(n_samples=30, share=0.2, seed=1):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_samples, n_samples)) * (rng.random((n_samples,) * 2) < share), 1)
    return sparse.csr_array(upper + upper.T)


def some_codes(n_samples=30, n_classes=4):
    y_encoded = np.full(n_samples, -1)
    y_encoded[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return y_encoded


def test_expected_shares_count_labels_and_predictions():
    predictions, y_encoded = random_predictions(), some_codes()
    expected = []
    for number in range(4):
        n_labels = sum(1 for code in y_encoded if code == number)
        mean = sum(row[number] for row in predictions) / len(predictions)
        expected.append((n_labels + ANSWERS_COUNT_FOR * mean) / (8 + ANSWERS_COUNT_FOR))
    np.testing.assert_allclose(estimate_class_prior(predictions, y_encoded), expected, rtol=1e-12)


def test_labels_that_are_no_sample_say_nothing_about_shares():
    """Chi-squared by hand: sum over classes of (found - expected)^2 / expected, 3 degrees."""
    predictions = np.tile([0.4, 0.2, 0.2, 0.2], (200, 1))
    for n_each, counts_for_nothing in ((5, False), (20, True)):
        y_encoded = np.full(200, -1)
        y_encoded[: 4 * n_each] = np.tile(np.arange(4), n_each)
        n = 4 * n_each
        square = sum((n_each - n * p) ** 2 / (n * p) for p in predictions[0])
        assert (square > 6.251) == counts_for_nothing  # the 0.9 quantile
        found = estimate_class_prior(predictions, y_encoded)
        assert np.allclose(found, predictions[0]) == counts_for_nothing


@pytest.mark.parametrize("certain", [0.2, 1.0, 5.0, 50.0])
def test_aligned_predictions_have_the_shares_wanted(certain):
    predictions = random_predictions(200, certain=certain)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    aligned = align_class_prior(predictions, shares)
    np.testing.assert_allclose(aligned.mean(axis=0), shares, atol=1e-4)
    np.testing.assert_allclose(aligned.sum(axis=1), 1.0)


def test_aligning_multiplies_odds_by_one_factor_a_pair_of_classes():
    predictions = random_predictions(100)
    aligned = align_class_prior(predictions, np.array([0.4, 0.3, 0.2, 0.1]))
    factors = (aligned[:, 1] / aligned[:, 0]) / (predictions[:, 1] / predictions[:, 0])
    np.testing.assert_allclose(factors, factors[0], rtol=1e-6)


def test_aligning_to_the_shares_they_have_changes_nothing():
    predictions = random_predictions(50)
    np.testing.assert_allclose(
        align_class_prior(predictions, predictions.mean(axis=0)), predictions, rtol=1e-12
    )


def test_aligning_survives_certain_predictions():
    predictions = np.eye(3)[[0, 0, 0, 1, 2, 0]]
    aligned = align_class_prior(predictions, np.full(3, 1 / 3))
    assert np.isfinite(aligned).all()
    np.testing.assert_array_equal(aligned.argmax(axis=1)[3:5], [1, 2])


def test_view_agreement_is_a_sum_over_edges():
    graph, predictions = random_graph().toarray(), random_predictions()
    total = meeting = 0.0
    met = np.zeros(4)
    for i in range(30):
        for j in range(30):
            total += graph[i, j]
            met += graph[i, j] * predictions[i]
            meeting += graph[i, j] * sum(predictions[i, c] * predictions[j, c] for c in range(4))
    chance = sum(value**2 for value in met / total)
    expected = max((meeting / total - chance) / (1 - chance), 0.0)
    found = assortativity(sparse.csr_array(graph), predictions)
    assert found == pytest.approx(expected, rel=1e-10)


def test_view_agreement_tells_noise_from_classes():
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=600)
    same = (classes[:, None] == classes) & (rng.random((600, 600)) < 0.05)
    noise = rng.random((600, 600)) < 0.02
    graphs = [np.triu(edges, 1) for edges in (same, noise)]
    of_classes, of_noise = (
        assortativity(sparse.csr_array((edges + edges.T).astype(float)), np.eye(3)[classes])
        for edges in graphs
    )
    assert of_classes == pytest.approx(1.0)
    assert of_noise < 0.02


@pytest.mark.parametrize(
    ("graph", "predictions"),
    [
        (sparse.csr_array((5, 5)), random_predictions(5)),  # nobody has a neighbor
        (random_graph(5, 0.9), np.tile([1.0, 0.0], (5, 1))),  # all of one class
    ],
)
def test_view_agreement_at_its_limits_is_0(graph, predictions):
    assert assortativity(graph, predictions) == 0.0


def test_smoothed_predictions_solve_the_linear_system():
    graphs = [random_graph(seed=1), random_graph(seed=2)]
    shares, y_encoded, predictions = np.array([0.7, 0.3]), some_codes(), random_predictions()
    mixed = 0.7 * graphs[0].toarray() + 0.3 * graphs[1].toarray()
    own = predictions.copy()
    for sample, code in enumerate(y_encoded):
        if code >= 0:
            own[sample] = 0.0
            own[sample, code] = 1.0
    degrees = mixed.sum(axis=1)
    assert (degrees > 0).all()
    walk = mixed / degrees[:, None]
    exact = (1 - NEIGHBORS_SHARE) * np.linalg.solve(np.eye(30) - NEIGHBORS_SHARE * walk, own)
    found = smooth(predictions, y_encoded, graphs, shares)
    np.testing.assert_allclose(found, exact, atol=2 * NEIGHBORS_SHARE**10)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_sample_without_neighbors_keeps_its_prediction():
    graph = random_graph().toarray()
    graph[20], graph[:, 20] = 0.0, 0.0
    predictions = random_predictions()
    found = smooth(predictions, some_codes(), [sparse.csr_array(graph)], np.ones(1))
    np.testing.assert_allclose(found[20], predictions[20])


def test_self_loops_are_left_out():
    graph = random_graph()
    with_loops = sparse.csr_array(graph + sparse.eye_array(30))
    assert (without_loops(with_loops) != graph).nnz == 0


def test_lesson_weighs_sure_predictions_and_no_labels():
    predictions, y_encoded, graph = random_predictions(), some_codes(), random_graph()
    lesson = make_pseudo_labels(predictions, y_encoded, [graph])
    shares = estimate_class_prior(predictions, y_encoded)
    clean = smooth(align_class_prior(predictions, shares), y_encoded, [graph], np.ones(1))
    for sample in range(30):
        powers = [p**SHARPNESS for p in clean[sample]]
        np.testing.assert_allclose(
            lesson.targets[sample], [p / sum(powers) for p in powers], rtol=1e-5
        )
        weight = 0.0 if y_encoded[sample] >= 0 else max(clean[sample]) ** TRUST
        assert lesson.weights[sample] == pytest.approx(weight, rel=1e-5)


def test_lesson_starts_views_by_their_agreement():
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=200)
    same = np.triu((classes[:, None] == classes) & (rng.random((200, 200)) < 0.1), 1)
    noise = np.triu(rng.random((200, 200)) < 0.05, 1)
    graphs = [sparse.csr_array((edges + edges.T).astype(float)) for edges in (same, noise)]
    predictions = 0.8 * np.eye(2)[classes] + 0.1
    y_encoded = np.where(np.arange(200) < 10, classes, -1)
    lesson = make_pseudo_labels(predictions, y_encoded, graphs)
    assert lesson.graph_shares.sum() == pytest.approx(1.0)
    assert lesson.graph_shares[1] < 0.05
    np.testing.assert_allclose(
        lesson.graph_shares[0] / lesson.graph_shares[1],
        lesson.agreement[0] / max(lesson.agreement[1], LEAST_AGREEMENT),
    )


def test_class_weights_reach_the_lesson():
    predictions, y_encoded, graph = random_predictions(), some_codes(), random_graph()
    plain = make_pseudo_labels(predictions, y_encoded, [graph])
    weighed = make_pseudo_labels(predictions, y_encoded, [graph], np.array([1.0, 2.0, 3.0, 4.0]))
    expected = plain.weights * (plain.targets @ [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(weighed.weights, expected, rtol=1e-5)


def test_renumbering_the_samples_renumbers_the_lesson():
    predictions, y_encoded, graph = random_predictions(), some_codes(), random_graph()
    order = np.random.default_rng(3).permutation(30)
    lesson = make_pseudo_labels(predictions, y_encoded, [graph])
    other = make_pseudo_labels(predictions[order], y_encoded[order], [graph[order][:, order]])
    np.testing.assert_allclose(other.targets, lesson.targets[order], rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(other.weights, lesson.weights[order], rtol=1e-4)
    np.testing.assert_allclose(other.agreement, lesson.agreement)


def test_divergence_is_a_weighted_sum_over_samples():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(6, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    targets = torch.from_numpy(random_predictions(6, 3))
    weights = torch.tensor([0.0, 1.0, 0.5, 0.2, 0.0, 0.9], dtype=torch.float64)
    probabilities = logits.detach().softmax(dim=1)
    total = 0.0
    for i in range(6):
        for c in range(3):
            t, p = targets[i, c].item(), probabilities[i, c].item()
            total += weights[i].item() * t * np.log(t / p)
    found = distillation_loss(logits, targets, weights)
    assert found.item() == pytest.approx(total / weights.sum().item(), rel=1e-10)
    assert torch.autograd.gradcheck(lambda z: distillation_loss(z, targets, weights), logits)


def test_divergence_is_0_for_what_was_taught_and_takes_certain_targets():
    logits = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    assert distillation_loss(logits, logits.softmax(1), torch.ones(4)).item() == pytest.approx(
        0, abs=1e-6
    )
    certain = torch.eye(3)[[0, 1, 2, 0]]
    expected = torch.nn.functional.cross_entropy(logits, certain.argmax(1))
    found = distillation_loss(logits, certain, torch.ones(4))
    torch.testing.assert_close(found, expected)


def test_predictions_alone_may_tell_the_shares():
    """As many labels of every class pull the shares together, unless they are not to be heard."""
    predictions, y_encoded = random_predictions(certain=3.0), some_codes()
    graphs = [random_graph()]
    heard, unheard = (
        make_pseudo_labels(predictions, y_encoded, graphs, class_shares=source)
        for source in ("labels", "predictions")
    )
    expected = smooth(predictions, y_encoded, graphs, np.ones(1)) ** SHARPNESS
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(unheard.targets, expected, rtol=1e-5)
    assert np.abs(heard.targets - unheard.targets).max() > 0.01


@pytest.mark.parametrize("seed", range(20))
def test_predictions_that_are_all_one_agree_no_more_than_by_chance(seed):
    random = sparse.random_array((50, 50), density=0.2, rng=np.random.default_rng(seed))
    graph = sparse.csr_array(random + random.T)  # sums of such weights are rounded
    predictions = np.tile([0.9, 0.1], (50, 1))
    assert graph_agreement([graph], predictions) == 0.0


def two_groups(sizes):
    """Two cliques, the predictions of the first less and less sure."""
    blocks = [np.ones((size, size)) - np.eye(size) for size in sizes]
    graph = sparse.csr_array(sparse.block_diag(blocks))
    first = np.r_[np.linspace(0.51, 0.95, sizes[0]), np.full(sizes[1], 0.05)]
    return graph, np.column_stack([first, 1 - first])


def test_shares_that_the_graphs_speak_against_are_not_taken():
    graph, predictions = two_groups((40, 10))
    y_encoded = np.full(50, -1)
    y_encoded[:5], y_encoded[-5:] = 0, 1  # as many of each, which is no fair sample
    aligned = align_class_prior(predictions, estimate_class_prior(predictions, y_encoded))
    assert graph_agreement([graph], aligned) < graph_agreement([graph], predictions) - 0.01
    heard, unheard = (
        make_pseudo_labels(predictions, y_encoded, [graph], class_shares=source)
        for source in ("labels", "predictions")
    )
    np.testing.assert_array_equal(heard.targets, unheard.targets)
