"""Sections of a study's page: tables, differences from the paper, gaps, settings, commands."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from manyview.experiments.plan import plan_names
from manyview.experiments.study import Study
from manyview.methods import find_method
from manyview.report.html.markup import render
from manyview.report.html.page import Section, folded, notes, section
from manyview.report.html.tables import Column, HtmlCell, pairs, table
from manyview.report.listings import shown_params
from manyview.report.study.comparison import format_p_value
from manyview.report.study.results import (
    dataset_title,
    far_from_paper,
    point_title,
    ratio_title,
    reason_of,
    value_title,
)
from manyview.report.study.table import RANK, Table, TableCell, flat_header
from manyview.report.study.text import skipped_notes

FAR = 5.0  # points of accuracy
MAX_ROWS = 20
VERBS = ("run", "report")


def table_section(tables: Sequence[Table], cost: Table | None) -> Section:
    """Show the first tables and fold the wider ones."""
    parts: list[Markup] = []
    for number, one in enumerate(tables):
        if one.groups and number:
            parts.append(folded("Our results and the paper's", _table(one)))
        else:
            parts.append(_table(one, title=one.title if number else ""))
    if cost is not None:
        parts.append(folded("Fitting time in seconds", _table(cost)))
    return section("Tables", *parts)


def _table(one: Table, *, title: str = "") -> Markup:
    heads = flat_header(one)
    order = list(range(1, len(one.header)))
    if one.header[-1] == RANK:  # visible without scrolling
        order = [order[-1], *order[:-1]]
    footnotes = dict(one.notes)
    columns = [Column(one.header[0]), *(Column(heads[n], True) for n in order)]
    blocks = []
    for block in one.blocks:
        rows = [[row[0].text, *(_cell(row[n], footnotes) for n in order)] for row in block.rows]
        blocks.append(table(block.label, columns, rows, filterable=len(rows) > MAX_ROWS))
    caption = " ".join([*one.legend("Bold", "Underlined", "≈"), *one.caption])
    return render("study_table", title=title, blocks=blocks, caption=caption, notes=one.notes)


def _cell(cell: TableCell, footnotes: Mapping[str, str]) -> HtmlCell:
    p_value = ""
    if cell.p_value is not None:
        p_value = f"p value against the best: {format_p_value(cell.p_value)}"
    note = footnotes.get(cell.note, "")
    content = render("study_cell", cell=cell, note=note, p_value=p_value)
    return HtmlCell(content, "" if cell.value is None else cell.value)


def difference_section(study: Study) -> Section | None:
    """List the results that are far from the paper's."""
    if not study.plan.paper:
        return None
    found = far_from_paper(study, FAR)
    columns = [*_case_columns(), *(Column(n, True) for n in ("ours", "paper", "difference"))]
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
    drawn = (
        table(
            "Far from the paper", columns, rows, filterable=True, n_first=MAX_ROWS,
            hide_caption=True,
        )
        if found
        else None
    )  # fmt: skip
    intro = f"{how_many} from the paper's by more than {FAR:g} points."
    return section("Comparison with the paper", drawn, intro=intro)


def gap_section(study: Study) -> Section | None:
    """List missing results: unavailable data, skipped lines and failed trials, with reasons."""
    records = study.store.records()
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for key, (cell, trial) in study.keys.items():
        if key in records and records[key]["status"] != "done":
            title = ", ".join(
                filter(None, [study.plan.entry(cell.entry).title, point_title(cell.point)])
            )
            place = (cell.dataset, title, ratio_title(cell.label_ratio), reason_of(records[key]))
            groups.setdefault(place, []).append(trial.seed)
    skipped_lines = skipped_notes(study.store)
    if not groups and not study.skipped and not skipped_lines:
        return None
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
        "Missing results",
        notes(
            [f"{dataset_title(name)}: {reason}" for name, reason in study.skipped.items()]
            + skipped_lines
        ),
        table(
            "Failed trials", [*_case_columns(), Column("seeds"), Column("reason")], rows,
            filterable=len(rows) > MAX_ROWS // 2, n_first=MAX_ROWS, as_cards=True,
        ) if rows else None,
        intro=f"Failed trials: {n_failed:,}. Unavailable data sets: {len(study.skipped)}.",
    )  # fmt: skip


def _case_columns() -> list[Column]:
    return [Column("data set"), Column("method"), Column("labels")]


def settings_section(study: Study) -> Section:
    """List the parameters of every entry: those changed, and the defaults of its method."""
    columns = [Column("entry"), Column("method"), Column("changed"), Column("seeds", True)]
    rows, defaults = [], []
    for entry in study.plan.entries:
        changed = [f"{name} = {value_title(value)}" for name, value in entry.params.items()]
        changed += [
            f"{name} in {', '.join(map(value_title, values))}"
            for name, values in entry.grid.items()
        ]
        rows.append([entry.title, entry.method, "; ".join(changed) or "nothing", len(entry.seeds)])
    for name in dict.fromkeys(entry.method for entry in study.plan.entries):
        method = find_method(name)
        shown = [(n, value_title(v)) for n, v in shown_params(method().get_params()).items()]
        title = f"{method.card.title}, version {method.card.version}"
        defaults.append(pairs(title, shown, hide_caption=False))
    return section(
        "Settings",
        table("Entries of the plan", columns, rows, sortable=False, hide_caption=True),
        folded("Defaults of every method", *defaults),
        intro="Every method uses its defaults except for the changes listed here.",
    )


def reproduce_section(study: Study) -> Section:
    """Give the commands that reproduce the study, and the package versions of the records."""
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
        "How to reproduce",
        render("commands", commands=commands),
        pairs("Versions", rows) if rows else None,
        intro="The first command runs the trials that are not in the store yet. A record's key "
        "covers its data, split, seed and settings.",
    )
