"""The context of a fit: its callbacks, an observer of its epochs, and cached inputs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.callbacks.tasks import CallbackHandler

EpochObserver = Callable[[np.ndarray], None]
EpochCheck = Callable[[], None]
_OBSERVER: ContextVar[EpochObserver | None] = ContextVar("manyview_epoch_observer", default=None)
_CHECK: ContextVar[EpochCheck | None] = ContextVar("manyview_epoch_check", default=None)


@dataclass(frozen=True)
class FitContext:
    """The context of one fit, in addition to views and labels.

    Attributes
    ----------
    callbacks
        Calls the estimator's callbacks; None without callbacks.
    observer
        Called after every epoch with the predicted class number of each sample.
    cache
        Prepared inputs of other fits on the same samples; None caches nothing.
    sample_weight
        [sample] how much the label of each sample counts; None where all count the same.
    """

    callbacks: CallbackHandler | None = None
    observer: EpochObserver | None = None
    cache: dict[Any, Any] | None = None
    sample_weight: np.ndarray | None = None


@contextmanager
def observe_epochs(observer: EpochObserver) -> Iterator[None]:
    """Pass the predicted class numbers to `observer` after each epoch of a fit in this block."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def current_observer() -> EpochObserver | None:
    """Return the observer of the enclosing `observe_epochs` block, or None."""
    return _OBSERVER.get()


@contextmanager
def check_epochs(check: EpochCheck) -> Iterator[None]:
    """Call `check` after each epoch of a fit in this block; it may raise to end the fit.

    Unlike an observer it gets no predictions, which take a pass through the network.
    """
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def current_check() -> EpochCheck | None:
    """Return the check of the enclosing `check_epochs` block, or None."""
    return _CHECK.get()
