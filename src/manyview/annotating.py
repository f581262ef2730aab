"""Results written back into a MuData or AnnData: labels, probabilities, places and the graph."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from manyview.data.annotated import is_annotated
from manyview.errors import InputError
from manyview.parameters import check_share


def annotate(
    data: Any, model: Any, *, min_probability: float = 0.0, prefix: str = "manyview"
) -> None:
    """Write what a model found into the MuData or AnnData it was fitted on.

    Every name begins with the prefix; nothing else is touched.

    - `.obs`: `manyview_label`, a category, the method's answer also where a label was given;
      `manyview_probability` of that answer; `manyview_labeled`, whether a label was given;
      `manyview_confidence` of the sample's place in the graph, where the method has one.
    - `.obsm`: `manyview_probabilities` [observation, class], and `manyview_embedding`, the hidden
      features, where the method has them.
    - `.obsp`: `manyview_graph`, the edges the method kept, where it has a graph.
    - `.uns["manyview"]`: the method, the classes, and how much each view counted.

    Parameters
    ----------
    data
        What the model was fitted on, with its observations in the same order.
    model
        Any fitted method.
    min_probability
        Answers below this are left blank.
    """
    if not is_annotated(data):
        raise InputError(f"data must be a MuData or an AnnData; got {type(data).__name__}.")
    check_is_fitted(model)
    n_fitted = len(model.label_distributions_)
    if len(data.obs_names) != n_fitted:
        raise InputError(
            f"data must hold the observations of the fit: the model was fitted on {n_fitted}, "
            f"the data hold {len(data.obs_names)}."
        )
    from pandas import Categorical  # both kinds of data stand on it

    check_share("min_probability", min_probability)
    probabilities = model.label_distributions_
    surest = probabilities.max(axis=1)
    codes = np.where(surest < min_probability, -1, probabilities.argmax(axis=1))
    data.obs[f"{prefix}_label"] = Categorical.from_codes(codes, model.classes_.tolist())
    data.obs[f"{prefix}_probability"] = surest
    data.obs[f"{prefix}_labeled"] = model.is_labeled_
    confidence = getattr(model, "node_confidence_", None)
    if confidence is not None:
        data.obs[f"{prefix}_confidence"] = confidence
    data.obsm[f"{prefix}_probabilities"] = probabilities
    embedding = getattr(model, "embedding_", None)
    if embedding is not None:
        data.obsm[f"{prefix}_embedding"] = embedding
    graph = getattr(model, "selected_graph_", None)
    if graph is not None:
        data.obsp[f"{prefix}_graph"] = sparse.csr_matrix(graph)
    data.uns[prefix] = _summary(model)


def _summary(model: Any) -> dict[str, Any]:
    importance = getattr(model, "view_importance_", None)
    return {
        "method": model.card.name,
        "classes": np.array(model.classes_.tolist()),
        "views": np.array(model.view_names_),
        **({} if importance is None else {"view_importance": importance}),
    }
