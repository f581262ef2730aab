"""Figures of a study for print, drawn from its records by matplotlib (the extra `plot`)."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyview.errors import DataFileError, InputError
from manyview.experiments.plan import Cell
from manyview.experiments.store import DONE
from manyview.experiments.study import Study
from manyview.report.study.results import (
    METRICS,
    dataset_title,
    point_title,
    ratio_title,
    study_results,
)
from manyview.validation import check_choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
# What a file would say of its time and maker, left out so that equal records give equal files.
UNSAID: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
MOST_RATIOS_AS_DOTS = 2


def study_figures(study: Study) -> "dict[str, Figure]":
    """Draw every figure that the records of a study can fill, by name.

    accuracy, ablation
        Dots with their deviation; an ablation compares settings of one method.
    ratios
        Accuracy by the share of labels, where the plan has three or more.
    the names of one or two parameters, such as n-neighbors or gamma-tau
        Accuracy over a grid, as lines or as a map.
    convergence, weights, adjacency
        What trials kept beside their scores.
    """
    _need_matplotlib()
    from manyview.report.figures import comparison as compare
    from manyview.report.figures import grid as grid
    from manyview.report.figures import learned as learned

    plan = study.plan
    results = study_results(study, METRICS["accuracy"])
    figures: dict[str, Figure] = {}
    begun = [cell.entry for cell, result in results.items() if result.by_seed]
    plain = [entry for entry in plan.entries if not entry.grid and entry.name in begun]
    ratios = {ratio for entry in plain for ratio in entry.label_ratios}
    if len(ratios) > MOST_RATIOS_AS_DOTS:
        figures["ratios"] = compare.ratio_figure(plan, plain, results)
    elif len(plain) > 1:
        is_ablation = len({entry.method for entry in plain}) == 1
        name = "ablation" if is_ablation else "accuracy"
        figures[name] = compare.dot_figure(plan, plain, results)
    grids: dict[tuple[str, ...], list[Any]] = {}
    for entry in plan.entries:
        if 1 <= len(entry.grid) <= 2 and entry.name in begun:
            grids.setdefault(tuple(entry.grid), []).append(entry)
    for names, entries in grids.items():
        slug = "-".join(names).replace("_", "-")
        if len(names) == 1:
            figures[slug] = grid.grid_lines_figure(plan, entries, results, names[0])
            continue
        for entry in entries:
            name = slug if len(entries) == 1 else f"{slug}-{entry.name}"
            figures[name] = grid.grid_map_figure(plan, entry, results)
    for name, key, draw in (
        ("convergence", "curve", learned.convergence_figure),
        ("weights", "mixing_weights", learned.weights_figure),
        ("adjacency", "graphs", learned.graphs_figure),
    ):
        kept = kept_by_title(study, key)
        if kept:
            figures[name] = draw(kept)
    return figures


def write_figures(study: Study, folder: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write every figure of a study into a folder, in each format; return the files."""
    for one in formats:
        check_choice("a format of figures", one, FORMATS)
    figures = study_figures(study)
    if not figures:
        raise InputError(
            f"The records of {study.plan.name} fill no figure yet. `manyview bench status` tells "
            "how far the study is."
        )
    from matplotlib import rc_context

    from manyview.report.figures.style import STYLE

    folder, written = Path(folder), []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures.items():
            for one in formats:
                path = folder / f"{name}.{one}"
                with rc_context(STYLE):
                    figure.savefig(path, format=one, metadata=UNSAID[one])
                written.append(path)
    except OSError as error:
        raise DataFileError(f"Figures cannot be written in {folder}: {error}.") from error
    return written


def _need_matplotlib() -> None:
    with suppress(ImportError):
        import matplotlib  # noqa: F401

        return
    raise InputError('Figures need matplotlib. Install it: pip install "manyview[plot]"')


def kept_by_title(study: Study, key: str) -> dict[str, list[dict[str, Any]]]:
    """Finished records that kept something, by data set and by what else tells cells apart."""
    kept = {
        cell: [
            record
            for record in study.records_of(cell)
            if record["status"] == DONE and record.get(key)
        ]
        for cell in study.cells
    }
    cells = [cell for cell, records in kept.items() if records]
    titles: dict[Cell, list[str]] = {cell: [dataset_title(cell.dataset)] for cell in cells}
    words = [
        (
            study.plan.entry(cell.entry).title,
            point_title(cell.point),
            ratio_title(cell.label_ratio),
            cell.protocol,
        )
        for cell in cells
    ]
    for column in zip(*words, strict=True):
        if len(set(column)) > 1:
            for cell, word in zip(cells, column, strict=True):
                titles[cell].append(word)
    return {", ".join(filter(None, titles[cell])): kept[cell] for cell in cells}
