"""The catalogue, told to people and machines."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from manyview.data.catalog.cards import DatasetCard
from manyview.report.layout import set_sections, set_table


def catalog_text(cards: Iterable[tuple[DatasetCard, bool]]) -> str:
    """List data sets in a table; each comes with whether its data are here."""
    rows = [
        (
            card.name,
            card.paper_name or "-",
            f"{card.n_samples:,}",
            _features(card),
            f"{card.n_classes:,}",
            "yes" if here else "no",
        )
        for card, here in cards
    ]
    header = ("name", "in the paper", "samples", "features", "classes", "here")
    return set_table(header, rows, "<<><><")


def card_text(card: DatasetCard, here: bool, width: int) -> str:
    """Tell all that is known about one data set."""
    names = ", ".join(card.view_names) or "not known"
    place = "computed, needs no file" if card.file is None else card.file
    sections = [
        ("Name", [f"{card.name}: {card.title}"]),
        ("In the paper", [card.paper_name or "not used"]),
        ("Samples", [f"{card.n_samples:,} {card.kind}, {card.n_classes:,} classes"]),
        ("Features", [_features(card)]),
        ("Views", [names]),
        ("Source", [card.source]),
        ("Defects", list(card.defects) or ["none known"]),
        ("File", [place if here else f"{place}, not here: set MANYVIEW_DATA or --data-dir"]),
        ("SHA-256", [card.sha256 or "not known"]),
    ]
    return set_sections(sections, width)


def card_document(card: DatasetCard, here: bool) -> dict[str, Any]:
    """Return a card as a JSON document."""
    return {**asdict(card), "here": here}


def _features(card: DatasetCard) -> str:
    sizes = "/".join(map(str, card.n_features))
    return f"{sizes} + {card.n_graphs} graphs" if card.n_graphs else sizes
