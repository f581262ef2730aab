"""Search spaces: the values of each parameter that a tuning tries."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from manyview.base.classifier import MultiViewClassifier
from manyview.base.parameters import parameter_path
from manyview.errors import InputError

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Space = Mapping[str, Any]  # name -> list of choices, or a distribution of Optuna

MGCN_DNS_SPACE: dict[str, list[Any]] = {
    "n_neighbors": ["auto", 5, 10, 15, 20, 30],
    "gamma": [0.3, 1.0, 3.0, 10.0],
    "tau": [0.1, 0.3, 1.0, 3.0, 10.0],
    "n_layers": [1, 2, 3],
    "hidden": [16, 32, 64, 128],
    "learning_rate": [0.003, 0.01, 0.03],
    "graph_learning": ["edge", "low-rank", None],
    "node_selection": ["differentiable", "top-k", None],
}
# Parameters of the space that other methods may have, too.
COMMON = ("n_neighbors", "hidden")
SVM_SPACE: dict[str, list[Any]] = {"penalty": [0.1, 1.0, 10.0, 100.0], "kernel": ["rbf", "linear"]}
# Of the methods that have none of these.
OTHER_SPACES: dict[str, dict[str, list[Any]]] = {
    "svm": SVM_SPACE,
    "self-training": SVM_SPACE,
    "logistic-regression": {"penalty": [0.1, 1.0, 10.0, 100.0]},
    "random-forest": {"min_samples_leaf": [1, 2, 5]},
    "hist-gradient-boosting": {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [7, 31]},
    "mvar": {"ridge": [1e-4, 1e-3, 1e-2, 0.1, 1.0]},
}


def default_space(model: MultiViewClassifier, n_samples: int) -> dict[str, list[Any]]:
    """Return the default search space of a method; it includes the current values.

    Examples
    --------
    >>> from manyview.baselines.knn import KNNClassifier
    >>> default_space(KNNClassifier(), n_samples=18)
    {'n_neighbors': ['auto', 5, 10, 15]}
    """
    params = model.get_params()
    names = MGCN_DNS_SPACE if model.card.name in ("manyview", "mgcn-dns") else COMMON
    space = {
        name: [params[name], *(one for one in choices if one != params[name])]
        for name, choices in OTHER_SPACES.get(model.card.name, {}).items()
    }
    for name in names:
        with suppress(InputError):  # it has no such parameter
            path = parameter_path(model, name)
            own = params[path]
            choices = [one for one in MGCN_DNS_SPACE[name] if one not in (own, "auto")]
            if name == "n_neighbors":
                choices = [k for k in choices if k < n_samples]
            space[path] = [own, *choices]
    if not space:
        raise InputError(
            f"There is no default search space for {model.card.name}. Name the values to try in "
            "Python: tune(..., space={'name': [value, value]})."
        )
    return space


def check_space(space: Space, model: MultiViewClassifier) -> dict[str, Any]:
    """Refuse a space with unknown parameters or without values; complete names to paths."""
    if not space:
        raise InputError(
            "space must name at least one parameter to try; got none. "
            f"{model.card.name} has: {', '.join(model.get_params(deep=False))}."
        )
    paths = {name: parameter_path(model, name) for name in space}
    for name, choices in space.items():
        if name in ("random_state", "verbose"):
            raise InputError(f"space may not hold {name!r}, which is not to be tuned.")
        if is_distribution(choices):
            continue
        if isinstance(choices, str) or not hasattr(choices, "__len__") or len(choices) == 0:
            raise InputError(
                f"space[{name!r}] must be a list of values to try, at least one, or a "
                f"distribution of Optuna; got {choices!r}."
            )
        odd = [one for one in choices if not isinstance(one, (str, int, float, type(None)))]
        if odd:
            raise InputError(
                f"space[{name!r}] must hold texts, numbers, booleans or None; got {odd[0]!r}."
            )
    return {paths[name]: c if is_distribution(c) else list(c) for name, c in space.items()}


def is_distribution(choices: object) -> bool:
    """Whether this is a distribution of Optuna."""
    return type(choices).__module__ == "optuna.distributions"


def as_distributions(space: Space) -> "dict[str, BaseDistribution]":
    """Convert a checked space to Optuna's distributions."""
    from optuna.distributions import CategoricalDistribution

    return {
        name: choices if is_distribution(choices) else CategoricalDistribution(choices)
        for name, choices in space.items()
    }


def described(space: Space) -> dict[str, Any]:
    """Return a space as plain values, to be stored and compared."""
    return {name: repr(c) if is_distribution(c) else list(c) for name, c in space.items()}
