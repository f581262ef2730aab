"""Tables of a study: methods in rows, data sets in columns, one block per label ratio.

With three or more label ratios, the ratios are the columns and the data sets the blocks.
"""

from collections.abc import Sequence
from dataclasses import replace

from manyview.experiments.plan import Entry
from manyview.experiments.study import Study
from manyview.report.study.comparison import (
    DEFAULT_TEST,
    TESTS,
    marked_columns,
    ranked,
    tie_sentence,
)
from manyview.report.study.results import (
    RowKey,
    StudyView,
    dataset_title,
    find_metric,
    point_title,
    ratio_title,
    study_results,
    value_title,
)
from manyview.report.study.table import (
    RANK,
    Block,
    Notes,
    Table,
    TableCell,
    as_cell,
    headed_rows,
    paper_cell,
)
from manyview.validation import check_choice

MAX_RATIOS_AS_BLOCKS = 2


def study_tables(
    study: Study, metric: str = "accuracy", *, test: str = DEFAULT_TEST
) -> list[Table]:
    """Return the tables: the comparison, ours with the paper's, and a matrix per 2-D grid.

    Parameters
    ----------
    metric
        Name in `METRICS`.
    test
        Test over the splits of one data set: "corrected" for their overlap, or "paired", which
        takes them as independent.
    """
    shown = find_metric(metric)
    check_choice("test", test, TESTS)
    view = StudyView(study, shown, study_results(study, shown), test)
    rows = [
        (entry, tuple(point.items()))
        for entry in study.plan.entries
        if len(entry.grid) != 2
        for point in entry.points()
    ]
    tables = []
    is_curve = len(_ratios(rows)) > MAX_RATIOS_AS_BLOCKS and len(study.plan.protocols) == 1
    if rows:
        tables.append(_by_ratio(view, rows) if is_curve else _comparison(view, rows))
    if any(result.paper for result in view.results.values()):
        tables.append(_beside_paper(view, [row for row in rows if not row[1]]))
    for entry in study.plan.entries:
        if len(entry.grid) == 2:
            tables += matrix_tables(view, entry)
    return tables


def _comparison(view: StudyView, rows: Sequence[RowKey]) -> Table:
    plan = view.study.plan
    datasets = [name for name in plan.datasets if view.is_begun(name)]
    columns = [(name, protocol) for name in datasets for protocol in plan.protocols]
    notes, blocks, rankings = Notes(), [], []
    for ratio in _ratios(rows):
        chosen = [row for row in rows if ratio in row[0].label_ratios]
        grid = [[view.find(row, column, ratio) for column in columns] for row in chosen]
        body = [[as_cell(result, view.metric, notes) for result in line] for line in grid]
        body = marked_columns(body, grid, view.metric, view.test)
        ranking = ranked(grid, [name for name, _ in columns], view.metric)
        if ranking is not None:
            rankings.append((ratio_title(ratio), ranking))
        ranks = [TableCell()] * len(body) if ranking is None else ranking.cells
        body = [[*line, rank] for line, rank in zip(body, ranks, strict=True)]
        blocks.append(Block(ratio_title(ratio), headed_rows(_row_titles(rows, chosen), body)))
    header = [dataset_title(name) if len(plan.protocols) == 1 else p for name, p in columns]
    groups = [(dataset_title(name), len(plan.protocols)) for name in datasets]
    if rankings:
        header, groups = [*header, RANK], [*groups, ("", 1)]
    else:
        blocks = [replace(b, rows=tuple(line[:-1] for line in b.rows)) for b in blocks]
    caption = view.caption()
    caption += tie_sentence(view.test, _cells(blocks))
    sentences = {title: ranking.sentence() for title, ranking in rankings}
    if len(set(sentences.values())) == 1:
        caption.append(next(iter(sentences.values())))
    else:
        caption += [f"{title}: {sentence}" for title, sentence in sentences.items()]
    return Table(
        name=view.name(),
        title=_title(view),
        header=("method", *header),
        blocks=tuple(blocks),
        groups=tuple(groups) if len(plan.protocols) > 1 else (),
        caption=(*caption, *view.absent()),
        notes=notes.listed(),
    )


def _by_ratio(view: StudyView, rows: Sequence[RowKey]) -> Table:
    plan = view.study.plan
    protocol = plan.protocols[0]
    begun: dict[str, set[float]] = {}
    for cell, result in view.results.items():
        if result.by_seed:
            begun.setdefault(cell.dataset, set()).add(cell.label_ratio)
    shown = [name for name in plan.datasets if len(begun.get(name, ())) > 1]
    others = [name for name in plan.datasets if view.is_begun(name) and name not in shown]
    ratios = sorted(set().union(*(begun[name] for name in shown)))
    notes, blocks = Notes(), []
    for dataset in shown:
        grid = [[view.find(row, (dataset, protocol), ratio) for ratio in ratios] for row in rows]
        body = [[as_cell(result, view.metric, notes) for result in line] for line in grid]
        body = marked_columns(body, grid, view.metric, view.test)
        blocks.append(Block(dataset_title(dataset), headed_rows(_row_titles(rows, rows), body)))
    unfinished = [f"Not run yet: {', '.join(map(dataset_title, others))}."] if others else []
    return Table(
        name=view.name(),
        title=_title(view),
        header=("method", *(ratio_title(ratio) for ratio in ratios)),
        blocks=tuple(blocks),
        caption=(
            *view.caption(),
            *tie_sentence(view.test, _cells(blocks)),
            *unfinished,
            *view.absent(),
        ),
        notes=notes.listed(),
    )


