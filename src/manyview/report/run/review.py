"""The samples to check first, with the neighbors and views behind their predictions."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from markupsafe import Markup
from scipy import sparse

from manyview.explain.records import Explanation
from manyview.label_audit.audit import LabelIssues
from manyview.report.html.markup import render
from manyview.report.html.page import Section, section
from manyview.report.html.tables import Column, HtmlCell, table
from manyview.report.layout import signed
from manyview.report.run.facts import NO_CLASS, SampleFacts, Supporter, agreement, supporters

N_CHECKED, N_FIRST = 30, 8
N_SUPPORTERS = 3
N_CONTRADICTED = 10
N_DOUBTED = 50
AGREEMENT = "fraction of the edge weight that goes to samples with the same prediction"
STRONGEST = (
    "The last column lists the strongest neighbors: label, name, and the views in which they are "
    "neighbors."
)
REASONS = (
    "The last column gives the reasons: the neighbors that contributed most, in log-odds of the "
    "prediction against the runner-up, with their label, their name, the views in which they are "
    "neighbors, and any view whose removal changes the prediction."
)


def review_section(
    facts: SampleFacts,
    graph: sparse.csr_array | None,
    view_graphs: Mapping[str, sparse.csr_array],
    explain: Callable[[int], Explanation] | None = None,
    issues: LabelIssues | None = None,
) -> Section | None:
    """List the least certain samples, and given labels that are probably wrong.

    With `explain`, each neighbor comes with its contribution to the prediction. Where the label
    audit, `issues`, doubts none, the labels are those that the predictions contradict.
    """
    least, doubted = facts.least_certain(N_CHECKED), None
    if issues is not None and issues.is_suspicious.any():
        doubted = _second_look(facts, issues)
    elif len(rows := facts.contradicted(N_CONTRADICTED)):
        doubted = _contradicted(facts, rows)
    parts = []
    if len(least):
        hide = doubted is None
        parts.append(_least_certain(facts, least, graph, view_graphs, explain, hide_caption=hide))
    if doubted is not None:
        parts.append(doubted)
    if not parts:
        return None
    intro = "These predictions are the least certain. Labels for these samples help most."
    if graph is not None:
        intro += f" Agreement is the {AGREEMENT}. {STRONGEST if explain is None else REASONS}"
    if not len(least):
        intro = "These given labels are worth a second look."
    return section("Check these first", *parts, intro=intro)


def _least_certain(
    facts: SampleFacts,
    rows: np.ndarray,
    graph: sparse.csr_array | None,
    view_graphs: Mapping[str, sparse.csr_array],
    explain: Callable[[int], Explanation] | None,
    *,
    hide_caption: bool,
) -> Markup:
    columns = [Column("sample"), Column("prediction"), Column("runner-up")]
    has_truth = bool(facts.is_scored[rows].any())
    if has_truth:
        columns.append(Column("truth"))
    if facts.confidence is not None:
        columns.append(Column("confidence", True))
    if graph is not None:
        agree = agreement(graph, facts.predictions)
        columns.append(Column("agreement", True, AGREEMENT))
        heading = "strongest neighbors" if explain is None else "reasons"
        columns.append(Column(heading, is_sortable=False))
    names = facts.names
    lines = []
    for row in rows.tolist():
        first, second = float(facts.probabilities[row]), float(facts.second_probabilities[row])
        line: list[object] = [
            facts.ids[row],
            HtmlCell(names[facts.predictions[row]], first, detail=f"{first:.2f}", kind="strong"),
            HtmlCell(names[facts.runners_up[row]], second, detail=f"{second:.2f}", kind="strong"),
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
            line.append(HtmlCell(listed, len(found)))
        lines.append(line)
    return table(
        "Least certain samples",
        columns,
        lines,
        filterable=True,
        sorted_by=1,
        n_first=N_FIRST,
        as_cards=True,
        hide_caption=hide_caption,
    )


def _second_look(facts: SampleFacts, issues: LabelIssues) -> Markup:
    """List the labels that are more probably wrong than right."""
    places = issues.ranked[: min(int(issues.is_suspicious.sum()), N_DOUBTED)].tolist()
    return table(
        "Labels worth a second look",
        [
            Column("sample"),
            Column("given"),
            Column("suggested"),
            Column("wrong", True, "probability that the given label is wrong"),
        ],
        [
            [
                facts.ids[issues.samples[place]],
                facts.names[issues.y_encoded[place]],
                facts.names[issues.suggested[place]],
                f"{issues.wrong[place]:.0%}",
            ]
            for place in places
        ],
        n_first=N_FIRST,
    )


def _contradicted(facts: SampleFacts, rows: np.ndarray) -> Markup:
    return table(
        "Given labels that the predictions contradict",
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
) -> Markup:
    items = [
        {
            **_labeled(facts, one.row),
            "part": "",
            "where": _where(str(facts.ids[one.row]), one.views, all_views),
            "is_against": facts.known_class(one.row) != facts.predictions[row],
        }
        for one in found
    ]
    return render("reasons", neighbors=items, own="", changes=[])


def _reasons(facts: SampleFacts, why: Explanation, all_views: Sequence[str]) -> Markup:
    items = [
        {
            **_labeled(facts, one.row),
            "part": signed(one.margin),
            "where": _where(one.name, list(one.views), all_views),
            "is_against": one.margin < 0,
        }
        for one in why.neighbors[:N_SUPPORTERS]
    ]
    n_rest, for_prediction, for_runner_up = why.rest(N_SUPPORTERS)
    own = f"{signed(why.itself.margin)} itself"
    if n_rest:
        rest = signed(for_prediction - for_runner_up)
        own += f", {rest} from {n_rest} other{'' if n_rest == 1 else 's'}"
    changes = [
        f"{one.prediction_without} without {one.view}"
        for one in why.views
        if one.changes_prediction
    ]
    return render("reasons", neighbors=items, own=own, changes=changes)


def _labeled(facts: SampleFacts, row: int) -> dict[str, object]:
    return {
        "label": facts.names[facts.known_class(row)],
        "is_given": facts.given[row] != NO_CLASS,
    }


def _where(name: str, views: Sequence[str], all_views: Sequence[str]) -> str:
    """Name a neighbor and the views of the edge, or those without it where they are fewer."""
    missing = [view for view in all_views if view not in views]
    if not views:
        return name
    if len(all_views) > 1 and not missing:
        return f"{name} in {'both' if len(all_views) == 2 else f'all {len(all_views)}'} views"
    if len(all_views) > 3 and len(missing) == 1:
        return f"{name} in all but {missing[0]}"
    return f"{name} in {', '.join(views)}"


def _truth(facts: SampleFacts, row: int) -> HtmlCell:
    if facts.truth[row] == NO_CLASS:
        return HtmlCell("")
    is_right = facts.truth[row] == facts.predictions[row]
    return HtmlCell(facts.names[facts.truth[row]], kind="" if is_right else "warm")
