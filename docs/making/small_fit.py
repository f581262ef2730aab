"""A real fit, small enough to be drawn: 36 digits of three classes in three views."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from svg_parts import spread_out

from manyview import (
    MGCNDNSClassifier,
    MultiView,
    NeighborGraph,
    NodeSelectionConfig,
    load_dataset,
)

CLASSES = (1, 7, 8)
VIEWS = ("pixels", "fourier", "gradients")
N_PER_CLASS = 12
N_LABELED_PER_CLASS = 2
N_NEIGHBORS = 3
INITIAL_THRESHOLD = 0.6  # the default would remove no edge of so small a graph
SIZE = (330, 300)


@dataclass(frozen=True)
class SmallFit:
    """36 digits of three classes in three views, six of them labeled, and the fitted model."""

    views: MultiView
    truth: np.ndarray
    labels: np.ndarray
    model: MGCNDNSClassifier

    @cached_property
    def points(self) -> np.ndarray:
        """Positions of the samples in every picture: [sample, x and y]."""
        return spread_out(off_diagonal(self.model.fused_graph_), SIZE)

    @cached_property
    def refined(self) -> np.ndarray:
        """The graph after the gates: [sample, sample]."""
        return self.model.refined_graph_.toarray()

    @cached_property
    def rank_probabilities(self) -> np.ndarray:
        """P of Eq. (9), computed literally: [rank, sample]."""
        scores = self.scores
        ranks = np.arange(1, len(scores) + 1)[:, None]
        gaps = np.abs(scores[:, None] - scores).sum(axis=0)
        logits = ((len(scores) + 1 - 2 * ranks) * scores - gaps) / self.model.node_selection.tau
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    @cached_property
    def scores(self) -> np.ndarray:
        """Mean edge weight of each sample, Eq. (11): [sample]."""
        return self.refined.sum(axis=0) / (self.refined > 0).sum(axis=0)

    @cached_property
    def confidence(self) -> np.ndarray:
        """Eq. (12) and (13), computed literally: [sample]."""
        ranks = np.arange(1, len(self.scores) + 1)[:, None]
        gain = ((2**self.rank_probabilities - 1) / np.log2(ranks + 1)).sum(axis=0)
        return (gain - gain.min()) / (gain.max() - gain.min())


def small_fit() -> SmallFit:
    """Fit 36 digits; the same every time."""
    data = load_dataset("digits")
    rng = np.random.default_rng(0)
    rows = np.sort(
        np.concatenate(
            [
                rng.choice(np.flatnonzero(data.labels == label), N_PER_CLASS, replace=False)
                for label in CLASSES
            ]
        )
    )
    views = MultiView({name: np.asarray(data.views[name])[rows] for name in VIEWS})
    truth = data.labels[rows]
    labels = np.full(len(rows), -1)
    for label in CLASSES:
        labels[np.flatnonzero(truth == label)[:N_LABELED_PER_CLASS]] = label
    model = MGCNDNSClassifier(
        graph=NeighborGraph(n_neighbors=N_NEIGHBORS),
        node_selection=NodeSelectionConfig(initial_threshold=INITIAL_THRESHOLD),
        random_state=0,
    )
    return SmallFit(views, truth, labels, model.fit(views, labels))


def off_diagonal(graph: object) -> np.ndarray:
    """Return a graph as an array without its loops."""
    dense = graph if isinstance(graph, np.ndarray) else graph.toarray()  # type: ignore[attr-defined]
    return dense - np.diag(np.diag(dense))
