"""The tasks of a fit, as scikit-learn's callbacks see them: the fit, and below it every epoch.

A callback is an object with the four hooks of `sklearn.callback.FitCallback`. It may ask for X
and y, which are the labeled samples and their labels, and for `fitted_estimator`, which predictions
as the fit would if it ended there; what no callback asks for is not made.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from manyview.callbacks.sklearn_compat import HOOK_ARGUMENTS
from manyview.data.cross_validation import TransductiveViews
from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView
from manyview.errors import CallbackError, InputTypeError
from manyview.numerics import softmax

if TYPE_CHECKING:
    from manyview.callbacks.sklearn_compat import (
        CallbackContext,
        CallbackSupportMixin,
        with_callbacks,
    )
else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn below 1.9
        from manyview.callbacks.sklearn_compat import CallbackSupportMixin, with_callbacks

TASK_HOOKS = ("on_fit_task_begin", "on_fit_task_end")
HOOKS = ("setup", "teardown", *TASK_HOOKS)
Logits = Callable[[], np.ndarray]


class CallbackMixin(CallbackSupportMixin):
    """Lets a method take callbacks, scikit-learn's and ours."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set what is told about the next fits: a progress bar, a monitor, a tracker of runs.

        Parameters
        ----------
        *callbacks
            Objects with the hooks of `sklearn.callback.FitCallback`, such as scikit-learn's
            `ProgressBar()` or our `TensorBoardCallback(folder)`; none takes all away.
        """
        for callback in callbacks:
            check_callback(callback)
        super().set_callbacks(*callbacks)
        return self


def check_callback(callback: object) -> None:
    """Refuse what is no callback: a class, a list, an object with hooks that do not fit."""
    if isinstance(callback, type):
        raise InputTypeError(
            f"a callback must be an object; got the class {callback.__name__}. Make one of it: "
            f"{callback.__name__}(...)."
        )
    if isinstance(callback, (list, tuple)):
        raise InputTypeError(
            f"callbacks must be given one by one; got a {type(callback).__name__}. Write "
            "set_callbacks(*callbacks)."
        )
    lacking = [hook for hook in HOOKS if not callable(getattr(callback, hook, None))]
    if lacking:
        raise InputTypeError(
            f"a callback must have the methods {', '.join(HOOKS)}; got {callback!r}, which lacks "
            f"{', '.join(lacking)}."
        )
    for hook in TASK_HOOKS:
        parameters = signature(getattr(callback, hook)).parameters.values()
        asked = [given.name for given in parameters if given.kind is given.KEYWORD_ONLY]
        if unknown := [name for name in asked if name not in HOOK_ARGUMENTS]:
            raise InputTypeError(
                f"{hook} of {type(callback).__name__} may ask for {', '.join(HOOK_ARGUMENTS)}; it "
                f"asks for {', '.join(unknown)}. Loss and accuracy are in "
                "estimator.training_curve_."
            )


class CallbackHandler:
    """Tells the callbacks of one fit what happens in it.

    Parameters
    ----------
    estimator
        The method that is being fitted; its `classes_` are known.
    root
        The task of the fit.
    views, y_encoded
        All samples, and their class numbers, -1 where unknown.
    """

    def __init__(
        self, estimator: Any, root: "CallbackContext", views: MultiView, y_encoded: np.ndarray
    ) -> None:
        self.estimator = estimator
        self.root, self.epoch = root, root
        self.y_encoded = y_encoded
        self.samples = TransductiveViews(views)
        if estimator.transductive_checksum_ is not None:
            self.samples.shared["checksum"] = estimator.transductive_checksum_
        rows = np.flatnonzero(y_encoded != UNKNOWN)
        self.offered = {
            "X": lambda: self.samples[rows],
            "y": lambda: estimator.classes_[y_encoded[rows]],
        }
        root.call_on_fit_task_begin(estimator=estimator, **self.offered)

    def begin_epoch(self) -> None:
        """Tell that an epoch begins."""
        self.epoch = self.root.subcontext(task_name="epoch")
        self.epoch.call_on_fit_task_begin(estimator=self.estimator, **self.offered)

    def end_epoch(self, curve: Any, logits: Logits) -> bool:
        """Tell that the epoch has ended; say whether a callback wants the training to stop.

        Parameters
        ----------
        curve
            The `TrainingCurve` so far; the estimator has it as `training_curve_`.
        logits
            Makes the logits of all samples, as they would be if training ended here.
        """
        self.estimator.training_curve_ = curve

        def learned() -> dict[str, Any]:
            shares = softmax(logits())
            return self._predictions() | {
                "label_distributions_": shares,
                "transduction_": self.estimator.classes_[shares.argmax(axis=1)],
                "training_curve_": replace(
                    curve, loss=[*curve.loss], labeled_accuracy=[*curve.labeled_accuracy]
                ),
                "_is_unfinished": True,
            }

        return self.epoch.call_on_fit_task_end(
            estimator=self.estimator, reconstruction_attributes=learned, **self.offered
        )

    def end(self) -> None:
        """Tell that the fit has ended, all of it learned."""
        self.root.call_on_fit_task_end(
            estimator=self.estimator, reconstruction_attributes=self._predictions, **self.offered
        )

    def _predictions(self) -> dict[str, Any]:
        """Attributes by which an estimator predictions for rows of `TransductiveViews`."""
        return {"transductive_checksum_": self.samples.checksum(), "y_": self.y_encoded}


@contextmanager
def callback_context(
    estimator: Any, views: MultiView, y_encoded: np.ndarray
) -> Iterator[CallbackHandler | None]:
    """Set up the estimator's callbacks, and tear them down however the fit ends.

    Yields nothing to tell where there are none.
    """
    callbacks = getattr(estimator, "_skl_callbacks", None)
    if not callbacks:
        yield None
        return
    estimator._skl_callbacks = [_Named(callback) for callback in callbacks]
    try:
        root = estimator._init_callback_context(max_subtasks=estimator._max_epochs())
        yield CallbackHandler(estimator, root, views, y_encoded)
    finally:
        try:
            with_callbacks(lambda _: None)(estimator)
        finally:
            estimator._skl_callbacks = callbacks


class _Named:
    """A callback whose errors say which callback they come from."""

    def __init__(self, callback: Any) -> None:
        for name in HOOKS:
            setattr(self, name, _named(type(callback).__name__, getattr(callback, name)))
        if hasattr(callback, "max_propagation_depth"):
            self.max_propagation_depth = callback.max_propagation_depth


def _named(callback_name: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(hook)  # scikit-learn reads from the signature what the hook asks for
    def call(estimator: Any, context: "CallbackContext", **asked: Any) -> Any:
        try:
            return hook(estimator, context, **asked)
        except Exception as error:
            where = f"epoch {context.task_id + 1}" if context.task_name == "epoch" else "the fit"
            first_line = str(error).partition("\n")[0]
            told = f"{type(error).__name__}: {first_line}".removesuffix(": ").rstrip(".")
            raise CallbackError(
                f"the callback {callback_name} failed in {hook.__name__} of {where}: {told}. The "
                "model is as it was before; mend the callback, or call set_callbacks without it."
            ) from error

    return call
