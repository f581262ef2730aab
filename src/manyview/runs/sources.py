"""Sources of a run's data: a data set of the catalog, by name, or files, by path."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from manyview.data.catalog.cards import CATALOG, DatasetCard
from manyview.data.catalog.load import load_dataset
from manyview.data.catalog.paths import AMBIGUOUS_NAME, check_available, find_card, locate_file
from manyview.data.column_kinds import parse_kinds
from manyview.data.dataset import Dataset
from manyview.data.io.paths import find_files
from manyview.data.io.readers import read_views
from manyview.data.io.reading import ReadOptions
from manyview.errors import DataFileError, InputError, ManyviewError, did_you_mean
from manyview.system.paths import expand_user, file_mode, names_in


@dataclass(frozen=True)
class DataSource:
    """The data a user names, and how to read them."""

    names: tuple[str, ...]  # one name of the catalog, or paths
    labels: str | list[str] | None = None  # a file of labels, or several to merge
    data_dir: str | None = None  # folder of the catalog's files; None is MANYVIEW_DATA
    options: ReadOptions = field(default_factory=ReadOptions)  # how to read the files

    def load(
        self,
        missing: str | None = None,
        kinds: Mapping[str, Mapping[str, str]] | None = None,
        id_columns: Mapping[str, str] | None = None,
    ) -> Dataset:
        """Load the data set of the catalog, or read the files.

        `missing`, a parameter of the method, is "impute" if single values may be missing. `kinds`
        are those of the columns of a fitted model, and `id_columns` the columns of sample ids in
        its data, by view.
        """
        card = self._card()
        if card is None:
            options = asdict(self.options) | ({} if missing is None else {"missing": missing})
            options["id_column"] = options["id_column"] or id_columns
            options["columns"] = {**(kinds or {}), **parse_kinds(options["columns"] or {})}
            return read_views(list(self.names), labels=self.labels, **options)
        self._refuse_reader_options(card)
        dataset = load_dataset(card.name, data_dir=self.data_dir)
        if not Path(self.names[0]).exists():
            return dataset
        note = (
            f"{card.name} is the data set of the catalog, not the file or folder of that name "
            f"here. Write {os.curdir}{os.sep}{self.names[0]} to read that."
        )
        return replace(dataset, notes=(*dataset.notes, note))

    def describe(self) -> dict[str, Any]:
        """Return the source as plain values that JSON holds, without options that are not set."""
        described = {
            "names": list(self.names),
            "labels": self.labels,
            "data_dir": self.data_dir,
            **asdict(self.options),
        }
        return {name: value for name, value in described.items() if value is not None}

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> Self:
        """Return the source of a description.

        Examples
        --------
        >>> source = DataSource(("a.csv",), options=ReadOptions(id_column="id"))
        >>> DataSource.from_description(source.describe()) == source
        True
        """
        options = dict(described)
        names, labels, data_dir = (
            options.pop(name, None) for name in ("names", "labels", "data_dir")
        )
        return cls(tuple(names or ()), labels, data_dir, ReadOptions(**options))

    def label_files(self) -> list[str]:
        """Return the files of labels that are read: those given, or the one in a folder of tables.

        Empty where the labels are in the data themselves, or the files cannot be found any more.
        """
        if self.labels is not None:
            return [self.labels] if isinstance(self.labels, str) else list(self.labels)
        try:
            if self.is_catalog():
                return []
            found = find_files(list(self.names), ignore=self.options.ignore or ())
        except (ManyviewError, OSError):
            return []
        return [str(path) for path in found.label_paths]

    def label_paths(self) -> list[Path]:
        """Return the absolute paths of the files of labels."""
        given = [self.labels] if isinstance(self.labels, str) else self.labels or []
        return [expand_user(name).resolve() for name in given]

    def check_here(self) -> None:
        """Refuse a data set of the catalog whose file is missing, without opening it."""
        card = self._card()
        if card is not None:
            check_available(card, self.data_dir)

    def is_catalog(self) -> bool:
        """Whether this is a data set of the catalog."""
        return self._card() is not None

    def paths(self) -> list[Path]:
        """Return the absolute paths that are read; none for data without a file."""
        card = self._card()
        if card is None:
            return [expand_user(name).resolve() for name in self.names]
        file = locate_file(card, self.data_dir)
        return [] if file is None else [file.resolve()]

    def _card(self) -> DatasetCard | None:
        if len(self.names) != 1:
            return None
        name = self.names[0]
        try:
            return find_card(name)
        except InputError:
            path = expand_user(name)
            if file_mode(path) is not None:
                return None
            if name.strip().casefold() == AMBIGUOUS_NAME:
                raise
            near = names_in(path.parent)
            raise DataFileError(
                f"There is no file or folder {name!r}, and no data set of that name in the "
                f"catalog.{did_you_mean(path.name, [*CATALOG, *near])} "
                "`manyview datasets` lists the catalog."
            ) from None

    def _refuse_reader_options(self, card: DatasetCard) -> None:
        given = {"labels": self.labels, **asdict(self.options)}
        wrong = [
            f"--{name.replace('_', '-')}"
            for name, value in given.items()
            if value is not None and name != "missing"
        ]
        if wrong:
            raise InputError(
                f"{' and '.join(wrong)} can only be used with files; {card.name!r} is a data set "
                "of the catalog."
            )
