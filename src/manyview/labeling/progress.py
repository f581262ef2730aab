"""How good the predictions are, what ten more labels would bring, and when to stop."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np

from manyview.cross_fitting.performance import MIN_LABELS

TOO_FEW, NOT_YET = "too few labels to say", "not estimated yet"
N_MORE = 10
N_RECENT = 8  # estimates that the expected gain is read from
SMALL_GAIN = 0.005  # ten labels that bring less are not worth the work
N_SMALL = 3  # estimates in a row that must show a small gain


@dataclass(frozen=True)
class Estimate:
    """Estimated accuracy on the unlabeled samples, with its 95% interval."""

    n_labels: int
    value: float
    low: float
    high: float


def read_estimate(model: Any) -> Estimate | None:
    """Return the accuracy that a fitted model estimates of itself; None if it has none."""
    found = getattr(model, "performance_", None)
    accuracy = getattr(found, "accuracy", None)
    if found is None or accuracy is None:
        return None
    return Estimate(
        int(found.n_labels), float(accuracy.value), float(accuracy.low), float(accuracy.high)
    )


def expected_gain(curve: Sequence[Estimate]) -> float | None:
    """Expect the gain in accuracy of ten more labels; None with fewer than three estimates.

    The accuracy is taken to grow with the logarithm of the number of labels, as fast as it did in
    the last estimates.

    Examples
    --------
    >>> curve = [Estimate(n, 0.6 + 0.1 * log(n / 10), 0.5, 0.7) for n in (10, 20, 40)]
    >>> round(expected_gain(curve), 3)
    0.022
    """
    recent = list(curve)[-N_RECENT:]
    if len({one.n_labels for one in recent}) < 3:
        return None
    x = np.log([one.n_labels for one in recent])
    y = np.array([one.value for one in recent])
    slope = float(np.polyfit(x, y, 1)[0])
    last = recent[-1]
    gain = slope * log((last.n_labels + N_MORE) / last.n_labels)
    return float(np.clip(gain, 0, 1 - last.value))


def is_time_to_stop(curve: Sequence[Estimate]) -> bool:
    """Whether the last estimates all expect a small gain."""
    if len(curve) < N_SMALL:
        return False
    gains = [expected_gain(curve[: len(curve) - back]) for back in range(N_SMALL)]
    return all(gain is not None and gain < SMALL_GAIN for gain in gains)


def advice(curve: Sequence[Estimate], n_left: int, n_labels: int = 0) -> str:
    """Say in one sentence how far the labeling is.

    The first estimate comes after the predictions: with `MIN_LABELS` labels it is on its way.
    """
    if n_left == 0:
        return "Every sample has a label."
    gain = expected_gain(curve)
    if not curve:
        return f"How good the predictions are: {NOT_YET if is_due(n_labels) else TOO_FEW}."
    if gain is None:
        return f"What ten more labels would bring: {TOO_FEW}."
    points = f"{100 * gain:.1f} points"
    if is_time_to_stop(curve):
        return f"It is time to stop: ten more labels would bring about {points}."
    return f"Ten more labels are expected to bring about {points}."


def is_due(n_labels: int) -> bool:
    """Whether there are enough labels for an estimate."""
    return n_labels >= MIN_LABELS


def progress_document(curve: Sequence[Estimate], n_left: int, n_labels: int = 0) -> dict[str, Any]:
    """Return the estimate, the curve and the advice as JSON."""
    return {
        "estimate": asdict(curve[-1]) if curve else None,
        "curve": [asdict(one) for one in curve],
        "expected_gain": expected_gain(curve),
        "is_time_to_stop": is_time_to_stop(curve),
        "advice": advice(curve, n_left, n_labels),
        "is_estimate_due": is_due(n_labels),
    }
