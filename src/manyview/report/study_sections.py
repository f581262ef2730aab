"""Sections of a study's page that are tables: results, differences, failures, settings."""

from collections.abc import Mapping, Sequence

from manyview.experiments.plan import plan_names
from manyview.experiments.study import Study
from manyview.methods import find_method
from manyview.report.html_tables import Cell as HtmlCell
from manyview.report.html_tables import Column, pairs, table
from manyview.report.markup import Html, element, join
from manyview.report.method_text import NOT_SETTINGS
from manyview.report.page import Section, folded, notes, section
from manyview.report.results import (
    dataset_title,
    far_from_paper,
    point_title,
    ratio_title,
    reason_of,
    value_title,
)
from manyview.report.table import BEST, RANK, SECOND, Table, TableCell

FAR = 5.0
MOST_ROWS = 20
VERBS = ("run", "report")


def table_section(tables: Sequence[Table], cost: Table | None) -> Section:
    """Set the first tables openly and the wider ones folded, sortable, with what marks mean."""
    parts: list[Html] = []
    for number, one in enumerate(tables):
        has_title = len(tables) > 1
        if one.groups and number:
            parts.append(folded("Ours beside the paper's", *_table(one, has_title=False)))
        else:
            parts += _table(one, has_title=has_title and number > 0)
    if cost is not None:
        parts.append(folded("Time of a fit, in seconds", *_table(cost, has_title=False)))
    return section("Tables", *parts)


def _table(one: Table, *, has_title: bool) -> list[Html]:
    groups = [name for name, size in one.groups for _ in range(size)] or [""] * len(one.header[1:])
    heads = [f"{g} {h}".strip() for g, h in zip(groups, one.header[1:], strict=True)]
    order = list(range(1, len(one.header)))
    if one.header[-1] == RANK:  # what sums up all columns is worth to be seen without scrolling
        order = [order[-1], *order[:-1]]
    parts = [element("h3", one.title)] if has_title else []
    told = dict(one.notes)
    for block in one.blocks:
        columns = [Column(one.header[0]), *(Column(heads[n - 1], True) for n in order)]
        rows = [[row[0].text, *(_cell(row[n], told) for n in order)] for row in block.rows]
        parts.append(table(block.label, columns, rows, filterable=len(rows) > MOST_ROWS))
    sentences = [*one.legend("Bold", "underlined", "≈"), *one.caption]
    parts.append(element("p", " ".join(sentences), class_="soft"))
    if one.notes:
        marks = [join(element("b", letter), f" {note}.") for letter, note in one.notes]
        parts.append(element("ul", *(element("li", mark) for mark in marks), class_="plain soft"))
    return parts


def _cell(cell: TableCell, told: Mapping[str, str]) -> HtmlCell:
    """Set marks before the number, so that numbers stay below each other."""
    text: object = cell.text
    if cell.mark == BEST:
        text = element("b", cell.text)
    elif cell.mark == SECOND:
        text = element("u", cell.text)
    tied = element("span", "≈ ", class_="soft") if cell.is_tied else None
    tip = told.get(cell.note)
    note = element("span", f"{cell.note} ", class_="warm", data_tip=tip) if cell.note else None
    return HtmlCell(join(note, tied, text), "" if cell.value is None else cell.value)


def difference_section(study: Study) -> Section | None:
    """List the cells that are far from the paper's."""
    if not study.plan.paper:
        return None
    found = far_from_paper(study, FAR)
    columns = [
        Column("data set"),
        Column("method"),
        Column("labels"),
        Column("ours", True),
        Column("paper", True),
        Column("difference", True),
    ]
    rows = [
        [
            dataset_title(one.dataset),
            study.plan.entry(one.entry).title,
            ratio_title(one.label_ratio).removesuffix(" labels"),
            HtmlCell(f"{one.ours:.1f}", one.ours),
            HtmlCell(f"{one.paper:.1f}", one.paper),
            HtmlCell(f"{one.difference:+.1f}", one.difference),
        ]
        for one in found
    ]
    how_many = {0: "No mean differs", 1: "One mean differs"}.get(
        len(found), f"{len(found)} means differ"
    )
    intro = f"{how_many} from the paper's by more than {FAR:g} points."
    drawn = (
        table(
            "Far from the paper", columns, rows, filterable=True, n_first=MOST_ROWS,
            hide_caption=True,
        )
        if found
        else None
    )  # fmt: skip
    return section("Against the paper", drawn, intro=intro)


