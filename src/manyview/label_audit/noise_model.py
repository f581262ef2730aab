"""A model of wrong labels: how sure predictions are, and which classes people confuse.

    q_i = sum_c p(c | i) M[c, y_i],      p(. | i) = softmax(s scores_i)

The scores of a sample, times a sharpness s, give the probabilities of its true class c; a sample of
class c is given the label k with probability M[c, k]. Sharpness and table are estimated in turn by
expectation maximization: labels that sure predictions contradict are wrong with high probability,
labels that unsure ones contradict are not.

Priors keep the table near one with the same fraction e of wrong labels in all classes, spread
evenly, and e near 0.
"""

from dataclasses import dataclass

import numpy as np

from manyview.numerics import normalize_rows, softmax

N_STEPS = 40
START = 0.2  # fraction of wrong labels the estimation starts from
SHARPNESS = (0.5, 60.0)  # bounds; scores are about 1 for a sure class
MOST_WRONG = 0.49
EVEN_STRENGTH = 10.0  # labels per class that the even table counts for
N_RIGHT = 5.0  # labels that are right by assumption


@dataclass(frozen=True)
class NoiseModel:
    """An estimated model of wrong labels.

    Attributes
    ----------
    sharpness
        What scores are multiplied by.
    table
        [class, class] probability that a sample of one class is given the label of another.
    probabilities
        [label, class] of the true class, by the scores alone.
    of_true
        [label, class] of the true class, given the label, too.
    log_density
        Logarithm of likelihood and prior.
    """

    sharpness: float
    table: np.ndarray
    probabilities: np.ndarray
    of_true: np.ndarray
    log_density: float

    @property
    def certainty(self) -> float:
        """Mean probability of the likeliest class, by the scores alone."""
        return float(self.probabilities.max(axis=1).mean())

    def wrong(self, y_encoded: np.ndarray) -> np.ndarray:
        """Return the probability that each label is wrong: [label]."""
        of_given = self.of_true[np.arange(len(y_encoded)), y_encoded]
        return np.asarray(np.clip(1 - of_given, 0.0, 1.0))


def fit_noise_model(scores: np.ndarray, y_encoded: np.ndarray) -> NoiseModel:
    """Estimate sharpness and table from the scores of labels by a model that did not see them.

    Shapes
    ------
    scores : [label, class]
    y_encoded : [label], class numbers
    """
    n_labels, n_classes = scores.shape
    given = np.eye(n_classes)[y_encoded]
    table = even = even_table(START, n_classes)
    sharpness = fit_sharpness(scores, given)
    wrong = START
    for _ in range(N_STEPS):
        of_true = _of_true(scores, y_encoded, sharpness, table)
        wrong = float(1 - (of_true * given).sum() / n_labels) * n_labels / (n_labels + N_RIGHT)
        wrong = min(wrong, MOST_WRONG)
        even = even_table(wrong, n_classes)
        table = normalize_rows(of_true.T @ given + EVEN_STRENGTH * even)
        sharpness = fit_sharpness(scores, of_true, start=sharpness, n_steps=2)
    probabilities = softmax(sharpness * scores)
    likelihood = (probabilities * table[:, y_encoded].T).sum(axis=1)
    tiny = np.finfo(float).tiny
    log_prior = N_RIGHT * np.log1p(-wrong) + EVEN_STRENGTH * float(
        (even * np.log(np.maximum(table, tiny) / np.maximum(even, tiny))).sum()
    )
    return NoiseModel(
        sharpness,
        table,
        probabilities,
        _of_true(scores, y_encoded, sharpness, table),
        float(np.log(likelihood).sum()) + log_prior,
    )


def all_right_model(scores: np.ndarray, y_encoded: np.ndarray) -> NoiseModel:
    """Return the model in which no label is wrong."""
    n_classes = scores.shape[1]
    given = np.eye(n_classes)[y_encoded]
    sharpness = fit_sharpness(scores, given)
    probabilities = softmax(sharpness * scores)
    likelihood = (probabilities * given).sum(axis=1)
    density = float(np.log(np.maximum(likelihood, np.finfo(float).tiny)).sum())
    return NoiseModel(sharpness, np.eye(n_classes), probabilities, given, density)


def even_table(wrong: float, n_classes: int) -> np.ndarray:
    """Return the table with this fraction of wrong labels in every class, spread evenly.

    Examples
    --------
    >>> even_table(0.25, 2)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    table = np.full((n_classes, n_classes), wrong / max(n_classes - 1, 1))
    np.fill_diagonal(table, 1 - wrong)
    return table


def fit_sharpness(
    scores: np.ndarray, targets: np.ndarray, *, start: float = 5.0, n_steps: int = 20
) -> float:
    """Find the sharpness that makes the targets likeliest, by Newton's method on its logarithm.

        argmax over s of  sum_ic targets_ic log softmax(s scores_i)_c

    The objective is concave in s; steps are limited, and so is s.

    Shapes
    ------
    scores, targets : [label, class]; rows of targets sum to 1
    """
    wanted = float((targets * scores).sum())
    place = np.log(start)
    for _ in range(n_steps):
        sharpness = np.exp(place)
        probabilities = softmax(sharpness * scores)
        mean = (probabilities * scores).sum(axis=1)
        variance = float((probabilities * scores**2).sum() - (mean**2).sum())
        slope = sharpness * (wanted - float(mean.sum()))
        curvature = sharpness**2 * variance + abs(slope)  # at least that of the logarithm
        step = np.clip(slope / max(curvature, np.finfo(float).tiny), -1.0, 1.0)
        place = float(np.clip(place + step, *np.log(SHARPNESS)))
        if abs(step) < 1e-8:
            break
    return float(np.exp(place))


def _of_true(
    scores: np.ndarray, y_encoded: np.ndarray, sharpness: float, table: np.ndarray
) -> np.ndarray:
    return normalize_rows(softmax(sharpness * scores) * table[:, y_encoded].T)
