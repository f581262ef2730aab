"""What a reason is: parts of a prediction that add up to it, and the sample it is asked for."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from manyview.errors import InputError

N_NEAR = 3  # ids suggested for one that does not exist


@dataclass(frozen=True)
class Evidence:
    """One sample's part of the logits of another.

    Attributes
    ----------
    row, name
        The sample.
    given
        Its known label, None where it has none.
    prediction
        What the method predictions for it.
    views
        Share of each view in the edge; sums to 1. Empty for a source, which may be no neighbor.
    for_prediction, for_runner_up
        Its part of the two logits.
    """

    row: int
    name: str
    given: Any
    prediction: Any
    views: dict[str, float]
    for_prediction: float
    for_runner_up: float

    @property
    def margin(self) -> float:
        """Its part of the log-odds of the prediction against the runner-up."""
        return self.for_prediction - self.for_runner_up


@dataclass(frozen=True)
class ViewEvidence:
    """A view's part of the logits, over all neighbors, and the prediction when it is left out.

    `prediction_without` and its probability are None where there is no other view.
    """

    view: str
    for_prediction: float
    for_runner_up: float
    prediction_without: Any
    probability_without: float | None
    changes_prediction: bool

    @property
    def margin(self) -> float:
        """Its part of the log-odds of the prediction against the runner-up."""
        return self.for_prediction - self.for_runner_up


@dataclass(frozen=True)
class Explanation:
    """Why a sample got its prediction; every list of parts adds up to the logits.

    Attributes
    ----------
    row, name, given
        The sample, and its known label or None; a new sample stands after the fitted ones.
    probabilities
        Of every class.
    prediction, runner_up
        The two likeliest classes.
    logit, runner_up_logit
        Theirs, divided by the temperature, so that `margin`, their difference, is the logarithm
        of the ratio of the two probabilities.
    itself
        The sample's own part, through its self-loop.
    neighbors
        The parts of its neighbors, the largest margins, for or against, first.
    sources
        The same logits by the samples whose features they come from, as many layers away.
    views
        The same logits by the view of the edges, and the prediction without each view.
    """

    row: int
    name: str
    given: Any
    probabilities: dict[Any, float]
    prediction: Any
    runner_up: Any
    logit: float
    runner_up_logit: float
    temperature: float
    itself: Evidence
    neighbors: tuple[Evidence, ...]
    sources: tuple[Evidence, ...]
    views: tuple[ViewEvidence, ...]

    @property
    def margin(self) -> float:
        """Log-odds of the prediction against the runner-up."""
        return self.logit - self.runner_up_logit

    def rest(self, n_shown: int) -> tuple[int, float, float]:
        """Count the neighbors after the first ones, and sum their parts of the two logits."""
        left = self.neighbors[n_shown:]
        sums = sum(one.for_prediction for one in left), sum(one.for_runner_up for one in left)
        return len(left), float(sums[0]), float(sums[1])

    def document(self) -> dict[str, Any]:
        """Put everything into one JSON document."""
        document = {**asdict(self), "margin": self.margin}
        document["probabilities"] = [
            {"label": label, "probability": value} for label, value in self.probabilities.items()
        ]
        for name in ("neighbors", "sources", "views"):
            for entry, one in zip(document[name], getattr(self, name), strict=True):
                entry["margin"] = one.margin
        document["itself"]["margin"] = self.itself.margin
        return document


@dataclass(frozen=True)
class ViewEffect:
    """What leaving one view out does to the predictions of all samples, without learning anew.

    Attributes
    ----------
    n_changed, fraction_changed
        Predictions that become another.
    n_scored
        Samples whose label is known, on which the accuracies are counted.
    accuracy, accuracy_without
        With all views and without this one; None where no label is known.
    """

    view: str
    n_changed: int
    fraction_changed: float
    n_scored: int
    accuracy: float | None
    accuracy_without: float | None


def find_sample(sample: object, sample_ids: Sequence[str] | None, n_samples: int) -> int:
    """Turn an id or, where there are no ids, a row number into a row number.

    Examples
    --------
    >>> find_sample("b", ["a", "b"], 2), find_sample(-1, None, 2)
    (1, 1)
    """
    if sample_ids is not None and isinstance(sample, str):
        if len(sample_ids) != n_samples:
            raise InputError(
                f"sample_ids must hold one id for each of the {n_samples} samples; got "
                f"{len(sample_ids)}."
            )
        row_of: dict[str, int] = {}
        for row, name in enumerate(sample_ids):
            row_of.setdefault(str(name), row)
        if sample in row_of:
            return row_of[sample]
        near = get_close_matches(sample, list(row_of), n=N_NEAR)
        listed = f"The ids go from {str(sample_ids[0])!r} to {str(sample_ids[-1])!r}."
        way_out = f"Did you mean {' or '.join(map(repr, near))}?" if near else listed
        raise InputError(f"No sample has the id {sample!r}. {way_out}")
    if isinstance(sample, Integral) and not isinstance(sample, bool):
        row = int(sample)
        if -n_samples <= row < n_samples:
            return row % n_samples
    way_out = "" if sample_ids is not None else " Pass sample_ids= to name a sample by its id."
    raise InputError(
        f"sample must be a row number from 0 to {n_samples - 1}; got {sample!r}."
        f"{way_out if isinstance(sample, str) else ''}"
    )
