"""The verbs `fit`, `predict`, `explain`, `audit` and `propose`: a run, and what to do with it."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from manyview.cli.console import print_json, print_notice, print_text, width
from manyview.cli.options import (
    AbstainBelow,
    AsJson,
    Data,
    DataOptions,
    Labels,
    ModelOptions,
    OutputOptions,
    Run,
    Verbose,
    arguments_of,
    option,
    path_option,
    with_options,
)

# Libraries that take long to import (torch, scikit-learn) are imported by the verbs that need them.


@with_options
def fit(
    *,
    context: typer.Context,
    data: Data,
    model_options: ModelOptions,
    params: Annotated[
        Path | None,
        path_option(
            "FILE", "Parameters from the tuning.json of `manyview tune`; -p overrides them."
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Method mgcn-dns: calibrate probabilities on held-out labels (-p "
            "calibration=temperature). Takes two to four times as long; predictions stay the same.",
        ),
    ] = False,
    abstain_below: AbstainBelow = None,
    annotate: Annotated[
        bool,
        typer.Option(
            "--annotate",
            help=".h5mu, .h5ad: also write results.h5mu, a copy of DATA with the results in .obs, "
            ".obsm and .obsp.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        path_option("DIR", "Folder of the run, new or empty.  [default: runs/DATA-METHOD-seedS]"),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace the folder of an earlier run when the fit is done. A folder with other "
            "files than a fit writes is refused.",
        ),
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.html.")] = False,
    cache_dir: Annotated[
        str | None, option("DIR", "Folder of cached neighbors, for later fits on the same data.")
    ] = None,
    scratch_dir: Annotated[
        str | None,
        option("DIR", "Folder for large arrays: half of the memory moves to this disk."),
    ] = None,
    processes: Annotated[
        int,
        option(
            "N",
            "Methods manyview, mgcn-dns: train in N processes on this machine, with the same "
            "result. For several machines, start the command with torchrun.",
        ),
    ] = 1,
    checkpoint_every: Annotated[
        float,
        option(
            "SECONDS",
            "Methods manyview, mgcn-dns: keep the progress of a longer fit this often in "
            "DIR.checkpoint, until the run is written. After a crash the same command continues.",
        ),
    ] = 60.0,
    data_options: DataOptions,
    output: OutputOptions,
) -> None:
    """Label all samples of DATA from the known labels.

    Writes a folder with report.html (results, confidence, samples to review), predictions.csv,
    run.json, history.csv and the model. Columns of predictions.csv: sample_id; label, the
    predicted label, also where one was given; probability of that label; confidence of the
    sample's position in the graph; known, yes if a label was given; given, that label.
    Labels hidden by a label ratio are used to score the predictions.
    """
    from manyview.distributed.group import process_group
    from manyview.distributed.launch import is_member, launch
    from manyview.report.commands import settings_lines
    from manyview.report.run.page import report_files
    from manyview.report.run.text import run_text
    from manyview.runs.fitting import fit_run
    from manyview.runs.shared import check_processes, take_part
    from manyview.system.config import config_context
    from manyview.system.interrupts import interrupted_code

    settings = model_options.settings(
        data,
        data_options,
        {
            **({"calibration": "temperature"} if calibrate else {}),
            **({} if params is None else _tuned_params(params, model_options.method)),
        },
        abstain_below=abstain_below,
        annotate=annotate,
        out=out,
    )
    check_processes(processes, settings.method)
    if processes > 1 and not is_member():
        settings.check()
        raise typer.Exit(launch(["manyview", *arguments_of(context)], processes))
    with process_group() as world, config_context(cache_dir=cache_dir, scratch_dir=scratch_dir):
        if world.rank > 0:
            take_part(settings, checkpoint_every=checkpoint_every)
            return
        output.note(*settings_lines(settings))
        try:
            run = fit_run(
                settings,
                verbose=sys.stderr.isatty() and (output.has_text or output.verbose),
                extra_files=None if no_report else report_files,
                overwrite=overwrite,
                checkpoint_every=checkpoint_every,
            )
        except KeyboardInterrupt as interruption:
            if not str(interruption):  # there is no progress
                raise
            typer.echo(str(interruption), err=True)
            sys.exit(interrupted_code())  # past `main`, which would print that nothing was written
    output.note(f"Fitted in {run.training.seconds:.1f} s; the run is in {run.folder}.")
    for warning in run.warnings:
        print_notice("Warning", warning, "yellow")
    output.show(run.document, lambda: run_text(run, width(), has_report=not no_report))


def _tuned_params(file: Path, method: str) -> dict[str, Any]:
    from manyview.tuning.tuned_data import read_params

    return read_params(file, method)


@with_options
def predict(
    *,
    run: Run,
    data: Data,
    labels: Labels = None,
    out: Annotated[
        Path | None, path_option("FILE", "CSV file to write.  [default: standard output]")
    ] = None,
    abstain_below: AbstainBelow = None,
    data_options: DataOptions,
    output: OutputOptions,
) -> None:
    """Label new samples with the model of RUN.

    DATA must have the views of the run, matched by name. Writes CSV: sample_id, label,
    probability. If DATA has labels, the predictions are scored on them.
    """
    from manyview.report.run.text import prediction_text
    from manyview.runs.predicting import check_output, predict_run, write_predictions
    from manyview.system.files import is_replaced, is_standard_output

    source = data_options.source(data, labels)
    if out is not None:
        check_output(out, run, source)
    replaced = is_replaced(out)
    output.note(f"Model: {run}; data: {', '.join([*map(str, source.paths())] or source.names)}")
    prediction = predict_run(run, source, abstain_below=abstain_below)
    if out is not None:
        write_predictions(prediction, out)
    elif not output.as_json:
        typer.echo(prediction.csv(), nl=False)
    output.show(
        lambda: prediction.document(out),
        lambda: prediction_text(prediction, out, width(), replaced=replaced),
        err=out is None or is_standard_output(out),
    )


@with_options
def explain(
    *,
    run: Run,
    sample: Annotated[str | None, option("ID", "A sample_id from predictions.csv.")] = None,
    data: Annotated[
        list[str] | None,
        option("NEW", "New data with the sample, as for `manyview predict`. May be repeated."),
    ] = None,
    data_options: DataOptions,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Explain predictions of RUN by neighbors and views.

    With --sample, splits the log-odds of the prediction against the runner-up into the
    contributions of neighbors and views. Without it, counts how many predictions change when a
    view is removed.
    """
    from manyview.report.run.explanation_text import reasons_text
    from manyview.runs.explaining import explain_run

    reasons = explain_run(run, sample, data_options.source(data) if data else None)
    if as_json:
        print_json(reasons.document())
    else:
        print_text(reasons_text(reasons, width()))


