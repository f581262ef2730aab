"""ViewImportanceDisplay: how much each view counts."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.errors import InputError
from manyview.inspection._axes import one_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

X_LABELS = {
    "effects": "predictions that change without the view (%)",
    "weights": "learned weight (%)",
}


class ViewImportanceDisplay:
    """Importance of each view, as bars.

    It is recommended to use `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    importances
        [view], fractions.
    view_names
        [view]
    kind
        "effects" or "weights", what the importances are; see `from_estimator`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.
    bars_
        The bars, the most important view on top.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from manyview import MGCNDNSClassifier, ViewImportanceDisplay, hide_labels
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(views, labels)
    >>> display = ViewImportanceDisplay.from_estimator(model, kind="weights")
    >>> float(display.importances.sum().round(6))
    1.0
    >>> plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure"
    bars_: "BarContainer"

    def __init__(
        self, importances: np.ndarray, view_names: list[str], *, kind: str = "effects"
    ) -> None:
        self.importances = importances
        self.view_names = view_names
        self.kind = kind

    @classmethod
    def from_estimator(
        cls, estimator: MultiViewClassifier, *, kind: str = "effects", ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the importance of the views of a fit.

        Parameters
        ----------
        estimator
            A fitted classifier.
        kind
            "effects" removes each view in turn, without retraining, and counts the predictions
            that change (`view_effects`); for `ManyviewClassifier` and `MGCNDNSClassifier`.
            "weights" takes the weights with which the method combines the views.
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `barh`.
        """
        check_is_fitted(estimator)
        if kind not in X_LABELS:
            raise InputError(
                f"kind must be 'effects' or 'weights'; got {kind!r}.", parameter="kind"
            )
        names = list(estimator.view_names_)
        found = _effects(estimator) if kind == "effects" else _weights(estimator)
        display = cls(np.array([found[name] for name in names]), names, kind=kind)
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars, the most important view on top.

        Parameters
        ----------
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `barh`.
        """
        ax = one_axes(ax)
        from manyview.report.figures.style import COLORS

        order = np.argsort(self.importances, kind="stable")
        percent = 100 * self.importances[order]
        names = [plain(self.view_names[number]) for number in order]
        self.bars_ = ax.barh(range(len(order)), percent, **({"color": COLORS[0]} | kwargs))
        ax.bar_label(self.bars_, fmt="%.1f", padding=3)
        ax.set_yticks(range(len(order)), names)
        ax.set(xlabel=X_LABELS[self.kind], xlim=(0, 1.15 * float(percent.max()) or 1.0))
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _effects(estimator: Any) -> dict[str, float]:
    if not hasattr(estimator, "view_effects"):
        raise InputError(
            f"{estimator.card.title} cannot remove a view without retraining. Use "
            "kind='weights', or ManyviewClassifier.",
            parameter="kind",
        )
    effects = estimator.view_effects()
    if not effects:
        raise InputError(
            f"the fit has only the view {estimator.view_names_[0]!r}, so none can be removed. "
            "For columns, use sklearn.inspection.permutation_importance."
        )
    return {one.view: one.fraction_changed for one in effects}


def _weights(estimator: MultiViewClassifier) -> dict[str, float]:
    found = estimator.fit_summary().weights_by_view(estimator.view_names_)
    if found is None:
        raise InputError(
            f"{estimator.card.title} learns no weight per view. Use kind='effects' with "
            "ManyviewClassifier.",
            parameter="kind",
        )
    return found
