"""Pseudo-labels: soft labels for every sample, made from the predictions of one model.

With few labels most edges are far from any labeled sample: a network learns little there, its
class sizes are off, and a noise view counts as much as a good one. Its predictions, once cleaned,
give a signal for every sample, every edge and every view:

probabilities -> align_class_prior -> assortativity -> propagate -> PseudoLabels

The next network is trained on the labels and on these. An extension of the paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse, stats

from manyview.base.parameters import ParameterGroup
from manyview.distributed.world import ALONE, World
from manyview.numerics import normalize_rows
from manyview.self_training.label_propagation import (
    assortativity,
    mean_assortativity,
    own_rows,
    propagate,
    without_loops,
)
from manyview.system.scratch import on_disk
from manyview.validation import Choice, Constraint, Number, WholeNumber

MIN_WEIGHT = 1e-3  # of a view's graph, so that the next network can still find it useful


@dataclass(frozen=True)
class PseudoLabels:
    """Soft labels of all samples, and weights of the graphs.

    Attributes
    ----------
    targets
        [sample, class] probabilities.
    weights
        [sample] weight in the loss; 0 for labeled samples.
    graph_weights
        [graph] initial weights of the fusion, the early-fusion graph last where there is one;
        sum to 1.
    agreement
        [view] assortativity of the predictions in each view's graph: 1 where neighbors always
        have one class, 0 as by chance.
    """

    targets: np.ndarray
    weights: np.ndarray
    graph_weights: np.ndarray
    agreement: np.ndarray

    def weights_of(self, n_graphs: int) -> np.ndarray:
        """Return the weights of the first graphs, scaled to a sum of 1."""
        first = self.graph_weights[:n_graphs]
        return np.asarray(first / first.sum())


@dataclass(kw_only=True, repr=False)
class PseudoLabeler(ParameterGroup):
    """Turns the predictions of one model into pseudo-labels for the next.

    Parameters
    ----------
    class_prior
        "labels" estimates the class sizes from the labels and the predictions, where labels are
        a fair sample of the classes and the graphs do not contradict it. "predictions" leaves
        them as predicted; choose it where labels were picked in another way.
    prior_strength
        Number of labels that the predicted class sizes count for: with as many labels, labels
        and predictions weigh the same.
    max_assortativity_loss
        By how much aligning the class sizes may lower the assortativity; beyond that the labels
        are not taken for a fair sample of the classes.
    weigh_views
        Whether views count by the assortativity of the predictions in their graphs; otherwise
        all count the same.
    smoothing
        Weight of the neighbors' predictions in each step of the propagation; 0 skips it.
    n_steps
        Steps of the propagation.
    sharpness
        Power that the propagated probabilities are raised to.
    confidence_power
        Power of a prediction's probability that gives its weight in the loss; 0 weighs all the
        same.

    Examples
    --------
    >>> graph = sparse.csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    >>> probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.4, 0.6]])
    >>> made = PseudoLabeler()(probabilities, np.array([0, -1, 1, -1]), [graph])
    >>> made.targets.argmax(axis=1)
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "class_prior": Choice(("labels", "predictions")),
        "prior_strength": Number(at_least=0),
        "max_assortativity_loss": Number(at_least=0),
        "weigh_views": Choice((True, False)),
        "smoothing": Number(at_least=0, below=1),
        "n_steps": WholeNumber(at_least=0),
        "sharpness": Number(above=0),
        "confidence_power": Number(at_least=0),
    }

    class_prior: str = "labels"
    prior_strength: float = 20.0
    max_assortativity_loss: float = 0.01
    weigh_views: bool = True
    smoothing: float = 0.5
    n_steps: int = 10
    sharpness: float = 3.0
    confidence_power: float = 2.0

    @property
    def temperature(self) -> float:
        """What the logits of a network trained on these are divided by.

        Sharpened targets make it overconfident; the square root of the power is taken back.
        """
        return float(self.sharpness**0.5)

    def __call__(
        self,
        probabilities: np.ndarray,
        y_encoded: np.ndarray,
        view_graphs: Sequence[sparse.csr_array],
        class_weight: np.ndarray | None = None,
        *,
        early_fusion_graph: sparse.csr_array | None = None,
        world: World = ALONE,
    ) -> PseudoLabels:
        """Clean the predictions of a model into pseudo-labels.

        The processes of `world` share it, each with some rows of the graphs; it is then collective.

        Shapes
        ------
        probabilities : [sample, class]
        y_encoded : [sample], class numbers, -1 where unknown
        view_graphs, early_fusion_graph : [sample, sample] each, symmetric
        class_weight : [class]
        """
        fused = [] if early_fusion_graph is None else [early_fusion_graph]
        rows = own_rows(len(probabilities), world)
        graphs = [on_disk(without_loops(graph, rows)) for graph in (*view_graphs, *fused)]
        predictions = probabilities.astype(np.float64)
        if self.class_prior == "labels":
            predictions = self._aligned(probabilities, predictions, y_encoded, graphs, world)
        agreement = np.array(
            [
                assortativity(graph, predictions, world) if self.weigh_views else 1.0
                for graph in graphs
            ]
        )
        graph_weights = np.maximum(agreement, MIN_WEIGHT)
        graph_weights /= graph_weights.sum()
        predictions = propagate(
            predictions,
            y_encoded,
            graphs,
            graph_weights,
            smoothing=self.smoothing,
            n_steps=self.n_steps,
            world=world,
        )
        confidence = predictions.max(axis=1) ** self.confidence_power
        weights = np.where(y_encoded >= 0, 0.0, confidence)
        targets = normalize_rows(predictions**self.sharpness)
        if class_weight is not None:
            weights = weights * (targets @ class_weight)
        return PseudoLabels(
            targets.astype(np.float32),
            weights.astype(np.float32),
            graph_weights,
            agreement[: len(view_graphs)],
        )

    def _aligned(
        self,
        probabilities: np.ndarray,
        predictions: np.ndarray,
        y_encoded: np.ndarray,
        graphs: Sequence[sparse.csr_array],
        world: World,
    ) -> np.ndarray:
        """Align the class sizes, unless neighbors would then agree less on the class."""
        prior = estimate_class_prior(probabilities, y_encoded, strength=self.prior_strength)
        aligned = align_class_prior(probabilities, prior)
        before, after = (mean_assortativity(graphs, one, world) for one in (predictions, aligned))
        return aligned if before - after <= self.max_assortativity_loss else predictions


