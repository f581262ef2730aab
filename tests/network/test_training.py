"""Training fits the labels, stops when the loss is flat, and keeps the best weights on Ctrl-C."""

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import nn

from manyview.callbacks.context import FitContext
from manyview.errors import InputError
from manyview.network.training import TrainingCurve, train, train_network


class Line(nn.Module):
    """Logits by a linear map, and a place to interrupt."""

    def __init__(self, interrupt_at=None):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 2))
        self.interrupt_at = interrupt_at
        self.seen = []  # the weights of each pass

    def forward(self, features, generator=None):
        self.seen.append(self.weight.detach().clone())
        if len(self.seen) == self.interrupt_at:
            raise KeyboardInterrupt
        return features @ self.weight


FEATURES = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
LABELS = torch.tensor([0, 1, -1])
SETTINGS = {"learning_rate": 0.1, "max_epochs": 500, "tol": 1e-3}


def test_training_fits_the_labeled_samples_and_converges():
    network = Line()
    curve = train(network, (FEATURES,), LABELS, **SETTINGS)
    assert curve.stopped == "converged"
    assert curve.n_epochs < 500
    assert curve.labeled_accuracy[-1] == 1.0
    assert not network.training


def test_unlabeled_samples_do_not_change_the_loss():
    one, two = Line(), Line()
    train(one, (FEATURES,), LABELS, **SETTINGS)
    train(two, (FEATURES * torch.tensor([[1.0], [1.0], [9.0]]),), LABELS, **SETTINGS)
    torch.testing.assert_close(one.weight, two.weight)


def test_training_stops_at_max_epochs():
    curve = train(Line(), (FEATURES,), LABELS, **(SETTINGS | {"max_epochs": 5}))
    assert (curve.stopped, curve.n_epochs) == ("max_epochs", 5)


def test_interrupt_keeps_the_weights_of_the_lowest_loss():
    network = Line(interrupt_at=8)
    curve = train(network, (FEATURES,), LABELS, **SETTINGS)
    assert (curve.stopped, curve.n_epochs) == ("interrupted", 7)
    # The loss falls all the way, so the seventh and last whole pass had the best weights.
    torch.testing.assert_close(network.weight.detach(), network.seen[6])