def _beside_paper(view: StudyView, rows: Sequence[RowKey]) -> Table:
    plan = view.study.plan
    protocol = plan.protocols[0]
    with_paper = {cell.dataset for cell, result in view.results.items() if result.paper}
    groups: list[tuple[str, int]] = []
    columns: list[tuple[str, bool]] = []  # data set, and whether the number is the paper's
    for name in plan.datasets:
        kinds = [*([False] if view.is_begun(name) else []), *([True] if name in with_paper else [])]
        columns += [(name, of_paper) for of_paper in kinds]
        if kinds:
            groups.append((dataset_title(name), len(kinds)))
    notes, blocks = Notes(), []
    for ratio in _ratios(rows):
        chosen = [row for row in rows if ratio in row[0].label_ratios]
        grid = [[view.find(row, (name, protocol), ratio) for name, _ in columns] for row in chosen]
        body = [
            [
                paper_cell(result, view.metric) if of_paper else as_cell(result, view.metric, notes)
                for result, (_, of_paper) in zip(line, columns, strict=True)
            ]
            for line in grid
        ]
        ours = [
            [None if of_paper else r for r, (_, of_paper) in zip(line, columns, strict=True)]
            for line in grid
        ]
        body = marked_columns(body, ours, view.metric, view.test)
        blocks.append(Block(ratio_title(ratio), headed_rows(_row_titles(rows, chosen), body)))
    caption = view.caption() + tie_sentence(view.test, _cells(blocks))
    if len(plan.protocols) > 1:
        caption.append(f"Splits: {protocol}.")
    return Table(
        name=view.name("paper"),
        title=f"{plan.title.rstrip('.')}: our results and the paper's",
        header=("method", *("paper" if of_paper else "ours" for _, of_paper in columns)),
        blocks=tuple(blocks),
        groups=tuple(groups),
        caption=(*caption, *view.absent()),
        notes=notes.listed(),
    )


def _title(view: StudyView) -> str:
    metric = "" if view.metric.in_paper else f": {view.metric.title}"
    return view.study.plan.title.rstrip(".") + metric


def _cells(blocks: Sequence[Block]) -> list[TableCell]:
    return [cell for block in blocks for row in block.rows for cell in row]


def _ratios(rows: Sequence[RowKey]) -> list[float]:
    return sorted({ratio for entry, _ in rows for ratio in entry.label_ratios})


def _row_titles(rows: Sequence[RowKey], chosen: Sequence[RowKey]) -> list[str]:
    """Return row titles: the method, the point of its grid, or both where both vary."""
    alone = len({entry.name for entry, _ in rows}) == 1
    return [
        point_title(point)
        if point and alone
        else ", ".join([entry.title, *([point_title(point)] if point else [])])
        for entry, point in chosen
    ]


def matrix_tables(view: StudyView, entry: Entry) -> list[Table]:
    """Return one matrix per label ratio and protocol for an entry's grid."""
    (first, rows), (second, columns) = entry.grid.items()
    plan, tables = view.study.plan, []
    for ratio in entry.label_ratios:
        for protocol in plan.protocols:
            notes, blocks = Notes(), []
            for name in entry.datasets:
                if not view.is_begun(name):
                    continue
                grid = [
                    [
                        view.find((entry, ((first, y), (second, x))), (name, protocol), ratio)
                        for x in columns
                    ]
                    for y in rows
                ]
                body = [[as_cell(result, view.metric, notes) for result in line] for line in grid]
                flat = marked_columns(  # the best of the whole matrix, not of each column
                    [[cell] for line in body for cell in line],
                    [[result] for line in grid for result in line],
                    view.metric,
                    view.test,
                )
                cells = [line[0] for line in flat]
                size = len(columns)
                body = [cells[at : at + size] for at in range(0, len(cells), size)]
                blocks.append(Block(dataset_title(name), headed_rows(map(value_title, rows), body)))
            where = ratio_title(ratio) + (f", {protocol}" if len(plan.protocols) > 1 else "")
            several = len(entry.label_ratios) * len(plan.protocols) > 1
            part = (f"{ratio:g}", protocol) if several else ()
            tables.append(
                Table(
                    name=view.name(entry.name, first, second, *part),
                    title=f"{entry.title}: {first} in rows, {second} in columns, {where}",
                    header=(f"{first} / {second}", *map(value_title, columns)),
                    blocks=tuple(blocks),
                    caption=(
                        *view.caption(),
                        *tie_sentence(view.test, _cells(blocks), "data set"),
                        *view.absent(),
                    ),
                    notes=notes.listed(),
                )
            )
    return tables
