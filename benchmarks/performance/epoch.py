"""One epoch of MGCN-DNS against one epoch of PyG's two-layer GCN on the same fused graph.

PyG runs as its tutorial writes it (`edge_index`, `edge_weight`) and in the other forms that work
on a CPU without compiled extras; the fastest of them is found by measuring. All forms take turns in
one process. PyG's edge weights are fixed, so it computes no gradients for them; ours does.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import NeighborGraph
from performance.isolated import run_isolated
from performance.meter import Meter
from performance.stored import Rows, summary
from performance.synthetic_data import N_CLASSES, synthetic_problem
from performance.training import catch_training

SIZES = (10_000, 100_000)
N_NEIGHBORS = 20
LABEL_RATIO = 0.1
N_ROUNDS = 7
N_EPOCHS = 3  # of each form in each round, after one to warm up
OURS, TUTORIAL = "MGCN-DNS", "PyG, edge_index as in its tutorial"
FORMS = (
    TUTORIAL,
    "PyG, edge_index normalized once",
    "PyG, CSR",
    "PyG, CSR with 32-bit indices",
)


def run(rows: Rows, sizes: Sequence[int] = SIZES, n_rounds: int = N_ROUNDS) -> None:
    for n_samples in sizes:
        rows.measure(
            {"n_samples": n_samples},
            lambda n_samples=n_samples: run_isolated(
                measure, n_samples=n_samples, n_rounds=n_rounds
            ),
        )


def measure(meter: Meter, n_samples: int, n_rounds: int) -> dict[str, Any]:
    """Return seconds per epoch of every form, by round."""
    views, labels, _ = synthetic_problem(n_samples, LABEL_RATIO)
    model = MGCNDNSClassifier(graph=NeighborGraph(n_neighbors=N_NEIGHBORS), random_state=0)
    training = catch_training(model, views, labels)
    support, view_weights, features, center = training.inputs
    fused = support.matrix_of(view_weights.mean(dim=1))
    if center is not None:
        features = features - center
    known = torch.from_numpy(labels)
    forms: dict[str, Callable[[int], list[float]]] = {OURS: training.epochs}
    for form in FORMS:
        forms[form] = pyg_epochs(form, fused, features, known, model)
    seconds: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(n_rounds):
        for form, epochs in forms.items():
            seconds[form].append(float(np.median(epochs(N_EPOCHS))))
    fastest = min(FORMS, key=lambda form: np.median(seconds[form]))
    return {
        "n_edges": int(fused.nnz),
        "n_features": int(features.shape[1]),
        "hidden": model.hidden,
        "label_ratio": LABEL_RATIO,
        "fastest": fastest,
        "seconds": {form: summary(values) for form, values in seconds.items()},
        "ratio": {
            form: {
                "of_medians": float(np.median(seconds[OURS]) / np.median(seconds[form])),
                "by_round": summary(np.divide(seconds[OURS], seconds[form]).tolist()),
            }
            for form in FORMS
        },
    }


def pyg_epochs(
    form: str, fused: Any, features: Tensor, labels: Tensor, model: MGCNDNSClassifier
) -> Callable[[int], list[float]]:
    """Return a function that trains a PyG network for some epochs and returns their seconds."""
    from torch_geometric.nn import GCNConv

    dropout = model.parameter_group("training").dropout

    class GCN(nn.Module):
        """The network of PyG's tutorial."""

        def __init__(self, **settings: Any) -> None:
            super().__init__()
            self.first = GCNConv(features.shape[1], model.hidden, **settings)
            self.second = GCNConv(model.hidden, N_CLASSES, **settings)

        def forward(self, *graph: Tensor) -> Tensor:
            hidden = self.first(features, *graph).relu()
            hidden = nn.functional.dropout(hidden, p=dropout, training=self.training)
            return self.second(hidden, *graph)

    graph: tuple[Tensor, ...]
    if "edge_index" in form:
        entries = fused.tocoo()
        ends = np.stack([entries.coords[1], entries.coords[0]]).astype(np.int64)
        graph = (torch.from_numpy(ends), torch.from_numpy(entries.data).float())
    else:
        width = np.int32 if "32-bit" in form else np.int64
        starts, columns = (torch.from_numpy(a.astype(width)) for a in (fused.indptr, fused.indices))
        values = torch.from_numpy(fused.data).float()
        graph = (torch.sparse_csr_tensor(starts, columns, values, fused.shape),)
    network = GCN(normalize=form == TUTORIAL)
    optimizer = torch.optim.Adam(network.parameters(), lr=model.learning_rate)
    is_labeled = labels >= 0

    def epochs(n_epochs: int) -> list[float]:
        network.train()
        stamps = []
        for _ in range(n_epochs + 1):
            stamps.append(time.perf_counter())
            optimizer.zero_grad()
            logits = network(*graph)
            nn.functional.cross_entropy(logits[is_labeled], labels[is_labeled]).backward()
            optimizer.step()
        return np.diff([*stamps, time.perf_counter()])[1:].tolist()

    return epochs
