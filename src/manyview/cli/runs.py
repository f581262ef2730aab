"""The verbs `fit`, `predict` and `explain` of the command line: a run, and what it says."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.console import print_json, print_text, width
from manyview.cli.options import (
    NO_OPTIONS,
    AbstainBelow,
    AsJson,
    Data,
    DataOptions,
    Labels,
    Method,
    Protocol,
    Quiet,
    Run,
    with_data_options,
)

# Libraries that take long to import (torch, scikit-learn) are imported by the verbs that need them.


@with_data_options
def fit(
    data: Data,
    labels: Labels = None,
    label_ratio: Annotated[
        float | None,
        typer.Option(
            metavar="R", help="Hide all labels but this share, and score the predictions on them."
        ),
    ] = None,
    protocol: Protocol = "stratified",
    seed: Annotated[int, typer.Option(metavar="S", help="Of the split and the method.")] = 0,
    method: Method = "manyview",
    param: Annotated[
        list[str] | None,
        typer.Option("-p", "--param", metavar="NAME=VALUE", help="A parameter of the method."),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Parameters in the tuning.json of `manyview tune`; -p goes first.",
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Calibrate the probabilities on held-out labels (-p calibration=temperature); "
            "takes twice as long, four times with few labels; no prediction changes.",
        ),
    ] = False,
    abstain_below: AbstainBelow = None,
    annotate: Annotated[
        bool,
        typer.Option(
            "--annotate",
            help=".h5mu, .h5ad: leave a copy of DATA with the results in .obs, .obsm and .obsp, "
            "results.h5mu.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The run's folder, new or empty.  [default: runs/DATA-METHOD-seedS]",
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.html.")] = False,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="error|impute",
            help="Single unknown values: refuse them, or fill in the mean of the column. Samples "
            "that lack a whole view are always kept.",
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keep neighbors here, for later fits on the same data."),
    ] = None,
    data_options: DataOptions = NO_OPTIONS,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Label all samples of DATA from those whose label is known.

    Leaves a folder with report.html (what was found, how sure, what to check, for a browser),
    predictions.csv (sample_id; label: the method's prediction, also where a
    label was given; probability: of that label; confidence: of the sample's place in the graph;
    known: whether a label was given; given: that label), run.json, history.csv and the model.
    """
    from manyview.report.run.page import report_files
    from manyview.report.run.text import run_text
    from manyview.runs.fitting import fit_run
    from manyview.runs.settings import RunSettings, parse_params
    from manyview.tuning.tuned_data import read_params

    calibration = {"calibration": "temperature"} if calibrate else {}
    caching = {} if cache is None else {"cache_dir": cache}
    filling = {} if missing is None else {"missing": missing}
    settings = RunSettings(
        source=data_options.source(data, labels, missing),
        method=method,
        params={
            **calibration,
            **caching,
            **filling,
            **({} if params is None else read_params(params, method)),
            **parse_params(param or []),
        },
        label_ratio=label_ratio,
        protocol=protocol,
        seed=seed,
        abstain_below=abstain_below,
        annotate=annotate,
        out=out,
    )
    run = fit_run(
        settings,
        verbose=sys.stderr.isatty() and not (quiet or as_json),
        extra_files=None if no_report else report_files,
    )
    for warning in run.warnings:
        typer.echo(f"Warning: {warning}", err=True)
    if as_json:
        print_json(run.document())
    elif not quiet:
        print_text(run_text(run, width(), has_report=not no_report))


@with_data_options
def predict(
    run: Run,
    data: Data,
    labels: Labels = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to write.  [default: the output stream]"),
    ] = None,
    abstain_below: AbstainBelow = None,
    data_options: DataOptions = NO_OPTIONS,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Label new samples with the model of RUN.

    DATA must hold the views of the run, by name. Writes CSV: sample_id, label, probability.
    Where DATA come with labels, says how well these agree.
    """
    from manyview.report.run.text import prediction_text
    from manyview.runs.predicting import check_writable, predict_run, write_predictions

    source = data_options.source(data, labels)
    if out is not None:
        check_writable(out)
    prediction = predict_run(run, source, abstain_below=abstain_below)
    if out is not None:
        write_predictions(prediction, out)
    elif not as_json:
        typer.echo(prediction.csv(), nl=False)
    if as_json:
        print_json(prediction.document(out))
    elif not quiet:
        print_text(prediction_text(prediction, out, width()), err=out is None)


@with_data_options
def explain(
    run: Run,
    sample: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The sample, by its sample_id in predictions.csv."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NEW",
            help="Data of new samples, as for `manyview predict`: ID is one of theirs. May be "
            "repeated, for several tables.",
        ),
    ] = None,
    data_options: DataOptions = NO_OPTIONS,
    as_json: AsJson = False,
) -> None:
    """Say why a sample of RUN got its prediction: neighbors, views, and their parts of it.

    The parts add up to the log-odds of the prediction against the runner-up. Without --sample, say
    how many of all predictions change when a view is left out.
    """
    from manyview.report.run.text import reasons_text
    from manyview.runs.explaining import explain_run

    reasons = explain_run(run, sample, data_options.source(data) if data else None)
    if as_json:
        print_json(reasons.document())
    else:
        print_text(reasons_text(reasons, width()))
