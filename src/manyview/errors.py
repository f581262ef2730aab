"""All errors this package raises on purpose.

ManyviewError
├── InputError            views, labels or a parameter break a rule   (also ValueError)
│   └── InputTypeError    a value is no number at all                 (also TypeError)
├── CallbackError         a callback of a fit raised an error         (also RuntimeError)
├── DataFileError         a file is missing or not as described
└── PlanError             a plan of a study names something unknown   (also ValueError)

CalibrationWarning        probabilities were to be calibrated and could not be   (a UserWarning)
"""

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

PACKAGE = str(Path(__file__).parent)


class ManyviewError(Exception):
    """Base of every error a user can cause; the command line shows it as one line."""


class InputError(ManyviewError, ValueError):
    """Views, labels or a parameter break a rule.

    Parameters
    ----------
    message
        One sentence: what, the rule, what it got, the way out.
    parameter
        Name of the parameter at fault, as the constructor takes it; the command line turns it
        into the option.
    """

    def __init__(self, message: str = "", *, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class InputTypeError(InputError, TypeError):
    """A value that should be a number is of a type that cannot become one."""


class CallbackError(ManyviewError, RuntimeError):
    """A callback of a fit raised an error, which is this one's cause."""


class DataFileError(ManyviewError):
    """A file is missing, damaged, or not as described."""


class PlanError(ManyviewError, ValueError):
    """A plan of a study is not as a plan must be, or names something unknown."""


class CalibrationWarning(UserWarning):
    """Probabilities were to be calibrated, and could not be."""


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """Suggest the closest choice as a sentence, or nothing.

    Examples
    --------
    >>> did_you_mean("bbcsport", ["bbcsports", "mnist"])
    " Did you mean 'bbcsports'?"
    >>> did_you_mean("zebra", ["bbcsports", "mnist"])
    ''
    """
    close = get_close_matches(str(word), [str(choice) for choice in choices], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that led here, however deep it was called."""
    level, frame = 1, sys._getframe()
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
