"""Progress of a study, as text and as a JSON document."""

from collections import Counter
from pathlib import Path
from typing import Any

from manyview.experiments.estimate import estimate, format_duration
from manyview.experiments.store import DONE
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
    }
