"""Callbacks of a fit, in the protocol of scikit-learn: one task per fit, one subtask per epoch.

A callback is an object with the four hooks of `sklearn.callback.FitCallback`. A hook may request
X and y, the labeled samples and their labels, and `fitted_estimator`, the estimator as if the fit
ended there. Arguments that no callback requests are not computed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from manyview.callbacks.notebook_bar import suited
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
    """Lets an estimator take callbacks, scikit-learn's and manyview's."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of the next fits, such as a progress bar or an experiment tracker.

        Parameters
        ----------
        *callbacks
            Objects with the hooks of `sklearn.callback.FitCallback`, such as scikit-learn's
            `ProgressBar()` or manyview's `TensorBoardCallback(folder)`; none removes all.
        """
        for callback in callbacks:
            check_callback(callback)
        super().set_callbacks(*callbacks)
        return self


def check_callback(callback: object) -> None:
    """Refuse anything but a callback: a class, a list, an object with missing or wrong hooks."""
    if isinstance(callback, type):
        raise InputTypeError(
            f"a callback must be an object; got the class {callback.__name__}. Create an instance: "
            f"{callback.__name__}(...)."
        )
    if isinstance(callback, (list, tuple)):
        raise InputTypeError(
            f"callbacks must be separate arguments; got a {type(callback).__name__}. Write "
            "set_callbacks(*callbacks)."
        )
    missing = [hook for hook in HOOKS if not callable(getattr(callback, hook, None))]
    if missing:
        raise InputTypeError(
            f"a callback must have the methods {', '.join(HOOKS)}; got {callback!r} without "
            f"{', '.join(missing)}."
        )
    for hook in TASK_HOOKS:
        parameters = signature(getattr(callback, hook)).parameters.values()
        requested = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
        if unknown := [name for name in requested if name not in HOOK_ARGUMENTS]:
            raise InputTypeError(
                f"{hook} of {type(callback).__name__} may request {', '.join(HOOK_ARGUMENTS)}; it "
                f"requests {', '.join(unknown)}. Loss and accuracy are in "
                "estimator.training_curve_."
            )


class CallbackHandler:
    """Calls the callbacks of one fit.

    Parameters
    ----------
    estimator
        The estimator being fitted; its `classes_` are set.
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
        self.arguments = {
            "X": lambda: self.samples[rows],
            "y": lambda: estimator.classes_[y_encoded[rows]],
        }
        root.call_on_fit_task_begin(estimator=estimator, **self.arguments)

    def begin_epoch(self) -> None:
        """Call the callbacks at the start of an epoch."""
        self.epoch = self.root.subcontext(task_name="epoch")
        self.epoch.call_on_fit_task_begin(estimator=self.estimator, **self.arguments)

    def end_epoch(self, curve: Any, logits: Logits) -> bool:
        """Call the callbacks at the end of an epoch; return whether one requests to stop.

        Parameters
        ----------
        curve
            The `TrainingCurve` so far; also set as `training_curve_` of the estimator.
        logits
            Computes the logits of all samples as if training ended here.
        """
        self.estimator.training_curve_ = curve

        def learned() -> dict[str, Any]:
            probabilities = softmax(logits())
            return self._transductive_attributes() | {
                "label_distributions_": probabilities,
                "transduction_": self.estimator.classes_[probabilities.argmax(axis=1)],
                "training_curve_": replace(
                    curve, loss=[*curve.loss], labeled_accuracy=[*curve.labeled_accuracy]
                ),
                "_is_unfinished": True,
            }

        return self.epoch.call_on_fit_task_end(
            estimator=self.estimator, reconstruction_attributes=learned, **self.arguments
        )

    def end(self) -> None:
        """Call the callbacks at the end of the fit."""
        self.root.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=self._transductive_attributes,
            **self.arguments,
        )

    def _transductive_attributes(self) -> dict[str, Any]:
        """Return the attributes that an estimator needs to predict rows of `TransductiveViews`."""
        return {"transductive_checksum_": self.samples.checksum(), "y_": self.y_encoded}


@contextmanager
def callback_context(
    estimator: Any, views: MultiView, y_encoded: np.ndarray
) -> Iterator[CallbackHandler | None]:
    """Set up the estimator's callbacks, and tear them down however the fit ends.

    Yields their handler; None without callbacks.
    """
    callbacks = vars(estimator).get("_skl_callbacks")
    if not callbacks:
        yield None
        return
    estimator._skl_callbacks = [_NamedCallback(suited(one, estimator)) for one in callbacks]
    try:
        root = estimator._init_callback_context(max_subtasks=estimator._max_epochs())
        yield CallbackHandler(estimator, root, views, y_encoded)
    finally:
        try:
            with_callbacks(lambda _: None)(estimator)
        finally:
            estimator._skl_callbacks = callbacks


class _NamedCallback:
    """A callback whose errors name it."""

    def __init__(self, callback: Any) -> None:
        for name in HOOKS:
            setattr(self, name, _named(type(callback).__name__, getattr(callback, name)))
        if hasattr(callback, "max_propagation_depth"):  # optional in scikit-learn's protocol
            self.max_propagation_depth = callback.max_propagation_depth


def _named(callback_name: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(hook)  # scikit-learn reads the requested arguments from the signature
    def call(estimator: Any, context: "CallbackContext", **arguments: Any) -> Any:
        try:
            return hook(estimator, context, **arguments)
        except Exception as error:
            where = f"epoch {context.task_id + 1}" if context.task_name == "epoch" else "the fit"
            first_line = str(error).partition("\n")[0]
            cause = f"{type(error).__name__}: {first_line}".removesuffix(": ").rstrip(".")
            raise CallbackError(
                f"the callback {callback_name} failed in {hook.__name__} of {where}: {cause}. The "
                "model is unchanged; fix the callback, or call set_callbacks without it."
            ) from error

    return call