@with_options
def audit(
    *,
    run: Run,
    out: Annotated[
        Path | None,
        path_option("FILE", "CSV of all labels: sample_id, given, suggested, probability_wrong."),
    ] = None,
    output: OutputOptions,
) -> None:
    """List the given labels of RUN that are probably wrong.

    Each label was predicted from all others, by its sample's features and neighbors.
    """
    from manyview.report.run.audit_text import audit_text
    from manyview.runs.auditing import audit_run, check_same_or_new
    from manyview.system.files import (
        check_writable,
        is_replaced,
        is_standard_output,
        write_whole,
    )

    if out is not None:
        check_writable(out)
    replaced = is_replaced(out)
    found = audit_run(run)
    if out is not None:
        check_same_or_new(out, found.csv())
        write_whole(out, found.csv())
    output.show(
        lambda: found.document(out),
        lambda: audit_text(found, width(), out, replaced=replaced),
        err=is_standard_output(out),
    )


@with_options
def propose(
    *,
    run: Run,
    n: Annotated[int, option("N", "Number of samples.", "-n")] = 10,
    strategy: Annotated[
        str,
        option(
            "coverage|uncertainty",
            "Uncertain samples that are similar to many others, or the most uncertain ones.",
        ),
    ] = "coverage",
    out: Annotated[
        Path | None,
        path_option("FILE", "CSV file to fill in: sample ids, and an empty column of labels."),
    ] = None,
    output: OutputOptions,
) -> None:
    """List the samples of RUN to label next, most useful first."""
    from manyview.active_learning.proposed_run import (
        check_unfilled,
        own_header,
        propose_for_run,
    )
    from manyview.report.tuning_text import proposal_text
    from manyview.system.files import (
        check_writable,
        is_replaced,
        is_standard_output,
        write_whole,
    )

    if out is not None:
        check_writable(out)
        header = own_header(run)
        check_unfilled(out, header)
    replaced = is_replaced(out)
    proposal = propose_for_run(run, n, strategy=strategy)
    if out is not None:
        check_unfilled(out, header)  # again: someone may have filled it in meanwhile
        write_whole(out, proposal.csv())
    output.show(
        lambda: proposal.document(out),
        lambda: proposal_text(proposal, width(), out, replaced=replaced),
        err=is_standard_output(out),
    )
