"""The card of a method: what to know before choosing it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MethodCard:
    """What to know about a method before choosing it.

    Attributes
    ----------
    name, title
        As typed, and as printed.
    paper, year
        Where it comes from.
    cost
        What its time grows with: m samples, l of them labeled, d features, V views, k neighbors.
    version
        Raised whenever the same input no longer gives the same predictions, so that results of
        older code are not mistaken for new ones.
    """

    name: str
    title: str
    paper: str
    year: int
    cost: str
    version: int = 1
