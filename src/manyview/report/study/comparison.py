"""Statistics of a comparison: average ranks and significance tests.

Within one data set the splits are the samples. They overlap, which Nadeau and Bengio's version of
the paired t test corrects for. Across data sets, each data set is one sample of Wilcoxon's
signed-rank test.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, sqrt
from statistics import fmean

import numpy as np
from scipy import stats

from manyview.report.study.results import Metric, Result, counted_datasets
from manyview.report.study.table import BEST, SECOND, TableCell

LEVEL = 0.05
MIN_DATASETS = 6  # with fewer, the signed-rank test cannot give a p value below 0.05


def average_ranks(rows: Sequence[Sequence[float]], *, higher_is_better: bool = True) -> list[float]:
    """Return the mean rank of every method over all rows; 1 is best, ties get their mean rank.

    Parameters
    ----------
    rows
        [case, method] values.

    Examples
    --------
    >>> average_ranks([[90.0, 80.0, 80.0], [70.0, 75.0, 60.0]])
    [1.5, 1.75, 2.75]
    """
    values = np.asarray(rows, dtype=float)
    ranks = np.asarray(stats.rankdata(-values if higher_is_better else values, axis=1))
    return [float(rank) for rank in ranks.mean(axis=0)]


def corrected_t_test(
    differences: Sequence[float], label_ratio: float, least_variance: float = 0.0
) -> float:
    """Return the two-sided p value of the paired t test, corrected for overlapping splits.

        t = mean / sqrt((1 / n + n_test / n_train) * variance),  n - 1 degrees of freedom

    Parameters
    ----------
    differences
        Difference between two methods on each split.
    label_ratio
        Fraction of the samples that is labeled; all others are test samples.
    least_variance
        Variance of a difference that is used where the observed one is lower; see
        `sampling_variance`.

    Notes
    -----
    C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52, 2003. With
    few labels the correction is large: with five splits and 10% labels, a difference is
    significant only above 8.4 of its own standard deviations.

    Examples
    --------
    >>> round(corrected_t_test([1.0, 2.0, 3.0], label_ratio=0.5), 4)
    0.2254
    """
    return _t_test(differences, (1 - label_ratio) / label_ratio, least_variance)


def paired_t_test(differences: Sequence[float]) -> float:
    """Return the two-sided p value of the paired t test, with splits taken as independent.

    It covers other draws of labels from the same samples, not new samples.

    Examples
    --------
    >>> round(paired_t_test([1.0, 2.0, 3.0]), 4)
    0.0742
    """
    return _t_test(differences, 0.0)


def sampling_variance(fraction: float, n_scored: int, n_known: int) -> float:
    """Return the least variance of a fraction over splits that score `n_scored` drawn labels.

    With few labels all splits may give the same score by chance; their variance is then 0, and
    an interval from it would have no width. `fraction` is moved toward one half as if two more of
    the `n_known` labels had been seen, one right and one wrong.

    Examples
    --------
    >>> round(sampling_variance(1.0, n_scored=9, n_known=40), 5)
    0.00258
    """
    smooth = (fraction * n_known + 1) / (n_known + 2)
    return smooth * (1 - smooth) / n_scored


def _t_test(differences: Sequence[float], overlap: float, least_variance: float = 0.0) -> float:
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        return float("nan")
    mean, variance = float(values.mean()), max(float(values.var(ddof=1)), least_variance)
    if isclose(variance, 0.0, abs_tol=1e-18):
        return 1.0 if isclose(mean, 0.0, abs_tol=1e-9) else 0.0
    t = mean / sqrt((1 / len(values) + overlap) * variance)
    return float(2 * stats.t.sf(abs(t), df=len(values) - 1))


def mean_interval(
    values: Sequence[float], overlap: float = 0.0, least_variance: float = 0.0
) -> tuple[float, float] | None:
    """Return the 95% interval of a mean over splits by Student's t; None with fewer than two.

    Parameters
    ----------
    overlap
        Test samples per training sample, Nadeau and Bengio's correction; 0 takes splits as
        independent.
    least_variance
        As for `corrected_t_test`.

    Examples
    --------
    >>> [round(end, 2) for end in mean_interval([1.0, 2.0, 3.0])]
    [-0.48, 4.48]
    """
    if len(values) < 2:
        return None
    mean, variance = fmean(values), max(float(np.var(values, ddof=1)), least_variance)
    half = float(stats.t.ppf(1 - LEVEL / 2, df=len(values) - 1)) * sqrt(
        (1 / len(values) + overlap) * variance
    )
    return mean - half, mean + half


def adjusted_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for the number of tests, by Holm's method.

    Examples
    --------
    >>> adjusted_p_values([0.25, 0.01])
    [0.25, 0.02]
    """
    adjusted, least = list(p_values), 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=lambda n: p_values[n])):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = least
    return adjusted


def signed_rank_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test, one pair per data set.

    Data sets with equal results are left out; p is 1 if no other remains.

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


