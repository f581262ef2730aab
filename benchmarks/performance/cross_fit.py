"""What cross-fitting costs: the default and its network alone, CPU seconds on one thread.

Processes of both take turns, and each counts with its fastest fit.
"""

from collections.abc import Sequence
from typing import Any

from manyview.experiments.limits import Limits
from performance.default_fit import measure
from performance.isolated import run_isolated
from performance.stored import Rows

SIZES = (2_000, 10_000)
LABEL_RATIOS = (0.01, 0.1)
N_ROUNDS = 2
FORMS = {"default": {}, "network alone": {"cross_fit": False, "label_audit": None}}
ONE_THREAD = Limits(n_threads=1)


def run(rows: Rows, sizes: Sequence[int] = SIZES, n_rounds: int = N_ROUNDS) -> None:
    """Measure both at each size and label ratio."""
    for n_samples in sizes:
        for label_ratio in LABEL_RATIOS:
            rows.measure(
                {"n_samples": n_samples, "label_ratio": label_ratio},
                lambda size=n_samples, share=label_ratio: compare(size, share, n_rounds),
            )


def compare(n_samples: int, label_ratio: float, n_rounds: int) -> dict[str, Any]:
    """Fit both in turn; return the fastest CPU seconds of each, and their ratio."""
    fastest: dict[str, float] = {}
    accuracy: dict[str, float] = {}
    for _ in range(n_rounds):
        for form, params in FORMS.items():
            outcome = run_isolated(
                measure,
                limits=ONE_THREAD,
                n_samples=n_samples,
                label_ratio=label_ratio,
                params=params,
            )
            if outcome["status"] != "done":
                return outcome
            fastest[form] = min(outcome["later fit"], fastest.get(form, outcome["later fit"]))
            accuracy[form] = outcome["accuracy"]
    own, alone = fastest.values()
    return {"cpu_seconds": fastest, "ratio": own / alone, "accuracy": accuracy}
