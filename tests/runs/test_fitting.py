import csv
import errno
import json
import os
import subprocess
import warnings
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from torch.nn.functional import cross_entropy

from manyview.data.splits import hide_labels
from manyview.errors import DataFileError, InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.methods import METHODS
from manyview.runs.fitting import fit_run, least_size
from manyview.runs.predicting import predict_run
from manyview.runs.reading import read_record
from manyview.runs.settings import flat_params
from manyview.runs.sources import DataSource

FILES = ["history.csv", "model.json", "model.safetensors", "predictions.csv", "run.json"]


def rows_of(file):
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def model_of(settings, views, labels):
    params = {"estimator__max_epochs": settings.params["max_epochs"]}
    model = ManyviewClassifier(random_state=settings.seed).set_params(**params)
    return model.fit(views, labels)


def test_the_estimate_is_in_the_record(quick, tmp_path):
    run = fit_run(quick(label_ratio=0.5))
    model = ManyviewClassifier.load(run.folder)
    found = read_record(run.folder)["estimate"]
    assert found["n_labels"] == len(model.cross_fit_.samples) == 30
    for name in ("accuracy", "balanced_accuracy", "macro_f1"):
        assert found[name] == asdict(getattr(model.performance_, name))
    assert found["weights"] == model.cross_fit_.weights
    assert 0 <= found["calibration_error"] <= 1
    few = read_record(fit_run(quick(out=tmp_path / "few")).folder)["estimate"]
    assert (few["n_labels"], few["accuracy"], few["calibration_error"]) == (12, None, None)
    params = {"max_epochs": 5, "cross_fit": False}
    alone = fit_run(quick(params=params, label_ratio=0.5, out=tmp_path / "alone"))
    assert read_record(alone.folder)["estimate"] is None


def test_run_equals_the_same_fit_in_python(quick, tiny_views):
    settings = quick(seed=3)
    run = fit_run(settings)
    shown = hide_labels(tiny_views.labels, 0.2, random_state=3)
    model = model_of(settings, tiny_views.views, shown)
    hidden = shown == -1
    assert (run.n_labeled, run.n_unlabeled) == (12, 48)
    assert run.scores.n_scored == 48
    assert run.scores.accuracy == (model.transduction_ == tiny_views.labels)[hidden].mean()
    assert run.training.n_epochs == 5
    assert run.training.n_neighbors == model.n_neighbors_
    rows = rows_of(run.folder / "predictions.csv")
    assert [int(row["label"]) for row in rows] == model.transduction_.tolist()
    np.testing.assert_allclose(
        [float(row["probability"]) for row in rows],
        model.label_distributions_.max(axis=1),
        atol=1e-6,
    )
    np.testing.assert_allclose(
        [float(row["confidence"]) for row in rows], model.node_confidence_, atol=1e-6
    )
    loaded = ManyviewClassifier.load(run.folder)
    np.testing.assert_array_equal(
        loaded.predict_proba(tiny_views.views), model.predict_proba(tiny_views.views)
    )


def test_run_writes_exactly_its_files(quick, tmp_path):
    run = fit_run(quick())
    assert sorted(file.name for file in run.folder.iterdir()) == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "shapes.npz"]


def test_extra_files_are_written_to_the_folder(quick, tiny_views):
    def extra(run, data, labels, model):
        known = int((labels >= 0).sum())
        return {"notes.txt": f"{run.n_labeled} {known} {len(data.views)} {len(model.classes_)}"}

    run = fit_run(quick(), extra_files=extra)
    assert sorted(file.name for file in run.folder.iterdir()) == sorted([*FILES, "notes.txt"])
    assert (run.folder / "notes.txt").read_text() == "12 12 60 3"


def test_extra_files_that_fail_leave_nothing(quick, tmp_path):
    def fail(run, data, labels, model):
        raise RuntimeError("no page")

    with pytest.raises(RuntimeError, match="no page"):
        fit_run(quick(), extra_files=fail)
    assert [path.name for path in tmp_path.iterdir()] == ["shapes.npz"]


