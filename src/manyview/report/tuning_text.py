"""Tuning results and labeling proposals as text for a terminal."""

import shlex
from pathlib import Path
from typing import Any

from manyview.active_learning.proposed_run import Proposal
from manyview.experiments.estimate import format_duration
from manyview.experiments.store import DAMAGED_NAME, RECORDS_NAME
from manyview.report.commands import fit_command
from manyview.report.layout import set_sections, set_table
from manyview.tuning.search import Step
from manyview.tuning.tuned_data import TUNING_NAME, TunedData

STOPPED = {
    "minutes": "; the time limit was reached",
    "interrupted": "; then interrupted; the same command continues",
    "exhausted": "; all configurations were tried",
}
FILES = {
    "tuning.json": "the parameters, for: manyview fit --params",
    "candidates.csv": "every configuration with its score",
    "importance.svg": "importance of each parameter",
}


def tuning_text(tuned: TunedData, width: int) -> str:
    """Summarize the candidates, the chosen parameters next to the defaults, and the next step."""
    tuning, data = tuned.tuning, tuned.data
    n_tried = sum(one.stage == "search" for one in tuning.candidates_)
    sections = [
        ("Data", [f"{data.name}: {data.n_samples:,} samples, {tuned.n_labeled:,} labels seen"]),
        ("Method", [tuning.method]),
    ]
    if tuning.candidates_:
        tried = f"{n_tried} configurations in {format_duration(tuning.seconds)}"
        sections.append(("Tried", [tried + STOPPED.get(tuning.stopped_, "")]))
    if tuning.n_damaged_:
        lines = "1 damaged line" if tuning.n_damaged_ == 1 else f"{tuning.n_damaged_} damaged lines"
        damaged = (
            f"{lines} of {RECORDS_NAME} went to {DAMAGED_NAME}; what was lost was tried again."
        )
        sections.append(("Note", [damaged]))
    sections += [("", [""]), ("Result", [tuning.note_.replace("force=True", "--force"), ""])]
    result = sections[-1][1]
    result += [_params_table(tuned), ""]
    if tuning.importance_:
        weights = ", ".join(f"{name} {weight:.0%}" for name, weight in tuning.importance_.items())
        result += [f"Importance: {weights}.", ""]
    listed = [f"  {name:<15}  {FILES[name]}" for name in tuned.files]
    sections.append(("Files", ["\n".join([str(tuned.folder), *listed])]))
    sections.append(("Next", [f"fit with these parameters:\n  {next_command(tuned)}"]))
    return set_sections(sections, width)


def _params_table(tuned: TunedData) -> str:
    tuning = tuned.tuning
    rows = [
        (name, _shown(default), _shown(tuning.best_params_[name]))
        for name, default in tuning.default_params_.items()
    ]
    if tuning.best_score_ is not None and tuning.default_score_ is not None:
        scores = (f"{tuning.default_score_:.4f}", f"{tuning.best_score_:.4f}")
        rows.append((f"{tuning.scoring} on hidden labels", *scores))
    return set_table(("", "default", "chosen"), rows, "<>>")


def next_command(tuned: TunedData) -> str:
    """Return the command that fits with the chosen parameters."""
    return fit_command(tuned.settings, tuned.folder / TUNING_NAME)


def step_line(step: Step) -> str:
    """Write one candidate with its score, its time, and an estimate of the remaining time."""
    candidate = step.candidate
    name = "defaults" if candidate.number == 0 else f"candidate {candidate.number}"
    what = f"{name} again, on new folds" if candidate.stage == "confirmation" else name
    score = f"failed: {candidate.error}" if candidate.score is None else f"{candidate.score:.4f}"
    left = f", about {format_duration(step.seconds_left)} left" if step.seconds_left > 0 else ""
    return f"{what}: {score} ({format_duration(candidate.seconds)}{left})"


def proposal_text(
    proposal: Proposal, width: int, out: Path | None = None, *, replaced: bool = False
) -> str:
    """List the samples to label next, with their current predictions, and the file to fill in."""
    rows = [
        (name, str(label), f"{probability:.2f}") for name, label, probability in proposal.rows()
    ]
    listed = set_table(("sample_id", "prediction", "probability"), rows, "<<>")
    n_open = f"{len(rows)} of {proposal.n_unlabeled:,} unlabeled samples ({proposal.strategy})"
    sections = [("Run", [str(proposal.folder)]), ("Label next", [n_open, "", listed])]
    if out is not None:
        instead = " (in place of one without labels)" if replaced else ""
        fill = f"fill in the column {proposal.header[1]}"
        files = " ".join(
            f"--labels {shlex.quote(one)}" for one in (*proposal.label_files, str(out))
        )
        use = (
            f"{fill}, then fit again with {files}"
            if proposal.label_files
            else f"{fill}, add the labels to those of the data, and fit again"
        )
        sections += [("", [""]), ("File", [f"{out}{instead}", use])]
    return set_sections(sections, width)


def _shown(value: Any) -> str:
    return "none" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
