"""Heat maps: a table of numbers as colors."""

from collections.abc import Sequence

import numpy as np

from manyview.report.html.markup import Html, element, join
from manyview.report.svg.axes import LETTER, chart, label, shorten

MOST_NUMBERS = 14  # rows or columns of a heat map that still has room for its numbers


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
) -> Html:
    """Draw a table of values as colors, 0 pale and 1 full; `axes` names rows and columns.

    In a confusion the diagonal has a color of its own.
    """
    n_rows, n_columns = values.shape
    has_room = max(n_rows, n_columns) <= MOST_NUMBERS
    size = 40.0 if has_room else max(14.0, min(26.0, 620.0 / n_columns))
    left = 26 + LETTER * min(max(map(len, row_names)), 16)
    slant = any(len(name) * LETTER > size - 4 for name in column_names)
    top = 30 + (LETTER * 0.75 * min(max(map(len, column_names)), 16) if slant else 14)
    cells = []
    for row in range(n_rows):
        for column in range(n_columns):
            value = float(np.clip(np.nan_to_num(values[row, column]), 0, 1))
            place = (left + column * size, top + row * size)
            hue = "hit-cell" if not is_confusion or row == column else "miss-cell"
            text = texts[row][column] if has_room else ""
            cells.append(
                element(
                    "g",
                    element(
                        "rect", x=place[0] + 1, y=place[1] + 1, width=size - 2, height=size - 2,
                        rx=3, class_=hue, fill_opacity=f"{_shade(value):.2f}",
                    ),
                    label(
                        text, place[0] + size / 2, place[1] + size / 2 + 4,
                        f"middle{' on' if _shade(value) > 0.55 else ''}",
                    ) if text else None,
                    data_tip=tips[row][column],
                )
            )  # fmt: skip
    every = max(1, round(16 / size)) if size < 16 else 1
    sides = [
        label(shorten(name, 16), left - 8, top + (row + 0.5) * size + 4, "end")
        for row, name in enumerate(row_names)
        if row % every == 0
    ]
    for column, name in enumerate(column_names):
        place_x, place_y = round(left + (column + 0.5) * size, 1), round(top - 8, 1)
        turn = f"rotate(-45 {place_x:g} {place_y:g})" if slant else None
        if column % every == 0:
            kind = "start" if slant else "middle"
            sides.append(
                element(
                    "text", shorten(name, 16), x=place_x, y=place_y, class_=kind, transform=turn
                )
            )
    middle = (round(top + n_rows * size / 2, 1), round(left + n_columns * size / 2, 1))
    width, height = left + n_columns * size + (50 if slant else 4), top + n_rows * size + 4
    drawing = join(
        element(
            "text", axes[0], x=12, y=middle[0], class_="middle muted",
            transform=f"rotate(-90 12 {middle[0]:g})",
        ),
        label(axes[1], middle[1], 13, "middle muted"),
        *sides,
        *cells,
    )  # fmt: skip
    return chart(
        title,
        drawing,
        size=(round(width), round(height)),
        description=description,
        note=note,
        kind="heat",
    )


def _shade(value: float) -> float:
    """Lift small values above the ground, so that a single one is still seen."""
    return 0.04 if value <= 0 else 0.14 + 0.86 * value
