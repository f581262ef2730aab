"""Heat maps: a matrix of numbers as colors."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from manyview.report.html.markup import element, join
from manyview.report.svg.axes import LETTER, chart, label, shorten

MAX_NUMBERED = 14  # rows or columns up to which cells show their numbers
MAX_LETTERS = 16  # of a row's or column's name


def heat_map(
    title: str,
    values: np.ndarray,
    row_names: Sequence[str],
    column_names: Sequence[str],
    *,
    axes: tuple[str, str],
    texts: Sequence[Sequence[str]],
    tips: Sequence[Sequence[str]],
    description: str,
    is_confusion: bool = False,
    note: str = "",
) -> Markup:
    """Draw a matrix of values in [0, 1] as colors; `axes` names rows and columns.

    The diagonal of a confusion matrix has its own color.
    """
    n_rows, n_columns = values.shape
    has_room = max(n_rows, n_columns) <= MAX_NUMBERED
    size = 40.0 if has_room else max(14.0, min(26.0, 620.0 / n_columns))
    left = 26 + LETTER * min(max(map(len, row_names)), MAX_LETTERS)
    is_slanted = any(len(name) * LETTER > size - 4 for name in column_names)
    longest = min(max(map(len, column_names)), MAX_LETTERS)
    top = 30 + (LETTER * 0.75 * longest if is_slanted else 14)
    cells = []
    for row, column in np.ndindex(n_rows, n_columns):
        x, y = left + column * size, top + row * size
        shade = _shade(float(np.clip(np.nan_to_num(values[row, column]), 0, 1)))
        hue = "hit-cell" if not is_confusion or row == column else "miss-cell"
        side = size - 2
        box = element(
            "rect", x=x + 1, y=y + 1, width=side, height=side, rx=3, class_=hue,
            fill_opacity=f"{shade:.2f}",
        )  # fmt: skip
        text = texts[row][column] if has_room else ""
        kind = "middle on" if shade > 0.55 else "middle"
        number = label(text, x + size / 2, y + size / 2 + 4, kind) if text else None
        cells.append(element("g", box, number, data_tip=tips[row][column]))
    every = max(1, round(16 / size)) if size < 16 else 1
    names = [
        label(shorten(name, MAX_LETTERS), left - 8, top + (row + 0.5) * size + 4, "end")
        for row, name in enumerate(row_names)
        if row % every == 0
    ]
    for column, name in enumerate(column_names):
        x, y = round(left + (column + 0.5) * size, 1), round(top - 8, 1)
        rotation = f"rotate(-45 {x:g} {y:g})" if is_slanted else None
        if column % every == 0:
            kind = "start" if is_slanted else "middle"
            names.append(label(shorten(name, MAX_LETTERS), x, y, kind, transform=rotation))
    x, y = round(left + n_columns * size / 2, 1), round(top + n_rows * size / 2, 1)
    drawing = join(
        label(axes[0], 12, y, "middle muted", transform=f"rotate(-90 12 {y:g})"),
        label(axes[1], x, 13, "middle muted"),
        *names,
        *cells,
    )
    width, height = left + n_columns * size + (50 if is_slanted else 4), top + n_rows * size + 4
    return chart(
        title,
        drawing,
        size=(round(width), round(height)),
        description=description,
        note=note,
        kind="heat",
    )


def _shade(value: float) -> float:
    """Raise small values, so that a single sample stays visible."""
    return 0.04 if value <= 0 else 0.14 + 0.86 * value
