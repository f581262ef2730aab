"""The epochs of the classifier's own training, timed from outside."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from torch import nn

from manyview.estimators import mgcn_dns, network_classifier
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


@dataclass
class FitClock:
    """Times of one whole fit of the default, taken while `watching`.

    Attributes
    ----------
    fixed, learned
        Seconds of every epoch while the graph is fixed, and while it is learned.
    training
        Seconds of all trainings.
    graphs_end
        When the graphs were built, on the clock of `time.perf_counter`.
    counted
        What a counter grew by per epoch in the last training of each kind.
    """

    fixed: list[float] = field(default_factory=list)
    learned: list[float] = field(default_factory=list)
    training: float = 0.0
    graphs_end: float = 0.0
    counted: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def watching(self, counter: Callable[[], float] = lambda: 0.0) -> Iterator[None]:
        """Time the fit within a block, and read a counter before and after each training."""
        prepare = network_classifier.cached_inputs

        def prepared(*arguments: Any, **settings: Any) -> Any:
            found = prepare(*arguments, **settings)
            self.graphs_end = time.perf_counter()
            return found

        def timed(train: Callable[..., Any], network: nn.Module, *rest: Any, **own: Any) -> Any:
            begin, before, clock = time.perf_counter(), counter(), EpochClock(network)
            curve = train(network, *rest, **own)
            kind = "learned" if hasattr(network, "fusion") else "fixed"
            getattr(self, kind).extend(clock.stop())
            self.training += time.perf_counter() - begin
            self.counted[kind] = (counter() - before) / curve.n_epochs
            return curve

        with (
            instead_of_training(timed),
            mock.patch.object(network_classifier, "cached_inputs", prepared),
        ):
            yield


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
