"""Sections on the predictions, with and without a known truth."""

from dataclasses import replace

import numpy as np
from pages import parts_of, run_of

from manyview.report.run.page import run_page


def page_of(data, labels, model, **changes):
    return run_page(run_of(data, labels, model, **changes), data, labels, model)


def test_truth_that_is_not_known_leaves_out_what_needs_it(fitted):
    data, labels, model = fitted
    page = page_of(replace(data, labels=labels), labels, model, label_ratio=None)
    parts = parts_of(page)
    assert "Confusions" not in parts.text("h2")
    assert not {"accuracy", "recall", "truth", "right or wrong"} & {t for _, t in parts.texts}


def test_class_that_only_the_truth_has_is_counted(fitted):
    data, labels, model = fitted
    truth = data.labels.copy()
    truth[np.flatnonzero([label is None for label in labels])[0]] = "unseen"
    parts = parts_of(page_of(replace(data, labels=truth), labels, model))
    assert "unseen" in parts.text("th")
