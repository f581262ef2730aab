"""The context of a fit: its callbacks, an observer of its epochs, and inputs it may share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.callbacks.tasks import CallbackHandler

EpochObserver = Callable[[np.ndarray], None]
_OBSERVER: ContextVar[EpochObserver | None] = ContextVar("manyview_epoch_observer", default=None)


@dataclass(frozen=True)
class FitContext:
    """What accompanies one fit, besides views and labels.

    Attributes
    ----------
    tasks
        Reports epochs to the estimator's callbacks; None without callbacks.
    observer
        Called after every epoch with the class number the network would then give each sample.
    cache
        Prepared inputs shared by fits on the same samples; None where nothing is shared.
    """

    tasks: CallbackHandler | None = None
    observer: EpochObserver | None = None
    cache: dict[Any, Any] | None = None


@contextmanager
def observe_epochs(observer: EpochObserver) -> Iterator[None]:
    """Pass every sample's predicted label to `observer` after each epoch of a fit in this block."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def current_observer() -> EpochObserver | None:
    """Return the observer of the enclosing `observe_epochs` block, if there is one."""
    return _OBSERVER.get()
