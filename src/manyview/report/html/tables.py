"""Tables for pages: a caption, headings with a scope, numbers aligned, sorting where it helps."""

from collections.abc import Sequence
from dataclasses import dataclass

from manyview.report.html.markup import Html, element, join

LONG_NAME = 14  # letters of a row's name that may not be squeezed


@dataclass(frozen=True)
class Column:
    """A column: its heading, whether it holds numbers, what the heading means, whether it sorts."""

    name: str
    is_number: bool = False
    hint: str = ""
    is_sortable: bool = True


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and the value it is sorted by where that differs."""

    content: object
    value: float | str | None = None


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[object]],
    *,
    sortable: bool = True,
    filterable: bool = False,
    sorted_by: int | None = None,
    n_first: int | None = None,
    as_cards: bool = False,
    hide_caption: bool = False,
) -> Html:
    """Set a table; the first cell of a row names the row.

    Parameters
    ----------
    caption
        What the table shows, for eyes and for screen readers.
    rows
        Cells as text, `Html` or `Cell`.
    sortable
        Whether a click on a heading sorts; never where there are fewer than three rows.
    filterable
        Whether to offer a box that finds rows by their text.
    sorted_by
        The column by which the rows are sorted already, smallest first.
    n_first
        Rows shown before a button offers the others; None shows all.
    as_cards
        Whether rows become cards on a narrow screen; otherwise the table scrolls sideways.
    """
    head = element(
        "tr",
        *(
            _heading(column, as_cards, is_sorted=number == sorted_by)
            for number, column in enumerate(columns)
        ),
        **_role("row", as_cards),
    )
    body = (
        element(
            "tr",
            *(
                _cell(cell, column, names_row=number == 0, as_card=as_cards)
                for number, (cell, column) in enumerate(zip(row, columns, strict=True))
            ),
            **_role("row", as_cards),
        )
        for row in rows
    )
    has_long_names = any(len(str(_shown(row[0]))) > LONG_NAME for row in rows)
    whole = element(
        "table",
        element("caption", caption, class_="unseen" if hide_caption else None),
        element("thead", head, **_role("rowgroup", as_cards)),
        element("tbody", *body, **_role("rowgroup", as_cards)),
        class_="cards" if as_cards else "long" if has_long_names else None,
        data_sortable=sortable and len(rows) > 2,
        data_filterable=filterable,
        data_first=n_first,
        **_role("table", as_cards),
    )
    return element("div", whole, class_="scroll", role="region", tabindex=0, aria_label=caption)


def pairs(caption: str, rows: Sequence[tuple[str, object]]) -> Html:
    """Set names and values in two columns, without headings."""
    body = (
        element("tr", element("th", name, scope="row"), element("td", value))
        for name, value in rows
    )
    return element(
        "table",
        element("caption", caption, class_="unseen"),
        element("tbody", *body),
        class_="pairs",
    )


def _shown(cell: object) -> object:
    return cell.content if isinstance(cell, Cell) else cell


def _heading(column: Column, as_cards: bool, *, is_sorted: bool) -> Html:
    return element(
        "th",
        column.name,
        scope="col",
        class_="number" if column.is_number else None,
        title=column.hint or None,
        aria_sort="ascending" if is_sorted else None,
        data_fixed=not column.is_sortable,
        **_role("columnheader", as_cards),
    )


def _cell(cell: object, column: Column, *, names_row: bool, as_card: bool) -> Html:
    content, value = _shown(cell), cell.value if isinstance(cell, Cell) else None
    return element(
        "th" if names_row else "td",
        element("div", content) if as_card else join(content),
        scope="row" if names_row else None,
        class_="number" if column.is_number else None,
        data_name=column.name if as_card else None,
        data_value=value,
        **_role("rowheader" if names_row else "cell", as_card),
    )


def _role(name: str, as_cards: bool) -> dict[str, object]:
    """Roles by name: as cards the parts of a table are no longer set as a table."""
    return {"role": name} if as_cards else {}
