"""Parts common to all charts: scales, round ticks, axes, tooltips and the frame of a drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from markupsafe import Markup

from manyview.report.html.markup import element, join, render

WIDTH, HEIGHT = 420, 250
TOP, RIGHT, BOTTOM = 10, 12, 44
FLOOR = HEIGHT - BOTTOM  # y of the horizontal axis
N_COLORS = 10
LETTER = 7.4  # mean width of a letter in a chart on narrow screens, where it is widest


@dataclass(frozen=True)
class Scale:
    """A linear map from values to coordinates, given by the ends of both."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value."""
        fraction = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + fraction * (self.end - self.start), 1)


@dataclass(frozen=True)
class Plot:
    """Scales of a chart of the usual size, and its vertical axis with grid lines."""

    x: Scale
    y: Scale
    axis: Markup

    @classmethod
    def over(cls, low: float, high: float, ticks: Sequence[float], form: str = ",g") -> "Plot":
        """Span x from low to high, and y over the ticks, whose labels set the left margin."""
        left = 16 + LETTER * max(len(format(tick, form)) for tick in ticks)
        x = Scale(low, high, left, WIDTH - RIGHT)
        y = Scale(ticks[0], ticks[-1], FLOOR, TOP)
        axis = join(
            *(
                join(
                    element("line", x1=left, x2=x.end, y1=y(tick), y2=y(tick), class_="grid"),
                    label(format(tick, form), left - 6, y(tick) + 4, "end muted"),
                )
                for tick in ticks
            )
        )
        return cls(x, y, axis)


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
    """Return the CSS class of a series or group; colors repeat after ten."""
    return f"c{number % N_COLORS + 1}"


def shorten(text: str, n_letters: int) -> str:
    """Cut a text that is too long for its place; the tooltip shows all of it."""
    return text if len(text) <= n_letters else f"{text[: n_letters - 1]}…"


def label(text: str, x: float, y: float, kind: str = "", **attributes: object) -> Markup:
    """Draw a text; `kind` holds CSS classes such as start, middle or end."""
    return element("text", text, x=x, y=y, class_=kind or None, **attributes)


def hit_area(x: float, y: float, width: float, height: float) -> Markup:
    """Return an invisible rectangle that reacts to the pointer."""
    size = {"width": round(width, 1), "height": round(height, 1)}
    return element("rect", x=round(x, 1), y=round(y, 1), **size, class_="hit")


def place_axis(scale: Scale, name: str, form: str) -> Markup:
    """Draw round values and the axis name below a chart of the usual size."""
    slack = (scale.high - scale.low) * 1e-6
    low, high = scale.low - slack, scale.high + slack
    ticks = [tick for tick in round_ticks(scale.low, scale.high, 6) if low <= tick <= high]
    return join(
        *(
            label(format(tick, form), scale(tick), FLOOR + 17, "middle muted")
            for tick in ticks or [scale.low]
        ),
        label(name, (scale.start + scale.end) / 2, HEIGHT - 6, "middle muted"),
    )


def line_path(points: Sequence[tuple[float, float]], number: int) -> Markup:
    """Draw a line through points in the color of a series."""
    return element("path", d=path_through(points), class_=f"line {color(number)}")


def path_through(points: Sequence[tuple[float, float]]) -> str:
    """Return the path data of a line through points."""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def tip_text(head: str, values: Sequence[tuple[str, str]]) -> str:
    """Return the text of a tooltip: a heading, then one line per value."""
    return "\n".join([head, *(f"{name}: {value}" for name, value in values)])


def chart(
    title: str,
    drawing: Markup,
    *,
    description: str,
    size: tuple[float, float] = (WIDTH, HEIGHT),
    key: Sequence[str] = (),
    key_kind: str = "box",
    key_colors: Sequence[str] | None = None,
    controls: Markup | None = None,
    note: str = "",
    kind: str = "",
    show_title: bool = True,
) -> Markup:
    """Frame a drawing: title and controls above, legend below, a description for everyone.

    Tab focuses the chart, and the arrow keys step through its values. The legend names the
    series in `key` where there are several; `key_colors` are their CSS classes, by default those
    of `color`.
    """
    colors = key_colors or [color(number) for number in range(len(key))]
    return render(
        "chart", title=title, note=note, show_title=show_title, kind=kind, controls=controls,
        drawing=drawing, description=description, width=f"{size[0]:g}", height=f"{size[1]:g}",
        key=list(zip(key, colors, strict=True)) if len(key) > 1 else (), key_kind=key_kind,
    )  # fmt: skip
