"""Prepared views: every view scaled, with its graph."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from manyview.data.labels import UNKNOWN
from manyview.data.scaling import (
    SCALINGS,
    Scaling,
    ViewScaler,
    fit_scalers,
    scale_views,
    scaling_by_view,
)
from manyview.data.views import MultiView, View
from manyview.distributed.world import ALONE, World
from manyview.errors import InputError
from manyview.graphs.cached_neighbors import cached_neighbors
from manyview.graphs.knn_graph import neighbor_graph
from manyview.graphs.normalization import renormalize
from manyview.graphs.precomputed import precomputed_graph
from manyview.graphs.scaling_choice import AUTO, choose_scalings
from manyview.system.scratch import on_disk
from manyview.validation import check_choice, check_whole_number

MANY_SAMPLES = 100_000  # beyond, an automatic k falls


@dataclass(frozen=True)
class PreparedViews:
    """The views of a fit, in their order."""

    scalings: dict[str, str]  # name of each feature view's scaling (see `fit_scaler`)
    # scaler of each feature view, and the scaled view; zeros for samples without the view
    scalers: dict[str, ViewScaler]
    features: dict[str, View]
    # Graph of each view without self-loops, including precomputed graphs. Samples without the view
    # have no edges.
    graphs: dict[str, sparse.csr_array]
    # [sample] degrees in each graph, self-loops included; 0 for samples without the view
    degrees: dict[str, np.ndarray]
    # fraction of the true neighbors found in each feature view; 1 for an exact search
    recalls: dict[str, float]
    present: np.ndarray  # [sample, view] True where the sample has the view

    def renormalized(self) -> list[sparse.csr_array]:
        """Renormalize each view's graph, Eq. (2).

        A sample without the view gets no self-loop in it: a loop of weight 1 would outweigh its
        edges in other views.
        """
        return [
            on_disk(renormalize(graph, present))
            for graph, present in zip(self.graphs.values(), self.present.T, strict=True)
        ]

    def present_features(self) -> np.ndarray | None:
        """Return which samples have which feature view, [sample, view]; None if all have all."""
        present = self.present[:, self.is_feature]
        return None if present.all() else present

    @property
    def is_feature(self) -> list[bool]:
        """[view] whether it has features; otherwise it is a precomputed graph."""
        return [name in self.features for name in self.degrees]

    def without_graphs(self) -> "PreparedViews":
        """Return the same without the graphs, which take memory, once they are renormalized."""
        return replace(self, graphs={})


def prepare_views(
    views: MultiView,
    *,
    scaling: Scaling,
    n_neighbors: int,
    metric: str,
    symmetry: str = "union",
    min_common_neighbors: int = 0,
    search: str = "auto",
    seed: int = 0,
    world: World = ALONE,
) -> PreparedViews:
    """Scale every feature view and link its samples to their nearest neighbors.

    `search` is "exact", "approximate", or "auto" (see `find_neighbors`). `seed` seeds an
    approximate search and the sample of rows that `choose_scalings` compares. The processes of a
    `world`, all with the same views, divide the neighbor search, and get the same graphs.
    """
    choice = choose_scalings(
        views,
        scaling_by_view(scaling, views, (AUTO, *SCALINGS)),
        n_neighbors=n_neighbors,
        metric=metric,
        seed=seed,
        world=world,
    )
    scalings = choice.kinds
    scalers = fit_scalers(views, scalings)
    features = {name: on_disk(view) for name, view in scale_views(views, scalers).items()}
    graphs, recalls = {}, {}
    for name in views.names:
        if name in views.graph_names:
            graphs[name] = precomputed_graph(views, name)
            continue
        rows = views.rows_with(name)
        found = cached_neighbors(
            features[name] if rows is None else features[name][rows],
            n_neighbors=n_neighbors,
            metric=metric,
            search=search,
            seed=seed,
            exact=choice.neighbors.get((name, scalings[name])),
            world=world,
        )
        if rows is not None:
            found = found.among(rows, len(views))
        recalls[name] = found.recall
        graphs[name] = neighbor_graph(
            found, symmetry=symmetry, min_common_neighbors=min_common_neighbors
        )
    degrees = {
        name: np.asarray(graph.sum(axis=1)).ravel() + present
        for (name, graph), present in zip(graphs.items(), views.present.T, strict=True)
    }
    return PreparedViews(scalings, scalers, features, graphs, degrees, recalls, views.present)


def choose_n_neighbors(n_samples: int, n_classes: int, n_labeled: int) -> int:
    """Choose k so that labels are within two hops, but few samples of other classes.

    Two layers reach about k^2 samples, of which ten should be labeled: k^2 times the labeled
    fraction is 10. The result is clipped to 10 to 20, and to a third of a class's expected size
    (at least 3), because more neighbors than a class has members would link every sample to other
    classes. From 100,000 samples on the upper limit falls with their cube root, to 10 at 800,000:
    time and memory grow with the edges, and where samples are so dense, fewer neighbors do.

    Examples
    --------
    >>> choose_n_neighbors(2000, 10, n_labeled=20), choose_n_neighbors(2000, 10, n_labeled=200)
    (20, 10)
    >>> choose_n_neighbors(300_000, 10, n_labeled=3000)
    14
    >>> choose_n_neighbors(400, 40, n_labeled=40)
    3
    """
    most = np.clip(20 * (MANY_SAMPLES / n_samples) ** (1 / 3), 10, 20)
    for_labels = np.clip(np.sqrt(10 * n_samples / n_labeled), 10, most)
    for_classes = max(3.0, n_samples / (3 * n_classes))
    n_neighbors = round(float(min(for_labels, for_classes)))
    return max(1, min(n_neighbors, n_samples - 1))


def pick_n_neighbors(n_neighbors: int | str, y_encoded: np.ndarray, n_classes: int) -> int:
    """Resolve `n_neighbors`: choose it if "auto", else return it."""
    if isinstance(n_neighbors, str):
        return choose_n_neighbors(len(y_encoded), n_classes, int((y_encoded != UNKNOWN).sum()))
    return int(n_neighbors)


def check_n_neighbors(n_neighbors: object, n_samples: int, *, auto: bool = True) -> None:
    """Refuse anything but "auto" or a whole number from 1 to below the number of samples."""
    if auto and isinstance(n_neighbors, str):
        check_choice("n_neighbors", n_neighbors, ("auto",))
        return
    check_whole_number("n_neighbors", n_neighbors, at_least=1)
    if int(n_neighbors) >= n_samples:  # type: ignore[call-overload]
        raise InputError(
            "n_neighbors must be smaller than the number of samples; "
            f"got {n_neighbors} with {n_samples} samples."
        )
