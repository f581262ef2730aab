"""What a study found, in two sentences made from its records."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from manyview.experiments.plan import Cell, Entry, plan_names
from manyview.experiments.study import Study
from manyview.methods import find_method
from manyview.report.html.markup import Html, element, join
from manyview.report.html.page import Section, folded, notes, section
from manyview.report.html.tables import Cell as HtmlCell
from manyview.report.html.tables import Column, pairs, table
from manyview.report.listings import NOT_SETTINGS
from manyview.report.study.comparison import Ranking, ranked
from manyview.report.study.results import (
    METRICS,
    Result,
    dataset_title,
    far_from_paper,
    point_title,
    ratio_title,
    reason_of,
    value_title,
)
from manyview.report.study.table import BEST, RANK, SECOND, Table, TableCell

MOST_NAMED = 3
Results = Mapping[Cell, Result]


def findings(study: Study, results: Results) -> list[str]:
    """Say who leads where and how often, or how much a grid matters; two sentences at most."""
    begun = {cell.entry for cell, result in results.items() if result.by_seed}
    if not begun:
        return ["No trial of this study is done yet."]
    plain = [entry for entry in study.plan.entries if not entry.grid and entry.name in begun]
    grids = [entry for entry in study.plan.entries if entry.grid and entry.name in begun]
    if len(plain) > 1:
        return [_leaders(study, plain, results), _order(study, plain, results)]
    if grids:
        return _grid(study, grids[0], results)
    return _single(study, plain[0], results)


def _leaders(study: Study, entries: list[Entry], results: Results) -> str:
    """Count in how many cases each entry is best; equal numbers share a case."""
    titles = {entry.name: _called(entry) for entry in entries}
    cases: dict[tuple[str, float, str], dict[str, float]] = {}
    for cell, result in results.items():
        if cell.entry in titles and not cell.point and result.mean is not None:
            case = cases.setdefault((cell.dataset, cell.label_ratio, cell.protocol), {})
            case[cell.entry] = round(result.mean, 1)
    cases = {place: means for place, means in cases.items() if len(means) > 1}
    if not cases:
        return "No two methods have a result in common yet."
    wins: Counter[str] = Counter()
    for means in cases.values():
        best = max(means.values())
        wins.update(name for name, mean in means.items() if mean == best)
    (first, most), *others = wins.most_common()
    so_far = "So far " if _is_open(study) else ""
    if len(cases) == 1:
        ((dataset, ratio, _), means) = next(iter(cases.items()))
        where = f"{dataset_title(dataset)} with {ratio_title(ratio)}"
        where += f", {means[first]:.1f} %"
        return f"{so_far}{titles[first]} has the highest mean accuracy on {where}."
    is_simple = len(cases) == len({dataset for dataset, _, _ in cases})
    of = "data sets" if is_simple else "cases (a data set with a share of labels)"
    at = "on" if is_simple else "in"
    lead = f"{so_far}{titles[first]} has the highest mean accuracy {at} {most} of {len(cases)} {of}"
    named = [f"{titles[name]} {at} {count}" for name, count in others[:MOST_NAMED]]
    n_more = len(others) - len(named)
    if n_more:
        named.append(f"{n_more} other{'s' if n_more > 1 else ''} {at} fewer")
    ties = "; equal means share a case" if sum(wins.values()) > len(cases) else ""
    return f"{', '.join([lead, *named])}{ties}."


def _is_open(study: Study) -> bool:
    progress = study.progress()
    return progress.n_done + progress.n_failed < progress.n_trials


def _order(study: Study, entries: list[Entry], results: Results) -> str:
    ranking = _ranking(study, entries, results)
    if ranking is None:
        return "There is no case that all methods have, so no average rank."
    order = sorted(
        (cell.value, _called(entry))
        for cell, entry in zip(ranking.cells, entries, strict=True)
        if cell.value is not None
    )
    named = [f"{title} ({rank:.1f})" for rank, title in order[:MOST_NAMED]]
    cases = "one case" if ranking.n_cases == 1 else f"{ranking.n_cases} cases"
    return (
        f"By average rank over the {cases} that all methods have, the order is {', '.join(named)}."
    )


def _ranking(study: Study, entries: list[Entry], results: Results) -> Ranking | None:
    plan = study.plan
    ratios = sorted({ratio for entry in entries for ratio in entry.label_ratios})
    columns = [(d, r, p) for r in ratios for d in plan.datasets for p in plan.protocols]
    grid = [
        [results.get(Cell(d, entry.name, (), r, p)) for d, r, p in columns] for entry in entries
    ]
    return ranked(grid, [dataset for dataset, _, _ in columns], METRICS["accuracy"])


def _grid(study: Study, entry: Entry, results: Results) -> list[str]:
    means: dict[tuple[str, float, str], dict[Cell, float]] = {}
    for cell, result in results.items():
        if cell.entry == entry.name and result.mean is not None:
            place = (cell.dataset, cell.label_ratio, cell.protocol)
            means.setdefault(place, {})[cell] = result.mean
    spans = {place: max(of.values()) - min(of.values()) for place, of in means.items()}
    narrow, wide = min(spans, key=spans.__getitem__), max(spans, key=spans.__getitem__)
    names = " and ".join(entry.grid)
    if len(spans) == 1:
        moved = f"moves by {spans[wide]:.1f} points on {dataset_title(wide[0])}"
    else:
        moved = (
            f"moves by {spans[narrow]:.1f} points on {dataset_title(narrow[0])} and by "
            f"{spans[wide]:.1f} on {dataset_title(wide[0])}, the least and the most"
        )
    best = Counter(point_title(max(of, key=of.__getitem__).point) for of in means.values())
    point, count = best.most_common(1)[0]
    where = f"{count} of {len(means)} data sets" if len(means) > 1 else "it"
    everywhere = "" if count < len(means) else ", so one setting serves all"
    second = (
        f"{point[0].upper()}{point[1:]} is best on {where}{everywhere}."
        if count > 1 or len(means) == 1
        else f"No value is best on more than one of the {len(means)} data sets."
    )
    return [
        f"Over the values of {names} tried, the mean accuracy of {_called(entry)} {moved}.",
        second,
    ]


def _single(study: Study, entry: Entry, results: Results) -> list[str]:
    told = _listed(
        f"{result.mean:.1f} % on {dataset_title(cell.dataset)}"
        + (f" with {ratio_title(cell.label_ratio)}" if len(entry.label_ratios) > 1 else "")
        for cell, result in results.items()
        if cell.entry == entry.name and result.mean is not None
    )
    so_far = "So far " if _is_open(study) else ""
    return [f"{so_far}{_called(entry)} has a mean accuracy of {told}."]


def _called(entry: Entry) -> str:
    """Name an entry in a sentence; one that is a word of the language stands in quotes."""
    return entry.title if entry.title != entry.title.lower() else f"“{entry.title}”"


def _listed(words: Iterable[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} and {last}" if head else last


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
