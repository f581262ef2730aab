"""Errors and warnings that this package raises on purpose.

ManyviewError
├── InputError            views, labels or a parameter break a rule   (also ValueError)
│   ├── InputTypeError    a value is not a number                     (also TypeError)
│   └── MissingValuesError  single cells of a view are blank          (also DataFileError)
├── CallbackError         a callback raised an error during fit       (also RuntimeError)
├── DataFileError         a file is missing or not as described
├── ProcessError          another process of a shared fit failed      (also RuntimeError)
└── PlanError             a study plan is malformed                   (also ValueError)

DataWarning               views or labels look like a mistake         (a UserWarning)
CalibrationWarning        probabilities could not be calibrated       (a UserWarning)
"""

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

PACKAGE = str(Path(__file__).parent)
# What the system says when it gives no memory: to a library that is imported, or to Python.
NO_MEMORY = (
    "failed to map segment",
    "cannot allocate memory",
    "cannot map zero-fill pages",
    "std::bad_alloc",
)
N_SHOWN = 200  # characters of an error of the system in a message


class ManyviewError(Exception):
    """Base class of every error that a user can cause; the command line prints it as one line."""


class InputError(ManyviewError, ValueError):
    """Views, labels or a parameter break a rule.

    Parameters
    ----------
    message
        One sentence: what, the rule, what it got, the way out.
    parameter
        Name of the parameter at fault, as the constructor takes it; the command line names the
        matching option instead.
    """

    def __init__(self, message: str = "", *, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class InputTypeError(InputError, TypeError):
    """A value cannot be converted to a number."""


class CallbackError(ManyviewError, RuntimeError):
    """A callback raised an error during fit; that error is the cause of this one."""


class DataFileError(ManyviewError):
    """A file is missing, damaged, or not as described."""


class ProcessError(ManyviewError, RuntimeError):
    """Another process of a fit that several share has ended or does not answer."""


class MissingValuesError(InputError, DataFileError):
    """Single cells of a view are blank or NaN, and the method is not to fill them.

    Parameters
    ----------
    problem
        Where the cells are.
    way_out
        What to do; whoever knows the method and the verb replaces it with `advising`.
    """

    def __init__(self, problem: str = "", *, way_out: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.way_out = way_out or (
            "Fill or remove these rows, or read and fit with missing='impute' to fill single "
            "cells with their column's mean."
        )

    def __str__(self) -> str:
        return f"{self.problem} {self.way_out}"

    def advising(self, way_out: str) -> "MissingValuesError":
        """Return the same problem with another way out."""
        return MissingValuesError(self.problem, way_out=way_out)


class PlanError(ManyviewError, ValueError):
    """A study plan is malformed, or names something unknown."""


class DataWarning(UserWarning):
    """Views or labels that look like a mistake, and are used as they are."""


class CalibrationWarning(UserWarning):
    """Probabilities were to be calibrated but could not be."""


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """Return a sentence that suggests the closest choice, or an empty string.

    Examples
    --------
    >>> did_you_mean("bbcsport", ["bbcsports", "mnist"])
    " Did you mean 'bbcsports'?"
    >>> did_you_mean("gcn", ["ssgcn", "gcn-fusion"])
    " Did you mean 'gcn-fusion'?"
    >>> did_you_mean("zebra", ["bbcsports", "mnist"])
    ''
    """
    names = [str(choice) for choice in choices]
    longer = [name for name in names if name.startswith(f"{word}-")]
    close = longer or get_close_matches(str(word), names, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of user code that led here, at any call depth."""
    level, frame = 1, sys._getframe()
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that the system gave no memory, also for a library to import."""
    shown = str(error).casefold()
    return isinstance(error, MemoryError) or any(text in shown for text in NO_MEMORY)


def out_of_memory(error: BaseException) -> str:
    """Return the sentence for an error of `is_out_of_memory`."""
    first = " ".join(str(error).split())[:N_SHOWN]
    return (
        f"There is not enough memory for this command{f' ({first})' if first else ''}. Close other "
        "programs, raise the limits of this shell (ulimit -v), or use fewer samples."
    )
