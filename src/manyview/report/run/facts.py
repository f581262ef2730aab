"""The samples and graphs of a fit in numbers, for the report of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.base.classifier import MultiViewClassifier
from manyview.base.summary import FitSummary
from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known

MIN_PROBABILITY = 1e-6  # lower bound before taking logarithms
NO_CLASS = -1


@dataclass(frozen=True)
class SampleFacts:
    """The samples of one fit, one entry per sample."""

    # names of all classes: those of the model first, then those that only the truth has
    names: list[str]
    n_known_classes: int  # number of classes of the model
    ids: np.ndarray  # names of the samples
    distributions: np.ndarray
    # numbers of the most and the second most probable class
    predictions: np.ndarray
    runners_up: np.ndarray
    # their probabilities
    probabilities: np.ndarray
    second_probabilities: np.ndarray
    # Class numbers, -1 where unknown. The truth is every label the data has.
    given: np.ndarray
    truth: np.ndarray
    confidence: np.ndarray | None  # node confidence in the graph; None where the method has none

    @property
    def is_open(self) -> np.ndarray:
        """Return which samples the method saw without a label."""
        return np.asarray(self.given == NO_CLASS)

    @property
    def is_scored(self) -> np.ndarray:
        """Return which samples have a label that the method did not see."""
        return np.asarray(self.is_open & (self.truth != NO_CLASS))

    @property
    def is_right(self) -> np.ndarray:
        """Return which predictions equal the truth."""
        return np.asarray(self.predictions == self.truth)

    @property
    def is_counted(self) -> np.ndarray:
        """Return the samples that summaries count: the unlabeled ones, or all without any."""
        return self.is_open if self.is_open.any() else np.ones_like(self.is_open)

    def known_class(self, row: int) -> int:
        """Return the given class of a sample, or else the predicted one."""
        return int(self.predictions[row] if self.given[row] == NO_CLASS else self.given[row])

    def least_certain(self, n_most: int) -> np.ndarray:
        """Return unlabeled rows by probability, lowest first."""
        rows = np.flatnonzero(self.is_open)
        return np.asarray(rows[np.argsort(self.probabilities[rows], kind="stable")[:n_most]])

    def contradicted(self, n_most: int) -> np.ndarray:
        """Return rows whose given label is not the prediction, most confident first."""
        rows = np.flatnonzero(~self.is_open & (self.given != self.predictions))
        return np.asarray(rows[np.argsort(-self.probabilities[rows], kind="stable")[:n_most]])

    def confusion(self) -> np.ndarray:
        """Count the scored samples: [true class, predicted class]."""
        n_classes = len(self.names)
        pairs = self.truth[self.is_scored] * n_classes + self.predictions[self.is_scored]
        return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def describe_samples(data: Dataset, labels: np.ndarray, model: MultiViewClassifier) -> SampleFacts:
    """Collect what the report shows about the samples of a fitted model."""
    classes = model.classes_.tolist()
    truth = labels if data.labels is None else data.labels
    only_true = sorted(set(truth[is_known(truth)].tolist()) - set(classes))
    number_of = {label: number for number, label in enumerate([*classes, *only_true])}
    distributions = np.asarray(model.label_distributions_, dtype=np.float64)
    order = np.argsort(-distributions, axis=1, kind="stable")
    each = np.arange(len(distributions))
    confidence = model.fit_summary().node_confidence
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
    """Project samples on the two main components of their logits.

    Logits are the logarithms of the probabilities minus their mean. Returns coordinates
    [sample, 2] and the fraction of the variance they explain.
    """
    logits = np.log(np.maximum(distributions, MIN_PROBABILITY))
    return main_components(logits - logits.mean(axis=1, keepdims=True))


def main_components(features: np.ndarray) -> tuple[np.ndarray, float]:
    """Project samples on the two main components of their features, [sample, feature].

    Returns coordinates [sample, 2] and the fraction of the variance they explain.
    """
    centered = features - features.mean(axis=0)
    if centered.shape[1] == 1:
        centered = np.column_stack([centered, np.zeros(len(centered))])
    directions, powers, _ = np.linalg.svd(centered.T @ centered)  # cheap at any number of samples
    places = centered @ directions[:, :2]
    signs = np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])  # the same on every machine
    return places * np.where(signs == 0, 1, signs), float(powers[:2].sum() / (powers.sum() or 1.0))


def _numbers(labels: np.ndarray, number_of: dict[Any, int]) -> np.ndarray:
    known = is_known(labels)
    numbers = np.full(len(labels), NO_CLASS)
    numbers[known] = [number_of[label] for label in labels[known].tolist()]
    return numbers


@dataclass(frozen=True)
class GraphFacts:
    """One graph in numbers; self-loops and edges of weight 0 do not count."""

    # [sample] number of edges, and the sum of their weights
    degrees: np.ndarray
    strengths: np.ndarray
    # number of equal edges that would be as concentrated as those of the mean sample: the mean of
    # (sum w)^2 / sum w^2
    n_effective: float
    # fraction of the edge weight between samples with the same prediction; NaN without edges
    homophily: float
    # fraction between samples of the same true class, where both are known; NaN without any
    true_homophily: float

    @property
    def n_edges(self) -> int:
        """Return the number of undirected edges."""
        return int(self.degrees.sum()) // 2

    @property
    def weight(self) -> float:
        """Return the sum of all edge weights."""
        return float(self.strengths.sum()) / 2

    @property
    def sparsity(self) -> float:
        """Return the fraction of all pairs of samples that have no edge."""
        n_samples = len(self.degrees)
        return 1 - float(self.degrees.sum()) / max(n_samples * (n_samples - 1), 1)


@dataclass(frozen=True)
class Supporter:
    """A neighbor: row, fraction of the sample's edge weight, and the views that have the edge."""

    row: int
    weight: float
    views: tuple[str, ...]


