"""The label audit as text for a terminal."""

from pathlib import Path

from manyview.report.layout import set_sections, set_table
from manyview.runs.auditing import LabelAudit
from manyview.runs.records import Run

N_SHOWN = 20


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
