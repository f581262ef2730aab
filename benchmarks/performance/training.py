"""The epochs of the classifier's own training, timed from outside."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from torch import nn

from manyview.estimators import mgcn_dns
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

NEVER = -float("inf")  # a tolerance that no training meets


@contextmanager
def instead_of_training(function: Callable[..., Any]) -> Iterator[None]:
    """Let `fit` call `function(train, network, *arguments, **settings)` instead of training."""
    train = mgcn_dns.train_network

    def called(network: nn.Module, *arguments: Any, **settings: Any) -> Any:
        return function(train, network, *arguments, **settings)

    with mock.patch.object(mgcn_dns, "train_network", called):
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


class Training(NamedTuple):
    """A training that `fit` was about to begin."""

    train: Callable[..., Any]
    network: Any
    inputs: Any
    arguments: tuple[Any, ...]
    settings: dict[str, Any]

    def epochs(self, n_epochs: int) -> list[float]:
        """Continue training and return the seconds of each epoch after one to warm up."""
        clock = EpochClock(self.network)
        settings = self.settings | {"max_epochs": n_epochs + 1, "tol": NEVER}
        self.train(self.network, self.inputs, *self.arguments, **settings)
        return clock.stop()


class _Caught(Exception):  # noqa: N818
    """Leaves `fit` and carries its training."""

    def __init__(self, training: Training) -> None:
        self.training = training


def catch_training(
    model: MGCNDNSClassifier, views: Sequence[np.ndarray], labels: np.ndarray
) -> Training:
    """Prepare everything as `fit` does, and return its training instead of running it."""

    def catch(
        train: Callable[..., Any], network: nn.Module, inputs: Any, *rest: Any, **settings: Any
    ) -> None:
        raise _Caught(Training(train, network, inputs, rest, settings))

    try:
        with instead_of_training(catch):
            model.fit(views, labels)
    except _Caught as caught:
        return caught.training
    raise RuntimeError("fit did not train")