def gap_section(study: Study) -> Section | None:
    """Tell what is missing and why: data sets that are not here, trials that failed."""
    records = study.store.records()
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for key, (cell, trial) in study.keys.items():
        if key in records and records[key]["status"] != "done":
            title = ", ".join(
                filter(None, [study.plan.entry(cell.entry).title, point_title(cell.point)])
            )
            place = (cell.dataset, title, ratio_title(cell.label_ratio), reason_of(records[key]))
            groups.setdefault(place, []).append(trial.seed)
    if not groups and not study.skipped:
        return None
    columns = [
        Column("data set"),
        Column("method"),
        Column("labels"),
        Column("seeds"),
        Column("why"),
    ]
    rows = [
        [
            dataset_title(dataset),
            entry,
            ratio.removesuffix(" labels"),
            ", ".join(map(str, sorted(seeds))),
            f"{reason}.",
        ]
        for (dataset, entry, ratio, reason), seeds in groups.items()
    ]
    n_failed = sum(map(len, groups.values()))
    return section(
        "What is missing",
        notes([f"{dataset_title(name)}: {reason}" for name, reason in study.skipped.items()]),
        table(
            "Failed trials", columns, rows, filterable=len(rows) > MOST_ROWS // 2,
            n_first=MOST_ROWS, as_cards=True,
        ) if rows else None,
        intro=f"{n_failed:,} trials failed; {len(study.skipped)} data sets are not here.",
    )  # fmt: skip


def settings_section(study: Study) -> Section:
    """List what every entry was run with, changed and default."""
    columns = [Column("entry"), Column("method"), Column("changed"), Column("seeds", True)]
    rows, folds = [], []
    for entry in study.plan.entries:
        changed = [f"{name} = {value_title(value)}" for name, value in entry.params.items()]
        changed += [
            f"{name} in {', '.join(map(value_title, values))}"
            for name, values in entry.grid.items()
        ]
        rows.append([entry.title, entry.method, "; ".join(changed) or "nothing", len(entry.seeds)])
    for method in dict.fromkeys(entry.method for entry in study.plan.entries):
        card, defaults = find_method(method).card, find_method(method)().get_params()
        shown = [(n, value_title(v)) for n, v in defaults.items() if n not in NOT_SETTINGS]
        folds.append(element("h3", f"{card.title}, version {card.version}"))
        folds.append(pairs(f"Defaults of {card.title}", shown))
    return section(
        "Settings",
        table("Entries of the plan", columns, rows, sortable=False, hide_caption=True),
        folded("Defaults of every method", *folds),
        intro="Every method has its defaults but for what is changed here.",
    )


def reproduce_section(study: Study) -> Section:
    """Give the commands, and the versions the records were made with."""
    plan = study.plan
    name = plan.name if plan.name in plan_names() else f"{plan.name}.toml"
    commands = [f"manyview bench {verb} {name} --out {study.store.folder}" for verb in VERBS]
    records = study.store.records()
    versions: dict[str, set[str]] = {}
    for key in study.keys:
        for package, version in records.get(key, {}).get("versions", {}).items():
            versions.setdefault(package, set()).add(str(version))
    rows: list[tuple[str, object]] = [
        (package, ", ".join(sorted(found))) for package, found in versions.items()
    ]
    return section(
        "How to get these results",
        element("div", element("pre", element("code", "\n".join(commands))), class_="scroll"),
        pairs("Versions", rows) if rows else None,
        intro="The first command does what is not in the store yet; data, splits and seeds are "
        "part of every record's key.",
    )