def test_predictions_have_given_labels_and_predicted_ones(quick, tiny_views):
    run = fit_run(quick())
    shown = hide_labels(tiny_views.labels, 0.2, random_state=0)
    rows = rows_of(run.folder / "predictions.csv")
    assert list(rows[0]) == ["sample_id", "label", "probability", "confidence", "known", "given"]
    assert [row["sample_id"] for row in rows] == [str(number) for number in range(60)]
    assert [row["known"] for row in rows] == ["no" if y < 0 else "yes" for y in shown]
    assert [row["given"] for row in rows] == ["" if y < 0 else str(y) for y in shown]


def test_confidence_is_blank_where_the_method_has_none(quick):
    run = fit_run(quick(params={"max_epochs": 2, "node_selection": None}))
    assert {row["confidence"] for row in rows_of(run.folder / "predictions.csv")} == {""}


def test_history_has_every_epoch(quick):
    run = fit_run(quick())
    history = rows_of(run.folder / "history.csv")
    assert list(history[0]) == ["epoch", "loss", "labeled_accuracy"]
    assert [row["epoch"] for row in history] == ["1", "2", "3", "4", "5"]


def test_record_has_everything_that_decided_the_run(quick, shapes):
    run = fit_run(quick(seed=1, protocol="random"))
    record = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    assert record == json.loads(json.dumps(run.document()))
    assert set(record["versions"]) == {
        "python", "manyview", "torch", "numpy", "scipy", "scikit-learn",
    }  # fmt: skip
    assert record["settings"]["data"] == [str(shapes)]
    assert record["settings"]["params"] == {"max_epochs": 5}
    assert record["method"] == "manyview"
    assert record["params"].keys() == flat_params(ManyviewClassifier()).keys()
    params = record["params"]
    assert (params["estimator__max_epochs"], params["random_state"]) == (5, 1)
    assert record["data"]["name"] == "shapes"
    assert record["data"]["paths"] == [str(shapes.resolve())]
    assert len(record["data"]["sha256"]) == 64
    assert record["data"]["notes"][0].startswith("shape, color: 2 views of 60 samples")
    assert record["data"]["n_samples"] == 60
    assert record["data"]["views"] == {"shape": 5, "color": 8}
    assert record["data"]["classes"] == [0, 1, 2]
    assert record["split"] == {
        "protocol": "random", "label_ratio": 0.2, "seed": 1, "n_labeled": 12, "n_hidden": 48,
        "n_unlabeled": 48,
    }  # fmt: skip
    assert record["training"]["stopped"] == "max_epochs"
    assert record["training"]["seconds"] > 0
    assert record["scores"].keys() == {"n_scored", "accuracy", "balanced_accuracy", "macro_f1"}
    assert sum(record["view_importance"].values()) == pytest.approx(1)
    assert sum(one["n_labeled"] for one in record["classes"]) == 12
    assert sum(one["n_found"] for one in record["classes"]) == 48


def test_same_settings_give_the_same_files(quick, tmp_path):
    first = fit_run(quick())
    second = fit_run(quick(out=tmp_path / "again"))
    for name in set(FILES) - {"run.json"}:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()
    one, other = first.document(), second.document()
    for record in (one, other):
        del record["training"]["seconds"], record["settings"]["out"]
    assert one == other


def test_progress_does_not_change_the_run(quick, tmp_path, capsys):
    first = fit_run(quick())
    second = fit_run(quick(out=tmp_path / "again"), verbose=True)
    assert capsys.readouterr().out == ""
    assert (first.folder / "model.json").read_bytes() == (second.folder / "model.json").read_bytes()


def test_least_confident_are_the_unlabeled_samples_of_lowest_probability(quick):
    run = fit_run(quick())
    rows = [row for row in rows_of(run.folder / "predictions.csv") if row["known"] == "no"]
    least = sorted(float(row["probability"]) for row in rows)[:5]
    assert [one.probability for one in run.least_confident] == pytest.approx(least, abs=1e-6)


