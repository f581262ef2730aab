"""Plans: the trials of a study, declared in a TOML file.

title = "Accuracy with few labels"
datasets = ["bbcsports", "digits"]
label_ratios = [0.01, 0.1]
seeds = [0, 1, 2, 3, 4]

[methods.mgcn-dns]                       # the defaults of a method
[methods.plain]                          # any name, for a method with parameters
method = "mgcn-dns"
params = { graph_learning = "none", node_selection = "none" }
[methods.tau]                            # a grid: all combinations of the values
method = "mgcn-dns"
grid = { tau = [0.1, 1.0] }

[paper.bbcsports]                        # percent, mean and standard deviation
mgcn-dns = { "0.01" = [83.5, 9.6], "0.1" = [97.4, 0.6] }
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from manyview.base.parameters import parameter_path
from manyview.data.splits import PROTOCOLS
from manyview.errors import InputError, ManyviewError, PlanError, did_you_mean
from manyview.experiments.artifacts import ARTIFACTS
from manyview.experiments.trial import Trial
from manyview.methods import find_method
from manyview.validation import check_choice, check_number

PLANS = files("manyview.experiments") / "plans"
# Settings of a plan that an entry under [methods] may override.
COMMON_KEYS = ("title", "datasets", "label_ratios", "seeds", "artifacts")
KEYS = (*COMMON_KEYS, "about", "protocols", "methods", "paper")
ENTRY_KEYS = (*COMMON_KEYS, "method", "params", "grid", "max_memory")


@dataclass(frozen=True)
class Cell:
    """One cell of a study's table: the trials of all seeds."""

    dataset: str
    entry: str  # name of the plan's method entry
    point: tuple[tuple[str, Any], ...]  # values of the entry's grid, by name; empty without a grid
    label_ratio: float
    protocol: str


@dataclass(frozen=True)
class Entry:
    """A method of a plan, with the parameters that differ from the defaults."""

    name: str
    title: str
    method: str
    params: Mapping[str, Any]
    grid: Mapping[str, Sequence[Any]]
    datasets: tuple[str, ...]
    label_ratios: tuple[float, ...]
    seeds: tuple[int, ...]
    artifacts: tuple[str, ...]
    # path of each parameter by its name in the plan, such as tau -> node_selection__tau
    paths: Mapping[str, str] = field(default_factory=dict)
    max_memory: float | None = None  # GB that a fit may use; None is all free memory

    def points(self) -> list[dict[str, Any]]:
        """Return all combinations of the grid's values; one empty point without a grid."""
        return [
            dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())
        ]


@dataclass(frozen=True)
class Plan:
    """The content of a plan file."""

    name: str
    title: str
    about: str
    datasets: tuple[str, ...]
    label_ratios: tuple[float, ...]
    protocols: tuple[str, ...]
    entries: tuple[Entry, ...]
    # the paper's percentages: data set -> entry -> label ratio -> (mean, deviation)
    paper: Mapping[str, Mapping[str, Mapping[float, tuple[float, float]]]] = field(
        default_factory=dict
    )

    def cells(self) -> dict[Cell, list[Trial]]:
        """Return each cell of the study with its trials, one per seed."""
        return {
            Cell(dataset, entry.name, tuple(point.items()), ratio, protocol): [
                Trial(
                    dataset,
                    entry.method,
                    {entry.paths[name]: value for name, value in {**entry.params, **point}.items()},
                    ratio,
                    protocol,
                    seed,
                    entry.artifacts,
                    entry.max_memory,
                )
                for seed in entry.seeds
            ]
            for dataset in self.datasets
            for entry in self.entries
            if dataset in entry.datasets
            for point in entry.points()
            for protocol in self.protocols
            for ratio in entry.label_ratios
        }

    def entry(self, name: str) -> Entry:
        """Return an entry by its name."""
        return next(entry for entry in self.entries if entry.name == name)


def plan_names() -> list[str]:
    """Return the names of the plans that come with manyview."""
    return sorted(
        file.name.removesuffix(".toml") for file in PLANS.iterdir() if file.name.endswith(".toml")
    )


