"""Probabilities against labels: calibration errors, and the effect of abstaining."""

from dataclasses import replace

import numpy as np
from pages import fit_nasty, parts_of, run_of

from manyview.data.label_values import is_known
from manyview.estimators.calibration import expected_calibration_error
from manyview.report.run.page import run_page
from manyview.runs.abstaining import Abstention


def page_of(data, labels, model, **changes):
    return run_page(run_of(data, labels, model, **changes), data, labels, model)


def test_reliability_is_measured_on_hidden_labels_else_on_held_out_ones():
    data, labels, model = fit_nasty(max_epochs=5, calibration="temperature")
    intro = " ".join(parts_of(page_of(data, labels, model)).text("p"))
    assert "Measured on the 48 hidden labels." in intro
    hidden = ~is_known(labels)
    truth = np.searchsorted(model.classes_, data.labels[hidden])
    error = expected_calibration_error(model.label_distributions_[hidden], truth)
    assert (
        f"between probability and accuracy, is {error:.1%}; without calibration it would" in intro
    )
    before = fit_nasty(max_epochs=5)[2].label_distributions_[hidden]
    plain = expected_calibration_error(before, truth)
    assert f"without calibration it would be {plain:.1%}." in intro
    assert "was fitted on 12 held-out labels, which is too few for a precise estimate." in intro
    bare = page_of(replace(data, labels=labels), labels, model, label_ratio=None)
    intro = " ".join(parts_of(bare).text("p"))
    assert "Measured on 12 labels that were held out for calibration." in intro


def test_abstaining_is_counted_and_marked(fitted):
    data, labels, model = fitted
    run = run_of(*fitted)
    below = float(np.median(model.label_distributions_.max(axis=1)).round(3))
    run = replace(
        run,
        settings=replace(run.settings, abstain_below=below),
        abstention=Abstention(below, 20, 28, 0.75),
    )
    parts = parts_of(run_page(run, data, labels, model))
    assert "left unknown" in parts.text("dt")
    assert f"{below:g} or more, as set" in parts.text("th")
    hidden = ~is_known(labels)
    coverage = (model.label_distributions_.max(axis=1)[hidden] >= below).mean()
    assert f"{coverage:.1%}" in parts.text("td")
