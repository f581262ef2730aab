"""The findings of a comparison in sentences and in a table."""

from collections.abc import Sequence
from pathlib import Path

from manyview.experiments.estimate import format_duration
from manyview.report.compare.facts import Findings, Standing
from manyview.report.layout import set_sections
from manyview.report.study.comparison import LEVEL, format_p_value

FEW_HIDDEN = 30  # labels per split below which intervals are wide
ALIGN = "<>><<>>"


def header(findings: Findings) -> tuple[str, ...]:
    """Return the headings of the table's columns."""
    return (
        "method",
        findings.metric.title.lower(),
        "sd",
        "95% interval",
        "behind the best",
        "p",
        "time",
    )


def rows(findings: Findings) -> list[tuple[str, ...]]:
    """Return one row per method, best first."""
    return [_row(one) for one in findings.standings]


def _row(one: Standing) -> tuple[str, ...]:
    if one.mean is None:
        return (one.method, "-", "", "", one.shortfall or "not run yet", "", "")
    behind = ""
    if one.behind is not None:
        behind = f"{one.behind:.1f}" + (
            f" ({interval_text(one.behind_interval)})" if one.behind_interval else ""
        )
        behind += " ≈" if one.is_tied else ""
    return (
        one.method + (" *" if one.shortfall else ""),
        f"{one.mean:.1f}",
        "" if one.std is None else f"{one.std:.1f}",
        interval_text(one.interval),
        behind,
        "" if one.p_value is None else format_p_value(one.p_value),
        seconds_text(one.seconds),
    )


def seconds_text(seconds: float | None) -> str:
    """Write the time of a fit, with decimals where it is short.

    Examples
    --------
    >>> seconds_text(0.156), seconds_text(400)
    ('0.16 s', '7 min')
    """
    if seconds is None:
        return ""
    return f"{seconds:.2f} s" if seconds < 10 else format_duration(seconds)


def interval_text(interval: tuple[float, float] | None) -> str:
    """Write the ends of an interval."""
    return "" if interval is None else f"{interval[0]:.1f} to {interval[1]:.1f}"


def labels_sentence(findings: Findings) -> str:
    """Say which labels were hidden and how often."""
    compared = findings.comparison
    return (
        f"{compared.n_known:,} of {compared.n_samples:,} samples have a label. Each of "
        f"{compared.n_splits} splits keeps {compared.n_kept:,} of these labels and hides "
        f"{compared.n_hidden:,}, on which the methods are scored. All methods get the same splits."
    )


def verdict(findings: Findings) -> list[str]:
    """Name the best method, and say whether the differences are more than noise."""
    best, tied = findings.best, findings.tied
    if best is None:
        return ["No method has a result yet."]
    measure = findings.metric.title.lower()
    sentences = [f"{best.method} has the highest mean {measure}, {best.mean:.1f}%."]
    tested = [one for one in findings.standings if one.p_value is not None]
    worse = [one.method for one in tested if not one.is_tied]
    if tied:
        names = _listed([one.method for one in tied])
        sentences.append(
            f"The difference to {names} is within noise (p of at least {LEVEL:g}): another draw of "
            "labels could turn it around."
        )
        quickest = min((best, *tied), key=lambda one: one.seconds or 0.0)
        if quickest.seconds is not None and (best.seconds or 0.0) > max(1, 2 * quickest.seconds):
            sentences.append(
                f"The quickest of these is {quickest.method}, "
                f"{seconds_text(quickest.seconds)} per fit."
            )
    elif worse:
        sentences.append(f"It is clearly better than {_listed(worse)} (p below {LEVEL:g}).")
    return sentences


def remarks(findings: Findings) -> list[str]:
    """Say what limits the numbers."""
    compared = findings.comparison
    test = (
        "Differences are tested split by split with the paired t test, for other draws of labels "
        "from the same samples"
        if compared.is_census
        else "Differences are tested split by split with the t test of Nadeau and Bengio, which "
        "allows for splits that overlap"
    )
    lines = [f"{test}; p values are adjusted for the number of methods (Holm)."]
    if compared.settings.label_ratio is None:
        lines.append(
            f"A fit on all {compared.n_known:,} labels sees more than a split does, and may be "
            "better."
        )
    if compared.n_hidden < FEW_HIDDEN:
        lines.append(
            f"Only {compared.n_hidden:,} labels score a split, so small differences cannot be seen."
        )
    if findings.tied or len(findings.standings) > 2:
        lines.append(
            "The best of several methods was chosen by these numbers, so its own is a little high."
        )
    return lines


def missing(findings: Findings) -> list[str]:
    """List the methods that lack splits, with the reason."""
    return [f"{one.method}: {one.shortfall}." for one in findings.standings if one.shortfall]


def comparison_text(findings: Findings, width: int, page: Path | None) -> str:
    """Report everything but the table."""
    compared = findings.comparison
    sections = [
        ("Data", [compared.dataset]),
        ("Labels", [labels_sentence(findings)]),
        ("Result", [" ".join(verdict(findings))]),
    ]
    if findings.n_left:
        sections.append(("Left", [f"{findings.n_left:,} trials; the same command continues."]))
    if lines := missing(findings):
        sections.append(("Missing", lines))
    legend = [f"≈: within noise, p of at least {LEVEL:g}."] if findings.tied else []
    sections.append(("Notes", [*legend, *remarks(findings)]))
    if page is not None:
        sections.append(("Page", [f"{page}, to open in a browser"]))
    if findings.command is not None:
        sections.append(("Next", [f"label the data with the best method:\n  {findings.command}"]))
    return set_sections(sections, width)


def _listed(names: Sequence[str]) -> str:
    *head, last = names
    return f"{', '.join(head)} and {last}" if head else last
