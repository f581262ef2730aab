"""The catalog, told to people and machines."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from manyview.base.classifier import MultiViewClassifier
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


NOT_SETTINGS = ("device", "verbose", "random_state")


def methods_text(methods: Iterable[type[MultiViewClassifier]], width: int) -> str:
    """List methods: paper, cost, whether they label new samples, and their defaults."""
    sections = []
    for method in methods:
        card = method.card
        sections.append(
            (
                card.name,
                [
                    f"{card.paper}, {card.year}.",
                    f"New samples: {'yes' if method.is_inductive() else 'no'}. "
                    f"Given graphs: {'yes' if method.takes_graphs else 'no'}. Cost: {card.cost}.",
                    f"Defaults: {_defaults(method)}.",
                    "",
                ],
            )
        )
    return set_sections(sections, width).rstrip()


def method_document(method: type[MultiViewClassifier]) -> dict[str, Any]:
    """Return what there is to know about a method as a JSON document."""
    return {
        **asdict(method.card),
        "is_inductive": method.is_inductive(),
        "takes_graphs": method.takes_graphs,
        "defaults": method().get_params(),
    }


def _defaults(method: type[MultiViewClassifier]) -> str:
    params = method().get_params()
    shown = (f"{name}={value}" for name, value in params.items() if name not in NOT_SETTINGS)
    return ", ".join(shown)
