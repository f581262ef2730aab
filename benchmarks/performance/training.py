"""The epochs of the classifier's own training, watched from outside."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from torch import nn

from manyview import classifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

NEVER = -float("inf")  # a tolerance that no training meets
Train = Callable[..., Any]


@contextmanager
def instead_of_training(function: Callable[..., Any]) -> Iterator[None]:
    """Have `fit` call `function(train, network, *arguments, **settings)` where it would train."""
    train = classifier.train_network

    def called(network: nn.Module, *arguments: Any, **settings: Any) -> Any:
        return function(train, network, *arguments, **settings)

    with mock.patch.object(classifier, "train_network", called):
        yield


class EpochClock:
    """Seconds of every epoch of a training: from one pass of the network to the next."""

    def __init__(self, network: nn.Module) -> None:
        self._stamps: list[float] = []
        self._hook = network.register_forward_pre_hook(
            lambda *_: self._stamps.append(time.perf_counter())
        )

    def stop(self) -> list[float]:
        """Return the seconds of every epoch but the first, which sets up the optimizer."""
        self._hook.remove()
        stamps = [*self._stamps, time.perf_counter()]
        return np.diff(stamps)[1:].tolist()


@dataclass(frozen=True)
class Training:
    """A training that `fit` was about to begin."""

    train: Train
    network: Any
    inputs: Any
    arguments: tuple[Any, ...]
    settings: dict[str, Any]

    def epochs(self, n_epochs: int) -> list[float]:
        """Train on and return the seconds of each epoch, one more to warm up left out."""
        clock = EpochClock(self.network)
        settings = self.settings | {"max_epochs": n_epochs + 1, "tol": NEVER}
        self.train(self.network, self.inputs, *self.arguments, **settings)
        return clock.stop()


class _Caught(Exception):  # noqa: N818
    """Leaves `fit` with its training in the hand."""

    def __init__(self, training: Training) -> None:
        self.training = training


def catch_training(
    model: MGCNDNSClassifier, views: Sequence[np.ndarray], labels: np.ndarray
) -> Training:
    """Prepare everything as `fit` does, and hand out its training in place of running it."""

    def catch(train: Train, network: nn.Module, inputs: Any, *rest: Any, **settings: Any) -> None:
        raise _Caught(Training(train, network, inputs, rest, settings))

    try:
        with instead_of_training(catch):
            model.fit(views, labels)
    except _Caught as caught:
        return caught.training
    raise RuntimeError("fit did not train")
