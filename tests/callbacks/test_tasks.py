"""Callbacks of a fit: the calls they get, in which order, and how their errors are handled."""

import pickle

import numpy as np
import pytest
from models import build
from recording_callbacks import Asker, Greedy, Recorder
from sklearn.base import clone

from manyview import METHODS, MGCNDNSClassifier
from manyview.callbacks.tasks import check_callback
from manyview.errors import CallbackError, InputError

IN_EPOCHS = (
    "mgcn-dns",
    "gcn-fusion",
    "ssgcn",
    "co-gcn",
    "grand",
)  # for "manyview" see test_loop.py
WITHOUT_EPOCHS = sorted(set(METHODS) - {*IN_EPOCHS, "manyview"})


def quick(name="mgcn-dns", max_epochs=4, **parameters):
    if name in IN_EPOCHS:
        parameters["max_epochs"] = max_epochs
    return build(METHODS[name], random_state=0, **parameters)


def learned(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


@pytest.mark.parametrize("name", IN_EPOCHS)
def test_a_fit_is_one_task_with_a_task_for_every_epoch(name, tiny_views):
    recorder = Recorder()
    quick(name, 2).set_callbacks(recorder).fit(tiny_views.views, tiny_views.known_labels)
    assert recorder.calls == [
        ("setup", "fit", 0),
        ("begin", "fit", 0),
        ("begin", "epoch", 0),
        ("end", "epoch", 0),
        ("begin", "epoch", 1),
        ("end", "epoch", 1),
        ("end", "fit", 0),
        ("teardown", "fit", 0),
    ]


@pytest.mark.parametrize("name", WITHOUT_EPOCHS)
def test_a_method_without_epochs_is_one_task(name, tiny_views):
    recorder = Asker()
    model = quick(name).set_callbacks(recorder).fit(tiny_views.views, tiny_views.known_labels)
    assert [hook for hook, *_ in recorder.calls] == ["setup", "begin", "end", "teardown"]
    _, rows, labels, _, fitted = recorder.requested[0]
    np.testing.assert_array_equal(
        fitted.predict(rows), model.transduction_[tiny_views.known_labels != -1]
    )
    assert len(labels) == 12


@pytest.mark.parametrize("name", IN_EPOCHS)
def test_callbacks_change_no_bit_of_the_result(name, tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    without = quick(name, 30).fit(*given)
    with_callbacks = quick(name, 30).set_callbacks(Asker(), Recorder()).fit(*given)
    np.testing.assert_array_equal(with_callbacks.label_distributions_, without.label_distributions_)
    assert with_callbacks.training_curve_ == without.training_curve_
    assert learned(with_callbacks).keys() == learned(without).keys()


@pytest.mark.parametrize("name", IN_EPOCHS)
def test_the_estimator_of_an_epoch_predicts_as_if_the_fit_had_ended_there(name, tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    recorder = Asker()
    quick(name, 5).set_callbacks(recorder).fit(*given)
    for n_epochs in (1, 2, 5):
        ended = quick(name, n_epochs).fit(*given)
        _, rows, _, _, fitted = recorder.requested[n_epochs - 1]
        np.testing.assert_allclose(
            fitted.label_distributions_, ended.label_distributions_, rtol=1e-5, atol=1e-7
        )
        np.testing.assert_array_equal(fitted.predict(rows), fitted.transduction_[rows.rows])
        assert fitted.training_curve_.n_epochs == n_epochs
    if METHODS[name].is_inductive():
        with pytest.raises(InputError, match=r"in the middle of its fit.*transduction_"):
            fitted.predict(tiny_views.views)


def test_callbacks_get_only_the_labels_of_the_fit(tiny_views):
    recorder = Asker()
    names = np.array(["a", "b", "c"], dtype=object)[tiny_views.labels]
    known = tiny_views.known_labels != -1
    quick().set_callbacks(recorder).fit(tiny_views.views, np.where(known, names, None))
    for _, rows, labels, metadata, fitted in recorder.requested:
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


def test_arguments_that_no_hook_requests_are_not_computed(tiny_views, monkeypatch):
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
def test_an_error_of_a_callback_names_it_and_restores_the_model(fail_at, where, tiny_views):
    broken, other = Recorder(fail_at=fail_at), Recorder()
    model = quick().set_callbacks(other, broken)
    before = dict(vars(model))
    with pytest.raises(CallbackError, match=rf"callback Recorder failed in {where}: OSError: disk"):
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert vars(model) == before
    assert other.calls[-1] == ("teardown", "fit", 0)
    model.set_callbacks().fit(tiny_views.views, tiny_views.known_labels)
    assert np.isfinite(model.label_distributions_).all()


def test_the_error_of_a_callback_has_its_cause(tiny_views):
    error = ZeroDivisionError("boom.\nand much more")
    broken = Recorder(fail_at=("begin", "epoch", 0), error=error)
    with pytest.raises(CallbackError) as caught:
        quick().set_callbacks(broken).fit(tiny_views.views, tiny_views.known_labels)
    assert caught.value.__cause__ is error
    assert str(caught.value) == (
        "the callback Recorder failed in on_fit_task_begin of epoch 1: ZeroDivisionError: boom. "
        "The model is unchanged; fix the callback, or call set_callbacks without it."
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
        model.set_params(graph__n_neighbors=0).fit(*given)
    assert model.label_distributions_ is before["label_distributions_"]


def test_ctrl_c_in_a_callback_ends_the_training_as_elsewhere(tiny_views):
    broken = Recorder(fail_at=("end", "epoch", 2), error=KeyboardInterrupt())
    model = quick(max_epochs=9).set_callbacks(broken)
    with pytest.warns(UserWarning, match="interrupted after 3 epochs") as caught:
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert caught[0].filename == __file__
    assert model.training_curve_.stopped == "interrupted"
    assert broken.calls[-2:] == [("end", "fit", 0), ("teardown", "fit", 0)]


def test_bad_input_is_refused_before_any_callback_is_called(tiny_views):
    recorder = Recorder()
    with pytest.raises(InputError, match="tau must be"):
        quick(tau=-1).set_callbacks(recorder).fit(tiny_views.views, tiny_views.known_labels)
    assert recorder.calls == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            Recorder,
            r"must be an object; got the class Recorder. Create an instance: Recorder\(...\)",
        ),
        (print, "must have the methods setup, .*without setup, teardown"),
        ("progress", "got 'progress' without"),
        ([Recorder()], r"separate arguments; got a list. Write set_callbacks\(\*callbacks\)"),
        (Greedy(), r"on_fit_task_end of Greedy may request X, .*requests test_labels"),
    ],
)
def test_anything_but_a_callback_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        MGCNDNSClassifier().set_callbacks(Recorder(), wrong)
    with pytest.raises(TypeError):
        check_callback(wrong)


def test_clones_share_callbacks_and_parameters_do_not_name_them():
    recorder = Recorder()
    model = quick().set_callbacks(recorder)
    assert clone(model)._skl_callbacks == [recorder]
    assert model.get_params() == quick().get_params()
    assert not hasattr(clone(model.set_callbacks()), "_skl_callbacks")


def test_a_fitted_model_with_callbacks_can_be_pickled_and_saved(tiny_views, tmp_path):
    model = quick().set_callbacks(Recorder()).fit(tiny_views.views, tiny_views.known_labels)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
    assert len(again._skl_callbacks[0].calls) == len(model._skl_callbacks[0].calls)
    model.save(tmp_path)
    assert not hasattr(MGCNDNSClassifier.load(tmp_path), "_skl_callbacks")


def test_epochs_of_calibration_are_not_reported(tiny_views):
    recorder = Recorder()
    model = quick(max_epochs=3, calibration="temperature", n_folds=1)
    model.set_callbacks(recorder).fit(tiny_views.views, tiny_views.known_labels)
    assert sum(call == ("end", "epoch", n) for n in range(9) for call in recorder.calls) == 3
