"""LearnedGraphDisplay: the graph before and after graph learning and node selection."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.data.alignment import align_labels
from manyview.errors import InputError
from manyview.experiments.artifacts import tile_weights
from manyview.inspection._axes import several_axes
from manyview.report.run.facts import describe_graph, graphs_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class LearnedGraphDisplay:
    """The graph of a fit after each of its stages, with the samples sorted by class.

    The views' graphs are fused, refined by graph learning, and sparsified by node selection.
    A graph that separates the classes has its weight in the squares along the diagonal.

    It is recommended to use `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    tiles
        By stage, [tile, tile] sums of edge weights.
    n_edges, homophily
        By stage, the number of edges, and the fraction of their weight that is within classes.

    Attributes
    ----------
    axes_, figure_
        Axes, one per stage, and figure of the last plot.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from manyview import LearnedGraphDisplay, MGCNDNSClassifier, hide_labels
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> model = MGCNDNSClassifier(max_epochs=5, random_state=0).fit(views, labels)
    >>> display = LearnedGraphDisplay.from_estimator(model)
    >>> list(display.tiles)
    ['fused', 'refined', 'selected']
    >>> plt.close(display.figure_)
    """

    axes_: "list[Axes]"
    figure_: "Figure"

    def __init__(
        self,
        tiles: Mapping[str, np.ndarray],
        n_edges: Mapping[str, int],
        homophily: Mapping[str, float],
    ) -> None:
        self.tiles = tiles
        self.n_edges = n_edges
        self.homophily = homophily

    @classmethod
    def from_estimator(
        cls, estimator: MultiViewClassifier, *, y: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the graphs of a fit.

        Parameters
        ----------
        estimator
            A fitted classifier that learns a graph.
        y
            [sample] labels to sort the samples by, all known; by default the predictions.
        ax
            One axes, which is divided, or a list with one per stage; None creates a figure.
        **kwargs
            Passed on to `imshow`.
        """
        check_is_fitted(estimator)
        graphs = graphs_of(estimator.fit_summary())
        if not graphs:
            raise InputError(
                f"{estimator.card.title} learns no graph. Use ManyviewClassifier or "
                "MGCNDNSClassifier."
            )
        labels = estimator.transduction_ if y is None else align_labels(y, estimator.sample_ids_)
        labels = np.asarray(labels)
        n_samples = len(estimator.label_distributions_)
        if labels.shape != (n_samples,):
            raise InputError(
                f"y must hold one label for each of the {n_samples:,} fitted samples; got shape "
                f"{labels.shape}.",
                parameter="y",
            )
        numbers = np.unique([str(label) for label in labels.tolist()], return_inverse=True)[1]
        order = np.argsort(numbers, kind="stable")
        unknown = np.zeros(n_samples, dtype=bool)
        facts = {
            name: describe_graph(graph, numbers, numbers, unknown) for name, graph in graphs.items()
        }
        display = cls(
            {name: np.array(tile_weights(graph, order)) for name, graph in graphs.items()},
            {name: one.n_edges for name, one in facts.items()},
            {name: one.homophily for name, one in facts.items()},
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the graph of each stage, in one scale of grays.

        Parameters
        ----------
        ax
            One axes, which is divided, or a list with one per stage; None creates a figure.
        **kwargs
            Passed on to `imshow`.
        """
        axes = several_axes(ax, len(self.tiles))
        from manyview.report.figures.learned import STAGES, draw_tiles

        largest = max(float(tile.max()) for tile in self.tiles.values()) or 1.0
        for one, (stage, tile) in zip(axes, self.tiles.items(), strict=True):
            draw_tiles(one, tile, largest, **kwargs)
            one.set_title(STAGES.get(stage, stage))
            within = self.homophily[stage]
            words = f"{self.n_edges[stage]:,} edges"
            if np.isfinite(within):
                words += f"\n{within:.0%} within classes"
            one.set_xlabel(words)
        axes[0].set_ylabel("samples by class")
        self.axes_, self.figure_ = axes, axes[0].figure  # type: ignore[assignment]
        return self
