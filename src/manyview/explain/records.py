"""Records of an explanation: contributions that add up to the logits of a prediction."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from manyview.errors import InputError
from manyview.explain.notebook import (
    effects_html,
    effects_text,
    explanation_html,
    explanation_text,
)

N_SUGGESTED = 3  # similar ids for one that does not exist


@dataclass(frozen=True)
class Evidence:
    """Contribution of one sample to the logits of another.

    Attributes
    ----------
    row, name
        The sample.
    given
        Its known label, or None.
    prediction
        Its predicted label.
    views
        Fraction of each view in the edge; sums to 1. Empty for a source, which need not be a
        neighbor.
    for_prediction, for_runner_up
        Its contribution to the two logits.
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
        """Contribution to the log-odds of the prediction against the runner-up."""
        return self.for_prediction - self.for_runner_up


@dataclass(frozen=True)
class ViewEvidence:
    """Contribution of a view to the logits, over all neighbors, and the prediction without it.

    `prediction_without` and its probability are None if there is no other view.
    """

    view: str
    for_prediction: float
    for_runner_up: float
    prediction_without: Any
    probability_without: float | None
    changes_prediction: bool

    @property
    def margin(self) -> float:
        """Contribution to the log-odds of the prediction against the runner-up."""
        return self.for_prediction - self.for_runner_up


@dataclass(frozen=True)
class ColumnEvidence:
    """What one column adds to the log-odds, against the mean of the column."""

    view: str
    column: str
    margin: float


@dataclass(frozen=True)
class TableEvidence:
    """Contribution of a classifier that looks at the sample's own columns alone.

    `columns` are those that add most to the log-odds of the prediction against the runner-up, the
    largest first; empty where the columns of the sample were not given.
    """

    name: str
    for_prediction: float
    for_runner_up: float
    columns: tuple[ColumnEvidence, ...] = ()

    @property
    def margin(self) -> float:
        """Contribution to the log-odds of the prediction against the runner-up."""
        return self.for_prediction - self.for_runner_up


@dataclass(frozen=True, repr=False)
class Explanation:
    """Explanation of a sample's prediction.

    The contributions of `itself` and the `neighbors` add up to the network's part of the logits;
    so do those of the `sources`, and those of the `views`. With those of the `tables`, they are the
    whole logits.

    Attributes
    ----------
    row, name, given
        The sample, and its known label or None; a new sample comes after the fitted ones.
    probabilities
        Probability of every class.
    prediction, runner_up
        The two most likely classes.
    logit, runner_up_logit
        Their logits, divided by the temperature, so that the difference, `margin`, is the
        logarithm of the ratio of the two probabilities.
    itself
        Contribution of the sample itself, through its self-loop.
    neighbors
        Contributions of its neighbors, sorted by absolute margin.
    sources
        The same logits by the samples whose features they are computed from, which are up to as
        many hops away as there are layers.
    views
        The same logits by the view of the edges, and the prediction without each view.
    tables
        Contributions of the classifiers of the columns alone; empty where there are none.
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
    tables: tuple[TableEvidence, ...] = ()

    @property
    def margin(self) -> float:
        """Log-odds of the prediction against the runner-up."""
        return self.logit - self.runner_up_logit

    def rest(self, n_shown: int) -> tuple[int, float, float]:
        """Count the neighbors after the first ones, and sum their two contributions."""
        left = self.neighbors[n_shown:]
        sums = sum(one.for_prediction for one in left), sum(one.for_runner_up for one in left)
        return len(left), float(sums[0]), float(sums[1])

    def document(self) -> dict[str, Any]:
        """Return everything as one JSON document."""
        document = {**asdict(self), "margin": self.margin}
        document["probabilities"] = [
            {"label": label, "probability": value} for label, value in self.probabilities.items()
        ]
        for name in ("neighbors", "sources", "views", "tables"):
            for entry, one in zip(document[name], getattr(self, name), strict=True):
                entry["margin"] = one.margin
        document["itself"]["margin"] = self.itself.margin
        return document

    __repr__ = explanation_text
    _repr_html_ = explanation_html


@dataclass(frozen=True)
class ViewEffect:
    """Effect of omitting one view on the predictions of all samples, without retraining.

    Attributes
    ----------
    n_changed, fraction_changed
        Predictions that change.
    n_scored
        Samples with a known label, on which the accuracies are computed.
    accuracy, accuracy_without
        With all views and without this one; None if no label is known.
    """

    view: str
    n_changed: int
    fraction_changed: float
    n_scored: int
    accuracy: float | None
    accuracy_without: float | None


class ViewEffects(tuple[ViewEffect, ...]):
    """The effect of omitting each view, in order; shown as a table."""

    __slots__ = ()
    __repr__ = effects_text
    _repr_html_ = effects_html


def find_sample(sample: object, sample_ids: Sequence[str] | None, n_samples: int) -> int:
    """Return the row number of a sample given by its id or row number.

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
        near = get_close_matches(sample, list(row_of), n=N_SUGGESTED)
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