def test_unknown_labels_are_predicted_and_not_scored(quick, tmp_path, tiny_views):
    texts = np.array(["Öl", "gas", "wind"])[tiny_views.labels]
    texts[tiny_views.known_labels < 0] = ""
    np.savez(tmp_path / "power.npz", **tiny_views.views)
    (tmp_path / "power.txt").write_text("\n".join(["label", *[text or "?" for text in texts]]))
    source = DataSource((str(tmp_path / "power.npz"),), labels=str(tmp_path / "power.txt"))
    run = fit_run(quick(source=source, label_ratio=None))
    assert (run.n_labeled, run.n_unlabeled, run.scores) == (12, 48, None)
    assert [one.label for one in run.classes] == ["gas", "wind", "Öl"]
    assert run.warnings == ()
    record = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    assert record["scores"] is None
    assert record["split"]["protocol"] is None
    rows = rows_of(run.folder / "predictions.csv")
    assert [row["given"] for row in rows] == texts.tolist()
    assert {row["label"] for row in rows} <= {"gas", "wind", "Öl"}


def test_unknown_labels_are_not_scored_when_others_are_hidden(quick, tmp_path, tiny_views):
    np.savez(tmp_path / "some.npz", **tiny_views.views, y=tiny_views.known_labels)
    run = fit_run(quick(source=DataSource((str(tmp_path / "some.npz"),)), label_ratio=0.5))
    assert (run.n_labeled, run.n_unlabeled, run.scores.n_scored) == (6, 54, 6)


def test_run_with_every_label_known_warns_that_nothing_was_left(quick):
    run = fit_run(quick(label_ratio=None))
    assert (run.n_labeled, run.n_unlabeled, run.scores) == (60, 0, None)
    assert run.least_confident == ()
    assert run.warnings == ("every sample has a label, so none was left to label.",)


def test_class_without_a_label_is_a_warning(quick, tmp_path, tiny_views):
    labels = tiny_views.labels.copy()
    labels[np.flatnonzero(labels == 2)[1:]] = 1  # one sample is left of class 2
    np.savez(tmp_path / "rare.npz", **tiny_views.views, y=labels)
    source = DataSource((str(tmp_path / "rare.npz"),))
    run = fit_run(quick(source=source, protocol="random", seed=3))
    assert run.warnings == ("1 of 3 classes has no labeled sample and cannot be predicted: 2.",)


def test_random_labels_of_only_one_class_are_refused(quick):
    with pytest.raises(InputError) as error:
        fit_run(quick(label_ratio=0.02, protocol="random"))
    assert str(error.value) == (
        "protocol 'random' drew labels of only one class with label_ratio=0.02 and seed 0; "
        "two classes are needed. Raise the ratio, or use 'stratified'."
    )


def test_data_without_labels_are_refused_with_the_ways_to_name_them(quick, tmp_path, tiny_views):
    np.savez(tmp_path / "bare.npz", **tiny_views.views)
    with pytest.raises(InputError) as error:
        fit_run(quick(source=DataSource((str(tmp_path / "bare.npz"),))))
    assert str(error.value) == (
        "bare has no labels, but some are needed. Name them with labels= (a file of labels), "
        "label_column= (a column of the tables or of .obs) or labels_key= (a variable of a "
        ".mat or .npz file)."
    )
    assert not (tmp_path / "run").exists()


