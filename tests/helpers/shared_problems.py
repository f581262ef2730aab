"""Small problems for trainings that several processes share, and the training itself."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy import sparse

from manyview.distributed.blocks import Blocks
from manyview.distributed.world import World
from manyview.graphs.normalization import renormalize
from manyview.graphs.partition import Partition
from manyview.graphs.support import GraphSupport
from manyview.layers.graph_convolution import Center, RowCenters
from manyview.layers.sparse_product import csr_tensor
from manyview.network.fixed_graph import FixedGraphNetwork
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs, build_network
from manyview.network.sharding import gather_weights, own_rows, shard_inputs, shard_network
from manyview.network.shared_training import SharedTraining
from manyview.network.training import train

NETWORK: dict[str, Any] = {
    "graph_learning": "edge",
    "rank": 3,
    "gamma": 1.0,
    "node_selection": "differentiable",
    "n_selected": 3,
    "tau": 1.0,
    "initial_threshold": 0.05,
    "rank_axis": "rows",
    "ranking": "auto",
    "hidden": 5,
    "n_layers": 2,
    "dropout": 0.5,
    "seed": 0,
}


@dataclass(frozen=True)
class Problem:
    """View graphs, features and labels, all in float64, and the settings of a training."""

    graphs: list[sparse.csr_array]  # renormalized; a sample without the view has no loop
    features: np.ndarray
    labels: np.ndarray  # class numbers, -1 where unknown
    bounds: tuple[int, ...]  # of the processes' blocks
    n_classes: int = 3
    network: dict[str, Any] = field(default_factory=dict)  # changes of NETWORK
    soft_targets: tuple[np.ndarray, np.ndarray] | None = None
    class_weight: np.ndarray | None = None
    is_fixed: bool = False  # whether the graph is
    is_reordered: bool = False
    is_scattered: bool = False  # whether processes have samples of anywhere, not blocks of them
    is_sparse: bool = False
    center: str | None = None  # "columns" or "rows"
    n_epochs: int = 20

    @property
    def n_ranks(self) -> int:
        return len(self.bounds) - 1

    def partition(self) -> Partition:
        if not self.is_scattered:
            return Partition.of_blocks(Blocks(self.bounds))
        owners = np.repeat(np.arange(self.n_ranks), np.diff(self.bounds))
        np.random.default_rng(0).shuffle(owners)
        return Partition.of_owners(torch.from_numpy(owners), self.n_ranks)

    def inputs(self) -> NetworkInputs:
        support = GraphSupport.from_graphs(self.graphs, is_reordered=self.is_reordered)
        present = np.column_stack([graph.diagonal() > 0 for graph in self.graphs])
        support = support.with_present(present)
        weights = torch.stack([support.weights_of(graph) for graph in self.graphs], dim=1)
        features = torch.from_numpy(self.features)
        center: Center | None = None
        if self.center == "columns":
            center = features.mean(dim=0)
        elif self.center == "rows":
            center = RowCenters(features[:, :2].abs(), features[:2])
        if self.is_sparse:
            rows = sparse.csr_array(self.features)
            starts, columns, values = rows.indptr, rows.indices, rows.data
            features = csr_tensor(
                torch.from_numpy(starts.astype(np.int64)),
                torch.from_numpy(columns.astype(np.int64)),
                torch.from_numpy(values),
                rows.shape,
            )
        return NetworkInputs(support, weights.double(), features, center)


@dataclass(frozen=True)
class Trained:
    """Logits of all samples, all weights by name, and the curve."""

    logits: np.ndarray
    weights: dict[str, np.ndarray]
    loss: list[float]
    accuracy: list[float]


def random_problem(
    rng: np.random.Generator,
    bounds: tuple[int, ...],
    *,
    n_views: int = 2,
    density: float = 0.25,
    missing: float = 0.0,
    n_labeled: int = 4,
    isolated: int = 0,
    **settings: Any,
) -> Problem:
    """Draw graphs, features and labels; the first `isolated` samples have no edges."""
    n_samples = bounds[-1]
    present = rng.random((n_samples, n_views)) >= missing
    present[np.arange(n_samples), rng.integers(n_views, size=n_samples)] = True
    graphs = []
    for has_view in present.T:
        drawn = np.triu(rng.random((n_samples, n_samples)) < density, 1)
        drawn[:isolated] = drawn[:, :isolated] = False
        drawn &= has_view[:, None] & has_view
        graphs.append(renormalize(sparse.csr_array((drawn | drawn.T).astype(float)), has_view))
    labels = np.full(n_samples, -1)
    known = rng.permutation(n_samples)[: max(n_labeled, 1)]
    labels[known] = rng.integers(3, size=len(known))
    return Problem(graphs, rng.normal(size=(n_samples, 6)), labels, bounds, **settings)


def solve(problem: Problem, world: World) -> Trained:
    """Train in the processes of a world; alone, on the whole support, as a plain fit does."""
    inputs = whole_inputs = problem.inputs()
    changes = NETWORK | problem.network
    network = build_network(inputs, n_classes=problem.n_classes, **changes).double()
    part, labels, soft, shared = network, problem.labels, problem.soft_targets, None
    if world.is_shared:
        inputs = shard_inputs(inputs, world, problem.partition())
        shard = inputs.support.shard
        part = shard_network(network, shard)
        labels = own_rows(labels, shard)
        soft = None if soft is None else tuple(own_rows(values, shard) for values in soft)
    trained: Any = FixedGraphNetwork(part, inputs) if problem.is_fixed else part
    if world.is_shared:
        shared = SharedTraining(world)
    weight = problem.class_weight
    curve = train(
        trained,
        () if problem.is_fixed else inputs,
        torch.from_numpy(labels),
        learning_rate=0.05,
        max_epochs=problem.n_epochs,
        tol=None,
        weight_decay=0.01,
        class_weight=None if weight is None else torch.from_numpy(weight),
        soft_targets=None if soft is None else tuple(map(torch.from_numpy, soft)),
        generator=torch.Generator().manual_seed(1),
        shared=shared,
    )
    if problem.is_fixed:
        trained.unscale()
    part.eval()
    if world.is_shared:
        with torch.no_grad():
            logits = shard.by_sample(part(*inputs))
        gather_weights(part, shard, network)
    else:
        logits = _logits(network, whole_inputs)
    network.eval()
    assert torch.allclose(logits, _logits(network, whole_inputs), atol=1e-9)
    weights = {name: values.numpy().copy() for name, values in network.state_dict().items()}
    return Trained(logits.numpy(), weights, curve.loss, curve.labeled_accuracy)


@torch.no_grad()
def _logits(network: MGCNDNS, inputs: NetworkInputs) -> torch.Tensor:
    return network(*inputs)
