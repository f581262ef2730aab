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
from math import prod
from pathlib import Path
from typing import Any

from manyview.base.parameters import parameter_path
from manyview.data.splits import PROTOCOLS
from manyview.errors import InputError, ManyviewError, PlanError, did_you_mean
from manyview.experiments.artifacts import ARTIFACTS
from manyview.experiments.plan_checks import (
    MAX_TRIALS,
    check_grid,
    check_keys,
    check_names,
    check_paper,
    check_ratios,
    check_seeds,
    check_table,
    check_text,
    check_values,
    shown,
)
from manyview.experiments.trial import Trial
from manyview.methods import find_method
from manyview.runs.sources import DataSource
from manyview.validation import check_choice, check_number

PLANS = files("manyview.experiments") / "plans"
# Settings of a plan that an entry under [methods] may override.
COMMON_KEYS = ("title", "datasets", "label_ratios", "protocols", "seeds", "artifacts")
KEYS = (*COMMON_KEYS, "about", "methods", "paper")
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
    protocols: tuple[str, ...]
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
    # where data are that need more than their name, by data set
    sources: Mapping[str, DataSource] = field(default_factory=dict)

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
                    self.sources.get(dataset),
                )
                for seed in entry.seeds
            ]
            for dataset in self.datasets
            for entry in self.entries
            if dataset in entry.datasets
            for point in entry.points()
            for protocol in self.protocols
            if protocol in entry.protocols
            for ratio in entry.label_ratios
        }

    @property
    def n_trials(self) -> int:
        """Return the number of trials, without listing them."""
        return sum(
            len(set(self.datasets) & set(entry.datasets))
            * prod(map(len, entry.grid.values()))
            * len(set(self.protocols) & set(entry.protocols))
            * len(entry.label_ratios)
            * len(entry.seeds)
            for entry in self.entries
        )

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
    elif _is_file(path):
        try:
            text, origin = path.read_text(encoding="utf-8"), str(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise PlanError(f"{path} cannot be read: {reason}.") from error
    else:
        raise PlanError(
            f"There is no plan {shown(name)}, and no file of that name."
            f"{did_you_mean(name, plan_names())} The plans are: {', '.join(plan_names())}."
        )
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"{origin} is not TOML: {' '.join(str(error).split())}.") from error
    try:
        plan = make_plan(document, path.name.removesuffix(".toml"), origin)
    except PlanError:
        raise
    except ManyviewError as error:
        raise PlanError(str(error)) from error
    n_trials = plan.n_trials
    if n_trials > MAX_TRIALS:
        raise PlanError(
            f"{origin} has {n_trials:,} trials, more than the {MAX_TRIALS:,} of one study; make "
            "its grids smaller, or several plans of it."
        )
    return plan


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or that no file can have
        return False


def make_plan(document: Mapping[str, Any], name: str, origin: str) -> Plan:
    """Return the plan of a document as TOML holds it; `origin` names it in messages."""
    check_keys(document, KEYS, origin)
    for needed in ("title", "datasets", "methods"):
        if document.get(needed) in (None, "", [], {}):
            raise PlanError(f"{origin} must name its {needed}.")
    datasets = check_names(document["datasets"], f"datasets of {origin}")
    protocols = check_names(document.get("protocols", ["stratified"]), f"protocols of {origin}")
    for protocol in protocols:
        check_choice(f"a protocol of {origin}", protocol, PROTOCOLS)
    ratios = check_ratios(document.get("label_ratios", [0.1]), f"label_ratios of {origin}")
    defaults = {
        "datasets": datasets,
        "label_ratios": ratios,
        "protocols": protocols,
        "seeds": document.get("seeds", list(range(5))),
        "artifacts": document.get("artifacts", []),
    }
    entries = []
    for key, given in check_table(document["methods"], f"methods of {origin}").items():
        what = f"[methods.{key}] of {origin}"
        check_text(key, f"the name of {what}")
        entries.append(_entry(key, defaults | check_table(given, what), what))
        for dataset in entries[-1].datasets:
            check_choice(f"a data set of {what}", dataset, datasets)
        for protocol in entries[-1].protocols:
            check_choice(f"a protocol of {what}", protocol, protocols)
    return Plan(
        name=name,
        title=check_text(document["title"], f"title of {origin}"),
        about=check_text(document.get("about", ""), f"about of {origin}"),
        datasets=tuple(datasets),
        label_ratios=tuple(ratios),
        protocols=tuple(protocols),
        entries=tuple(entries),
        paper=check_paper(document.get("paper", {}), origin),
    )


def _entry(name: str, given: Mapping[str, Any], origin: str) -> Entry:
    check_keys(given, ENTRY_KEYS, origin)
    method = find_method(check_text(given.get("method", name), f"method of {origin}"))
    params = check_table(given.get("params", {}), f"params of {origin}")
    params = {key: check_values(one, f"{key} of {origin}") for key, one in params.items()}
    grid = check_grid(given.get("grid", {}), f"grid of {origin}")
    if "random_state" in (*params, *grid):
        raise InputError(f"{origin} may not set random_state; use the plan's seeds.")
    for key in params.keys() & grid.keys():
        raise PlanError(f"{origin} sets {key!r} in its params and in its grid; choose one.")
    try:
        paths = {name: parameter_path(method(), name) for name in (*params, *grid)}
    except InputError as error:
        raise InputError(f"{origin}: {error}") from error
    for path in paths.values():
        if list(paths.values()).count(path) > 1:
            raise PlanError(f"{origin} sets {path!r} twice, by two of its names.")
    if given.get("max_memory") is not None:
        check_number(f"max_memory of {origin}", given["max_memory"], above=0)
    seeds = check_seeds(given["seeds"], f"seeds of {origin}")
    ratios = check_ratios(given["label_ratios"], f"label_ratios of {origin}")
    artifacts = given["artifacts"]
    if artifacts != []:
        check_names(artifacts, f"artifacts of {origin}")
    for artifact in artifacts:
        check_choice(f"an artifact of {origin}", artifact, ARTIFACTS)
    title = given.get("title", method.card.title if method.card.name == name else name)
    return Entry(
        name=name,
        title=check_text(title, f"title of {origin}"),
        method=method.card.name,
        params=params,
        grid=grid,
        datasets=tuple(check_names(given["datasets"], f"datasets of {origin}")),
        label_ratios=tuple(float(ratio) for ratio in ratios),
        protocols=tuple(check_names(given["protocols"], f"protocols of {origin}")),
        seeds=tuple(seeds),
        artifacts=tuple(artifacts),
        paths=paths,
        max_memory=given.get("max_memory"),
    )
