"""Checks of parameters, one sentence each, and the seed behind `random_state`."""

from numbers import Integral, Real

import numpy as np

from manyview.errors import InputError


def check_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
) -> None:
    """Refuse what is not a finite number within its bounds.

    Examples
    --------
    >>> check_number("tau", -0.3, above=0)
    Traceback (most recent call last):
    manyview.errors.InputError: tau must be above 0; got -0.3.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    rules = [
        rule
        for rule, bound in (
            (f"above {above}", above),
            (f"at least {at_least}", at_least),
            (f"below {below}", below),
        )
        if bound is not None
    ]
    number = float(value) if isinstance(value, Real) else float("nan")
    fits = (
        is_number
        and abs(number) < float("inf")
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
    )
    if not fits:
        wanted = " and ".join(rules) if is_number else " ".join(["a number", *rules])
        raise InputError(f"{name} must be {wanted or 'a number'}; got {value!r}.")


def check_whole_number(name: str, value: object, *, at_least: int) -> None:
    """Refuse what is not a whole number of at least the given size."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InputError(f"{name} must be a whole number of at least {at_least}; got {value!r}.")


def check_share(name: str, value: object) -> None:
    """Refuse what is not a number from 0 to 1.

    Examples
    --------
    >>> check_share("min_probability", 80)
    Traceback (most recent call last):
    manyview.errors.InputError: min_probability must be a number from 0 to 1; got 80.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and 0 <= float(value) <= 1):  # type: ignore[arg-type]
        raise InputError(f"{name} must be a number from 0 to 1; got {value!r}.")


def draw_seed(random_state: object) -> int:
    """Turn None, a whole number, a RandomState or a Generator into one seed.

    None draws from the system, never from numpy's global generator.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, bool) or not isinstance(random_state, Integral) or random_state < 0:
        raise InputError(
            "random_state must be a whole number of at least 0, a numpy generator or None; "
            f"got {random_state!r}."
        )
    return int(random_state)