def estimate_class_prior(
    probabilities: np.ndarray,
    y_encoded: np.ndarray,
    *,
    strength: float = 20.0,
    min_p_value: float = 0.1,
) -> np.ndarray:
    """Estimate the class proportions from the labels and the predictions: [class].

        n_c + strength mean_i p_ic,   divided by the sum over the classes

    Few labels say little about proportions, many say nearly everything, if they are drawn from
    the samples at random, or class by class in proportion. Labels that are hardly such a sample,
    say ten of every class where the predictions find classes of very different size (chi-squared
    test), say nothing.

    Examples
    --------
    >>> even = np.full((100, 2), 0.5)
    >>> y_encoded = np.r_[np.zeros(12, dtype=int), np.ones(9, dtype=int), np.full(79, -1)]
    >>> estimate_class_prior(even, y_encoded)
    array([0.53658537, 0.46341463])
    >>> uneven = np.tile([0.9, 0.1], (100, 1))
    >>> estimate_class_prior(uneven, y_encoded)
    array([0.9, 0.1])
    """
    counts = np.bincount(y_encoded[y_encoded >= 0], minlength=probabilities.shape[1])
    predicted = np.maximum(probabilities.mean(axis=0, dtype=np.float64), np.finfo(np.float32).tiny)
    predicted /= predicted.sum()
    if stats.chisquare(counts, counts.sum() * predicted).pvalue < min_p_value:
        return np.asarray(predicted)
    expected = counts + strength * predicted
    return np.asarray(expected / expected.sum())


def align_class_prior(
    probabilities: np.ndarray, prior: np.ndarray, *, tol: float = 1e-4, max_steps: int = 100
) -> np.ndarray:
    """Weigh the classes so that their mean probabilities are the prior.

        p_ic <- w_c p_ic / sum_k w_k p_ik     with w such that  mean_i p_ic = prior_c

    Shapes
    ------
    probabilities : [sample, class]
    prior : [class], above 0, sums to 1
    returns : [sample, class], rows sum to 1

    Examples
    --------
    >>> align_class_prior(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0.5, 0.5])).round(2)
    array([[0.71, 0.29],
           [0.29, 0.71]])
    """
    given = np.maximum(probabilities.astype(np.float64), np.finfo(np.float32).tiny)
    weights = np.ones(len(prior))
    aligned = normalize_rows(given)
    for _ in range(max_steps):
        means = aligned.mean(axis=0)
        if np.abs(means - prior).max() <= tol * prior.min():
            break
        weights *= (prior / means) ** 0.7  # the whole step may overshoot where rows are certain
        aligned = normalize_rows(given * weights)
    return aligned
