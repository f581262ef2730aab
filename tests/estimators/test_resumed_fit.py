"""Fits that were killed and started again give the result of a fit without a break, to the bit."""

import numpy as np
import pytest
from killed_fits import fit_in_parts
from recording_callbacks import Recorder
from sklearn.base import clone

from manyview import ManyviewClassifier, MGCNDNSClassifier, checkpoints

FAST = {"hidden": 8, "max_epochs": 12}
MODELS = {
    "calibrated": MGCNDNSClassifier(calibration="temperature", random_state=0, **FAST),
    "manyview": ManyviewClassifier(MGCNDNSClassifier(**FAST), random_state=0),
    "all epochs": ManyviewClassifier(
        MGCNDNSClassifier(graph_learning="low-rank", **FAST),
        graph_epochs=None,
        initial_teacher="network",
        cross_fit=False,
        random_state=0,
    ),
}
PARTS = [5, 15, 12]  # checkpoints until each break


def assert_same(model, expected, views):
    assert np.array_equal(model.label_distributions_, expected.label_distributions_)
    assert model.training_curve_ == expected.training_curve_
    assert model.temperature_ == expected.temperature_
    assert [one.changed for one in model.stages_] == [one.changed for one in expected.stages_]
    assert np.array_equal(model.predict_proba(views), expected.predict_proba(views))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:probabilities are not calibrated")
def test_a_killed_fit_continues_with_the_same_result(shared_views, tmp_path, name):
    given = shared_views.views, shared_views.known_labels
    expected = clone(MODELS[name]).fit(*given)
    resumed, n_killed = fit_in_parts(clone(MODELS[name]), *given, tmp_path / "progress", PARTS)
    assert n_killed == len(PARTS)
    assert_same(resumed, expected, given[0])
    assert not (tmp_path / "progress").exists()


@pytest.mark.parametrize(("name", "size"), [("calibrated", 3), ("manyview", 2), ("all epochs", 2)])
@pytest.mark.filterwarnings("ignore:probabilities are not calibrated")
def test_a_killed_shared_fit_continues_with_the_same_result(
    ranks, shared_views, tmp_path, name, size
):
    given = shared_views.views, shared_views.known_labels
    expected = ranks.run("fit_shared", size, MODELS[name], *given)
    folder = tmp_path / "progress"
    resumed = ranks.run("fit_shared_in_parts", size, MODELS[name], *given, folder, PARTS)
    for (model, n_killed), plain in zip(resumed, expected, strict=True):
        assert n_killed == len(PARTS)
        assert_same(model, plain, given[0])
    assert not folder.exists()


@pytest.mark.parametrize("lost", ["0-000007-1", "0-000007-0", "0-*-1"])
def test_all_processes_continue_from_the_newest_epoch_that_all_have(
    ranks, shared_views, tmp_path, lost
):
    model, given = MODELS["calibrated"], (shared_views.views, shared_views.known_labels)
    model = clone(model).set_params(calibration=None)
    expected = ranks.run("fit_shared", 2, model, *given)
    ranks.run("kill_shared", 2, model, *given, tmp_path, 7)
    for path in tmp_path.glob(f"fit-*/{lost}.safetensors"):
        path.unlink()
    for found, plain in zip(
        ranks.run("fit_shared_in_parts", 2, model, *given, tmp_path, []), expected, strict=True
    ):
        assert_same(found[0], plain, given[0])


def test_checkpoints_in_one_process_alone_are_refused_in_all(ranks, shared_views):
    given = shared_views.views, shared_views.known_labels
    refused = ranks.run("fit_with_checkpoints_in_one", 2, MODELS["calibrated"], *given)
    sentence = (
        "the checkpoints must be the same in all 2 processes of the fit; those of process 1 differ "
        "from those of process 0. Open `checkpoints` in every process, or in none."
    )
    assert refused == [sentence, sentence]


@pytest.mark.parametrize("changed", ["views", "labels", "settings", "seed"])
def test_progress_of_other_data_or_settings_is_not_used(shared_views, tmp_path, capsys, changed):
    views, labels = shared_views.views, shared_views.known_labels
    model = clone(MODELS["all epochs"])
    with pytest.raises(RuntimeError), checkpoints(tmp_path, every=0):
        raise RuntimeError(model.fit(views, labels))
    if changed == "views":
        views = {name: view + (name == "shape") for name, view in views.items()}
    elif changed == "labels":
        labels = np.where(np.arange(60) == np.flatnonzero(labels >= 0)[0], -1, labels)
    elif changed == "settings":
        model.set_params(estimator__learning_rate=0.02)
    else:
        model.set_params(random_state=1)
    expected = clone(model).fit(views, labels)
    with checkpoints(tmp_path, every=0):
        found = clone(model).fit(views, labels)
    assert_same(found, expected, views)
    shown = capsys.readouterr().err
    words = {"settings": "other settings (estimator__learning_rate)", "seed": "another seed (0)"}
    assert f"of a fit with {words.get(changed, f'other {changed}')}. It is kept there" in shown
    assert "The fit continues" not in shown


def test_a_fit_with_callbacks_keeps_no_progress(shared_views, tmp_path):
    model = clone(MODELS["all epochs"]).set_callbacks(Recorder())
    with checkpoints(tmp_path / "progress", every=0):
        model.fit(shared_views.views, shared_views.known_labels)
        assert not list((tmp_path / "progress").glob("fit-*"))


def test_a_warm_start_keeps_no_progress(shared_views, tmp_path):
    given = shared_views.views, shared_views.known_labels
    model = MGCNDNSClassifier(warm_start=True, random_state=0, **FAST).fit(*given)
    with checkpoints(tmp_path / "progress", every=0):
        model.fit(*given)
        assert not list((tmp_path / "progress").glob("fit-*"))
