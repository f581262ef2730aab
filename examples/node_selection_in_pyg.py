"""Train node selection together with a PyTorch Geometric network (ACM3025, 2% labels)."""

import torch
from torch_geometric.nn import GCN

from manyview import hide_labels, load_dataset, to_pyg
from manyview.graphs.normalization import renormalize
from manyview.graphs.precomputed import precomputed_graph
from manyview.graphs.support import GraphSupport
from manyview.layers.node_selection import NodeSelection

data = load_dataset("acm3025")  # read from $MANYVIEW_DATA
truth = torch.from_numpy(data.labels) - 1  # classes count from 1
labels = torch.from_numpy(hide_labels(truth.numpy(), keep=0.02, random_state=0))
known = labels != -1
x = to_pyg(data.views["X"]).x  # words of each paper
graph = renormalize(precomputed_graph(data.views, "adj1"))  # papers that share an author

support = GraphSupport.from_graphs([graph], is_reordered=False)
weights = support.weights_of(graph).float()  # one per pair of papers
edge_index = torch.stack([support.rows, support.columns]).long()

torch.manual_seed(0)
selection = NodeSelection()
network = GCN(x.shape[1], 32, num_layers=2, out_channels=3, normalize=False)
optimizer = torch.optim.Adam([*selection.parameters(), *network.parameters()], lr=0.01)


def logits():
    selected = selection(support, weights)  # weaker where both ends have low confidence
    return network(x, edge_index, edge_weight=support.on_edges(selected))


for _ in range(40):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(logits()[known], labels[known]).backward()
    optimizer.step()
right = (logits().argmax(dim=1) == truth)[~known].float().mean()
print(f"accuracy {right:.1%}; threshold moved from 0.0070 to {selection.threshold:.4f}")
