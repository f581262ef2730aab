"""Tables of a grid of two parameters: a matrix a data set."""

from manyview.experiments.plan import Entry
from manyview.report.comparison import marked_columns, tie_sentence
from manyview.report.results import dataset_title, ratio_title, value_title
from manyview.report.study_view import StudyView
from manyview.report.table import Block, Notes, Table, as_cell, headed_rows


def matrix_tables(view: StudyView, entry: Entry) -> list[Table]:
    """Set an entry's grid in one table a share of labels and protocol."""
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
                flat = marked_columns(  # the best of the whole matrix, not of a column
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
            flat_cells = [cell for b in blocks for line in b.rows for cell in line]
            tables.append(
                Table(
                    name=view.name(entry.name, first, second, *part),
                    title=f"{entry.title}: {first} in rows, {second} in columns, {where}",
                    header=(f"{first} / {second}", *map(value_title, columns)),
                    blocks=tuple(blocks),
                    caption=(
                        *view.caption(),
                        *tie_sentence(view.test, flat_cells, "data set"),
                        *view.absent(),
                    ),
                    notes=notes.listed(),
                )
            )
    return tables
