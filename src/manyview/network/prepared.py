"""Inputs of a fit that do not depend on labels: scaled views, graphs, features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from manyview.data.network_input import InputScaling, fit_input
from manyview.data.views import MultiView
from manyview.graphs.early_fusion import early_fusion_graph
from manyview.graphs.edge_overlap import overlap_weights
from manyview.graphs.normalization import renormalize
from manyview.graphs.prepare import PreparedViews, prepare_views
from manyview.network.mgcn_dns import NetworkInputs, align_graphs, network_inputs
from manyview.system.progress import show_message

N_CACHED = 4  # inputs kept at once; each holds a copy of the features


@dataclass(frozen=True)
class PreparedInputs:
    """Scaled views with their graphs, aligned for the network.

    Attributes
    ----------
    views
        The scaled views and their graphs.
    view_graphs
        Each view's renormalized graph.
    input_scaling
        None where all views are graphs.
    inputs
        Inputs of a network over the views' graphs.
    early_fusion_graph
        Neighbors in all views together, renormalized; None where it was not wanted, or where
        fewer than two views have features.
    teacher_inputs
        Inputs of a network that makes pseudo-labels: over the views' graphs and, as the last,
        the early-fusion graph.
    """

    views: PreparedViews
    view_graphs: list[sparse.csr_array]
    input_scaling: InputScaling | None
    inputs: NetworkInputs
    early_fusion_graph: sparse.csr_array | None
    teacher_inputs: NetworkInputs

    @property
    def graphs(self) -> list[sparse.csr_array]:
        """All graphs of `teacher_inputs`, in the order of their fusion."""
        fused = [] if self.early_fusion_graph is None else [self.early_fusion_graph]
        return [*self.view_graphs, *fused]


def prepare_inputs(
    views: MultiView, device: torch.device, *, early_fusion: bool = False, **settings: Any
) -> PreparedInputs:
    """Scale the views and build their graphs; `settings` are those of `prepare_views`.

    `early_fusion` also builds the graph of all views together.
    """
    prepared = prepare_views(views, **settings)
    view_graphs = prepared.renormalized()
    features = list(prepared.features.values())
    present = prepared.present_features()
    input_scaling = fit_input(features, present) if features else None
    inputs = network_inputs(view_graphs, features, input_scaling, device, present)
    if not early_fusion or input_scaling is None or len(features) == 1:
        return PreparedInputs(prepared, view_graphs, input_scaling, inputs, None, inputs)
    settings.pop("scaling")
    is_feature = [name in prepared.features for name in prepared.graphs]
    view_weights = overlap_weights(view_graphs)[is_feature]
    found = early_fusion_graph(features, input_scaling, present, view_weights, **settings)
    has_features = None if present is None else np.any(present, axis=1)
    fused = renormalize(found, has_features)
    support, weights = align_graphs([*view_graphs, fused])
    teacher_inputs = inputs._replace(support=support.to(device), view_weights=weights.to(device))
    return PreparedInputs(prepared, view_graphs, input_scaling, inputs, fused, teacher_inputs)


def cached_inputs(
    cache: dict[Any, Any] | None, views: MultiView, device: torch.device, **settings: Any
) -> PreparedInputs:
    """Take prepared inputs from the cache of fits on the same samples, or prepare and add them.

    Only the last few are kept. The cache must belong to these very views; None caches nothing.
    """
    if cache is None:
        return prepare_inputs(views, device, **settings)
    kept = cache.setdefault("prepared_inputs", {})
    key = repr((str(device), sorted(settings.items())))
    prepared: PreparedInputs = kept.pop(key, None) or prepare_inputs(views, device, **settings)
    kept[key] = prepared  # last used, last dropped
    while len(kept) > N_CACHED:
        kept.pop(next(iter(kept)))
    return prepared


def show_recalls(recalls: Mapping[str, float]) -> None:
    """Show the fraction of true neighbors found in each view, where not all were."""
    if min(recalls.values(), default=1.0) < 1:
        found = ", ".join(f"{recall:.1%} in {view}" for view, recall in recalls.items())
        show_message(f"true neighbors found: {found}")