def test_network_is_left_with_the_mean_of_its_last_weights():
    network = Line()
    train(network, (FEATURES,), LABELS, **(SETTINGS | {"max_epochs": 40, "tol": 0.0}))
    after_step = Line()
    last = []
    train(
        after_step,
        (FEATURES,),
        LABELS,
        **(SETTINGS | {"max_epochs": 40, "tol": 0.0}),
        on_epoch=lambda *_: last.append(after_step.weight.detach().clone()),
    )
    mean = torch.zeros(3, 2)
    for number, weight in enumerate(last, start=1):
        rate = 1 / min(10, 1 + number // 2)
        mean = (1 - rate) * mean + rate * weight
    torch.testing.assert_close(network.weight.detach(), mean)
    assert (network.weight - last[-1]).abs().max() > 1e-3


def test_interrupt_before_the_first_epoch_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        train(Line(interrupt_at=1), (FEATURES,), LABELS, **SETTINGS)


def test_a_loss_that_is_not_finite_is_refused():
    with pytest.raises(InputError, match=r"training diverged.*Lower learning_rate"):
        train(Line(), (FEATURES * float("inf"),), LABELS, **SETTINGS)


def test_convergence_needs_twenty_epochs_and_a_flat_loss():
    assert not TrainingCurve(loss=[1.0] * 19).has_converged(1e-3)
    assert TrainingCurve(loss=[1.0] * 20).has_converged(1e-3)
    assert not TrainingCurve(loss=[1.0] * 10 + [0.9] * 10).has_converged(1e-3)


def test_on_epoch_is_called_every_epoch():
    seen = []
    settings = SETTINGS | {"max_epochs": 3}
    train(
        Line(),
        (FEATURES,),
        LABELS,
        **settings,
        on_epoch=lambda curve, _: seen.append(curve.n_epochs),
    )
    assert seen == [1, 2, 3]


class TwoLines(Line):
    """A second weight that learns from the same gradient as the first."""

    def __init__(self):
        super().__init__()
        self.other = nn.Parameter(torch.zeros(3, 2))

    def forward(self, features, generator=None):
        return features @ (self.weight + self.other)


def test_weight_decay_spares_the_parameters_not_decayed():
    network = TwoLines()
    train(
        network,
        (FEATURES,),
        LABELS,
        **(SETTINGS | {"max_epochs": 50}),
        weight_decay=0.5,
        not_decayed=[network.other],
    )
    assert network.other.abs().max() > 3 * network.weight.abs().max()


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_not_decaying_anything_is_training_without_decay(decay):
    one, two = TwoLines(), TwoLines()
    settings = SETTINGS | {"max_epochs": 50}
    train(one, (FEATURES,), LABELS, **settings, weight_decay=decay, not_decayed=[*one.parameters()])
    train(two, (FEATURES,), LABELS, **settings)
    torch.testing.assert_close(one.weight, two.weight, rtol=0, atol=0)


def test_training_lowers_the_loss_it_is_given():
    network = Line()
    seen = []

    def squared(logits, labels, class_weight):
        seen.append((tuple(logits.shape), labels.tolist(), class_weight.tolist()))
        return (logits - 2.0).square().mean()

    weight = torch.tensor([1.0, 2.0])
    curve = train(network, (FEATURES,), LABELS, **SETTINGS, loss_of=squared, class_weight=weight)
    assert seen[0] == ((2, 2), [0, 1], [1.0, 2.0])
    assert curve.loss[0] == 4.0
    torch.testing.assert_close(network.weight[:2], torch.full((2, 2), 2.0), atol=0.1, rtol=0)


def test_after_step_gets_the_loss_of_a_fresh_pass():
    network = Line()
    fresh = []
    curve = train(
        network,
        (FEATURES,),
        LABELS,
        **(SETTINGS | {"max_epochs": 5}),
        after_step=lambda loss: fresh.append(loss().item()),
    )
    assert fresh[:-1] == curve.loss[1:]  # without dropout: that of the next epoch


def test_changes_after_a_step_are_in_the_mean_of_the_weights():
    network = Line()
    network.other = nn.Parameter(torch.zeros(1), requires_grad=False)
    settings = SETTINGS | {"max_epochs": 30, "tol": 0.0}
    train(network, (FEATURES,), LABELS, **settings, after_step=lambda loss: network.other.add_(1))
    assert 15 < network.other.item() < 29


def test_training_from_numpy_weights_classes_and_warns_after_an_interrupt():
    settings = SETTINGS | {
        "generator": torch.Generator(),
        "verbose": False,
        "context": FitContext(),
    }
    y_encoded = LABELS.numpy()
    network = Line()
    train_network(network, (FEATURES,), y_encoded, **settings, class_weight=np.array([1.0, 0.0]))
    assert network.weight[1].abs().max() == 0
    with pytest.warns(ConvergenceWarning, match="fit was interrupted after 7 epochs; the weights"):
        train_network(Line(interrupt_at=8), (FEATURES,), y_encoded, **settings, class_weight=None)


@pytest.mark.parametrize(
    ("loss", "target_loss", "is_reached"),
    [
        ([0.01] * 10, 0.01, True),
        ([0.01] * 9, 0.01, False),
        ([0.01] * 10, None, False),
        ([0.5] * 5 + [0.0] * 5, 0.2, False),
        ([1 - 0.04 * epoch for epoch in range(20)], 0.01, False),
    ],
)
def test_a_loss_at_its_target_ends_the_training(loss, target_loss, is_reached):
    assert TrainingCurve(loss=loss).has_reached(target_loss) is is_reached
