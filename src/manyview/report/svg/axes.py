"""What charts share: a scale, round ticks, axes, a legend, and the frame around a drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from manyview.report.html.markup import Html, element, join

WIDTH, HEIGHT = 420, 250
TOP, RIGHT, BOTTOM = 10, 12, 44
N_COLORS = 10
LETTER = 7.4  # mean width of a letter in a chart, on the narrow screens where it is widest
LINE = 18


@dataclass(frozen=True)
class Scale:
    """A straight map of values to places, both given by their ends."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Place one value."""
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + share * (self.end - self.start), 1)


def round_ticks(low: float, high: float, n_wanted: int = 5) -> list[float]:
    """Return round values that cover a range.

    Examples
    --------
    >>> round_ticks(0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> round_ticks(0, 187, 4)
    [0.0, 50.0, 100.0, 150.0, 200.0]
    """
    if not (isfinite(low) and isfinite(high)) or high <= low:
        high = low + 1 if isfinite(low) else 1.0
        low = low if isfinite(low) else 0.0
    rough = (high - low) / n_wanted
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def color(number: int) -> str:
    """Class of the color of a series or group; colors repeat after ten."""
    return f"c{number % N_COLORS + 1}"


def shorten(text: str, n_letters: int) -> str:
    """Cut a text that is too long for its place; the whole of it is in the tip."""
    return text if len(text) <= n_letters else f"{text[: n_letters - 1]}…"


def legend(names: Sequence[str], *, kind: str = "box") -> Html:
    """Name the colors, outside the drawing, so that names may be long."""
    items = (
        element("li", element("i", class_=f"key {kind} {color(number)}"), name)
        for number, name in enumerate(names)
    )
    return element("ul", *items, class_="legend")


def label(text: str, x: float, y: float, kind: str = "") -> Html:
    """Write a text; `kind` has start, middle or end for its anchor, and looks."""
    return element("text", text, x=x, y=y, class_=kind or None)


def value_axis(ticks: Sequence[float], scale: Scale, start: float, end: float, form: str) -> Html:
    """Draw level grid lines with their values at the left."""
    return join(
        *(
            join(
                element("line", x1=start, x2=end, y1=scale(tick), y2=scale(tick), class_="grid"),
                label(format(tick, form), start - 6, scale(tick) + 4, "end muted"),
            )
            for tick in ticks
        )
    )


def place_axis(scale: Scale, name: str, form: str) -> Html:
    """Write round values below a drawing of the usual size, and what they are."""
    slack = (scale.high - scale.low) * 1e-6
    low, high = scale.low - slack, scale.high + slack
    ticks = [tick for tick in round_ticks(scale.low, scale.high, 6) if low <= tick <= high]
    return join(
        *(
            label(format(tick, form), scale(tick), HEIGHT - BOTTOM + 17, "middle muted")
            for tick in ticks or [scale.low]
        ),
        label(name, (scale.start + scale.end) / 2, HEIGHT - 6, "middle muted"),
    )


def path_through(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of a line through points."""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def tip_text(head: str, values: Sequence[tuple[str, str]]) -> str:
    """Return the text of a tip: the head, then one line a value."""
    return "\n".join([head, *(f"{name}: {value}" for name, value in values)])


def chart(
    title: str,
    drawing: Html,
    *,
    size: tuple[float, float],
    description: str,
    key: Html | None = None,
    controls: Html | None = None,
    note: str = "",
    kind: str = "",
    show_title: bool = True,
) -> Html:
    """Frame a drawing: its title and controls above, its legend below, a description for all.

    One press of Tab reaches the chart, arrow keys go through its values.
    """
    width, height = size
    drawn = element(
        "svg",
        element("title", title),
        element("desc", description),
        drawing,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        aria_label=f"{title}. {description}",
        tabindex=0,
    )
    return element(
        "figure",
        element(
            "figcaption",
            element("strong", title, class_=None if show_title else "unseen"),
            element("span", note) if note else None,
        ),
        controls,
        drawn,
        key,
        class_=f"chart {kind}".strip(),
    )
