"""The page of a comparison: the winner, all methods in one chart and one table, and the command."""

from manyview.experiments.study import Study
from manyview.report.compare.facts import Findings, Standing
from manyview.report.compare.text import (
    interval_text,
    labels_sentence,
    remarks,
    seconds_text,
    verdict,
)
from manyview.report.html.markup import render
from manyview.report.html.page import Figure, Section, html_page, key_figures, notes, section
from manyview.report.html.tables import Column, HtmlCell, table
from manyview.report.study.comparison import format_p_value
from manyview.report.study.sections import gap_section, settings_section
from manyview.report.svg.dots import Dot, DotRow, dot_chart


def comparison_page(findings: Findings, study: Study) -> str:
    """Return the page of a comparison as one self-contained HTML file."""
    compared, best = findings.comparison, findings.best
    sections: list[Section | None] = []
    if best is not None:
        sections += [_methods(findings), _next(findings, best)]
    sections += [gap_section(study), settings_section(study)]
    return html_page(
        study.plan.title,
        [one for one in sections if one is not None],
        kicker=f"Comparison on {compared.dataset}",
        lead=" ".join(verdict(findings)),
        opening=key_figures(_figures(findings)),
    )


def _figures(findings: Findings) -> list[Figure]:
    compared, best = findings.comparison, findings.best
    figures = []
    if best is not None:
        within = f"95% interval {interval_text(best.interval)}" if best.interval else ""
        name = f"{findings.metric.title.lower()} of {best.method}"
        figures.append(Figure(f"{best.mean:.1f}%", name, within))
    n_asked = len(findings.standings)
    n_begun = sum(one.mean is not None for one in findings.standings)
    return [
        *figures,
        Figure(
            f"{n_begun}",
            "methods",
            "compared" if n_begun == n_asked else f"of {n_asked}; the others have no result",
        ),
        Figure(
            f"{compared.n_splits}",
            "splits",
            f"{findings.n_left:,} fits still to run" if findings.n_left else "all fits are done",
        ),
        Figure(
            f"{compared.n_hidden:,}",
            "labels hidden per split",
            f"of {compared.n_known:,} known; {compared.n_kept:,} are kept",
        ),
    ]


def _methods(findings: Findings) -> Section:
    metric = findings.metric
    drawn = [
        DotRow(one.method, [_dot(one)], is_strong=one is findings.best)
        for one in findings.standings
        if one.mean is not None
    ]
    chart = dot_chart(
        f"{metric.title} with 95% interval",
        [metric.title],
        drawn,
        x_name=f"{metric.title.lower()} on the hidden labels, {metric.unit}",
        description=" ".join(verdict(findings)),
    )
    columns = [
        Column("method"),
        *(Column(name, True) for name in (metric.title.lower(), "sd")),
        Column("95% interval", True),
        Column("behind the best", True, "mean of the differences, split by split"),
        Column("its 95% interval", True, is_sortable=False),
        Column("p", True, "of the difference to the best, adjusted for the number of methods"),
        Column("within noise"),
        Column("time per fit", True),
    ]
    return section(
        "Methods",
        chart,
        table("All methods, best first", columns, [_row(one) for one in findings.standings]),
        notes(remarks(findings)),
        intro=labels_sentence(findings),
    )


def _dot(one: Standing) -> Dot:
    text = f"{one.mean:.1f}" + (f", {interval_text(one.interval)}" if one.interval else "")
    return Dot(one.mean, 0.0, None, text, one.interval)


def _row(one: Standing) -> list[object]:
    def number(value: float | None, text: str) -> HtmlCell:
        return HtmlCell("" if value is None else text, "" if value is None else value)

    is_best = one.mean is not None and one.behind is None
    return [
        HtmlCell(one.method, kind="strong" if is_best else ""),
        number(one.mean, f"{one.mean or 0:.1f}"),
        number(one.std, f"{one.std or 0:.1f}"),
        HtmlCell(interval_text(one.interval), one.mean or ""),
        number(one.behind, f"{one.behind or 0:.1f}"),
        interval_text(one.behind_interval),
        number(one.p_value, format_p_value(one.p_value or 0.0)),
        "" if one.p_value is None else "yes" if one.is_tied else "no",
        number(one.seconds, seconds_text(one.seconds)),
    ]


def _next(findings: Findings, best: Standing) -> Section:
    return section(
        "Label the data",
        render("commands", commands=[findings.command]),
        intro=f"This command labels the data with {best.method}.",
    )
