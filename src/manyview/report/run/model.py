"""Sections on a run's model: views, graphs before and after selection, and training."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from manyview.base.summary import FitSummary
from manyview.explain.records import ViewEffect
from manyview.report.html.page import Section, section, side_by_side
from manyview.report.html.tables import Column, HtmlCell, table
from manyview.report.run.explanation_text import WITHOUT_VIEW
from manyview.report.run.facts import GraphFacts
from manyview.report.run.text import STOPPED, view_sizes
from manyview.report.svg.charts import LEAN, Series, bars, histogram, lines
from manyview.runs.records import Run

HOMOPHILY = "fraction of the edge weight between samples with the same prediction"
COLUMN_WORDS = (
    "Sparsity: fraction of all pairs of samples without an edge. Degree: lowest, median and "
    "highest number of edges per sample. Effective: edges per sample, with weak edges counting "
    "less."
)
STAGE_WORDS = {
    "fused": "views combined",
    "refined": "after graph learning",
    "selected": "after node selection",
    "learned": "learned from the views",
}


def view_section(
    run: Run,
    summary: FitSummary,
    graphs: Mapping[str, GraphFacts],
    effects: Sequence[ViewEffect] = (),
) -> Section:
    """Show each view's weight, the homophily of its graph, and the effect of removing it."""
    rows: list[list[object]] = [[name, size] for name, size in view_sizes(run.data).items()]
    importance = run.view_importance or summary.weights_by_view([str(row[0]) for row in rows])
    columns = [Column("view"), Column("features", True)]
    if importance is not None:
        columns.append(Column("importance", True))
        for row in rows:
            row.append(f"{importance[str(row[0])]:.1%}")
    if graphs:
        columns += [Column("edges", True), Column("homophily", True, HOMOPHILY)]
        for row in rows:
            facts = graphs[str(row[0])]
            row += [f"{facts.n_edges:,}", _percent(facts.homophily)]
    drawn = None
    intro = "The views and their sizes."
    if importance is not None:
        drawn = bars(
            "View importance",
            list(importance),
            [Series("importance", list(importance.values()))],
            description="Weight of each view; the weights sum to 100%.",
            form=".1%",
            width=LEAN,
        )
        intro = "Importance is the weight of a view in the predictions; the weights sum to 100%."
    if graphs:
        intro += f" Homophily is the {HOMOPHILY}, in the view's own graph."
    return section(
        "Views",
        side_by_side(drawn, table("Views", columns, rows, hide_caption=True), lean=True),
        _effect_table(effects) if effects else None,
        intro=intro,
    )


def _effect_table(effects: Sequence[ViewEffect]) -> Markup:
    """List how many predictions change when one view is removed."""
    columns = [
        Column("removed view"),
        Column("changed predictions", True),
        Column("of all", True),
    ]
    rows = [[one.view, f"{one.n_changed:,}", f"{one.fraction_changed:.1%}"] for one in effects]
    note = WITHOUT_VIEW
    accuracy = effects[0].accuracy
    if accuracy is not None:
        columns.append(Column("accuracy", True))
        for row, one in zip(rows, effects, strict=True):
            row.append(f"{one.accuracy_without or 0:.1%}")
        note += (
            f" Accuracy is measured on the {effects[0].n_scored:,} hidden labels; with all views "
            f"it is {accuracy:.1%}."
        )
    return table("Effect of removing a view", columns, rows, note=note)


