"""`manyview bench`: run the trials of a plan and show the results."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyview.cli.completion import complete_plans
from manyview.cli.console import print_json, print_table, print_text, width
from manyview.cli.engine import LocalOptions, say_interrupted, shown_progress
from manyview.cli.options import (
    AsJson,
    DataDir,
    Quiet,
    Verbose,
    argument,
    examples,
    make_app,
    option,
    path_argument,
    path_option,
    with_options,
)
from manyview.system.interrupts import interrupted_code

if TYPE_CHECKING:
    from manyview.experiments.engines import Finished
    from manyview.experiments.study import Study
    from manyview.experiments.trial import Trial

bench_app = make_app(
    "bench",
    "Run the trials of a plan and show the results.",
    "manyview bench plans",
    "manyview bench run quick --jobs 2",
    no_args_is_help=True,
)

DAMAGED = 1  # exit code of `check` for a store with damaged records
PlanName = Annotated[
    str, argument("PLAN", "A name from `manyview bench plans`, or a TOML file.", complete_plans)
]


@dataclass(frozen=True)
class StoreOptions:
    """Where the records of a plan's trials are, and its data."""

    out: Annotated[
        Path, path_option("DIR", "Folder of the records; plans may use the same one.")
    ] = Path("bench")
    data_dir: DataDir = None
    verbose: Verbose = False

    def open(self, plan: str, *, make: bool = False) -> "Study":
        """Open the study of a plan; with `make` in a new folder, too."""
        from manyview.errors import DataFileError
        from manyview.experiments.plan import load_plan
        from manyview.experiments.study import Study
        from manyview.report.study.text import skipped_notes

        study = Study.open(load_plan(plan), self.out, self.data_dir)
        n_moved = 0
        if make:
            n_moved = study.store.open()
        elif not self.out.is_dir():
            raise DataFileError(
                f"There is no folder {self.out}. Run the plan first: "
                f"manyview bench run {plan} --out {self.out}"
            )
        for note in skipped_notes(study.store, n_moved):
            typer.echo(f"Note: {note}", err=True)
        return study


@dataclass(frozen=True)
class EngineOptions(LocalOptions):
    """What runs the trials, and their limits."""

    engine: Annotated[str, option("local|dask", "What runs the trials.")] = "local"
    scheduler: Annotated[
        str | None, option("ADDRESS", "Address of the Dask scheduler, tcp://host:port.")
    ] = None
    shard: Annotated[
        str | None, option("I/N", "Run only part I of N, for job arrays of a cluster.")
    ] = None

    def run(
        self, study: "Study", retried: dict[str, dict[str, Any]] | None = None, *, quiet: bool
    ) -> None:
        """Run the trials that are left, and those to retry; write and print the results."""
        from manyview.errors import InputError
        from manyview.experiments.study import Shard
        from manyview.report.study.formats import tables_as
        from manyview.report.study.text import status_text
        from manyview.validation import check_choice

        check_choice("engine", self.engine, ("local", "dask"))
        if (self.engine == "dask") != (self.scheduler is not None):
            raise InputError("--engine dask and --scheduler must be given together.")
        self.limits()
        shard = None if self.shard is None else Shard.parse(self.shard)
        trials = study.pending(retry_failed=bool(retried), shard=shard)
        if not quiet:
            for dataset, reason in study.skipped.items():
                typer.echo(f"Skipped {dataset}: {reason}", err=True)
        finished = self.run_trials(study, trials, retried, quiet=quiet)
        page = _write_report(study)
        if not quiet:
            if study.progress().n_done:
                print_text(tables_as(study, "text", width=width()).rstrip("\n") + "\n")
            print_text(status_text(study, width(), page))
        if finished.interrupted:
            say_interrupted(finished)
            sys.exit(interrupted_code())  # past `main`, which would print that nothing was written

    def run_trials(
        self,
        study: "Study",
        trials: "dict[str, Trial]",
        retried: Mapping[str, dict[str, Any]] | None = None,
        *,
        quiet: bool,
    ) -> "Finished":
        """Run trials in processes of this machine, or on workers of Dask."""
        if self.scheduler is None:
            return super().run_trials(study, trials, retried, quiet=quiet)
        from manyview.experiments.dask_engine import run_on_dask

        with shown_progress(study, trials, self.n_jobs, quiet) as on_record:
            return run_on_dask(
                study, trials, scheduler=self.scheduler, retried=retried, limits=self.limits(),
                on_record=on_record,
            )  # fmt: skip


def _verb(*commands: str) -> Callable[[Callable[..., None]], None]:
    """Add a verb whose help ends with these examples."""

    def add(verb: Callable[..., None]) -> None:
        bench_app.command(epilog=examples(*commands))(with_options(verb))

    return add


@_verb("manyview bench plans", "manyview bench run quick")
def plans(*, verbose: Verbose = False) -> None:
    """List the plans that come with manyview."""
    from manyview.experiments.plan import load_plan, plan_names

    rows = []
    for name in plan_names():
        plan = load_plan(name)
        n_trials = sum(len(trials) for trials in plan.cells().values())
        rows.append((name, f"{n_trials:,}", plan.title))
    print_table(("plan", "trials", "what it shows"), rows, "<><")


