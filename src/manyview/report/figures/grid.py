"""Figures of a grid: accuracy by one parameter as lines, by two as a map."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from manyview.experiments.plan import Cell, Entry, Plan
from manyview.report.figures.style import (
    STYLE,
    Results,
    draw_line,
    draw_map,
    legend_below,
    looks,
    panels,
)
from manyview.report.study.results import begun_datasets, dataset_title, ratio_title, value_title


def grid_lines_figure(
    plan: Plan, entries: Sequence[Entry], results: Results, parameter: str
) -> Figure:
    """Draw accuracy by one parameter: a panel a data set, with the deviation as a band."""
    names = begun_datasets(plan, entries, results)
    series = [
        (entry, ratio, protocol)
        for entry in entries
        for protocol in plan.protocols
        for ratio in entry.label_ratios
    ]
    given = looks([number == 0 for number in range(len(series))])
    figure, axes = panels(len(names), height=1.85, extra=0.25 if len(series) > 1 else 0.0)
    with rc_context(STYLE):
        for ax, name in zip(axes, names, strict=True):
            for (entry, ratio, protocol), look in zip(series, given, strict=True):
                values = list(entry.grid[parameter])
                places, ticks = _places(values)
                cells = [
                    Cell(name, entry.name, ((parameter, value),), ratio, protocol)
                    for value in values
                ]
                found = [(x, results.get(cell)) for x, cell in zip(places, cells, strict=True)]
                draw_line(
                    ax, found, look.line(), _series_title(plan, entries, entry, ratio, protocol)
                )
                if ticks:
                    ax.set_xticks(places, ticks)
            ax.set_title(dataset_title(name))
            ax.set_xlabel(_symbol(parameter))
            ax.set_ylabel("accuracy (%)")
        legend_below(figure, axes[0], 4)
    return figure


def grid_map_figure(plan: Plan, entry: Entry, results: Results) -> Figure:
    """Draw accuracy over two parameters as a map with its numbers, the best one framed."""
    (first, rows), (second, columns) = entry.grid.items()
    places = [
        (name, ratio, protocol)
        for name in begun_datasets(plan, [entry], results)
        for ratio in entry.label_ratios
        for protocol in plan.protocols
    ]
    choices = (3, 2) if len(columns) <= 7 else (2,)
    figure, axes = panels(len(places), choices=choices, height=0.62 + 0.24 * len(rows))
    with rc_context(STYLE):
        for ax, (name, ratio, protocol) in zip(axes, places, strict=True):
            cells = [
                [
                    Cell(name, entry.name, ((first, y), (second, x)), ratio, protocol)
                    for x in columns
                ]
                for y in rows
            ]
            values = np.array([[_mean(results, cell) for cell in line] for line in cells])
            words = [dataset_title(name)]
            words += [ratio_title(ratio)] if len(entry.label_ratios) > 1 else []
            words += [protocol] if len(plan.protocols) > 1 else []
            draw_map(ax, values, ".1f", frame_best=True)
            ax.invert_yaxis()
            ax.set_title(", ".join(words))
            ax.set_xticks(range(len(columns)), map(value_title, columns))
            ax.set_yticks(range(len(rows)), map(value_title, rows))
            ax.set_xlabel(_symbol(second))
            ax.set_ylabel(_symbol(first))
    return figure


def _mean(results: Results, cell: Cell) -> float:
    mean = results[cell].mean
    return float("nan") if mean is None else mean


def _places(values: Sequence[Any]) -> tuple[list[float], list[str]]:
    """Where to set values: numbers at their place, others one after the other with their names."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values], []
    return [float(at) for at in range(len(values))], [value_title(value) for value in values]


def _symbol(parameter: str) -> str:
    """Name a parameter on an axis, with the paper's symbol where it has one."""
    symbols = {"n_neighbors": "neighbors $k$", "gamma": r"$\gamma$", "tau": r"$\tau$"}
    return symbols.get(parameter, parameter.replace("_", " "))


def _series_title(
    plan: Plan, entries: Sequence[Entry], entry: Entry, ratio: float, protocol: str
) -> str:
    words = [entry.title]
    if any(len(one.label_ratios) > 1 for one in entries):
        words.append(ratio_title(ratio))
    if len(plan.protocols) > 1:
        words.append(protocol)
    return ", ".join(words)
