"""ReLU and dropout between two convolutions."""

import pytest
import torch

from manyview.layers.activation import activate

SHAPE = (40, 30)


@pytest.fixture
def hidden(generator):
    return torch.randn(SHAPE, generator=generator, dtype=torch.float64).requires_grad_()


def seeded(seed=3):
    return torch.Generator().manual_seed(seed)


def drawn(fraction, dtype=torch.float64):
    """Draw the factors one by one, as the layer does at once."""
    keeps = torch.rand(SHAPE, generator=seeded(), dtype=dtype) >= fraction
    return keeps / (1 - fraction)


def test_nothing_dropped_is_relu(hidden):
    assert torch.equal(activate(hidden), hidden.relu())
    assert torch.equal(activate(hidden, 0.0, seeded()), hidden.relu())


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.9])
def test_value_and_gradient_are_those_of_relu_then_dropout(hidden, generator, fraction):
    expected = hidden.relu() * drawn(fraction)
    activated = activate(hidden, fraction, seeded())
    torch.testing.assert_close(activated, expected, rtol=1e-14, atol=0)
    incoming = torch.randn(SHAPE, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(
        torch.autograd.grad(activated, hidden, incoming),
        torch.autograd.grad(expected, hidden, incoming),
        rtol=1e-14,
        atol=0,
    )
    assert torch.autograd.gradcheck(lambda hidden: activate(hidden, fraction, seeded()), hidden)


def test_in_single_precision_the_bits_are_those_of_the_two_steps(generator):
    hidden = torch.randn(SHAPE, generator=generator).requires_grad_()
    scale = torch.rand(SHAPE, generator=seeded()).ge_(0.3).div_(0.7)
    expected, activated = hidden.relu() * scale, activate(hidden, 0.3, seeded())
    assert torch.equal(activated, expected)
    incoming = torch.randn(SHAPE, generator=generator)
    assert torch.equal(
        *(torch.autograd.grad(one, hidden, incoming)[0] for one in (activated, expected))
    )


def test_the_fraction_is_dropped_and_the_mean_preserved():
    activated = activate(torch.ones(200, 100), 0.3, seeded())
    assert (activated == 0).float().mean().item() == pytest.approx(0.3, abs=0.02)
    assert activated.mean().item() == pytest.approx(1, abs=0.02)


def test_a_generator_continues_its_sequence():
    generator, ones = seeded(), torch.ones(SHAPE)
    first, second = activate(ones, 0.5, generator), activate(ones, 0.5, generator)
    assert not torch.equal(first, second)
    assert torch.equal(first, activate(ones, 0.5, seeded()))
