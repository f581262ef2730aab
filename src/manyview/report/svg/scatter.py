"""The map: samples as points on a plane."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyview.report.html.markup import Html, element, join
from manyview.report.svg.axes import N_COLORS, Scale, chart, color, label, shorten

MAP_WIDTH, MAP_HEIGHT, MARGIN = 880, 560, 26
RADIUS = 3.5
MOST_POINTS = 2000
N_LEVELS = 7
MOST_NAMES = 24  # groups named in the drawing and the legend
NAME_ROOM = (11, 24)  # of a letter of a name, and of its line


@dataclass(frozen=True)
class Points:
    """Samples to be drawn as points, one entry a sample in every array.

    Attributes
    ----------
    places
        [sample, 2]
    groups
        Number of the group, whose names are in `names`.
    levels
        From 0 to 1, for the second coloring.
    tips
        What to say about the sample.
    is_given
        Whether to ring it.
    is_wrong
        For the third coloring; None leaves it out.
    """

    places: np.ndarray
    groups: np.ndarray
    names: Sequence[str]
    levels: np.ndarray
    tips: Sequence[str]
    is_given: np.ndarray
    is_wrong: np.ndarray | None = None


def sampled(n_points: int, n_most: int = MOST_POINTS) -> np.ndarray:
    """Draw the points to show, the same ones every time; all where there are few.

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
    return np.asarray(np.sort(drawn))


def scatter_map(
    title: str,
    points: Points,
    *,
    description: str,
    colorings: tuple[str, str, str] = ("class", "how sure", "right or wrong"),
    level_names: tuple[str, str] = ("least sure", "most sure"),
    name: str = "map",
    note: str = "",
) -> Html:
    """Draw samples as points, colored by group, by level, or by right and wrong.

    The least sure are drawn last, and so lie on top.
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
        marks.append(_mark(at[row], groups[row], class_=kind, data_tip=points.tips[row]))
    names = _names(points, np.array(at)) if len(points.names) <= MOST_NAMES else Html()
    shown = colorings if points.is_wrong is not None else colorings[:2]
    controls = join(
        _choice(name, shown),
        _group_key(points.names),
        element(
            "p",
            level_names[0],
            *(element("i", class_=f"key dot s{step}") for step in range(N_LEVELS)),
            level_names[1],
            class_="legend of-levels",
        ),
        element(
            "p",
            element("i", class_="key dot right"),
            "right",
            element("i", class_="key dot wrong"),
            "wrong",
            class_="legend of-truth",
        )
        if len(shown) > 2
        else None,
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
    """Every second round of colors has another shape."""
    return group // N_COLORS % 2 == 1


def _mark(at: tuple[float, float], group: int, **attributes: object) -> Html:
    x, y = at
    if _is_square(group):
        side = 2 * RADIUS - 1
        corner = {"x": round(x - side / 2, 1), "y": round(y - side / 2, 1)}
        return element("rect", **corner, width=side, height=side, **attributes)
    return element("circle", cx=x, cy=y, r=RADIUS, **attributes)


def _choice(name: str, options: Sequence[str]) -> Html:
    return element(
        "fieldset",
        element("legend", "Color by", class_="unseen"),
        *(
            element(
                "label",
                element(
                    "input", type="radio", name=name, value=f"by-{number}", checked=number == 0
                ),
                element("span", option),
            )
            for number, option in enumerate(options)
        ),
        class_="choice",
    )


def _group_key(names: Sequence[str]) -> Html:
    """Names of the groups as buttons: pressing one fades the others."""
    items = [
        element(
            "li",
            element(
                "button",
                element(
                    "i", class_=f"key {'box' if _is_square(number) else 'dot'} {color(number)}"
                ),
                one,
                type="button",
                data_group=f"k{number}",
                aria_pressed="false",
            ),
        )
        for number, one in enumerate(names[:MOST_NAMES])
    ]
    if len(names) > MOST_NAMES:
        items.append(element("li", f"and {len(names) - MOST_NAMES} more"))
    return element("ul", *items, class_="legend of-groups")


def _names(points: Points, at: np.ndarray) -> Html:
    """Write each group's name where most of its points are, kept apart from each other."""
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
