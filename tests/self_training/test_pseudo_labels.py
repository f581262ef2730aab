"""Pseudo-labels against literal loops, for their properties and at their limits."""

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.errors import InputError
from manyview.network.losses import distillation_loss
from manyview.self_training.label_propagation import (
    assortativity,
    mean_assortativity,
    propagate,
    without_loops,
)
from manyview.self_training.pseudo_labels import (
    MIN_WEIGHT,
    PseudoLabeler,
    align_class_prior,
    estimate_class_prior,
)

PRIOR_STRENGTH = PseudoLabeler().prior_strength
SMOOTHING = PseudoLabeler().smoothing
SHARPNESS = PseudoLabeler().sharpness
CONFIDENCE_POWER = PseudoLabeler().confidence_power


def random_predictions(n_samples=30, n_classes=4, seed=0, certain=1.0):
    rng = np.random.default_rng(seed)
    values = rng.gamma(1 / certain, size=(n_samples, n_classes)) + 1e-6
    return values / values.sum(axis=1, keepdims=True)


def random_graph(n_samples=30, density=0.2, seed=1):
    rng = np.random.default_rng(seed)
    upper = np.triu(
        rng.random((n_samples, n_samples)) * (rng.random((n_samples,) * 2) < density), 1
    )
    return sparse.csr_array(upper + upper.T)


def some_labels(n_samples=30, n_classes=4):
    y_encoded = np.full(n_samples, -1)
    y_encoded[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return y_encoded


def test_class_prior_counts_labels_and_predictions():
    predictions, y_encoded = random_predictions(), some_labels()
    expected = []
    for number in range(4):
        n_labels = sum(1 for label in y_encoded if label == number)
        mean = sum(row[number] for row in predictions) / len(predictions)
        expected.append((n_labels + PRIOR_STRENGTH * mean) / (8 + PRIOR_STRENGTH))
    np.testing.assert_allclose(estimate_class_prior(predictions, y_encoded), expected, rtol=1e-12)


def test_class_prior_ignores_labels_that_are_no_fair_sample():
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
def test_aligned_predictions_have_the_prior_as_their_mean(certain):
    predictions = random_predictions(200, certain=certain)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    aligned = align_class_prior(predictions, shares)
    np.testing.assert_allclose(aligned.mean(axis=0), shares, atol=1e-4)
    np.testing.assert_allclose(aligned.sum(axis=1), 1.0)


def test_aligning_multiplies_odds_by_one_factor_per_pair_of_classes():
    predictions = random_predictions(100)
    aligned = align_class_prior(predictions, np.array([0.4, 0.3, 0.2, 0.1]))
    factors = (aligned[:, 1] / aligned[:, 0]) / (predictions[:, 1] / predictions[:, 0])
    np.testing.assert_allclose(factors, factors[0], rtol=1e-6)


def test_aligning_to_their_own_mean_changes_nothing():
    predictions = random_predictions(50)
    np.testing.assert_allclose(
        align_class_prior(predictions, predictions.mean(axis=0)), predictions, rtol=1e-12
    )


def test_aligning_survives_certain_predictions():
    predictions = np.eye(3)[[0, 0, 0, 1, 2, 0]]
    aligned = align_class_prior(predictions, np.full(3, 1 / 3))
    assert np.isfinite(aligned).all()
    np.testing.assert_array_equal(aligned.argmax(axis=1)[3:5], [1, 2])


def test_assortativity_is_a_sum_over_edges():
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


def test_assortativity_separates_noise_from_classes():
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
def test_assortativity_at_its_limits_is_0(graph, predictions):
    assert assortativity(graph, predictions) == 0.0


def test_propagated_predictions_solve_the_linear_system():
    graphs = [random_graph(seed=1), random_graph(seed=2)]
    shares, y_encoded, predictions = np.array([0.7, 0.3]), some_labels(), random_predictions()
    mixed = 0.7 * graphs[0].toarray() + 0.3 * graphs[1].toarray()
    own = predictions.copy()
    for sample, label in enumerate(y_encoded):
        if label >= 0:
            own[sample] = 0.0
            own[sample, label] = 1.0
    degrees = mixed.sum(axis=1)
    assert (degrees > 0).all()
    walk = mixed / degrees[:, None]
    exact = (1 - SMOOTHING) * np.linalg.solve(np.eye(30) - SMOOTHING * walk, own)
    found = propagate(predictions, y_encoded, graphs, shares)
    np.testing.assert_allclose(found, exact, atol=2 * SMOOTHING**10)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_sample_without_neighbors_keeps_its_prediction():
    graph = random_graph().toarray()
    graph[20], graph[:, 20] = 0.0, 0.0
    predictions = random_predictions()
    found = propagate(predictions, some_labels(), [sparse.csr_array(graph)], np.ones(1))
    np.testing.assert_allclose(found[20], predictions[20])


def test_self_loops_are_left_out():
    graph = random_graph()
    with_loops = sparse.csr_array(graph + sparse.eye_array(30))
    assert (without_loops(with_loops) != graph).nnz == 0


def test_confident_predictions_weigh_more_and_labels_nothing():
    predictions, y_encoded, graph = random_predictions(), some_labels(), random_graph()
    made = PseudoLabeler()(predictions, y_encoded, [graph])
    prior = estimate_class_prior(predictions, y_encoded)
    clean = propagate(align_class_prior(predictions, prior), y_encoded, [graph], np.ones(1))
    for sample in range(30):
        powers = [p**SHARPNESS for p in clean[sample]]
        np.testing.assert_allclose(
            made.targets[sample], [p / sum(powers) for p in powers], rtol=1e-5
        )
        weight = 0.0 if y_encoded[sample] >= 0 else max(clean[sample]) ** CONFIDENCE_POWER
        assert made.weights[sample] == pytest.approx(weight, rel=1e-5)


def test_graphs_are_weighted_by_their_assortativity():
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=200)
    same = np.triu((classes[:, None] == classes) & (rng.random((200, 200)) < 0.1), 1)
    noise = np.triu(rng.random((200, 200)) < 0.05, 1)
    graphs = [sparse.csr_array((edges + edges.T).astype(float)) for edges in (same, noise)]
    predictions = 0.8 * np.eye(2)[classes] + 0.1
    y_encoded = np.where(np.arange(200) < 10, classes, -1)
    made = PseudoLabeler()(predictions, y_encoded, graphs)
    assert made.graph_weights.sum() == pytest.approx(1.0)
    assert made.graph_weights[1] < 0.05
    np.testing.assert_allclose(
        made.graph_weights[0] / made.graph_weights[1],
        made.agreement[0] / max(made.agreement[1], MIN_WEIGHT),
    )


