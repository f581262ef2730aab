"""Running the trials of a study: options for its engine, and a display of its progress."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyview.cli.options import option

if TYPE_CHECKING:
    from manyview.experiments.engines import Finished, OnRecord
    from manyview.experiments.limits import Limits
    from manyview.experiments.study import Study
    from manyview.experiments.trial import Trial


@dataclass(frozen=True)
class LocalOptions:
    """Processes of this machine, and limits of a trial."""

    jobs: Annotated[int, option("N", "Number of processes; 0 is one per core.", "--jobs", "-j")] = 0
    minutes: Annotated[float | None, option("M", "Time limit per trial.")] = None
    memory: Annotated[float | None, option("GB", "Memory limit per trial.")] = None

    @property
    def n_jobs(self) -> int:
        """Return the number of processes."""
        return self.jobs or os.cpu_count() or 1

    def limits(self) -> "Limits":
        """Return the limits of a trial; refuse options that are wrong."""
        from manyview.experiments.limits import Limits
        from manyview.validation import check_whole_number

        check_whole_number("jobs", self.jobs, at_least=0)
        n_threads = max(1, (os.cpu_count() or 1) // self.n_jobs)
        limits = Limits(self.minutes, self.memory, n_threads=n_threads)
        limits.check()
        return limits

    def run_trials(
        self,
        study: "Study",
        trials: "dict[str, Trial]",
        retried: Mapping[str, dict[str, Any]] | None = None,
        *,
        quiet: bool,
    ) -> "Finished":
        """Run trials in processes of this machine, with a display of their progress."""
        from manyview.experiments.engines import run_locally

        limits = self.limits()
        with shown_progress(study, trials, self.n_jobs, quiet) as on_record:
            return run_locally(
                study, trials, retried=retried, n_jobs=self.n_jobs, limits=limits,
                on_record=on_record,
            )  # fmt: skip


def say_interrupted(finished: "Finished") -> None:
    """Print that an engine was interrupted and what it has recorded."""
    typer.echo(
        f"Interrupted after {finished.n_recorded} trials, which are recorded; the same command "
        "continues.",
        err=True,
    )


@contextmanager
def shown_progress(
    study: "Study", trials: "dict[str, Trial]", n_jobs: int, quiet: bool
) -> "Iterator[OnRecord | None]":
    """Show progress: a bar with the time left on a terminal, and one line per trial."""
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
