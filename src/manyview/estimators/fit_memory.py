"""An estimate of the memory that a fit needs, checked before it starts."""

from dataclasses import dataclass
from typing import Any

from manyview.data.views import MultiView
from manyview.distributed.launch import n_members_here
from manyview.distributed.world import world
from manyview.system.config import get_config
from manyview.system.memory import GB, check_memory
from manyview.system.progress import show_message

BASE = 60e6  # bytes of the blocks of the search, and torch's own


@dataclass(frozen=True)
class Costs:
    """Bytes that parts of a fit take, from measured peaks.

    Attributes
    ----------
    edge
        Support, gates, Adam's moments, gradients and the graphs of the fitted model.
    edge_view
        Each graph, renormalized and laid on the support.
    sample_input
        A value of the scaled views and of the network's input.
    sample_joint
        A value of the views side by side, centered, while neighbors are searched.
    sample_hidden
        A hidden value, its gradient, and what dropout keeps.
    sample_neighbor
        Indices, distances and candidates of one view's search.
    sample_block
        A sample's part of copies of blocks, and of freed memory that the process still holds.
    most_blocks
        All of these at most: blocks have a largest size, and larger arrays are given back.
    """

    edge: float
    edge_view: float
    sample_input: float
    sample_joint: float
    sample_hidden: float
    sample_neighbor: float
    sample_block: float = 0.0
    most_blocks: float = 0.0


IN_MEMORY = Costs(70, 25, 8, 4, 24, 100)
# With a `scratch_dir`. From 30,000, 300,000 and 5,000,000 samples (benchmarks `processes` and
# `five-million`).
WITH_SCRATCH = Costs(30, 3, 1, 2, 16, 20, sample_block=2000, most_blocks=650e6)


def memory_of_fit(
    views: MultiView,
    *,
    n_neighbors: int,
    n_classes: int,
    hidden: int,
    n_layers: int,
    graph_learning: str | None,
    early_fusion: bool = False,
) -> float:
    """Estimate the memory that `fit` takes beyond the views it is given, in GB.

    Edges are counted as if no two views shared any, and each sample had 1.4 times its number of
    neighbors in the union of both directions. `early_fusion` is one more, of all views
    together.

    Examples
    --------
    >>> import numpy as np
    >>> views = MultiView({"a": np.zeros((1000, 5)), "b": np.zeros((1000, 5))})
    >>> settings = {"n_neighbors": 10, "n_classes": 3, "hidden": 64, "n_layers": 2}
    >>> memory_of_fit(views, **settings, graph_learning="edge") < 1
    True
    >>> memory_of_fit(views[[0] * 200_000], **settings, graph_learning="full") > 1000
    True
    """
    n_samples = len(views)
    n_values = sum(
        min(n_samples * views[name].shape[1], 3 * _stored(views, name))
        for name in views.feature_names
    )
    n_edges_by_view = [
        views[name].nnz
        if name in views.graph_names and hasattr(views[name], "nnz")
        else min(1.4 * n_neighbors, n_samples) * n_samples
        for name in views.names
    ]
    n_edges = min(sum(n_edges_by_view) + n_samples, n_samples**2)
    if early_fusion and len(views.feature_names) > 1:  # freed before the last network is trained
        n_edges_by_view.append(min(1.4 * n_neighbors, n_samples) * n_samples)
    needed = bytes_of_parts(
        IN_MEMORY if get_config().scratch_dir is None else WITH_SCRATCH,
        n_samples,
        n_values=n_values,
        n_edges=n_edges,
        n_graph_edges=sum(n_edges_by_view),
        n_hidden=hidden * (n_layers - 1) + n_classes,
        n_neighbors=n_neighbors,
        early_fusion=early_fusion,
    )
    if graph_learning == "full":  # two factors, their gradients and Adam's moments
        needed += 8 * 4 * n_samples**2
    return float(needed / GB)


def bytes_of_parts(
    costs: Costs,
    n_samples: int,
    *,
    n_values: float,
    n_edges: float,
    n_graph_edges: float,
    n_hidden: int,
    n_neighbors: int,
    early_fusion: bool,
) -> float:
    """Add up the bytes of the parts of a fit.

    Parameters
    ----------
    n_values
        In all views.
    n_edges, n_graph_edges
        Of the support, and of all graphs together.
    n_hidden
        Values per sample in all layers, the logits among them.
    """
    needed = BASE + costs.edge * n_edges + costs.edge_view * n_graph_edges
    needed += (costs.sample_input + costs.sample_joint * early_fusion) * n_values
    needed += costs.sample_hidden * n_samples * n_hidden
    needed += costs.sample_neighbor * n_samples * n_neighbors
    return needed + min(costs.sample_block * n_samples, costs.most_blocks)


def check_fit_memory(views: MultiView, title: str, *, verbose: bool, **settings: Any) -> None:
    """Estimate the memory of a fit, and refuse the fit where there is less.

    Processes of this machine that share the fit need it each.

    Parameters
    ----------
    title
        Of the method.
    verbose
        Whether to show the estimate.
    settings
        Those of `memory_of_fit`.
    """
    n_processes = n_members_here() if world().is_shared else 1
    needed = n_processes * memory_of_fit(views, **settings)
    what = f"{title} on {len(views):,} samples in {views.n_views} views"
    if n_processes > 1:
        what += f" in {n_processes} processes"
    if verbose:
        show_message(f"{what} needs about {needed:.1f} GB of memory in addition to the data")
    way_out = "Lower n_neighbors or hidden"
    if get_config().scratch_dir is None:
        way_out += ", set scratch_dir"
    if settings["graph_learning"] == "full":
        way_out = "Use graph_learning='edge'"
    check_memory(needed, what, way_out)


def _stored(views: MultiView, name: str) -> int:
    view = views[name]
    return int(view.nnz if hasattr(view, "nnz") else view.size)
