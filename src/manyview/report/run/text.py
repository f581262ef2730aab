"""A run and new predictions as text for a terminal."""

from pathlib import Path

from manyview.data.label_values import count_of, shown_names
from manyview.report.layout import set_sections, set_table
from manyview.report.run.audit_text import audit_lines, performance_lines
from manyview.runs.annotated_copy import COPY_STEM
from manyview.runs.predicting import Prediction
from manyview.runs.records import DataRecord, Run, Scores, TrainingRecord

N_CLASSES_SHOWN = 20
STOPPED = {
    "converged": "until the loss converged",
    "max_epochs": "the maximum; the loss has not converged yet",
    "interrupted": "then interrupted; the best network so far is kept",
    "callback": "then stopped by a callback",
}
SCALED = {"standard": "standardized", "rows": "standardized by row", "none": "not scaled"}
REPORT = {"report.html": "the whole report, to open in a browser"}
FILES = {
    "predictions.csv": "label, probability and confidence of every sample",
    "run.json": "settings, versions, checksum, scores",
    "history.csv": "loss and accuracy on the labeled samples by epoch",
}


def run_text(run: Run, width: int, *, has_report: bool = False) -> str:
    """Summarize the data, the training, the result and the files of a run."""
    estimate = performance_lines(run)
    sections = [
        *([("Estimate", [*estimate, ""])] if estimate else []),
        ("Data", [_data_line(run.data), *run.data.notes]),
        ("Labels", [labels_line(run)]),
        ("Method", [_method_line(run)]),
    ]
    scaled = scaling_line(run.training)
    if scaled is not None:
        sections.append(("Scaling", [scaled, *run.training.scaling_advice]))
    if run.training.n_epochs is not None:
        sections.append(("Training", [_training_line(run.training)]))
    sections.append(("", [""]))
    sections.append(
        (
            "Result",
            [
                _result_line(run),
                *audit_lines(run),
                *_calibration_lines(run),
                "",
                _view_table(run),
                "",
                _class_table(run),
                "",
            ],
        )
    )
    if run.least_confident:
        least = ", ".join(
            f"{one.sample_id} ({one.label}, {one.probability:.2f})" for one in run.least_confident
        )
        sections[-1][1].extend([f"Least certain, with label and probability: {least}.", ""])
    files = {
        **(REPORT if has_report else {}),
        **FILES,
        **_annotated_file(run),
        "model.*": f"the model, for: manyview predict {run.folder} NEW_DATA",
    }
    listed = [f"  {name:<15}  {text}" for name, text in files.items()]
    sections.append(("Files", ["\n".join([str(run.folder), *listed])]))
    return set_sections(sections, width)


def _annotated_file(run: Run) -> dict[str, str]:
    if not run.settings.annotate:
        return {}
    suffix = Path(run.settings.source.names[0]).suffix.casefold()
    return {f"{COPY_STEM}{suffix}": "the data with the results in .obs, .obsm and .obsp"}


def prediction_text(
    prediction: Prediction, out: Path | None, width: int, *, replaced: bool = False
) -> str:
    """Summarize the data, the number of labeled samples, and the scores where labels are known."""
    data = prediction.data
    sections = [
        ("Data", [_data_line(data), *data.notes, *prediction.notes]),
        ("Model", [f"{prediction.method} of {prediction.folder}"]),
        ("Result", [f"{data.n_samples:,} samples labeled"]),
    ]
    if prediction.scores is not None:
        scores = prediction.scores
        sections[-1][1].append(_scores_line(scores, f"{scores.n_scored:,} samples with a label"))
    if prediction.abstain_below is not None:
        sections[-1][1].append(
            f"{prediction.n_unknown:,} of them left unknown, with a probability below "
            f"{prediction.abstain_below:g}"
        )
    if out is not None:
        sections.append(("File", [f"{out}{' (replaced)' * replaced}"]))
    return set_sections(sections, width)


def view_sizes(data: DataRecord) -> dict[str, str]:
    """Return the number of features of each view, or "graph"."""
    sizes = {name: f"{size:,}" for name, size in data.views.items()}
    return {**sizes, **dict.fromkeys(data.graphs, "graph")}


def _data_line(data: DataRecord) -> str:
    n_views = len(data.views) + len(data.graphs)
    line = f"{data.name}: {data.n_samples:,} samples, {count_of(n_views, 'view')}"
    return f"{line}, {len(data.classes)} classes" if data.classes else line


