"""Figures of a grid: accuracy by one parameter as lines, by two as a map."""

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.figure import Figure

from manyview.experiments.plan import Entry, Plan
from manyview.report.figures.style import STYLE, draw_curve, draw_map, legend_below, looks, panels
from manyview.report.study.results import Results, dataset_title, value_title
from manyview.report.study.series import grid_curves, grid_maps


def grid_lines_figure(plan: Plan, entries: Sequence[Entry], results: Results) -> Figure:
    """Draw accuracy by one parameter: one panel per data set, standard deviations as bands."""
    by_dataset, names = grid_curves(plan, entries, results)
    n_series = len(next(iter(by_dataset.values())))
    given = looks([number == 0 for number in range(n_series)])
    figure, axes = panels(len(by_dataset), height=1.85, extra=0.25 if n_series > 1 else 0.0)
    with rc_context(STYLE):
        for ax, (name, curves) in zip(axes, by_dataset.items(), strict=True):
            for curve, look in zip(curves, given, strict=True):
                draw_curve(ax, curve, look.line())
            if names:
                ax.set_xticks(range(len(names)), names)
            ax.set_title(dataset_title(name))
            ax.set_xlabel(_symbol(next(iter(entries[0].grid))))
            ax.set_ylabel("accuracy (%)")
        legend_below(figure, axes[0], 4)
    return figure


def grid_map_figure(plan: Plan, entry: Entry, results: Results) -> Figure:
    """Draw accuracy over two parameters as a map of numbers, with a frame around the best."""
    maps = grid_maps(plan, entry, results)
    rows, columns = maps[0].values
    choices = (3, 2) if len(columns) <= 7 else (2,)
    figure, axes = panels(len(maps), choices=choices, height=0.62 + 0.24 * len(rows))
    with rc_context(STYLE):
        for ax, one in zip(axes, maps, strict=True):
            draw_map(ax, one.means, ".1f", frame_best=True)
            ax.invert_yaxis()
            ax.set_title(one.title)
            ax.set_xticks(range(len(columns)), map(value_title, columns))
            ax.set_yticks(range(len(rows)), map(value_title, rows))
            ax.set_ylabel(_symbol(one.names[0]))
            ax.set_xlabel(_symbol(one.names[1]))
    return figure


def _symbol(parameter: str) -> str:
    """Return the axis label of a parameter, with the paper's symbol where it has one."""
    symbols = {"n_neighbors": "neighbors $k$", "gamma": r"$\gamma$", "tau": r"$\tau$"}
    return symbols.get(parameter, parameter.replace("_", " "))
