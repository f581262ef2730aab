"""The samples of a run: what was given, what was predicted, how surely, and what is true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known

LEAST_PROBABILITY = 1e-6  # below which logarithms of probabilities say nothing more
NO_CLASS = -1


@dataclass(frozen=True)
class SampleFacts:
    """Samples of one fit in numbers, one entry a sample.

    Attributes
    ----------
    names
        Of all classes: those the method knows first, then those that only the truth has.
    n_known_classes
        How many of them the method knows.
    ids
        Names of the samples.
    predictions, runners_up
        Numbers of the likeliest and the second likeliest class.
    probabilities, second_probabilities
        Of these two.
    given, truth
        Class numbers, -1 where there is none. The truth is whatever label the data have.
    confidence
        Of the sample's place in the graph; None where the method has none.
    """

    names: list[str]
    n_known_classes: int
    ids: np.ndarray
    distributions: np.ndarray
    predictions: np.ndarray
    runners_up: np.ndarray
    probabilities: np.ndarray
    second_probabilities: np.ndarray
    given: np.ndarray
    truth: np.ndarray
    confidence: np.ndarray | None

    @property
    def is_open(self) -> np.ndarray:
        """Samples whose label the method did not see."""
        return np.asarray(self.given == NO_CLASS)

    @property
    def is_scored(self) -> np.ndarray:
        """Samples whose label the method did not see, and we know."""
        return np.asarray(self.is_open & (self.truth != NO_CLASS))

    @property
    def is_right(self) -> np.ndarray:
        """Samples whose prediction is the truth."""
        return np.asarray(self.predictions == self.truth)

    def least_certain(self, n_most: int) -> np.ndarray:
        """Rows of the unlabeled samples of least probability, least first."""
        rows = np.flatnonzero(self.is_open)
        return np.asarray(rows[np.argsort(self.probabilities[rows], kind="stable")[:n_most]])

    def contradicted(self, n_most: int) -> np.ndarray:
        """Rows of the samples whose given label is not the prediction, surest prediction first."""
        rows = np.flatnonzero(~self.is_open & (self.given != self.predictions))
        return np.asarray(rows[np.argsort(-self.probabilities[rows], kind="stable")[:n_most]])

    def confusion(self) -> np.ndarray:
        """Count the scored samples: [true class, predicted class]."""
        n_classes = len(self.names)
        pairs = self.truth[self.is_scored] * n_classes + self.predictions[self.is_scored]
        return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def describe_samples(data: Dataset, labels: np.ndarray, model: Any) -> SampleFacts:
    """Gather what there is to say about the samples of a fitted model."""
    classes = model.classes_.tolist()
    truth = labels if data.labels is None else data.labels
    only_true = sorted(set(truth[is_known(truth)].tolist()) - set(classes))
    number_of = {label: number for number, label in enumerate([*classes, *only_true])}
    distributions = np.asarray(model.label_distributions_, dtype=np.float64)
    order = np.argsort(-distributions, axis=1, kind="stable")
    each = np.arange(len(distributions))
    confidence = getattr(model, "node_confidence_", None)
    return SampleFacts(
        names=[str(label) for label in number_of],
        n_known_classes=len(classes),
        ids=data.sample_ids,
        distributions=distributions,
        predictions=order[:, 0],
        runners_up=order[:, 1],
        probabilities=distributions[each, order[:, 0]],
        second_probabilities=distributions[each, order[:, 1]],
        given=_numbers(labels, number_of),
        truth=_numbers(truth, number_of),
        confidence=None if confidence is None else np.asarray(confidence, dtype=np.float64),
    )


def map_places(distributions: np.ndarray) -> tuple[np.ndarray, float]:
    """Place samples by the two main directions of their logits: [sample, 2] and their share.

    Logarithms of the probabilities, less their mean, are the logits; the two directions are
    those in which they vary most (principal components).
    """
    logits = np.log(np.maximum(distributions, LEAST_PROBABILITY))
    logits -= logits.mean(axis=1, keepdims=True)
    logits -= logits.mean(axis=0)
    directions, powers, _ = np.linalg.svd(logits.T @ logits)  # [class, class]: cheap at any m
    places = logits @ directions[:, :2]
    signs = np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])  # the same on every machine
    return places * np.where(signs == 0, 1, signs), float(powers[:2].sum() / (powers.sum() or 1.0))


def _numbers(labels: np.ndarray, number_of: dict[Any, int]) -> np.ndarray:
    known = is_known(labels)
    numbers = np.full(len(labels), NO_CLASS)
    numbers[known] = [number_of[label] for label in labels[known].tolist()]
    return numbers


STAGES = {
    "fused_graph_": "fused",
    "refined_graph_": "refined",
    "selected_graph_": "selected",
    "learned_graph_": "learned",
}


@dataclass(frozen=True)
class GraphFacts:
    """One graph in numbers; self-loops and edges of weight 0 do not count.

    Attributes
    ----------
    degrees, strengths
        [sample] number of its edges, and the sum of their weights.
    n_effective
        Number of equally strong edges that would be as concentrated as the mean sample's:
        the mean of (sum w)^2 / sum w^2.
    homophily
        Share of the edge weight between samples of the same prediction; NaN without edges.
    true_homophily
        The same by the truth, where that is known at both ends; NaN where it is nowhere.
    """

    degrees: np.ndarray
    strengths: np.ndarray
    n_effective: float
    homophily: float
    true_homophily: float

    @property
    def n_edges(self) -> int:
        """Undirected edges: an edge that is stored both ways counts once."""
        return int(self.degrees.sum()) // 2

    @property
    def weight(self) -> float:
        """Sum of all edge weights."""
        return float(self.strengths.sum()) / 2

    @property
    def sparsity(self) -> float:
        """Share of the pairs of samples without an edge."""
        n_samples = len(self.degrees)
        return 1 - float(self.degrees.sum()) / max(n_samples * (n_samples - 1), 1)


@dataclass(frozen=True)
class Supporter:
    """A neighbor: its row, its share of the sample's edge weight, and the views of the edge."""

    row: int
    share: float
    views: tuple[str, ...]


