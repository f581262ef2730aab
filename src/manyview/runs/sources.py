"""Where a run's data come from: the catalog, by name, or files, by path."""

import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from manyview.data.catalog.cards import CATALOG, DatasetCard
from manyview.data.catalog.load import load_dataset
from manyview.data.catalog.paths import AMBIGUOUS_NAME, check_available, find_card, locate_file
from manyview.data.dataset import Dataset
from manyview.data.io.readers import read_views
from manyview.data.io.reading import ReadOptions
from manyview.errors import DataFileError, InputError, did_you_mean


@dataclass(frozen=True)
class DataSource:
    """What a user names as data, and how it is to be read.

    Attributes
    ----------
    names
        One name of the catalog, or paths.
    labels
        A file of labels.
    data_dir
        Folder of the catalog's files; MANYVIEW_DATA where it is None.
    options
        Choices between readings of one file.
    """

    names: tuple[str, ...]
    labels: str | None = None
    data_dir: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)

    def load(self, missing: str | None = None) -> Dataset:
        """Load the data set of the catalog, or read the files.

        `missing`, a parameter of the method, says whether single values may be unknown.
        """
        card = self._card()
        if card is None:
            options = asdict(self.options) | ({} if missing is None else {"missing": missing})
            return read_views(list(self.names), labels=self.labels, **options)
        self._refuse_reader_options(card)
        dataset = load_dataset(card.name, data_dir=self.data_dir)
        if not Path(self.names[0]).exists():
            return dataset
        note = (
            f"{card.name} is taken from the catalog; what lies here under that name is not "
            f"read. Write {os.curdir}{os.sep}{self.names[0]} to read it."
        )
        return replace(dataset, notes=(*dataset.notes, note))

    def check_here(self) -> None:
        """Refuse a data set of the catalog whose file is not here, without opening it."""
        card = self._card()
        if card is not None:
            check_available(card, self.data_dir)

    def paths(self) -> list[Path]:
        """Absolute paths of what is read; none for data that need no file."""
        card = self._card()
        if card is None:
            return [Path(name).expanduser().resolve() for name in self.names]
        file = locate_file(card, self.data_dir)
        return [] if file is None else [file.resolve()]

    def _card(self) -> DatasetCard | None:
        if len(self.names) != 1:
            return None
        name = self.names[0]
        try:
            return find_card(name)
        except InputError:
            path = Path(name).expanduser()
            if path.exists():
                return None
            if name.strip().casefold() == AMBIGUOUS_NAME:
                raise
            near = sorted(one.name for one in path.parent.iterdir()) if path.parent.is_dir() else []
            raise DataFileError(
                f"There is no file or folder {name!r}, and no data set of that name in the "
                f"catalog.{did_you_mean(path.name, [*CATALOG, *near])} "
                "`manyview datasets` lists the catalog."
            ) from None

    def _refuse_reader_options(self, card: DatasetCard) -> None:
        given = {"labels": self.labels, **asdict(self.options)}
        wrong = [
            f"{name}=" for name, value in given.items() if value is not None and name != "missing"
        ]
        if wrong:
            raise InputError(
                f"{', '.join(wrong)} can only be passed for data read from files; "
                f"{card.name!r} is in the catalog, which knows how to read it."
            )
