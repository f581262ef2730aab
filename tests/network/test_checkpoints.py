"""Copies of weights: saved, used for a block, and restored."""

import pytest
import torch
from torch import nn

from manyview.network.checkpoints import BestWeights, MeanWeights, WeightSnapshot


def set_weight(network, value):
    with torch.no_grad():
        network.weight.fill_(value)


@pytest.fixture
def network():
    network = nn.Linear(2, 1, bias=False)
    set_weight(network, 1.0)
    return network


def test_a_snapshot_does_not_follow_the_network_and_is_restored(network):
    snapshot = WeightSnapshot(network)
    set_weight(network, 5.0)
    snapshot.restore()
    assert (network.weight == 1.0).all()


def test_a_snapshot_is_used_within_a_block_also_after_an_error(network):
    snapshot = WeightSnapshot(network)
    set_weight(network, 5.0)

    def fail_within():
        with snapshot.in_place():
            assert (network.weight == 1.0).all()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_within()
    assert (network.weight == 5.0).all()


def test_the_weights_of_the_lowest_loss_are_restored(network):
    best = BestWeights(network)
    for weight, loss in ((2.0, 0.7), (3.0, 0.4), (4.0, 0.6)):
        set_weight(network, weight)
        best.update(loss)
    best.restore()
    assert (best.loss, network.weight[0, 0].item()) == (0.4, 3.0)


def test_the_mean_of_constant_weights_converges_to_them(network):
    mean = MeanWeights(network, n_epochs=3)
    set_weight(network, 7.0)
    for _ in range(30):
        mean.add()
    mean.restore()
    torch.testing.assert_close(network.weight, torch.full((1, 2), 7.0))