def graphs_of(model: Any) -> dict[str, sparse.csr_array]:
    """Return the graphs a method made, in the order it made them, by what they are called."""
    found = {name: getattr(model, attribute, None) for attribute, name in STAGES.items()}
    return {name: _both_ways(graph) for name, graph in found.items() if graph is not None}


def view_graphs_of(model: Any, names: Sequence[str]) -> dict[str, sparse.csr_array]:
    """Return each view's own graph by name; none where the method keeps none."""
    graphs = getattr(model, "view_graphs_", None)
    if graphs is None or len(graphs) != len(names):
        return {}
    return dict(zip(names, map(sparse.csr_array, graphs), strict=True))


def describe_graph(
    graph: sparse.csr_array, predictions: np.ndarray, truth: np.ndarray, is_true: np.ndarray
) -> GraphFacts:
    """Count a graph's edges and how often they join what belongs together.

    Parameters
    ----------
    predictions, truth
        [sample] class numbers.
    is_true
        [sample] whether the truth is known.

    Examples
    --------
    >>> graph = sparse.csr_array([[1.0, 3, 0], [3, 0, 1], [0, 1, 0]])
    >>> facts = describe_graph(graph, np.array([0, 0, 1]), np.zeros(3), np.zeros(3, dtype=bool))
    >>> facts.n_edges, facts.homophily
    (2, 0.75)
    """
    rows, columns, weights = _edges(graph)
    n_samples = graph.shape[0]
    sums = np.bincount(rows, weights, minlength=n_samples)
    squares = np.bincount(rows, weights**2, minlength=n_samples)
    has_edge = squares > 0
    both = is_true[rows] & is_true[columns]
    return GraphFacts(
        degrees=np.bincount(rows, minlength=n_samples),
        strengths=sums,
        n_effective=float((sums[has_edge] ** 2 / squares[has_edge]).mean())
        if has_edge.any()
        else 0.0,
        homophily=_share(weights, predictions[rows] == predictions[columns]),
        true_homophily=_share(weights[both], (truth[rows] == truth[columns])[both]),
    )


def agreement(graph: sparse.csr_array, predictions: np.ndarray) -> np.ndarray:
    """Share of each sample's edge weight that goes to samples of the same prediction; else 0."""
    rows, columns, weights = _edges(graph)
    same = np.bincount(
        rows, weights * (predictions[rows] == predictions[columns]), len(predictions)
    )
    total = np.bincount(rows, weights, len(predictions))
    return np.asarray(same / np.where(total > 0, total, 1.0))


def supporters(
    row: int,
    graph: sparse.csr_array,
    view_graphs: Mapping[str, sparse.csr_array],
    n_most: int,
) -> list[Supporter]:
    """Return a sample's strongest neighbors, and the views in which they are neighbors."""
    neighbors, weights = _row(graph, row)
    total = weights.sum()
    strongest = np.argsort(-weights, kind="stable")[:n_most]
    in_view = {name: set(_row(one, row)[0].tolist()) for name, one in view_graphs.items()}
    return [
        Supporter(
            neighbor,
            float(weight / total),
            tuple(name for name, linked in in_view.items() if neighbor in linked),
        )
        for neighbor, weight in zip(
            neighbors[strongest].tolist(), weights[strongest].tolist(), strict=True
        )
    ]


def _both_ways(graph: Any) -> sparse.csr_array:
    """Give every edge the mean of its two directions: some methods link one way only."""
    return sparse.csr_array((graph + graph.T) / 2)


def _edges(graph: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    is_edge = (rows != graph.indices) & (graph.data > 0)
    return rows[is_edge], graph.indices[is_edge], graph.data[is_edge].astype(np.float64)


def _row(graph: sparse.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    of_row = slice(graph.indptr[row], graph.indptr[row + 1])
    columns, weights = graph.indices[of_row], graph.data[of_row].astype(np.float64)
    is_edge = (columns != row) & (weights > 0)
    return columns[is_edge], weights[is_edge]


def _share(weights: np.ndarray, counts: np.ndarray) -> float:
    total = weights.sum()
    return float(weights[counts].sum() / total) if total > 0 else float("nan")
