"""Below scikit-learn 1.9, `sklearn_compat` does what scikit-learn 1.9 does."""

import pytest
from recording_callbacks import Asker, Greedy, Recorder
from sklearn.base import BaseEstimator, clone

from manyview.callbacks import sklearn_compat


@pytest.fixture(params=["scikit-learn", "sklearn_compat"])
def support(request):
    if request.param == "scikit-learn":
        return pytest.importorskip("sklearn.callback")
    return sklearn_compat


def fit_with(support, *callbacks, n_epochs=2):
    class Model(support.CallbackSupportMixin, BaseEstimator):
        @support.with_callbacks
        def fit(self, X, y):  # noqa: N803
            root = self._init_callback_context(max_subtasks=n_epochs)
            root.call_on_fit_task_begin(estimator=self, X=X, y=lambda: y)
            for number in range(n_epochs):
                epoch = root.subcontext(task_name="epoch")
                epoch.call_on_fit_task_begin(estimator=self, X=X, y=y)
                if epoch.call_on_fit_task_end(
                    estimator=self,
                    X=X,
                    y=lambda: y,
                    reconstruction_attributes=lambda n=number: {"learned_": n},
                ):
                    break
            root.call_on_fit_task_end(estimator=self, X=X, y=y)
            self.root = root
            return self

    return Model().set_callbacks(*callbacks).fit([1], [2])


def test_hooks_are_called_in_the_same_order(support):
    recorder, stopping = Recorder(), Recorder(stop_after=1)
    fit_with(support, recorder, stopping, n_epochs=5)
    epochs = [(hook, "epoch", n) for n in (0, 1) for hook in ("begin", "end")]
    around = [("setup", "fit", 0), ("begin", "fit", 0)], [("end", "fit", 0)]
    assert recorder.calls == [*around[0], *epochs, *around[1], ("teardown", "fit", 0)]


def test_hooks_get_what_they_request(support):
    recorder = Asker()
    model = fit_with(support, recorder)
    assert [given[:4] for given in recorder.requested] == [
        ("epoch", [1], [2], None),
        ("epoch", [1], [2], None),
        ("fit", [1], [2], None),
    ]
    assert [given[4] and given[4].learned_ for given in recorder.requested] == [0, 1, None]
    assert not hasattr(model, "learned_")


def test_the_tree_of_tasks_is_the_same(support):
    root = fit_with(support, Recorder()).root
    tasks = [(t.task_name, t.task_id, t.max_subtasks, t.parent is None) for t in root]
    assert tasks == [("fit", 0, 2, True), ("epoch", 0, 0, False), ("epoch", 1, 0, False)]
    assert {task.root_uuid for task in root} == {root.root_uuid}
    assert {task.estimator_name for task in root} == {"Model"}


def test_a_hook_that_requests_something_unknown_is_refused(support):
    with pytest.raises(TypeError, match="test_labels"):
        fit_with(support, Greedy())


def test_all_callbacks_are_torn_down_and_a_single_error_is_raised_unchanged(support):
    broken, last = Recorder(fail_at=("teardown", "fit", 0)), Recorder()
    with pytest.raises(OSError, match="disk full"):
        fit_with(support, broken, last)
    assert last.calls[-1] == ("teardown", "fit", 0)
    with pytest.raises(ExceptionGroup):
        fit_with(support, broken, Recorder(fail_at=("teardown", "fit", 0)))


def test_clones_share_callbacks(support):
    recorder = Recorder()
    model = fit_with(support, recorder)
    assert clone(model)._skl_callbacks == [recorder]
    assert not hasattr(clone(model.set_callbacks()), "_skl_callbacks")
