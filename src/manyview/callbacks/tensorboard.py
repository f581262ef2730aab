"""TensorBoardCallback: a fit's epochs as curves in TensorBoard."""

from pathlib import Path
from typing import TYPE_CHECKING

from manyview.callbacks.tracking import RunTracker
from manyview.errors import DataFileError, InputError

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class TensorBoardCallback(RunTracker["SummaryWriter"]):
    """Write loss, accuracy on the labeled samples, parameters and view importance to TensorBoard.

    Every fit is a run of its own: `fit-1`, `fit-2` and so on in the folder. Look at them with
    `tensorboard --logdir FOLDER`.

    Parameters
    ----------
    folder
        Where the runs go; made where it does not exist.

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
        """Begin a run in the next free folder."""
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(str(next_folder(self.folder)))
        told = {name: value.replace("|", "&#124;") for name, value in parameters.items()}
        rows = [f"| {name} | {value} |" for name, value in told.items()]
        table = "\n".join([f"| {method} | |", "|---|---|", *rows])
        writer.add_text("parameters", table)
        return writer

    def write(self, run: "SummaryWriter", values: dict[str, float], epoch: int) -> None:
        """Write scalars."""
        for name, value in values.items():
            run.add_scalar(name, value, epoch)

    def close_run(self, run: "SummaryWriter", *, has_ended: bool) -> None:
        """Close the file; that of a fit that failed keeps its epochs."""
        run.close()


def check_installed() -> None:
    """Refuse to go on without TensorBoard, and say how to install it."""
    try:
        import torch.utils.tensorboard  # noqa: F401
    except ImportError as error:
        raise InputError(
            "TensorBoardCallback needs TensorBoard. Install it: pip install 'manyview[tensorboard]'"
        ) from error


def next_folder(folder: Path) -> Path:
    """Make the folder of the next fit, also while other processes make theirs."""
    number = 1
    while True:
        run = folder / f"fit-{number}"
        try:
            run.mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise DataFileError(
                f"{folder} cannot be written to: {error.strerror or error}. Name another folder."
            ) from error
        else:
            return run
