"""Dot charts: one row per method, a dot with its standard deviation, a cross for the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from manyview.report.html.markup import element, join
from manyview.report.svg import axes
from manyview.report.svg.axes import LETTER, WIDTH, Scale, label

ROW, SHIFT = 20.0, 5.0  # height of a row, distance between the dots of two series
MAX_LETTERS = 22  # of a row's name


@dataclass(frozen=True)
class Dot:
    """A value with its standard deviation, the paper's value, and the text of its tooltip.

    `interval` is drawn in place of the deviation, where there is one.
    """

    value: float | None
    spread: float
    paper: float | None
    text: str
    interval: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, ...]:
        """Return the ends of the line through the dot; none without a value."""
        if self.value is None:
            return ()
        return self.interval or (self.value - self.spread, self.value + self.spread)


@dataclass(frozen=True)
class DotRow:
    """A row: its name, and one dot per series, None where the plan has none."""

    name: str
    dots: Sequence[Dot | None]
    is_strong: bool = False


def dot_chart(
    title: str, series: Sequence[str], rows: Sequence[DotRow], *, x_name: str, description: str
) -> Markup:
    """Draw rows of dots over one scale; a row without a value is marked "no result"."""
    dots = [dot for row in rows for dot in row.dots if dot is not None]
    shown = [dot.paper for dot in dots if dot.paper is not None]
    for dot in dots:
        shown += dot.ends
    ticks = axes.round_ticks(min(shown), max(shown), 5) if shown else [0.0, 1.0]
    left = 12 + LETTER * min(max(len(row.name) for row in rows), MAX_LETTERS)
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
    drawn = [_row(row, series, 6 + n * height, height, x) for n, row in enumerate(rows)]
    return axes.chart(
        title,
        join(*axis, *drawn, label(x_name, (left + WIDTH) / 2, bottom + 33, "middle muted")),
        size=(WIDTH, bottom + 40),
        description=description,
        key=series,
        key_kind="dot",
        note="× marks the value in the paper" if any(d.paper is not None for d in dots) else "",
    )


def _row(row: DotRow, series: Sequence[str], top: float, height: float, x: Scale) -> Markup:
    middle = top + height / 2
    weight = " strong" if row.is_strong else ""
    name = label(axes.shorten(row.name, MAX_LETTERS), x.start - 8, middle + 4, f"end{weight}")
    marks = [axes.hit_area(0, top, WIDTH, height), name]
    for number, dot in enumerate(row.dots):
        y = round(middle + (number - (len(row.dots) - 1) / 2) * SHIFT, 1)
        if dot is not None and dot.paper is not None:
            marks.append(label("×", x(dot.paper), y + 4, "middle muted"))
        if dot is not None and dot.value is not None:
            marks.append(axes.line_path([(x(end), y) for end in dot.ends], number))
            marks.append(element("circle", cx=x(dot.value), cy=y, r=4, class_=axes.color(number)))
    if not any(dot is not None and dot.value is not None for dot in row.dots):
        marks.append(label("no result", x.start + 6, middle + 4, "muted"))
    read = [
        (name, "not planned" if dot is None else dot.text)
        for name, dot in zip(series, row.dots, strict=True)
    ]
    return element("g", *marks, data_tip=axes.tip_text(row.name, read))
