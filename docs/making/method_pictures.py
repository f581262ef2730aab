"""Draw the method, block by block, from a real fit on 36 digits: docs/figures/method/*.svg.

    python docs/making/method_pictures.py [FOLDER]

Every picture has the samples at the same positions. The digit in a node is its true class. Color
and shape show the given or predicted label; gray circles have none.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from small_fit import CLASSES, SIZE, VIEWS, SmallFit, off_diagonal, small_fit
from svg_parts import COLORS, Sheet, draw_edges, draw_node, edges_of

FOLDER = Path(__file__).parent.parent / "figures" / "method"


def draw_views(fit: SmallFit) -> Sheet:
    """Draw one sample of each class in every view: pixels as an image, the others as bars."""
    sheet = Sheet(680, 280)
    lefts, widths = (20, 130, 390), (64, 220, 270)
    for name, left in zip(VIEWS, lefts, strict=True):
        sheet.text(left, 22, f"{name}, {fit.views[name].shape[1]}", "said")
    for row, label in enumerate(CLASSES):
        sample = int(np.flatnonzero(fit.truth == label)[0])
        for name, left, width in zip(VIEWS, lefts, widths, strict=True):
            values, top = np.asarray(fit.views[name])[sample], 36 + 80 * row
            if name == "pixels":
                for place, ink in enumerate(values.tolist()):
                    x, y = left + 8.0 * (place % 8), top + 8.0 * (place // 8)
                    look = {"class_": "ink", "fill_opacity": f"{0.06 + 0.94 * ink:.2f}"}
                    sheet.add("rect", x=x, y=y, width=7.4, height=7.4, **look)
                continue
            step = width / len(values)
            for place, height in enumerate((62 * values / values.max()).clip(0.5).tolist()):
                x, y = left + step * place, top + 64 - height
                sheet.add("rect", x=x, y=y, width=step * 0.75, height=height, class_="ink")
    return sheet


def draw_given(fit: SmallFit) -> Sheet:
    """Draw the given labels."""
    return with_nodes(Sheet(*SIZE), fit, fit.labels)


def draw_view_graph(number: int) -> Callable[[SmallFit], Sheet]:
    """Return the function that draws the graph of one view."""

    def draw(fit: SmallFit) -> Sheet:
        sheet = Sheet(*SIZE)
        draw_edges(sheet, fit.points, edges_of(off_diagonal(fit.model.view_graphs_[number])))
        return with_nodes(sheet, fit, fit.labels)

    return draw


def draw_importance(fit: SmallFit) -> Sheet:
    """Draw the mixing weights, and the importance that follows from them."""
    sheet = Sheet(*SIZE)
    sheet.text(20, 26, "mixing weights: weight of each view", "said")
    sheet.text(20, 42, "(column) in each mixture (row)", "said")
    for row, name in enumerate(VIEWS):
        sheet.text(20, 78 + 34 * row, name, "said")
        for column, weight in enumerate(fit.model.mixing_weights_[row].tolist()):
            x, y = 100 + 74 * column, 58 + 34 * row
            look = f"fill: {COLORS[0]}; fill-opacity: {weight:.2f}"
            sheet.add("rect", x=x, y=y, width=70, height=30, style=look)
            sheet.text(x + 22, y + 20, f"{weight:.2f}", "said")
    sheet.text(20, 192, "importance of each view", "said")
    for row, (name, weight) in enumerate(zip(VIEWS, fit.model.view_importance_, strict=True)):
        y = 204 + 28 * row
        sheet.text(20, y + 15, name, "said")
        sheet.add("rect", x=100, y=y, width=float(300 * weight), height=20, fill=COLORS[0])
        sheet.text(120, y + 15, f"{weight:.2f}")
    return sheet


def draw_fused(fit: SmallFit) -> Sheet:
    """Draw the fused graph."""
    sheet = Sheet(*SIZE)
    draw_edges(sheet, fit.points, edges_of(off_diagonal(fit.model.fused_graph_)))
    return with_nodes(sheet, fit, fit.labels)


def draw_gates(fit: SmallFit) -> Sheet:
    """Draw the learned gate of every edge, from the lowest to the highest."""
    gates = off_diagonal(fit.model.edge_gates_)
    low, high = gates[gates > 0].min(), gates.max()
    spread = np.where(gates > 0, 0.02 + (gates - low) / (high - low), 0)
    sheet = Sheet(*SIZE)
    draw_edges(sheet, fit.points, edges_of(spread, 1.02))
    return with_nodes(sheet, fit, fit.labels)


def draw_ranks(fit: SmallFit) -> Sheet:
    """Draw P, samples sorted by score, and the confidence below it."""
    sheet = Sheet(*SIZE)
    order = np.argsort(-fit.scores, kind="stable")
    probabilities = fit.rank_probabilities[:, order]
    step, left, top = 5.6, 90.0, 24.0
    sheet.text(20, 16, "rank (down) and sample (across)", "said")
    sheet.parts.append(
        f'<g class="ink" shape-rendering="crispEdges" '
        f'transform="translate({left} {top}) scale({step})">'
    )
    for rank, row in enumerate((probabilities / probabilities.max()).tolist()):
        for place, probability in enumerate(row):
            sheet.add("rect", x=place, y=rank, width=1, height=1, fill_opacity=f"{probability:.2f}")
    sheet.parts.append("</g>")
    sheet.text(10, 262, "confidence", "said")
    for place, height in enumerate((56 * fit.confidence[order]).tolist()):
        x = left + step * place
        sheet.add("rect", x=x, y=290 - height, width=4.4, height=max(height, 0.6), class_="ink")
    return sheet


def draw_confidence(fit: SmallFit) -> Sheet:
    """Draw the refined graph, samples as large as they are confident."""
    sheet = Sheet(*SIZE)
    draw_edges(sheet, fit.points, edges_of(off_diagonal(fit.model.refined_graph_)))
    return with_nodes(sheet, fit, fit.labels, radius=4 + 7 * fit.confidence)


def draw_selected(fit: SmallFit) -> Sheet:
    """Draw the selected graph, with removed edges dashed."""
    selected = off_diagonal(fit.model.selected_graph_)
    removed = np.where(selected > 0, 0, off_diagonal(fit.model.refined_graph_))
    sheet = Sheet(*SIZE)
    draw_edges(sheet, fit.points, edges_of(removed), "gone")
    draw_edges(sheet, fit.points, edges_of(selected))
    return with_nodes(sheet, fit, fit.labels)


def draw_predictions(fit: SmallFit) -> Sheet:
    """Draw the label of every sample; wrong ones ringed."""
    sheet = Sheet(*SIZE)
    draw_edges(sheet, fit.points, edges_of(off_diagonal(fit.model.selected_graph_)))
    return with_nodes(sheet, fit, fit.model.transduction_)


def draw_overview(fit: SmallFit) -> Sheet:
    """Draw labels given, one view, fused, selected, predicted: the same samples in a row."""
    stages = {
        "few labels": draw_given,
        "one graph per view": draw_view_graph(0),
        "fused": draw_fused,
        "selected": draw_selected,
        "all labels": draw_predictions,
    }
    width, gap = SIZE[0], 26
    sheet = Sheet(len(stages) * (width + gap) - gap, SIZE[1] + 34)
    for number, (name, draw) in enumerate(stages.items()):
        add_stage(sheet, fit, draw, name, left=number * (width + gap), font_size=26)
    return sheet


def draw_overview_narrow(fit: SmallFit) -> Sheet:
    """Draw the fused graph with the labels given above the predictions, for narrow screens."""
    stages = {
        "few labels and a graph of all views": draw_fused,
        "a label for every sample": draw_predictions,
    }
    height = SIZE[1] + 34
    sheet = Sheet(SIZE[0], len(stages) * height)
    for number, (name, draw) in enumerate(stages.items()):
        add_stage(sheet, fit, draw, name, top=number * height, font_size=17)
    return sheet


def add_stage(
    sheet: Sheet,
    fit: SmallFit,
    draw: Callable[[SmallFit], Sheet],
    name: str,
    *,
    left: int = 0,
    top: int = 0,
    font_size: int,
) -> None:
    """Add a picture to another one, with its name above it."""
    sheet.parts.append(f'<g transform="translate({left} {top + 34})">')
    sheet.parts += draw(fit).parts
    sheet.parts.append("</g>")
    style = f"font-size: {font_size}px"
    sheet.add("text", name, x=left + 18, y=top + 26, class_="said", style=style)


def with_nodes(
    sheet: Sheet, fit: SmallFit, labels: np.ndarray, radius: np.ndarray | None = None
) -> Sheet:
    """Draw all samples, in color where they have a label."""
    for sample, point in enumerate(fit.points):
        label = int(labels[sample])
        draw_node(
            sheet,
            point,
            fit.truth[sample],
            CLASSES.index(label) if label in CLASSES else None,
            radius=9.0 if radius is None else float(radius[sample]),
            wrong=label not in (-1, fit.truth[sample]),
        )
    return sheet


PICTURES: dict[str, Callable[[SmallFit], Sheet]] = {
    "views": draw_views,
    "given": draw_given,
    **{f"graph-{name}": draw_view_graph(number) for number, name in enumerate(VIEWS)},
    "importance": draw_importance,
    "fused": draw_fused,
    "gates": draw_gates,
    "ranks": draw_ranks,
    "confidence": draw_confidence,
    "selected": draw_selected,
    "predictions": draw_predictions,
    "overview": draw_overview,
    "overview-narrow": draw_overview_narrow,
}


def main(folder: Path) -> None:
    """Write all pictures, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    fit = small_fit()
    for name, draw in PICTURES.items():
        started = folder / f".{name}.svg"
        started.write_text(draw(fit).svg(name.replace("-", " ")), encoding="utf-8")
        started.replace(folder / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
