"""Random propagation equals literal loops over GRAND's equations."""

import numpy as np
import pytest
import torch

from manyview.layers.random_propagation import (
    consistency_loss,
    drop_nodes,
    mixed_order,
    sharpen,
)


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.fixture
def signal(generator):
    return torch.randn(9, 4, dtype=torch.float64, generator=generator)


def literal_consistency(logits, temperature):
    """1/S sum_s 1/n sum_i sum_c (p_sic - q_ic)^2, one number at a time."""
    n_draws, n_nodes, n_classes = logits.shape
    exponentials = np.exp(logits.numpy())
    total = 0.0
    for i in range(n_nodes):
        rows = [exponentials[s, i] / exponentials[s, i].sum() for s in range(n_draws)]
        mean = [sum(row[c] for row in rows) / n_draws for c in range(n_classes)]
        powers = [value ** (1 / temperature) for value in mean]
        for row in rows:
            for c in range(n_classes):
                total += (row[c] - powers[c] / sum(powers)) ** 2
    return total / n_draws / n_nodes


@pytest.mark.parametrize("n_steps", [0, 1, 4])
def test_mixed_order_equals_literal_powers(tiny_graph, signal, n_steps):
    powers = [torch.matrix_power(tiny_graph.matrix, k) for k in range(n_steps + 1)]
    expected = sum(power @ signal for power in powers) / (n_steps + 1)
    found = mixed_order(tiny_graph.support, tiny_graph.weights, signal, n_steps)
    torch.testing.assert_close(found, expected)


def test_mixed_order_of_no_hop_is_the_signal(tiny_graph, signal):
    found = mixed_order(tiny_graph.support, tiny_graph.weights, signal, 0)
    torch.testing.assert_close(found, signal)


def test_mixed_order_follows_renumbered_nodes(tiny_graph, signal, generator):
    order = torch.randperm(9, generator=generator)
    renumbered = tiny_graph.renumbered(order)
    before = mixed_order(tiny_graph.support, tiny_graph.weights, signal, 3)
    after = mixed_order(renumbered.support, renumbered.weights, signal[order], 3)
    torch.testing.assert_close(after, before[order])


def test_gradients_are_those_of_finite_differences(tiny_graph, signal):
    signal = signal.requires_grad_()
    support, weights = tiny_graph.support, tiny_graph.weights
    assert torch.autograd.gradcheck(lambda x: mixed_order(support, weights, x, 3), signal)
    assert torch.autograd.gradcheck(
        lambda x: drop_nodes(x, 0.4, torch.Generator().manual_seed(1)), signal
    )


def test_nodes_are_dropped_whole_and_the_mean_stays(generator):
    ones = torch.ones(20_000, 3, dtype=torch.float64)
    kept = drop_nodes(ones, 0.4, generator)
    assert set(kept.flatten().tolist()) == {0.0, 1 / 0.6}
    assert (kept == kept[:, :1]).all()
    assert kept.mean().item() == pytest.approx(1, abs=0.02)
    assert drop_nodes(ones, 0.0, generator) is ones


@pytest.mark.parametrize("temperature", [0.5, 1.0, 0.1])
def test_consistency_equals_a_literal_loop(generator, temperature):
    logits = torch.randn(3, 5, 4, dtype=torch.float64, generator=generator)
    expected = literal_consistency(logits, temperature)
    assert consistency_loss(logits, temperature).item() == pytest.approx(expected)


def test_consistency_has_the_gradient_of_a_fixed_target(generator):
    logits = torch.randn(2, 3, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    target = sharpen(logits.detach().softmax(dim=2).mean(dim=0), 0.5)

    def with_fixed_target(values):
        return (values.softmax(dim=2) - target).square().sum(dim=2).mean()

    assert torch.autograd.gradcheck(with_fixed_target, logits)
    (expected,) = torch.autograd.grad(with_fixed_target(logits), logits)
    (found,) = torch.autograd.grad(consistency_loss(logits, 0.5), logits)
    torch.testing.assert_close(found, expected)


def test_one_draw_is_compared_with_its_own_sharpened_prediction():
    logits = torch.log(torch.tensor([[[0.75, 0.25]]]))
    assert consistency_loss(logits, 0.5).item() == pytest.approx(2 * 0.15**2)
    assert consistency_loss(logits, 1.0).item() == pytest.approx(0, abs=1e-12)


def test_sharpening_towards_zero_is_one_hot_without_nan():
    sharp = sharpen(torch.tensor([[0.3, 0.7, 0.0], [0.2, 0.2, 0.6]]), 1e-3)
    torch.testing.assert_close(sharp, torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
