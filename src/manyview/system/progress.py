"""Progress of long work on the error stream, which keeps the output clean."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def epoch_progress(max_epochs: int) -> Iterator[Callable[[int, float], None]]:
    """Show a progress bar; yields a function that takes the number of epochs and the loss."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("training", total=max_epochs, loss="")
        yield lambda n_epochs, loss: progress.update(
            task, completed=n_epochs, loss=f"loss {loss:.4f}"
        )


def show_message(line: str) -> None:
    """Print one line on the error stream."""
    from rich.console import Console

    Console(stderr=True, soft_wrap=True, highlight=False).print(line, markup=False)
