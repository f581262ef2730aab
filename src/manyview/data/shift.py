"""Shift tests: whether new samples look like those of the fit, view by view.

thresholds and counts of the fit, classes of new samples -> expected fractions -> p-values -> words

The fit stores two thresholds per column, near its quartiles, and the number of samples beyond
each, by predicted class. New samples are compared with fitted samples of the same predicted
classes. So new samples of one class alone are no shift, and new samples whose columns are all one
standard deviation higher are.

Let f be the fraction of m new samples beyond a threshold, and p the fraction expected from the
fit. Both vary: p is an average over classes c with weights w_c, each a fraction of n_c fitted
samples, and has the variance of a fraction of n = 1 / sum_c (w_c^2 / n_c) samples. If both
fractions estimate the same q = (m f + n p) / (m + n), Chernoff's bounds of the two give

    P <= exp(-m KL(f, q) - n KL(p, q)),    KL(a, b) = a log(a/b) + (1 - a) log((1 - a)/(1 - b))

which holds for small n and for rare values, where a normal or binomial test that takes p for exact
warns too often. Few fitted samples therefore make the test careful instead of wrong.

The p-values of a view's columns are combined as twice their median, which is valid however the
columns depend on each other (Rueger 1978), and ignores the few columns in which a wrong
prediction of the class makes a difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import rel_entr

from manyview.data.fitted_range import FittedRange, count_beyond, present_rows
from manyview.data.rows import View
from manyview.data.views import MultiView
from manyview.errors import DataWarning, warn_user

FALSE_ALARMS = 0.01  # bound on the probability of a warning without a shift, for each test
MIN_DIFFERENCE = 0.2  # smaller differences between fractions are never a shift
N_NAMED = 3  # columns named in a warning


@dataclass(frozen=True)
class ColumnShift:
    """How the new samples lie in one column, compared with fitted samples of the same classes.

    Attributes
    ----------
    view, column
        Name of the view; name of the column, or its number where it has none.
    side, threshold
        "above" or "below" the threshold, which about a quarter of the fitted samples are.
    fraction, expected
        Fraction of the new samples beyond the threshold, and the fraction expected from the fit.
    p_value
        Bound on the probability of such a difference without a shift; not corrected for the
        number of columns. 1 if the fractions differ by less than 0.2.
    outside
        Fraction of the new samples beyond the smallest or the largest fitted value.
    """

    view: str
    column: str | int
    side: str
    threshold: float
    fraction: float
    expected: float
    p_value: float
    outside: float


@dataclass(frozen=True)
class _ViewTest:
    """Test of all columns of a view, [column], for one side of each."""

    is_above: np.ndarray
    fraction: np.ndarray
    expected: np.ndarray
    p_value: np.ndarray
    outside: np.ndarray
    outside_p_value: np.ndarray


def shift_report(
    views: MultiView, y_encoded: np.ndarray, ranges: Mapping[str, FittedRange]
) -> list[ColumnShift]:
    """Compare new samples with the fit in every column, the most unusual column first."""
    found = []
    for name, fitted in ranges.items():
        view, own = present_rows(views, name, y_encoded)
        if not len(own):
            continue
        test = _test(view, own, fitted)
        threshold = np.where(test.is_above, fitted.high, fitted.low)
        found += [
            ColumnShift(
                view=name,
                column=views.columns[name][column] if name in views.columns else column,
                side="above" if test.is_above[column] else "below",
                threshold=float(threshold[column]),
                fraction=float(test.fraction[column]),
                expected=float(test.expected[column]),
                p_value=float(test.p_value[column]),
                outside=float(test.outside[column]),
            )
            for column in range(view.shape[1])
        ]
    return sorted(found, key=lambda shift: shift.p_value)


def warn_of_shift(
    views: MultiView, y_encoded: np.ndarray, ranges: Mapping[str, FittedRange]
) -> None:
    """Warn of each view in which new samples are unlike the fitted ones.

    Parameters
    ----------
    y_encoded
        Class numbers that the model predicts for the new samples.
    """
    n_columns = sum(len(fitted.low) for fitted in ranges.values())
    for name, fitted in ranges.items():
        view, own = present_rows(views, name, y_encoded)
        if not len(own):
            continue
        names = views.columns.get(name, range(view.shape[1]))
        found = _describe(view, _test(view, own, fitted), fitted, names, len(ranges), n_columns)
        if found:
            warn_user(
                f"view {name!r} of the new samples is unlike the fit: {found}. Check units and "
                "batch effects, or fit again with the new samples among the others, labeled -1.",
                DataWarning,
            )


def _describe(
    view: View,
    test: _ViewTest,
    fitted: FittedRange,
    names: Sequence[str | int],
    n_views: int,
    n_columns: int,
) -> str | None:
    """Describe in a clause how new samples are unlike the fit; None if they are not."""
    n_new = view.shape[0]
    compared = np.sort(test.p_value[fitted.compared_columns()])
    if 2 * compared[len(compared) // 2] <= FALSE_ALARMS / n_views:
        columns = np.argsort(test.p_value, kind="stable")
        first = columns[0]
        threshold = (fitted.high if test.is_above[first] else fitted.low)[first]
        return (
            f"{(test.p_value <= FALSE_ALARMS).sum():,} of {view.shape[1]:,} columns are shifted, "
            f"most of all {_named(names, columns[:N_NAMED])} ({test.fraction[first]:.0%} of "
            f"{n_new:,} samples are {'above' if test.is_above[first] else 'below'} "
            f"{threshold:.4g} in the first, and {test.expected[first]:.0%} were expected)"
        )
    columns = np.flatnonzero(test.outside_p_value <= FALSE_ALARMS / n_columns)
    if len(columns):
        columns = columns[np.argsort(test.outside_p_value[columns], kind="stable")]
        return (
            f"{test.outside[columns[0]] * n_new:,.0f} of {n_new:,} samples are outside the fitted "
            f"range of {_counted(columns)} {_named(names, columns[:N_NAMED])} "
            f"({_range(fitted, columns[0])})"
        )
    return _describe_far(view, fitted, names)


def _describe_far(view: View, fitted: FittedRange, names: Sequence[str | int]) -> str | None:
    """Describe values that are far outside the range of their column, in a single sample even."""
    everyone = np.ones((1, view.shape[0]), dtype=np.float32)
    lower, upper = fitted.far_limits()
    n_far = (
        count_beyond(view, lower, everyone, is_above=False)
        + count_beyond(view, upper, everyone, is_above=True)
    )[0]
    columns = np.flatnonzero(n_far)
    if not len(columns):
        return None
    columns = columns[np.argsort(-n_far[columns], kind="stable")]
    chosen = view[:, columns]
    values = chosen.toarray() if isinstance(chosen, sparse.csr_array) else chosen
    is_far = (values < lower[columns]) | (values > upper[columns])
    n_samples = int(is_far.any(axis=1).sum())
    example = values[is_far[:, 0], 0][0]
    return (
        f"{n_samples:,} of {view.shape[0]:,} samples {'is' if n_samples == 1 else 'are'} far "
        f"outside the fitted range of {_counted(columns)} {_named(names, columns[:N_NAMED])} "
        f"({example:.4g}, {_range(fitted, columns[0])})"
    )


def _named(names: Sequence[str | int], columns: np.ndarray) -> str:
    return ", ".join(repr(names[column]) for column in columns.tolist())


def _counted(columns: np.ndarray) -> str:
    return "column" if len(columns) == 1 else f"{len(columns):,} columns, such as"


def _range(fitted: FittedRange, column: int) -> str:
    low, high = fitted.smallest[column], fitted.largest[column]
    return f"fitted {low:.4g} to {high:.4g}"


def _test(view: View, y_encoded: np.ndarray, fitted: FittedRange) -> _ViewTest:
    """Test both sides of every column, and keep the more unusual one."""
    weights = np.bincount(y_encoded, minlength=len(fitted.n_samples)) / view.shape[0]
    below, above = (_test_side(view, weights, fitted, is_above=side) for side in (False, True))
    upper = above.p_value <= below.p_value
    return _ViewTest(
        is_above=upper,
        fraction=np.where(upper, above.fraction, below.fraction),
        expected=np.where(upper, above.expected, below.expected),
        p_value=np.where(upper, above.p_value, below.p_value),
        outside=np.maximum(above.outside, below.outside),
        outside_p_value=np.minimum(above.outside_p_value, below.outside_p_value),
    )


def _test_side(
    view: View, weights: np.ndarray, fitted: FittedRange, *, is_above: bool
) -> _ViewTest:
    """Test one side of every column; `weights` [class] are the fractions of new samples."""
    n_new, everyone = view.shape[0], np.ones((1, view.shape[0]), dtype=np.float32)
    if is_above:
        counts, threshold, end = fitted.n_above, fitted.high, fitted.largest
    else:
        counts, threshold, end = fitted.n_below, fitted.low, fitted.smallest
    n_all = fitted.n_samples + 1  # with one sample of all classes, for those that have none
    of_all = (counts.sum(axis=0) + 0.5) / (fitted.n_samples.sum() + 1)
    expected = weights @ ((counts + of_all) / n_all[:, None])
    n_expected = float(1 / (weights**2 / n_all).sum())
    # New samples may all be of the class that the fit has fewest samples of.
    n_smallest = float(fitted.n_samples[fitted.n_samples > 0].min())
    fraction, outside = (
        count_beyond(view, limit, everyone, is_above=is_above)[0] / n_new
        for limit in (threshold, end)
    )
    return _ViewTest(
        is_above=np.full(len(fraction), is_above),
        fraction=fraction,
        expected=expected,
        p_value=_p_value(fraction, n_new, expected, n_expected),
        outside=outside,
        outside_p_value=_p_value(outside, n_new, np.zeros_like(outside), n_smallest),
    )


def _p_value(fraction: np.ndarray, n_new: int, expected: np.ndarray, n_fit: float) -> np.ndarray:
    """Return the bound of the module's docstring for two sides; 1 for small differences."""
    pooled = (n_new * fraction + n_fit * expected) / (n_new + n_fit)
    exponent = -n_new * _divergence(fraction, pooled) - n_fit * _divergence(expected, pooled)
    p_value = np.minimum(2 * np.exp(exponent), 1.0)
    return np.where(fraction - expected >= MIN_DIFFERENCE, p_value, 1.0)


def _divergence(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(rel_entr(a, b) + rel_entr(1 - a, 1 - b))
