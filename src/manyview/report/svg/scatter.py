"""Scatter map: samples as points on a plane."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from manyview.report.html.markup import element, join, render
from manyview.report.svg.axes import N_COLORS, Scale, chart, color, label, shorten

MAP_WIDTH, MAP_HEIGHT, MARGIN = 880, 560, 26
RADIUS = 3.5
MAX_POINTS = 2000
N_LEVELS = 7
MAX_NAMES = 24  # groups named in the drawing and the legend
NAME_ROOM = (11, 24)  # width of a letter of a name, height of its line


@dataclass(frozen=True)
class Points:
    """Samples to draw as points, one entry per sample in every array."""

    places: np.ndarray  # [sample, 2] coordinates
    groups: np.ndarray  # group numbers; `names` has the names
    names: Sequence[str]
    levels: np.ndarray  # values in [0, 1] for the second coloring
    tips: Sequence[str]  # text of each sample's tooltip
    is_given: np.ndarray  # whether to draw a ring around the sample
    is_wrong: np.ndarray | None = None  # for the third coloring; None leaves it out
    rows: np.ndarray | None = None  # numbers of the samples on the page; None for no cards


def sampled(n_points: int, n_most: int = MAX_POINTS) -> np.ndarray:
    """Return the rows to draw: all, or a reproducible random sample of `n_most`.

    Examples
    --------
    >>> sampled(3)
    array([0, 1, 2])
    >>> len(sampled(5000))
    2000
    """
    if n_points <= n_most:
        return np.arange(n_points)
    drawn = np.random.default_rng(0).choice(n_points, n_most, replace=False)
    return np.sort(drawn)


def scatter_map(
    title: str,
    points: Points,
    *,
    description: str,
    colorings: tuple[str, str, str] = ("class", "confidence", "right or wrong"),
    level_names: tuple[str, str] = ("least confident", "most confident"),
    name: str = "map",
    note: str = "",
) -> Markup:
    """Draw samples as points, colored by group, by level, or by right and wrong.

    The least confident samples are drawn last and lie on top.
    """
    low, high = points.places.min(axis=0), points.places.max(axis=0)
    x = Scale(low[0], high[0], MARGIN, MAP_WIDTH - MARGIN)
    y = Scale(low[1], high[1], MAP_HEIGHT - MARGIN, MARGIN)
    at = [(x(place[0]), y(place[1])) for place in points.places.tolist()]
    order = np.lexsort((-points.levels, points.is_given)).tolist()
    steps = np.clip((points.levels * N_LEVELS).astype(int), 0, N_LEVELS - 1).tolist()
    groups, given = points.groups.tolist(), points.is_given.tolist()
    wrong = [False] * len(groups) if points.is_wrong is None else points.is_wrong.tolist()
    marks = []
    for row in order:
        kind = (
            f"{color(groups[row])} k{groups[row]} s{steps[row]}"
            f"{' given' if given[row] else ''}{' wrong' if wrong[row] else ''}"
        )
        card = None if points.rows is None else int(points.rows[row])
        marks.append(
            _mark(at[row], groups[row], class_=kind, data_tip=points.tips[row], data_row=card)
        )
    has_names = len(points.names) <= MAX_NAMES
    names = _names(points, np.array(at)) if has_names else Markup()
    controls = render(
        "map_controls",
        name=name,
        colorings=colorings if points.is_wrong is not None else colorings[:2],
        groups=[
            {"name": one, "color": color(n), "shape": "box" if _is_square(n) else "dot"}
            for n, one in enumerate(points.names[:MAX_NAMES])
        ],
        n_more_groups=max(len(points.names) - MAX_NAMES, 0),
        level_names=level_names,
        n_levels=N_LEVELS,
    )
    return chart(
        title,
        join(element("g", *marks, class_="marks"), element("g", names, class_="names")),
        size=(MAP_WIDTH, MAP_HEIGHT),
        description=description,
        controls=controls,
        note=note,
        kind="map",
        show_title=False,
    )


def _is_square(group: int) -> bool:
    """Return whether a group is drawn as squares: every second cycle of colors is."""
    return group // N_COLORS % 2 == 1


def _mark(at: tuple[float, float], group: int, **attributes: object) -> Markup:
    x, y = at
    if _is_square(group):
        side = 2 * RADIUS - 1
        corner = {"x": round(x - side / 2, 1), "y": round(y - side / 2, 1)}
        return element("rect", **corner, width=side, height=side, **attributes)
    return element("circle", cx=x, cy=y, r=RADIUS, **attributes)


def _names(points: Points, at: np.ndarray) -> Markup:
    """Write each group's name at the median of its points, without overlaps."""
    wide, tall = NAME_ROOM
    written: list[tuple[float, float, float]] = []
    texts = []
    sizes = np.bincount(points.groups, minlength=len(points.names))
    for group in np.argsort(-sizes, kind="stable").tolist():
        if sizes[group] == 0:
            continue
        name = shorten(points.names[group], 16)
        x, y = np.median(at[points.groups == group], axis=0)
        half = len(name) * wide / 2
        x = float(np.clip(x, MARGIN + half, MAP_WIDTH - MARGIN - half))
        for shift in (0, -1, 1, -2, 2, -3, 3):
            free = y + shift * tall
            if all(abs(free - b) >= tall or abs(x - a) >= half + c for a, b, c in written):
                y = free
                break
        written.append((x, float(y), half))
        texts.append(label(name, round(x, 1), round(float(y) + 6, 1), f"middle halo k{group}"))
    return join(*texts)
