"""Sections on a run's model: its views, its graphs before and after selection, its learning."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manyview.base.summary import StageRecord
from manyview.explain.records import ViewEffect
from manyview.report.html.markup import Html, element, join
from manyview.report.html.page import Section, section, side_by_side
from manyview.report.html.tables import Column, table
from manyview.report.run.facts import GraphFacts
from manyview.report.run.text import STOPPED
from manyview.report.svg.charts import LEAN, Series, bars, histogram, lines
from manyview.runs.records import Run

COLUMN_WORDS = (
    "Degree: the least, the median and the largest number of edges of a sample. Effective: the "
    "edges a sample listens to, weak ones counting less. Sparsity: the share of all pairs of "
    "samples without an edge."
)
STAGE_WORDS = {
    "fused": "the views' graphs, mixed",
    "refined": "after graph learning",
    "selected": "after node selection",
    "learned": "learned from the views",
}


def view_section(
    run: Run,
    model: Any,
    graphs: Mapping[str, GraphFacts],
    effects: Sequence[ViewEffect] = (),
) -> Section:
    """Tell how much each view counted, how well its own neighbors agree, and who needs it."""
    sizes = {
        **{name: f"{size:,}" for name, size in run.data.views.items()},
        **dict.fromkeys(run.data.graphs, "graph"),
    }
    importance = run.view_importance or _weights(model, list(sizes))
    columns, rows = [Column("view"), Column("features", True)], [[n, s] for n, s in sizes.items()]
    if importance is not None:
        columns.append(Column("importance", True))
        for row in rows:
            row.append(f"{importance[row[0]]:.1%}")
    if graphs:
        columns.append(Column("edges", True))
        columns.append(Column("homophily", True, "share of the edge weight within one prediction"))
        for row in rows:
            facts = graphs[row[0]]
            row += [f"{facts.n_edges:,}", _share(facts.homophily)]
    drawn = Html()
    intro = "The views, and how large they are."
    if importance is not None:
        drawn = bars(
            "View importance",
            list(importance),
            [Series("importance", [importance[name] for name in importance])],
            description="Share of each view; all shares add up to one.",
            form=".1%",
            width=LEAN,
        )
        intro = "How much each view counted in the predictions; the shares add up to 100%."
    if graphs:
        intro += " A view's homophily is high where its neighbors have the same prediction."
    return section(
        "Views",
        side_by_side(drawn, table("Views", columns, rows, hide_caption=True), lean=True),
        _left_out_table(effects),
        intro=intro,
    )


def _left_out_table(effects: Sequence[ViewEffect]) -> Html:
    """Tell what becomes of the predictions when one view is left out."""
    if not effects:
        return Html()
    columns = [Column("left out"), Column("predictions that change", True), Column("share", True)]
    rows = [[one.view, f"{one.n_changed:,}", f"{one.fraction_changed:.1%}"] for one in effects]
    words = (
        "Without a view's edges and features, the other views in their place, and nothing "
        "learned anew."
    )
    accuracy = effects[0].accuracy
    if accuracy is not None:
        columns.append(Column("accuracy", True))
        for row, one in zip(rows, effects, strict=True):
            row.append(f"{one.accuracy_without or 0:.1%}")
        words += (
            f" Accuracy is on the {effects[0].n_scored:,} hidden labels; with all views it is "
            f"{accuracy:.1%}."
        )
    return join(
        table("What each view is needed for", columns, rows),
        element("p", words, class_="soft small"),
    )


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
        Column("sparsity", True, "share of the pairs without an edge"),
        Column("degree", True, "edges of a sample: least, median, most"),
        Column("effective", True, "edges a sample listens to, the weak ones counting less"),
        Column("weight left", True, "sum of the edge weights, compared with the first graph"),
        Column("homophily", True, "share of the edge weight within one prediction"),
    ]
    if has_truth:
        columns.append(
            Column("by the truth", True, "share of the edge weight within one true class")
        )
    first = next(iter(graphs.values()))
    rows = []
    for name, facts in graphs.items():
        least, middle, most = np.percentile(facts.degrees, [0, 50, 100])
        row: list[object] = [
            join(name, element("span", f" {STAGE_WORDS[name]}", class_="soft light")),
            f"{facts.n_edges:,}",
            f"{facts.sparsity:.2%}",
            f"{least:.0f} · {middle:.0f} · {most:.0f}",
            f"{facts.n_effective:.1f}",
            f"{facts.weight / (first.weight or 1.0):.0%}",
            _share(facts.homophily),
        ]
        rows.append([*row, _share(facts.true_homophily)] if has_truth else row)
    *_, (last_name, last) = graphs.items()
    ends = {next(iter(graphs)): first, last_name: last}
    n_bins = min(24, max(int(max(one.degrees.max() for one in ends.values())), 4))
    charts = side_by_side(
        histogram(
            "Edges of a sample",
            {name: one.degrees for name, one in ends.items()},
            x_name="edges",
            description=f"Median {np.median(last.degrees):.0f} in the {last_name} graph.",
            stacked=False,
            n_bins=n_bins,
        ),
        histogram(
            "Edge weight of a sample",
            {name: one.strengths for name, one in ends.items()},
            x_name="sum of its edge weights",
            description=f"Median {np.median(last.strengths):.2f} in the {last_name} graph.",
            stacked=False,
            n_bins=24,
        ),
    )
    intro = _graph_intro(graphs, first, last)
    if threshold is not None:
        intro += (
            f" Edges whose two samples have a mean confidence below {threshold:.3f} are removed."
        )
    return section(
        "Graph",
        table(
            "The graph, stage by stage", columns, rows,
            sortable=False, as_cards=True, hide_caption=True,
        ),
        element("p", COLUMN_WORDS, class_="soft small"),
        charts,
        intro=intro,
    )  # fmt: skip


def learning_section(run: Run, model: Any) -> Section | None:
    """Draw the learning curve, or the objective of a method that has no epochs."""
    curve = getattr(model, "training_curve_", None)
    if curve is not None and curve.n_epochs > 1:
        epochs = list(range(1, curve.n_epochs + 1))
        loss = lines(
            "Loss on the given labels",
            epochs,
            [Series("loss", curve.loss)],
            x_name="epoch",
            description=f"From {curve.loss[0]:.3g} to {curve.loss[-1]:.3g}.",
        )
        accuracy = lines(
            "Accuracy on the given labels",
            epochs,
            [Series("accuracy", curve.labeled_accuracy)],
            x_name="epoch",
            form=".0%",
            description=f"{curve.labeled_accuracy[-1]:.0%} in the last epoch.",
        )
        intro = (
            f"{curve.n_epochs} epochs, {STOPPED[curve.stopped]}. Dropout is on while learning, so "
            f"single epochs jump.{rounds_words(getattr(model, 'rounds_', []))}"
        )
        return section("Learning", side_by_side(loss, accuracy), intro=intro)
    steps = getattr(model, "objective_", None)
    if steps is None or np.ndim(steps) != 1 or len(steps) < 2:
        return None
    values = [float(value) for value in steps]
    drawn = lines(
        "Objective by step",
        list(range(1, len(values) + 1)),
        [Series("objective", values)],
        x_name="step",
        from_zero=False,
        description=f"From {values[0]:.3g} to {values[-1]:.3g}.",
    )
    intro = f"{run.settings.method} took {len(values)} steps towards a lower objective."
    return section("Learning", drawn, intro=intro)


def rounds_words(rounds: Sequence[StageRecord]) -> str:
    """Say that the network was taught by others before it, and what that changed.

    Examples
    --------
    >>> rounds_words([StageRecord(50, 0.061, np.ones(2))])
    ' This is network 2: each one taught the next by its predictions, of which 6.1 % changed.'
    >>> rounds_words([])
    ''
    """
    if not rounds:
        return ""
    changed = ", then ".join(f"{100 * one.changed:.1f} %" for one in rounds)
    return (
        f" This is network {len(rounds) + 1}: each one taught the next by its predictions, of "
        f"which {changed} changed."
    )


def _graph_intro(graphs: Mapping[str, GraphFacts], first: GraphFacts, last: GraphFacts) -> str:
    if len(graphs) == 1:
        return (
            f"The graph has {first.n_edges:,} edges. {_share(first.homophily)} of their weight is "
            "between samples of the same prediction: its homophily."
        )
    *names, last_name = graphs
    left = (
        f"All {first.n_edges:,} edges of the {names[0]} graph"
        if last.n_edges == first.n_edges
        else f"{last.n_edges:,} of the {first.n_edges:,} edges of the {names[0]} graph"
    )
    return (
        f"{left} are left in the {last_name} one, with {last.weight / (first.weight or 1.0):.0%} "
        "of the weight. The share of the weight between samples of the same prediction, the "
        f"homophily, went from {_share(first.homophily)} to {_share(last.homophily)}."
    )


def _weights(model: Any, names: list[str]) -> dict[str, float] | None:
    """Weights of the views under the name most compared methods have for them."""
    weights = getattr(model, "view_weights_", None)
    if weights is None or np.shape(weights) != (len(names),) or not np.sum(weights) > 0:
        return None
    return dict(zip(names, (np.asarray(weights) / np.sum(weights)).tolist(), strict=True))


def _share(value: float) -> str:
    return f"{value:.1%}" if np.isfinite(value) else ""
