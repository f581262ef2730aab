"""A tuning and a proposal, told to people."""

import shlex
from typing import Any

from manyview.active_learning.proposed_run import Proposal
from manyview.experiments.estimate import format_duration
from manyview.report.layout import set_sections, set_table
from manyview.runs.settings import RunSettings
from manyview.tuning.search import Step
from manyview.tuning.tuned_data import TUNING_NAME, TunedData

STOPPED = {
    "minutes": "; the time was over",
    "interrupted": "; then interrupted, and the same command goes on",
    "exhausted": "; there was nothing left to try",
}
FILES = {
    "tuning.json": "the parameters, for: manyview fit --params",
    "candidates.csv": "every configuration with its score",
    "importance.svg": "what mattered",
}


def tuning_text(tuned: TunedData, width: int) -> str:
    """Say what was tried, what was chosen beside the defaults, and what to do next."""
    tuning, data = tuned.tuning, tuned.data
    n_tried = sum(trial.stage == "search" for trial in tuning.candidates_)
    sections = [
        ("Data", [f"{data.name}: {data.n_samples:,} samples, {tuned.n_labeled:,} labels seen"]),
        ("Method", [tuning.method]),
    ]
    if tuning.candidates_:
        tried = f"{n_tried} configurations in {format_duration(tuning.seconds)}"
        sections.append(("Tried", [tried + STOPPED.get(tuning.stopped_, "")]))
    sections += [("", [""]), ("Result", [tuning.note_.replace("force=True", "--force"), ""])]
    result = sections[-1][1]
    result += [_params_table(tuned), ""]
    if tuning.importance_:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in tuning.importance_.items())
        result += [f"What mattered: {shares}.", ""]
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
    asked: RunSettings = tuned.settings
    words = ["manyview", "fit", *asked.source.names]
    given = {
        "labels": asked.source.labels,
        "data-dir": asked.source.data_dir,
        **{k.replace("_", "-"): v for k, v in vars(asked.source.options).items()},
        "label-ratio": asked.label_ratio,
        "protocol": None if asked.protocol == "stratified" else asked.protocol,
        "seed": asked.seed or None,
        "method": None if asked.method == "manyview" else asked.method,
        "params": tuned.folder / TUNING_NAME,
    }
    for name, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                words += [f"--{name}", str(one)]
    return shlex.join(words)


def step_line(step: Step) -> str:
    """Tell of one trial: its score, its time, and how long the rest will take."""
    trial = step.candidate
    name = "defaults" if trial.number == 0 else f"candidate {trial.number}"
    what = f"{name} again, on fresh folds" if trial.stage == "confirmation" else name
    score = f"failed: {trial.error}" if trial.score is None else f"{trial.score:.4f}"
    left = f", about {format_duration(step.seconds_left)} left" if step.seconds_left > 0 else ""
    return f"{what}: {score} ({format_duration(trial.seconds)}{left})"


def proposal_text(proposal: Proposal, width: int) -> str:
    """List the samples to label next, with the predictions so far."""
    rows = [
        (name, str(label), f"{probability:.2f}") for name, label, probability in proposal.rows()
    ]
    told = set_table(("sample_id", "label so far", "probability"), rows, "<<>")
    n_open = f"{len(rows)} of {proposal.n_unlabeled:,} unlabeled samples ({proposal.strategy})"
    sections = [("Run", [str(proposal.folder)]), ("Label next", [n_open, "", told])]
    return set_sections(sections, width)


def _shown(value: Any) -> str:
    return "none" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