def labels_line(run: Run) -> str:
    """Count the known labels, those that were hidden to score, and the samples without one."""
    asked, n_hidden = run.settings, run.n_hidden
    if asked.label_ratio is None:
        return f"{run.n_labeled:,} known, {run.n_unlabeled:,} unknown"
    rule = f"({asked.protocol}, ratio {asked.label_ratio:g}, seed {asked.seed})"
    n_without = run.n_unlabeled - n_hidden
    if n_without == 0:
        return f"{run.n_labeled:,} shown, {n_hidden:,} hidden {rule}"
    return (
        f"{n_hidden:,} of the {run.n_labeled + n_hidden:,} known labels are hidden and used to "
        f"score, {run.n_labeled:,} are shown {rule}; {count_of(n_without, 'sample')} without a "
        "label"
    )


def scaling_line(training: TrainingRecord) -> str | None:
    """List the views by the scaling that the fit used; None where a method has no scaling.

    Examples
    --------
    >>> kinds = {"mean": "standard", "error": "standard", "worst": "unit"}
    >>> scaling_line(TrainingRecord(1.0, 20, 90, "converged", scaling=kinds))
    'mean, error standardized; worst unit'
    """
    if not training.scaling:
        return None
    names_by_kind: dict[str, list[str]] = {}
    for name, kind in training.scaling.items():
        names_by_kind.setdefault(kind, []).append(name)
    return "; ".join(
        f"{shown_names(names)} {SCALED.get(kind, kind)}" for kind, names in names_by_kind.items()
    )


def _method_line(run: Run) -> str:
    words = [run.settings.method]
    if run.training.n_neighbors is not None:
        words.append(f"{run.training.n_neighbors} neighbors in each view")
    recalls = run.training.neighbor_recall or {}
    if min(recalls.values(), default=1.0) < 1:
        found = ", ".join(f"{recall:.1%} in {name}" for name, recall in recalls.items())
        words.append(f"approximate search (recall {found})")
    words.extend(f"{name}={value}" for name, value in run.settings.params.items())
    return ", ".join(words)


def _training_line(training: TrainingRecord) -> str:
    stopped = STOPPED[training.stopped or "max_epochs"]
    networks = f"{training.n_networks} networks, the last " * (training.n_networks > 1)
    return f"{networks}{training.n_epochs} epochs, {stopped}; {training.seconds:.1f} s"


def _result_line(run: Run) -> str:
    if run.scores is not None:
        return _scores_line(run.scores, f"{run.scores.n_scored:,} hidden labels")
    if run.n_unlabeled == 0:
        return "no sample was left to label"
    return f"{run.n_unlabeled:,} samples labeled"


def _calibration_lines(run: Run) -> list[str]:
    lines = []
    if run.calibration is not None:
        found = run.calibration
        lines.append(
            f"probabilities calibrated on {found.n_held_out:,} held-out labels: temperature "
            f"{found.temperature:.2f}, calibration error (ECE) {found.error_before:.1%} before and "
            f"{found.error_after:.1%} after"
            + ("; few labels, so a rough estimate" if found.is_weak else "")
        )
    if run.abstention is not None:
        rule = run.abstention
        right = "" if rule.accuracy is None else f", {rule.accuracy:.1%} of them right"
        lines.append(
            f"{rule.n_predicted:,} predictions with a probability of {rule.below:g} or more"
            f"{right}; {rule.n_unknown:,} samples are left unknown"
        )
    return lines


def _scores_line(scores: Scores, what: str) -> str:
    return (
        f"accuracy {scores.accuracy:.1%} on the {what} "
        f"(balanced {scores.balanced_accuracy:.1%}, macro-F1 {scores.macro_f1:.1%})"
    )


def _view_table(run: Run) -> str:
    sizes = view_sizes(run.data)
    if run.view_importance is None:
        return set_table(("view", "features"), list(sizes.items()), "<>")
    rows = [(name, size, f"{run.view_importance[name]:.1%}") for name, size in sizes.items()]
    return set_table(("view", "features", "importance"), rows, "<>>")


def _class_table(run: Run) -> str:
    shown = [
        (str(one.label), f"{one.n_labeled:,}", f"{one.n_found:,}")
        for one in run.classes[:N_CLASSES_SHOWN]
    ]
    table = set_table(("class", "labeled", "found"), shown, "<>>")
    n_more = len(run.classes) - len(shown)
    return f"{table}\nand {n_more} more classes, in run.json" if n_more > 0 else table