def load_plan(name: str) -> Plan:
    """Read a plan by its name, or a plan file by its path."""
    path = Path(name)
    if name in plan_names():
        text, origin = (PLANS / f"{name}.toml").read_text(encoding="utf-8"), f"plan {name!r}"
    elif path.is_file():
        try:
            text, origin = path.read_text(encoding="utf-8"), str(path)
        except (OSError, UnicodeDecodeError) as error:
            raise PlanError(f"{path} cannot be read: {error}.") from error
    else:
        raise PlanError(
            f"There is no plan {name!r}, and no file of that name."
            f"{did_you_mean(name, plan_names())} The plans are: {', '.join(plan_names())}."
        )
    try:
        document = tomllib.loads(text)
    except ValueError as error:
        raise PlanError(f"{origin} is not TOML: {error}.") from error
    return _plan(document, path.name.removesuffix(".toml"), origin)


def _plan(document: Mapping[str, Any], name: str, origin: str) -> Plan:
    _check_keys(document, KEYS, origin)
    for needed in ("title", "datasets", "methods"):
        if not document.get(needed):
            raise PlanError(f"{origin} must name its {needed}.")
    datasets = _texts(document["datasets"], f"datasets of {origin}")
    protocols = _texts(document.get("protocols", ["stratified"]), f"protocols of {origin}")
    defaults = {
        "datasets": datasets,
        "label_ratios": document.get("label_ratios", [0.1]),
        "seeds": document.get("seeds", list(range(5))),
        "artifacts": document.get("artifacts", []),
    }
    try:
        for protocol in protocols:
            check_choice(f"a protocol of {origin}", protocol, PROTOCOLS)
        entries = tuple(
            _entry(key, {**defaults, **given}, f"[methods.{key}] of {origin}")
            for key, given in document["methods"].items()
        )
    except ManyviewError as error:
        raise PlanError(str(error)) from error
    return Plan(
        name=name,
        title=document["title"],
        about=document.get("about", ""),
        datasets=tuple(datasets),
        label_ratios=tuple(defaults["label_ratios"]),
        protocols=tuple(protocols),
        entries=entries,
        paper=_paper(document.get("paper", {}), origin),
    )


def _entry(name: str, given: Mapping[str, Any], origin: str) -> Entry:
    _check_keys(given, ENTRY_KEYS, origin)
    method = find_method(given.get("method", name))
    params = {key: _value(value) for key, value in given.get("params", {}).items()}
    grid = {key: [_value(one) for one in values] for key, values in given.get("grid", {}).items()}
    if "random_state" in (*params, *grid):
        raise InputError(f"{origin} may not set random_state; use the plan's seeds.")
    try:
        paths = {name: parameter_path(method(), name) for name in (*params, *grid)}
    except InputError as error:
        raise InputError(f"{origin}: {error}") from error
    if given.get("max_memory") is not None:
        check_number(f"max_memory of {origin}", given["max_memory"], above=0)
    for ratio in given["label_ratios"]:
        if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio < 1:
            raise InputError(f"label_ratios of {origin} must be between 0 and 1; got {ratio!r}.")
    for seed in given["seeds"]:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"seeds of {origin} must be whole numbers from 0; got {seed!r}.")
    for artifact in given["artifacts"]:
        check_choice(f"an artifact of {origin}", artifact, ARTIFACTS)
    return Entry(
        name=name,
        title=given.get("title", method.card.title if method.card.name == name else name),
        method=method.card.name,
        params=params,
        grid=grid,
        datasets=tuple(_texts(given["datasets"], f"datasets of {origin}")),
        label_ratios=tuple(float(ratio) for ratio in given["label_ratios"]),
        seeds=tuple(given["seeds"]),
        artifacts=tuple(given["artifacts"]),
        paths=paths,
        max_memory=given.get("max_memory"),
    )


def _value(value: Any) -> Any:
    """Return None for "none", since TOML has no null."""
    return None if value == "none" else value


def _texts(value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise PlanError(f"{what} must be a list of names; got {value!r}.")
    return value


def _check_keys(given: Mapping[str, Any], allowed: Sequence[str], origin: str) -> None:
    for key in given:
        if key not in allowed:
            raise PlanError(
                f"{origin} has no setting {key!r}.{did_you_mean(key, allowed)} "
                f"It may have: {', '.join(allowed)}."
            )


def _paper(
    document: Mapping[str, Any], origin: str
) -> dict[str, dict[str, dict[float, tuple[float, float]]]]:
    try:
        return {
            dataset: {
                entry: {
                    float(ratio): (float(mean), float(std)) for ratio, (mean, std) in row.items()
                }
                for entry, row in rows.items()
            }
            for dataset, rows in document.items()
        }
    except (TypeError, ValueError, AttributeError) as error:
        raise PlanError(
            f"[paper] of {origin} must hold data set -> method -> "
            '{ "ratio" = [mean, deviation] }.'
        ) from error
