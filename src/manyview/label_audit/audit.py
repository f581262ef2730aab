"""The label audit: which given labels are probably wrong, before any network is trained.

features of the labeled samples -> leave_one_out_scores -> fit_noise_model -> LabelIssues
                                          ^---- weights of labels ----'

Predictions that err look like labels that are wrong. The audit doubts labels only where it can
tell the two apart: a model with wrong labels must explain the labels clearly better than one
without, its predictions must be nearly certain, it must not call most labels wrong, and there must
be several labels per class. Labels are then predicted again, those in doubt counting less: where
wrong labels were the reason, predictions become certain; where classes overlap, they rarely do.
And labeled samples must not be harder to predict than the others: hard ones that were picked, as by
`propose`, are often predicted wrongly, whatever their labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from manyview.label_audit.leave_one_out import leave_one_out_scores, regression_scores
from manyview.label_audit.noise_model import NoiseModel, all_right_model, fit_noise_model
from manyview.system.notebook import Bar, html_box, html_table

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# When wrong labels are believed in; chosen on 20 data sets with and without them.
MIN_EVIDENCE = 1.5  # logarithm of the ratio of the two models' densities
MIN_CERTAINTY = 0.88  # mean probability of the likeliest class, before the label is looked at
MAX_WRONG = 0.4  # fraction of the labels
MIN_LABELS_PER_CLASS = 8.0  # on average
N_PASSES = 3  # predictions of all labels, each with the weights that come from the one before
LEAST_WEIGHT = 0.05  # of a label
HARDER = 1e-3  # p value below which labeled samples are harder to predict than the others
MAX_COMPARED = 1000  # labels whose predictions are compared with those of unlabeled samples
SUSPICIOUS = 0.5
N_PROTECTED = 2  # labels of each class that are always trusted


@dataclass(frozen=True, repr=False)
class LabelIssues:
    """How probably each given label is wrong.

    Every label was predicted from all others, by the features of its sample and of its neighbors.

    Attributes
    ----------
    samples
        [label] row numbers of the labeled samples.
    y_encoded, suggested
        [label] class number as given, and of the most probable other class.
    wrong
        [label] probability that the label is wrong.
    is_trusted
        [label] whether to learn from it: it is more probably right than wrong, or one of the two
        best of its class.
    is_conclusive
        Whether the audit could tell wrong labels from wrong predictions; otherwise no label is
        doubted.
    """

    samples: np.ndarray
    y_encoded: np.ndarray
    suggested: np.ndarray
    wrong: np.ndarray
    is_trusted: np.ndarray
    is_conclusive: bool

    def check(self, n_samples: int, n_classes: int) -> None:
        """Refuse arrays of a model file that do not fit together."""
        n_labels = len(self.samples)
        arrays = (self.y_encoded, self.suggested, self.wrong, self.is_trusted)
        if any(array.shape != (n_labels,) for array in arrays) or not n_labels:
            raise ValueError("label_issues_ must have one entry per label in each array")
        for numbers, below in ((self.samples, n_samples), (self.y_encoded, n_classes),
                               (self.suggested, n_classes)):  # fmt: skip
            if numbers.dtype.kind != "i" or numbers.min() < 0 or numbers.max() >= below:
                raise ValueError("label_issues_ must name samples and classes of the model")
        if self.is_trusted.dtype != bool or self.wrong.min() < 0 or self.wrong.max() > 1:
            raise ValueError("label_issues_ must hold probabilities")

    @property
    def is_suspicious(self) -> np.ndarray:
        """[label] whether it is more probably wrong than right."""
        return np.asarray(self.wrong > SUSPICIOUS)

    @property
    def ranked(self) -> np.ndarray:
        """[label] places in `samples`, the label that is most probably wrong first."""
        return np.argsort(-self.wrong, kind="stable")

    @property
    def wrong_fraction(self) -> float:
        """Expected fraction of wrong labels."""
        return float(self.wrong.mean())

    @property
    def wrong_interval(self) -> tuple[float, float]:
        """95% interval of the rate of wrong labels where these labels came from.

        Wilson's interval, widened by the uncertainty about the single labels.
        """
        n_labels, rate, z = len(self.wrong), self.wrong_fraction, 1.96
        variance = (rate * (1 - rate) + (self.wrong * (1 - self.wrong)).mean()) / n_labels
        middle = (rate + z**2 / (2 * n_labels)) / (1 + z**2 / n_labels)
        spread = z / (1 + z**2 / n_labels) * np.sqrt(variance + z**2 / (4 * n_labels**2))
        return max(float(middle - spread), 0.0), min(float(middle + spread), 1.0)

    def __repr__(self) -> str:
        low, high = self.wrong_interval
        found = (
            f"{int(self.is_suspicious.sum()):,} probably wrong; estimated rate of wrong labels "
            f"{self.wrong_fraction:.1%}, 95% interval {low:.1%} to {high:.1%}"
            if self.is_conclusive
            else "no reason to doubt them"
        )
        return f"LabelIssues({len(self.samples):,} labels, {found})"

    def _repr_html_(self) -> str:
        rows = [
            (
                self.samples[place],
                self.y_encoded[place],
                self.suggested[place],
                Bar(float(self.wrong[place]), f"{self.wrong[place]:.2f}"),
            )
            for place in self.ranked[: int(self.is_suspicious.sum())]
        ]
        header = ("row", "given class number", "suggested", "probability wrong")
        table = html_table(header, rows, ">>><", rest="more labels") if rows else ""
        return html_box(repr(self), table)


def audit_labels(
    features: np.ndarray,
    samples: np.ndarray,
    y_encoded: np.ndarray,
    unlabeled: Callable[[], np.ndarray] | None = None,
) -> LabelIssues:
    """Compute how probably each label is wrong.

    Parameters
    ----------
    features
        [label, feature] of the labeled samples; similar samples should have similar features.
    samples
        [label] their row numbers.
    y_encoded
        [label] class numbers; every class has a label.
    unlabeled
        Returns features of some unlabeled samples, [sample, feature]; called where labels would
        be doubted. None takes labels for a fair sample.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1, 2], 20)
    >>> features = np.eye(3)[truth] + 0.1 * rng.normal(size=(60, 3))
    >>> given = truth.copy()
    >>> given[[0, 1, 2, 30]] = [1, 1, 2, 0]
    >>> issues = audit_labels(features, np.arange(60), given)
    >>> issues.samples[issues.is_suspicious].tolist(), issues.suggested[30]
    ([0, 1, 2, 30], np.int64(1))
    """
    n_classes = int(y_encoded.max()) + 1
    scored = list(leave_one_out_scores(features, y_encoded, n_classes, PENALTIES))
    right = _likeliest(all_right_model, scored, y_encoded)
    noisy = None
    if len(y_encoded) >= MIN_LABELS_PER_CLASS * n_classes:
        noisy = _likeliest(fit_noise_model, scored, y_encoded)
    if noisy is None or noisy.log_density - right.log_density < MIN_EVIDENCE:
        return _issues(right, samples, y_encoded, is_conclusive=False)
    certainties = [noisy.certainty]
    for _ in range(N_PASSES - 1):
        weights = np.maximum(1 - noisy.wrong(y_encoded), LEAST_WEIGHT)
        scored = list(
            leave_one_out_scores(features, y_encoded, n_classes, PENALTIES, label_weights=weights)
        )
        noisy = _likeliest(fit_noise_model, scored, y_encoded)
        certainties.append(noisy.certainty)
    wrong = noisy.wrong(y_encoded)
    is_conclusive = bool(np.mean(certainties) >= MIN_CERTAINTY and wrong.mean() <= MAX_WRONG)
    if is_conclusive and unlabeled is not None and (wrong > SUSPICIOUS).any():
        is_conclusive = not are_harder(features, y_encoded, unlabeled())
    found = noisy if is_conclusive else right
    return _issues(found, samples, y_encoded, is_conclusive=is_conclusive)


def are_harder(features: np.ndarray, y_encoded: np.ndarray, unlabeled: np.ndarray) -> bool:
    """Whether labeled samples are clearly harder to predict than unlabeled ones.

    Compares the margins of their two likeliest classes, each label predicted from all others.

    Shapes
    ------
    features : [label, feature]
    unlabeled : [sample, feature]

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> easy, hard = rng.normal(0, 0.1, (200, 1)), rng.normal(0, 0.1, (40, 1))
    >>> easy[:100] += 1
    >>> hard += np.repeat([0.4, 0.6], 20)[:, None]
    >>> are_harder(hard, np.repeat([0, 1], 20), easy)
    True
    """
    if not len(unlabeled):
        return False
    chosen = np.linspace(0, len(y_encoded) - 1, min(len(y_encoded), MAX_COMPARED)).astype(int)
    features, y_encoded = features[chosen], y_encoded[chosen]
    n_classes, penalty = int(y_encoded.max()) + 1, PENALTIES[len(PENALTIES) // 2]
    (scores,) = leave_one_out_scores(features, y_encoded, n_classes, [penalty])
    others = regression_scores(features, y_encoded, n_classes, penalty, unlabeled)
    own, theirs = (np.diff(np.sort(one, axis=1)[:, -2:]).ravel() for one in (scores, others))
    return bool(stats.mannwhitneyu(own, theirs, alternative="less").pvalue < HARDER)


def contradiction(features: np.ndarray, y_encoded: np.ndarray) -> np.ndarray:
    """Return how much all other labels contradict each: [label], from -1 to 1.

    The probability of the likeliest other class less that of the given one, each label predicted
    from all others. Unlike the audit it makes no difference between wrong labels and wrong
    predictions, and so says which labels to check where these are too few for an audit.

    Examples
    --------
    >>> truth = np.repeat([0, 1], 10)
    >>> features = np.eye(2)[truth] + np.random.default_rng(0).normal(0, 0.1, (20, 2))
    >>> given = np.where(np.arange(20) == 3, 1, truth)
    >>> np.flatnonzero(contradiction(features, given) > 0.5).tolist()
    [3]
    """
    n_classes = int(y_encoded.max()) + 1
    scored = list(leave_one_out_scores(features, y_encoded, n_classes, PENALTIES))
    found = _likeliest(all_right_model, scored, y_encoded).probabilities
    is_own = np.eye(n_classes, dtype=bool)[y_encoded]
    return np.asarray(np.where(is_own, -1.0, found).max(axis=1) - found[is_own])


def _issues(
    model: NoiseModel, samples: np.ndarray, y_encoded: np.ndarray, *, is_conclusive: bool
) -> LabelIssues:
    """Return what a model of wrong labels says of each label."""
    chances = model.of_true if is_conclusive else model.probabilities
    own = np.eye(chances.shape[1], dtype=bool)[y_encoded]
    wrong = model.wrong(y_encoded)
    return LabelIssues(
        samples,
        y_encoded,
        np.where(own, -1.0, chances).argmax(axis=1),
        wrong,
        _is_trusted(wrong, y_encoded),
        is_conclusive,
    )


def _likeliest(
    fit: Callable[[np.ndarray, np.ndarray], NoiseModel],
    scored: Sequence[np.ndarray],
    y_encoded: np.ndarray,
) -> NoiseModel:
    """Return the likeliest of the models that fit the scores by each penalty."""
    return max((fit(scores, y_encoded) for scores in scored), key=lambda one: one.log_density)


def _is_trusted(wrong: np.ndarray, y_encoded: np.ndarray) -> np.ndarray:
    """Trust labels that are not suspicious, and the best of each class."""
    is_trusted = wrong <= SUSPICIOUS
    for number in np.unique(y_encoded):
        own = np.flatnonzero(y_encoded == number)
        is_trusted[own[np.argsort(wrong[own], kind="stable")[:N_PROTECTED]]] = True
    return is_trusted
