"""TrainingCurveDisplay: loss and accuracy by epoch."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.errors import InputError
from manyview.inspection._axes import several_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class TrainingCurveDisplay:
    """Learning curve of a network: accuracy on the labeled samples, and loss, by epoch.

    scikit-learn's `LearningCurveDisplay` shows something else, scores by number of training
    samples.

    It is recommended to use `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    loss, labeled_accuracy
        [epoch]
    stopped
        Why the training ended: "converged", "max_epochs", "interrupted" or "callback".

    Attributes
    ----------
    axes_, figure_
        Axes, of the accuracy and of the loss, and figure of the last plot.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from manyview import MGCNDNSClassifier, TrainingCurveDisplay, hide_labels
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(views, labels)
    >>> display = TrainingCurveDisplay.from_estimator(model)
    >>> len(display.loss)
    5
    >>> plt.close(display.figure_)
    """

    axes_: "list[Axes]"
    figure_: "Figure"

    def __init__(
        self, loss: np.ndarray, labeled_accuracy: np.ndarray, *, stopped: str = "max_epochs"
    ) -> None:
        self.loss = loss
        self.labeled_accuracy = labeled_accuracy
        self.stopped = stopped

    @classmethod
    def from_estimator(cls, estimator: MultiViewClassifier, *, ax: Any = None) -> Self:
        """Draw the `training_curve_` of a fit; of several networks, that of the last.

        Parameters
        ----------
        estimator
            A fitted classifier that trains a network.
        ax
            One axes, which is divided, or a list of two; None creates a figure.
        """
        check_is_fitted(estimator)
        curve = estimator.training_curve_
        if curve is None or not curve.n_epochs:
            raise InputError(
                f"{estimator.card.title} has no training curve, since it trains in no epochs. Use "
                "a method with a network, such as ManyviewClassifier."
            )
        display = cls(np.array(curve.loss), np.array(curve.labeled_accuracy), stopped=curve.stopped)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the accuracy above the loss.

        Parameters
        ----------
        ax
            One axes, which is divided, or a list of two; None creates a figure.
        """
        above, below = several_axes(ax, 2, stacked=True)
        from manyview.report.figures.learned import CURVES, LOSS_COLOR, draw_epochs

        _, name, color, _ = CURVES[0]
        accuracy = 100 * self.labeled_accuracy
        draw_epochs(above, [accuracy], accuracy, name, color, "-")
        draw_epochs(below, [self.loss], self.loss, "loss", LOSS_COLOR, "-")
        above.set(ylabel="accuracy (%)", title=self._title())
        above.tick_params(labelbottom=False)
        below.set(xlabel="epoch", ylabel="loss")
        below.set_ylim(bottom=0)
        self.axes_, self.figure_ = [above, below], above.figure  # type: ignore[assignment]
        return self

    def _title(self) -> str:
        reasons = {"max_epochs": "all epochs", "callback": "stopped by a callback"}
        reason = reasons.get(self.stopped, self.stopped)
        return f"Labeled samples, {len(self.loss):,} epochs ({reason})"
