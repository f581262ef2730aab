"""Use single layers: node selection on any graph, with gradients."""

import numpy as np
import torch

from manyview.graphs.knn_graph import knn_graph
from manyview.graphs.normalization import renormalize
from manyview.graphs.support import GraphSupport
from manyview.layers.graph_convolution import GraphConvolution
from manyview.layers.node_selection import NodeSelection

points = np.random.default_rng(0).normal(size=(200, 8))
graph = renormalize(knn_graph(points, n_neighbors=10))
support = GraphSupport.from_graphs([graph])
weights = support.weights_of(graph).float()  # one per pair of samples

selection, layer = NodeSelection(temperature=1.0), GraphConvolution(8, 3)
selected = selection(support, weights)
output = layer(support, selected, torch.from_numpy(points).float())
output.square().mean().backward()

print(f"{int((selected > 0).sum())} of {support.n_pairs} edges kept, {tuple(output.shape)} out")
print(f"gradient of the threshold: {selection.raw_threshold.grad:.4f}")