def test_folder_is_named_by_data_method_and_seed(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = fit_run(quick(out=None, seed=4))
    assert run.folder == Path("runs/shapes-manyview-seed4")
    assert (tmp_path / run.folder / "run.json").is_file()


def test_folder_that_is_not_empty_is_refused_before_the_data_are_read(quick, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(DataFileError, match="run exists and is not empty"):
        fit_run(quick(source=DataSource(("nowhere.npz",))))
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_empty_folder_is_used(quick, tmp_path):
    (tmp_path / "run").mkdir()
    run = fit_run(quick())
    assert sorted(file.name for file in run.folder.iterdir()) == FILES


def test_failed_fit_leaves_nothing(quick, tmp_path):
    with pytest.raises(InputError, match="n_neighbors must be smaller than the number of samples"):
        fit_run(quick(params={"n_neighbors": 60}, out=tmp_path / "runs" / "one"))
    assert [path.name for path in tmp_path.iterdir()] == ["shapes.npz"]


def test_interrupt_before_the_first_epoch_leaves_nothing(quick, tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("torch.nn.functional.cross_entropy", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit_run(quick())
    assert [path.name for path in tmp_path.iterdir()] == ["shapes.npz"]


def test_interrupt_while_training_keeps_the_run(quick, monkeypatch):
    calls = []

    def interrupt_in_epoch_4(*args, **kwargs):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return cross_entropy(*args, **kwargs)

    monkeypatch.setattr("torch.nn.functional.cross_entropy", interrupt_in_epoch_4)
    run = fit_run(quick(params={"max_epochs": 5, "initial_teacher": "network"}))
    assert (run.training.stopped, run.training.n_epochs) == ("interrupted", 3)
    assert run.warnings == (
        "fit was interrupted after 3 epochs; the weights of the lowest loss so far are kept.",
    )
    assert sorted(file.name for file in run.folder.iterdir()) == FILES


def test_other_warnings_are_raised_as_usual(quick, monkeypatch):
    fit = ManyviewClassifier.fit

    def warn_and_fit(self, views, labels):
        warnings.warn("views are strange", UserWarning, stacklevel=1)
        return fit(self, views, labels)

    monkeypatch.setattr(ManyviewClassifier, "fit", warn_and_fit)
    monkeypatch.setattr(warnings, "filters", [])
    with pytest.warns(UserWarning, match="views are strange"):
        run = fit_run(quick())
    assert run.warnings == ()


@pytest.mark.parametrize("out", ["runs/one", "empty"])
def test_full_disk_is_one_sentence_and_leaves_nothing(quick, tmp_path, monkeypatch, out):
    def fail(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(DataFileError) as error:
        fit_run(quick(out=tmp_path / out))
    assert str(error.value) == (
        f"{tmp_path / out} could not be written: No space left on device. Nothing is left there."
    )
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture
def tiny_disk(tmp_path, request):
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={request.param}", "tmpfs", str(disk)]
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("out", ["run", "."])
@pytest.mark.parametrize("tiny_disk", ["80k"], indirect=True)
def test_disk_that_is_really_full_is_left_as_it_was(quick, tiny_disk, out):
    with pytest.raises(DataFileError, match="could not be written: No space left on device"):
        fit_run(quick(out=tiny_disk / out))
    assert list(tiny_disk.iterdir()) == []


@pytest.mark.parametrize("tiny_disk", ["16k"], indirect=True)
def test_disk_without_room_for_the_model_is_refused_before_training(quick, tiny_disk, monkeypatch):
    monkeypatch.setattr(ManyviewClassifier, "fit", lambda *_: pytest.fail("it was fitted"))
    with pytest.raises(DataFileError) as error:
        fit_run(quick(out=tiny_disk / "run"))
    assert str(error.value) == (
        f"The run needs about 0.06 MB for {tiny_disk / 'run'}, and the disk has 0.02 MB left. Free "
        "space, or name a folder on another disk with --out."
    )


@pytest.mark.parametrize("name", METHODS)
def test_the_estimated_size_is_below_the_real_one(quick, name):
    params = {path: 5 for path in METHODS[name]().get_params() if path.endswith("max_epochs")}
    settings = quick(method=name, params=params)
    run = fit_run(settings)
    size = sum(file.stat().st_size for file in run.folder.iterdir())
    assert 0 < least_size(settings.source.load(), name) < size


def test_path_that_is_not_utf8_is_kept_and_the_run_is_whole(quick, shapes, tmp_path):
    odd = os.fsdecode(b"odd\xff")
    data = tmp_path / f"{odd}.npz"
    shapes.rename(data)
    run = fit_run(quick(source=DataSource((str(data),)), out=tmp_path / odd))
    record = read_record(run.folder)
    assert record["settings"]["out"] == str(tmp_path / odd)
    assert record["data"]["paths"] == [str(data)]
    assert len(predict_run(run.folder, DataSource((str(data),))).labels) == 60


def test_ids_are_stored_in_the_model(quick):
    run = fit_run(quick())
    model = ManyviewClassifier.load(run.folder)
    assert model.sample_ids_.tolist() == [str(row) for row in range(60)]
    assert model.explain("17").name == "17"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_writes_a_complete_folder(quick, name):
    params = {path: 5 for path in METHODS[name]().get_params() if path.endswith("max_epochs")}
    run = fit_run(quick(method=name, params=params))
    assert sorted(file.name for file in run.folder.iterdir()) == FILES
    rows = rows_of(run.folder / "predictions.csv")
    assert len(rows) == 60
    assert run.scores.accuracy > 0.3
    model = METHODS[name].load(run.folder)
    assert [str(prediction) for prediction in model.transduction_] == [row["label"] for row in rows]
