"""The progress of a run beside its folder, from which the same command continues."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manyview.errors import ProcessError
from manyview.estimators.network_classifier import NetworkClassifier
from manyview.methods import find_method
from manyview.network.resume import SECONDS, checkpoints

SUFFIX = ".checkpoint"


def checkpoint_folder(folder: Path) -> Path:
    """Return the folder of a run's progress.

    Examples
    --------
    >>> checkpoint_folder(Path("runs/mine")).as_posix()
    'runs/mine.checkpoint'
    """
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(named.name + SUFFIX)


@contextmanager
def run_checkpoints(folder: Path, method: str, every: float = SECONDS) -> Iterator[None]:
    """Keep the progress of a run until the block ends without an error (see `checkpoints`).

    Methods that do not train the network of MGCN-DNS keep none. If the fit is interrupted, or
    another of its processes fails, the error says that the same command continues.
    """
    if not issubclass(find_method(method), NetworkClassifier):
        yield
        return
    with checkpoints(checkpoint_folder(folder), every=every) as opened:
        continues = f"progress is kept in {opened.folder}, and the same command continues."
        try:
            yield
        except KeyboardInterrupt as interruption:
            if not opened.has_progress:
                raise
            raise KeyboardInterrupt(f"Interrupted; {continues}") from interruption
        except ProcessError as error:
            if not opened.has_progress:
                raise
            raise ProcessError(f"{error} The {continues}") from error
