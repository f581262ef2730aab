"""Write predictions, probabilities, embedding and graph into a MuData or AnnData."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from manyview.data.annotated import is_annotated, reindex_rows, row_positions
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
    """Write the results of a model into the MuData or AnnData it was fitted on.

    Every name begins with the prefix; nothing else changes.

    - `.obs`: `manyview_label`, the predicted category, also for labeled observations;
      `manyview_probability` of that prediction; `manyview_labeled`, whether a label was known;
      `manyview_confidence` of the node, if the method selects nodes.
    - `.obsm`: `manyview_probabilities` [observation, class], and `manyview_embedding`, the hidden
      features, if the method is a transformer.
    - `.obsp`: `manyview_graph`, the selected graph, if the method has one.
    - `.uns["manyview"]`: the method, the classes, the views and their importance.

    Parameters
    ----------
    data
        The data that the model was fitted on.
    model
        Any fitted method.
    sample_ids
        Names of the fitted samples, as in `Dataset.sample_ids`. Needed if these are not all
        observations in order; the others stay blank.
    min_probability
        Labels predicted with a lower probability are left blank.
    prefix
        Start of every name.
    """
    if not is_annotated(data):
        raise InputError(f"data must be a MuData or an AnnData; got {type(data).__name__}.")
    check_is_fitted(model)
    check_fraction("min_probability", min_probability)
    rows = _fitted_rows(data, len(model.label_distributions_), sample_ids)
    from pandas import Categorical  # a dependency of anndata and mudata

    probabilities = model.label_distributions_
    largest = probabilities.max(axis=1)
    y_encoded = np.where(largest < min_probability, -1, probabilities.argmax(axis=1))
    y_encoded = np.where(rows >= 0, y_encoded[rows], -1)
    data.obs[f"{prefix}_label"] = Categorical.from_codes(y_encoded, model.classes_.tolist())
    data.obs[f"{prefix}_probability"] = _reindexed(largest, rows)
    data.obs[f"{prefix}_labeled"] = model.is_labeled_[rows] & (rows >= 0)
    if model.node_confidence_ is not None:
        data.obs[f"{prefix}_confidence"] = _reindexed(model.node_confidence_, rows)
    data.obsm[f"{prefix}_probabilities"] = _reindexed(probabilities, rows)
    if isinstance(model, TransformerMixin):
        data.obsm[f"{prefix}_embedding"] = _reindexed(model.embedding_, rows)
    if model.selected_graph_ is not None:
        graph = reindex_rows(model.selected_graph_, rows, is_graph=True)
        data.obsp[f"{prefix}_graph"] = sparse.csr_matrix(graph)
    data.uns[prefix] = {
        "method": model.card.name,
        "classes": np.array(model.classes_.tolist()),
        "views": np.array(model.view_names_),
    }
    if model.view_importance_ is not None:
        data.uns[prefix]["view_importance"] = model.view_importance_


def _fitted_rows(data: Any, n_fitted: int, sample_ids: Sequence[str] | None) -> np.ndarray:
    """Return the row in the fit of each observation; -1 for those that were not fitted."""
    names = [str(name) for name in data.obs_names]
    if sample_ids is None:
        if len(names) != n_fitted:
            raise InputError(
                f"data must hold the observations of the fit; the model was fitted on {n_fitted}, "
                f"the data has {len(names)}. Pass sample_ids= to name the fitted ones."
            )
        return np.arange(n_fitted)
    if len(sample_ids) != n_fitted:
        raise InputError(
            f"sample_ids must name the {n_fitted} fitted samples; got {len(sample_ids)} names."
        )
    rows = row_positions([str(name) for name in sample_ids], names, "sample_ids")
    n_found = int((rows >= 0).sum())
    if n_found != n_fitted:
        raise InputError(
            f"sample_ids must name observations of the data; {n_fitted - n_found} of {n_fitted} "
            "are not among them."
        )
    return rows


def _reindexed(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return one row per observation, NaN for those that were not fitted."""
    taken = values[rows]
    if (rows < 0).any():
        taken[rows < 0] = np.nan
    return np.asarray(taken)
