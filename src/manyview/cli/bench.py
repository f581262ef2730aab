"""`manyview bench`: run the trials of a plan, and look at what came out."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyview.cli.console import print_json, print_text, width
from manyview.cli.options import INTERRUPTED, AsJson, DataDir, Quiet

if TYPE_CHECKING:
    from manyview.experiments.engines import OnRecord
    from manyview.experiments.study import Study
    from manyview.experiments.trial import Trial

bench_app = typer.Typer(
    name="bench",
    help="Run the trials of a plan, on one machine or many, and show what came out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PlanName = Annotated[
    str,
    typer.Argument(metavar="PLAN", help="A name of `manyview bench plans`, or a TOML file."),
]
Out = Annotated[
    Path,
    typer.Option(metavar="DIR", help="Store of the records; plans may share one."),
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", help="Processes at work; 0 is one a core.")
]
Minutes = Annotated[
    float | None, typer.Option(metavar="M", help="A trial that takes longer is stopped.")
]
Memory = Annotated[
    float | None, typer.Option(metavar="GB", help="A trial that takes more is stopped.")
]
Engine = Annotated[str, typer.Option(metavar="local|dask", help="What runs the trials.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask: the scheduler, tcp://host:port.")
]
ShardText = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Do part I of N, for job arrays of a cluster."),
]
STORE = Path("bench")


@bench_app.command()
def plans() -> None:
    """List the plans that come with manyview."""
    from manyview.experiments.plan import load_plan, plan_names
    from manyview.report.layout import set_table

    rows = []
    for name in plan_names():
        plan = load_plan(name)
        n_trials = sum(len(trials) for trials in plan.cells().values())
        rows.append((name, f"{n_trials:,}", plan.title))
    print_text(set_table(("plan", "trials", "what it shows"), rows, "<><"))


@bench_app.command()
def run(
    plan: PlanName,
    out: Out = STORE,
    jobs: Jobs = 0,
    minutes: Minutes = None,
    memory: Memory = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    shard: ShardText = None,
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Run all trials of PLAN that the store does not hold yet.

    Stop it at any time, with Ctrl-C or a crash: the next call goes on from there. Several calls
    may work on one store at once.
    """
    study = _open(plan, out, data_dir, make=True)
    _run(study, {}, jobs, minutes, memory, engine, scheduler, shard, quiet)


@bench_app.command()
def retry(
    plan: PlanName,
    failed: Annotated[bool, typer.Option("--failed", help="Do the failed trials again.")] = False,
    out: Out = STORE,
    jobs: Jobs = 0,
    minutes: Minutes = None,
    memory: Memory = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    shard: ShardText = None,
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Run the failed trials of PLAN again, and those not done yet."""
    if not failed:
        raise typer.BadParameter("say what to do again: --failed")
    study = _open(plan, out, data_dir, make=True)
    retried = {record["key"]: dict(record) for record in study.failed()}
    _run(study, retried, jobs, minutes, memory, engine, scheduler, shard, quiet)


@bench_app.command()
def status(
    plan: PlanName, out: Out = STORE, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Tell how far PLAN is, what runs, and what failed and why."""
    from manyview.report.study.text import status_document, status_text

    study = _open(plan, out, data_dir)
    if as_json:
        print_json(status_document(study))
    else:
        print_text(status_text(study, width()))


@bench_app.command()
def table(
    plan: PlanName,
    style: Annotated[
        str,
        typer.Option("--format", metavar="text|markdown|csv|latex", help="How to write it."),
    ] = "text",
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="accuracy, balanced_accuracy, macro_f1, seconds or peak_memory_mb.",
        ),
    ] = "accuracy",
    test: Annotated[
        str,
        typer.Option(
            metavar="paired|corrected", help="t test against the best: plain, or Nadeau-Bengio's."
        ),
    ] = "paired",
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write it.  [default: the output stream]"),
    ] = None,
    out: Out = STORE,
    data_dir: DataDir = None,
) -> None:
    """Show the results of PLAN as tables, ours beside the paper's."""
    from manyview.report.study.formats import tables_as
    from manyview.system.files import write_whole

    study = _open(plan, out, data_dir)
    text = tables_as(study, style, metric=metric, test=test, width=width())
    if file is None:
        print_text(text.rstrip("\n"))
    else:
        write_whole(file, text)


