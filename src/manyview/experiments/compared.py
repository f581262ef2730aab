"""Comparison of methods on one data set, by known labels that are hidden several times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from manyview.data.catalog.cards import CATALOG
from manyview.data.label_values import is_known
from manyview.errors import InputError
from manyview.experiments.plan import Plan, make_plan
from manyview.methods import METHODS, find_method
from manyview.runs.fitting import folder_name, labels_to_show
from manyview.runs.settings import RunSettings
from manyview.validation import check_whole_number

NAME = "compare"  # of the plan, its page and the default folder
KEPT = 0.8  # fraction of the labels that a split keeps if none is asked for


@dataclass(frozen=True)
class Comparison:
    """The trials of a comparison, and the labels that they use.

    Attributes
    ----------
    settings
        Settings that the methods have in common; `method` and `out` do not count.
    n_known, n_kept, n_hidden
        Known labels, those that a method sees in a split, and those that score it.
    n_splits
        Number of times that labels are hidden; all methods get the same splits.
    """

    plan: Plan
    settings: RunSettings
    n_samples: int
    n_known: int
    n_kept: int
    n_hidden: int
    n_splits: int

    @property
    def dataset(self) -> str:
        """Return the name of the data."""
        return self.plan.datasets[0]

    @property
    def is_census(self) -> bool:
        """Whether a split scores all samples that it does not label.

        Then splits differ only in the labels that were drawn. Otherwise the hidden labels stand
        for samples without a label, and the splits overlap.
        """
        return self.settings.label_ratio is not None and self.n_known == self.n_samples

    @property
    def folder(self) -> Path:
        """Return the folder of the records, named after the data if none is asked for."""
        return self.settings.out or Path(NAME) / folder_name(self.dataset)


def plan_comparison(settings: RunSettings, methods: Sequence[str], n_splits: int) -> Comparison:
    """Read the data, check everything that can be checked, and plan the trials.

    Parameters
    ----------
    settings
        Data, labels, seed of the first split, and parameters that all methods have. Without a
        `label_ratio`, a split keeps 80% of the known labels of each class.
    methods
        Names of the methods; none compares all of them.
    """
    check_whole_number("splits", n_splits, at_least=2)
    methods = list(methods) or list(METHODS)
    for method in methods:
        find_method(method)
        if methods.count(method) > 1:
            raise InputError(f"methods must differ; {method!r} is there twice.")
        replace(settings, method=method).check()
    if settings.label_ratio == 1:
        raise InputError(
            "label_ratio must be below 1, so that labels are hidden; got 1.0.",
            parameter="label_ratio",
        )
    ratio = KEPT if settings.label_ratio is None else settings.label_ratio
    data = settings.load()
    kept = labels_to_show(data, replace(settings, label_ratio=ratio))
    n_known = 0 if data.labels is None else int(is_known(data.labels).sum())
    n_kept = int(is_known(kept).sum())
    if n_kept == n_known:
        raise InputError(
            f"{data.name} has {n_known} known labels, and none of them can be hidden: a class "
            f"needs at least three labels. Label more samples, or hide more of them with "
            "--label-ratio 0.5."
        )
    plan = make_plan(
        {
            "title": f"Methods on {data.name}",
            "datasets": [data.name],
            "label_ratios": [ratio],
            "protocols": [settings.protocol],
            "seeds": [settings.seed + number for number in range(n_splits)],
            "methods": {method: {"params": dict(settings.params)} for method in methods},
        },
        NAME,
        "the comparison",
    )
    if data.name not in CATALOG or settings.source.names != (data.name,):
        plan = replace(plan, sources={data.name: settings.source})
    return Comparison(plan, settings, len(data.views), n_known, n_kept, n_known - n_kept, n_splits)
