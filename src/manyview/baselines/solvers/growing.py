"""Grow trees by scikit-learn, and copy their nodes into arrays (see `TreeEnsemble`)."""

import hashlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manyview.baselines.bases.concatenated import many_classes_allowed
from manyview.baselines.solvers.trees import LEAF, Nodes, TreeEnsemble, join_trees
from manyview.data.views import View
from manyview.system.memory import GB, check_memory

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier

# scikit-learn's trees are imported where they are grown: most fits and every prediction do without.

MAX_SEED = 2**32  # of scikit-learn


def grow_forest(
    features: View,
    y_encoded: np.ndarray,
    *,
    seed: int,
    class_weight: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    **settings: Any,
) -> TreeEnsemble:
    """Grow scikit-learn's random forest; its leaves hold class fractions.

    The rows are sorted by their content first, so that renumbering them changes no draw. NaNs
    are missing values. `settings` are those of `RandomForestClassifier`.
    """
    rows = _sorted_rows(features, y_encoded, sample_weight)
    return _trees_of(_forest(*rows, seed, class_weight, settings))


def grow_held_out_forest(
    features: View,
    y_encoded: np.ndarray,
    *,
    seed: int,
    class_weight: np.ndarray | None = None,
    **settings: Any,
) -> tuple[TreeEnsemble, np.ndarray]:
    """Grow the forest of `grow_forest`; return it and predictions for its own rows.

    The predictions, [row, class], are the mean fractions of the trees that did not draw a row;
    NaN for a row that every tree drew, as happens with few trees.
    """
    features = _canonical(features)
    order = _content_order(features, y_encoded)
    settings = {**settings, "oob_score": True}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        forest = _forest(features[order], y_encoded[order], None, seed, class_weight, settings)
    held_out = np.empty_like(forest.oob_decision_function_)
    held_out[order] = forest.oob_decision_function_
    held_out[held_out.sum(axis=1) == 0] = np.nan  # scikit-learn leaves zeros
    return _trees_of(forest), held_out


def _forest(
    features: View,
    y_encoded: np.ndarray,
    sample_weight: np.ndarray | None,
    seed: int,
    class_weight: np.ndarray | None,
    settings: dict[str, Any],
) -> "RandomForestClassifier":
    from sklearn.ensemble import RandomForestClassifier

    if isinstance(features, sparse.csr_array) and np.isnan(features.data).any():
        features = _dense(features)
    forest = RandomForestClassifier(
        random_state=seed % MAX_SEED, class_weight=_by_class(class_weight), **settings
    )
    with many_classes_allowed():
        return forest.fit(features, y_encoded, sample_weight)


def _trees_of(forest: "RandomForestClassifier") -> TreeEnsemble:
    return join_trees([_forest_nodes(tree.tree_) for tree in forest.estimators_])


def grow_boosting(
    features: View,
    y_encoded: np.ndarray,
    *,
    seed: int,
    class_weight: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    **settings: Any,
) -> tuple[TreeEnsemble, np.ndarray]:
    """Grow scikit-learn's gradient boosting; return its trees and the baseline [output].

    Two classes have one output, the log-odds of the second. NaNs are missing values. Columns
    without two different values cannot be split, and are left out. `settings` are those of
    `HistGradientBoostingClassifier`.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    features, y_encoded, sample_weight = _sorted_rows(features, y_encoded, sample_weight)
    varying = varying_columns(features)
    dense = _dense(features[:, varying])
    boosting = HistGradientBoostingClassifier(
        early_stopping=False,  # it hides labels, which fails where a class has one
        random_state=seed % MAX_SEED,
        class_weight=_by_class(class_weight),
        **settings,
    )
    with many_classes_allowed():
        boosting.fit(dense, y_encoded, sample_weight)
    trees = [_boosting_nodes(one.nodes, varying) for step in boosting._predictors for one in step]
    return join_trees(trees), np.asarray(boosting._baseline_prediction, np.float64).ravel()


def varying_columns(features: View) -> np.ndarray:
    """Return the columns that hold two different values, NaN being one; at least the first.

    Examples
    --------
    >>> varying_columns(np.array([[1.0, 2.0, np.nan], [1.0, 3.0, 0.0]]))
    array([1, 2])
    """
    filled = features.copy()
    if isinstance(filled, sparse.csr_array):
        is_nan = np.isnan(filled.data)
        n_nan = np.bincount(filled.indices[is_nan], minlength=filled.shape[1])
        filled.data[is_nan] = 0
        lowest, highest = (side.toarray().ravel() for side in (filled.min(0), filled.max(0)))
    else:
        n_nan = np.isnan(filled).sum(axis=0)
        filled[np.isnan(filled)] = 0
        lowest, highest = filled.min(axis=0), filled.max(axis=0)
    is_varying = (lowest < highest) | ((n_nan > 0) & (n_nan < features.shape[0]))
    return np.flatnonzero(is_varying) if is_varying.any() else np.zeros(1, dtype=np.int64)


def _forest_nodes(tree: Any) -> Nodes:
    return Nodes(
        np.where(tree.children_left < 0, LEAF, tree.feature),
        tree.threshold,
        tree.children_left,
        tree.children_right,
        tree.missing_go_to_left,
        tree.value[:, 0],
    )


def _boosting_nodes(nodes: np.ndarray, columns: np.ndarray) -> Nodes:
    return Nodes(
        np.where(nodes["is_leaf"], LEAF, columns[nodes["feature_idx"]]),
        nodes["num_threshold"],
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        nodes["missing_go_to_left"],
        nodes["value"][:, None],
    )


def _sorted_rows(
    features: View, y_encoded: np.ndarray, sample_weight: np.ndarray | None = None
) -> tuple[View, np.ndarray, np.ndarray | None]:
    """Sort rows as `_content_order` does; sparse rows get sorted columns and no stored zeros."""
    features = _canonical(features)
    order = _content_order(features, y_encoded)
    return (
        features[order],
        y_encoded[order],
        None if sample_weight is None else sample_weight[order],
    )


def _canonical(features: View) -> View:
    if isinstance(features, sparse.csr_array):
        features = features.sorted_indices()
        features.eliminate_zeros()
    return features


def _content_order(features: View, y_encoded: np.ndarray) -> np.ndarray:
    """Order canonical rows by a checksum of their nonzero values, and equal rows by class."""
    digests = np.empty(len(y_encoded), dtype="S32")
    for row in range(len(digests)):
        if isinstance(features, sparse.csr_array):
            own = slice(features.indptr[row], features.indptr[row + 1])
            content = _content(features.indices[own], features.data[own])
        else:
            columns = np.flatnonzero(features[row])
            content = _content(columns, features[row, columns])
        digests[row] = hashlib.sha256(content).digest()
    return np.lexsort((y_encoded, digests))


def _content(columns: np.ndarray, values: np.ndarray) -> bytes:
    return columns.astype(np.int64).tobytes() + values.astype(np.float32).tobytes()


def _dense(features: View) -> np.ndarray:
    n_gb = 4 * features.shape[0] * features.shape[1] / GB
    check_memory(n_gb, "the dense table of the labeled samples", "Use fewer labels or columns")
    return features.toarray() if isinstance(features, sparse.csr_array) else features


def _by_class(class_weight: np.ndarray | None) -> dict[int, float] | None:
    return None if class_weight is None else dict(enumerate(class_weight.tolist()))
