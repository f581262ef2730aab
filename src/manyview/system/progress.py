"""Progress of long work: a bar on the error stream, or below the cell of a notebook."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from html import escape
from time import monotonic
from typing import Any

from manyview.system.notebook import in_notebook

ShowEpoch = Callable[[int, float], None]
SECONDS_BETWEEN = 0.1  # updates of a bar in a notebook


def epoch_progress(max_epochs: int) -> AbstractContextManager[ShowEpoch]:
    """Show a progress bar; yields a function that takes the number of epochs and the loss."""
    return _notebook_epochs(max_epochs) if in_notebook() else _terminal_epochs(max_epochs)


@contextmanager
def _terminal_epochs(max_epochs: int) -> Iterator[ShowEpoch]:
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


@contextmanager
def _notebook_epochs(max_epochs: int) -> Iterator[ShowEpoch]:
    bar = NotebookBar("training", max_epochs, "epochs")
    try:
        yield lambda n_epochs, loss: bar.update(n_epochs, f"loss {loss:.4f}")
    finally:
        bar.close()


class NotebookBar:
    """A progress bar below the cell of a notebook; needs IPython alone, and no widgets.

    Parameters
    ----------
    name, unit
        What is done, and what is counted.
    total
        The highest count.
    """

    def __init__(self, name: str, total: int, unit: str) -> None:
        from IPython.display import display

        self.name, self.total, self.unit = name, total, unit
        self.n_done, self.note = 0, ""
        self.start = self.shown_at = monotonic()
        self.is_closed = False
        self._handle: Any = display(self, display_id=True)

    def update(self, n_done: int, note: str = "") -> None:
        """Set the count and a note; shown at most ten times per second."""
        self.n_done, self.note = n_done, note
        if monotonic() - self.shown_at >= SECONDS_BETWEEN:
            self._show()

    def close(self) -> None:
        """Show the final count."""
        self.is_closed = True
        self._show()

    def _show(self) -> None:
        self.shown_at = monotonic()
        self._handle.update(self)

    def __repr__(self) -> str:
        count = f"{self.n_done:,} of {self.total:,}" if not self.is_closed else f"{self.n_done:,}"
        words = [f"{self.name}: {count} {self.unit}", self.note, f"{self._seconds():.1f} s"]
        return ", ".join(filter(None, words))

    def _repr_html_(self) -> str:
        done, total = (1, 1) if self.is_closed else (self.n_done, max(self.total, 1))
        bar = f'<progress value="{done}" max="{total}" style="vertical-align:middle"></progress>'
        return f"<div>{bar} <span>{escape(repr(self))}</span></div>"

    def _seconds(self) -> float:
        return self.shown_at - self.start


def show_message(line: str) -> None:
    """Print one line on the error stream."""
    from rich.console import Console

    Console(stderr=True, soft_wrap=True, highlight=False).print(line, markup=False)
