"""Callbacks of a fit: what they are told, in which order, and what becomes of their errors."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from manyview import METHODS, MGCNDNSClassifier
from manyview.callbacks import shim
from manyview.callbacks.tasks import check_callback
from manyview.errors import CallbackError, InputError

IN_EPOCHS = ("mgcn-dns", "gcn-fusion", "ssgcn", "co-gcn")


class Recorder:
    """Notes every call, and may fail or ask to stop at one."""

    def __init__(self, fail_at=None, stop_after=None, error=None):
        self.calls = []
        self.given = []
        self.fail_at, self.stop_after = fail_at, stop_after
        self.error = error or OSError("disk full")

    def note(self, hook, context):
        self.calls.append((hook, context.task_name, context.task_id))
        if self.calls[-1] == self.fail_at:
            raise self.error

    def setup(self, estimator, context):
        self.note("setup", context)

    def teardown(self, estimator, context):
        self.note("teardown", context)

    def on_fit_task_begin(self, estimator, context):
        self.note("begin", context)

    def on_fit_task_end(self, estimator, context):
        self.note("end", context)
        return self.calls[-1][1:] == ("epoch", self.stop_after)


class Asker(Recorder):
    """Asks for all that a hook may ask for."""

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):  # noqa: N803
        self.note("end", context)
        self.given.append((context.task_name, X, y, metadata, fitted_estimator))
        return False


class Greedy(Recorder):
    """Asks for what no hook may ask for."""

    def on_fit_task_end(self, estimator, context, *, test_labels):
        raise AssertionError


def quick(name="mgcn-dns", max_epochs=4, **parameters):
    if name in IN_EPOCHS:
        parameters["max_epochs"] = max_epochs
    if name == "mgcn-dns":
        parameters["recipe"] = "paper"  # for rounds see test_rounds.py
    return METHODS[name](random_state=0, **parameters)


def learned(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


@pytest.mark.parametrize("name", IN_EPOCHS)
def test_a_fit_is_one_task_with_a_task_for_every_epoch(name, tiny_views):
    told = Recorder()
    quick(name, 2).set_callbacks(told).fit(tiny_views.views, tiny_views.known_labels)
    assert told.calls == [
        ("setup", "fit", 0),
        ("begin", "fit", 0),
        ("begin", "epoch", 0),
        ("end", "epoch", 0),
        ("begin", "epoch", 1),
        ("end", "epoch", 1),
        ("end", "fit", 0),
        ("teardown", "fit", 0),
    ]


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(IN_EPOCHS)))
def test_a_method_without_epochs_is_one_task(name, tiny_views):
    told = Asker()
    model = quick(name).set_callbacks(told).fit(tiny_views.views, tiny_views.known_labels)
    assert [hook for hook, *_ in told.calls] == ["setup", "begin", "end", "teardown"]
    _, rows, labels, _, fitted = told.given[0]
    np.testing.assert_array_equal(
        fitted.predict(rows), model.transduction_[tiny_views.known_labels != -1]
    )
    assert len(labels) == 12


@pytest.mark.parametrize("name", IN_EPOCHS)
def test_callbacks_change_no_bit_of_the_result(name, tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    without = quick(name, 30).fit(*given)
    told = quick(name, 30).set_callbacks(Asker(), Recorder()).fit(*given)
    np.testing.assert_array_equal(told.label_distributions_, without.label_distributions_)
    assert told.training_curve_ == without.training_curve_
    assert learned(told).keys() == learned(without).keys()


@pytest.mark.parametrize("name", IN_EPOCHS)
def test_the_estimator_of_an_epoch_predictions_as_if_the_fit_had_ended_there(name, tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    told = Asker()
    quick(name, 5).set_callbacks(told).fit(*given)
    for n_epochs in (1, 2, 5):
        ended = quick(name, n_epochs).fit(*given)
        _, rows, _, _, fitted = told.given[n_epochs - 1]
        np.testing.assert_allclose(
            fitted.label_distributions_, ended.label_distributions_, rtol=1e-5, atol=1e-7
        )
        np.testing.assert_array_equal(fitted.predict(rows), fitted.transduction_[rows.rows])
        assert fitted.training_curve_.n_epochs == n_epochs
    if METHODS[name].is_inductive():
        with pytest.raises(InputError, match=r"in the middle of its fit.*transduction_"):
            fitted.predict(tiny_views.views)


def test_callbacks_see_the_labels_of_the_fit_and_no_others(tiny_views):
    told = Asker()
    names = np.array(["a", "b", "c"], dtype=object)[tiny_views.labels]
    known = tiny_views.known_labels != -1
    quick().set_callbacks(told).fit(tiny_views.views, np.where(known, names, None))
    for _, rows, labels, metadata, fitted in told.given:
        np.testing.assert_array_equal(rows.rows, np.flatnonzero(known))
        np.testing.assert_array_equal(labels, names[known])
        assert metadata is None
        assert (fitted.y_[~known] == -1).all()


def test_the_curve_grows_on_the_estimator_while_it_is_fitted(tiny_views):
    seen = []

    class Reader(Recorder):
        def on_fit_task_end(self, estimator, context):
            seen.append(estimator.training_curve_.n_epochs)

    quick(max_epochs=3).set_callbacks(Reader()).fit(tiny_views.views, tiny_views.known_labels)
    assert seen == [1, 2, 3, 3]


def test_a_callback_may_stop_the_training(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    stopped = quick(max_epochs=9).set_callbacks(Recorder(stop_after=2)).fit(*given)
    assert (stopped.training_curve_.stopped, stopped.training_curve_.n_epochs) == ("callback", 3)
    np.testing.assert_array_equal(
        stopped.label_distributions_, quick(max_epochs=3).fit(*given).label_distributions_
    )


def test_what_nobody_asks_for_is_not_made(tiny_views, monkeypatch):
    made = []
    monkeypatch.setattr("manyview.callbacks.tasks.softmax", lambda logits: made.append(1))
    quick().set_callbacks(Recorder()).fit(tiny_views.views, tiny_views.known_labels)
    assert made == []


@pytest.mark.parametrize(
    ("fail_at", "where"),
    [
        (("setup", "fit", 0), "setup of the fit"),
        (("begin", "fit", 0), "on_fit_task_begin of the fit"),
        (("end", "epoch", 2), "on_fit_task_end of epoch 3"),
        (("end", "fit", 0), "on_fit_task_end of the fit"),
        (("teardown", "fit", 0), "teardown of the fit"),
    ],
)
def test_an_error_of_a_callback_names_it_and_leaves_nothing_half_fitted(fail_at, where, tiny_views):
    broken, other = Recorder(fail_at=fail_at), Recorder()
    model = quick().set_callbacks(other, broken)
    before = dict(vars(model))
    with pytest.raises(CallbackError, match=rf"callback Recorder failed in {where}: OSError: disk"):
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert vars(model) == before
    assert other.calls[-1] == ("teardown", "fit", 0)
    model.set_callbacks().fit(tiny_views.views, tiny_views.known_labels)
    assert np.isfinite(model.label_distributions_).all()


def test_the_cause_of_a_callbacks_error_is_kept(tiny_views):
    error = ZeroDivisionError("boom.\nand much more")
    broken = Recorder(fail_at=("begin", "epoch", 0), error=error)
    with pytest.raises(CallbackError) as caught:
        quick().set_callbacks(broken).fit(tiny_views.views, tiny_views.known_labels)
    assert caught.value.__cause__ is error
    assert str(caught.value) == (
        "the callback Recorder failed in on_fit_task_begin of epoch 1: ZeroDivisionError: boom. "
        "The model is as it was before; mend the callback, or call set_callbacks without it."
    )


def test_a_failed_second_fit_leaves_the_first(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    model = quick(warm_start=True).fit(*given)
    before = dict(vars(model))
    with pytest.raises(CallbackError):
        model.set_callbacks(Recorder(fail_at=("end", "epoch", 1))).fit(*given)
    assert learned(model).keys() == learned(quick(warm_start=True).fit(*given)).keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    with pytest.raises(InputError, match="n_neighbors"):
        model.set_params(n_neighbors=0).fit(*given)
    assert model.label_distributions_ is before["label_distributions_"]


def test_ctrl_c_in_a_callback_ends_the_training_as_ever(tiny_views):
    broken = Recorder(fail_at=("end", "epoch", 2), error=KeyboardInterrupt())
    model = quick(max_epochs=9).set_callbacks(broken)
    with pytest.warns(UserWarning, match="interrupted after 3 epochs") as caught:
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert caught[0].filename == __file__
    assert model.training_curve_.stopped == "interrupted"
    assert broken.calls[-2:] == [("end", "fit", 0), ("teardown", "fit", 0)]


def test_bad_input_is_refused_before_any_callback_is_called(tiny_views):
    told = Recorder()
    with pytest.raises(InputError, match="tau must be"):
        quick(tau=-1).set_callbacks(told).fit(tiny_views.views, tiny_views.known_labels)
    assert told.calls == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Recorder, r"must be an object; got the class Recorder. Make one of it: Recorder\(...\)"),
        (print, "must have the methods setup, .*which lacks setup, teardown"),
        ("progress", "got 'progress', which lacks"),
        ([Recorder()], r"one by one; got a list. Write set_callbacks\(\*callbacks\)"),
        (Greedy(), r"on_fit_task_end of Greedy may ask for X, .*asks for test_labels"),
    ],
)
def test_what_is_no_callback_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        MGCNDNSClassifier().set_callbacks(Recorder(), wrong)
    with pytest.raises(TypeError):
        check_callback(wrong)


def test_clones_share_callbacks_and_parameters_do_not_name_them():
    told = Recorder()
    model = quick().set_callbacks(told)
    assert clone(model)._skl_callbacks == [told]
    assert model.get_params() == quick().get_params()
    assert not hasattr(clone(model.set_callbacks()), "_skl_callbacks")


def test_a_fitted_model_with_callbacks_can_be_pickled_and_saved(tiny_views, tmp_path):
    model = quick().set_callbacks(Recorder()).fit(tiny_views.views, tiny_views.known_labels)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
    assert len(again._skl_callbacks[0].calls) == len(model._skl_callbacks[0].calls)
    model.save(tmp_path)
    assert not hasattr(MGCNDNSClassifier.load(tmp_path), "_skl_callbacks")


def test_calibration_fits_are_no_epochs_of_the_fit(tiny_views):
    told = Recorder()
    model = quick(max_epochs=3, calibration="temperature", calibration_folds=1)
    model.set_callbacks(told).fit(tiny_views.views, tiny_views.known_labels)
    assert sum(call == ("end", "epoch", n) for n in range(9) for call in told.calls) == 3


class TestShim:
    """Below scikit-learn 1.9 the shim does what scikit-learn 1.9 does."""

    @pytest.fixture(params=["scikit-learn", "shim"])
    def support(self, request):
        return pytest.importorskip("sklearn.callback") if request.param == "scikit-learn" else shim

    def fit_with(self, support, *callbacks, n_epochs=2):
        from sklearn.base import BaseEstimator

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

    def test_hooks_are_called_in_the_same_order(self, support):
        told, stopping = Recorder(), Recorder(stop_after=1)
        self.fit_with(support, told, stopping, n_epochs=5)
        epochs = [(hook, "epoch", n) for n in (0, 1) for hook in ("begin", "end")]
        around = [("setup", "fit", 0), ("begin", "fit", 0)], [("end", "fit", 0)]
        assert told.calls == [*around[0], *epochs, *around[1], ("teardown", "fit", 0)]

    def test_hooks_get_what_they_ask_for(self, support):
        told = Asker()
        model = self.fit_with(support, told)
        assert [given[:4] for given in told.given] == [
            ("epoch", [1], [2], None),
            ("epoch", [1], [2], None),
            ("fit", [1], [2], None),
        ]
        assert [given[4] and given[4].learned_ for given in told.given] == [0, 1, None]
        assert not hasattr(model, "learned_")

    def test_the_tree_of_tasks_is_the_same(self, support):
        root = self.fit_with(support, Recorder()).root
        tasks = [(t.task_name, t.task_id, t.max_subtasks, t.parent is None) for t in root]
        assert tasks == [("fit", 0, 2, True), ("epoch", 0, 0, False), ("epoch", 1, 0, False)]
        assert {task.root_uuid for task in root} == {root.root_uuid}
        assert {task.estimator_name for task in root} == {"Model"}

    def test_a_hook_that_asks_for_something_unknown_is_refused(self, support):
        with pytest.raises(TypeError, match="test_labels"):
            self.fit_with(support, Greedy())

    def test_all_are_torn_down_and_one_error_is_raised_as_it_is(self, support):
        broken, last = Recorder(fail_at=("teardown", "fit", 0)), Recorder()
        with pytest.raises(OSError, match="disk full"):
            self.fit_with(support, broken, last)
        assert last.calls[-1] == ("teardown", "fit", 0)
        with pytest.raises(ExceptionGroup):
            self.fit_with(support, broken, Recorder(fail_at=("teardown", "fit", 0)))

    def test_clones_share_callbacks(self, support):
        told = Recorder()
        model = self.fit_with(support, told)
        assert clone(model)._skl_callbacks == [told]
        assert not hasattr(clone(model.set_callbacks()), "_skl_callbacks")
