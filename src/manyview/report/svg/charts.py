"""Line charts, bar charts and histograms in SVG, colored by the page's theme.

Every value can be read by pointer, by touch and with the arrow keys. The shapes are loops over
computed coordinates, so they are built in Python with the escaping `element`; the frame around a
drawing is a template.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from markupsafe import Markup

from manyview.report.html.markup import element, join
from manyview.report.svg.axes import (
    FLOOR,
    LETTER,
    TOP,
    WIDTH,
    Plot,
    Scale,
    chart,
    color,
    hit_area,
    label,
    line_path,
    path_through,
    place_axis,
    round_ticks,
    shorten,
    tip_text,
)

LEAN = 320  # width of a chart next to a table
MAX_STOPS = 120  # places along a line that have a tooltip
MAX_LETTERS = 18  # of a bar's name
REFERENCE = "reference"  # CSS class of a line to compare with


@dataclass(frozen=True)
class Series:
    """Values by place, NaN where missing, with an optional band around them.

    `has_dots` marks every value; `is_reference` draws a dashed gray line to compare with.
    """

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    has_dots: bool = False
    is_reference: bool = False

    def color(self, number: int) -> str:
        """Return the CSS class of its color, as the series of this number."""
        return REFERENCE if self.is_reference else color(number)


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
) -> Markup:
    """Draw one line per series over common places, with a band where a series has one."""
    shown = [
        value
        for one in series
        for values in (one.values, one.low or (), one.high or ())
        for value in values
        if isfinite(value)
    ]
    lowest, highest = (min(shown), max(shown)) if shown else (0.0, 1.0)
    ticks = round_ticks(min(0.0, lowest) if from_zero else lowest, highest, 4)
    plot = Plot.over(min(places), max(places), ticks, form if form.endswith("%") else ",g")
    drawing = join(
        plot.axis,
        place_axis(plot.x, x_name, x_form),
        *(
            join(_band(places, one, plot, number), _line(places, one, plot, number))
            for number, one in enumerate(series)
        ),
        _stops(places, series, plot, (x_name, x_form, form)),
    )
    return chart(
        title,
        drawing,
        description=description,
        key=[one.name for one in series],
        key_kind="line",
        key_colors=[one.color(number) for number, one in enumerate(series)],
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
    remarks: Sequence[str] | None = None,
    width: int = WIDTH,
    n_letters: int = MAX_LETTERS,
) -> Markup:
    """Draw horizontal bars, one row per name; several series are stacked or side by side.

    `remarks` has a few words per row, written after the bar; names are cut to `n_letters`.
    """
    thick = 16 if stacked or len(series) == 1 else 11
    row_height = (thick if stacked else thick * len(series)) + 10
    left = 10 + LETTER * min(max(map(len, names), default=0), n_letters)
    totals = [sum(one.values[row] for one in series) for row in range(len(names))]
    longest = max(totals if stacked else [v for one in series for v in one.values], default=1.0)
    remarks = remarks or [""] * len(names)
    endings = [f", {remark}" if remark else "" for remark in remarks]
    n_after = max((len(format(max(totals), form)) + len(one) for one in endings), default=1)
    x = Scale(0, longest or 1.0, 0, width - left - 12 - LETTER * n_after)
    rows = []
    for row, name in enumerate(names):
        top = 4 + row * row_height
        tip = tip_text(name, [(one.name, format(one.values[row], form)) for one in series])
        marks = [hit_area(0, top - 4, width, row_height)]
        start = left
        for number, one in enumerate(series):
            y = top if stacked else top + number * thick
            length = max(x(one.values[row]), 0.0)
            size = {"width": length, "height": thick - 1.0}
            marks.append(element("rect", x=start, y=y, **size, rx=2, class_=color(number)))
            start += length if stacked else 0
            if not stacked or one is series[-1]:
                text = format(totals[row] if stacked else one.values[row], form)
                text += endings[row] if stacked or number == 0 else ""
                end = start if stacked else start + length
                marks.append(label(text, end + 6, y + thick / 2 + 4, "muted"))
        middle = top + (row_height - 10) / 2 + 4
        marks.append(label(shorten(name, n_letters), left - 8, middle, "end"))
        tip += f"\n{remarks[row]}" if remarks[row] else ""
        rows.append(element("g", *marks, data_tip=tip))
    return chart(
        title,
        join(*rows),
        size=(width, len(names) * row_height + 4),
        description=description,
        key=[one.name for one in series],
    )


def histogram(
    title: str,
    groups: Mapping[str, np.ndarray],
    *,
    x_name: str,
    description: str,
    span: tuple[float, float] | None = None,
    n_bins: int = 20,
    stacked: bool = True,
) -> Markup:
    """Count values in bins, one color per group; groups are stacked, or later ones outlined."""
    values = np.concatenate([np.asarray(one, dtype=float) for one in groups.values()])
    low, high = span if span is not None else (float(values.min()), float(values.max()))
    edges = np.linspace(low, high if high > low else low + 1, n_bins + 1)
    counts = [np.histogram(one, edges)[0] for one in groups.values()]
    highest = int(np.sum(counts, axis=0).max() if stacked else np.max(counts))
    plot = Plot.over(edges[0], edges[-1], round_ticks(0, max(highest, 1), 4))
    columns = []
    for number in range(n_bins):
        start, end = plot.x(edges[number]), plot.x(edges[number + 1])
        marks = [hit_area(start, TOP, end - start, FLOOR - TOP)]
        below = 0
        for group, count in enumerate(counts if stacked else counts[:1]):
            if count[number]:
                top = plot.y(below + count[number])
                height = round(plot.y(below) - top, 1)
                size = {"width": round(end - start - 1, 1), "height": height}
                marks.append(element("rect", x=start + 0.5, y=top, **size, class_=color(group)))
            below += count[number]
        read = [(name, f"{count[number]:,}") for name, count in zip(groups, counts, strict=True)]
        tip = tip_text(f"{edges[number]:.3g} to {edges[number + 1]:.3g}", read)
        columns.append(element("g", *marks, data_tip=tip))
    drawing = join(
        plot.axis,
        *columns,
        *(
            _outline(count.tolist(), edges.tolist(), plot, group)
            for group, count in enumerate(counts)
            if group and not stacked
        ),
        place_axis(plot.x, x_name, "g"),
    )
    return chart(title, drawing, description=description, key=list(groups))


def _line(places: Sequence[float], one: Series, plot: Plot, number: int) -> Markup | None:
    """Draw a line that is broken where values are missing."""
    runs: list[list[tuple[float, float]]] = [[]]
    for place, value in zip(places, one.values, strict=True):
        if isfinite(value):
            runs[-1].append((plot.x(place), plot.y(value)))
        elif runs[-1]:
            runs.append([])
    drawn = "".join(path_through(run if len(run) > 1 else [*run, *run]) for run in runs if run)
    if not drawn:
        return None
    own = one.color(number)
    dots = [place for run in runs for place in run] if one.has_dots else []
    return join(
        element("path", d=drawn, class_=f"line {own}"),
        *(element("circle", cx=x, cy=y, r=3.5, class_=f"dot {own}") for x, y in dots),
    )


def _band(places: Sequence[float], one: Series, plot: Plot, number: int) -> Markup | None:
    ends = [
        (plot.x(place), plot.y(low), plot.y(high))
        for place, low, high in zip(places, one.low or (), one.high or (), strict=False)
        if isfinite(low) and isfinite(high)
    ]
    if len(ends) < 2:
        return None
    around = [(at, low) for at, low, _ in ends] + [(at, high) for at, _, high in reversed(ends)]
    return element("path", d=f"{path_through(around)}Z", class_=f"band {color(number)}")


def _stops(
    places: Sequence[float], series: Sequence[Series], plot: Plot, words: tuple[str, str, str]
) -> Markup:
    """Draw places to point at: a vertical line, a dot per series, and a tooltip."""
    x_name, x_form, form = words
    chosen = np.unique(np.linspace(0, len(places) - 1, min(len(places), MAX_STOPS)).round())
    reach = (plot.x.end - plot.x.start) / max(len(chosen) - 1, 1)
    stops = []
    for row in chosen.astype(int).tolist():
        at = plot.x(places[row])
        here = [(number, one) for number, one in enumerate(series) if isfinite(one.values[row])]
        dots = (
            element(
                "circle", cx=at, cy=plot.y(one.values[row]), r=4, class_=f"here {one.color(number)}"
            )
            for number, one in here
        )
        read = [(one.name, _value_and_band(one, row, form)) for _, one in here]
        stops.append(
            element(
                "g",
                hit_area(at - reach / 2, TOP, reach, FLOOR - TOP),
                element("line", x1=at, x2=at, y1=TOP, y2=FLOOR, class_="here"),
                *dots,
                data_tip=tip_text(f"{x_name} {places[row]:{x_form}}", read),
            )
        )
    return join(*stops)


def _value_and_band(one: Series, row: int, form: str) -> str:
    text = format(one.values[row], form)
    if one.low is None or one.high is None:
        return text
    return f"{text} ({one.low[row]:{form}} to {one.high[row]:{form}})"


def _outline(counts: list[int], edges: list[float], plot: Plot, number: int) -> Markup:
    """Draw a histogram as a stepped line."""
    points = [(plot.x(edges[0]), plot.y(0))]
    for count, start, end in zip(counts, edges, edges[1:], strict=False):
        points += [(plot.x(start), plot.y(count)), (plot.x(end), plot.y(count))]
    return line_path([*points, (plot.x(edges[-1]), plot.y(0))], number)
