"""Warm start: a second fit on the same samples continues from the weights of the first.

A network that continues from weights that fit few labels perfectly stays near them and predicts
worse than a fresh one. So the second fit starts halfway between learned and fresh weights
(J. T. Ash, R. P. Adams: On warm-starting neural network training. NeurIPS 2020).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from manyview.errors import InputError

LEARNED_FRACTION = 0.5  # of the learned weights in the initial ones; the rest is fresh
TARGET_LOSS = 0.03  # a warm start is done at this loss: the added labels are fitted
WAY_OUT = "Set warm_start=False, or fit a new model, to start from scratch."


@dataclass(frozen=True)
class LearnedWeights:
    """What a later fit continues from."""

    checksum: str  # of the views
    settings: dict[str, Any]  # parameters that decide the graphs and the shapes of the weights
    n_neighbors: int  # the k of the graphs
    classes: np.ndarray  # [class] what the columns of the last layer stand for
    weights: dict[str, np.ndarray]  # the network's weights by name

    def check(self, checksum: str, settings: Mapping[str, Any]) -> None:
        """Refuse to continue with other samples or other settings."""
        if checksum != self.checksum:
            raise InputError(
                "warm_start continues from the last fit and needs its samples: the same views with "
                f"the same rows in the same order; the views given differ. {WAY_OUT}"
            )
        for name, value in settings.items():
            if value != self.settings[name]:
                raise InputError(
                    "warm_start continues from the weights of the last fit, which had "
                    f"{name}={self.settings[name]!r}; got {name}={value!r}. {WAY_OUT}"
                )

    def start(self, network: nn.Module, last_layer: nn.Parameter, classes: np.ndarray) -> None:
        """Move the weights of a new network of these classes halfway to the learned ones."""
        interpolate_weights(
            network, last_layer, self.weights, known_classes=self.classes, classes=classes
        )


def weights_of(network: nn.Module) -> dict[str, np.ndarray]:
    """Copy the network's weights, by name."""
    return {
        name: value.detach().cpu().numpy().copy() for name, value in network.state_dict().items()
    }


@torch.no_grad()
def interpolate_weights(
    network: nn.Module,
    last_layer: nn.Parameter,
    weights: Mapping[str, np.ndarray],
    *,
    known_classes: np.ndarray,
    classes: np.ndarray,
    fraction: float = LEARNED_FRACTION,
) -> None:
    """Interpolate between the weights of a new network and learned ones, in place.

    The last layer has one column per class: those of known classes move to their new places, and
    those of new classes stay fresh.

    Shapes
    ------
    last_layer : [input, class], a parameter of the network
    known_classes : [known class], of `weights`
    classes : [class], of the network
    """
    column_of = {label: column for column, label in enumerate(known_classes.tolist())}
    pairs = [
        (new, column_of[label]) for new, label in enumerate(classes.tolist()) if label in column_of
    ]
    for name, parameter in network.named_parameters():
        learned = torch.from_numpy(weights[name]).to(parameter)
        if parameter is not last_layer:
            parameter.lerp_(learned.reshape(parameter.shape), fraction)  # files have no 0-D arrays
        elif pairs:
            new, old = (list(columns) for columns in zip(*pairs, strict=True))
            parameter[:, new] = torch.lerp(parameter[:, new], learned[:, old], fraction)
