"""Inputs of a fit that do not depend on labels: scaled views, graphs, features.

views -> prepare_views -> prepare_inputs -> (MGCNDNS, self-training)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from manyview.data.network_input import InputScaling, fit_input, plain_input
from manyview.data.views import MultiView, View
from manyview.distributed.world import ALONE, World
from manyview.graphs.early_fusion import early_fusion_graph
from manyview.graphs.edge_overlap import overlap_weights
from manyview.graphs.normalization import renormalize
from manyview.graphs.partition import Partition, sample_owners
from manyview.graphs.prepare import PreparedViews, prepare_views
from manyview.graphs.support import GraphSupport
from manyview.layers.graph_convolution import Center, RowCenters
from manyview.layers.sparse_product import csr_tensor
from manyview.network.mgcn_dns import NetworkInputs
from manyview.network.sharding import shard_inputs
from manyview.system.progress import show_message
from manyview.system.scratch import on_disk

N_CACHED = 4  # inputs cached at a time; each holds a copy of the features


@dataclass(frozen=True)
class PreparedInputs:
    """Scaled views with their graphs, aligned for the network when they are first needed."""

    views: PreparedViews  # the scaled views; their graphs are those below
    view_graphs: list[sparse.csr_array]  # each view's renormalized graph
    input_scaling: InputScaling | None  # none if all views are graphs
    # nearest neighbors in all views together, renormalized; None if not requested, or with fewer
    # than two feature views
    early_fusion_graph: sparse.csr_array | None
    features: Tensor  # of the network
    center: Center | None
    device: torch.device
    world: World = ALONE  # the processes that share fits on these inputs

    @cached_property
    def inputs(self) -> NetworkInputs:
        """Inputs of a network with the views' graphs."""
        return self._aligned(self.view_graphs)

    @cached_property
    def teacher_inputs(self) -> NetworkInputs:
        """Inputs of a network that makes pseudo-labels: with the early-fusion graph, too."""
        return self.inputs if self.early_fusion_graph is None else self._aligned(self.graphs)

    @cached_property
    def own_inputs(self) -> NetworkInputs:
        """The part of `inputs` that this process trains on; collective."""
        return self._divided(self.inputs)

    @cached_property
    def own_teacher_inputs(self) -> NetworkInputs:
        """The part of `teacher_inputs` that this process trains on; collective."""
        if self.early_fusion_graph is None:
            return self.own_inputs
        return self._divided(self.teacher_inputs)

    @cached_property
    def graph_weights(self) -> np.ndarray:
        """[graph] weight of each of `graphs` by its overlap with the others; sum to 1."""
        return overlap_weights(self.graphs)

    def release_teacher_inputs(self) -> None:
        """Free the memory of `teacher_inputs`; if needed again, they are made again."""
        for name in ("teacher_inputs", "own_teacher_inputs"):
            self.__dict__.pop(name, None)

    @property
    def graphs(self) -> list[sparse.csr_array]:
        """All graphs of `teacher_inputs`, in the order of their fusion."""
        fused = [] if self.early_fusion_graph is None else [self.early_fusion_graph]
        return [*self.view_graphs, *fused]

    @cached_property
    def _owners(self) -> Tensor:
        """[sample] the process that trains on each, in all networks; collective."""
        return sample_owners(self.teacher_inputs.support.to("cpu"), self.world)

    def _divided(self, inputs: NetworkInputs) -> NetworkInputs:
        if not self.world.is_shared:
            return inputs
        owners = inputs.support.to("cpu").by_place(self._owners)
        return shard_inputs(inputs, self.world, Partition.of_owners(owners, self.world.size))

    def _aligned(self, graphs: Sequence[sparse.csr_array]) -> NetworkInputs:
        support, weights = align_graphs(graphs)
        return NetworkInputs(
            support.to(self.device), weights.to(self.device), self.features, self.center
        )


