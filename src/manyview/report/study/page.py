"""The page of a study: who leads, every number behind it, what is missing, how to repeat it."""

from manyview.experiments.estimate import format_duration
from manyview.experiments.study import Study
from manyview.report.figures.write import MOST_RATIOS_AS_DOTS, kept_by_title
from manyview.report.html.markup import Html, join
from manyview.report.html.page import Figure, Section, html_page, key_figures, section, side_by_side
from manyview.report.study.charts import (
    Results,
    curve_charts,
    graph_charts,
    grid_charts,
    method_charts,
    ratio_charts,
    weight_charts,
)
from manyview.report.study.comparison import DEFAULT_TEST
from manyview.report.study.results import METRICS, study_results
from manyview.report.study.sections import (
    difference_section,
    findings,
    gap_section,
    reproduce_section,
    settings_section,
    table_section,
)
from manyview.report.study.tables import study_tables


def study_page(study: Study, *, test: str = DEFAULT_TEST) -> str:
    """Make the page of a study as one HTML file that needs nothing else."""
    results = study_results(study, METRICS["accuracy"])
    is_begun = any(result.by_seed for result in results.values())
    sections: list[Section | None] = []
    if is_begun:
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
    entries = {cell.entry for cell, result in results.items() if result.by_seed}
    is_compared = len({entry.method for entry in plan.entries}) > 1 or len(entries) == 1
    noun = ("method" if is_compared else "setting") + ("" if len(entries) == 1 else "s")
    left = progress.n_trials - progress.n_done - progress.n_failed
    return [
        Figure(
            f"{progress.n_done:,}",
            "trials done",
            f"of {progress.n_trials:,}; {progress.n_failed:,} failed, {left:,} not done yet",
        ),
        Figure(f"{len(entries)}", noun, f"of {len(plan.entries)} in the plan"),
        Figure(f"{len(begun)}", "data sets", f"of {len(plan.datasets)} in the plan"),
        Figure(format_duration(progress.seconds_spent), "of work", "summed over all processes"),
    ]


def _chart_sections(study: Study, results: Results) -> list[Section]:
    plan, sections = study.plan, []
    about = " ".join(plan.about.split()) or "Mean over the seeds."
    begun = {cell.entry for cell, result in results.items() if result.by_seed}
    plain = [entry for entry in plan.entries if not entry.grid and entry.name in begun]
    ratios = {ratio for entry in plain for ratio in entry.label_ratios}
    if len(ratios) > MOST_RATIOS_AS_DOTS:
        drawn = ratio_charts(plan, plain, results)
        sections.append(section("Accuracy by labels", side_by_side(*drawn), intro=about))
    elif len(plain) > 1:
        drawn = method_charts(plan, plain, results)
        sections.append(section("Accuracy", side_by_side(*drawn), intro=about))
    for entry in plan.entries:
        if 1 <= len(entry.grid) <= 2 and entry.name in begun:
            names = " and ".join(entry.grid)
            several = sum(bool(one.grid) for one in plan.entries) > 1
            heading = f"{entry.title} by {names}" if several else f"Accuracy by {names}"
            drawn = grid_charts(plan, entry, results)
            sections.append(section(heading, side_by_side(*drawn), intro=about))
    for heading, key, draw, frame, intro in (
        (
            "Learning", "curve", curve_charts, side_by_side,
            "Mean of all seeds. The hidden labels are watched from outside.",
        ),
        ("Views", "mixing_weights", weight_charts, side_by_side, "Mean of all seeds."),
        ("Graphs", "graphs", graph_charts, join, "The first seed; samples are sorted by class."),
    ):  # fmt: skip
        charts: list[Html] = []
        for title, records in kept_by_title(study, key).items():
            charts += draw(title, records)
        if charts:
            sections.append(section(heading, frame(*charts), intro=intro))
    return sections
