"""Comparisons with records that need no fit."""

from dataclasses import replace

import numpy as np
import pytest

from manyview.experiments.compared import plan_comparison
from manyview.experiments.study import Study
from manyview.report.compare.facts import find_standings
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource


@pytest.fixture
def compared(tmp_path, shapes, tiny_views):
    """Make findings from accuracies by method and split; `known` leaves 12 labels of 60."""
    np.savez(tmp_path / "few.npz", **tiny_views.views, y=tiny_views.known_labels)

    def make(accuracies, *, known=False, failed=None, n_splits=None, **changes):
        source = DataSource((str(tmp_path / "few.npz") if known else str(shapes),))
        settings = RunSettings(source, label_ratio=None if known else 0.2, out=tmp_path / "out")
        n_splits = n_splits or max(map(len, accuracies.values()))
        methods = [*accuracies, *(failed or {})]
        comparison = plan_comparison(replace(settings, **changes), methods, n_splits)
        study = Study.open(comparison.plan, comparison.folder)
        study.store.open()
        for key, (cell, trial) in study.keys.items():
            values = accuracies.get(cell.entry, ())
            if trial.seed < len(values):
                value = values[trial.seed]
                outcome = {
                    "status": "done", "accuracy": value, "balanced_accuracy": 1 - value,
                    "macro_f1": value / 2, "seconds": 0.5 + len(cell.entry), "peak_memory_mb": 1,
                }  # fmt: skip
            elif cell.entry in (failed or {}):
                outcome = {"status": "failed", "reason": failed[cell.entry]}
            else:
                continue
            study.store.add({"key": key, **trial.describe(), **outcome})
        return find_standings(comparison, study), study

    return make