@bench_app.command()
def figures(
    plan: PlanName,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder of the figures.")] = Path(
        "figures"
    ),
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", metavar="png|svg|pdf", help="May be repeated.  [default: all]"),
    ] = None,
    out: Out = STORE,
    data_dir: DataDir = None,
) -> None:
    """Draw the figures of PLAN, for print: PNG, SVG and PDF."""
    from manyview.report.figures.write import FORMATS, write_figures

    study = _open(plan, out, data_dir)
    for path in write_figures(study, to, tuple(formats or FORMATS)):
        typer.echo(str(path))


@bench_app.command()
def report(
    plan: PlanName,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="HTML file to write.  [default: DIR/PLAN.html]"),
    ] = None,
    out: Out = STORE,
    data_dir: DataDir = None,
) -> None:
    """Write one page about PLAN: findings, tables, charts, settings; works offline."""
    study = _open(plan, out, data_dir)
    typer.echo(str(_write_report(study, file)))


def _write_report(study: "Study", file: Path | None = None) -> Path:
    from manyview.report.study.page import study_page
    from manyview.system.files import write_whole

    file = file or study.store.folder / f"{study.plan.name}.html"
    write_whole(file, study_page(study))
    return file


def _open(plan: str, out: Path, data_dir: str | None, *, make: bool = False) -> "Study":
    from manyview.errors import DataFileError
    from manyview.experiments.plan import load_plan
    from manyview.experiments.study import Study

    study = Study.open(load_plan(plan), out, data_dir)
    if make:
        study.store.open()
    elif not out.is_dir():
        raise DataFileError(
            f"There is no store {out}. Run the plan first: manyview bench run {plan} --out {out}"
        )
    return study


def _run(
    study: "Study",
    retried: dict[str, dict[str, Any]],
    jobs: int,
    minutes: float | None,
    memory: float | None,
    engine: str,
    scheduler: str | None,
    shard: str | None,
    quiet: bool,
) -> None:
    from manyview.errors import InputError
    from manyview.experiments.engines import run_locally
    from manyview.experiments.limits import Limits
    from manyview.experiments.study import Shard
    from manyview.report.study.formats import tables_as
    from manyview.report.study.text import status_text
    from manyview.validation import check_choice, check_whole_number

    check_choice("engine", engine, ("local", "dask"))
    check_whole_number("jobs", jobs, at_least=0)
    if (engine == "dask") != (scheduler is not None):
        raise InputError("engine 'dask' and a scheduler's address go together: name both or none.")
    n_jobs = jobs or os.cpu_count() or 1
    limits = Limits(minutes, memory, n_threads=max(1, (os.cpu_count() or 1) // n_jobs))
    limits.check()
    part = None if shard is None else Shard.parse(shard)
    trials = study.pending(retry_failed=bool(retried), shard=part)
    if not quiet:
        for dataset, reason in study.skipped.items():
            typer.echo(f"Skipped {dataset}: {reason}", err=True)
    with _shown(study, trials, n_jobs, quiet) as on_record:
        if engine == "dask" and scheduler is not None:
            from manyview.experiments.dask_engine import run_on_dask

            finished = run_on_dask(
                study, trials, scheduler=scheduler, retried=retried, limits=limits,
                on_record=on_record,
            )  # fmt: skip
        else:
            finished = run_locally(
                study, trials, retried=retried, n_jobs=n_jobs, limits=limits, on_record=on_record
            )
    page = _write_report(study)
    if not quiet:
        if study.progress().n_done:
            print_text(tables_as(study, "text", width=width()).rstrip("\n") + "\n")
        print_text(status_text(study, width(), page))
    if finished.interrupted:
        typer.echo(
            f"Interrupted after {finished.n_recorded} trials, all kept; the same command goes on.",
            err=True,
        )
        sys.exit(INTERRUPTED)  # past `cli.main`, which would say that nothing was written


@contextmanager
def _shown(
    study: "Study", trials: "dict[str, Trial]", n_jobs: int, quiet: bool
) -> "Iterator[OnRecord | None]":
    """Show progress: a bar with the time left on a terminal, a line a trial elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from manyview.experiments.estimate import estimate
    from manyview.report.study.text import record_line

    if quiet or not trials:
        yield None
        return
    left = dict(trials)
    console = Console(stderr=True)
    columns = (
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )

    def time_left() -> str:
        known = estimate(left.values(), study.store.records().values())
        return f"left: {known.text(n_jobs)}" if left else ""

    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("trials", total=len(trials), left=time_left())

        def on_record(record: dict[str, Any]) -> None:
            left.pop(record["key"], None)
            console.print(record_line(record), markup=False, highlight=False, soft_wrap=True)
            progress.update(task, advance=1, left=time_left())

        yield on_record
