"""Check a model that was read from a file before anyone uses it.

The checksums of a model file find damage, not intent: whoever changes a model can compute them
again. So what is read is checked for what it claims to be. Parameters obey their rules, learned
arrays have the sizes that the number of samples and classes asks for, no index points outside,
and the model labels two made-up samples. A model with other weights that passes is another model.
"""

import re
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from manyview.base.parameters import NestedParameters, ParameterGroup
from manyview.data.column_kinds import DATE, NUMBER
from manyview.data.encoding import TableEncoder
from manyview.data.labels import UNKNOWN
from manyview.data.mixed_table import MixedTable
from manyview.data.sparse_format import check_view_size
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.validation import check_constraints

LEARNED_NAME = re.compile(r"[a-z][a-z0-9_]*_")
SUM_TOLERANCE = 1e-3  # of the probabilities of a sample, which may be in single precision


def set_learned(model: Any, learned: dict[str, Any]) -> None:
    """Set the learned attributes; refuse names that are a method's or a property's."""
    for name, value in learned.items():
        if not isinstance(name, str) or LEARNED_NAME.fullmatch(name) is None:
            raise ValueError(f"{name!r} is not the name of a learned attribute")
        known = getattr(type(model), name, None)
        if callable(known) or isinstance(known, property):
            raise ValueError(f"{name!r} is not learned")
        setattr(model, name, value)


def check_model(model: Any) -> None:
    """Refuse a model whose parameters or learned attributes do not fit together.

    Raises any exception; the caller makes one error of it.
    """
    check_constraints(model.get_params(deep=False), model._parameter_constraints)
    if isinstance(model, NestedParameters):
        for name in model._parameter_groups:
            group = model.parameter_group(name)
            if isinstance(group, ParameterGroup):
                group.check(name)
    _check_labels(model)
    _check_views(model)
    _check_graphs(model)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model.fit_summary()
        model.check_learned()
        if model.is_inductive():
            _rehearse(model.rehearsal_model())


def _check_labels(model: Any) -> None:
    classes, distributions = model.classes_, model.label_distributions_
    for name in ("classes_", "label_distributions_", "y_", "transduction_"):
        if not isinstance(getattr(model, name), np.ndarray):
            raise ValueError(f"{name} must be an array")
    if classes.ndim != 1 or len(np.unique(classes)) != len(classes) or len(classes) < 2:
        raise ValueError("classes_ must hold at least two different classes")
    if distributions.ndim != 2 or distributions.dtype.kind != "f" or not len(distributions):
        raise ValueError("label_distributions_ must hold numbers [sample, class]")
    n_samples, n_classes = distributions.shape
    if n_classes != len(classes):
        raise ValueError(f"label_distributions_ has {n_classes} classes, classes_ {len(classes)}")
    if not (np.abs(distributions.sum(axis=1) - 1) < SUM_TOLERANCE).all() or distributions.min() < 0:
        raise ValueError("label_distributions_ must hold probabilities")
    if model.transduction_.shape != (n_samples,):
        raise ValueError(f"transduction_ must have {n_samples} labels")
    if not np.array_equal(model.transduction_, classes[distributions.argmax(axis=1)]):
        raise ValueError("transduction_ must hold the most likely class of each sample")
    if model.y_.shape != (n_samples,) or model.y_.dtype.kind != "i":
        raise ValueError(f"y_ must hold {n_samples} class numbers")
    if model.y_.min() < UNKNOWN or model.y_.max() >= n_classes:
        raise ValueError(f"y_ must hold numbers from -1 to {n_classes - 1}")
    ids = model.sample_ids_
    if ids is not None and (not isinstance(ids, np.ndarray) or ids.shape != (n_samples,)):
        raise ValueError(f"sample_ids_ must name {n_samples} samples")


def _check_views(model: Any) -> None:
    names, sizes, columns = model.view_names_, model.n_features_by_view_, model.columns_
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not texts or not names or len(set(names)) != len(names):
        raise ValueError("view_names_ must name the views")
    if not isinstance(sizes, dict) or not set(sizes) <= set(names):
        raise ValueError("n_features_by_view_ must have the names of views")
    counts = [*sizes.values(), model.n_original_]
    if not all(type(count) is int and count > 0 for count in counts):
        raise ValueError("numbers of features and samples must be whole numbers above 0")
    if not isinstance(columns, dict) or not set(columns) <= set(names):
        raise ValueError("columns_ must have the names of views")
    for name, own in columns.items():
        if not isinstance(own, list) or len(own) != sizes.get(name, len(own)):
            raise ValueError(f"columns_ must name the columns of {name!r}")


def _check_graphs(model: Any) -> None:
    """Refuse graphs of another size, and indexes of samples that point outside."""
    n_samples = len(model.label_distributions_)
    graphs = {name: value for name, value in vars(model).items() if name.endswith("_graph_")}
    graphs |= {"edge_gates_": getattr(model, "edge_gates_", None)}
    of_views = model.view_graphs_ if isinstance(model.view_graphs_, list) else []
    graphs |= {f"view_graphs_[{number}]": graph for number, graph in enumerate(of_views)}
    for name, graph in graphs.items():
        if graph is None:
            continue
        if not isinstance(graph, (np.ndarray, sparse.csr_array)):
            raise ValueError(f"{name} must be a graph")
        if graph.shape != (n_samples, n_samples):
            raise ValueError(f"{name} must have {n_samples} rows and columns; got {graph.shape}")


def _made_up_table(encoder: TableEncoder) -> MixedTable:
    """Return a table of two samples with a cell of the right kind in each column."""
    cells = {
        NUMBER: np.array([0.0, 1.0]),
        DATE: np.array(["2020-01-01", "2021-06-30"], dtype="datetime64[us]"),
    }
    texts = np.array(["a", "b"], dtype=object)
    columns = [cells.get(kind, texts) for kind in encoder.kinds.values()]
    return MixedTable(tuple(map(str, encoder.names)), tuple(columns))


def _rehearse(model: Any) -> None:
    """Label two made-up samples, one of zeros and one of ones: dense, sparse, and incomplete."""
    sizes = model.n_features_by_view_
    views: dict[str, Any] = {}
    encoders = model.encoders_ or {}
    for name in model.view_names_:
        check_view_size((2, sizes.get(name, model.n_original_)))
        if name in encoders:
            views[name] = _made_up_table(encoders[name])
        elif name in sizes:
            views[name] = np.vstack([np.zeros(sizes[name]), np.ones(sizes[name])])
        else:
            views[name] = sparse.csr_array((2, model.n_original_))
    columns = {
        name: tuple(map(str, own)) for name, own in model.columns_.items() if name not in encoders
    }
    graphs = [name for name in views if name not in sizes]
    thinned = {
        name: view if name in encoders else sparse.csr_array(view) for name, view in views.items()
    }
    made_up = [MultiView(made, graphs=graphs, columns=columns) for made in (views, thinned)]
    if model.takes_missing_views and len(views) > 1:
        present = np.ones((2, len(views)), dtype=bool)
        present[0, 0] = present[1, -1] = False
        made_up.append(MultiView(made_up[0], present=present))
    for samples in made_up:
        predicted = np.asarray(model.predict_proba(samples))
        if predicted.shape != (2, len(model.classes_)) or not np.isfinite(predicted).all():
            raise InputError("the model gives no probabilities")
