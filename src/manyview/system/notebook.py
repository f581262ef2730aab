"""HTML for notebooks: every value escaped, in the notebook's own colors, nothing loaded.

Text has the color of the surrounding page and bars have the color of the text, so that the same
markup can be read in light and in dark notebooks. Selectors name the table, so that they win
against those of JupyterLab.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

N_ROWS = 12  # of a table, before the rest is only counted
STYLE = (
    ".manyview{font-size:13px;line-height:1.45;overflow-x:auto;color:inherit}"
    ".manyview p{margin:.2em 0 .5em}"
    ".manyview table{border-collapse:collapse;margin:.2em 0 .8em;border:0;color:inherit}"
    ".manyview caption{caption-side:top;text-align:left;padding:0 0 .2em;opacity:.75;"
    "color:inherit;white-space:nowrap}"
    ".manyview table.rows tr th,.manyview table.rows tr td{padding:.15em .9em .15em 0;"
    "text-align:left;border:0;background:none;color:inherit;white-space:nowrap}"
    ".manyview table.rows thead th{font-weight:600;border-bottom:1px solid}"
    ".manyview table.rows tbody th{font-weight:400}"
    ".manyview table.rows tr .number{text-align:right;font-variant-numeric:tabular-nums}"
    ".manyview .bar{display:inline-block;height:.6em;margin-left:.6em;opacity:.5;"
    "background:currentColor}"
)
BAR_WIDTH = 80  # pixels of the longest bar


@dataclass(frozen=True)
class Bar:
    """A cell with a bar: its length from 0 to 1, and the text before it."""

    length: float
    text: str


def in_notebook() -> bool:
    """Return whether output is shown in a notebook: Jupyter, VS Code, Colab or Databricks."""
    from rich.console import Console

    return Console().is_jupyter


def html_box(title: str, *parts: str) -> str:
    """Return a block with a title in bold; the parts are HTML.

    Examples
    --------
    >>> html_box("a < b").endswith('<p><b>a &lt; b</b></p></div>')
    True
    """
    content = "".join(parts)
    return (
        f'<div class="manyview"><style>{STYLE}</style><p><b>{escape(title)}</b></p>{content}</div>'
    )


def html_text(text: str) -> str:
    """Return a paragraph.

    Examples
    --------
    >>> html_text("a & b")
    '<p>a &amp; b</p>'
    """
    return f"<p>{escape(text)}</p>"


def html_table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    align: str,
    *,
    caption: str = "",
    n_rows: int = N_ROWS,
    rest: str = "more",
) -> str:
    """Return a table; `align` has < or > per column, and the first cell of a row is its heading.

    Of more than `n_rows` rows the first are shown, and the others are counted as `rest`.

    Examples
    --------
    >>> "<td>64</td>" in html_table(["view", "size"], [["pixels", 64]], "<<")
    True
    """
    rows = list(rows)
    number = ' class="number"'
    kinds = [number if side == ">" else "" for side in align]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(header, kinds, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, kinds)}</tr>" for row in rows[:n_rows])
    if len(rows) > n_rows:
        more = f"and {len(rows) - n_rows:,} {rest}"
        body += f'<tr><td colspan="{len(header)}">{escape(more)}</td></tr>'
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<table class="rows">{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cells(row: Sequence[object], kinds: Sequence[str]) -> str:
    first, *others = zip(row, kinds, strict=True)
    heading = f'<th scope="row"{first[1]}>{_content(first[0])}</th>'
    return heading + "".join(f"<td{kind}>{_content(cell)}</td>" for cell, kind in others)


def _content(cell: object) -> str:
    if not isinstance(cell, Bar):
        return escape(str(cell))
    width = round(BAR_WIDTH * min(max(cell.length, 0.0), 1.0))
    return f'{escape(cell.text)}<span class="bar" style="width:{width}px"></span>'
