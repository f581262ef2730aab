"""Find a data set by name and its file by folder, without opening anything.

Imports stay light, so that the command line lists the catalog quickly.
"""

import os
import stat
from pathlib import Path

from manyview.data.catalog.cards import CATALOG, DatasetCard
from manyview.errors import DataFileError, InputError, did_you_mean
from manyview.system.paths import expand_user, file_mode

AMBIGUOUS_NAME = "caltech-20"
SUBFOLDERS = ("", "paper", "other", "large")


def find_card(name: str) -> DatasetCard:
    """Return the card of a data set by its name, or its name in the paper, in any case.

    Examples
    --------
    >>> find_card("Caltech-all").name
    'caltech101-all'
    """
    key = name.strip().casefold()
    if key == AMBIGUOUS_NAME:
        raise InputError(
            f"{name!r} is ambiguous: the paper lists the counts of 'caltech101-7' under this "
            "name and reports accuracies that fit 'caltech101-20'. Name one of these."
        )
    by_paper_name = {
        card.paper_name.casefold(): card for card in CATALOG.values() if card.paper_name
    }
    card = CATALOG.get(key) or by_paper_name.get(key)
    if card is None:
        raise InputError(
            f"No data set is named {name!r}.{did_you_mean(key, CATALOG)} "
            "`manyview datasets` lists them all."
        )
    return card


def check_available(card: DatasetCard, data_dir: str | Path | None = None) -> None:
    """Refuse a data set whose file is not found."""
    if card.file is not None:
        find_file(card, card.file, data_dir)


def find_file(card: DatasetCard, file: str, data_dir: str | Path | None) -> Path:
    """Return the path of the file of a data set, or raise an error if it is not found."""
    found = locate_file(card, data_dir)
    if found is not None:
        return found
    folders = _folders(data_dir)
    way_out = "Set MANYVIEW_DATA, or pass data_dir= (--data-dir), to the folder that holds it."
    if not folders:
        raise DataFileError(f"Data set {card.name!r} needs the file {file}. {way_out}")
    searched = ", ".join(str(folder) for folder in folders)
    raise DataFileError(
        f"Data set {card.name!r} needs the file {file}, which is in none of: {searched}. {way_out}"
    )


def is_available(card: DatasetCard, data_dir: str | Path | None = None) -> bool:
    """Return whether a data set can be loaded."""
    return card.file is None or locate_file(card, data_dir) is not None


def locate_file(card: DatasetCard, data_dir: str | Path | None = None) -> Path | None:
    """Return the path of the file of a data set; None if it is not found or not needed."""
    if card.file is None:
        return None
    for folder in _folders(data_dir):
        mode = file_mode(folder / card.file)
        if mode is not None and stat.S_ISREG(mode):
            return folder / card.file
    return None


def _folders(data_dir: str | Path | None) -> list[Path]:
    root = data_dir if data_dir is not None else os.environ.get("MANYVIEW_DATA")
    return [expand_user(root) / subfolder for subfolder in SUBFOLDERS] if root else []
