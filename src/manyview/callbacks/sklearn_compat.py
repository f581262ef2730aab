"""The part of `sklearn.callback` (scikit-learn 1.9) that estimators use, for older versions.

Names and order of calls are the same, so that one callback works with all versions. Nested
estimators are left out, because no estimator below 1.9 passes callbacks on.
"""

import copy
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import wraps
from inspect import signature
from typing import Any, Self

HOOK_ARGUMENTS = ("X", "y", "metadata", "fitted_estimator")


class CallbackContext:
    """One task of a fit: the fit itself, or an epoch of it.

    Attributes
    ----------
    task_name, task_id
        Name of the task, and its number among its siblings, from 0.
    max_subtasks
        Maximum number of subtasks; None if unknown.
    parent
        The task it belongs to; None for the fit.
    root_uuid
        The same for all tasks of one fit.
    """

    source_estimator_name = source_task_name = None  # of a task merged with another estimator's

    def __init__(
        self,
        callbacks: list[Any],
        estimator_name: str,
        task_name: str,
        *,
        task_id: int = 0,
        max_subtasks: int | None = 0,
        sequential_subtasks: bool = True,
        parent: "CallbackContext | None" = None,
    ) -> None:
        self._callbacks = callbacks
        self.estimator_name = estimator_name
        self.task_name = task_name
        self.task_id = task_id
        self.max_subtasks = max_subtasks
        self.sequential_subtasks = sequential_subtasks
        self.parent = parent
        self.root_uuid: uuid.UUID = uuid.uuid4() if parent is None else parent.root_uuid
        self.init_time = datetime.now(UTC)
        self._children: list[CallbackContext] = []

    def __iter__(self) -> Iterator["CallbackContext"]:
        """Iterate over this task and all tasks below it."""
        yield self
        for child in self._children:
            yield from child

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> "CallbackContext":
        """Create the next subtask."""
        child = CallbackContext(
            self._callbacks,
            self.estimator_name,
            task_name,
            task_id=len(self._children),
            max_subtasks=max_subtasks,
            parent=self,
        )
        self._children.append(child)
        return child

    def call_on_fit_task_begin(self, *, estimator: Any, **arguments: Any) -> Self:
        """Call all callbacks at the start of the task."""
        self._call("on_fit_task_begin", estimator, arguments)
        return self

    def call_on_fit_task_end(self, *, estimator: Any, **arguments: Any) -> bool:
        """Call all callbacks at the end of the task; return whether one requests to stop."""
        return self._call("on_fit_task_end", estimator, arguments)

    def _call(self, hook_name: str, estimator: Any, arguments: dict[str, Any]) -> bool:
        """Call a hook of each callback with the arguments it requests, computed on demand."""
        computed: dict[str, Any] = {}
        results = []
        for callback in self._callbacks:
            hook = getattr(callback, hook_name)
            parameters = signature(hook).parameters.values()
            requested = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
            for name in requested:
                if name not in HOOK_ARGUMENTS:
                    raise TypeError(
                        f"{hook_name} of {type(callback).__name__} requests {name!r}; a callback "
                        f"may request {', '.join(HOOK_ARGUMENTS)}."
                    )
                if name not in computed:
                    computed[name] = _compute(name, estimator, arguments)
            results.append(hook(estimator, self, **{name: computed[name] for name in requested}))
        return any(results)


def _compute(name: str, estimator: Any, arguments: dict[str, Any]) -> Any:
    source = "reconstruction_attributes" if name == "fitted_estimator" else name
    value = arguments.get(source)
    if callable(value):
        value = value()
    if value is None or name != "fitted_estimator":
        return value
    fitted = copy.copy(estimator)
    for attribute, learned in value.items():
        setattr(fitted, attribute, learned)
    return fitted


class CallbackSupportMixin:
    """Lets an estimator take callbacks; must come before `BaseEstimator` among the bases."""

    _skl_callbacks: list[Any]
    _callback_fit_ctx: CallbackContext

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of the next fits; none removes all."""
        if callbacks:
            self._skl_callbacks = list(callbacks)
        else:
            vars(self).pop("_skl_callbacks", None)
        return self

    def _init_callback_context(
        self, task_name: str = "fit", max_subtasks: int | None = 0
    ) -> CallbackContext:
        """Create the task of the fit, and set up the callbacks."""
        callbacks = vars(self).get("_skl_callbacks", [])
        self._callback_fit_ctx = CallbackContext(
            callbacks, type(self).__name__, task_name, max_subtasks=max_subtasks
        )
        self._skl_callbacks_to_teardown: list[Any] = []
        for callback in callbacks:
            self._skl_callbacks_to_teardown.append(callback)
            callback.setup(estimator=self, context=self._callback_fit_ctx)
        return self._callback_fit_ctx

    def __sklearn_clone__(self) -> Self:
        cloned: Self = super().__sklearn_clone__()  # type: ignore[misc]
        if "_skl_callbacks" in vars(self):
            cloned._skl_callbacks = self._skl_callbacks
        return cloned


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Tear down the callbacks of an estimator after its method, also after an error."""

    @wraps(method)
    def run(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(estimator, *args, **kwargs)
        finally:
            _tear_down(estimator)

    return run


def _tear_down(estimator: Any) -> None:
    if "_callback_fit_ctx" not in vars(estimator):
        return
    errors = []
    for callback in estimator._skl_callbacks_to_teardown:
        try:
            callback.teardown(estimator=estimator, context=estimator._callback_fit_ctx)
        except Exception as error:
            errors.append(error)
    del estimator._skl_callbacks_to_teardown, estimator._callback_fit_ctx
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("several callbacks failed in teardown", errors)