def prepare_inputs(
    views: MultiView,
    device: torch.device,
    *,
    early_fusion: bool = False,
    center_input: bool = True,
    world: World = ALONE,
    **settings: Any,
) -> PreparedInputs:
    """Scale the views and build their graphs; `settings` are those of `prepare_views`.

    With `early_fusion`, build the graph of all views together, too. Without `center_input`, the
    input is the scaled views side by side, neither centered nor balanced.
    """
    settings["world"] = world
    prepared = prepare_views(views, **settings)
    view_graphs = prepared.renormalized()
    prepared = prepared.without_graphs()
    features = list(prepared.features.values())
    present = prepared.present_features()
    input_scaling = None
    if features:
        input_scaling = fit_input(features, present) if center_input else plain_input(features)
    fused = None
    if early_fusion and input_scaling is not None and len(features) > 1:
        settings.pop("scaling")
        view_weights = overlap_weights(view_graphs)[prepared.is_feature]
        found = early_fusion_graph(features, input_scaling, present, view_weights, **settings)
        fused = on_disk(renormalize(found, None if present is None else np.any(present, axis=1)))
    network_features, center = _network_features(
        len(views), features, input_scaling, device, present
    )
    return PreparedInputs(
        prepared, view_graphs, input_scaling, fused, network_features, center, device, world
    )


def cached_inputs(
    cache: dict[Any, Any] | None, views: MultiView, device: torch.device, **settings: Any
) -> PreparedInputs:
    """Return prepared inputs from the cache of fits on the same samples, or prepare them.

    The cache keeps the most recently used. It must belong to these views; None caches nothing.
    """
    if cache is None:
        return prepare_inputs(views, device, **settings)
    cached = cache.setdefault("prepared_inputs", {})
    key = repr((str(device), sorted(settings.items())))
    prepared: PreparedInputs = cached.pop(key, None) or prepare_inputs(views, device, **settings)
    cached[key] = prepared  # the most recently used is last
    while len(cached) > N_CACHED:
        cached.pop(next(iter(cached)))
    return prepared


def network_inputs(
    graphs: Sequence[sparse.csr_array],
    features_by_view: Sequence[View],
    input_scaling: InputScaling | None,
    device: torch.device,
    present: np.ndarray | None = None,
) -> NetworkInputs:
    """Align the renormalized view graphs on one support and move the inputs to the device.

    Without feature views (`input_scaling` is None), the features are the identity matrix.
    `present` is True for samples that have a feature view, [sample, view]; None if all have all.
    """
    support, weights = align_graphs(graphs)
    features, center = _network_features(
        support.n_samples, features_by_view, input_scaling, device, present
    )
    return NetworkInputs(support.to(device), weights.to(device), features, center)


def _network_features(
    n_samples: int,
    features_by_view: Sequence[View],
    input_scaling: InputScaling | None,
    device: torch.device,
    present: np.ndarray | None,
) -> tuple[Tensor, Center | None]:
    if input_scaling is None:
        return _as_tensor(sparse.csr_array(sparse.eye_array(n_samples))).to(device), None
    features = _as_tensor(on_disk(input_scaling(features_by_view, present))).to(device)
    if present is None:
        return features, torch.from_numpy(input_scaling.center).to(device)
    factors = input_scaling.row_centers(features_by_view, present)
    return features, RowCenters(*(torch.from_numpy(factor).to(device) for factor in factors))


def align_graphs(graphs: Sequence[sparse.csr_array]) -> tuple[GraphSupport, Tensor]:
    """Align renormalized graphs on one support; return it and their weights, [pair, graph]."""
    # Samples that have a view have a self-loop in its graph.
    present = np.column_stack([graph.diagonal() > 0 for graph in graphs])
    support = GraphSupport.from_graphs(graphs).with_present(present)
    weights = np.empty((support.n_pairs, len(graphs)), dtype=np.float32)
    for number, graph in enumerate(graphs):
        weights[:, number] = support.weights_of(graph).numpy()
    return support, torch.from_numpy(on_disk(weights))


def show_recalls(recalls: Mapping[str, float]) -> None:
    """Show the fraction of true neighbors found in each view, unless all were found."""
    if min(recalls.values(), default=1.0) < 1:
        found = ", ".join(f"{recall:.1%} in {view}" for view, recall in recalls.items())
        show_message(f"true neighbors found: {found}")


def _as_tensor(features: View) -> Tensor:
    if not isinstance(features, sparse.csr_array):
        return torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32))
    starts, columns = (
        torch.from_numpy(part.astype(np.int64)) for part in (features.indptr, features.indices)
    )
    values = torch.from_numpy(features.data.astype(np.float32))
    return csr_tensor(starts, columns, values, features.shape)