def format_p_value(p_value: float) -> str:
    """Write a p value with three decimals; smaller ones are "< 0.001", never "0.000".

    Examples
    --------
    >>> format_p_value(0.0321), format_p_value(0.0002)
    ('0.032', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


TESTS = {
    "corrected": "the paired t test over splits, with Nadeau and Bengio's correction for their "
    "overlap, which is very conservative with few labels",
    "paired": "the paired t test over splits, which covers other draws of labels from the same "
    "samples",
}
DEFAULT_TEST = "paired"
Grid = Sequence[Sequence[Result | None]]  # [row, column]


@dataclass(frozen=True)
class Ranking:
    """Average ranks of the rows of a block."""

    cells: tuple[TableCell, ...]  # one per row; empty for rows without any result
    n_cases: int  # number of columns in which all ranked rows have a result
    is_tested: bool  # whether any two rows have enough common data sets for the signed-rank test

    def sentence(self) -> str:
        """Describe the average and the test."""
        cases = "the one column" if self.n_cases == 1 else f"the {self.n_cases} columns"
        tested = (
            "ties by Wilcoxon's signed-rank test over the data sets in common with the first row"
            if self.is_tested
            else f"no test between rows, which needs {MIN_DATASETS} data sets"
        )
        return f"Rank: average over {cases} with results in all ranked rows; {tested}."


def marked_columns(
    body: Sequence[Sequence[TableCell]], grid: Grid, metric: Metric, test: str
) -> list[list[TableCell]]:
    """Mark the best and second best of each column, and those not clearly worse than the best.

    `grid` has the results to test, None where there are none, as in the paper's columns.
    """
    marked = [list(line) for line in body]
    for column in range(len(marked[0]) if marked else 0):
        places = _places({n: line[column].value for n, line in enumerate(marked)}, metric)
        if not places:
            continue
        best = next(n for n, place in places.items() if place == 1)
        for n, place in places.items():
            p_value = _p_value(grid[n][column], grid[best][column], test) if place > 1 else None
            marked[n][column] = replace(
                marked[n][column],
                mark={1: BEST, 2: SECOND}.get(place, ""),
                p_value=p_value,
                is_tied=p_value is not None and p_value > LEVEL,
            )
    return marked


def _places(values: dict[int, float | None], metric: Metric) -> dict[int, int]:
    """Return the place of each row by its rounded number; equal numbers get the same place."""
    shown = {n: round(value, metric.decimals) for n, value in values.items() if value is not None}
    order = sorted(set(shown.values()), reverse=metric.higher_is_better)
    return {n: order.index(value) + 1 for n, value in shown.items()} if len(shown) > 1 else {}


def _p_value(result: Result | None, best: Result | None, test: str) -> float | None:
    """Test a result against the best over their common seeds; None with fewer than two."""
    if result is None or best is None:
        return None
    seeds = [seed for seed in best.by_seed if seed in result.by_seed]
    if len(seeds) < 2:
        return None
    differences = [best.by_seed[seed] - result.by_seed[seed] for seed in seeds]
    if test == "corrected":
        return corrected_t_test(differences, result.cell.label_ratio)
    return paired_t_test(differences)


def ranked(grid: Grid, datasets: Sequence[str], metric: Metric) -> Ranking | None:
    """Average the ranks of rows over the columns in which all of them have a result.

    `datasets` has the data set of each column. Rows without any result are left out, and columns
    of data sets that count in no average. Returns None if fewer than two rows or no column remain.
    """
    counted = counted_datasets(datasets)
    means = [
        {
            column: r.mean
            for column, r in enumerate(line)
            if r is not None and r.mean is not None and datasets[column] in counted
        }
        for line in grid
    ]
    here = [n for n, line in enumerate(means) if line]
    common = [column for column in range(len(datasets)) if all(column in means[n] for n in here)]
    if len(here) < 2 or not common:
        return None
    ranks = average_ranks(
        [[means[n][column] for n in here] for column in common],
        higher_is_better=metric.higher_is_better,
    )
    first = here[ranks.index(min(ranks))]
    p_values = [_p_between(means[first], means[n], datasets) for n in here if n != first]
    is_tested = any(p is not None for p in p_values)
    p_values.insert(here.index(first), None)
    order = sorted({round(rank, 6) for rank in ranks})
    cells = [TableCell()] * len(means)
    for n, rank, p in zip(here, ranks, p_values, strict=True):
        place = order.index(round(rank, 6))
        cells[n] = TableCell(
            text=f"{rank:.1f}",
            value=rank,
            mark=(BEST, SECOND)[place] if place < 2 else "",
            is_tied=place > 0 and is_tested and (p is None or p > LEVEL),
        )
    return Ranking(tuple(cells), len(common), is_tested)


def _p_between(
    first: Mapping[int, float], second: Mapping[int, float], datasets: Sequence[str]
) -> float | None:
    """Test two rows over their common data sets; None where these are too few."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for column in sorted(first.keys() & second.keys()):
        pairs.setdefault(datasets[column], []).append((first[column], second[column]))
    if len(pairs) < MIN_DATASETS:
        return None
    return signed_rank_test(
        [fmean(one for one, _ in values) for values in pairs.values()],
        [fmean(other for _, other in values) for values in pairs.values()],
    )


def tie_sentence(test: str, cells: Iterable[TableCell], of: str = "column") -> list[str]:
    """Name the test behind ties, if there are any."""
    if not any(cell.is_tied for cell in cells):
        return []
    return [
        f"A result is clearly worse than the best of its {of} if p < {LEVEL:g} in {TESTS[test]}."
    ]
