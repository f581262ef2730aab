"""The section to act on: samples worth a look, with the neighbors that speak for and against."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import sparse

from manyview.explain.records import Evidence, Explanation
from manyview.report.html.markup import Html, element, join
from manyview.report.html.page import Section, section
from manyview.report.html.tables import Cell, Column, table
from manyview.report.layout import signed
from manyview.report.run.facts import NO_CLASS, SampleFacts, Supporter, agreement, supporters

N_CHECKED, N_FIRST = 30, 8
N_SUPPORTERS = 3
N_CONTRADICTED = 10
STRONGEST_WORDS = (
    "Beside it, the strongest neighbors: their label, their name, and the views in which the two "
    "are neighbors."
)
REASON_WORDS = (
    "Beside it, the reasons: the neighbors that added most to the prediction or to its runner-up, "
    "in log-odds of the one against the other, with their label, their name, and the views in "
    "which the two are neighbors; and the prediction without a view where that is another."
)


def check_section(
    facts: SampleFacts,
    graph: sparse.csr_array | None,
    view_graphs: Mapping[str, sparse.csr_array],
    explain: Callable[[int], Explanation] | None = None,
) -> Section | None:
    """List the samples worth a look: the least certain, and given labels the method doubts.

    Where the method can `explain` a row, neighbors come with their part of the prediction.
    """
    least, doubted = facts.least_certain(N_CHECKED), facts.contradicted(N_CONTRADICTED)
    parts = []
    if len(least):
        hide = not len(doubted)
        parts.append(_check_table(facts, least, graph, view_graphs, explain, hide_caption=hide))
    if len(doubted):
        parts.append(_doubted_table(facts, doubted))
    if not parts:
        return None
    intro = "The samples the method is least sure of. A label for one of these helps most."
    if graph is not None:
        intro += (
            " Agreement is the share of a sample's edge weight that goes to samples of the same "
            "prediction. "
        )
        intro += STRONGEST_WORDS if explain is None else REASON_WORDS
    if not len(least):
        intro = "Given labels that the method would not have given."
    return section("Check these first", *parts, intro=intro)


def _check_table(
    facts: SampleFacts,
    rows: np.ndarray,
    graph: sparse.csr_array | None,
    view_graphs: Mapping[str, sparse.csr_array],
    explain: Callable[[int], Explanation] | None,
    *,
    hide_caption: bool,
) -> Html:
    columns = [Column("sample"), Column("prediction"), Column("or else")]
    has_truth = bool(facts.is_scored[rows].any())
    if has_truth:
        columns.append(Column("truth"))
    if facts.confidence is not None:
        columns.append(Column("confidence", True))
    if graph is not None:
        agree = agreement(graph, facts.predictions)
        columns.append(Column("agreement", True, "share of the edge weight to the same prediction"))
        heading = "strongest neighbors" if explain is None else "reasons"
        columns.append(Column(heading, is_sortable=False))
    cells = []
    for row in rows.tolist():
        first, second = facts.probabilities[row], facts.second_probabilities[row]
        line: list[object] = [
            facts.ids[row],
            Cell(_prediction(facts.names[facts.predictions[row]], first), float(first)),
            Cell(_prediction(facts.names[facts.runners_up[row]], second), float(second)),
        ]
        if has_truth:
            line.append(_truth(facts, row))
        if facts.confidence is not None:
            line.append(f"{facts.confidence[row]:.2f}")
        if graph is not None:
            found = supporters(row, graph, view_graphs, N_SUPPORTERS)
            line.append(f"{agree[row]:.0%}" if found else "")
            listed = (
                _neighbors(facts, row, found, list(view_graphs))
                if explain is None
                else _reasons(facts, explain(row), list(view_graphs))
            )
            line.append(Cell(listed, len(found)))
        cells.append(line)
    return table(
        "Least certain samples",
        columns,
        cells,
        filterable=True,
        sorted_by=1,
        n_first=N_FIRST,
        as_cards=True,
        hide_caption=hide_caption,
    )


def _doubted_table(facts: SampleFacts, rows: np.ndarray) -> Html:
    return table(
        "Given labels the method doubts",
        [Column("sample"), Column("given"), Column("prediction"), Column("probability", True)],
        [
            [
                facts.ids[row],
                facts.names[facts.given[row]],
                facts.names[facts.predictions[row]],
                f"{facts.probabilities[row]:.2f}",
            ]
            for row in rows.tolist()
        ],
    )


def _neighbors(
    facts: SampleFacts, row: int, found: list[Supporter], all_views: Sequence[str]
) -> Html:
    if not found:
        return element("span", "none", class_="soft")
    items = []
    for one in found:
        label = (
            facts.given[one.row] if facts.given[one.row] != NO_CLASS else facts.predictions[one.row]
        )
        known = " (given)" if facts.given[one.row] != NO_CLASS else ""
        items.append(
            element(
                "li",
                element("b", facts.names[label]),
                known,
                element(
                    "span", f" {_in_words(one, str(facts.ids[one.row]), all_views)}", class_="soft"
                ),
                class_=None if label == facts.predictions[row] else "against",
            )
        )
    return element("ul", *items, class_="plain")


def _reasons(facts: SampleFacts, why: Explanation, all_views: Sequence[str]) -> Html:
    n_rest, for_prediction, for_runner_up = why.rest(N_SUPPORTERS)
    rest = (
        f"{signed(for_prediction - for_runner_up)} from {n_rest} other{'' if n_rest == 1 else 's'}"
    )
    own = f"{signed(why.itself.margin)} itself"
    changes = [
        f"{one.prediction_without} without {one.view}"
        for one in why.views
        if one.changes_prediction
    ]
    return element(
        "ul",
        *(_reason(facts, one, all_views) for one in why.neighbors[:N_SUPPORTERS]),
        element("li", ", ".join([own, rest] if n_rest else [own]), class_="soft"),
        element("li", "; ".join(changes), class_="warm") if changes else None,
        class_="plain",
    )


def _reason(facts: SampleFacts, one: Evidence, all_views: Sequence[str]) -> Html:
    label = facts.given[one.row] if facts.given[one.row] != NO_CLASS else facts.predictions[one.row]
    known = " (given)" if facts.given[one.row] != NO_CLASS else ""
    return element(
        "li",
        f"{signed(one.margin)} ",
        element("b", facts.names[label]),
        known,
        element("span", f" {_in_words(one, one.name, all_views)}", class_="soft"),
        class_=None if one.margin >= 0 else "against",
    )


def _in_words(one: Supporter | Evidence, name: str, all_views: Sequence[str]) -> str:
    """Name a neighbor and the views of the edge, the shorter way round."""
    missing = [view for view in all_views if view not in one.views]
    if not one.views:
        return name
    if len(all_views) > 1 and not missing:
        return f"{name} in {'both' if len(all_views) == 2 else f'all {len(all_views)}'} views"
    if len(all_views) > 3 and len(missing) == 1:
        return f"{name} in all but {missing[0]}"
    return f"{name} in {', '.join(one.views)}"


def _prediction(name: str, probability: float) -> Html:
    return join(element("b", name), element("span", f" {probability:.2f}", class_="soft"))


def _truth(facts: SampleFacts, row: int) -> object:
    if facts.truth[row] == NO_CLASS:
        return ""
    name = facts.names[facts.truth[row]]
    is_right = facts.truth[row] == facts.predictions[row]
    return name if is_right else element("span", name, class_="warm")
