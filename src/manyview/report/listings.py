"""Lists of data sets and methods, as text and as JSON documents."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from manyview.data.catalog.cards import DatasetCard
from manyview.report.layout import set_sections

if TYPE_CHECKING:  # importing it takes long, and the catalog needs none of it
    from manyview.base.classifier import MultiViewClassifier

CATALOG_HEADER = ("name", "in the paper", "samples", "features", "classes", "found")
CATALOG_ALIGN = "<<><><"
NOT_SETTINGS = ("device", "verbose", "random_state")


def catalog_rows(cards: Iterable[tuple[DatasetCard, bool]]) -> list[tuple[str, ...]]:
    """Return a row per data set, with whether its file is available."""
    return [
        (
            card.name,
            card.paper_name or "-",
            f"{card.n_samples:,}",
            features_text(card),
            f"{card.n_classes:,}",
            "yes" if here else "no",
        )
        for card, here in cards
    ]


def card_text(card: DatasetCard, here: bool, width: int) -> str:
    """Show the details of one data set."""
    names = ", ".join(card.view_names) or "unknown"
    place = "computed, needs no file" if card.file is None else card.file
    sections = [
        ("Name", [f"{card.name}: {card.title}"]),
        ("In the paper", [card.paper_name or "not used"]),
        ("Samples", [f"{card.n_samples:,} {card.kind}, {card.n_classes:,} classes"]),
        ("Features", [features_text(card)]),
        ("Views", [names]),
        ("Source", [card.source]),
        ("Defects", list(card.defects) or ["none known"]),
        ("File", [place if here else f"{place}, not found: set MANYVIEW_DATA or --data-dir"]),
        ("SHA-256", [card.sha256 or "unknown"]),
    ]
    if card.git_blob is not None:
        sections.append(("Git blob", [card.git_blob]))
    return set_sections(sections, width)


def card_document(card: DatasetCard, here: bool) -> dict[str, Any]:
    """Return a card as a JSON document."""
    return {**asdict(card), "here": here}


def features_text(card: DatasetCard) -> str:
    """Write the numbers of features and graphs of a data set."""
    sizes = "/".join(map(str, card.n_features))
    graphs = f"{card.n_graphs} graph{'' if card.n_graphs == 1 else 's'}" if card.n_graphs else ""
    return " + ".join(filter(None, [sizes, graphs]))


def methods_text(methods: "Iterable[type[MultiViewClassifier]]", width: int) -> str:
    """List methods with paper, cost, defaults, and whether they label new samples."""
    sections = []
    for method in methods:
        card = method.card
        params = shown_params(method().get_params()).items()
        sections.append(
            (
                card.name,
                [
                    f"{card.paper}, {card.year}.",
                    f"New samples: {'yes' if method.is_inductive() else 'no'}. "
                    f"Precomputed graphs: {'yes' if method.takes_graphs else 'no'}. "
                    f"Cost: {card.cost}.",
                    f"Defaults: {', '.join(f'{name}={value}' for name, value in params)}.",
                    "",
                ],
            )
        )
    return set_sections(sections, width).rstrip()


def method_document(method: "type[MultiViewClassifier]") -> dict[str, Any]:
    """Return a method's card, abilities and defaults as a JSON document."""
    return {
        **asdict(method.card),
        "is_inductive": method.is_inductive(),
        "takes_graphs": method.takes_graphs,
        "defaults": method().get_params(),
    }


def shown_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what does not change a model: the device, the seed, and groups listed by path.

    Examples
    --------
    >>> shown_params({"device": "cpu", "graph": None, "graph__metric": "cosine", "hidden": 64})
    {'graph__metric': 'cosine', 'hidden': 64}
    """
    groups = {path[:at] for path in params for at in range(len(path)) if path[at:].startswith("__")}
    return {
        path: value
        for path, value in params.items()
        if path.split("__")[-1] not in NOT_SETTINGS and path not in groups
    }
