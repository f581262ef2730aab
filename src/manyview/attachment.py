"""What a fitted model keeps for samples that come later, and how these get their logits.

The learned gates belong to the fitted samples, so a new sample is attached to them: linked to
its nearest fitted samples in every view, its edges mixed with the learned view weights and
shrunk by the mean learned gate, its confidence read off the learned ranking, and its features
convolved with the fitted samples' frozen messages.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from manyview.anchors import FeatureAnchor, GraphAnchor, renormalized_edges
from manyview.data.network_input import InputScaling
from manyview.data.scaling import scale_views
from manyview.data.views import MultiView


@dataclass(frozen=True)
class SelectionRule:
    """What node selection learned, for edges it has not seen.

    Attributes
    ----------
    scores, confidence
        Mean edge weight of the fitted samples in ascending order, and their confidence.
    node_confidence
        [fitted] the same confidence in the order of the samples.
    largest
        Largest surplus over the threshold among the fitted edges.
    """

    scores: np.ndarray
    confidence: np.ndarray
    node_confidence: np.ndarray
    threshold: float
    largest: float

    def keep(self, confidence: np.ndarray) -> np.ndarray:
        """Factor of an edge of this confidence, Eq. (15)-(16)."""
        if self.largest <= 0:
            return np.asarray(confidence >= self.node_confidence.max(), dtype=np.float64)
        return np.asarray(np.maximum(confidence - self.threshold, 0.0) / self.largest)


class Attached(NamedTuple):
    """How new samples hang on the fitted ones.

    Attributes
    ----------
    edges, loops
        [new, fitted] and [new] the selected graph, which the network convolves with.
    own
        [new, output] what new samples send to themselves in each convolution.
    view_edges
        [new, fitted] each view's renormalised edges, by name.
    view_degrees
        [new] degrees in each view, the self-loop counted; infinite for samples that lack it.
    """

    edges: sparse.csr_array
    loops: np.ndarray
    own: list[np.ndarray]
    view_edges: dict[str, sparse.csr_array]
    view_degrees: dict[str, np.ndarray]


@dataclass(frozen=True)
class Attachment:
    """Everything of a fitted model that new samples need, as plain arrays.

    Attributes
    ----------
    anchors
        One for each view, by name.
    coefficients
        [view] coefficient of each view graph in the fused graph, Eq. (3)-(7).
    mean_gate, loop_gate
        Learned gate of an edge, on average, and of a self-loop; 1 without graph learning.
    selection
        A rule, a number of edges to keep (top-k), or None.
    input_scaling
        How scaled views become the network's input; None where there were only graphs.
    weights
        Weight matrix of each convolution.
    messages
        [fitted, output] what the fitted samples send in each convolution: H W.
    """

    anchors: dict[str, FeatureAnchor | GraphAnchor]
    coefficients: np.ndarray
    mean_gate: float
    loop_gate: float
    selection: SelectionRule | int | None
    input_scaling: InputScaling | None
    weights: list[np.ndarray]
    messages: list[np.ndarray]

    def logits(self, views: MultiView) -> np.ndarray:
        """Return the logits of new samples: [new, class]."""
        return self.outputs(views)[-1]

    def outputs(self, views: MultiView) -> list[np.ndarray]:
        """Return what each convolution gives for new samples: [new, output], the logits last."""
        links = self.attached(views)
        return [
            np.asarray(links.edges @ messages + links.loops[:, None] * own)
            for messages, own in zip(self.messages, links.own, strict=True)
        ]

    def attached(self, views: MultiView) -> Attached:
        """Link new samples to the fitted ones, and convolve up to the last layer."""
        view_edges, view_degrees = {}, {}
        for name, anchor in self.anchors.items():
            view_edges[name], view_degrees[name] = renormalized_edges(anchor, views, name)
        edges, loops = self._fuse(view_edges, view_degrees, views)
        edges, loops = edges * self.mean_gate, loops * self.loop_gate
        edges, loops = self._select(edges, loops)
        own = [self.first_messages(views)]
        for messages, weight in zip(self.messages[:-1], self.weights[1:], strict=True):
            hidden = edges @ messages + loops[:, None] * own[-1]
            own.append(np.maximum(hidden, 0.0) @ weight)
        return Attached(edges, loops, own, view_edges, view_degrees)

    def _fuse(
        self,
        view_edges: dict[str, sparse.csr_array],
        view_degrees: dict[str, np.ndarray],
        views: MultiView,
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Fused edges to fitted samples and self-loops, Eq. (3)-(7).

        Each is divided by the coefficients of the views that both of its ends have.
        """
        fused = sparse.csr_array((len(views), self.messages[0].shape[0]))
        loops = np.zeros(len(views))
        for name, coefficient in zip(self.anchors, self.coefficients, strict=True):
            fused = sparse.csr_array(fused + coefficient * view_edges[name])
            loops += coefficient / view_degrees[name]
        return self._shared_out(fused, loops, views)

    def _shared_out(
        self, fused: sparse.csr_array, loops: np.ndarray, views: MultiView
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Divide by the sum of the coefficients of the views that both ends of an edge have."""
        order = [views.names.index(name) for name in self.anchors]
        present = views.present[:, order]
        fitted = np.column_stack([anchor.degrees > 0 for anchor in self.anchors.values()])
        if present.all() and fitted.all():
            return fused, loops
        rows = np.repeat(np.arange(len(loops)), np.diff(fused.indptr))
        tiny = np.finfo(np.float32).tiny
        fused = fused.copy()
        shares = (present[rows] & fitted[fused.indices]) @ self.coefficients
        fused.data /= np.maximum(shares, tiny)
        return fused, loops / np.maximum(present @ self.coefficients, tiny)

    def _select(
        self, edges: sparse.csr_array, loops: np.ndarray
    ) -> tuple[sparse.csr_array, np.ndarray]:
        if self.selection is None:
            return edges, loops
        if isinstance(self.selection, int):
            return _keep_largest(edges, loops, self.selection)
        rule = self.selection
        scores = (np.asarray(edges.sum(axis=1)).ravel() + loops) / (np.diff(edges.indptr) + 1)
        own = np.interp(scores, rule.scores, rule.confidence)
        selected = edges.copy()
        rows = np.repeat(np.arange(len(loops)), np.diff(edges.indptr))
        selected.data *= rule.keep((own[rows] + rule.node_confidence[edges.indices]) / 2)
        return selected, loops * rule.keep(own)

    def first_messages(self, views: MultiView) -> np.ndarray:
        """Return what new samples send to themselves in the first convolution: H W."""
        weight = self.weights[0]
        if self.input_scaling is None:  # fitted samples had only their own number as feature
            return np.zeros((len(views), weight.shape[1]))
        anchors = {n: a for n, a in self.anchors.items() if isinstance(a, FeatureAnchor)}
        scalers = {name: anchor.scaler for name, anchor in anchors.items()}
        scaled = list(scale_views(views, scalers).values())
        present = views.present[:, [views.names.index(name) for name in anchors]]
        if present.all():
            centers = self.input_scaling.center @ weight
            return np.asarray(self.input_scaling(scaled) @ weight - centers)
        shares, means = self.input_scaling.row_centers(scaled, present)
        joined = self.input_scaling(scaled, present)
        return np.asarray(joined @ weight - shares @ (means @ weight))


def _keep_largest(
    edges: sparse.csr_array, loops: np.ndarray, n_kept: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """Keep the largest entries of each new row, its self-loop among them."""
    edges, loops = edges.copy(), loops.copy()
    for row in range(len(loops)):
        of_row = slice(edges.indptr[row], edges.indptr[row + 1])
        entries = np.append(edges.data[of_row], loops[row])
        entries[np.argsort(-entries, kind="stable")[n_kept:]] = 0.0
        edges.data[of_row], loops[row] = entries[:-1], entries[-1]
    return edges, loops
