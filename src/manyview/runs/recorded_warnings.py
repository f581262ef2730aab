"""Warnings of a fit or a prediction, as sentences for the record of a run."""

import warnings
from collections.abc import Callable
from typing import TypeVar

from sklearn.exceptions import ConvergenceWarning

from manyview.errors import CalibrationWarning, DataWarning

RECORDED_WARNINGS = (ConvergenceWarning, CalibrationWarning, DataWarning)
Result = TypeVar("Result")


def record_warnings(call: Callable[[], Result]) -> tuple[Result, list[str]]:
    """Call, and return the result and the warnings to record; others are raised as usual."""
    with warnings.catch_warnings(record=True) as caught:
        for category in RECORDED_WARNINGS:
            warnings.simplefilter("always", category)
        result = call()
    messages = []
    for warning in caught:
        if issubclass(warning.category, RECORDED_WARNINGS):
            messages.append(" ".join(str(warning.message).split()))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return result, messages
