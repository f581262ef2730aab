"""The label audit and the estimated scores as text for a terminal."""

from pathlib import Path

from manyview.cross_fitting.performance import MIN_LABELS, Estimate
from manyview.report.layout import set_sections, set_table
from manyview.runs.auditing import LabelAudit
from manyview.runs.records import Run

N_SHOWN = 20


def performance_lines(run: Run) -> list[str]:
    """Write how good the predictions are by estimate; nothing without cross-fitting."""
    found = run.estimate
    if found is None:
        return []
    if found.accuracy is None or found.balanced_accuracy is None or found.macro_f1 is None:
        return [
            f"too few labels to estimate the accuracy: {found.n_labels} could be hidden in turn, "
            f"{MIN_LABELS} are needed"
        ]
    return [
        f"accuracy {interval(found.accuracy)}, balanced {interval(found.balanced_accuracy)}, "
        f"macro-F1 {interval(found.macro_f1)}; 95% intervals from {found.n_labels:,} given labels, "
        "each predicted without it"
    ]


def interval(one: Estimate) -> str:
    """Write an estimate with its interval.

    Examples
    --------
    >>> interval(Estimate(0.912, 0.85, 0.961))
    '91% (85 to 96%)'
    """
    return f"{one.value:.0%} ({100 * one.low:.0f} to {100 * one.high:.0f}%)"


def audit_lines(run: Run) -> list[str]:
    """Write how many given labels look wrong; nothing where none does."""
    audit = run.audit
    if audit is None or not audit.n_suspicious:
        return []
    n_labels = audit.n_suspicious
    use = (
        f"{audit.n_left_out:,} were left out"
        if audit.n_left_out
        else "-p label_audit=leave-out trains without them"
    )
    return [
        f"{n_labels:,} of {audit.n_labels:,} given labels "
        f"{'look' if n_labels > 1 else 'looks'} wrong (manyview audit {run.folder}); {use}"
    ]


def audit_text(
    audit: LabelAudit, width: int, out: Path | None = None, *, replaced: bool = False
) -> str:
    """List the labels that are most probably wrong, and the file with all."""
    low, high = audit.wrong_interval
    summary = (
        f"{audit.n_suspicious:,} of {len(audit.labels):,} given labels are more probably wrong "
        f"than right; estimated rate of wrong labels {audit.wrong_fraction:.1%} (95% interval "
        f"{low:.1%} to {high:.1%})"
        if audit.is_conclusive
        else f"no reason to doubt the {len(audit.labels):,} given labels: they agree with each "
        "other, or wrong ones cannot be distinguished from hard samples"
    )
    lines = [summary]
    shown = [one for one in audit.labels[:N_SHOWN] if one.probability_wrong > 0]
    if shown and audit.is_conclusive:
        rows = [
            (one.sample_id, str(one.given), str(one.suggested), f"{one.probability_wrong:.2f}")
            for one in shown
        ]
        header = ("sample_id", "given", "suggested", "probability wrong")
        lines += ["", set_table(header, rows, "<<<>")]
    sections = [("Run", [str(audit.folder)]), ("Labels", lines)]
    if out is not None:
        sections += [("", [""]), ("File", [f"{out}{' (replaced)' * replaced}"])]
    return set_sections(sections, width)
