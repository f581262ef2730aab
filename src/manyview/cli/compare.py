"""The verb `compare`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.completion import complete_method_list
from manyview.cli.console import print_table, print_text, width
from manyview.cli.engine import LocalOptions, say_interrupted
from manyview.cli.options import (
    Data,
    DataOptions,
    OutputOptions,
    SplitOptions,
    option,
    path_option,
    with_options,
)
from manyview.system.interrupts import interrupted_code


@with_options
def compare(
    *,
    data: Data,
    methods: Annotated[
        str | None,
        option(
            "A,B,C",
            "Names from `manyview methods`, with commas.  [default: all]",
            complete=complete_method_list,
        ),
    ] = None,
    split_options: SplitOptions,
    splits: Annotated[int, option("N", "Times that labels are hidden.")] = 10,
    metric: Annotated[str, option("NAME", "accuracy, balanced_accuracy or macro_f1.")] = "accuracy",
    engine: LocalOptions,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed fits again.")
    ] = False,
    out: Annotated[
        Path | None,
        path_option("DIR", "Folder of the records and of compare.html.  [default: compare/DATA]"),
    ] = None,
    data_options: DataOptions,
    output: OutputOptions,
) -> None:
    """Compare methods on DATA by hiding some of its known labels.

    Each split hides some of the known labels; every method is fitted on the others and scored on
    the hidden ones. Prints one table with means, standard deviations and 95% intervals, says which
    differences are within noise, and names the command that labels DATA with the best method.
    Unless a label ratio is given, a split hides 20% of the known labels of each class. Stop it at
    any time; the same command continues.
    """
    from manyview.experiments.compared import plan_comparison
    from manyview.experiments.study import Study
    from manyview.report.compare.facts import COMPARED, find_standings
    from manyview.report.compare.page import comparison_page
    from manyview.report.compare.text import ALIGN, comparison_text, header, rows
    from manyview.system.files import check_writable, write_whole
    from manyview.validation import check_choice

    check_choice("metric", metric, COMPARED)
    engine.limits()
    names = [name.strip() for name in (methods or "").split(",") if name.strip()]
    comparison = plan_comparison(split_options.settings(data, data_options, out=out), names, splits)
    study = Study.open(comparison.plan, comparison.folder, data_options.data_dir)
    study.store.open()
    page = comparison.folder / "compare.html"
    check_writable(page)
    retried = {one["key"]: dict(one) for one in study.failed()} if retry_failed else {}
    trials = study.pending(retry_failed=retry_failed)
    output.note(
        f"{len(trials)} of {comparison.plan.n_trials} fits are left; {engine.n_jobs} processes; "
        f"records in {comparison.folder}"
    )
    finished = engine.run_trials(study, trials, retried, quiet=not output.has_text)
    found = find_standings(comparison, study, metric)
    write_whole(page, comparison_page(found, study))
    if output.has_text:
        print_table(header(found), rows(found), ALIGN, strong=0)
        print_text("")
    output.show(found.document, lambda: comparison_text(found, width(), page))
    if finished.interrupted:
        say_interrupted(finished)
        sys.exit(interrupted_code())  # past `main`, which would print that nothing was written
