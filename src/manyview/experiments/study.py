"""A study: the trials of a plan and their records."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyview.data.catalog.load import CATALOG, find_card
from manyview.errors import DataFileError, InputError
from manyview.experiments.plan import Cell, Plan
from manyview.experiments.store import DONE, Store
from manyview.experiments.trial import Trial, checksum_of


@dataclass(frozen=True)
class Shard:
    """The part of a study for one job of a cluster's job array: number i of n, from 1."""

    number: int
    n_shards: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Parse `i/n`.

        Examples
        --------
        >>> Shard.parse("2/5")
        Shard(number=2, n_shards=5)
        """
        number, slash, n_shards = text.partition("/")
        if not (slash and number.isdecimal() and n_shards.isdecimal()):
            raise InputError(
                f"shard must be written as i/n, such as 2/5; got {text!r}.", parameter="shard"
            )
        shard = cls(int(number), int(n_shards))
        if not 1 <= shard.number <= shard.n_shards:
            raise InputError(f"shard i/n must have 1 <= i <= n; got {text!r}.", parameter="shard")
        return shard


@dataclass(frozen=True)
class Progress:
    """Progress of a study; `n_absent` trials need data that are missing."""

    n_trials: int
    n_done: int
    n_failed: int
    n_running: int
    n_absent: int
    seconds_spent: float

    @property
    def n_open(self) -> int:
        """Return the number of trials that are left and not running."""
        return self.n_trials - self.n_done - self.n_failed - self.n_running - self.n_absent


@dataclass
class Study:
    """A plan with its store.

    Attributes
    ----------
    skipped
        Data sets that are missing, with the reason.
    """

    plan: Plan
    store: Store
    data_dir: str | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    keys: dict[str, tuple[Cell, Trial]] = field(default_factory=dict)
    cells: dict[Cell, list[str]] = field(default_factory=dict)

    @classmethod
    def open(cls, plan: Plan, folder: Path, data_dir: str | None = None) -> "Study":
        """Find the key of each trial; missing data sets are skipped with a reason."""
        study = cls(plan, Store(folder), data_dir)
        checksums: dict[str, str] = {}
        for dataset in plan.datasets:
            try:
                checksums[dataset] = checksum_of(plan.sources.get(dataset, dataset), data_dir)
            except DataFileError as error:
                study.skipped[dataset] = str(error)
                known = find_card(dataset).sha256 if dataset in CATALOG else None
                if known is not None:  # its records can still be shown
                    checksums[dataset] = known
        for cell, trials in plan.cells().items():
            if cell.dataset not in checksums:
                continue
            keyed = {trial.key(checksums[cell.dataset]): trial for trial in trials}
            study.cells[cell] = list(keyed)
            study.keys |= {key: (cell, trial) for key, trial in keyed.items()}
        return study

    def pending(
        self, *, retry_failed: bool = False, shard: Shard | None = None
    ) -> dict[str, Trial]:
        """Return the trials to run, by key, in the plan's order."""
        records = self.store.records()
        chosen = list(self.keys.items())
        if shard is not None:
            chosen = chosen[shard.number - 1 :: shard.n_shards]
        return {
            key: trial
            for key, (_, trial) in chosen
            if trial.dataset not in self.skipped
            and (key not in records or (retry_failed and records[key]["status"] != DONE))
        }

    def records_of(self, cell: Cell) -> list[dict[str, Any]]:
        """Return the records of a cell's trials."""
        records = self.store.records()
        return [records[key] for key in self.cells.get(cell, ()) if key in records]

    def failed(self) -> Iterator[dict[str, Any]]:
        """Return the records of failed trials."""
        records = self.store.records()
        return (
            records[key] for key in self.keys if key in records and records[key]["status"] != DONE
        )

    def progress(self) -> Progress:
        """Count the trials by their state."""
        records = self.store.records()
        mine = [records[key] for key in self.keys if key in records]
        return Progress(
            n_trials=len(self.keys),
            n_done=sum(record["status"] == DONE for record in mine),
            n_failed=sum(record["status"] != DONE for record in mine),
            n_running=sum(key in self.keys for key in self.store.running()),
            n_absent=sum(
                trial.dataset in self.skipped and key not in records
                for key, (_, trial) in self.keys.items()
            ),
            seconds_spent=sum(record.get("seconds", 0.0) for record in mine),
        )
