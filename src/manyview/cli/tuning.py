"""The verb `tune`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.console import print_text, width
from manyview.cli.options import (
    Data,
    DataOptions,
    ModelOptions,
    OutputOptions,
    option,
    path_option,
    with_options,
)
from manyview.system.interrupts import interrupted_code


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
        path_option(
            "DIR",
            "Folder of the tuning, new or that of the same tuning.  "
            "[default: tuning/DATA-METHOD-seedS]",
        ),
    ] = None,
    data_options: DataOptions,
    output: OutputOptions,
) -> None:
    """Choose parameters by cross-validation on the known labels.

    Parameters set with -p stay fixed. Labels hidden by --label-ratio are never used. Stop it at
    any time; the same command continues. Writes a folder with tuning.json (the parameters, for
    `manyview fit --params`), candidates.csv and importance.svg.
    """
    from manyview.report.commands import settings_lines
    from manyview.report.figures.tuning import tuning_files
    from manyview.report.tuning_text import step_line, tuning_text
    from manyview.tuning.tuned_data import tune_data

    on_step = (lambda step: print_text(step_line(step), err=True)) if output.has_text else None
    settings = model_options.settings(data, data_options, out=out)
    output.note(*settings_lines(settings))
    try:
        tuned = tune_data(
            settings,
            n_candidates=candidates,
            minutes=minutes,
            scoring=scoring,
            force=force,
            on_step=on_step,
            extra_files=tuning_files,
        )
    except KeyboardInterrupt as interruption:
        if not str(interruption):  # before the tuning had a folder
            raise
        typer.echo(str(interruption), err=True)
        sys.exit(interrupted_code())  # past `main`, which would print that nothing was written
    output.show(tuned.document, lambda: tuning_text(tuned, width()))
    if tuned.tuning.stopped_ == "interrupted":
        sys.exit(interrupted_code())  # past `main`, which would print that nothing was written
