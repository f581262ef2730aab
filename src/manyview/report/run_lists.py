"""Lists of runs and differences between two runs, as rows of tables and as text."""

from collections.abc import Iterable
from typing import Any

from manyview.report.layout import set_sections
from manyview.runs.differing import RunDifference
from manyview.runs.listing import ListedRun

RUNS_HEADER = ("run", "data", "method", "labels", "estimated", "measured", "time", "written")
RUNS_ALIGN = "<<<>>>><"
SETTINGS_HEADER, SETTINGS_ALIGN = ("setting", "first", "second"), "<<<"
CHANGED_HEADER, CHANGED_ALIGN = ("sample_id", "first", "prob.", "second", "prob."), "<<><>"
NONE = "-"


def run_rows(runs: Iterable[ListedRun]) -> list[tuple[str, ...]]:
    """Return one row per run; a record that cannot be read has only its name."""
    return [
        (
            str(one.folder),
            one.data or NONE,
            one.method or NONE,
            _labels(one),
            estimate_text(one),
            NONE if one.accuracy is None else f"{one.accuracy:.1%}",
            NONE if one.seconds is None else f"{one.seconds:,.1f} s",
            one.written[:16].replace("T", " "),
        )
        for one in runs
    ]


def estimate_text(run: ListedRun) -> str:
    """Write the estimated accuracy with its interval, or a dash."""
    found = run.estimate
    if found is None:
        return NONE
    if found.low is None or found.high is None:
        return f"{found.value:.1%}"
    return f"{found.value:.1%} ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _labels(run: ListedRun) -> str:
    if run.n_labeled is None or run.n_samples is None:
        return NONE
    return f"{run.n_labeled:,} of {run.n_samples:,}"


def problem_lines(runs: Iterable[ListedRun]) -> list[str]:
    """Say why records cannot be read."""
    return [one.problem for one in runs if one.problem]


def setting_rows(difference: RunDifference) -> list[tuple[str, str, str]]:
    """Return one row per setting that differs."""
    return [(one.name, _shown(one.first), _shown(one.second)) for one in difference.settings]


def changed_rows(difference: RunDifference, n_rows: int) -> list[tuple[str, ...]]:
    """Return the first predictions that differ."""
    return [
        (
            one.sample_id,
            one.first,
            _rounded(one.first_probability),
            one.second,
            _rounded(one.second_probability),
        )
        for one in difference.changed[:n_rows]
    ]


def difference_text(difference: RunDifference, n_rows: int, width: int) -> str:
    """Say which runs are compared, on which samples, and how many predictions differ."""
    first, second = difference.first, difference.second
    n_changed, n_common = len(difference.changed), difference.n_common
    sections = [
        ("First", [_described(first)]),
        ("Second", [_described(second)]),
        ("Samples", [_samples(difference)]),
        (
            "Predictions",
            [
                f"{n_changed:,} of {n_common:,} differ ({n_changed / n_common:.1%})"
                f"{_shown_part(n_changed, n_rows)}."
            ],
        ),
        ("Settings", [_settings(difference)]),
    ]
    return set_sections(sections, width)


def _shown_part(n_changed: int, n_rows: int) -> str:
    if n_rows == 0 or n_changed <= n_rows:
        return ""
    return "; the first is below" if n_rows == 1 else f"; the first {n_rows:,} are below"


def _described(run: ListedRun) -> str:
    parts = [f"{run.data}, {run.method}, {_labels(run)} samples labeled"]
    if run.estimate is not None:
        parts.append(f"estimated accuracy {estimate_text(run)}")
    if run.accuracy is not None:
        parts.append(f"accuracy {run.accuracy:.1%} on {run.n_scored or 0:,} hidden labels")
    return f"{run.folder}: {'; '.join(parts)}."


def _samples(difference: RunDifference) -> str:
    only = (difference.n_only_first, difference.n_only_second)
    text = (
        "Both runs have the same samples."
        if only == (0, 0)
        else f"{difference.n_common:,} samples are in both runs and compared; {only[0]:,} are only "
        f"in the first and {only[1]:,} only in the second."
    )
    if not difference.is_same_data:
        text += " The data differ; samples are matched by sample_id alone."
    return text


def _settings(difference: RunDifference) -> str:
    n_settings = len(difference.settings)
    if n_settings == 0:
        return "No setting differs."
    count = "1 setting differs." if n_settings == 1 else f"{n_settings} settings differ."
    if difference.first.method != difference.second.method:
        count += " The methods differ, so their parameters are not compared."
    return count


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _rounded(probability: str) -> str:
    try:
        return f"{float(probability):.2f}"
    except ValueError:
        return probability
