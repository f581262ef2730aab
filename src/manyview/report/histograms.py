"""Histograms: how values are spread, and how two groups of them differ."""

from collections.abc import Mapping

import numpy as np

from manyview.report.markup import Html, element, join
from manyview.report.svg import (
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
    tip_text,
    value_axis,
)


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
    """Count values in bins, one colour a group; groups are stacked, or the later are outlined.

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
