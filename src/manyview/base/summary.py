"""What a fit did, in one typed record that reports and studies read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from manyview.network.training import TrainingCurve
from manyview.system.notebook import Bar, html_box, html_table, html_text

SETTLED = 0.005  # fraction of changed predictions below which no further stage is needed


@dataclass(frozen=True)
class StageRecord:
    """Result of one self-training stage.

    Attributes
    ----------
    n_epochs
        Epochs it was trained for.
    changed
        Fraction of the samples whose prediction differs from the pseudo-label's class.
    agreement
        [view] assortativity of the pseudo-labels in each view's graph.
    """

    n_epochs: int
    changed: float
    agreement: np.ndarray

    @property
    def has_settled(self) -> bool:
        """Whether so few predictions changed that another stage would change hardly any."""
        return self.changed < SETTLED


@dataclass(frozen=True, repr=False)
class FitSummary:
    """What a method can say about its fit; None or empty where it has no such thing.

    Attributes
    ----------
    n_neighbors, scaling, neighbor_recall
        The k that was used; by view, the scaling and the fraction of true neighbors found.
    n_iter, training_curve, objective
        Iterations; loss and accuracy by epoch; the objective by iteration.
    n_networks, stages
        Networks trained one after the other, and the self-training stages among them.
    view_importance
        Weight of each view, by name; sums to 1.
    view_weights
        [class, view] or [view], weights a baseline learned.
    view_graphs, graphs
        Each view's renormalized graph, and the graphs after fusion, graph learning and node
        selection, by stage.
    node_confidence, threshold
        Of node selection.
    temperature, calibration
        What logits are divided by, and the held-out labels it was fitted on.
    cross_fit, performance
        Predictions for labels that were hidden in turn, and the scores estimated from them.
    label_issues
        How probably each given label is wrong.
    """

    n_neighbors: int | None = None
    scaling: dict[str, str] | None = None
    neighbor_recall: dict[str, float] | None = None
    n_iter: int | None = None
    training_curve: TrainingCurve | None = None
    objective: Any = None
    n_networks: int = 1
    stages: tuple[StageRecord, ...] = ()
    view_importance: dict[str, float] | None = None
    view_weights: np.ndarray | None = None
    view_graphs: list[sparse.csr_array] | None = None
    graphs: dict[str, sparse.csr_array] = field(default_factory=dict)
    node_confidence: np.ndarray | None = None
    threshold: float | None = None
    temperature: float | None = None
    calibration: Any = None
    cross_fit: Any = None
    performance: Any = None
    label_issues: Any = None

    def __repr__(self) -> str:
        words = [line for line in (self.graph_words(), self.training_words()) if line]
        return f"FitSummary({'; '.join(words)})"

    def weights_by_view(self, names: Sequence[str]) -> dict[str, float] | None:
        """Return the learned weight of each view, which sum to 1; None if there are none."""
        if self.view_importance is not None:
            return self.view_importance
        weights = self.view_weights
        if weights is None or np.shape(weights) != (len(names),) or not np.sum(weights) > 0:
            return None
        return dict(zip(names, (np.asarray(weights) / np.sum(weights)).tolist(), strict=True))

    def graph_words(self) -> str:
        """Write the number of neighbors in each view's graph; nothing without graphs."""
        return "" if self.n_neighbors is None else f"{self.n_neighbors} neighbors in each view"

    def training_words(self) -> str:
        """Write the number of networks and epochs, and why the last training stopped."""
        curve = self.training_curve
        if curve is None:
            return "" if self.n_iter is None else f"{self.n_iter:,} iterations"
        networks = f"{self.n_networks} networks, the last with " * (self.n_networks > 1)
        stopped = curve.stopped.replace("_", " ")
        return f"{networks}{curve.n_epochs:,} epochs ({stopped}), final loss {curve.loss[-1]:.4f}"

    def view_table(self, sizes: Mapping[str, int] | None = None) -> str:
        """Return the views as HTML: features, scaling and learned importance.

        `sizes` maps each view to its number of features, 0 for a graph; None leaves them out.
        """
        columns: dict[str, Mapping[str, object]] = {}
        if sizes is not None:
            shown = {name: f"{size:,}" if size else "graph" for name, size in sizes.items()}
            columns["features"] = shown
        if self.scaling:
            columns["scaling"] = self.scaling
        if self.view_importance is not None:
            bars = {name: Bar(one, f"{one:.1%}") for name, one in self.view_importance.items()}
            columns["importance"] = bars
        if not columns:
            return ""
        names = next(iter(columns.values()))
        rows = [[name, *(column.get(name, "") for column in columns.values())] for name in names]
        align = "".join(">" if name == "features" else "<" for name in columns)
        return html_table(("view", *columns), rows, f"<{align}", rest="more views")

    def _repr_html_(self) -> str:
        lines = [html_text(line) for line in (self.graph_words(), self.training_words()) if line]
        return html_box("Summary of the fit", *lines, self.view_table())
