"""Studies made by hand: a plan in TOML, and an outcome for every trial."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyview.experiments.engines import as_record
from manyview.experiments.plan import Cell, load_plan
from manyview.experiments.store import Store
from manyview.experiments.study import Study
from manyview.experiments.trial import Trial

Outcome = dict[str, Any] | None


def build_study(
    folder: Path,
    plan_text: str,
    outcome: Callable[[Cell, Trial], Outcome],
    skipped: dict[str, str] | None = None,
) -> Study:
    """Make a study whose trials had these outcomes; None is a trial not run."""
    file = folder / "toy.toml"
    file.write_text(plan_text, encoding="utf-8")
    study = Study(load_plan(str(file)), Store(folder / "store"), skipped=dict(skipped or {}))
    study.store.open()
    for cell, trials in study.plan.cells().items():
        if cell.dataset in study.skipped:
            continue
        keyed = {trial.key(cell.dataset): trial for trial in trials}
        study.cells[cell] = list(keyed)
        for key, trial in keyed.items():
            study.keys[key] = (cell, trial)
            result = outcome(cell, trial)
            if result is not None:
                study.store.add(as_record(key, trial, result))
    return study


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., Study]:
    return lambda plan_text, outcome, skipped=None: build_study(
        tmp_path, plan_text, outcome, skipped
    )


@pytest.fixture
def done() -> Callable[..., Outcome]:
    """Return the outcome of a trial that went well."""

    def outcome(accuracy: float, **more: Any) -> Outcome:
        return {
            "status": "done",
            "accuracy": accuracy,
            "balanced_accuracy": accuracy,
            "macro_f1": accuracy,
            "seconds": 1.5,
            "peak_memory_mb": 200,
            "versions": {"python": "3.11.0", "manyview": "0.1"},
            **more,
        }

    return outcome
