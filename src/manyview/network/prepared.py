"""Ground: all that a fit needs and that no label changes, so that several fits can share it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from manyview.data.network_input import InputScaling, fit_input
from manyview.data.views import MultiView
from manyview.graphs.early_fusion import joint_graph
from manyview.graphs.edge_overlap import confirmed_shares
from manyview.graphs.normalization import renormalize
from manyview.graphs.prepare import PreparedViews, prepare_views
from manyview.network.mgcn_dns import NetworkInputs, lay_graphs, network_inputs
from manyview.system.progress import tell

N_KEPT = 4  # grounds kept at once; each holds a copy of the features


@dataclass(frozen=True)
class Ground:
    """Scaled views with their graphs, laid out for the network.

    Attributes
    ----------
    view_graphs
        Each view's renormalised graph.
    input_scaling
        None where all views are graphs.
    inputs
        Of a network over the views' graphs.
    joint_graph
        Neighbours in all views together, renormalised; None where it was not wanted, or where
        fewer than two views have features.
    teacher_inputs
        Of a network that teaches: over the views' graphs and, as the last, the joint graph.
    """

    prepared: PreparedViews
    view_graphs: list[sparse.csr_array]
    input_scaling: InputScaling | None
    inputs: NetworkInputs
    joint_graph: sparse.csr_array | None
    teacher_inputs: NetworkInputs

    @property
    def graphs(self) -> list[sparse.csr_array]:
        """All graphs that teachers have, in the order of their fusion."""
        return [*self.view_graphs, *([] if self.joint_graph is None else [self.joint_graph])]


def lay_ground(
    views: MultiView, device: torch.device, *, joint: bool = False, **settings: Any
) -> Ground:
    """Scale the views and build their graphs; `settings` are those of `prepare_views`.

    `joint` asks for the graph of all views together, too.
    """
    prepared = prepare_views(views, **settings)
    view_graphs = prepared.renormalized()
    features = list(prepared.features.values())
    present = prepared.present_features()
    input_scaling = fit_input(features, present) if features else None
    inputs = network_inputs(view_graphs, features, input_scaling, device, present)
    if not joint or input_scaling is None or len(features) == 1:
        return Ground(prepared, view_graphs, input_scaling, inputs, None, inputs)
    settings.pop("scaling")
    is_feature = [name in prepared.features for name in prepared.graphs]
    view_shares = confirmed_shares(view_graphs)[is_feature]
    found = joint_graph(features, input_scaling, present, view_shares, **settings)
    has_features = None if present is None else np.any(present, axis=1)
    together = renormalize(found, has_features)
    support, weights = lay_graphs([*view_graphs, together])
    teacher_inputs = inputs._replace(support=support.to(device), view_weights=weights.to(device))
    return Ground(prepared, view_graphs, input_scaling, inputs, together, teacher_inputs)


def tell_recalls(recalls: Mapping[str, float]) -> None:
    """Say how many of the true neighbours were found in each view, where not all were."""
    if min(recalls.values(), default=1.0) < 1:
        found = ", ".join(f"{share:.1%} in {view}" for view, share in recalls.items())
        tell(f"true neighbours found: {found}")


def shared_ground(
    shared: dict[Any, Any] | None, views: MultiView, device: torch.device, **settings: Any
) -> Ground:
    """Take the ground from what fits on the same samples share, or lay it and leave it there.

    Only the last few are kept. `shared` must belong to these very views; where it is None, nothing
    is shared.
    """
    if shared is None:
        return lay_ground(views, device, **settings)
    kept = shared.setdefault("grounds", {})
    key = repr((str(device), sorted(settings.items())))
    ground: Ground = kept.pop(key, None) or lay_ground(views, device, **settings)
    kept[key] = ground  # last used, last dropped
    while len(kept) > N_KEPT:
        kept.pop(next(iter(kept)))
    return ground
