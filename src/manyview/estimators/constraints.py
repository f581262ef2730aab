"""What each parameter of MGCNDNSClassifier may be, checked before anything is learned."""

from collections.abc import Mapping
from typing import Any

from manyview.data.scaling import SCALINGS, scaling_by_view
from manyview.data.views import MultiView
from manyview.errors import check_choice
from manyview.graphs.cached_neighbors import check_cache_dir
from manyview.graphs.knn_graph import check_search
from manyview.graphs.prepare import check_n_neighbors
from manyview.graphs.scaling_choice import AUTO
from manyview.system.memory import check_max_memory
from manyview.validation import check_number, check_whole_number

CHOICES = {
    "recipe": ("few-labels", "paper"),
    "class_shares": ("labels", "answers"),
    "joint_graph": (True, False),
    "linear_teacher": (True, False),
    "metric": ("cosine", "euclidean"),
    "symmetry": ("union", "mutual"),
    "graph_learning": ("edge", "low-rank", "full", None),
    "node_selection": ("differentiable", "top-k", None),
    "calibration": ("temperature", None),
    "rank_axis": ("rows", "as-printed"),
    "ranking": ("auto", "exact", "fast"),
}


def check_parameters(params: Mapping[str, Any], views: MultiView) -> None:
    """Refuse the first parameter that breaks its rule; `params` has all of them by name.

    Examples
    --------
    >>> from manyview.estimators.mgcn_dns import MGCNDNSClassifier
    >>> views = MultiView([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> check_parameters(MGCNDNSClassifier(tau=-0.3).get_params(), views)
    Traceback (most recent call last):
    manyview.errors.InputError: tau must be above 0; got -0.3.
    """
    check_n_neighbors(params["n_neighbors"], len(views))
    scaling_by_view(params["scaling"], views, (AUTO, *SCALINGS))
    check_search(params["neighbor_search"], len(views))
    check_cache_dir(params["cache_dir"])
    check_max_memory(params["max_memory"])
    for name, choices in CHOICES.items():
        check_choice(name, params[name], choices)
    if isinstance(params["calibration_folds"], str):
        check_choice("calibration_folds", params["calibration_folds"], ("auto",))
    else:
        check_whole_number("calibration_folds", params["calibration_folds"], at_least=1)
    check_whole_number("max_rounds", params["max_rounds"], at_least=0)
    check_whole_number("min_common_neighbors", params["min_common_neighbors"], at_least=0)
    if params["n_selected"] is not None:
        check_whole_number("n_selected", params["n_selected"], at_least=1)
    for name in ("rank", "hidden", "n_layers", "max_epochs"):
        check_whole_number(name, params[name], at_least=1)
    for name in ("gamma", "tau", "learning_rate"):
        check_number(name, params[name], above=0)
    for name in ("weight_decay", "tol"):
        check_number(name, params[name], at_least=0)
    check_number("initial_threshold", params["initial_threshold"], above=0, below=1)
    check_number("dropout", params["dropout"], at_least=0, below=1)
