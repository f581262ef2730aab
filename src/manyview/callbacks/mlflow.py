"""MLflowCallback: log a fit as a run in MLflow."""

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manyview.callbacks.tracking import RunTracker
from manyview.errors import InputError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

MAX_PARAMETER_LENGTH = 500  # characters; the limit of MLflow's stores


@dataclass(frozen=True)
class OpenRun:
    """A run that is being logged, and its client."""

    client: "MlflowClient"
    run_id: str


class MLflowCallback(RunTracker[OpenRun]):
    """Log loss, accuracy on the labeled samples, parameters and view importance to MLflow.

    Every fit is a separate run, `FINISHED` or `FAILED`, nested in the active run if there is one.
    MLflow's global state does not change.

    Parameters
    ----------
    experiment
        Name of the experiment; created if it does not exist.
    tracking_uri
        Server or database, such as "sqlite:///mlflow.db"; None uses MLflow's own setting.

    Examples
    --------
    >>> from manyview import MGCNDNSClassifier
    >>> model = MGCNDNSClassifier().set_callbacks(
    ...     MLflowCallback("digits", tracking_uri="sqlite:///mlflow.db"))  # doctest: +SKIP
    """

    def __init__(self, experiment: str = "manyview", *, tracking_uri: str | None = None) -> None:
        super().__init__()
        check_installed()
        self.experiment = experiment
        self.tracking_uri = tracking_uri

    def open_run(self, method: str, parameters: dict[str, str]) -> OpenRun:
        """Start a run, nested in the active one if there is one."""
        import mlflow
        from mlflow.entities import Param
        from mlflow.tracking import MlflowClient

        client = MlflowClient(self.tracking_uri)
        active = mlflow.active_run()
        tags = {"mlflow.parentRunId": active.info.run_id} if active is not None else {}
        run = client.create_run(_experiment_id(client, self.experiment), tags=tags, run_name=method)
        params = [Param(name, value[:MAX_PARAMETER_LENGTH]) for name, value in parameters.items()]
        client.log_batch(run.info.run_id, params=params)
        return OpenRun(client, run.info.run_id)

    def write(self, run: OpenRun, values: dict[str, float], epoch: int) -> None:
        """Log metrics in one call."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(metric_name(name), value, now, epoch) for name, value in values.items()]
        if metrics:
            run.client.log_batch(run.run_id, metrics=metrics)

    def close_run(self, run: OpenRun, *, has_ended: bool) -> None:
        """End the run with the status of the fit."""
        run.client.set_terminated(run.run_id, "FINISHED" if has_ended else "FAILED")


def check_installed() -> None:
    """Refuse to continue without MLflow, with the command that installs it."""
    try:
        import mlflow.tracking  # noqa: F401
    except ImportError as error:
        raise InputError(
            "MLflowCallback needs MLflow. Install it: pip install 'manyview[mlflow]'"
        ) from error


def metric_name(name: str) -> str:
    """Replace characters that MLflow does not allow in the name of a metric.

    Examples
    --------
    >>> metric_name("view_importance/RNA (log)")
    'view_importance/RNA _log_'
    """
    return re.sub(r"[^\w.\- :/]", "_", name)


def _experiment_id(client: "MlflowClient", name: str) -> str:
    found = client.get_experiment_by_name(name)
    return str(client.create_experiment(name) if found is None else found.experiment_id)