@_verb(
    "manyview bench run quick --jobs 2",
    "manyview bench run my_plan.toml --out records --minutes 30",
)
def run(
    *, plan: PlanName, store: StoreOptions, engine: EngineOptions, quiet: Quiet = False
) -> None:
    """Run the trials of PLAN that are not recorded yet.

    Stop it at any time, with Ctrl-C or a crash; the next call continues. Several calls may use
    one folder at the same time.
    """
    engine.run(store.open(plan, make=True), quiet=quiet)


@_verb(
    "manyview bench retry quick --failed", "manyview bench retry my_plan.toml --failed --memory 8"
)
def retry(
    *,
    plan: PlanName,
    failed: Annotated[bool, typer.Option("--failed", help="Run failed trials again.")] = False,
    store: StoreOptions,
    engine: EngineOptions,
    quiet: Quiet = False,
) -> None:
    """Run the failed trials of PLAN again, and those not run yet."""
    if not failed:
        raise typer.BadParameter("name the trials to run again: --failed")
    study = store.open(plan, make=True)
    engine.run(study, {record["key"]: dict(record) for record in study.failed()}, quiet=quiet)


@_verb("manyview bench status quick", "manyview bench status my_plan.toml --out records --json")
def status(*, plan: PlanName, store: StoreOptions, as_json: AsJson = False) -> None:
    """Show the progress of PLAN: trials done, running and failed."""
    from manyview.report.study.text import status_document, status_text

    study = store.open(plan)
    if as_json:
        print_json(status_document(study))
    else:
        print_text(status_text(study, width()))


@_verb("manyview bench check", "manyview bench check records --json")
def check(
    *,
    folder: Annotated[
        Path, path_argument("STORE", "Folder of the records, `--out` of the run.")
    ] = Path("bench"),
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Verify the checksum of every record in STORE.

    Ends with exit code 1 if any is damaged.
    """
    from manyview.errors import DataFileError
    from manyview.experiments.store import RECORDS_NAME, Store
    from manyview.report.study.text import check_document, check_text

    if not (folder / RECORDS_NAME).exists():
        raise DataFileError(f"There are no records in {folder}: it has no file {RECORDS_NAME}.")
    store = Store(folder)
    if as_json:
        print_json(check_document(store))
    else:
        print_text(check_text(store))
    if store.line_counts().n_damaged or store.line_counts().is_cut:
        sys.exit(DAMAGED)


@_verb(
    "manyview bench table quick", "manyview bench table accuracy --format latex --file table.tex"
)
def table(
    *,
    plan: PlanName,
    style: Annotated[
        str, option("text|markdown|csv|latex", "Format of the tables.", "--format")
    ] = "text",
    metric: Annotated[
        str, option("NAME", "accuracy, balanced_accuracy, macro_f1, seconds or peak_memory_mb.")
    ] = "accuracy",
    test: Annotated[
        str, option("paired|corrected", "t test against the best: paired, or Nadeau-Bengio's.")
    ] = "paired",
    file: Annotated[
        Path | None, path_option("FILE", "File to write.  [default: standard output]")
    ] = None,
    store: StoreOptions,
) -> None:
    """Show the results of PLAN as tables, with the paper's numbers."""
    from manyview.report.study.formats import tables_as
    from manyview.system.files import check_writable, is_standard_output, write_whole

    if file is not None:
        check_writable(file)
    text = tables_as(store.open(plan), style, metric=metric, test=test, width=width())
    if file is None:
        print_text(text.rstrip("\n"))
    else:
        write_whole(file, text)
        typer.echo(str(file), err=is_standard_output(file))


@_verb("manyview bench figures quick", "manyview bench figures ratios --to images --format png")
def figures(
    *,
    plan: PlanName,
    to: Annotated[Path, path_option("DIR", "Folder of the figures.")] = Path("figures"),
    formats: Annotated[
        list[str] | None,
        option("png|svg|pdf", "May be repeated.  [default: all]", "--format"),
    ] = None,
    store: StoreOptions,
) -> None:
    """Draw the figures of PLAN for print, as PNG, SVG and PDF."""
    from manyview.report.figures.write import FORMATS, write_figures

    for path in write_figures(store.open(plan), to, tuple(formats or FORMATS)):
        typer.echo(str(path))


@_verb("manyview bench report quick", "manyview bench report accuracy --file accuracy.html")
def report(
    *,
    plan: PlanName,
    file: Annotated[
        Path | None, path_option("FILE", "HTML file to write.  [default: DIR/PLAN.html]")
    ] = None,
    store: StoreOptions,
) -> None:
    """Write an HTML page with the findings, tables and charts of PLAN."""
    from manyview.system.files import is_standard_output

    typer.echo(str(_write_report(store.open(plan), file)), err=is_standard_output(file))


def _write_report(study: "Study", file: Path | None = None) -> Path:
    from manyview.report.study.page import study_page
    from manyview.system.files import check_writable, write_whole

    file = file or study.store.folder / f"{study.plan.name}.html"
    check_writable(file)
    write_whole(file, study_page(study))
    return file
