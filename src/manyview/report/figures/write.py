"""Figures of a study for print, drawn with matplotlib (the extra `plot`)."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyview.errors import DataFileError, InputError
from manyview.experiments.plan import Entry
from manyview.experiments.study import Study
from manyview.report.study.results import METRICS, study_results
from manyview.report.study.series import Charted, kept_by_title
from manyview.system.files import whole_file
from manyview.validation import check_choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
# Time and software are left out of the files, so that equal records give equal files.
UNSAID: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def study_figures(study: Study) -> "dict[str, Figure]":
    """Draw every figure that the records of a study can fill, by name.

    accuracy, ablation
        Dots with standard deviations; an ablation compares settings of one method.
    ratios
        Accuracy by label ratio, where the plan has three or more.
    names of one or two parameters, such as n-neighbors or gamma-tau
        Accuracy over a grid, as lines or as a map.
    convergence, weights, adjacency
        Artifacts that trials stored with their scores.
    """
    need_matplotlib()
    from manyview.report.figures import comparison, learned

    plan = study.plan
    results = study_results(study, METRICS["accuracy"])
    figures: dict[str, Figure] = {}
    charted = Charted.of(plan, results)
    if charted.kind:
        is_curve = charted.kind == "ratios"
        draw_methods = comparison.ratio_figure if is_curve else comparison.dot_figure
        figures[charted.kind] = draw_methods(plan, charted.plain, results)
    grids: dict[tuple[str, ...], list[Entry]] = {}
    for entry in charted.grids:
        grids.setdefault(tuple(entry.grid), []).append(entry)
    for names, entries in grids.items():
        slug = "-".join(names).replace("_", "-")
        if len(names) == 1:
            figures[slug] = comparison.grid_lines_figure(plan, entries, results)
            continue
        for entry in entries:
            name = slug if len(entries) == 1 else f"{slug}-{entry.name}"
            figures[name] = comparison.grid_map_figure(plan, entry, results)
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
            f"The records of {study.plan.name} fill no figure yet. `manyview bench status` shows "
            "the progress of the study."
        )
    from matplotlib import rc_context

    from manyview.report.figures.style import STYLE

    folder, written = Path(folder), []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures.items():
            for one in formats:
                path = folder / f"{name}.{one}"
                with rc_context(STYLE), whole_file(path) as temporary:
                    figure.savefig(temporary, format=one, metadata=UNSAID[one])
                written.append(path)
    except OSError as error:
        raise DataFileError(f"Figures cannot be written in {folder}: {error}.") from error
    return written


def need_matplotlib() -> None:
    """Refuse to draw without matplotlib, with the command that installs it."""
    with suppress(ImportError):
        import matplotlib  # noqa: F401

        return
    raise InputError('Figures need matplotlib. Install it: pip install "manyview[plot]"')
