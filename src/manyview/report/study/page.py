"""The page of a study: the leading methods, all numbers, missing results, and how to reproduce."""

from markupsafe import Markup

from manyview.experiments.estimate import format_duration
from manyview.experiments.study import Study
from manyview.report.html.markup import join
from manyview.report.html.page import Figure, Section, html_page, key_figures, section, side_by_side
from manyview.report.study.charts import (
    curve_charts,
    graph_charts,
    grid_charts,
    method_charts,
    ratio_charts,
    weight_charts,
)
from manyview.report.study.comparison import DEFAULT_TEST
from manyview.report.study.findings import findings
from manyview.report.study.results import METRICS, Results, begun_entries, study_results
from manyview.report.study.sections import (
    difference_section,
    gap_section,
    reproduce_section,
    settings_section,
    table_section,
)
from manyview.report.study.series import Charted, kept_by_title
from manyview.report.study.tables import study_tables


def study_page(study: Study, *, test: str = DEFAULT_TEST) -> str:
    """Return the page of a study as one self-contained HTML file."""
    results = study_results(study, METRICS["accuracy"])
    sections: list[Section | None] = []
    if begun_entries(results):
        sections += _chart_sections(study, results)
        tables = study_tables(study, test=test)
        cost = study_tables(study, "seconds", test=test)[:1]
        sections.append(table_section(tables, cost[0] if cost else None))
        sections.append(difference_section(study))
    sections += [gap_section(study), settings_section(study), reproduce_section(study)]
    plan = study.plan
    return html_page(
        plan.title,
        [one for one in sections if one is not None],
        kicker=f"Study {plan.name}",
        lead=" ".join(findings(study, results)),
        opening=key_figures(_figures(study, results)),
    )


def _figures(study: Study, results: Results) -> list[Figure]:
    progress, plan = study.progress(), study.plan
    begun = {cell.dataset for cell, result in results.items() if result.by_seed}
    entries = begun_entries(results)
    is_compared = len({entry.method for entry in plan.entries}) > 1 or len(entries) == 1
    noun = ("method" if is_compared else "setting") + ("" if len(entries) == 1 else "s")
    left = progress.n_trials - progress.n_done - progress.n_failed
    return [
        Figure(
            f"{progress.n_done:,}",
            "trials done",
            f"of {progress.n_trials:,}; {progress.n_failed:,} failed, {left:,} still to run",
        ),
        Figure(f"{len(entries)}", noun, f"of {len(plan.entries)} in the plan"),
        Figure(
            f"{len(begun)}",
            "data set" if len(begun) == 1 else "data sets",
            f"of {len(plan.datasets)} in the plan",
        ),
        Figure(format_duration(progress.seconds_spent), "of computing", "over all processes"),
    ]


def _chart_sections(study: Study, results: Results) -> list[Section]:
    plan, sections = study.plan, []
    about = " ".join(plan.about.split()) or "Means over the seeds."
    charted = Charted.of(plan, results)
    if charted.kind:
        is_curve = charted.kind == "ratios"
        drawn = (ratio_charts if is_curve else method_charts)(plan, charted.plain, results)
        heading = "Accuracy by label ratio" if is_curve else "Accuracy"
        sections.append(section(heading, side_by_side(*drawn), intro=about))
    for entry in charted.grids:
        names = " and ".join(entry.grid)
        several = sum(bool(one.grid) for one in plan.entries) > 1
        heading = f"{entry.title} by {names}" if several else f"Accuracy by {names}"
        drawn = grid_charts(plan, entry, results)
        sections.append(section(heading, side_by_side(*drawn), intro=about))
    for heading, key, draw, frame, intro in (
        (
            "Training", "curve", curve_charts, side_by_side,
            "Means over the seeds. The hidden labels are only measured, not used for training.",
        ),
        ("Views", "mixing_weights", weight_charts, side_by_side, "Means over the seeds."),
        ("Graphs", "graphs", graph_charts, join, "First seed, samples sorted by class."),
    ):  # fmt: skip
        charts: list[Markup] = []
        for title, records in kept_by_title(study, key).items():
            charts += draw(title, records)
        if charts:
            sections.append(section(heading, frame(*charts), intro=intro))
    return sections
