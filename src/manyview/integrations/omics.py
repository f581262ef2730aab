"""Results written back into a MuData or AnnData: labels, probabilities, places and the graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from manyview.data.annotated import in_order, is_annotated, rows_in
from manyview.errors import InputError
from manyview.validation import check_fraction


def annotate(
    data: Any,
    model: Any,
    *,
    sample_ids: Sequence[str] | None = None,
    min_probability: float = 0.0,
    prefix: str = "manyview",
) -> None:
    """Write what a model found into the MuData or AnnData it was fitted on.

    Every name begins with the prefix; nothing else is touched.

    - `.obs`: `manyview_label`, a category, the method's prediction also where a label was given;
      `manyview_probability` of that prediction; `manyview_labeled`, whether a label was given;
      `manyview_confidence` of the sample's place in the graph, where the method has one.
    - `.obsm`: `manyview_probabilities` [observation, class], and `manyview_embedding`, the hidden
      features, where the method has them.
    - `.obsp`: `manyview_graph`, the edges the method kept, where it has a graph.
    - `.uns["manyview"]`: the method, the classes, and how much each view counted.

    Parameters
    ----------
    data
        What the model was fitted on.
    model
        Any fitted method.
    sample_ids
        Names of the fitted samples, as `read_views` gives them, where they are not all of the
        observations in their order; the others are left blank.
    min_probability
        Predictions below this are left blank.
    """
    if not is_annotated(data):
        raise InputError(f"data must be a MuData or an AnnData; got {type(data).__name__}.")
    check_is_fitted(model)
    check_fraction("min_probability", min_probability)
    rows = _fitted_rows(data, len(model.label_distributions_), sample_ids)
    from pandas import Categorical  # both kinds of data stand on it

    probabilities = model.label_distributions_
    surest = probabilities.max(axis=1)
    y_encoded = np.where(surest < min_probability, -1, probabilities.argmax(axis=1))
    y_encoded = np.where(rows >= 0, y_encoded[rows], -1)
    data.obs[f"{prefix}_label"] = Categorical.from_codes(y_encoded, model.classes_.tolist())
    data.obs[f"{prefix}_probability"] = _laid_out(surest, rows)
    data.obs[f"{prefix}_labeled"] = model.is_labeled_[rows] & (rows >= 0)
    confidence = getattr(model, "node_confidence_", None)
    if confidence is not None:
        data.obs[f"{prefix}_confidence"] = _laid_out(confidence, rows)
    data.obsm[f"{prefix}_probabilities"] = _laid_out(probabilities, rows)
    embedding = getattr(model, "embedding_", None)
    if embedding is not None:
        data.obsm[f"{prefix}_embedding"] = _laid_out(embedding, rows)
    graph = getattr(model, "selected_graph_", None)
    if graph is not None:
        data.obsp[f"{prefix}_graph"] = sparse.csr_matrix(in_order(graph, rows, is_graph=True))
    data.uns[prefix] = _summary(model)


def _fitted_rows(data: Any, n_fitted: int, sample_ids: Sequence[str] | None) -> np.ndarray:
    """Find the row of the fit for each observation; -1 for those that were not in it."""
    names = [str(name) for name in data.obs_names]
    if sample_ids is None:
        if len(names) != n_fitted:
            raise InputError(
                f"data must hold the observations of the fit: the model was fitted on {n_fitted}, "
                f"the data hold {len(names)}. Pass sample_ids= to say which were fitted."
            )
        return np.arange(n_fitted)
    if len(sample_ids) != n_fitted:
        raise InputError(
            f"sample_ids must name the {n_fitted} fitted samples; got {len(sample_ids)} names."
        )
    rows = rows_in([str(name) for name in sample_ids], names, "sample_ids")
    n_found = int((rows >= 0).sum())
    if n_found != n_fitted:
        raise InputError(
            f"sample_ids must name observations of the data; {n_fitted - n_found} of {n_fitted} "
            "are not among them."
        )
    return rows


def _laid_out(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Give each observation its row, NaN for those that were not fitted."""
    laid = values[rows]
    if (rows < 0).any():
        laid[rows < 0] = np.nan
    return np.asarray(laid)


def _summary(model: Any) -> dict[str, Any]:
    importance = getattr(model, "view_importance_", None)
    return {
        "method": model.card.name,
        "classes": np.array(model.classes_.tolist()),
        "views": np.array(model.view_names_),
        **({} if importance is None else {"view_importance": importance}),
    }
