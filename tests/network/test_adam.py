"""The optimizer takes the very steps of torch's own."""

import copy
import subprocess
import sys

import pytest
import torch
from torch import nn

from manyview.network.adam import Adam


def make_network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(7, 37), nn.Tanh(), nn.Linear(37, 3), nn.Linear(3, 1))


def test_copied_tensors_let_another_optimizer_take_the_same_steps():
    inputs = torch.randn(20, 7, generator=torch.Generator().manual_seed(1))
    network = make_network()

    def steps(one, optimizer):
        for _ in range(3):
            optimizer.zero_grad()
            one(inputs).square().mean().backward()
            optimizer.step()

    first = Adam([(list(network.parameters()), 0.1, 1.0)], learning_rate=0.1)
    steps(network, first)
    other = copy.deepcopy(network)
    second = Adam([(list(other.parameters()), 0.1, 1.0)], learning_rate=0.1)
    for own, given in zip(second.tensors(), first.tensors(), strict=True):
        own.copy_(given)
    steps(network, first)
    steps(other, second)
    for one, again in zip(network.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, again)


@pytest.mark.parametrize("weight_decay", [0.0, 5e-4, 0.1])
@pytest.mark.parametrize("learning_rate", [0.01, 0.3])
def test_50_steps_equal_those_of_torch_to_the_bit(weight_decay, learning_rate):
    network = make_network()
    literal = copy.deepcopy(network)
    decayed, rest = ([one.weight for one in (n[0], n[2])] for n in (network, literal)), []
    mine, theirs = decayed
    for one, own in ((network, mine), (literal, theirs)):
        rest.append([p for p in one.parameters() if all(p is not other for other in own)])
    optimizer = Adam([(mine, weight_decay, 1.0), (rest[0], 0.0, 0.5)], learning_rate=learning_rate)
    groups = [
        {"params": theirs, "weight_decay": weight_decay},
        {"params": rest[1], "weight_decay": 0.0, "lr": 0.5 * learning_rate},
    ]
    expected = torch.optim.Adam(groups, lr=learning_rate, fused=True)
    inputs = torch.randn(20, 7, generator=torch.Generator().manual_seed(1))
    for _ in range(50):
        for one, steps in ((network, optimizer), (literal, expected)):
            steps.zero_grad()
            one(inputs).square().mean().backward()
            steps.step()
        for one, other in zip(network.parameters(), literal.parameters(), strict=True):
            assert torch.equal(one, other)


def test_parameters_without_a_gradient_stay_and_count_no_steps():
    network, literal = make_network(), make_network()
    optimizer = Adam([(list(network.parameters()), 0.1, 1.0)], learning_rate=0.1)
    expected = torch.optim.Adam(literal.parameters(), lr=0.1, weight_decay=0.1, fused=True)
    before = network[3].weight.detach().clone()
    inputs = torch.ones(4, 7)
    for n_layers in (3, 3, 4, 3):  # the last layer gets its only gradient in the third step
        for one, steps in ((network, optimizer), (literal, expected)):
            steps.zero_grad()
            one[:n_layers](inputs).square().sum().backward()
            steps.step()
        if n_layers == 3 and torch.equal(before, literal[3].weight):
            assert torch.equal(network[3].weight, before)
    for one, other in zip(network.parameters(), literal.parameters(), strict=True):
        assert torch.equal(one, other)
    assert not torch.equal(network[3].weight, before)


def test_a_group_without_parameters_is_allowed():
    Adam([([], 0.1, 1.0)], learning_rate=0.1).step()


def test_a_fit_does_not_import_the_compiler_of_torch():
    code = (
        "import sys, numpy as np, manyview\n"
        "views, y = manyview.make_multiview_classification(60, 2, n_classes=2, random_state=0)\n"
        "y = manyview.hide_labels(y, 0.2, random_state=0)\n"
        "manyview.MGCNDNSClassifier(random_state=0).fit(views, y)\n"
        "print([n for n in ('torch._dynamo', 'sympy', 'torch._inductor') if n in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "[]"
