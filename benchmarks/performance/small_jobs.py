"""Small jobs now and before: import and fits of the default with an older version of the code.

CPU seconds on one thread. Processes of both versions take turns, and each version counts with its
fastest, so that another process on the machine affects both alike.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyview.experiments.limits import Limits
from performance.default_fit import measure
from performance.isolated import run_isolated
from performance.small import source_of
from performance.stored import Rows

SIZES = (200, 500, 1000, 2000)
BEFORE = "ea0d5f7"  # the last commit before the work on the whole job
LABEL_RATIO = 0.1
N_ROUNDS = 5
PARTS = ("import", "first fit", "later fit")
ONE_THREAD = Limits(n_threads=1)


def run(
    rows: Rows, before: str = BEFORE, sizes: Sequence[int] = SIZES, n_rounds: int = N_ROUNDS
) -> None:
    """Measure against `before`, a checkout's folder or a commit of this repository."""
    with tempfile.TemporaryDirectory() as temporary:
        source = source_of(before, Path(temporary))
        for n_samples in sizes:
            rows.measure(
                {"n_samples": n_samples, "label_ratio": LABEL_RATIO, "before": before},
                lambda n_samples=n_samples: compare(n_samples, source, n_rounds),
            )


def compare(n_samples: int, before: Path, n_rounds: int) -> dict[str, Any]:
    """Run both versions in turn; return the fastest CPU seconds of each part, and their ratios."""
    found: dict[str, list[dict[str, Any]]] = {"now": [], "before": []}
    for number in range(n_rounds):
        states = [("now", None), ("before", before)]
        for state, source in states if number % 2 == 0 else states[::-1]:
            outcome = run_isolated(
                measure,
                limits=ONE_THREAD,
                source=source,
                n_samples=n_samples,
                label_ratio=LABEL_RATIO,
            )
            if outcome["status"] != "done":
                return outcome
            found[state].append(outcome)
    fastest = {
        state: {part: min(one[part] for one in all_) for part in PARTS}
        for state, all_ in found.items()
    }
    for parts in fastest.values():
        parts["import and first fit"] = parts["import"] + parts["first fit"]
    return {
        "cpu_seconds": fastest,
        "ratio": {part: fastest["now"][part] / fastest["before"][part] for part in fastest["now"]},
        "accuracy": {state: all_[0]["accuracy"] for state, all_ in found.items()},
    }
