"""LabelIssuesDisplay and EstimatedAccuracyDisplay: given labels, and what more of them gain."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.errors import InputError
from manyview.inspection._axes import one_axes, plain
from manyview.validation import check_whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class LabelIssuesDisplay:
    """Given labels that are most probably wrong, as bars.

    It is recommended to use `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    wrong
        [label] probability that the label is wrong, the highest first.
    samples
        [label] names of the samples.
    given, suggested
        [label] the label as given, and the most probable other class.
    is_conclusive
        Whether the audit could tell wrong labels from wrong predictions; otherwise it doubts
        none.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.
    bars_
        The bars, the most doubtful label on top.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from manyview import LabelIssuesDisplay, ManyviewClassifier, hide_labels
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(120, 2, class_sep=4, random_state=0)
    >>> labels = hide_labels(truth, 0.4, random_state=0)
    >>> first = labels.argmax()
    >>> labels[first] = 0  # a wrong label
    >>> model = ManyviewClassifier(random_state=0).fit(views, labels)
    >>> display = LabelIssuesDisplay.from_estimator(model)
    >>> bool(display.samples[0] == str(first))
    True
    >>> plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure"
    bars_: Any

    def __init__(
        self,
        *,
        wrong: np.ndarray,
        samples: np.ndarray,
        given: np.ndarray,
        suggested: np.ndarray,
        is_conclusive: bool = True,
    ) -> None:
        self.wrong = wrong
        self.samples = samples
        self.given = given
        self.suggested = suggested
        self.is_conclusive = is_conclusive

    @classmethod
    def from_estimator(
        cls, estimator: MultiViewClassifier, *, n_labels: int = 15, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the `label_issues_` of a fit.

        Parameters
        ----------
        estimator
            A classifier that was fitted with `label_audit`, as `ManyviewClassifier` is.
        n_labels
            Number of labels to show, at most.
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `barh`.
        """
        check_is_fitted(estimator)
        check_whole_number("n_labels", n_labels, at_least=1)
        issues = estimator.label_issues_
        if issues is None:
            raise InputError(
                f"{estimator.card.title} was fitted without an audit of its labels. Fit "
                "ManyviewClassifier(label_audit='report')."
            )
        ids, places = estimator.sample_ids_, issues.ranked[:n_labels]
        rows = issues.samples[places]
        display = cls(
            wrong=issues.wrong[places],
            samples=np.array([str(row if ids is None else ids[row]) for row in rows.tolist()]),
            given=estimator.classes_[issues.y_encoded[places]],
            suggested=estimator.classes_[issues.suggested[places]],
            is_conclusive=issues.is_conclusive,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars; beyond the line at 0.5 a label is more probably wrong than right.

        Parameters
        ----------
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `barh`.
        """
        ax = one_axes(ax)
        from manyview.label_audit.audit import SUSPICIOUS
        from manyview.report.figures.style import COLORS, GRAY, OWN_COLOR

        colors = [OWN_COLOR if one > SUSPICIOUS else COLORS[0] for one in self.wrong]
        self.bars_ = ax.barh(range(len(self.wrong)), self.wrong, **({"color": colors} | kwargs))
        names = [
            f"{plain(sample, 20)}: {plain(given, 16)}, or {plain(other, 16)}?"
            for sample, given, other in zip(self.samples, self.given, self.suggested, strict=True)
        ]
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.axvline(SUSPICIOUS, linestyle=":", color=GRAY)
        ax.set(xlim=(0, 1), xlabel="probability that the given label is wrong")
        if not self.is_conclusive:
            ax.set_title("No reason to doubt a label")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class EstimatedAccuracyDisplay:
    """Estimated accuracy by number of labels, with its intervals.

    It shows whether more labels still help, before anyone has labels to test with. All parameters
    are stored as attributes.

    Parameters
    ----------
    n_labels
        [fit] number of given labels.
    accuracy, low, high
        [fit] estimated accuracy, and the ends of its interval.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.
    line_
        The curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from manyview import EstimatedAccuracyDisplay
    >>> points = [(40, 0.82, 0.7, 0.9), (80, 0.9, 0.84, 0.94)]
    >>> display = EstimatedAccuracyDisplay.from_points(points).plot()
    >>> display.n_labels
    array([40, 80])
    >>> plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure"
    line_: Any

    def __init__(
        self, n_labels: np.ndarray, accuracy: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> None:
        self.n_labels = n_labels
        self.accuracy = accuracy
        self.low = low
        self.high = high

    @classmethod
    def from_estimators(
        cls, estimators: Sequence[MultiViewClassifier], *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the estimates of several fits, such as those after each batch of new labels.

        Parameters
        ----------
        estimators
            Fitted classifiers; those with too few labels for an estimate (`performance_` is
            None) are left out.
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `plot` of the axes.
        """
        points = []
        for estimator in estimators:
            check_is_fitted(estimator)
            found = getattr(estimator, "performance_", None)
            if found is not None:
                one = found.accuracy
                points.append((found.n_labels, one.value, one.low, one.high))
        return cls.from_points(points).plot(ax=ax, **kwargs)

    @classmethod
    def from_points(cls, points: Sequence[tuple[int, float, float, float]]) -> Self:
        """Return the display of points (number of labels, accuracy, low, high), in any order."""
        if not points:
            raise InputError(
                "there is no estimate of the accuracy to draw: no fit has a performance_. Fit "
                "ManyviewClassifier with more labels."
            )
        n_labels, accuracy, low, high = (np.array(one) for one in zip(*sorted(points), strict=True))
        return cls(n_labels, accuracy, low, high)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the estimates as a line and their intervals as a band.

        Parameters
        ----------
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `plot` of the axes.
        """
        ax = one_axes(ax)
        from manyview.report.figures.style import COLORS, draw_band

        look = {"marker": "o", "color": COLORS[0], "label": "estimated accuracy"} | kwargs
        (self.line_,) = ax.plot(self.n_labels, 100 * self.accuracy, **look)
        draw_band(ax, self.n_labels, 100 * self.low, 100 * self.high, self.line_.get_color())
        ax.set(xlabel="labels", ylabel="estimated accuracy (%)")
        self.ax_, self.figure_ = ax, ax.figure
        return self
