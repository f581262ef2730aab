"""Nested parameters: small objects that group parameters, as scikit-learn's tools see them.

`clone`, `get_params(deep=True)` and `GridSearchCV` reach a parameter of such an object by its
path, such as `graph__metric`, also where the estimator holds a shorthand for it (None or a word).
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from manyview.errors import InputError, did_you_mean
from manyview.validation import Constraint

WORD = "form"  # the parameter of a group that a word stands for
Group = Callable[[Any], BaseEstimator | None]


class ParameterGroup(BaseEstimator):
    """A few parameters that belong together; stores them, and checks them when asked."""

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {}

    def check(self, name: str) -> None:
        """Refuse the first parameter that breaks its constraint; `name` is that of the group.

        A word for the group, as in `graph_learning="full"`, is refused under the group's name.
        """
        for own, constraint in self._parameter_constraints.items():
            path, value = f"{name}__{own}", getattr(self, own)
            shown, path = (name, name) if own == WORD else (own, path)
            try:
                constraint.check(shown, value)
            except InputError as error:
                error.parameter = path
                raise


class NestedParameters(BaseEstimator):
    """An estimator with parameters that are groups of parameters, or short words for them."""

    # parameter -> makes the object that a shorthand stands for, None where it stands for none
    _parameter_groups: ClassVar[dict[str, Group]] = {}
    _unused_parameters: ClassVar[tuple[str, ...]] = ()  # paths that parameters of its own replace

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` also those of groups, by path."""
        params: dict[str, Any] = super().get_params(deep=deep)
        for name, make in self._parameter_groups.items() if deep else ():
            if not isinstance(params[name], BaseEstimator):
                group = make(params[name])
                nested = {} if group is None else group.get_params()
                params |= {f"{name}__{key}": value for key, value in nested.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of groups by path, such as `graph__metric="euclidean"`."""
        for name, make in self._parameter_groups.items():
            value = params.get(name, getattr(self, name))
            is_reached = any(key.startswith(f"{name}__") for key in params)
            if is_reached and not isinstance(value, BaseEstimator):
                params[name] = make(value)
        super().set_params(**params)
        return self

    def parameter_group(self, name: str) -> Any:
        """Return the object that a parameter is or stands for; refuse what is neither."""
        value = getattr(self, name)
        group = value if isinstance(value, BaseEstimator) else self._parameter_groups[name](value)
        if group is None:
            raise InputError(
                f"{name} must be a parameter object, such as {name}={self._example(name)}, or a "
                f"word for one; got {value!r}.",
                parameter=name,
            )
        return group

    def _example(self, name: str) -> str:
        made = self._parameter_groups[name](None)
        return "None" if made is None else f"{type(made).__name__}()"


def parameter_path(model: BaseEstimator, name: str) -> str:
    """Complete the name of a nested parameter to its path; the least nested one counts.

    Refuses a name that no parameter has, or that several have at the same depth.

    Examples
    --------
    >>> from manyview.estimators.manyview import ManyviewClassifier
    >>> parameter_path(ManyviewClassifier(), "hidden")
    'estimator__hidden'
    >>> parameter_path(ManyviewClassifier(), "n_neighbors")
    'graph__n_neighbors'
    """
    allowed: dict[str, Any] = model.get_params()
    title = type(model).__name__
    unused = model._unused_parameters if isinstance(model, NestedParameters) else ()
    prefixes = tuple(f"{path}__" for path in unused)
    if f"{name}__".startswith(prefixes):
        own = name.partition("__")[2]
        raise InputError(f"{title} does not use {name}; set {own} instead.", parameter=name)
    if name in allowed:
        return name
    paths = [
        path
        for path in allowed
        if path.split("__")[-1] == name and not f"{path}__".startswith(prefixes)
    ]
    depth = 0 if name == WORD else min((path.count("__") for path in paths), default=0)
    nearest = [path for path in paths if path.count("__") == depth or name == WORD]
    if len(nearest) == 1:
        return nearest[0]
    if nearest:
        raise InputError(
            f"{title} has several parameters {name!r}: write {' or '.join(nearest)}.",
            parameter=name,
        )
    known = sorted({path.split("__")[-1] for path in allowed})
    raise InputError(
        f"{title} has no parameter {name!r}.{did_you_mean(name, known)} It has: "
        f"{', '.join(model.get_params(deep=False))}; nested ones are written as group__name.",
        parameter=name,
    )


def group_of(kind: type[BaseEstimator], *, takes_words: bool = False) -> Group:
    """Return what turns None, or a word (its `form`), into an object of this kind.

    Examples
    --------
    >>> from manyview.estimators.parameters import GraphLearningConfig
    >>> group_of(GraphLearningConfig, takes_words=True)("full")
    GraphLearningConfig(form='full')
    """

    def make(value: Any) -> BaseEstimator | None:
        if takes_words and (value is None or isinstance(value, str)):
            return kind(**{WORD: value})
        return kind() if value is None else None

    return make
