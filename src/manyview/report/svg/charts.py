"""Charts without a library: numbers in, SVG out, colored by the page's theme.

Every value can be read by pointing at it, by touch, and with the arrow keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from manyview.report.html.markup import Html, element, join
from manyview.report.svg.axes import (
    BOTTOM,
    HEIGHT,
    LETTER,
    LINE,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    chart,
    color,
    label,
    legend,
    path_through,
    place_axis,
    round_ticks,
    shorten,
    tip_text,
    value_axis,
)

LEAN = 320  # width of a chart beside a table
MOST_STOPS = 120  # places along a line that show their values
MOST_LETTERS = 18  # of a bar's name


@dataclass(frozen=True)
class Series:
    """Values by place, NaN where there is none, and the band around them if they have one."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def lines(
    title: str,
    places: Sequence[float],
    series: Sequence[Series],
    *,
    x_name: str,
    description: str,
    form: str = ".3g",
    x_form: str = "g",
    from_zero: bool = True,
    note: str = "",
) -> Html:
    """Draw one line a series over shared places, with a band where a series has one."""
    shown = [
        value
        for one in series
        for values in (one.values, one.low or (), one.high or ())
        for value in values
        if isfinite(value)
    ]
    lowest, highest = (min(shown), max(shown)) if shown else (0.0, 1.0)
    ticks = round_ticks(min(0.0, lowest) if from_zero else lowest, highest, 4)
    tick_form = form if form.endswith("%") else ",g"
    left = 16 + LETTER * max(len(format(tick, tick_form)) for tick in ticks)
    y = Scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP)
    x = Scale(min(places), max(places), left, WIDTH - RIGHT)
    drawing = join(
        value_axis(ticks, y, left, WIDTH - RIGHT, tick_form),
        place_axis(x, x_name, x_form),
        *(
            join(_band(places, one, x, y, number), _line(places, one.values, x, y, number))
            for number, one in enumerate(series)
        ),
        _stops(places, series, x, y, (x_name, x_form, form)),
    )
    return chart(
        title,
        drawing,
        size=(WIDTH, HEIGHT),
        description=description,
        key=legend([one.name for one in series], kind="line") if len(series) > 1 else None,
        note=note,
    )


def bars(
    title: str,
    names: Sequence[str],
    series: Sequence[Series],
    *,
    description: str,
    form: str = ",.0f",
    stacked: bool = False,
    show_values: bool = True,
    remarks: Sequence[str] | None = None,
    width: int = WIDTH,
    note: str = "",
) -> Html:
    """Draw level bars, one row a name; several series stand below each other or are stacked.

    `remarks` has a few words for each row, written behind the bar.
    """
    thick = 16 if stacked or len(series) == 1 else 11
    row_height = (thick if stacked else thick * len(series)) + 10
    left = 10 + LETTER * min(max(map(len, names), default=0), MOST_LETTERS)
    totals = [sum(one.values[row] for one in series) for row in range(len(names))]
    longest = max(totals if stacked else [v for one in series for v in one.values], default=1.0)
    said = [f", {remark}" if remark else "" for remark in remarks or [""] * len(names)]
    written = max((len(format(max(totals), form)) + len(one) for one in said), default=1)
    x = Scale(0, longest or 1.0, 0, width - left - (12 + LETTER * written if show_values else 4))
    rows = []
    for row, name in enumerate(names):
        top = 4 + row * row_height
        tip = tip_text(name, [(one.name, format(one.values[row], form)) for one in series])
        tip += f"\n{remarks[row]}" if remarks and remarks[row] else ""
        marks: list[Html] = []
        at = left
        for number, one in enumerate(series):
            long = max(x(one.values[row]), 0.0)
            below = top if stacked else top + number * thick
            marks.append(
                element(
                    "rect", x=at, y=below, width=long, height=thick - 1.0, rx=2,
                    class_=color(number),
                )
            )  # fmt: skip
            if show_values and not stacked:
                text = format(one.values[row], form) + (said[row] if number == 0 else "")
                marks.append(label(text, at + long + 6, below + thick / 2 + 4, "muted"))
            at += long if stacked else 0
        if show_values and stacked:
            text = format(totals[row], form) + said[row]
            marks.append(label(text, at + 6, top + thick / 2 + 4, "muted"))
        middle = top + (row_height - 10) / 2 + 4
        marks.append(label(shorten(name, MOST_LETTERS), left - 8, middle, "end"))
        hit = element("rect", x=0, y=top - 4, width=width, height=row_height, class_="hit")
        rows.append(element("g", hit, *marks, data_tip=tip))
    return chart(
        title,
        join(*rows),
        size=(width, len(names) * row_height + 4),
        description=description,
        key=legend([one.name for one in series]) if len(series) > 1 else None,
        note=note,
    )


def _line(
    places: Sequence[float], values: Sequence[float], x: Scale, y: Scale, number: int
) -> Html:
    runs: list[list[tuple[float, float]]] = [[]]
    for place, value in zip(places, values, strict=True):
        if isfinite(value):
            runs[-1].append((x(place), y(value)))
        elif runs[-1]:
            runs.append([])
    drawn = "".join(path_through(run if len(run) > 1 else [*run, *run]) for run in runs if run)
    return element("path", d=drawn, class_=f"line {color(number)}") if drawn else Html()


