"""Convert views and fitted models to PyTorch Geometric's `Data`, and `Data` to views."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from manyview.data.checksums import views_checksum
from manyview.data.dataset import Dataset
from manyview.data.encoding import encode_views, fit_encoders
from manyview.data.io.reading import import_extra
from manyview.data.label_values import describe_labels
from manyview.data.labels import UNKNOWN, check_labels
from manyview.data.views import MultiView, View, check_views
from manyview.errors import InputError, InputTypeError
from manyview.validation import check_choice

NODES = "sample"  # node type of a `HeteroData` from `to_pyg`
FEATURES, PRESENT = "x_", "has_"  # prefixes of view names


def to_pyg(source: Any, labels: Any = None) -> Any:
    """Convert views, or a fitted model, to a `torch_geometric` `Data` or `HeteroData`.

    From views: one feature view becomes `x`, several become `x_<name>`, in float32. If samples
    lack a view, their rows are zeros and the mask `has_<name>` marks the samples that have it. A
    precomputed graph becomes `edge_index` with `edge_weight`; several graphs give a `HeteroData`
    with one edge type each.

    From a fitted model: a `Data` for any network. `x` is the input of the model's network (the
    scaled views side by side), `edge_index` with `edge_weight` is the selected graph, and
    `probabilities` are the predictions.

    Parameters
    ----------
    source
        Input of `MultiView`, or a fitted method that has a graph.
    labels
        One label per sample, -1 or None where unknown; only for views. They become `y` (class
        numbers, -1 where unknown), `train_mask` and `classes`. A model uses those of its fit.
    """
    library = import_extra("torch_geometric", "to_pyg", "pyg").data
    if isinstance(source, ClassifierMixin):
        if labels is not None:
            raise InputError("labels are for views; a fitted model uses those of its fit.")
        return _from_model(source, library)
    views = source if isinstance(source, MultiView) else MultiView(source)
    views = check_views(
        encode_views(views, fit_encoders(views)), way_out="Fill or remove these rows."
    )
    graphs = [name for name in views.names if name in views.graph_names]
    data = library.Data() if len(graphs) < 2 else library.HeteroData()
    nodes = data if len(graphs) < 2 else data[NODES]
    nodes.num_nodes = len(views)
    for name in views.feature_names:
        is_alone = len(views.feature_names) == 1
        values = _dense(views[name])
        if views.rows_with(name) is not None:
            present = torch.from_numpy(views.present[:, views.names.index(name)].copy())
            values[~present] = 0
            nodes[f"{PRESENT}{'x' if is_alone else name}"] = present
        nodes["x" if is_alone else f"{FEATURES}{name}"] = values
    for name in graphs:
        edges = data if len(graphs) == 1 else data[NODES, name, NODES]
        edges.edge_index, edges.edge_weight = _edges(views[name][:, views.positions])
    if labels is not None:
        classes, y_encoded = check_labels(labels, len(views))
        _put_labels(nodes, classes, y_encoded)
    return data


def from_pyg(
    data: Any, *, node_type: str | None = None, label_mask: str | None = "train_mask"
) -> Dataset:
    """Convert a `torch_geometric` `Data` or `HeteroData` to views and labels.

    `x`, and every attribute that begins with `x_`, becomes a feature view. Every `edge_index`
    becomes a graph, weighted by `edge_weight` or by an `edge_attr` of one column. Labels are `y`,
    -1 where `label_mask` is False.

    Parameters
    ----------
    data
        A graph with features of all nodes.
    node_type
        Node type of a `HeteroData` to label; None takes the one that has `y`. Edges to nodes of
        other types are left out.
    label_mask
        Name of the mask of known labels; None takes every label as known.
    """
    library = import_extra("torch_geometric", "from_pyg", "pyg").data
    if not isinstance(data, (library.Data, library.HeteroData)):
        raise InputTypeError(
            f"data must be a Data or HeteroData of torch_geometric; got {type(data).__name__}."
        )
    chosen = _chosen_type(data, node_type) if isinstance(data, library.HeteroData) else None
    nodes = data if chosen is None else data[chosen]
    features = dict(_features(nodes))
    if not features:
        raise InputError(
            "data must have features, x of shape [node, feature]; it has "
            f"{', '.join(data.keys()) or 'nothing'}. Set data.x, or pass the graph alone to "
            "MultiView, as a view named in graphs=."
        )
    n_nodes = next(iter(features.values())).shape[0]
    notes: list[str] = []
    graphs = {
        name: _graph(store, n_nodes) for name, store in _edge_stores(data, chosen, notes).items()
    }
    present = {
        name: nodes[f"{PRESENT}{name}"].cpu().numpy()
        for name in features
        if f"{PRESENT}{name}" in nodes
    }
    views = check_views(MultiView({**features, **graphs}, graphs=graphs, present=present or None))
    labels = _labels(nodes, label_mask, notes)
    about = "no labels found" if labels is None else describe_labels(labels, "y")
    sizes = ", ".join(
        f"{name}: {'graph' if name in graphs else view.shape[1]}" for name, view in views.items()
    )
    return Dataset(
        name=type(data).__name__,
        views=views,
        labels=labels,
        sample_ids=np.array([str(row) for row in range(len(views))]),
        notes=(f"{len(views)} nodes ({sizes}); {about}.", *notes),
        sha256=views_checksum(views),
    )


def _from_model(model: Any, library: Any) -> Any:
    check_is_fitted(model)
    graph = model.selected_graph_
    if graph is None:
        raise InputError(
            f"to_pyg needs a model with a graph; {model.card.title} learns none. Pass its views."
        )
    edge_index, edge_weight = _edges(graph)
    data = library.Data(edge_index=edge_index, edge_weight=edge_weight, num_nodes=graph.shape[0])
    if model.inductive_state_.input_scaling is not None:
        data.x = _network_input(model)
    data.probabilities = torch.from_numpy(model.label_distributions_.astype(np.float32))
    _put_labels(data, model.classes_, model.y_)
    return data


def _network_input(model: Any) -> Tensor:
    """Return the scaled views side by side, centered: [node, feature]."""
    state, scaling = model.inductive_state_, model.inductive_state_.input_scaling
    indexes = [state.indexes[name] for name in model.scaling_]  # of the feature views
    scaled = [index.features for index in indexes]
    present = np.column_stack([index.degrees > 0 for index in indexes])
    weights, means = scaling.row_centers(scaled, present)
    return _dense(scaling(scaled, present)) - _dense(weights @ means)


def _put_labels(nodes: Any, classes: np.ndarray, y_encoded: np.ndarray) -> None:
    nodes.y = torch.from_numpy(y_encoded.astype(np.int64))
    nodes.train_mask = nodes.y != UNKNOWN
    nodes.classes = classes.tolist()


def _dense(view: View) -> Tensor:
    values = view.toarray() if isinstance(view, sparse.csr_array) else np.array(view)
    return torch.from_numpy(values.astype(np.float32))


def _edges(graph: Any) -> tuple[Tensor, Tensor]:
    edges = sparse.coo_array(graph)
    ends = np.stack([edges.row, edges.col]).astype(np.int64)
    return torch.from_numpy(ends), torch.from_numpy(edges.data.astype(np.float32))


def _chosen_type(data: Any, node_type: str | None) -> str:
    """Return the type of the nodes to label."""
    types = list(data.node_types)
    if node_type is not None:
        check_choice("node_type", node_type, types)
        return node_type
    chosen = [one for one in types if "y" in data[one]] or types
    if len(chosen) != 1:
        raise InputError(
            f"data has nodes of {len(types)} types, {', '.join(types)}. Pass node_type= to choose "
            "the nodes to label."
        )
    return str(chosen[0])


def _features(nodes: Any) -> Iterator[tuple[str, View]]:
    for name, value in nodes.to_dict().items():
        if (name == "x" or name.startswith(FEATURES)) and isinstance(value, Tensor):
            yield name.removeprefix(FEATURES), _matrix(value, name)


def _matrix(value: Tensor, name: str) -> View:
    if value.layout != torch.strided:
        coo = value.detach().cpu().to_sparse_coo().coalesce()
        ends = tuple(coo.indices().numpy())
        return sparse.csr_array((coo.values().numpy(), ends), shape=tuple(coo.shape))
    if value.ndim != 2:
        raise InputError(f"{name} must be [node, feature]; got shape {tuple(value.shape)}.")
    return np.asarray(value.detach().cpu().numpy())


def _edge_stores(data: Any, chosen: str | None, notes: list[str]) -> dict[str, Any]:
    """Return the graphs between nodes of the chosen type, by edge type."""
    if chosen is None:
        if "adj_t" in data:
            raise InputError(
                "data must have edge_index; got adj_t. Leave out the transform ToSparseTensor."
            )
        return {} if data.edge_index is None else {"graph": data}
    stores = {}
    for before, relation, after in data.edge_types:
        if before == after == chosen:
            stores[relation] = data[before, relation, after]
        else:
            notes.append(f"Edges {before} - {relation} - {after} are not used.")
    return stores


def _graph(store: Any, n_nodes: int) -> sparse.csr_array:
    rows, columns = store.edge_index.cpu().numpy()
    held = store.to_dict()
    weights, attributes = held.get("edge_weight"), held.get("edge_attr")
    if weights is None and attributes is not None and attributes.numel() == len(rows):
        weights = attributes.reshape(-1)
    if weights is None:
        values = np.ones(len(rows), dtype=np.float32)
    else:
        values = weights.detach().cpu().numpy()
    graph = sparse.csr_array((values, (rows, columns)), shape=(n_nodes, n_nodes))
    if weights is None:
        graph.data[:] = 1  # a repeated edge is one edge
    return graph


def _labels(nodes: Any, label_mask: str | None, notes: list[str]) -> np.ndarray | None:
    if "y" not in nodes:
        return None
    labels: np.ndarray = nodes["y"].detach().cpu().numpy()
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InputError(
            f"y must hold one class number per node; got {labels.dtype} of shape {labels.shape}."
        )
    labels = labels.astype(np.int64)
    if label_mask is None:
        return labels
    if label_mask not in nodes:
        notes.append(f"There is no {label_mask}, so every label is known.")
        return labels
    mask = nodes[label_mask].cpu().numpy()
    if mask.shape != labels.shape:
        raise InputError(
            f"{label_mask} must hold one boolean per node; got shape {mask.shape} for "
            f"{len(labels)} nodes. Choose one of several splits first."
        )
    return np.where(mask, labels, UNKNOWN)
