"""What our trackers of runs have in common: one run a fit, and what is written into it.

TensorBoard and MLflow differ in where that goes. Nothing is written but what the fit knows:
parameters, loss and accuracy on the labeled samples by epoch, and how much each view counted.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from manyview.callbacks.sklearn_compat import CallbackContext

RunT = TypeVar("RunT")


class RunTracker(ABC, Generic[RunT]):
    """A callback that writes every fit into a run of its own.

    One tracker may serve several estimators, such as the clones of a grid search.
    """

    def __init__(self) -> None:
        self._open_runs: dict[int, RunT] = {}
        self._ended: set[int] = set()
        self._n_epochs: dict[int, int] = {}

    @abstractmethod
    def open_run(self, method: str, parameters: dict[str, str]) -> RunT:
        """Begin a run."""

    @abstractmethod
    def write(self, run: RunT, values: dict[str, float], epoch: int) -> None:
        """Write values, each under its name, as those after an epoch."""

    @abstractmethod
    def close_run(self, run: RunT, *, has_ended: bool) -> None:
        """End a run; `has_ended` is False where the fit was given up."""

    def setup(self, estimator: Any, context: "CallbackContext") -> None:
        """Begin the run of a fit."""
        self._open_runs[id(estimator)] = self.open_run(
            type(estimator).__name__, parameters_of(estimator)
        )

    def on_fit_task_begin(self, estimator: Any, context: "CallbackContext") -> None:
        """Write nothing: there is nothing new."""

    def on_fit_task_end(self, estimator: Any, context: "CallbackContext") -> None:
        """Write the epoch's values, or at the end of the fit what was learned."""
        run = self._open_runs[id(estimator)]
        if context.task_name == "epoch":
            self._n_epochs[id(estimator)] = context.task_id + 1  # of all networks of the fit
            self.write(run, epoch_values(estimator), context.task_id + 1)
        elif context.task_name == "fit":
            self.write(run, final_values(estimator), self._n_epochs.get(id(estimator), 0))
            self._ended.add(id(estimator))

    def teardown(self, estimator: Any, context: "CallbackContext") -> None:
        """End the run, also of a fit that failed."""
        has_ended = id(estimator) in self._ended
        self._ended.discard(id(estimator))
        self._n_epochs.pop(id(estimator), None)
        run = self._open_runs.pop(id(estimator), None)
        if run is not None:
            self.close_run(run, has_ended=has_ended)

    def __getstate__(self) -> dict[str, Any]:
        return {
            **vars(self),
            "_open_runs": {},
            "_ended": set(),
            "_n_epochs": {},
        }  # runs stay with their fit


def parameters_of(estimator: Any) -> dict[str, str]:
    """Return all parameters as texts."""
    return {name: str(value) for name, value in estimator.get_params().items()}


def epoch_values(estimator: Any) -> dict[str, float]:
    """Return what the last epoch gave, nothing before the first."""
    curve = _curve_of(estimator)
    if curve is None or curve.n_epochs == 0:
        return {}
    return {"loss": curve.loss[-1], "labeled_accuracy": curve.labeled_accuracy[-1]}


def final_values(estimator: Any) -> dict[str, float]:
    """Return how much each view counted in the fitted model, where the method says so."""
    shares = getattr(estimator, "view_importance_", None)
    if shares is None:
        return {}
    return {
        f"view_importance/{name}": float(share)
        for name, share in zip(estimator.view_names_, shares, strict=True)
    }


def _curve_of(estimator: Any) -> Any:
    return getattr(estimator, "training_curve_", None)
