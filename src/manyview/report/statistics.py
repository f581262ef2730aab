"""Statistics of a comparison: ranks, and tests that say which differences to believe.

Two questions, two tests. Within one data set the splits are the samples, and they overlap:
Nadeau and Bengio's correction of the paired t test. Between data sets every data set is one
sample: Wilcoxon's signed-rank test.
"""

from collections.abc import Sequence
from math import isclose, sqrt

import numpy as np
from scipy import stats

LEVEL = 0.05
MIN_DATASETS = 6  # with fewer, the signed-rank test cannot give a p value below 0.05


def average_ranks(rows: Sequence[Sequence[float]], *, higher_is_better: bool = True) -> list[float]:
    """Average the rank of every method over all rows; 1 is best, equal values share a rank.

    Parameters
    ----------
    rows
        [case, method], a value of every method in every case.

    Examples
    --------
    >>> average_ranks([[90.0, 80.0, 80.0], [70.0, 75.0, 60.0]])
    [1.5, 1.75, 2.75]
    """
    values = np.asarray(rows, dtype=float)
    ranks = np.asarray(stats.rankdata(-values if higher_is_better else values, axis=1))
    return [float(rank) for rank in ranks.mean(axis=0)]


def corrected_t_test(differences: Sequence[float], label_ratio: float) -> float:
    """Two-sided p value of the paired t test over splits of one data set, corrected for overlap.

        t = mean / sqrt((1 / n + n_test / n_train) * variance),  n - 1 degrees of freedom

    Parameters
    ----------
    differences
        Difference of two methods on each split.
    label_ratio
        Share of the samples that was labeled; all others are tested.

    Notes
    -----
    C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52, 2003. With
    few labels the correction is large: five splits with 10 % labels tell a difference only when
    it is above 8.4 of its own standard deviations.

    Examples
    --------
    >>> round(corrected_t_test([1.0, 2.0, 3.0], label_ratio=0.5), 4)
    0.2254
    """
    return _t_test(differences, (1 - label_ratio) / label_ratio)


def paired_t_test(differences: Sequence[float]) -> float:
    """Two-sided p value of the paired t test over splits, taken as independent.

    It asks about other draws of labels from the very same samples, and not about new samples.

    Examples
    --------
    >>> round(paired_t_test([1.0, 2.0, 3.0]), 4)
    0.0742
    """
    return _t_test(differences, 0.0)


def _t_test(differences: Sequence[float], overlap: float) -> float:
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        return float("nan")
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    if isclose(variance, 0.0, abs_tol=1e-18):
        return 1.0 if isclose(mean, 0.0, abs_tol=1e-9) else 0.0
    t = mean / sqrt((1 / len(values) + overlap) * variance)
    return float(2 * stats.t.sf(abs(t), df=len(values) - 1))


def signed_rank_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p value of Wilcoxon's signed-rank test, one pair a data set.

    Data sets on which both are equal have no say; without any other, p is 1.

    Examples
    --------
    >>> signed_rank_test([2.0, 4.0, 6.0, 8.0, 10.0, 12.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    0.03125
    """
    differences = np.round(np.asarray(first, dtype=float) - np.asarray(second, dtype=float), 9)
    differences = differences[differences != 0]
    if len(differences) == 0:
        return 1.0
    return float(stats.wilcoxon(differences).pvalue)
