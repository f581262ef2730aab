"""The text of runs, predictions and explanations, for records written by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from manyview.cross_fitting.performance import Estimate
from manyview.report.run.text import prediction_text, run_text
from manyview.runs.abstaining import Abstention
from manyview.runs.predicting import Prediction
from manyview.runs.records import (
    CalibrationRecord,
    ClassRecord,
    DataRecord,
    EstimateRecord,
    LeastConfident,
    Run,
    Scores,
    TrainingRecord,
)
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource

DATA = DataRecord(
    name="farm",
    paths=(),
    sha256="0" * 64,
    n_samples=1200,
    views={"shape": 5, "color": 1024},
    graphs=("links",),
    classes=("cow", "hen"),
    notes=("X: 2 views of 1200 samples.", "View shape: [odd] :smile:."),
    id_columns={},
)
RUN = Run(
    folder=Path("runs/farm"),
    settings=RunSettings(DataSource(("farm",)), params={"hidden": 8}, label_ratio=0.01, seed=3),
    params={},
    data=DATA,
    n_labeled=12,
    n_unlabeled=1188,
    training=TrainingRecord(seconds=1.25, n_neighbors=20, n_epochs=90, stopped="converged"),
    classes=(ClassRecord("cow", 6, 1000), ClassRecord("hen", 6, 188)),
    view_importance={"shape": 0.25, "color": 0.7, "links": 0.05},
    least_confident=(LeastConfident("s1", "cow", 0.503), LeastConfident("s2", "hen", 0.61)),
    scores=Scores(1188, 0.91234, 0.9, 0.89),
    warnings=(),
)
TEXT = """\
Data      farm: 1,200 samples, 3 views, 2 classes
          X: 2 views of 1200 samples.
          View shape: [odd] :smile:.
Labels    12 shown, 1,188 hidden (stratified, ratio 0.01, seed 3)
Method    manyview, 20 neighbors in each view, hidden=8
Training  90 epochs, until the loss converged; 1.2 s

Result    accuracy 91.2% on the 1,188 hidden labels (balanced 90.0%, macro-F1 89.0%)

          view   features  importance
          shape         5       25.0%
          color     1,024       70.0%
          links     graph        5.0%

          class  labeled  found
          cow          6  1,000
          hen          6    188

          Least certain, with label and probability: s1 (cow, 0.50), s2 (hen, 0.61).

Files     runs/farm
            predictions.csv  label, probability and confidence of every sample
            run.json         settings, versions, checksum, scores
            history.csv      loss and accuracy on the labeled samples by epoch
            model.*          the model, for: manyview predict runs/farm NEW_DATA"""


def test_text_of_a_run_is_complete():
    assert run_text(RUN, width=100) == TEXT


def test_report_is_named_first_among_the_files_where_there_is_one():
    line = "            report.html      the whole report, to open in a browser\n"
    before, after = TEXT.split("            predictions.csv")
    text = run_text(RUN, width=100, has_report=True)
    assert text == f"{before}{line}            predictions.csv{after}"


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ("max_epochs", "90 epochs, the maximum; the loss has not converged yet; 1.2 s"),
        ("interrupted", "90 epochs, then interrupted; the best network so far is kept; 1.2 s"),
    ],
)
def test_reason_to_stop_is_given(stopped, words):
    run = replace(RUN, training=replace(RUN.training, stopped=stopped))
    assert f"Training  {words}\n" in run_text(run, width=100)


def test_given_labels_have_no_split():
    settings = replace(RUN.settings, label_ratio=None)
    text = run_text(replace(RUN, settings=settings, scores=None), width=100)
    assert "Labels    12 known, 1,188 unknown\n" in text
    assert "Result    1,188 samples labeled\n" in text


def test_run_with_nothing_left_to_label_has_its_own_result_line():
    settings = replace(RUN.settings, label_ratio=None)
    run = replace(
        RUN, settings=settings, scores=None, least_confident=(), n_labeled=1200, n_unlabeled=0
    )
    assert "Result    no sample was left to label\n" in run_text(run, width=100)
    assert "Least certain" not in run_text(run, width=100)


def test_method_without_epochs_or_importance_leaves_them_out():
    training = TrainingRecord(seconds=0.1, n_neighbors=None, n_epochs=None, stopped=None)
    text = run_text(replace(RUN, training=training, view_importance=None), width=100)
    assert "Training" not in text
    assert "Method  manyview, hidden=8\n" in text
    assert "\n        view   features\n        shape         5\n" in text


def test_many_classes_are_cut():
    classes = tuple(ClassRecord(number, 1, 2) for number in range(102))
    text = run_text(replace(RUN, classes=classes), width=100)
    assert "\n          19           1      2\n          and 82 more classes, in run.json\n" in text


@pytest.mark.parametrize("out", [None, Path("new.csv")])
def test_text_of_predictions_is_complete(out):
    prediction = Prediction(
        folder=Path("runs/farm"),
        method="mgcn-dns",
        data=replace(DATA, classes=()),
        sample_ids=np.array(["s1"]),
        labels=np.array(["cow"]),
        probabilities=np.array([0.5]),
        scores=Scores(1000, 0.5, 0.5, 0.5),
        notes=("View a is taken for the run's only view, b.",),
    )
    text = """\
