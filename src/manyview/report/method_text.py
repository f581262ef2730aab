"""The methods, told to people and machines."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from manyview.base.classifier import MultiViewClassifier
from manyview.report.layout import set_sections

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
                    f"New samples: {'yes' if method.labels_new_samples() else 'no'}. "
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
        "labels_new_samples": method.labels_new_samples(),
        "takes_graphs": method.takes_graphs,
        "defaults": method().get_params(),
    }


def _defaults(method: type[MultiViewClassifier]) -> str:
    params = method().get_params()
    shown = (f"{name}={value}" for name, value in params.items() if name not in NOT_SETTINGS)
    return ", ".join(shown)
