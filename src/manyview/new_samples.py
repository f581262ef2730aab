"""Labels for samples that come after the fit: an extension of the paper, which has none.

`attach` freezes what a trained network and its graphs learned; the `Attachment` it returns then
answers for new samples.
"""

import numpy as np
import torch
from torch import Tensor

from manyview.anchors import FeatureAnchor, GraphAnchor
from manyview.attachment import Attachment, SelectionRule
from manyview.data.network_input import InputScaling
from manyview.graphs.prepare import PreparedViews
from manyview.graphs.support import GraphSupport
from manyview.layers.fusion import fusion_coefficients, mixing_weights
from manyview.layers.node_selection import (
    NodeSelection,
    TopKSelection,
    mean_edge_weight,
)
from manyview.network import MGCNDNS, NetworkInputs


@torch.no_grad()
def attach(
    prepared: PreparedViews,
    positions: np.ndarray,
    network: MGCNDNS,
    inputs: NetworkInputs,
    *,
    input_scaling: InputScaling | None,
    n_neighbors: int,
    metric: str,
) -> Attachment:
    """Freeze a trained network and its graphs for new samples."""
    support, view_weights, features, center = inputs
    graphs = network.graphs(support, view_weights)
    outputs = network.outputs(support, graphs.selected, features, center)
    first, *later = network.layers()
    messages = [first.messages(features, center)]
    messages += [
        layer.messages(output.relu()) for layer, output in zip(later, outputs[:-1], strict=True)
    ]
    anchors: dict[str, FeatureAnchor | GraphAnchor] = {}
    for (name, graph), present in zip(prepared.graphs.items(), prepared.present.T, strict=True):
        degrees = np.asarray(graph.sum(axis=1)).ravel() + present
        if name in prepared.features:
            anchors[name] = FeatureAnchor(
                prepared.scalers[name], prepared.features[name], degrees, n_neighbors, metric
            )
        else:
            anchors[name] = GraphAnchor(positions, degrees)
    mean_gate = loop_gate = 1.0
    if network.graph_learning is not None:
        gates = network.graph_learning.gates(support)
        between, loops = gates[: support.n_undirected], gates[support.n_undirected :]
        loop_gate = loops.mean().item()
        mean_gate = between.mean().item() if len(between) else loop_gate
    return Attachment(
        anchors=anchors,
        coefficients=_array(fusion_coefficients(mixing_weights(network.fusion.logits))),
        mean_gate=mean_gate,
        loop_gate=loop_gate,
        selection=_selection_rule(network.node_selection, support, graphs.refined),
        input_scaling=input_scaling,
        weights=[_array(layer.weight) for layer in network.layers()],
        messages=[_array(message) for message in messages],
    )


def _selection_rule(
    selection: NodeSelection | TopKSelection | None, support: GraphSupport, refined: Tensor
) -> SelectionRule | int | None:
    if selection is None:
        return None
    if isinstance(selection, TopKSelection):
        return selection.n_kept
    scores = mean_edge_weight(support, refined)
    confidence = selection.confidence(support, refined)
    order = torch.argsort(scores)
    surplus = confidence - selection.threshold
    return SelectionRule(
        scores=_array(scores[order]),
        confidence=_array(confidence[order]),
        node_confidence=_array(confidence),
        threshold=selection.threshold.item(),
        largest=max(surplus.max().item(), 0.0),
    )


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())
