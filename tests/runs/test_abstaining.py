"""Abstention: what is written and counted, and the class name it refuses."""

import csv
import json

import numpy as np
import pytest

from manyview.errors import InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.runs.abstaining import abstain, describe_abstention
from manyview.runs.fitting import fit_run
from manyview.runs.predicting import predict_run
from manyview.runs.sources import DataSource

CALIBRATED = {"max_epochs": 5, "calibration": "temperature"}


def rows_of(file):
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_predictions_below_the_probability_are_written_as_unknown(quick, tiny_views, tmp_path):
    whole = ManyviewClassifier.load(fit_run(quick(out=tmp_path / "whole")).folder)
    level = float(np.quantile(whole.label_distributions_.max(axis=1), 0.3))
    run = fit_run(quick(abstain_below=level))
    model = ManyviewClassifier.load(run.folder)
    highest = model.label_distributions_.max(axis=1)
    assert 0 < (highest < level).sum() < 60
    for row, prediction, probability in zip(
        rows_of(run.folder / "predictions.csv"), model.transduction_, highest, strict=True
    ):
        assert row["label"] == ("unknown" if probability < level else str(prediction))
    record = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    assert record["settings"]["abstain_below"] == level
    hidden = model.y_ < 0
    predicted = hidden & (highest >= level)
    right = (model.transduction_ == tiny_views.labels)[predicted].mean()
    assert record["abstention"] == {
        "below": level,
        "n_predicted": int(predicted.sum()),
        "n_unknown": int((hidden & ~predicted).sum()),
        "accuracy": pytest.approx(right),
    }
    assert run.scores.n_scored == hidden.sum()


def test_every_prediction_is_written_without_abstention(quick):
    run = fit_run(quick())
    assert "unknown" not in {row["label"] for row in rows_of(run.folder / "predictions.csv")}
    record = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    assert (record["abstention"], record["calibration"]) == (None, None)


def test_truth_that_is_not_known_is_not_counted():
    predictions, probabilities = np.array(["a", "b", "a"]), np.array([0.9, 0.8, 0.3])
    everyone = np.ones(3, dtype=bool)
    without = describe_abstention(predictions, probabilities, 0.5, None, everyone)
    assert (without.n_predicted, without.n_unknown, without.accuracy) == (2, 1, None)
    truth = np.array(["a", None, "a"], dtype=object)
    assert describe_abstention(predictions, probabilities, 0.5, truth, everyone).accuracy == 1.0
    assert describe_abstention(predictions, probabilities, None, truth, everyone) is None


def test_predictions_are_copied(rng):
    predictions = np.array([1, 2])
    assert abstain(predictions, np.array([0.1, 0.9]), 0.5).tolist() == ["unknown", 2]
    assert predictions.tolist() == [1, 2]


@pytest.fixture
def named(tmp_path, tiny_views):
    """Data whose last class is called unknown."""

    def write(name):
        words = np.array(["cow", "hen", name])[tiny_views.labels]
        np.savez(tmp_path / "farm.npz", **tiny_views.views, y=words)
        return DataSource((str(tmp_path / "farm.npz"),))

    return write


@pytest.mark.parametrize("name", ["unknown", "Unknown", "UNKNOWN "])
def test_class_named_unknown_is_refused_when_abstaining(quick, named, tmp_path, name):
    with pytest.raises(InputError) as error:
        fit_run(quick(source=named(name), abstain_below=0.5))
    assert str(error.value) == (
        f"abstain_below writes 'unknown' for samples below it, and a class is named "
        f"{name.strip()!r}. Rename the class, or mark its samples as -1 if their label is not "
        "known."
    )
    assert not (tmp_path / "run").exists()


def test_class_named_unknown_is_a_warning_otherwise(quick, named):
    run = fit_run(quick(source=named("unknown")))
    assert run.warnings == (
        "a class is named unknown. If it means that a label is not known, leave the label blank "
        "or write -1, and fit again.",
    )
    with pytest.raises(InputError, match="a class is named 'unknown'"):
        predict_run(run.folder, named("unknown"), abstain_below=0.5)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, 80.0, float("nan")])
def test_probability_outside_0_to_1_is_refused_before_the_fit(quick, tmp_path, wrong):
    with pytest.raises(InputError, match=r"abstain_below must be a number from 0 to 1; got "):
        fit_run(quick(abstain_below=wrong))
    assert not (tmp_path / "run").exists()


def test_new_samples_may_stay_unknown_too(quick, shapes):
    run = fit_run(quick())
    source = DataSource((str(shapes),))
    whole = predict_run(run.folder, source)
    level = float(np.median(whole.probabilities))
    cut = predict_run(run.folder, source, abstain_below=level)
    below = whole.probabilities < level
    assert cut.n_unknown == below.sum()
    assert 0 < cut.n_unknown < 60
    assert whole.n_unknown == 0
    assert set(cut.labels[below].tolist()) == {"unknown"}
    assert cut.labels[~below].tolist() == whole.labels[~below].tolist()
    assert cut.scores == whole.scores
    assert cut.document(None)["abstain_below"] == level


def test_calibration_is_in_the_record(quick):
    run = fit_run(quick(method="mgcn-dns", params=CALIBRATED))
    found = MGCNDNSClassifier.load(run.folder).calibration_
    assert run.calibration.temperature == found.temperature
    assert (run.calibration.n_held_out, run.calibration.n_folds) == (12, 3)
    assert run.calibration.is_weak
    record = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    assert record["calibration"]["temperature"] == found.temperature


def test_impossible_calibration_is_a_warning_of_the_run(quick):
    run = fit_run(quick(method="mgcn-dns", params=CALIBRATED, label_ratio=0.05))
    assert run.warnings == (
        "probabilities are not calibrated: no class has two labels, so none can be held out.",
    )
    assert run.calibration is None
