"""Replay the forward pass of a fitted network, with all views or without one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from manyview.data.network_input import present_scale
from manyview.graphs.support import GraphSupport
from manyview.layers.fusion import weigh_views
from manyview.layers.node_selection import (
    keep_largest,
    mean_edge_weight,
    node_confidence,
    select_edges,
)
from manyview.network.inductive import InductiveState, NeighborIndex, SelectionRule

Select = Callable[[GraphSupport, Tensor], Tensor]


@dataclass(frozen=True)
class NetworkReplay:
    """Everything a forward pass over the fitted samples needs, in float64."""

    # the edges, and each view's renormalized graph on them: [pair, view]
    support: GraphSupport
    view_weights: Tensor
    coefficients: np.ndarray  # [view] coefficient of each view graph in the fused graph
    gates: Tensor | None  # [pair] learned gates; None without graph learning
    select: Select | None  # learned node selection; None if all edges are kept
    # weights, first messages, and the features they are computed from
    inductive_state: InductiveState
    present: np.ndarray  # [sample, view] True where the sample has the view

    @classmethod
    def of(
        cls,
        view_graphs: list[sparse.csr_array],
        edge_gates: sparse.csr_array | None,
        inductive_state: InductiveState,
        *,
        tau: float,
        rank_axis: str,
        ranking: str,
    ) -> "NetworkReplay":
        """Build the replay from the parts of a fitted model."""
        # Samples that have a view have a self-loop in its graph.
        present = np.column_stack([graph.diagonal() > 0 for graph in view_graphs])
        support = GraphSupport.from_graphs(view_graphs).with_present(present)
        return cls(
            support=support,
            view_weights=torch.stack(
                [support.weights_of(graph).double() for graph in view_graphs], dim=1
            ),
            coefficients=inductive_state.coefficients.astype(np.float64),
            gates=None if edge_gates is None else support.weights_of(edge_gates).double(),
            select=_selection(inductive_state.selection, tau, rank_axis, ranking),
            inductive_state=inductive_state,
            present=present,
        )

    def logits(self, left_out: int | None = None) -> np.ndarray:
        """Return the logits of all fitted samples, [sample, class], with or without a view.

        Nothing is retrained. The edges of the omitted view are removed, the coefficients of the
        other views rescaled to sum to 1, nodes selected again by the learned threshold, and the
        view's features set to their mean. If no other view has features, they stay, because
        nothing else could be convolved; a sample without another view keeps its logits.
        """
        logits = self.outputs(left_out)[-1]
        if left_out is not None:
            has_no_other = self.present[:, left_out] & (self.present.sum(axis=1) == 1)
            if has_no_other.any():
                logits = np.where(has_no_other[:, None], self.logits(), logits)
        return logits

    def outputs(self, left_out: int | None = None) -> list[np.ndarray]:
        """Return the output of each convolution: [sample, output], the logits last."""
        coefficients = self.coefficients.copy()
        if left_out is not None:
            coefficients[left_out] = 0.0
            coefficients /= coefficients.sum()
        graph = weigh_views(
            self.view_weights, torch.from_numpy(coefficients), self.support.view_masks
        )
        if self.gates is not None:
            graph = graph * self.gates
        if self.select is not None:
            graph = self.select(self.support, graph)
        matrix = self.support.matrix_of(graph)
        outputs = [np.asarray(matrix @ self._first_messages(left_out))]
        for weight in self.inductive_state.weights[1:]:
            messages = np.maximum(outputs[-1], 0.0) @ weight.astype(np.float64)
            outputs.append(np.asarray(matrix @ messages))
        return outputs

    def _first_messages(self, left_out: int | None) -> np.ndarray:
        inductive_state = self.inductive_state
        messages = inductive_state.messages[0].astype(np.float64)
        indexes = [
            (number, index)
            for number, index in enumerate(inductive_state.indexes.values())
            if isinstance(index, NeighborIndex)
        ]
        scaling = inductive_state.input_scaling
        if scaling is None or len(indexes) == 1:
            return messages
        present = self.present[:, [number for number, _ in indexes]]
        scale = present_scale(present)[:, None]
        start = 0
        for (number, index), factor in zip(indexes, scaling.factors, strict=True):
            columns = slice(start, start + index.features.shape[1])
            start = columns.stop
            if number == left_out:
                weight = inductive_state.weights[0][columns].astype(np.float64)
                mean = np.outer(self.present[:, number], scaling.center[columns] @ weight)
                messages = messages - scale * ((index.features @ weight) * factor - mean)
        return messages


def _selection(
    rule: SelectionRule | int | None, tau: float, rank_axis: str, ranking: str
) -> Select | None:
    if rule is None:
        return None
    if isinstance(rule, int):
        return lambda support, graph: keep_largest(support, graph, rule)
    threshold = torch.tensor(rule.threshold, dtype=torch.float64)

    def select(support: GraphSupport, graph: Tensor) -> Tensor:
        # Ranked in single precision, as in training; double takes twice the time.
        scores = mean_edge_weight(support, graph.float())
        confidence = node_confidence(scores, tau, rank_axis, ranking).double()
        return select_edges(support, graph, confidence, threshold)

    return select
