"""Settings of a run, and a method's parameters as a user types them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from manyview.base.parameters import parameter_path
from manyview.data.dataset import Dataset
from manyview.data.splits import PROTOCOLS
from manyview.errors import InputError, MissingValuesError
from manyview.methods import find_method
from manyview.runs.annotated_copy import check_annotated
from manyview.runs.sources import DataSource
from manyview.validation import check_choice, check_fraction, check_whole_number

WORDS = {"none": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True)
class RunSettings:
    """Everything that decides a run."""

    source: DataSource
    method: str = "manyview"
    # parameters of the method that differ from the defaults
    params: Mapping[str, Any] = field(default_factory=dict)
    # Fraction of the labels to use; the others are hidden and used for scoring. None uses all.
    label_ratio: float | None = None
    protocol: str = "stratified"
    seed: int = 0  # random seed for the split and the model
    # Predictions with a lower probability are written as `unknown`. None keeps all.
    abstain_below: float | None = None
    annotate: bool = False  # whether to write a copy of an `.h5mu` or `.h5ad` file with the results
    out: Path | None = None  # folder of the run; None names it after the data and the method

    def check(self) -> None:
        """Refuse wrong settings before any file is opened."""
        model = find_method(self.method)()
        for name in self.params:
            if self.method == "manyview" and name.partition("__")[0] == "calibration":
                raise InputError(
                    "manyview's probabilities are calibrated by cross-fitting already: leave out "
                    "--calibrate (calibration), which is for the method mgcn-dns."
                )
            parameter_path(model, name)
        check_choice("protocol", self.protocol, PROTOCOLS)
        check_whole_number("seed", self.seed, at_least=0)
        if self.label_ratio is not None and not 0 < self.label_ratio <= 1:
            raise InputError(
                f"label_ratio must be above 0 and at most 1; got {self.label_ratio}.",
                parameter="label_ratio",
            )
        if self.abstain_below is not None:
            check_fraction("abstain_below", self.abstain_below)
        if self.annotate:
            check_annotated(self.source.names)

    def load(self) -> Dataset:
        """Read the data by the method's rule for missing cells."""
        model = self.build_model(verbose=False)
        try:
            return self.source.load(model.missing)
        except MissingValuesError as error:
            raise error.advising(model.missing_cells_advice()) from None

    def build_model(self, *, verbose: bool) -> Any:
        """Return the classifier, not yet fitted."""
        model = find_method(self.method)()
        common = {"random_state": self.seed, "verbose": verbose}
        known = model.get_params(deep=False)
        model.set_params(**{name: value for name, value in common.items() if name in known})
        params = {parameter_path(model, name): value for name, value in self.params.items()}
        return model.set_params(**params)


def flat_params(model: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that decide a fit, by path, with plain values.

    Groups of parameters are left out in favor of their members, and so are `verbose` and the
    parameters of an inner estimator that the outer one sets, such as `estimator__scaling`.

    Examples
    --------
    >>> from manyview.estimators.manyview import ManyviewClassifier
    >>> params = flat_params(ManyviewClassifier())
    >>> params["graph__n_neighbors"], params["estimator__hidden"], "estimator__scaling" in params
    ('auto', 64, False)
    """
    params: dict[str, Any] = model.get_params()
    groups = {path.rpartition("__")[0] for path in params}
    replaced = {f"estimator__{name}" for name in model.get_params(deep=False)}
    replaced |= set(getattr(model, "_unused_parameters", ()))
    return {
        path: value
        for path, value in params.items()
        if path not in groups
        and path != "verbose"
        and "__".join(path.split("__")[:2]) not in replaced
    }


def parse_params(texts: Sequence[str]) -> dict[str, Any]:
    """Parse `name=value` texts.

    A value is a number, true, false, none, a string (quotes are optional), a list `[a, b]` or a
    table `{a = 1}`.

    Examples
    --------
    >>> parse_params(["hidden=32", "graph_learning=low-rank", "node_selection=none"])
    {'hidden': 32, 'graph_learning': 'low-rank', 'node_selection': None}
    """
    params: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InputError(f"-p must be written as -p name=value; got {text!r}.")
        if name in params:
            raise InputError(f"-p {name} is given twice: {params[name]!r} and {value!r}.")
        params[name] = _parse_value(value)
    return params


def _parse_value(text: str) -> Any:
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
    try:
        (value,) = tomllib.loads(f"value = {text}").values()
    except ValueError:  # not TOML, or more than one line of it
        return _parse_loosely(text)
    if isinstance(value, dict):  # a key of digits is a number, as in files of labels
        return {int(key) if key.isdecimal() else key: item for key, item in value.items()}
    return value


def _parse_loosely(text: str) -> Any:
    """Parse what TOML refuses: numbers such as `.5`, and strings without quotes."""
    if text.startswith("[") and text.endswith("]"):
        return [_parse_value(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    try:
        return float(text)
    except ValueError:
        return text
