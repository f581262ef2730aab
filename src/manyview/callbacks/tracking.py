"""Base of the experiment trackers: one run per fit, and the values that are logged.

These are the parameters, loss and accuracy on the labeled samples per epoch, and the importance
of each view. TensorBoard and MLflow differ in where they are written.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from manyview.callbacks.sklearn_compat import CallbackContext

RunT = TypeVar("RunT")


class RunTracker(ABC, Generic[RunT]):
    """A callback that logs every fit as a separate run.

    One tracker can serve several estimators, such as the clones of a grid search.
    """

    def __init__(self) -> None:
        self._open_runs: dict[int, RunT] = {}
        self._ended: set[int] = set()
        self._n_epochs: dict[int, int] = {}

    @abstractmethod
    def open_run(self, method: str, parameters: dict[str, str]) -> RunT:
        """Start a run."""

    @abstractmethod
    def write(self, run: RunT, values: dict[str, float], epoch: int) -> None:
        """Log the values after an epoch, by name."""

    @abstractmethod
    def close_run(self, run: RunT, *, has_ended: bool) -> None:
        """End a run; `has_ended` is False if the fit failed."""

    def setup(self, estimator: Any, context: "CallbackContext") -> None:
        """Start the run of a fit."""
        self._open_runs[id(estimator)] = self.open_run(
            type(estimator).__name__, parameters_of(estimator)
        )

    def on_fit_task_begin(self, estimator: Any, context: "CallbackContext") -> None:
        """Do nothing; there are no new values."""

    def on_fit_task_end(self, estimator: Any, context: "CallbackContext") -> None:
        """Log the values of the epoch, or of the fitted model at the end of the fit."""
        run = self._open_runs[id(estimator)]
        if context.task_name == "epoch":
            n_epochs = context.task_id + 1  # over all networks of the fit
            self._n_epochs[id(estimator)] = n_epochs
            self.write(run, epoch_values(estimator), n_epochs)
        elif context.task_name == "fit":
            self.write(run, final_values(estimator), self._n_epochs.get(id(estimator), 0))
            self._ended.add(id(estimator))

    def teardown(self, estimator: Any, context: "CallbackContext") -> None:
        """End the run, also after a failed fit."""
        has_ended = id(estimator) in self._ended
        self._ended.discard(id(estimator))
        self._n_epochs.pop(id(estimator), None)
        run = self._open_runs.pop(id(estimator), None)
        if run is not None:
            self.close_run(run, has_ended=has_ended)

    def __getstate__(self) -> dict[str, Any]:
        # Runs stay with their fit.
        return {**vars(self), "_open_runs": {}, "_ended": set(), "_n_epochs": {}}


def parameters_of(estimator: Any) -> dict[str, str]:
    """Return all parameters as strings."""
    return {name: str(value) for name, value in estimator.get_params().items()}


def epoch_values(estimator: Any) -> dict[str, float]:
    """Return loss and accuracy of the last epoch, nothing before the first."""
    curve = estimator.training_curve_
    if curve is None or curve.n_epochs == 0:
        return {}
    return {"loss": curve.loss[-1], "labeled_accuracy": curve.labeled_accuracy[-1]}


def final_values(estimator: Any) -> dict[str, float]:
    """Return the importance of each view in the fitted model, if the method learns it."""
    importance = getattr(estimator, "view_importance_", None)  # a grid search has none
    if importance is None:
        return {}
    return {
        f"view_importance/{name}": float(weight)
        for name, weight in zip(estimator.view_names_, importance, strict=True)
    }
