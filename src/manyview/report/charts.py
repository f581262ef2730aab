"""Charts without a library: numbers in, SVG out, coloured by the page's theme.

Every value can be read by pointing at it, by touch, and with the arrow keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from manyview.report.markup import Html, element, join
from manyview.report.svg import (
    BOTTOM,
    HEIGHT,
    LETTER,
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
