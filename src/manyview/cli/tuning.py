"""The verbs `tune` and `propose`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.console import print_json, print_text, width
from manyview.cli.options import (
    INTERRUPTED,
    AsJson,
    Data,
    DataOptions,
    ModelOptions,
    Quiet,
    Run,
    option,
    with_options,
)


@with_options
def tune(
    *,
    data: Data,
    model_options: ModelOptions,
    candidates: Annotated[int, option("N", "Configurations to try, including the defaults.")] = 30,
    minutes: Annotated[float | None, option("M", "Time limit for this call.")] = None,
    scoring: Annotated[
        str, option("NAME", "accuracy, balanced_accuracy, macro_f1 or neg_log_loss.")
    ] = "accuracy",
    force: Annotated[
        bool, typer.Option("--force", help="Tune even with one or two labels per class.")
    ] = False,
    out: Annotated[
        Path | None,
        option(
            "DIR",
            "Folder of the tuning, new or that of the same tuning.  "
            "[default: tuning/DATA-METHOD-seedS]",
        ),
    ] = None,
    data_options: DataOptions,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Choose parameters by cross-validation on the known labels.

    Parameters set with -p stay fixed. Labels hidden by --label-ratio are never used. Stop it at
    any time; the same command continues. Writes a folder with tuning.json (the parameters, for
    `manyview fit --params`), candidates.csv and importance.svg.
    """
    from manyview.report.figures.tuning import tuning_files
    from manyview.report.tuning_text import step_line, tuning_text
    from manyview.tuning.tuned_data import tune_data

    tuned = tune_data(
        model_options.settings(data, data_options, out=out),
        n_candidates=candidates,
        minutes=minutes,
        scoring=scoring,
        force=force,
        on_step=None if quiet or as_json else lambda step: print_text(step_line(step), err=True),
        extra_files=tuning_files,
    )
    if as_json:
        print_json(tuned.document())
    elif not quiet:
        print_text(tuning_text(tuned, width()))
    if tuned.tuning.stopped_ == "interrupted":
        sys.exit(INTERRUPTED)  # past `main`, which would print that nothing was written


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
        Path | None, option("FILE", "CSV file to fill in: sample_id, label (empty).")
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """List the samples of RUN to label next, most useful first."""
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
