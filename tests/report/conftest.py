"""Studies written by hand: a plan in TOML, and an outcome per trial."""

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
    """Return a study whose trials had these outcomes; None is a trial that was not run."""
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
    """Return the outcome of a successful trial."""

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


@pytest.fixture
def kept() -> dict[str, Any]:
    """Return the artifacts a trial can store with its scores."""
    graph = [[0.0, 1.0], [1.0, 0.5]]
    return {
        "curve": {
            "loss": [2.0, 1.0, 0.5],
            "labeled_accuracy": [0.5, 0.9, 1.0],
            "test_accuracy": [0.4, 0.7, 0.8],
        },
        "view_names": ["<shape>", "a very long name of a view"],
        "view_importance": [0.25, 0.75],
        "mixing_weights": [[0.5, 0.5], [0.0, 1.0]],
        "graphs": {"fused": graph, "refined": graph, "selected": graph},
        "graph_edges": {"fused": 4, "refined": 4, "selected": 3},
    }
