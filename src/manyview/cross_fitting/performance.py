"""How good is it on this data? Scores of the unlabeled samples, from labels that were hidden.

The class of a held-out label and the class predicted for it, by fits that did not see it, make a
confusion table. The table of the unlabeled samples is drawn many times from the posterior given
these counts; each draw has an accuracy, a balanced accuracy and a macro-F1. Their means are the
estimates, their quantiles the intervals.

    error rate of all labels   E ~ Beta(wrong + 1/2, right + 1/2)
    its parts in the classes   Dirichlet(wrong_c + half the size of c + half of one of C classes)
    recall of class c          1 - E n part_c / n_c; anything up to the mean recall where no label
                               of the class could be hidden
    predictions of the rest    Dirichlet(counts of the other classes + their sizes)
    right of m_c samples       Binomial(m_c, recall of c)

Labels that were left out because they look wrong may be right, and hard: some of them count as
errors, a number that is drawn, too.
A fit with all labels errs less than one that lacks a part of them, by a ratio that is drawn, too.
"""

from dataclasses import dataclass

import numpy as np

MIN_LABELS = 20  # held-out labels below which there is no estimate
N_DRAWS = 1000
BLOCK_VALUES = 2**22  # entries of the tables that are drawn at a time
COVERAGE = 0.95
MOST_HARD = 0.03  # of all labels: those that were left out and are right, at most, and one more
# Ratio of the errors of a fit with all labels to one that lacks a third of them: with many labels
# per class at least LEAST_RATIO, at most MOST_RATIO; with few, hiding a third costs more.
LEAST_RATIO, MOST_RATIO = 0.65, 1.3
FEW_LABELS = 1.5  # per class: half of LEAST_RATIO


@dataclass(frozen=True)
class Estimate:
    """A fraction with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PerformanceEstimate:
    """Estimated scores on the unlabeled samples, and the held-out labels they come from."""

    n_labels: int
    accuracy: Estimate
    balanced_accuracy: Estimate
    macro_f1: Estimate


def estimate_performance(
    y_encoded: np.ndarray,
    predicted: np.ndarray,
    class_sizes: np.ndarray,
    rng: np.random.Generator,
    *,
    label_weights: np.ndarray | None = None,
    n_left_out: int = 0,
    error_ratio: tuple[float, float] | None = None,
) -> PerformanceEstimate | None:
    """Estimate the scores on unlabeled samples; None with fewer than `MIN_LABELS` labels.

    Parameters
    ----------
    y_encoded, predicted
        [label] class numbers: as given, and as predicted without seeing them.
    class_sizes
        [class] expected numbers of the unlabeled samples of each class.
    label_weights
        [label] how much each counts, such as the probability that it is right; None for 1.
    n_left_out
        Number of further labels that were not used because they look wrong.
    error_ratio
        Lowest and highest ratio of the errors with all labels and with some hidden; drawn evenly.
        None takes what the number of labels per class lets expect.
    """
    if len(y_encoded) < MIN_LABELS:
        return None
    n_classes = len(class_sizes)
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (y_encoded, predicted), 1.0 if label_weights is None else label_weights)
    if error_ratio is None:
        per_class = len(y_encoded) / n_classes
        error_ratio = (LEAST_RATIO * per_class / (per_class + FEW_LABELS), MOST_RATIO)
    n_block = max(BLOCK_VALUES // n_classes**2, 1)
    blocks = [
        _draw_scores(
            counts, class_sizes, rng, min(n_block, N_DRAWS - start), error_ratio, n_left_out
        )
        for start in range(0, N_DRAWS, n_block)
    ]
    scores = np.concatenate(blocks, axis=1)
    return PerformanceEstimate(len(y_encoded), *map(_summary, scores))


def _draw_scores(
    counts: np.ndarray,
    class_sizes: np.ndarray,
    rng: np.random.Generator,
    n_draws: int,
    error_ratio: tuple[float, float],
    n_left_out: int,
) -> np.ndarray:
    """Draw accuracies, balanced accuracies and macro-F1s: [3, draw]."""
    recall = _draw_recall(counts, rng, n_draws, n_left_out)
    recall = 1 - (1 - recall) * rng.uniform(*error_ratio, size=(n_draws, 1))
    n_whole = np.maximum(np.round(class_sizes), 1).astype(np.int64)
    seen = rng.binomial(n_whole, np.clip(recall, 0, 1)) / n_whole  # [draw, class]
    n_right = seen * class_sizes
    n_found = n_right + _draw_mistaken(counts, class_sizes, class_sizes - n_right, rng)
    f1 = 2 * n_right / np.maximum(n_found + class_sizes, np.finfo(float).tiny)
    is_there = class_sizes >= min(0.5, class_sizes.max())
    accuracy = n_right.sum(axis=1) / class_sizes.sum()
    return np.stack([accuracy, seen[:, is_there].mean(axis=1), f1[:, is_there].mean(axis=1)])


def _draw_recall(
    counts: np.ndarray, rng: np.random.Generator, n_draws: int, n_left_out: int
) -> np.ndarray:
    """Draw the recall of each class: [draw, class]."""
    right, total = np.diagonal(counts), counts.sum(axis=1)
    wrong, n_labels, is_seen = total - right, total.sum(), total > 0
    n_hard = rng.uniform(0, min(n_left_out, 1 + MOST_HARD * n_labels), size=(n_draws, 1))
    rate = rng.beta(wrong.sum() + n_hard + 0.5, right.sum() + 0.5)
    prior = (1 / is_seen.sum() + total / n_labels) / 2
    parts = rng.standard_gamma(np.where(is_seen, wrong + prior, 0), size=(n_draws, len(total)))
    parts /= np.maximum(parts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    errors = np.clip(rate * parts * n_labels / np.where(is_seen, total, 1), 0, 1)
    own = ((right + 0.5) / (total + 1))[is_seen]
    mean = own[rng.integers(len(own), size=(n_draws, len(own)))].mean(axis=1)[:, None]
    return np.asarray(np.where(is_seen, 1 - errors, mean * rng.random(errors.shape)))


def _draw_mistaken(
    counts: np.ndarray, class_sizes: np.ndarray, n_wrong: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw how many samples of other classes are taken for each class: [draw, class].

    `n_wrong`, [draw, class], are the samples of each class that are taken for another one.
    """
    others = ~np.eye(len(counts), dtype=bool)
    shape = np.where(others, counts + class_sizes / class_sizes.sum() + 1e-9, 1e-9)
    taken = rng.standard_gamma(shape, size=(len(n_wrong), *counts.shape)) * others
    taken /= np.maximum(taken.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    return np.asarray(np.einsum("dc,dck->dk", n_wrong, taken))


def _summary(draws: np.ndarray) -> Estimate:
    low, high = np.quantile(draws, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return Estimate(float(draws.mean()), float(low), float(high))
