"""Parts of the method's pictures: sheets of SVG in light and dark, graphs, nodes, bars."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import numpy as np

# Okabe and Ito's colors, safe for color-blind readers; every class also has its own shape.
COLORS = ("#56b4e9", "#e69f00", "#009e73")
STYLE = """
.sheet { fill: #ffffff }
.edge { stroke: #37474f; stroke-linecap: round }
.gone { stroke: #d55e00; stroke-width: 1.2; stroke-dasharray: 3 4 }
.node { fill: #cfd8dc; stroke: #37474f; stroke-width: 1 }
.wrong { stroke: #d55e00; stroke-width: 3 }
.ink { fill: #263238 }
text { font: 600 11px system-ui, sans-serif; text-anchor: middle; fill: #111111 }
.said { font-weight: 400; font-size: 12px; text-anchor: start; fill: #263238 }
@media (prefers-color-scheme: dark) {
  .sheet { fill: #1e2129 }
  .edge { stroke: #cfd8dc }
  .gone { stroke: #ff8a50 }
  .node { fill: #90a4ae; stroke: #eceff1 }
  .wrong { stroke: #ff8a50 }
  .ink { fill: #cfd8dc }
  .said { fill: #cfd8dc }
}
"""


@dataclass
class Sheet:
    """An SVG picture; parts are painted in the order they are added."""

    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def add(self, name: str, inside: str = "", **attributes: object) -> None:
        """Add an element; `class_` and `stroke_width` become `class` and `stroke-width`."""
        shown = " ".join(
            f'{key.rstrip("_").replace("_", "-")}="{_short(value)}"'
            for key, value in attributes.items()
        )
        self.parts.append(f"<{name} {shown}>{inside}</{name}>" if inside else f"<{name} {shown}/>")

    def text(self, x: float, y: float, words: object, class_: str = "label") -> None:
        """Write words."""
        self.add("text", escape(str(words)), x=x, y=y, class_=class_)

    def svg(self, title: str) -> str:
        """Return the whole file."""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img">',
                f"<title>{escape(title)}</title>",
                f"<style>{STYLE}</style>",
                f'<rect class="sheet" width="{self.width}" height="{self.height}" rx="4"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def draw_edges(
    sheet: Sheet, points: np.ndarray, edges: Iterable[tuple[int, int, float]], class_: str = "edge"
) -> None:
    """Draw edges (one end, other end, strength from 0 to 1): the stronger, the wider and darker."""
    for one, other, strength in edges:
        (x1, y1), (x2, y2) = points[one], points[other]
        look = {} if class_ == "gone" else {"stroke_width": 0.5 + 2.5 * strength}
        look |= {} if class_ == "gone" else {"opacity": 0.2 + 0.75 * strength}
        sheet.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, **look)


def draw_node(
    sheet: Sheet,
    point: np.ndarray,
    word: object,
    number: int | None = None,
    *,
    radius: float = 9,
    wrong: bool = False,
) -> None:
    """Draw a sample: gray, or in color and shape of a class by its number."""
    x, y = point
    look = {"class_": "node wrong" if wrong else "node"}
    if number is not None:
        look["style"] = f"fill: {COLORS[number]}"
    if number == 1:
        sheet.add("rect", x=x - radius, y=y - radius, width=2 * radius, height=2 * radius, **look)
    elif number == 2:
        reach = 1.3 * radius
        corners = [(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)]
        sheet.add("polygon", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in corners), **look)
    else:
        sheet.add("circle", cx=x, cy=y, r=radius, **look)
    if radius > 6:
        sheet.text(x, y + 4, word)


def edges_of(graph: np.ndarray, largest: float | None = None) -> Iterator[tuple[int, int, float]]:
    """Go through the edges of a graph [sample, sample], the weakest first, strengths up to 1."""
    upper = np.triu(graph, 1)
    largest = upper.max() if largest is None else largest
    pairs = np.argwhere(upper > 0)
    for one, other in pairs[np.argsort(upper[tuple(pairs.T)], kind="stable")].tolist():
        yield one, other, float(upper[one, other] / largest)


def spread_out(graph: np.ndarray, size: tuple[int, int], n_steps: int = 400) -> np.ndarray:
    """Place samples so that edges are short and samples apart (Fruchterman and Reingold)."""
    n_samples = len(graph)
    degrees = np.diag(graph.sum(axis=1))
    _, vectors = np.linalg.eigh(degrees - graph)
    vectors = vectors * np.sign(vectors[np.argmax(np.abs(vectors), axis=0), range(n_samples)])
    points = vectors[:, 1:3] / np.abs(vectors[:, 1:3]).max()
    apart = 1.1 / np.sqrt(n_samples)
    links = graph / graph.max()
    for heat in np.linspace(0.1, 0.002, n_steps):
        gaps = points[:, None] - points[None]
        lengths = np.linalg.norm(gaps, axis=2).clip(1e-3)
        push = apart**2 / lengths**2 - links * lengths / apart - 0.02
        moves = (gaps * push[..., None]).sum(axis=1)
        steps = np.linalg.norm(moves, axis=1, keepdims=True).clip(1e-9)
        points = points + moves / steps * np.minimum(steps, heat)
    low, high = points.min(axis=0), points.max(axis=0)
    return 18 + (points - low) / (high - low) * (np.array(size) - 36)


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escape(str(value))
