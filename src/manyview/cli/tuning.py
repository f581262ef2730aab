"""The verbs `tune` and `propose` of the command line."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.console import print_json, print_text, width
from manyview.cli.options import (
    INTERRUPTED,
    NO_OPTIONS,
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


@with_data_options
def tune(
    data: Data,
    labels: Labels = None,
    label_ratio: Annotated[
        float | None,
        typer.Option(metavar="R", help="Hide all labels but this share; they are never seen."),
    ] = None,
    protocol: Protocol = "stratified",
    seed: Annotated[int, typer.Option(metavar="S", help="Of split, search and method.")] = 0,
    method: Method = "manyview",
    param: Annotated[
        list[str] | None,
        typer.Option("-p", "--param", metavar="NAME=VALUE", help="A parameter not to be tuned."),
    ] = None,
    trials: Annotated[
        int, typer.Option(metavar="N", help="Configurations to try, the defaults included.")
    ] = 30,
    minutes: Annotated[float | None, typer.Option(metavar="M", help="Time for this call.")] = None,
    scoring: Annotated[
        str,
        typer.Option(metavar="NAME", help="accuracy, balanced_accuracy, macro_f1 or neg_log_loss."),
    ] = "accuracy",
    force: Annotated[
        bool, typer.Option("--force", help="Tune even with one or two labels a class.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The tuning's folder, new or its own.  [default: tuning/DATA-METHOD-seedS]",
        ),
    ] = None,
    data_options: DataOptions = NO_OPTIONS,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Choose parameters for DATA by hiding some of the known labels, and nothing else.

    Stop it at any time: the same command goes on from there. Leaves a folder with tuning.json
    (the parameters, for `manyview fit --params`), trials.csv and importance.svg.
    """
    from manyview.report.figures.tuning import tuning_files
    from manyview.report.tuning_text import step_line, tuning_text
    from manyview.runs.settings import RunSettings, parse_params
    from manyview.tuning.tuned_data import tune_data

    settings = RunSettings(
        source=data_options.source(data, labels),
        method=method,
        params=parse_params(param or []),
        label_ratio=label_ratio,
        protocol=protocol,
        seed=seed,
        out=out,
    )
    tuned = tune_data(
        settings,
        n_trials=trials,
        minutes=minutes,
        scoring=scoring,
        force=force,
        on_trial=None if quiet or as_json else lambda step: print_text(step_line(step), err=True),
        extra_files=tuning_files,
    )
    if as_json:
        print_json(tuned.document())
    elif not quiet:
        print_text(tuning_text(tuned, width()))
    if tuned.tuning.stopped_ == "interrupted":
        sys.exit(INTERRUPTED)  # past `main`, which would say that nothing was written


def propose(
    run: Run,
    n: Annotated[int, typer.Option("-n", metavar="N", help="How many samples.")] = 10,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="coverage|uncertainty",
            help="LeastConfident and likeness to others, or doubt alone.",
        ),
    ] = "coverage",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to fill in: sample_id, label (empty)."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Name the samples of RUN to label next, the most useful first."""
    from manyview.active_learning.proposed_run import propose_for_run
    from manyview.report.tuning_text import proposal_text
    from manyview.runs.predicting import check_writable
    from manyview.system.files import write_whole

    if out is not None:
        check_writable(out)
    proposal = propose_for_run(run, n, strategy=strategy)
    if out is not None:
        write_whole(out, proposal.csv())
    if as_json:
        print_json(proposal.document())
    elif not quiet:
        print_text(proposal_text(proposal, width()))
