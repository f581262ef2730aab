"""TensorBoardCallback: log the epochs of a fit to TensorBoard."""

from pathlib import Path
from typing import TYPE_CHECKING

from manyview.callbacks.tracking import RunTracker
from manyview.errors import DataFileError, InputError

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class TensorBoardCallback(RunTracker["SummaryWriter"]):
    """Log loss, accuracy on the labeled samples, parameters and view importance to TensorBoard.

    Every fit is a separate run: `fit-1`, `fit-2` and so on in the folder. View them with
    `tensorboard --logdir FOLDER`.

    Parameters
    ----------
    folder
        Folder of the runs; created if it does not exist.

    Examples
    --------
    >>> from manyview import MGCNDNSClassifier
    >>> model = MGCNDNSClassifier().set_callbacks(
    ...     TensorBoardCallback("logs"))  # doctest: +SKIP
    """

    def __init__(self, folder: str | Path) -> None:
        super().__init__()
        check_installed()
        self.folder = Path(folder)

    def open_run(self, method: str, parameters: dict[str, str]) -> "SummaryWriter":
        """Start a run in the next free folder."""
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(str(next_folder(self.folder)))
        escaped = {name: value.replace("|", "&#124;") for name, value in parameters.items()}
        rows = [f"| {name} | {value} |" for name, value in escaped.items()]
        table = "\n".join([f"| {method} | |", "|---|---|", *rows])
        writer.add_text("parameters", table)
        return writer

    def write(self, run: "SummaryWriter", values: dict[str, float], epoch: int) -> None:
        """Log scalars."""
        for name, value in values.items():
            run.add_scalar(name, value, epoch)

    def close_run(self, run: "SummaryWriter", *, has_ended: bool) -> None:
        """Close the file; after a failed fit it has the finished epochs."""
        run.close()


def check_installed() -> None:
    """Refuse to continue without TensorBoard, with the command that installs it."""
    try:
        import torch.utils.tensorboard  # noqa: F401
    except ImportError as error:
        raise InputError(
            "TensorBoardCallback needs TensorBoard. Install it: pip install 'manyview[tensorboard]'"
        ) from error


def next_folder(folder: Path) -> Path:
    """Create the folder of the next fit; safe with concurrent processes."""
    number = 1
    while True:
        run = folder / f"fit-{number}"
        try:
            run.mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise DataFileError(
                f"{folder} cannot be written to: {error.strerror or error}. Choose another folder."
            ) from error
        else:
            return run
