"""All that a training changes, and the file it is written to."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from manyview.network.adam import Adam
from manyview.network.checkpoints import BestWeights, MeanWeights
from manyview.system.stages import sync_folder

if TYPE_CHECKING:
    from manyview.network.training import TrainingCurve


@dataclass(frozen=True)
class TrainingState:
    """All that a training changes."""

    optimizer: Adam
    best: BestWeights
    mean: MeanWeights
    curve: "TrainingCurve"
    generator: torch.Generator | None

    def pack(self, *, is_final: bool) -> "Saved":
        """Return all of it, to be written at once; of a finished training a copy of the result."""
        tensors = {name: one.detach().cpu() for name, one in self._tensors(is_final).items()}
        numbers = {"best": self.best.loss, "n_added": self.mean.n_added, **vars(self.curve)}
        if is_final:
            tensors, numbers = deepcopy((tensors, numbers))
        if self.generator is not None:
            tensors["generator"] = self.generator.get_state()
        return Saved(tensors, numbers)

    @torch.no_grad()
    def unpack(self, saved: "Saved", *, is_final: bool) -> None:
        """Continue from what was written."""
        for name, tensor in self._tensors(is_final).items():
            tensor.copy_(saved.tensors[name])
        if self.generator is not None:
            self.generator.set_state(saved.tensors["generator"])
        numbers = dict(saved.numbers)
        self.best.loss, self.mean.n_added = numbers.pop("best"), numbers.pop("n_added")
        vars(self.curve).update(numbers)

    def _tensors(self, is_final: bool) -> dict[str, Tensor]:
        groups: dict[str, Sequence[Tensor]] = {"weight": self.best.parameters}
        if not is_final:
            groups |= {"best": self.best.saved, "mean": self.mean.saved}
            groups["adam"] = self.optimizer.tensors()
        return {
            f"{name}.{number}": tensor
            for name, group in groups.items()
            for number, tensor in enumerate(group)
        }


@dataclass(frozen=True)
class Saved:
    """A training's state, as it is written.

    Attributes
    ----------
    tensors
        By name, on the processor.
    numbers
        What JSON can hold: losses by epoch, counters.
    start
        Checksum of what the training started from.
    """

    tensors: dict[str, Tensor]
    numbers: dict[str, Any]
    start: str = ""

    def write(self, path: Path) -> None:
        """Write to a file: whole, or not at all."""
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        numbers = json.dumps(self.numbers)
        checksum = checksum_of([numbers, self.start, *_flat(self.tensors)])
        head = {"numbers": numbers, "start": self.start, "sha256": checksum}
        tensors = {name: one.contiguous() for name, one in self.tensors.items()}
        save_file(tensors, temporary, metadata=head)
        publish(temporary, path)

    @classmethod
    def read(cls, path: Path) -> "Saved":
        """Read from a file; a `ValueError` refuses one that is not what was written."""
        try:
            with safe_open(path, framework="pt") as file:
                head = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            numbers, start = head["numbers"], head["start"]
            if head["sha256"] != checksum_of([numbers, start, *_flat(tensors)]):
                raise ValueError("its checksum is wrong")
            return cls(tensors, json.loads(numbers), start)
        except (OSError, SafetensorError, KeyError) as error:
            raise ValueError(str(error)) from error


def _flat(tensors: Mapping[str, Tensor]) -> list[str | Tensor]:
    return [part for name in sorted(tensors) for part in (name, tensors[name])]


def checksum_of(parts: Sequence[str | Tensor | None]) -> str:
    """Return a checksum of texts and of tensors: their types, shapes and content."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Tensor):
            array = part.detach().cpu().contiguous().numpy()
            digest.update(f"{array.dtype} {array.shape}\n".encode())
            digest.update(array.reshape(-1).view("uint8").data)
        else:
            digest.update(f"{part}\n".encode())
    return digest.hexdigest()


def publish(temporary: Path, path: Path) -> None:
    """Flush a file to the disk, and give it its name."""
    with temporary.open("rb+") as written:
        os.fsync(written.fileno())
    temporary.replace(path)
    sync_folder(path.parent)
