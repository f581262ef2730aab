"""Checks of a plan file: every setting has its type, and every mistake is one sentence."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from manyview.errors import PlanError, did_you_mean

MAX_SEED = 2**32 - 1  # of NumPy's generators
MAX_TRIALS = 1_000_000
MAX_SHOWN = 80  # characters of a wrong value


def check_keys(given: Mapping[str, Any], allowed: Sequence[str], origin: str) -> None:
    """Refuse settings that there are not, and suggest the closest."""
    for key in given:
        if key not in allowed:
            raise PlanError(
                f"{origin} has no setting {key!r}.{did_you_mean(key, allowed)} "
                f"It may have: {', '.join(allowed)}."
            )


def check_text(value: Any, what: str) -> str:
    """Refuse anything but text without control characters, line ends aside."""
    if not isinstance(value, str):
        raise PlanError(f"{what} must be text; got {shown(value)}.")
    if not all(one.isprintable() or one in "\n\t" for one in value):
        raise PlanError(f"{what} must be text without control characters; got {shown(value)}.")
    return value


def check_table(value: Any, what: str) -> dict[str, Any]:
    """Refuse anything but a table."""
    if not isinstance(value, dict):
        raise PlanError(f"{what} must be a table of settings by name; got {shown(value)}.")
    return value


def check_list(
    value: Any, what: str, of: str, is_one: Callable[[Any], bool], rule: str | None = None
) -> list[Any]:
    """Refuse anything but a list of different values, each of which `is_one` by the rule."""
    if not isinstance(value, list):
        raise PlanError(f"{what} must be a list of {of}; got {shown(value)}.")
    if not value:
        raise PlanError(f"{what} must not be empty; leave it out for the default.")
    for one in value:
        if not is_one(one):
            raise PlanError(f"{what} must be {rule or of}; got {shown(one)}.")
    for number, one in enumerate(value):
        if one in value[:number]:
            raise PlanError(f"{what} must differ from each other; {shown(one)} is there twice.")
    return value


def check_names(value: Any, what: str) -> list[str]:
    """Refuse anything but a list of different names."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise PlanError(f"{what} must be a list of names; got {shown(value)}.")
    for name in value:
        check_text(name, what)
    return check_list(value, what, "names", bool)


def check_seeds(value: Any, what: str) -> list[int]:
    """Refuse anything but different whole numbers that seed a generator."""
    check_list(value, what, "whole numbers from 0", lambda one: type(one) is int and one >= 0)
    return check_list(value, what, f"at most {MAX_SEED}", lambda one: one <= MAX_SEED)


def check_ratios(value: Any, what: str) -> list[float]:
    """Refuse anything but different numbers between 0 and 1."""
    return check_list(
        value,
        what,
        "numbers between 0 and 1",
        lambda one: isinstance(one, (int, float)) and not isinstance(one, bool) and 0 < one < 1,
        "between 0 and 1",
    )


def check_values(value: Any, what: str) -> Any:
    """Refuse dates and other values that no parameter has; "none" is None, as TOML has no null."""
    if isinstance(value, list):
        return [check_values(one, what) for one in value]
    if isinstance(value, dict):
        return {name: check_values(one, what) for name, one in value.items()}
    if not isinstance(value, (str, bool, int, float)):
        raise PlanError(f"{what} must be a number, text, true or false; got {shown(value)}.")
    return None if value == "none" else value


def check_grid(value: Any, what: str) -> dict[str, list[Any]]:
    """Refuse anything but lists of different plain values by name."""
    return {
        name: check_list(
            check_values(values, f"{name} in the {what}"),
            f"{name} in the {what}",
            "values to try",
            lambda one: not isinstance(one, (list, dict)),
        )
        for name, values in check_table(value, what).items()
    }


def check_paper(
    document: Any, origin: str
) -> dict[str, dict[str, dict[float, tuple[float, float]]]]:
    """Refuse anything but a mean and a deviation by data set, method and ratio."""
    try:
        paper = {
            dataset: {
                entry: {
                    float(ratio): (float(mean), float(std)) for ratio, (mean, std) in row.items()
                }
                for entry, row in rows.items()
            }
            for dataset, rows in document.items()
        }
        rows = [row for rows in paper.values() for row in rows.values()]
        if not all(isfinite(one) for row in rows for pair in row.values() for one in pair):
            raise ValueError
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise PlanError(
            f"[paper] of {origin} must hold data set -> method -> "
            '{ "ratio" = [mean, deviation] }.'
        ) from error
    return paper


def shown(value: Any) -> str:
    """Return a value as text, cut where it is long."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # a number of too many digits
        text = "a value that is too long to show"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
