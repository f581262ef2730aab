"""Load a data set of the catalog by name, and check it against its card."""

import re
from dataclasses import replace
from pathlib import Path

from manyview.data.catalog.cards import CATALOG, DatasetCard
from manyview.data.catalog.digits import load_digits_views
from manyview.data.catalog.graph_files import read_graphs
from manyview.data.catalog.paths import find_card, find_file
from manyview.data.checksums import git_blob_id
from manyview.data.dataset import Dataset
from manyview.data.io.readers import read_views
from manyview.data.label_values import is_known
from manyview.data.views import MultiView
from manyview.errors import DataFileError

__all__ = ["CATALOG", "DatasetCard", "find_card", "load_dataset"]


def load_dataset(name: str, *, data_dir: str | Path | None = None) -> Dataset:
    """Load a data set of the catalog by its name.

    Parameters
    ----------
    name
        A key of `CATALOG`, or the name in the paper, in any case. `digits` needs no file.
    data_dir
        Folder of the files; its subfolders `paper`, `other` and `large` are searched too.
        Defaults to the environment variable MANYVIEW_DATA.

    Examples
    --------
    >>> load_dataset("digits").views.n_views
    5
    """
    card = find_card(name)
    differing = None
    if card.file is None:
        dataset = load_digits_views()
    else:
        file = find_file(card, card.file, data_dir)
        dataset = read_views(file, **card.read_options) if card.n_features else read_graphs(file)
        differing = _other_blob(file, card)
    dataset = _apply_card(dataset, card)
    if differing is not None:
        dataset = replace(dataset, notes=(*dataset.notes, differing))
    _check_counts(dataset, card)
    return dataset


def _apply_card(dataset: Dataset, card: DatasetCard) -> Dataset:
    """Rename and copy views as the card specifies, and add its defects to the notes."""
    read = dataset.views
    names = list(read.feature_names)
    features = [read[name] for name in names]
    graphs = {name: view for name, view in read.items() if name in read.graph_names}
    notes = list(dataset.notes)
    for number in card.copies:
        if number <= len(features):
            features.append(features[number - 1])
            names.append(f"view{len(features)}")
            notes.append(f"View {len(features)} is added as a copy of view {number}.")
    if len(card.view_names) == len(features):
        notes = [
            _with_names(note, dict(zip(names, card.view_names, strict=True))) for note in notes
        ]
        names = list(card.view_names)
    if card.sha256 is not None and dataset.sha256 != card.sha256:
        notes.append(
            f"checksum differs: the catalog has {card.sha256[:12]}..., the data "
            f"{dataset.sha256[:12]}..., so results may not be comparable."
        )
    views = {**dict(zip(names, features, strict=True)), **graphs}
    return replace(
        dataset,
        name=card.name,
        views=MultiView(views, graphs=graphs),
        notes=(*notes, *card.defects),
    )


def _other_blob(file: Path, card: DatasetCard) -> str | None:
    """Return a note if the file is not the published one, by its git blob id; else None."""
    if card.git_blob is None:
        return None
    found = git_blob_id(file)
    if found == card.git_blob:
        return None
    return (
        f"checksum differs: the published {card.file} has the git blob id {card.git_blob[:12]}..., "
        f"this file {found[:12]}..., so results may not be comparable with the paper's."
    )


def _with_names(note: str, name_of: dict[str, str]) -> str:
    """Replace the reader's view names in a note by the card's."""
    if not note.startswith("View"):
        return note
    pattern = "|".join(rf"\b{re.escape(name)}\b" for name in name_of)
    return re.sub(pattern, lambda match: name_of[match[0]], note)


def _check_counts(dataset: Dataset, card: DatasetCard) -> None:
    views, labels = dataset.views, dataset.labels
    n_classes = 0 if labels is None else len(set(labels[is_known(labels)].tolist()))
    found = {
        "samples": len(views),
        "features": tuple(views[name].shape[1] for name in views.feature_names),
        "classes": n_classes,
        "graphs": len(views.graph_names),
    }
    expected = {
        "samples": card.n_samples,
        "features": card.n_features,
        "classes": card.n_classes,
        "graphs": card.n_graphs,
    }
    for what, count in expected.items():
        if found[what] != count:
            raise DataFileError(
                f"{card.file or card.name} is not {card.title}: it has {_counted(found[what])} "
                f"{what} where the catalog has {_counted(count)}. Read it with read_views."
            )


def _counted(count: object) -> str:
    return "/".join(map(str, count)) if isinstance(count, tuple) else str(count)
