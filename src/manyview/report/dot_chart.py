"""A chart of dots: one row a method, a dot a series with its deviation, a cross for the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

from manyview.report.markup import Html, element, join
from manyview.report.svg import (
    LETTER,
    WIDTH,
    Scale,
    chart,
    color,
    label,
    legend,
    path_through,
    round_ticks,
    shorten,
    tip_text,
)

ROW, SHIFT, MOST_LETTERS = 20.0, 5.0, 22


@dataclass(frozen=True)
class Dot:
    """A value with its deviation, the paper's value, and what to say about them."""

    value: float | None
    spread: float
    paper: float | None
    text: str


@dataclass(frozen=True)
class DotRow:
    """A row: its name, and a dot a series; None where the plan has none."""

    name: str
    dots: Sequence[Dot | None]
    is_strong: bool = False


def dot_chart(
    title: str, series: Sequence[str], rows: Sequence[DotRow], *, x_name: str, description: str
) -> Html:
    """Draw rows of dots over one scale; a row without a value says so."""
    shown = [
        value
        for row in rows
        for dot in row.dots
        if dot is not None
        for value in (
            *(() if dot.value is None else (dot.value - dot.spread, dot.value + dot.spread)),
            *(() if dot.paper is None else (dot.paper,)),
        )
    ]
    ticks = round_ticks(min(shown), max(shown), 5) if shown else [0.0, 1.0]
    left = 12 + LETTER * min(max(len(row.name) for row in rows), MOST_LETTERS)
    height = ROW * max(1.0, 0.55 * len(series))
    x = Scale(ticks[0], ticks[-1], left, WIDTH - 14)
    bottom = 6 + height * len(rows)
    axis = [
        join(
            element("line", x1=x(tick), x2=x(tick), y1=4, y2=bottom, class_="grid"),
            label(f"{tick:g}", x(tick), bottom + 16, "middle muted"),
        )
        for tick in ticks
    ]
    drawn = [_row(row, series, 6 + n * height, height, x, left) for n, row in enumerate(rows)]
    names = list(series)
    key = legend(names, kind="dot") if len(names) > 1 else None
    has_paper = any(dot is not None and dot.paper is not None for row in rows for dot in row.dots)
    return chart(
        title,
        join(*axis, *drawn, label(x_name, (left + WIDTH) / 2, bottom + 33, "middle muted")),
        size=(WIDTH, bottom + 40),
        description=description,
        key=key,
        note="a cross is the paper's" if has_paper else "",
    )


def _row(
    row: DotRow, series: Sequence[str], top: float, height: float, x: Scale, left: float
) -> Html:
    middle = top + height / 2
    marks = []
    for number, dot in enumerate(row.dots):
        y = round(middle + (number - (len(row.dots) - 1) / 2) * SHIFT, 1)
        if dot is None:
            continue
        if dot.paper is not None:
            marks.append(label("×", x(dot.paper), y + 4, "middle muted"))
        if dot.value is not None:
            ends = [(x(dot.value - dot.spread), y), (x(dot.value + dot.spread), y)]
            marks.append(element("path", d=path_through(ends), class_=f"line {color(number)}"))
            marks.append(element("circle", cx=x(dot.value), cy=y, r=4, class_=color(number)))
    if not any(dot is not None and dot.value is not None for dot in row.dots):
        marks.append(label("no result", left + 6, middle + 4, "muted"))
    told = [
        (name, "not planned" if dot is None else dot.text)
        for name, dot in zip(series, row.dots, strict=True)
    ]
    name = label(
        shorten(row.name, MOST_LETTERS), left - 8, middle + 4, f"end{' strong' * row.is_strong}"
    )
    hit = element("rect", x=0, y=top, width=WIDTH, height=height, class_="hit")
    return element("g", hit, name, *marks, data_tip=tip_text(row.name, told))
