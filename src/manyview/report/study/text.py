"""Progress of a study, as text and as a JSON document."""

from collections import Counter
from pathlib import Path
from typing import Any

from manyview.experiments.estimate import estimate, format_duration
from manyview.experiments.store import DAMAGED_NAME, DONE, RECORDS_NAME, Store
from manyview.experiments.study import Study
from manyview.report.layout import set_sections

MAX_FAILURES = 10


def record_line(record: dict[str, Any]) -> str:
    """Summarize one trial in one line."""
    params = ", ".join(f"{name}={value}" for name, value in record["params"].items())
    what = (
        f"{record['dataset']} {record['method']}{f' ({params})' if params else ''} "
        f"{record['label_ratio']:.0%} seed {record['seed']}"
    )
    if record["protocol"] != "stratified":
        what += f" {record['protocol']}"
    if record["status"] != DONE:
        return f"{what}: {record['status']}, {record.get('reason', 'unknown reason')}"
    return f"{what}: {record['accuracy']:.1%} in {format_duration(record['seconds'])}"


def status_text(study: Study, width: int, page: Path | None = None) -> str:
    """Report finished, failed and skipped trials, and the remaining time."""
    progress = study.progress()
    counts = [f"{progress.n_done:,} of {progress.n_trials:,} trials are done"]
    if progress.n_failed:
        counts.append(f"{progress.n_failed:,} failed")
    if progress.n_running:
        counts.append(f"{progress.n_running:,} are running")
    if progress.n_absent:
        counts.append(f"{progress.n_absent:,} need data that is not available")
    spent = format_duration(progress.seconds_spent)
    sections = [
        ("Study", [study.plan.title]),
        ("Store", [str(study.store.folder)]),
        ("Trials", [f"{', '.join(counts)}; {spent} of computing so far."]),
    ]
    if progress.n_open:
        left = estimate(study.pending().values(), study.store.records().values())
        sections.append(("Left", [f"{progress.n_open:,} trials; with one process {left.text(1)}."]))
    failures = Counter(
        f"{record['dataset']} {record['method']}: {record['status']}, {record.get('reason')}"
        for record in study.failed()
    )
    if failures:
        lines = [
            f"{text}{f' ({count} times)' if count > 1 else ''}"
            for text, count in failures.most_common(MAX_FAILURES)
        ]
        if len(failures) > MAX_FAILURES:
            lines.append(f"and {len(failures) - MAX_FAILURES} more kinds of failure")
        sections.append(("Failed", lines))
    if study.skipped:
        sections.append(
            ("Skipped", [f"{name}: {reason}" for name, reason in study.skipped.items()])
        )
    if page is not None:
        sections.append(("Page", [f"{page}, to open in a browser"]))
    return set_sections(sections, width)


def status_document(study: Study) -> dict[str, Any]:
    """Return the progress as a JSON document."""
    progress = study.progress()
    left = estimate(study.pending().values(), study.store.records().values())
    return {
        "format": "manyview bench status",
        "plan": study.plan.name,
        "store": str(study.store.folder),
        "n_trials": progress.n_trials,
        "n_done": progress.n_done,
        "n_failed": progress.n_failed,
        "n_running": progress.n_running,
        "n_open": progress.n_open,
        "n_absent": progress.n_absent,
        "seconds_spent": round(progress.seconds_spent, 1),
        "seconds_left": round(left.seconds, 1),
        "n_of_unknown_length": left.n_unknown,
        "failed": [
            {key: record.get(key) for key in ("dataset", "method", "seed", "status", "reason")}
            for record in study.failed()
        ],
        "skipped": study.skipped,
        **_line_document(study.store),
    }


def skipped_notes(store: Store, n_moved: int = 0) -> list[str]:
    """Say how many lines of the records are skipped, and how many were moved to another file."""
    counts, file = store.line_counts(), store.folder / RECORDS_NAME
    notes = []
    if n_moved:
        notes.append(
            f"{_lines(n_moved, 'damaged')} of {file} went to {DAMAGED_NAME}; trials that were lost "
            "run again."
        )
    if counts.n_damaged:
        notes.append(
            f"{_lines(counts.n_damaged, 'damaged')} of {file} {_was(counts.n_damaged)} skipped. "
            "`manyview bench run` runs the lost trials again, and only those."
        )
    if counts.n_foreign:
        is_are = "is" if counts.n_foreign == 1 else "are"
        notes.append(
            f"{_lines(counts.n_foreign, '')} of {file} {is_are} no record of a trial and "
            f"{_was(counts.n_foreign)} skipped."
        )
    if counts.is_cut and not store.running():
        notes.append(
            f"The last line of {file} is cut off and was skipped. `manyview bench run` runs its "
            "trial again."
        )
    if counts.n_unchecked and counts.n_good:
        n_read = counts.n_unchecked
        notes.append(f"{_lines(n_read, '')} of {file} without a checksum {_was(n_read)} read.")
    return notes


def check_text(store: Store) -> str:
    """Report the lines of a store: good, without a checksum, damaged and foreign."""
    counts = store.line_counts()
    found = [
        f"{counts.n_good:,} good",
        f"{counts.n_unchecked:,} without a checksum",
        f"{counts.n_damaged:,} damaged",
        f"{counts.n_foreign:,} foreign",
    ]
    lines = [f"{store.folder / RECORDS_NAME}: {', '.join(found)}."]
    if counts.is_cut:
        lines.append("The last line is cut off, or is being written.")
    if counts.n_damaged or counts.is_cut:
        lines.append(
            "Run the plan again: damaged lines are set aside, and only the trials that were lost "
            "with them run again."
        )
    return "\n".join(lines)


def check_document(store: Store) -> dict[str, Any]:
    """Return the counts of a store's lines as a JSON document."""
    counts = store.line_counts()
    return {
        "format": "manyview bench check",
        "store": str(store.folder),
        "n_good": counts.n_good,
        **_line_document(store),
    }


def _line_document(store: Store) -> dict[str, Any]:
    counts = store.line_counts()
    return {
        "n_unchecked": counts.n_unchecked,
        "n_damaged": counts.n_damaged,
        "n_foreign": counts.n_foreign,
        "is_cut": counts.is_cut,
    }


def _lines(count: int, kind: str) -> str:
    return " ".join(filter(None, [f"{count:,}", kind, "line" if count == 1 else "lines"]))


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
