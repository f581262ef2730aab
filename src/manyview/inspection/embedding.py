"""EmbeddingDisplay: a map of the fitted samples."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.data.alignment import align_labels
from manyview.data.label_values import is_known
from manyview.errors import InputError
from manyview.inspection._axes import one_axes, plain
from manyview.report.run.facts import main_components, map_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_IN_LEGEND = 20
MAX_SIZE, MIN_SIZE = 18.0, 2.0  # area of a point with few and with many samples


class EmbeddingDisplay:
    """Map of samples in two dimensions, colored by their predicted class.

    It is recommended to use `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    coordinates
        [sample, 2]
    predictions
        [sample] predicted labels.
    classes
        [class], in the order of their colors.
    is_labeled
        [sample] whether the fit saw its label; drawn with a ring. None draws no rings.
    is_wrong
        [sample] whether the prediction is known to be wrong; drawn as a cross. None draws none.
    explained
        Fraction of the variance that the two dimensions explain.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.
    points_
        One collection of points per class.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from manyview import EmbeddingDisplay, MGCNDNSClassifier, hide_labels
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(views, labels)
    >>> display = EmbeddingDisplay.from_estimator(model)
    >>> display.coordinates.shape
    (60, 2)
    >>> plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure"

    def __init__(
        self,
        *,
        coordinates: np.ndarray,
        predictions: np.ndarray,
        classes: np.ndarray,
        is_labeled: np.ndarray | None = None,
        is_wrong: np.ndarray | None = None,
        explained: float | None = None,
    ) -> None:
        self.coordinates = coordinates
        self.predictions = predictions
        self.classes = classes
        self.is_labeled = is_labeled
        self.is_wrong = is_wrong
        self.explained = explained
        self.points_: list[Any] = []

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiViewClassifier,
        *,
        y: Any = None,
        features: str = "auto",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the samples of a fit.

        Parameters
        ----------
        estimator
            A fitted classifier.
        y
            True labels of the fitted samples, -1 or None where unknown; wrong predictions of
            samples that the fit saw without a label are crossed out.
        features
            "embedding" takes the main components of `embedding_`, "predictions" those of the
            logits, which every method has; "auto" takes the embedding where there is one.
        ax
            Axes to draw on; None creates a figure.
        **kwargs
            Passed on to `scatter`.
        """
        check_is_fitted(estimator)
        if features not in ("auto", "embedding", "predictions"):
            raise InputError(
                f"features must be 'auto', 'embedding' or 'predictions'; got {features!r}.",
                parameter="features",
            )
        has_embedding = hasattr(type(estimator), "embedding_")
        if features == "embedding" and not has_embedding:
            raise InputError(
                f"{estimator.card.title} has no embedding. Use features='predictions'.",
                parameter="features",
            )
        if has_embedding and features != "predictions":
            places, explained = main_components(np.asarray(estimator.embedding_, np.float64))
        else:
            places, explained = map_places(estimator.label_distributions_)
        is_wrong = None
        if y is not None:
            truth = np.asarray(align_labels(y, estimator.sample_ids_))
            if truth.shape != (len(places),):
                raise InputError(
                    f"y must hold one label for each of the {len(places):,} fitted samples; got "
                    f"shape {truth.shape}.",
                    parameter="y",
                )
            counts = is_known(truth) & ~estimator.is_labeled_
            is_wrong = counts & (truth != estimator.transduction_)
        display = cls(
            coordinates=places,
            predictions=estimator.transduction_,
            classes=estimator.classes_,
            is_labeled=estimator.is_labeled_,
            is_wrong=is_wrong,
            explained=explained,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, legend: bool = True, **kwargs: Any) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax
            Axes to draw on; None creates a figure.
        legend
            Whether to name the classes; more than 20 are never named.
        **kwargs
            Passed on to `scatter`.
        """
        ax = one_axes(ax)
        from matplotlib import rcParams

        from manyview.report.figures.style import looks

        size = float(np.clip(20_000 / max(len(self.coordinates), 1), MIN_SIZE, MAX_SIZE))
        ring, self.points_ = rcParams["text.color"], []
        x, y = self.coordinates.T
        for label, look in zip(
            self.classes.tolist(), looks([False] * len(self.classes)), strict=True
        ):
            own = self.predictions == label
            options = {"s": size, "color": look.color, "marker": look.marker, "linewidths": 0}
            points = ax.scatter(x[own], y[own], label=plain(label), **(options | kwargs))
            self.points_.append(points)
            if self.is_labeled is not None:
                given = own & self.is_labeled
                ax.scatter(
                    x[given], y[given], s=3 * size, color=look.color, marker=look.marker,
                    edgecolors=ring, linewidths=0.9, zorder=3,
                )  # fmt: skip
        if self.is_wrong is not None and self.is_wrong.any():
            ax.scatter(
                x[self.is_wrong], y[self.is_wrong], s=size + 8, marker="x", color=ring,
                linewidths=0.7, alpha=0.8, zorder=4, label="wrong",
            )  # fmt: skip
        ax.set(xticks=[], yticks=[], xlabel=self._axis_label(), ylabel="second component")
        if legend and len(self.classes) <= MAX_IN_LEGEND:
            ax.legend(
                title="prediction", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False,
                markerscale=1.6,
            )  # fmt: skip
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _axis_label(self) -> str:
        if self.explained is None:
            return "first component"
        return f"first component ({self.explained:.0%} of the variance in both)"
