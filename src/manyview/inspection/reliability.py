"""ReliabilityDisplay and CoverageDisplay: what the probabilities of predictions are worth."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from manyview.base.classifier import MultiViewClassifier
from manyview.estimators.calibration import (
    coverage_curve,
    expected_calibration_error,
    reliability,
)
from manyview.inspection._axes import one_axes
from manyview.inspection._scored import ScoredPredictions
from manyview.validation import check_choice, check_whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STRATEGIES = ("uniform", "quantile")


class ReliabilityDisplay:
    """Accuracy of predictions by their probability; on the diagonal they are calibrated.

    scikit-learn's `CalibrationDisplay` does this for one class of two. Here the probability is
    that of the predicted class, for any number of classes.

    It is recommended to use `from_estimator` or `from_predictions`. All parameters are stored as
    attributes.

    Parameters
    ----------
    prob_true, prob_pred
        [bin] accuracy and mean probability.
    counts
        [bin] number of samples.
    calibration_error
        Expected calibration error (ECE): the mean difference of the two over all samples.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.
    line_
        The curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from manyview import ReliabilityDisplay
    >>> y_prob = np.array([[0.75, 0.25]] * 4)
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 0, 1], y_prob)
    >>> display.calibration_error
    0.0
    >>> plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure"
    line_: Any

    def __init__(
        self,
        prob_true: np.ndarray,
        prob_pred: np.ndarray,
        counts: np.ndarray,
        *,
        calibration_error: float,
    ) -> None:
        self.prob_true = prob_true
        self.prob_pred = prob_pred
        self.counts = counts
        self.calibration_error = calibration_error

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiViewClassifier,
        X: Any = None,
        y: Any = None,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the reliability of a fit's probabilities.

        Parameters
        ----------
        estimator
            A fitted classifier.
        X, y
            New samples and their labels. Without X, y holds labels of the fitted samples, and
            those count that the fit did not see; without both, the labels count that the fit
            itself held out.
        n_bins, strategy
            Number of bins; "quantile" fills them equally, "uniform" makes them equally wide.
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `plot` of the axes.
        """
        found = ScoredPredictions.of_estimator(estimator, X, y)
        return cls._from_scored(found, n_bins, strategy).plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        classes: Any = None,
        n_bins: int = 10,
        strategy: str = "quantile",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y_true
            [sample] true labels; unknown ones do not count.
        y_prob
            [sample, class] probabilities.
        classes
            [class] labels of the columns; by default the sorted labels.
        n_bins, strategy, ax, **kwargs
            As for `from_estimator`.
        """
        found = ScoredPredictions.of_labels(y_true, y_prob, classes)
        return cls._from_scored(found, n_bins, strategy).plot(ax=ax, **kwargs)

    @classmethod
    def _from_scored(cls, found: ScoredPredictions, n_bins: int, strategy: str) -> Self:
        check_whole_number("n_bins", n_bins, at_least=1)
        check_choice("strategy", strategy, STRATEGIES)
        chances, truth, equal = found.y_prob, found.y_encoded, strategy == "quantile"
        bins = reliability(chances, truth, n_bins=n_bins, equal_mass=equal)
        return cls(
            np.array([one.accuracy for one in bins]),
            np.array([one.probability for one in bins]),
            np.array([one.n_samples for one in bins]),
            calibration_error=expected_calibration_error(chances, truth),
        )

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curve and the diagonal.

        Parameters
        ----------
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `plot` of the axes.
        """
        ax = one_axes(ax)
        from manyview.report.figures.style import COLORS, GRAY

        low = float(min(self.prob_pred.min(), self.prob_true.min()))
        ends = (max(low - 0.03, 0.0), 1.01)
        ax.plot(ends, ends, linestyle=":", color=GRAY, label="perfectly calibrated")
        look = {"marker": "o", "color": COLORS[0]}
        look["label"] = f"predictions (ECE {self.calibration_error:.1%})"
        (self.line_,) = ax.plot(self.prob_pred, self.prob_true, **(look | kwargs))
        ax.set(xlabel="probability of the prediction", ylabel="accuracy", xlim=ends, ylim=ends)
        ax.set_aspect("equal")
        ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class CoverageDisplay:
    """Accuracy against coverage: what leaving the least certain samples unlabeled gains.

    It is recommended to use `from_estimator` or `from_predictions`. All parameters are stored as
    attributes.

    Parameters
    ----------
    coverage
        [threshold] fraction of the samples that keep their prediction, ascending.
    accuracy
        [threshold] fraction of these that is right.
    min_probability
        [threshold] the lowest probability among them.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.
    line_
        The curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from manyview import CoverageDisplay
    >>> y_prob = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> display = CoverageDisplay.from_predictions([0, 0], y_prob, classes=[0, 1])
    >>> display.coverage, display.accuracy
    (array([0.5, 1. ]), array([1. , 0.5]))
    >>> plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure"
    line_: Any

    def __init__(
        self, coverage: np.ndarray, accuracy: np.ndarray, min_probability: np.ndarray
    ) -> None:
        self.coverage = coverage
        self.accuracy = accuracy
        self.min_probability = min_probability

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiViewClassifier,
        X: Any = None,
        y: Any = None,
        *,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw accuracy against coverage of a fit.

        Parameters
        ----------
        estimator
            A fitted classifier.
        X, y
            New samples and their labels. Without X, y holds labels of the fitted samples, and
            those count that the fit did not see; without both, the labels count that the fit
            itself held out.
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `plot` of the axes.
        """
        found = ScoredPredictions.of_estimator(estimator, X, y)
        return cls._from_scored(found).plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_prob: Any, *, classes: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw accuracy against coverage of probabilities.

        Parameters
        ----------
        y_true
            [sample] true labels; unknown ones do not count.
        y_prob
            [sample, class] probabilities.
        classes
            [class] labels of the columns; by default the sorted labels.
        ax, **kwargs
            As for `from_estimator`.
        """
        found = ScoredPredictions.of_labels(y_true, y_prob, classes)
        return cls._from_scored(found).plot(ax=ax, **kwargs)

    @classmethod
    def _from_scored(cls, found: ScoredPredictions) -> Self:
        curve = coverage_curve(found.y_prob, found.y_encoded)
        return cls(
            np.array([point.coverage for point in curve]),
            np.array([point.accuracy for point in curve]),
            np.array([point.min_probability for point in curve]),
        )

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curve, and the accuracy of all predictions as a line.

        Parameters
        ----------
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `plot` of the axes.
        """
        ax = one_axes(ax)
        from manyview.report.figures.style import COLORS, GRAY

        total = float(self.accuracy[-1])
        ax.axhline(total, linestyle=":", color=GRAY, label=f"all predictions ({total:.1%})")
        look = {"color": COLORS[0], "label": "most confident predictions"}
        (self.line_,) = ax.plot(self.coverage, self.accuracy, **(look | kwargs))
        ax.set(xlabel="coverage: fraction predicted, most confident first", ylabel="accuracy")
        ax.set_xlim(0, 1)
        ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self
