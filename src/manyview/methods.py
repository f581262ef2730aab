"""Methods: every classifier of this package by its name."""

from typing import Any

from manyview.classifier import MGCNDNSClassifier
from manyview.errors import InputError, did_you_mean

METHODS: dict[str, type[Any]] = {
    "mgcn-dns": MGCNDNSClassifier,
}


def find_method(name: str) -> type[Any]:
    """Return the class of a method by its name.

    Examples
    --------
    >>> find_method("mgcn-dns").__name__
    'MGCNDNSClassifier'
    """
    if name not in METHODS:
        raise InputError(
            f"No method is named {name!r}.{did_you_mean(name, METHODS)} "
            f"The methods are: {', '.join(METHODS)}."
        )
    return METHODS[name]
