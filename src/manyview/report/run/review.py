"""What to do next, with the commands; then labels to look at again and samples to check."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from markupsafe import Markup
from scipy import sparse

from manyview.data.label_values import count_of
from manyview.label_audit.audit import LabelIssues
from manyview.report.commands import add_labels_command, next_folder, run_command
from manyview.report.html.markup import element, join, render
from manyview.report.html.page import Section, section
from manyview.report.html.tables import Column, HtmlCell, table
from manyview.report.run.facts import NO_CLASS, SampleFacts, Supporter, agreement, supporters
from manyview.report.run.reasons import in_views, same_label
from manyview.report.run.samples import sample_button
from manyview.runs.records import Run

N_CHECKED, N_FIRST = 30, 8
N_SUPPORTERS = 3
N_CONTRADICTED = 10
N_DOUBTED = 50
CHECKS = "Checks"
N_NEXT = 10  # samples that the command proposes
NEXT_FILE = "next.csv"
AGREEMENT = "fraction of the edge weight that goes to samples with the same prediction"


@dataclass(frozen=True)
class PageSamples:
    """What a page knows about single samples.

    Attributes
    ----------
    place_of
        Number of each row in the table of samples.
    reason
        Returns the reasons of a row's prediction as a sentence; None without reasons.
    picture
        Returns the picture of a row; None without pictures.
    """

    place_of: dict[int, int] = field(default_factory=dict)
    reason: Callable[[int], str] | None = None
    picture: Callable[[int], Markup] | None = None


def doubted_rows(facts: SampleFacts, issues: LabelIssues | None) -> np.ndarray:
    """Return the rows of given labels to look at again, the most doubtful first."""
    if issues is not None and issues.is_suspicious.any():
        n_doubted = min(int(issues.is_suspicious.sum()), N_DOUBTED)
        return np.asarray(issues.samples[issues.ranked[:n_doubted]])
    return facts.contradicted(N_CONTRADICTED)


@dataclass(frozen=True)
class Step:
    """A thing to do: words, the command for it, and the section that lists what it is about."""

    words: str
    command: str = ""
    anchor: str = ""


def next_section(run: Run, facts: SampleFacts, issues: LabelIssues | None = None) -> Section | None:
    """List the next steps, most useful first; None where there is nothing left to do."""
    steps = _steps(run, facts, len(doubted_rows(facts, issues)))
    return section("What to do next", render("steps", steps=steps)) if steps else None


def review_section(
    facts: SampleFacts,
    graph: sparse.csr_array | None,
    view_graphs: Mapping[str, sparse.csr_array],
    page: PageSamples,
    issues: LabelIssues | None = None,
) -> Section | None:
    """List labels that are probably wrong, and the least certain samples.

    Where the label audit, `issues`, doubts none, the labels are those that the predictions
    contradict.
    """
    least, doubted = facts.least_certain(N_CHECKED), doubted_rows(facts, issues)
    if not len(least) and not len(doubted):
        return None
    parts: list[Markup] = []
    if len(doubted):
        is_audited = issues is not None and issues.is_suspicious.any()
        parts.append(
            _second_look(facts, issues, page)
            if is_audited and issues is not None
            else _contradicted(facts, doubted, page)
        )
    if len(least):
        parts.append(_least_certain(facts, least, graph, view_graphs, page))
    kinds = {"given labels that look wrong": doubted, "the least certain samples": least}
    what = " and ".join(words for words, rows in kinds.items() if len(rows))
    return section(CHECKS, *parts, intro=f"{what[0].upper()}{what[1:]}, to look at by eye.")


def _steps(run: Run, facts: SampleFacts, n_doubted: int) -> list[Step]:
    folder = run.folder if run.has_files else None
    checks = CHECKS.lower()
    steps = []
    if n_doubted:
        steps.append(
            Step(
                f"Look again at {count_of(n_doubted, 'given label')} that the model doubts.",
                _command("audit", folder),
                checks,
            )
        )
    n_open = int(facts.is_open.sum())
    n_next = min(N_NEXT, n_open)
    more = f"Label {count_of(n_next, 'more sample')} where it helps most."
    if n_open and folder is not None:
        next_file = folder / NEXT_FILE
        propose = run_command("propose", folder, f"-n {n_next}", "--out", str(next_file))
        steps.append(Step(more, propose))
        if run.settings.label_ratio is None:  # otherwise labels are known, and hidden to score
            again = add_labels_command(run.settings, next_file, next_folder(folder))
            merge = (
                "Fill in the file"
                if again
                else "Fill in the file, add its labels to those of your data,"
            )
            steps.append(Step(f"{merge} and fit again.", again))
    elif n_open:
        steps.append(Step(more, f"manyview.propose_labels(model, {n_next})"))
    if n_open:
        steps.append(Step("Check the least certain predictions by eye.", anchor=checks))
    return steps


def _command(verb: str, folder: Path | None) -> str:
    return "" if folder is None else run_command(verb, folder)


def _name(facts: SampleFacts, row: int, page: PageSamples) -> HtmlCell:
    button = sample_button(facts, row, page.place_of)
    shown = button if page.picture is None else join(page.picture(row), button)
    return HtmlCell(shown, str(facts.ids[row]))


def _least_certain(
    facts: SampleFacts,
    rows: np.ndarray,
    graph: sparse.csr_array | None,
    view_graphs: Mapping[str, sparse.csr_array],
    page: PageSamples,
) -> Markup:
    columns = [Column("sample"), Column("prediction"), Column("runner\u2011up")]
    has_truth = bool(facts.is_scored[rows].any())
    if has_truth:
        columns.append(Column("truth"))
    if graph is not None:
        agree = agreement(graph, facts.predictions)
        columns += [Column("agreement", True, AGREEMENT), Column("why", is_sortable=False)]
    lines = []
    for row in rows.tolist():
        first, second = float(facts.probabilities[row]), float(facts.second_probabilities[row])
        line: list[object] = [
            _name(facts, row, page),
            _class_cell(facts, int(facts.predictions[row]), first),
            _class_cell(facts, int(facts.runners_up[row]), second),
        ]
        if has_truth:
            line.append(_truth(facts, row))
        if graph is not None:
            found = supporters(row, graph, view_graphs, N_SUPPORTERS)
            line.append(f"{agree[row]:.0%}" if found else "")
            words = (
                _neighbor_sentence(facts, found, list(view_graphs))
                if page.reason is None
                else page.reason(row)
            )
            line.append(HtmlCell(element("span", words, class_="why"), len(found)))
        lines.append(line)
    return table(
        "Least certain samples",
        columns,
        lines,
        note="" if graph is None else f"Agreement: {AGREEMENT}.",
        filterable=True,
        sorted_by=1,
        n_first=N_FIRST,
        as_cards=True,
    )


def _class_cell(facts: SampleFacts, number: int, probability: float) -> HtmlCell:
    return HtmlCell(facts.names[number], probability, detail=f"{probability:.2f}", kind="strong")


def _second_look(facts: SampleFacts, issues: LabelIssues, page: PageSamples) -> Markup:
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
                _name(facts, int(issues.samples[place]), page),
                facts.names[issues.y_encoded[place]],
                facts.names[issues.suggested[place]],
                f"{issues.wrong[place]:.0%}",
            ]
            for place in places
        ],
        n_first=N_FIRST,
    )


def _contradicted(facts: SampleFacts, rows: np.ndarray, page: PageSamples) -> Markup:
    return table(
        "Given labels that the predictions contradict",
        [Column("sample"), Column("given"), Column("prediction"), Column("probability", True)],
        [
            [
                _name(facts, row, page),
                facts.names[facts.given[row]],
                facts.names[facts.predictions[row]],
                f"{facts.probabilities[row]:.2f}",
            ]
            for row in rows.tolist()
        ],
    )


def _neighbor_sentence(facts: SampleFacts, found: list[Supporter], all_views: Sequence[str]) -> str:
    """Name the strongest neighbors of a sample, for methods that cannot explain more."""
    if not found:
        return "No neighbors."
    groups: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for one in found:
        groups.setdefault((facts.known_class(one.row), one.views), []).append(one.row)
    clauses = [
        same_label(
            [str(facts.ids[row]) for row in rows],
            facts.names[label],
            is_given=all(facts.given[row] != NO_CLASS for row in rows),
        )
        + in_views(views, all_views)
        for (label, views), rows in groups.items()
    ]
    return f"Nearest: {'; '.join(clauses)}."


def _truth(facts: SampleFacts, row: int) -> HtmlCell:
    if facts.truth[row] == NO_CLASS:
        return HtmlCell("")
    is_right = facts.truth[row] == facts.predictions[row]
    return HtmlCell(facts.names[facts.truth[row]], kind="" if is_right else "warm")