Data    farm: 1,200 samples, 3 views
        X: 2 views of 1200 samples.
        View shape: [odd] :smile:.
        View a is taken for the run's only view, b.
Model   mgcn-dns of runs/farm
Result  1,200 samples labeled
        accuracy 50.0% on the 1,000 samples with a label (balanced 50.0%, macro-F1 50.0%)"""
    assert prediction_text(prediction, out, width=100) == text + (
        "\nFile    new.csv" if out else ""
    )


def test_estimated_scores_come_first_with_their_intervals():
    scores = Estimate(0.912, 0.85, 0.961), Estimate(0.9, 0.8, 0.95), Estimate(0.88, 0.7, 0.94)
    estimate = EstimateRecord(1200, *scores, 0.03, {"network": 0.7, "forest": 0.2})
    text = run_text(replace(RUN, estimate=estimate), width=100)
    assert text.startswith("Estimate  accuracy 91% (85 to 96%)")
    assert (
        "accuracy 91% (85 to 96%), balanced 90% (80 to 95%), macro-F1 88% (70 to 94%); 95% "
        "intervals from 1,200 given labels, each predicted without it"
    ) in " ".join(text.split())
    few = EstimateRecord(12, None, None, None, None, {"network": 0.7})
    text = run_text(replace(RUN, estimate=few), width=100)
    assert "too few labels to estimate the accuracy: 12 could be hidden in turn, 20 are" in text
    assert "Estimate" not in run_text(RUN, width=100)


def test_calibration_and_abstention_are_reported():
    calibration = CalibrationRecord(1.31, 90, 1, False, 0.08, 0.03)
    run = replace(RUN, calibration=calibration, abstention=Abstention(0.8, 1000, 188, 0.99))
    text = " ".join(run_text(run, width=100).split())
    assert (
        "probabilities calibrated on 90 held-out labels: temperature 1.31, calibration error (ECE) "
        "8.0% before and 3.0% after 1,000 predictions with a probability of 0.8 or more, 99.0% of "
        "them right; 188 samples are left unknown"
    ) in text
    weak = replace(run, calibration=replace(calibration, is_weak=True))
    weak = replace(weak, abstention=replace(run.abstention, accuracy=None))
    text = " ".join(run_text(weak, width=100).split())
    assert "3.0% after; few labels, so a rough estimate 1,000 predictions with" in text
    assert "or more; 188 samples" in text


def test_abstaining_predictions_are_counted():
    prediction = Prediction(
        folder=Path("runs/farm"),
        method="mgcn-dns",
        data=replace(DATA, classes=()),
        sample_ids=np.array(["s1", "s2"]),
        labels=np.array(["cow", "unknown"], dtype=object),
        probabilities=np.array([0.9, 0.5]),
        scores=None,
        notes=(),
        abstain_below=0.8,
    )
    text = prediction_text(prediction, None, width=100)
    assert text.endswith("1 of them left unknown, with a probability below 0.8")
