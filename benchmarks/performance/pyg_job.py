"""The whole job as people write it with PyG: neighbor graphs, their mean, a two-layer GCN.

Graphs by scikit-learn's brute force, above 30,000 samples by pynndescent with its defaults; the
network in PyG's fastest form on a CPU (a normalized CSR matrix with 32-bit indices), 200 epochs.
Number of neighbors, hidden width, learning rate and dropout are those of manyview's default.
"""

from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from manyview import MGCNDNSClassifier
from manyview.graphs.knn_graph import EXACT_UP_TO
from manyview.graphs.prepare import choose_n_neighbors

N_EPOCHS = 200


def label_with_pyg(views: Sequence[np.ndarray], labels: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return a class number for every sample; -1 in `labels` is unknown."""
    n_classes, n_labeled = int(labels.max()) + 1, int((labels >= 0).sum())
    n_neighbors = choose_n_neighbors(len(labels), n_classes, n_labeled)
    scaled = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]
    fused = sum(gcn_normalized(neighbor_graph(view, n_neighbors, seed)) for view in scaled)
    features = torch.from_numpy(np.hstack(scaled).astype(np.float32))
    return train_gcn(features, fused / len(scaled), torch.from_numpy(labels), n_classes, seed)


def neighbor_graph(view: np.ndarray, n_neighbors: int, seed: int) -> sparse.csr_array:
    """Link each row to its nearest, or to whom it is among the nearest: symmetric, 0/1."""
    if len(view) <= EXACT_UP_TO:
        from sklearn.neighbors import NearestNeighbors

        search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(view)
        directed = sparse.csr_array(search.kneighbors_graph())
    else:
        import pynndescent

        index = pynndescent.NNDescent(
            view, metric="cosine", n_neighbors=n_neighbors + 1, random_state=seed
        )
        columns = index.neighbor_graph[0][:, 1:]
        rows = np.repeat(np.arange(len(view)), n_neighbors)
        ones = np.ones(columns.size, dtype=np.float32)
        directed = sparse.csr_array((ones, (rows, columns.ravel())), shape=(len(view),) * 2)
    return sparse.csr_array(directed.maximum(directed.T))


def gcn_normalized(graph: sparse.csr_array) -> sparse.csr_array:
    """Compute D^-1/2 (A + I) D^-1/2."""
    looped = graph + sparse.eye_array(graph.shape[0], format="csr")
    scale = sparse.diags_array(np.asarray(looped.sum(axis=1)).ravel() ** -0.5)
    return sparse.csr_array(scale @ looped @ scale)


def train_gcn(
    features: Tensor, fused: sparse.csr_array, labels: Tensor, n_classes: int, seed: int
) -> np.ndarray:
    """Train PyG's GCN and return the classes that it predicts."""
    from torch_geometric.nn import GCNConv

    paper = MGCNDNSClassifier()
    dropout = paper.parameter_group("training").dropout
    starts, columns = (
        torch.from_numpy(part.astype(np.int32)) for part in (fused.indptr, fused.indices)
    )
    values = torch.from_numpy(fused.data.astype(np.float32))
    graph = torch.sparse_csr_tensor(starts, columns, values, fused.shape)
    torch.manual_seed(seed)
    first = GCNConv(features.shape[1], paper.hidden, normalize=False)
    second = GCNConv(paper.hidden, n_classes, normalize=False)
    parameters = [*first.parameters(), *second.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=paper.learning_rate)
    is_labeled = labels >= 0

    def logits(is_training: bool) -> Tensor:
        hidden = nn.functional.dropout(first(features, graph).relu(), dropout, is_training)
        return second(hidden, graph)

    for _ in range(N_EPOCHS):
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits(True)[is_labeled], labels[is_labeled]).backward()
        optimizer.step()
    with torch.no_grad():
        return np.asarray(logits(False).argmax(dim=1).numpy())
