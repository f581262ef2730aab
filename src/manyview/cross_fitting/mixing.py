"""Mix the predictions of several models, by weights that held-out labels choose.

    p(c | i)  is proportional to  exp(sum_m w_m log p_m(c | i)),      w_m >= 0

A product of experts: a model that says little about a sample hardly moves the others, and one
weight below 1 for a single model is its temperature. So the weights mix and calibrate at once.

The weights have the highest posterior density given held-out labels. Their prior is normal around
a mixture of mostly the first model, which few labels hardly change.

The fit with all labels is surer than those that lacked some, and more than it is better: a factor
for all weights lets it be as sure as they were, less the errors that more labels avoid.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp

from manyview.numerics import softmax

FLOOR = 1e-3  # weight of the uniform distribution in a model's probabilities, which may be 0
LEAST_FIRST = 0.05  # weight of the first model, so that it always counts
ERROR_RATIO = 0.9  # of errors with all labels to errors without those that were hidden
SHARPNESS = (0.25, 1.0)  # least and largest factor; it takes sureness away and adds none


@dataclass(frozen=True)
class MixingPrior:
    """Normal prior of the weights.

    Attributes
    ----------
    first, others
        Means: of the first model's weight, and of each other model's.
    spread
        Standard deviation of all.
    """

    first: float = 0.7
    others: float = 0.1
    spread: float = 0.4

    def means(self, n_models: int) -> np.ndarray:
        """Return the mean of each model's weight: [model]."""
        return np.array([self.first] + [self.others] * (n_models - 1))


@dataclass(frozen=True)
class Mixture:
    """Weights of the models' log-probabilities: [model], >= 0."""

    weights: np.ndarray

    def __call__(self, probabilities: Sequence[np.ndarray]) -> np.ndarray:
        """Mix the class probabilities of all models, [sample, class] each.

        Examples
        --------
        >>> sure, unsure = np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]])
        >>> Mixture(np.array([1.0, 1.0]))([sure, unsure]).round(2)
        array([[0.9, 0.1]])
        """
        logits = sum(
            weight * log_probabilities(one)
            for weight, one in zip(self.weights, probabilities, strict=True)
        )
        return softmax(np.asarray(logits))


def log_probabilities(probabilities: np.ndarray, floor: float = FLOOR) -> np.ndarray:
    """Return logarithms of probabilities mixed with a little of the uniform distribution.

    Shapes
    ------
    probabilities, returns : [sample, class]
    """
    mixed = (1 - floor) * probabilities.astype(np.float64) + floor / probabilities.shape[1]
    return np.asarray(np.log(mixed))


def root_balance(y_encoded: np.ndarray) -> np.ndarray:
    """Return weights of labels, [label], that grow with the rarity of their class; mean 1.

    A class of n labels counts as the root of n, so that the labels of a few large classes do not
    decide alone which model is trusted.

    Examples
    --------
    >>> root_balance(np.array([0, 0, 0, 0, 1])).round(2)
    array([0.83, 0.83, 0.83, 0.83, 1.67])
    """
    weights = 1 / np.sqrt(np.maximum(np.bincount(y_encoded)[y_encoded], 1))
    return np.asarray(weights * (len(weights) / max(weights.sum(), np.finfo(float).tiny)))


def fit_mixture(
    probabilities: Sequence[np.ndarray],
    y_encoded: np.ndarray,
    label_weights: np.ndarray | None = None,
    prior: MixingPrior | None = None,
) -> Mixture:
    """Find the weights of highest posterior density.

    Parameters
    ----------
    probabilities
        Of each model, [label, class], by fits that did not see the labels. The first model is the
        one that few labels fall back on.
    y_encoded
        [label] class numbers.
    label_weights
        [label] how much each counts, such as the probability that it is right; None for 1.

    Examples
    --------
    >>> first = np.tile([[0.6, 0.4], [0.4, 0.6]], (20, 1))
    >>> better = np.tile([[0.9, 0.1], [0.1, 0.9]], (20, 1))
    >>> fit_mixture([first, better], np.tile([0, 1], 20)).weights.round(1)
    array([0.9, 1. ])
    """
    prior = prior or MixingPrior()
    means = prior.means(len(probabilities))
    if not len(y_encoded):
        return Mixture(means)
    counted = np.ones(len(y_encoded)) if label_weights is None else label_weights
    logs = np.stack([log_probabilities(one) for one in probabilities])  # [model, label, class]
    own = logs[:, np.arange(len(y_encoded)), y_encoded]  # [model, label]

    def cost(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = np.tensordot(weights, logs, 1)
        totals = logsumexp(logits, axis=1)
        expected = np.einsum("mic,ic->mi", logs, np.exp(logits - totals[:, None]))
        distance = (weights - means) / prior.spread
        value = counted @ (totals - weights @ own) + distance @ distance / 2
        return float(value), (expected - own) @ counted + distance / prior.spread

    bounds = [(LEAST_FIRST, None)] + [(0.0, None)] * (len(means) - 1)
    found = minimize(cost, means, jac=True, bounds=bounds, method="L-BFGS-B")
    return Mixture(np.asarray(found.x))


def match_sharpness(
    fitted: np.ndarray, held: Sequence[np.ndarray], error_ratio: float = ERROR_RATIO
) -> float:
    """Return what to multiply the logits of a fit by, to make it as sure as fits without labels.

    A fit that is less sure than they are stays as it is.

        mean max softmax(factor * fitted) = 1 - error_ratio * (1 - mean max softmax(held))

    Shapes
    ------
    fitted : [sample, class], logits of the fit with all labels, of unlabeled samples
    held : [sample, class] each, logits of fits that lack labels, of the same samples

    Examples
    --------
    >>> logits = np.log([[0.7, 0.3], [0.2, 0.8]])
    >>> round(match_sharpness(2 * logits, [logits], error_ratio=1.0), 3)
    0.5
    """
    if not len(held) or not len(fitted):
        return 1.0
    wanted = 1 - error_ratio * (1 - float(np.mean([_mean_confidence(one) for one in held])))

    def excess(log_factor: float) -> float:
        return _mean_confidence(np.exp(log_factor) * fitted) - wanted

    low, high = np.log(SHARPNESS)
    if excess(high) <= 0:
        return SHARPNESS[1]
    if excess(low) >= 0:
        return SHARPNESS[0]
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))


def _mean_confidence(logits: np.ndarray) -> float:
    return float(softmax(logits).max(axis=1).mean())