def graph_section(
    graphs: Mapping[str, GraphFacts], threshold: float | None = None
) -> Section | None:
    """Compare the graph before and after selection."""
    if not graphs:
        return None
    has_truth = any(np.isfinite(facts.true_homophily) for facts in graphs.values())
    columns = [
        Column("graph"),
        Column("edges", True, "pairs of samples with an edge"),
        Column("sparsity", True, "fraction of all pairs without an edge"),
        Column("degree", True, "edges per sample: lowest, median, highest"),
        Column("effective", True, "edges per sample, with weak edges counting less"),
        Column("weight left", True, "sum of the edge weights, relative to the first graph"),
        Column("homophily", True, HOMOPHILY),
    ]
    if has_truth:
        columns.append(
            Column("by true class", True, "fraction of the edge weight within a true class")
        )
    first_name, first = next(iter(graphs.items()))
    last_name, last = list(graphs.items())[-1]
    rows = []
    for name, facts in graphs.items():
        lowest, median, highest = np.percentile(facts.degrees, [0, 50, 100])
        row: list[object] = [
            HtmlCell(name, detail=STAGE_WORDS[name]),
            f"{facts.n_edges:,}",
            f"{facts.sparsity:.2%}",
            f"{lowest:.0f} · {median:.0f} · {highest:.0f}",
            f"{facts.n_effective:.1f}",
            f"{facts.weight / (first.weight or 1.0):.0%}",
            _percent(facts.homophily),
        ]
        rows.append([*row, _percent(facts.true_homophily)] if has_truth else row)
    ends = {first_name: first, last_name: last}
    n_bins = min(24, max(int(max(one.degrees.max() for one in ends.values())), 4))
    degrees = {name: one.degrees for name, one in ends.items()}
    strengths = {name: one.strengths for name, one in ends.items()}
    charts = [
        histogram(
            f"{noun} per sample",
            groups,
            x_name=x_name,
            description=f"The median in the {last_name} graph is "
            f"{np.median(groups[last_name]):.{decimals}f}.",
            stacked=False,
            n_bins=n,
        )
        for noun, x_name, groups, n, decimals in (
            ("Edges", "edges", degrees, n_bins, 0),
            ("Edge weight", "sum of the edge weights", strengths, 24, 2),
        )
    ]
    intro = _graph_intro(first_name, first, last_name, last)
    if threshold is not None:
        intro += (
            " Node selection removes edges whose two samples have a mean confidence below "
            f"{threshold:.3f}."
        )
    return section(
        "Graph",
        table(
            "The graph by stage", columns, rows, note=COLUMN_WORDS,
            sortable=False, as_cards=True, hide_caption=True,
        ),
        side_by_side(*charts),
        intro=intro,
    )  # fmt: skip


def training_section(run: Run, summary: FitSummary) -> Section | None:
    """Draw the training curve, or the objective of a method without epochs."""
    curve, objective = summary.training_curve, summary.objective
    if curve is not None and curve.n_epochs > 1:
        epochs = list(range(1, curve.n_epochs + 1))
        charts = [
            lines(
                f"{name.capitalize()} on the given labels", epochs, [Series(name, values)],
                x_name="epoch", form=form,
                description=f"From {values[0]:{form}} to {values[-1]:{form}}.",
            )
            for name, values, form in (
                ("loss", curve.loss, ".3g"),
                ("accuracy", curve.labeled_accuracy, ".0%"),
            )
        ]  # fmt: skip
        intro = (
            f"{curve.n_epochs} epochs, {STOPPED[curve.stopped]}. Single epochs fluctuate because "
            f"dropout is active.{stage_words(summary)}"
        )
        return section("Training", side_by_side(*charts), intro=intro)
    if objective is None or np.ndim(objective) != 1 or len(objective) < 2:
        return None
    values = [float(value) for value in objective]
    drawn = lines(
        "Objective by iteration",
        list(range(1, len(values) + 1)),
        [Series("objective", values)],
        x_name="iteration",
        from_zero=False,
        description=f"From {values[0]:.3g} to {values[-1]:.3g}.",
    )
    intro = f"{run.settings.method} minimized its objective in {len(values)} iterations."
    return section("Training", drawn, intro=intro)


def stage_words(summary: FitSummary) -> str:
    """Name the network of the curves, and the fraction of predictions each stage changed.

    Examples
    --------
    >>> from manyview.base.summary import StageRecord
    >>> stages = (StageRecord(50, 0.043, np.ones(2)), StageRecord(50, 0.026, np.ones(2)))
    >>> print(stage_words(FitSummary(n_networks=2, stages=stages)).strip())
    The curves belong to the last of 2 networks. Between self-training stages, 4.3% and then 2.6%
    of predictions changed.
    >>> stage_words(FitSummary())
    ''
    """
    words = ""
    if summary.n_networks > 1:
        words = f" The curves belong to the last of {summary.n_networks} networks."
    if summary.stages:
        changed = " and then ".join(f"{one.changed:.1%}" for one in summary.stages)
        words += f" Between self-training stages, {changed} of predictions changed."
    return words


def _graph_intro(first_name: str, first: GraphFacts, last_name: str, last: GraphFacts) -> str:
    if first is last:
        return (
            f"The graph has {first.n_edges:,} edges. {_percent(first.homophily)} of the edge "
            "weight joins samples with the same prediction; this fraction is the homophily."
        )
    kept = (
        f"all {first.n_edges:,}"
        if last.n_edges == first.n_edges
        else f"{last.n_edges:,} of the {first.n_edges:,}"
    )
    return (
        f"The {last_name} graph keeps {kept} edges of the {first_name} graph and "
        f"{last.weight / (first.weight or 1.0):.0%} of their weight. The homophily, the "
        f"{HOMOPHILY}, changed from {_percent(first.homophily)} to {_percent(last.homophily)}."
    )


def _percent(value: float) -> str:
    return f"{value:.1%}" if np.isfinite(value) else ""
