"""Statistics of a comparison: ranks, and tests that say which differences to believe.

Two questions, two tests. Within one data set the splits are the samples, and they overlap:
Nadeau and Bengio's correction of the paired t test. Between data sets every data set is one
sample: Wilcoxon's signed-rank test.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, sqrt
from statistics import fmean

import numpy as np
from scipy import stats

from manyview.report.study.results import Metric, Result
from manyview.report.study.table import BEST, SECOND, TableCell

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


TESTS = {
    "corrected": "the paired t test over splits with Nadeau and Bengio's correction for their "
    "overlap, which is very cautious where few samples are labeled",
    "paired": "the paired t test over splits, which asks about other draws of labels from the same "
    "samples",
}
DEFAULT_TEST = "paired"
Grid = Sequence[Sequence[Result | None]]  # [row, column]


@dataclass(frozen=True)
class Ranking:
    """Average ranks of the rows of a block.

    Attributes
    ----------
    cells
        One a row; empty for rows without any result.
    n_cases
        Columns over which ranks were averaged: those that all ranked rows have.
    is_tested
        Whether any two rows share data sets enough for the signed-rank test.
    """

    cells: tuple[TableCell, ...]
    n_cases: int
    is_tested: bool

    def sentence(self) -> str:
        """Say over what ranks were averaged and tested."""
        cases = "the one column" if self.n_cases == 1 else f"the {self.n_cases} columns"
        tested = (
            "ties by Wilcoxon's signed-rank test over the data sets shared with the first"
            if self.is_tested
            else f"too few data sets for a test between rows (it takes {MIN_DATASETS})"
        )
        return f"Rank: average over {cases} that all ranked rows have; {tested}."


def marked_columns(
    body: Sequence[Sequence[TableCell]], grid: Grid, metric: Metric, test: str
) -> list[list[TableCell]]:
    """Mark the best and second best of each column, and what a test cannot tell from the best.

    `grid` has the results to test, None where there is none, as in the paper's columns.
    """
    marked = [list(line) for line in body]
    for column in range(len(marked[0]) if marked else 0):
        places = _places({n: line[column].value for n, line in enumerate(marked)}, metric)
        if not places:
            continue
        best = next(n for n, place in places.items() if place == 1)
        for n, place in places.items():
            tied = place > 1 and _is_tied(grid[n][column], grid[best][column], test)
            mark = {1: BEST, 2: SECOND}.get(place, "")
            marked[n][column] = replace(marked[n][column], mark=mark, is_tied=tied)
    return marked


def _places(values: dict[int, float | None], metric: Metric) -> dict[int, int]:
    """Place of each row by the number that is shown; equal numbers share a place."""
    shown = {n: round(value, metric.decimals) for n, value in values.items() if value is not None}
    order = sorted(set(shown.values()), reverse=metric.higher_is_better)
    return {n: order.index(value) + 1 for n, value in shown.items()} if len(shown) > 1 else {}


def _is_tied(result: Result | None, best: Result | None, test: str) -> bool:
    if result is None or best is None:
        return False
    seeds = [seed for seed in best.by_seed if seed in result.by_seed]
    if len(seeds) < 2:
        return False
    differences = [best.by_seed[seed] - result.by_seed[seed] for seed in seeds]
    if test == "corrected":
        return corrected_t_test(differences, result.cell.label_ratio) > LEVEL
    return paired_t_test(differences) > LEVEL


def ranked(grid: Grid, datasets: Sequence[str], metric: Metric) -> Ranking | None:
    """Average the ranks of rows over the columns that all of them have.

    `datasets` names that of each column. Rows without any result are left out. None where fewer
    than two rows or no column are left.
    """
    means = [
        {column: r.mean for column, r in enumerate(line) if r is not None and r.mean is not None}
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
    """Test two rows over the data sets both have; None where these are too few."""
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
    """Name the test behind ties, where there are any."""
    if not any(cell.is_tied for cell in cells):
        return []
    return [f"Clearly worse than the best of its {of}: p below {LEVEL:g} in {TESTS[test]}."]
