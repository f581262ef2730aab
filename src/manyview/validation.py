"""Parameter checks with one-sentence errors, and the generator behind `random_state`.

A class declares its rules in `_parameter_constraints`, a dict of parameter -> constraint;
`check_constraints` applies them at the start of a fit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

from manyview.errors import InputError, did_you_mean

RandomState = int | np.random.RandomState | np.random.Generator | None


class Constraint(Protocol):
    """A rule for the value of a parameter."""

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` if the value breaks the rule."""


@dataclass(frozen=True)
class Number:
    """A finite number within bounds."""

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None

    def check(self, name: str, value: Any) -> None:
        """Refuse anything but a number within the bounds."""
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        try:
            number = float(value) if is_number else nan
        except OverflowError:  # a whole number that no float is as large as
            number = inf
        bounds = {
            f"above {self.above}": self.above is None or number > self.above,
            f"at least {self.at_least}": self.at_least is None or number >= self.at_least,
            f"below {self.below}": self.below is None or number < self.below,
            f"at most {self.at_most}": self.at_most is None or number <= self.at_most,
        }
        if not (isfinite(number) and all(bounds.values())):
            rules = " and ".join(rule for rule in bounds if not rule.endswith("None"))
            wanted = rules if is_number and rules else f"a number {rules}".rstrip()
            raise InputError(f"{name} must be {wanted}; got {value!r}.", parameter=name)


@dataclass(frozen=True)
class WholeNumber:
    """A whole number with a lower bound."""

    at_least: int

    def check(self, name: str, value: Any) -> None:
        """Refuse anything but a whole number of at least the bound."""
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.at_least:
            rule = f"a whole number of at least {self.at_least}"
            raise InputError(f"{name} must be {rule}; got {value!r}.", parameter=name)


@dataclass(frozen=True)
class Choice:
    """One of a few values."""

    options: tuple[object, ...]

    def check(self, name: str, value: Any) -> None:
        """Refuse any other value, and suggest the closest option."""
        if any(value is option or value == option for option in self.options):
            return
        words = [option for option in self.options if isinstance(option, str)]
        raise InputError(
            f"{name} must be one of {', '.join(map(repr, self.options))}; got {value!r}."
            f"{did_you_mean(value, words)}",
            parameter=name,
        )


@dataclass(frozen=True)
class OrChoice:
    """One of a few words, or a value that another constraint accepts."""

    options: tuple[object, ...]
    other: Constraint

    def check(self, name: str, value: Any) -> None:
        """Check strings against the options, and other values against the other constraint."""
        if value is None and None in self.options:
            return
        if isinstance(value, str):
            Choice(self.options).check(name, value)
        else:
            self.other.check(name, value)


def check_constraints(
    params: Mapping[str, Any], constraints: Mapping[str, Constraint], *, prefix: str = ""
) -> None:
    """Refuse the first parameter that breaks its constraint.

    Parameters
    ----------
    prefix
        Prefix of nested parameters, such as "graph__". It becomes part of the error's
        `parameter`, not of its message.

    Examples
    --------
    >>> check_constraints({"tau": -0.3}, {"tau": Number(above=0)})
    Traceback (most recent call last):
    manyview.errors.InputError: tau must be above 0; got -0.3.
    """
    for name, constraint in constraints.items():
        try:
            constraint.check(name, params[name])
        except InputError as error:
            error.parameter = f"{prefix}{name}"
            raise


def check_number(name: str, value: object, **bounds: float) -> None:
    """Refuse anything but a finite number within the bounds of `Number`.

    Examples
    --------
    >>> check_number("tau", -0.3, above=0)
    Traceback (most recent call last):
    manyview.errors.InputError: tau must be above 0; got -0.3.
    """
    Number(**bounds).check(name, value)


def check_whole_number(name: str, value: object, *, at_least: int) -> None:
    """Refuse anything but a whole number of at least the bound."""
    WholeNumber(at_least).check(name, value)


def check_fraction(name: str, value: object) -> None:
    """Refuse anything but a number from 0 to 1.

    Examples
    --------
    >>> check_fraction("min_probability", 80)
    Traceback (most recent call last):
    manyview.errors.InputError: min_probability must be a number from 0 to 1; got 80.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and 0 <= float(value) <= 1):  # type: ignore[arg-type]
        raise InputError(f"{name} must be a number from 0 to 1; got {value!r}.", parameter=name)


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Refuse a value that is not one of the choices, and suggest the closest."""
    Choice(tuple(choices)).check(name, value)


def draw_seed(random_state: object) -> int:
    """Return a seed for `random_state`: the whole number itself, or one drawn from a generator.

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
            f"got {random_state!r}.",
            parameter="random_state",
        )
    return int(random_state)


def as_generator(random_state: object) -> np.random.Generator:
    """Return the generator for `random_state`; a `Generator` is returned as it is.

    Examples
    --------
    >>> as_generator(0).integers(10, size=3)
    array([8, 6, 5])
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(draw_seed(random_state))
