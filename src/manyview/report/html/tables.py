"""Tables of a page: captions, scoped headings, aligned numbers, sorting and search."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from manyview.report.html.markup import render

LONG_NAME = 14  # letters of a row's name above which its column keeps a minimum width
CARD_NAME = 8  # the same, beside a column of sentences


@dataclass(frozen=True)
class Column:
    """A column: heading, whether it holds numbers, a tooltip, and whether it sorts."""

    name: str
    is_number: bool = False
    hint: str = ""
    is_sortable: bool = True


@dataclass(frozen=True)
class HtmlCell:
    """A cell of a table."""

    content: object  # text, number or `Markup`
    value: float | str | None = None  # value to sort by where it differs from the text
    detail: str = ""  # text in a softer color after the content
    kind: str = ""  # class of the content: "strong", "warm" or nothing


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    *,
    note: str = "",
    sortable: bool = True,
    filterable: bool = False,
    sorted_by: int | None = None,
    n_first: int | None = None,
    as_cards: bool = False,
    hide_caption: bool = False,
) -> Markup:
    """Return a table; the first cell of a row is its heading.

    Parameters
    ----------
    caption
        What the table shows; screen readers announce it even where it is hidden.
    rows
        Cells as text, numbers, `Markup` or `HtmlCell`.
    note
        Explanation below the table.
    sortable
        Whether a click on a heading sorts; needs three rows.
    filterable
        Whether a search box filters the rows.
    sorted_by
        Column by which the rows are already sorted, in ascending order.
    n_first
        Rows shown until a button reveals the others; None shows all.
    as_cards
        Whether rows become cards on a narrow screen; otherwise the table scrolls sideways.
    """
    cells = [[one if isinstance(one, HtmlCell) else HtmlCell(one) for one in row] for row in rows]
    lengths = [
        len(str(first.content if first.value is None else first.value)) for first, *_ in cells
    ]
    longest = max(lengths, default=0)
    kinds = ["cards"] if as_cards else []
    kinds += ["named"] if as_cards and longest > CARD_NAME else []
    kinds += ["long"] if not as_cards and longest > LONG_NAME else []
    return render(
        "table",
        caption=caption,
        columns=columns,
        rows=cells,
        note=note,
        is_sortable=sortable and len(rows) > 2,
        is_filterable=filterable,
        sorted_by=sorted_by,
        n_first=n_first,
        as_cards=as_cards,
        hide_caption=hide_caption,
        kind=" ".join(kinds),
    )


def pairs(caption: str, rows: Sequence[tuple[str, object]], *, hide_caption: bool = True) -> Markup:
    """Return names and values in two columns, without headings."""
    return render("pairs", caption=caption, rows=rows, hide_caption=hide_caption)