def _band(places: Sequence[float], one: Series, x: Scale, y: Scale, number: int) -> Html:
    if one.low is None or one.high is None:
        return Html()
    ends = [
        (x(place), y(low), y(high))
        for place, low, high in zip(places, one.low, one.high, strict=True)
        if isfinite(low) and isfinite(high)
    ]
    if len(ends) < 2:
        return Html()
    around = [(at, low) for at, low, _ in ends] + [(at, high) for at, _, high in reversed(ends)]
    return element("path", d=f"{path_through(around)}Z", class_=f"band {color(number)}")


def _stops(
    places: Sequence[float],
    series: Sequence[Series],
    x: Scale,
    y: Scale,
    words: tuple[str, str, str],
) -> Html:
    """Places to point at: a line across, a dot on each series, and the values in the tip."""
    x_name, x_form, form = words
    chosen = np.unique(np.linspace(0, len(places) - 1, min(len(places), MOST_STOPS)).round())
    reach = (x.end - x.start) / max(len(chosen) - 1, 1)
    stops = []
    for row in chosen.astype(int).tolist():
        at = x(places[row])
        here = [(number, one) for number, one in enumerate(series) if isfinite(one.values[row])]
        read = [(one.name, _spread(one, row, form)) for _, one in here]
        hit = element(
            "rect", x=round(at - reach / 2, 1), y=TOP, width=round(reach, 1),
            height=HEIGHT - BOTTOM - TOP, class_="hit",
        )  # fmt: skip
        across = element("line", x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM, class_="here")
        dots = (
            element("circle", cx=at, cy=y(one.values[row]), r=4, class_=f"here {color(number)}")
            for number, one in here
        )
        tip = tip_text(f"{x_name} {places[row]:{x_form}}", read)
        stops.append(element("g", hit, across, *dots, data_tip=tip))
    return join(*stops)


def _spread(one: Series, row: int, form: str) -> str:
    text = format(one.values[row], form)
    if one.low is None or one.high is None:
        return text
    return f"{text} ({one.low[row]:{form}} to {one.high[row]:{form}})"


def histogram(
    title: str,
    groups: Mapping[str, np.ndarray],
    *,
    x_name: str,
    description: str,
    span: tuple[float, float] | None = None,
    n_bins: int = 20,
    x_form: str = "g",
    stacked: bool = True,
    mark: tuple[float, str] | None = None,
    note: str = "",
) -> Html:
    """Count values in bins, one color a group; groups are stacked, or the later are outlined.

    `mark` draws a line at one value, with its name.
    """
    values = np.concatenate([np.asarray(one, dtype=float) for one in groups.values()])
    low, high = span if span is not None else (float(values.min()), float(values.max()))
    edges = np.linspace(low, high if high > low else low + 1, n_bins + 1)
    counts = [np.histogram(one, edges)[0] for one in groups.values()]
    ticks = round_ticks(
        0, max(int(np.sum(counts, axis=0).max() if stacked else np.max(counts)), 1), 4
    )
    left = 16 + LETTER * max(len(f"{tick:,g}") for tick in ticks)
    x = Scale(edges[0], edges[-1], left, WIDTH - RIGHT)
    y = Scale(0, ticks[-1], HEIGHT - BOTTOM, TOP)
    columns = []
    for number in range(n_bins):
        start, end = x(edges[number]), x(edges[number + 1])
        range_text = f"{edges[number]:.3g} to {edges[number + 1]:.3g}"
        tip = tip_text(
            range_text, [(n, f"{c[number]:,}") for n, c in zip(groups, counts, strict=True)]
        )
        marks = [
            element(
                "rect",
                x=start,
                y=TOP,
                width=end - start,
                height=HEIGHT - BOTTOM - TOP,
                class_="hit",
            )
        ]
        below = 0
        for group, count in enumerate(counts):
            if count[number] and (stacked or group == 0):
                top = y(below + count[number])
                marks.append(
                    element(
                        "rect", x=start + 0.5, y=top, width=round(end - start - 1, 1),
                        height=round(y(below) - top, 1), class_=color(group),
                    )
                )  # fmt: skip
            below += count[number] if stacked else 0
        columns.append(element("g", *marks, data_tip=tip))
    drawing = join(
        value_axis(ticks, y, left, WIDTH - RIGHT, ",g"),
        *columns,
        *(
            _steps(count.tolist(), edges.tolist(), x, y, group)
            for group, count in enumerate(counts)
            if group and not stacked
        ),
        place_axis(x, x_name, x_form),
        None if mark is None else _marked(x, *mark),
    )
    return chart(
        title,
        drawing,
        size=(WIDTH, HEIGHT),
        description=description,
        key=legend(list(groups)) if len(groups) > 1 else None,
        note=note,
    )


def _steps(counts: list[int], edges: list[float], x: Scale, y: Scale, number: int) -> Html:
    """Outline of a histogram."""
    points = [(x(edges[0]), y(0))]
    for count, start, end in zip(counts, edges, edges[1:], strict=False):
        points += [(x(start), y(count)), (x(end), y(count))]
    return element(
        "path", d=path_through([*points, (x(edges[-1]), y(0))]), class_=f"line {color(number)}"
    )


def _marked(x: Scale, value: float, name: str) -> Html:
    at = x(value)
    side = "end" if at > (x.start + x.end) / 2 else "start"
    return join(
        element("line", x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM, class_="mark"),
        label(name, at + (-6 if side == "end" else 6), TOP + LINE / 2 + 2, f"{side} strong halo"),
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
