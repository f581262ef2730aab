"""TensorBoard and MLflow: logged values, read back with their own readers."""

import pickle
import sys

import numpy as np
import pytest
from models import manyview, mgcn_dns

from manyview import METHODS, MLflowCallback, TensorBoardCallback
from manyview.callbacks.tensorboard import next_folder
from manyview.errors import CallbackError, InputError


def quick(build=mgcn_dns):
    return build(max_epochs=3, random_state=0)


class Broken:
    """Fails at the end of the first epoch."""

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def on_fit_task_end(self, estimator, context):
        raise ValueError("boom")


class TestTensorBoard:
    @pytest.fixture(autouse=True)
    def _needs_tensorboard(self):
        pytest.importorskip("tensorboard")

    def read(self, folder):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(str(folder))
        events.Reload()
        return events

    def test_epochs_parameters_and_views_are_written(self, tiny_views, tmp_path):
        model = quick().set_callbacks(TensorBoardCallback(tmp_path / "logs"))
        model.fit(tiny_views.views, tiny_views.known_labels)
        events = self.read(tmp_path / "logs" / "fit-1")
        curve = model.training_curve_
        for name, values in {
            "loss": curve.loss,
            "labeled_accuracy": curve.labeled_accuracy,
        }.items():
            written = events.Scalars(name)
            assert [event.step for event in written] == [1, 2, 3]
            np.testing.assert_allclose([event.value for event in written], values, rtol=1e-6)
        weights = [events.Scalars(f"view_importance/{name}")[0] for name in ("shape", "color")]
        np.testing.assert_allclose(
            [one.value for one in weights], model.view_importance_, rtol=1e-6
        )
        (text,) = events.Tensors("parameters/text_summary")
        assert "| max_epochs | 3 |" in text.tensor_proto.string_val[0].decode()

    def test_epochs_are_counted_over_all_stages(self, tiny_views, tmp_path):
        model = quick(manyview).set_callbacks(TensorBoardCallback(tmp_path))
        model.fit(tiny_views.views, tiny_views.known_labels)
        written = self.read(tmp_path / "fit-1").Scalars("loss")
        n_epochs = 3 * model.n_networks_
        assert [event.step for event in written] == list(range(1, n_epochs + 1))
        np.testing.assert_allclose(
            [event.value for event in written[-3:]], model.training_curve_.loss, rtol=1e-6
        )

    def test_every_fit_is_a_separate_run(self, tiny_views, tmp_path):
        model = quick().set_callbacks(TensorBoardCallback(tmp_path))
        for _ in range(2):
            model.fit(tiny_views.views, tiny_views.known_labels)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["fit-1", "fit-2"]

    def test_a_method_without_epochs_logs_only_parameters(self, tiny_views, tmp_path):
        model = METHODS["knn"]().set_callbacks(TensorBoardCallback(tmp_path))
        model.fit(tiny_views.views, tiny_views.known_labels)
        events = self.read(tmp_path / "fit-1")
        assert events.Tags()["scalars"] == []
        assert events.Tags()["tensors"] == ["parameters/text_summary"]

    def test_a_fit_that_fails_keeps_its_epochs_and_closes_the_file(self, tiny_views, tmp_path):
        tracker = TensorBoardCallback(tmp_path)
        with pytest.raises(CallbackError, match="callback Broken failed"):
            quick().set_callbacks(tracker, Broken()).fit(tiny_views.views, tiny_views.known_labels)
        assert len(self.read(tmp_path / "fit-1").Scalars("loss")) == 1
        assert tracker._open_runs == {}

    def test_a_folder_that_cannot_be_written_is_refused(self, tiny_views, tmp_path):
        (tmp_path / "logs").write_text("a file")
        model = quick().set_callbacks(TensorBoardCallback(tmp_path / "logs"))
        with pytest.raises(CallbackError, match=r"logs cannot be written to: Not a directory"):
            model.fit(tiny_views.views, tiny_views.known_labels)

    def test_a_model_with_a_tracker_can_be_pickled(self, tiny_views, tmp_path):
        model = quick().set_callbacks(TensorBoardCallback(tmp_path))
        model.fit(tiny_views.views, tiny_views.known_labels)
        again = pickle.loads(pickle.dumps(model)).fit(tiny_views.views, tiny_views.known_labels)
        np.testing.assert_array_equal(again.transduction_, model.transduction_)
        assert (tmp_path / "fit-2").is_dir()


def test_next_folder_is_the_first_free_number(tmp_path):
    assert [next_folder(tmp_path / "logs").name for _ in range(3)] == ["fit-1", "fit-2", "fit-3"]


# MLflow warns of its own use of SQLAlchemy.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
class TestMLflow:
    @pytest.fixture(scope="class")
    def uri(self, tmp_path_factory):
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
            pytest.importorskip("mlflow")
            pytest.importorskip("sqlalchemy")
            yield f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'runs.db'}"

    def runs_of(self, uri, experiment):
        from mlflow.tracking import MlflowClient

        client = MlflowClient(uri)
        found = client.get_experiment_by_name(experiment)
        return client, client.search_runs([found.experiment_id])

    def test_epochs_parameters_and_views_are_written(self, tiny_views, uri):
        views = dict(zip(["shape (px)", "color"], tiny_views.views.values(), strict=True))
        model = quick().set_callbacks(MLflowCallback("whole", tracking_uri=uri))
        model.fit(views, tiny_views.known_labels)
        client, (run,) = self.runs_of(uri, "whole")
        assert run.info.status == "FINISHED"
        assert run.info.run_name == "MGCNDNSClassifier"
        assert run.data.params["max_epochs"] == "3"
        history = client.get_metric_history(run.info.run_id, "loss")
        assert {m.step: m.value for m in history} == dict(enumerate(model.training_curve_.loss, 1))
        weights = [run.data.metrics[f"view_importance/{n}"] for n in ("shape _px_", "color")]
        np.testing.assert_allclose(weights, model.view_importance_)

    def test_a_fit_that_fails_is_a_failed_run(self, tiny_views, uri):
        model = quick().set_callbacks(MLflowCallback("failed", tracking_uri=uri), Broken())
        with pytest.raises(CallbackError, match="Broken"):
            model.fit(tiny_views.views, tiny_views.known_labels)
        _, (run,) = self.runs_of(uri, "failed")
        assert run.info.status == "FAILED"

    @pytest.mark.usefixtures("uri")
    def test_a_store_that_does_not_exist_is_refused(self, tiny_views):
        model = quick().set_callbacks(MLflowCallback(tracking_uri="no-such://store"))
        with pytest.raises(CallbackError, match=r"callback MLflowCallback failed in setup"):
            model.fit(tiny_views.views, tiny_views.known_labels)
        assert not hasattr(model, "label_distributions_")


@pytest.mark.parametrize(
    ("module", "make", "command"),
    [
        ("tensorboard", lambda: TensorBoardCallback("logs"), r"'manyview\[tensorboard\]'"),
        ("mlflow", lambda: MLflowCallback(), r"'manyview\[mlflow\]'"),
    ],
)
def test_an_extra_that_is_not_installed_is_named(module, make, command, monkeypatch):
    for name in [*sys.modules]:
        if name.split(".")[0] == module or name.startswith(f"torch.utils.{module}"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"pip install {command}"):
        make()