def graphs_of(summary: FitSummary) -> dict[str, sparse.csr_array]:
    """Return the graphs of a fit by stage, each edge with the mean of its two directions."""
    return {name: sparse.csr_array((g + g.T) / 2) for name, g in summary.graphs.items()}


def view_graphs_of(summary: FitSummary, names: Sequence[str]) -> dict[str, sparse.csr_array]:
    """Return each view's graph by name; empty unless the method keeps one per view."""
    graphs = summary.view_graphs
    if graphs is None or len(graphs) != len(names):
        return {}
    return dict(zip(names, map(sparse.csr_array, graphs), strict=True))


def describe_graph(
    graph: sparse.csr_array, predictions: np.ndarray, truth: np.ndarray, is_true: np.ndarray
) -> GraphFacts:
    """Count a graph's edges, and measure how often they join samples of the same class.

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
        homophily=_weight_fraction(weights, predictions[rows] == predictions[columns]),
        true_homophily=_weight_fraction(weights[both], (truth[rows] == truth[columns])[both]),
    )


def agreement(graph: sparse.csr_array, predictions: np.ndarray) -> np.ndarray:
    """Return the fraction of each sample's edge weight to samples with the same prediction.

    It is 0 for a sample without edges.
    """
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


def _edges(graph: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    is_edge = (rows != graph.indices) & (graph.data > 0)
    return rows[is_edge], graph.indices[is_edge], graph.data[is_edge].astype(np.float64)


def _row(graph: sparse.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    of_row = slice(graph.indptr[row], graph.indptr[row + 1])
    columns, weights = graph.indices[of_row], graph.data[of_row].astype(np.float64)
    is_edge = (columns != row) & (weights > 0)
    return columns[is_edge], weights[is_edge]


def _weight_fraction(weights: np.ndarray, counts: np.ndarray) -> float:
    total = weights.sum()
    return float(weights[counts].sum() / total) if total > 0 else float("nan")
