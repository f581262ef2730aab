"""What a fit did, in one typed record that reports and studies read."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from manyview.network.training import TrainingCurve

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


@dataclass(frozen=True)
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
    label_issues: Any = None
