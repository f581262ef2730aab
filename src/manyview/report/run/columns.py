"""The section on columns: how much the classifiers of the columns alone rely on each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from manyview.base.classifier import MultiViewClassifier
from manyview.baselines.bases.table import TableClassifier
from manyview.explain.notebook import TABLES
from manyview.report.html.page import Section, folded, section, side_by_side
from manyview.report.html.tables import Column, table
from manyview.report.svg.charts import Series, bars

N_DRAWN, N_LISTED = 12, 100
N_LETTERS = 24  # of a name in the chart


@dataclass(frozen=True)
class ColumnUse:
    """How much classifiers rely on a column: by classifier, and their weighted mean."""

    view: str
    column: str
    by_model: dict[str, float]
    mean: float


def column_uses(model: MultiViewClassifier) -> list[ColumnUse]:
    """Return the importance of each column, largest first; empty for methods without it.

    These are the classifiers of the columns alone that are mixed with the network, each by its
    weight, or the method itself if it is such a classifier.
    """
    weighted: list[tuple[str, float, TableClassifier]] = [
        (TABLES.get(one.name, one.name), one.weight, one.model)
        for one in getattr(model, "table_learners_", None) or ()
    ]
    if isinstance(model, TableClassifier):
        weighted = [(model.card.title, 1.0, model)]
    if not weighted:
        return []
    found = {name: own.column_importance() for name, _, own in weighted}
    total = sum(weight for _, weight, _ in weighted)
    mean = sum(weight / total * found[name] for name, weight, _ in weighted)
    places = weighted[0][2].column_places()
    names: Mapping[str, Sequence[str]] = model.columns_
    uses = []
    for place in np.argsort(-np.asarray(mean), kind="stable").tolist():
        view, number = places[place]
        named = names.get(view, ())
        column = str(named[number]) if number < len(named) else str(number)
        by_model = {name: float(own[place]) for name, own in found.items()}
        uses.append(ColumnUse(view, column, by_model, float(np.asarray(mean)[place])))
    return uses


def column_section(model: MultiViewClassifier) -> Section | None:
    """Show the columns that classifiers of the columns alone rely on most."""
    uses = [one for one in column_uses(model) if one.mean > 0]
    if not uses:
        return None
    shown = uses[:N_LISTED]
    models = list(shown[0].by_model)
    intro = (
        f"{_model_words(models)} Importance is the size of a column's coefficients times its "
        "spread in a logistic regression, and how often the trees of a forest compare it; each "
        "sums to 100%."
    )
    listed = "All" if len(shown) == len(uses) else f"The first {len(shown)} of"
    return section(
        "Columns",
        side_by_side(*(_importance_chart(uses, name) for name in models)),
        folded(f"{listed} {len(uses):,} columns", _column_table(shown)),
        intro=intro,
    )


def _importance_chart(uses: Sequence[ColumnUse], model: str) -> Markup:
    """Draw the columns that one classifier relies on most."""
    most = sorted(uses, key=lambda one: -one.by_model[model])[:N_DRAWN]
    return bars(
        f"Importance for {model}",
        [_short_name(one) for one in most],
        [Series("importance", [one.by_model[model] for one in most])],
        description=f"The {len(most)} most important of {len(uses):,} columns.",
        form=".1%",
        n_letters=N_LETTERS,
    )


def _column_table(uses: Sequence[ColumnUse]) -> Markup:
    """List columns with their importance, and that for each classifier if there are several."""
    models = list(uses[0].by_model)
    several = models if len(models) > 1 else []
    mean = Column("importance", True, "mean, weighted as the classifiers are" if several else "")
    return table(
        "Columns",
        [Column("column"), Column("view"), mean, *(Column(name, True) for name in several)],
        [
            [
                f"column {one.column}" if one.column.isdigit() else one.column,
                one.view,
                f"{one.mean:.1%}",
                *(f"{one.by_model[name]:.1%}" for name in several),
            ]
            for one in uses
        ],
        filterable=len(uses) > N_DRAWN,
        hide_caption=True,
    )


def _short_name(one: ColumnUse) -> str:
    return f"{one.view} {one.column}" if one.column.isdigit() else one.column


def _model_words(models: Sequence[str]) -> str:
    if len(models) == 1:
        return f"A classifier looks at a sample's own columns alone: {models[0]}."
    return f"Classifiers look at a sample's own columns alone: {' and '.join(models)}."