def test_class_weights_reach_the_pseudo_labels():
    predictions, y_encoded, graph = random_predictions(), some_labels(), random_graph()
    plain = PseudoLabeler()(predictions, y_encoded, [graph])
    weighed = PseudoLabeler()(predictions, y_encoded, [graph], np.array([1.0, 2.0, 3.0, 4.0]))
    expected = plain.weights * (plain.targets @ [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(weighed.weights, expected, rtol=1e-5)


def test_renumbering_the_samples_renumbers_the_pseudo_labels():
    predictions, y_encoded, graph = random_predictions(), some_labels(), random_graph()
    order = np.random.default_rng(3).permutation(30)
    made = PseudoLabeler()(predictions, y_encoded, [graph])
    other = PseudoLabeler()(predictions[order], y_encoded[order], [graph[order][:, order]])
    np.testing.assert_allclose(other.targets, made.targets[order], rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(other.weights, made.weights[order], rtol=1e-4)
    np.testing.assert_allclose(other.agreement, made.agreement)


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


def test_divergence_is_0_at_the_targets_and_takes_certain_targets():
    logits = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    assert distillation_loss(logits, logits.softmax(1), torch.ones(4)).item() == pytest.approx(
        0, abs=1e-6
    )
    certain = torch.eye(3)[[0, 1, 2, 0]]
    expected = torch.nn.functional.cross_entropy(logits, certain.argmax(1))
    found = distillation_loss(logits, certain, torch.ones(4))
    torch.testing.assert_close(found, expected)


def test_class_prior_may_come_from_the_predictions_alone():
    """As many labels of every class pull the class sizes together, unless they are ignored."""
    predictions, y_encoded = random_predictions(certain=3.0), some_labels()
    graphs = [random_graph()]
    with_labels, without = (
        PseudoLabeler(class_prior=source)(predictions, y_encoded, graphs)
        for source in ("labels", "predictions")
    )
    expected = propagate(predictions, y_encoded, graphs, np.ones(1)) ** SHARPNESS
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(without.targets, expected, rtol=1e-5)
    assert np.abs(with_labels.targets - without.targets).max() > 0.01


@pytest.mark.parametrize("seed", range(20))
def test_predictions_that_are_all_one_agree_no_more_than_by_chance(seed):
    random = sparse.random_array((50, 50), density=0.2, rng=np.random.default_rng(seed))
    graph = sparse.csr_array(random + random.T)  # sums of such weights are rounded
    predictions = np.tile([0.9, 0.1], (50, 1))
    assert mean_assortativity([graph], predictions) == 0.0


def two_groups(sizes):
    """Two cliques, the predictions of the first less and less confident."""
    blocks = [np.ones((size, size)) - np.eye(size) for size in sizes]
    graph = sparse.csr_array(sparse.block_diag(blocks))
    first = np.r_[np.linspace(0.51, 0.95, sizes[0]), np.full(sizes[1], 0.05)]
    return graph, np.column_stack([first, 1 - first])


def test_a_class_prior_that_the_graphs_contradict_is_not_used():
    graph, predictions = two_groups((40, 10))
    y_encoded = np.full(50, -1)
    y_encoded[:5], y_encoded[-5:] = 0, 1  # as many of each, which is no fair sample
    aligned = align_class_prior(predictions, estimate_class_prior(predictions, y_encoded))
    assert mean_assortativity([graph], aligned) < mean_assortativity([graph], predictions) - 0.01
    with_labels, without = (
        PseudoLabeler(class_prior=source)(predictions, y_encoded, [graph])
        for source in ("labels", "predictions")
    )
    np.testing.assert_array_equal(with_labels.targets, without.targets)


def test_parameters_switch_each_part_off():
    """Each part at its neutral value leaves the predictions, or the weights, as they are."""
    predictions, y_encoded, graphs = random_predictions(), some_labels(), [random_graph()]
    neutral = PseudoLabeler(
        class_prior="predictions", weigh_views=False, smoothing=0.0, sharpness=1.0,
        confidence_power=0.0,
    )  # fmt: skip
    made = neutral(predictions, y_encoded, graphs)
    unlabeled = y_encoded < 0
    np.testing.assert_allclose(made.targets[unlabeled], predictions[unlabeled], rtol=1e-5)
    np.testing.assert_array_equal(made.weights, unlabeled.astype(np.float32))
    np.testing.assert_array_equal(made.agreement, [1.0])
    assert neutral.temperature == 1.0


def test_a_strong_prior_of_the_predictions_outweighs_the_labels():
    predictions, y_encoded = random_predictions(certain=3.0), some_labels()
    found = estimate_class_prior(predictions, y_encoded, strength=1e12)
    np.testing.assert_allclose(found, predictions.mean(axis=0), rtol=1e-9)
    labels_alone = estimate_class_prior(np.full((30, 4), 0.25), y_encoded, strength=0.0)
    np.testing.assert_allclose(labels_alone, 0.25)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"class_prior": "sizes"}, "class_prior must be one of 'labels', 'predictions'"),
        ({"prior_strength": -1}, "prior_strength must be at least 0; got -1"),
        ({"smoothing": 1.0}, "smoothing must be at least 0 and below 1; got 1.0"),
        ({"n_steps": 1.5}, "n_steps must be a whole number of at least 0; got 1.5"),
        ({"sharpness": 0}, "sharpness must be above 0; got 0"),
        ({"confidence_power": -2}, "confidence_power must be at least 0; got -2"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(InputError, match=message) as refusal:
        PseudoLabeler(**parameters).check("pseudo_labeler")
    assert refusal.value.parameter == f"pseudo_labeler__{next(iter(parameters))}"


@pytest.mark.parametrize("n_ranks", [2, 3])
def test_processes_that_share_the_rows_make_the_pseudo_labels_of_one(ranks, n_ranks):
    graphs = [random_graph(seed=seed) for seed in (1, 2)]
    predictions, y_encoded = random_predictions(), some_labels()
    alone = PseudoLabeler()(predictions, y_encoded, graphs[:1], early_fusion_graph=graphs[1])
    for shared in ranks.run("make_pseudo_labels", n_ranks, predictions, y_encoded, graphs):
        assert np.allclose(shared.targets, alone.targets, atol=1e-7)
        assert np.allclose(shared.weights, alone.weights, atol=1e-7)
        assert np.allclose(shared.graph_weights, alone.graph_weights, atol=1e-12)
        assert np.allclose(shared.agreement, alone.agreement, atol=1e-12)


@pytest.mark.parametrize("n_ranks", [2, 4])
def test_processes_that_share_the_rows_propagate_as_one(ranks, n_ranks):
    graph = random_graph().toarray()
    graph[0] = graph[:, 0] = 0.0  # a sample without neighbors
    graphs = [sparse.csr_array(graph)]
    predictions, y_encoded = random_predictions(), some_labels()
    alone = propagate(predictions, y_encoded, graphs, np.ones(1))
    for shared in ranks.run("propagate_shared", n_ranks, predictions, y_encoded, graphs):
        assert np.array_equal(shared, alone)
