"""Encoders of single columns, each learned at fit and stored as plain numbers and texts.

Each original column becomes a block of numbers with mean 0 and total variance 1, so that no column
drowns the others in a distance: not a number in large units, nor a category of many levels.

- number: squashed z-score, a robust one: z / sqrt(1 + (z / 3)^2) with z = (x - median) / IQR
- category, boolean: one column per level, or codes of many levels (see `category_encoders`); a
  blank cell is a level, unseen levels become the mean
- date: the time, and the cycles of year and day that it goes through
- text: tf-idf of hashed character 3- and 4-grams, reduced by a truncated SVD

The encoding of texts follows skrub's StringEncoder; numbers are squashed as by its SquashingScaler,
and dates get cycles, where its TableVectorizer passes numbers through and splits dates into year,
month and day. TableVectorizer also encodes categories of 40 or more levels as texts, which keeps
similar names together but not different ones apart. skrub itself is not used: its fitted encoders
have no form but pickle, and a model file must hold nothing that could run.

A blank number or date stays NaN, which `missing` decides about. A row of blank cells only is a
sample that lacks the view. Statistics are taken over sorted values, so the order of the samples
does not change a single bit.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from manyview.data.category_encoders import (
    EPSILON,
    BooleanEncoder,
    CategoryEncoder,
    level_keys,
)
from manyview.data.column_kinds import DATE, NUMBER, TEXT
from manyview.data.dates import ISO, date_formats, parse_dates
from manyview.data.label_values import is_number
from manyview.data.mixed_table import blank_cells
from manyview.data.rows import MAX_MAGNITUDE
from manyview.errors import InputError

SQUASHED_AT = 3.0  # robust z-scores are bounded by this, as in skrub's SquashingScaler
N_HASHED = 2**13  # character n-grams are hashed to so many columns
N_COMPONENTS = 30  # columns of a text, as in skrub's StringEncoder
EPOCH, DAY = np.datetime64("1970-01-01", "us"), np.timedelta64(1, "D")
CYCLES = {"year": 365.2425, "day": 1.0}  # in days


@dataclass(frozen=True)
class NumberEncoder:
    """Encodes numbers by their robust z-score, squashed to a bounded range."""

    kind: ClassVar[str] = NUMBER
    name: str
    median: float
    spread: float
    center: float
    factor: float

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns."""
        return [self.name]

    def __call__(self, column: np.ndarray, view: str) -> np.ndarray:
        """Return [sample, 1], NaN for blank cells."""
        numbers = as_numbers(column, self.name, view)
        return ((_squashed(numbers, self.median, self.spread) - self.center) * self.factor)[:, None]

    @classmethod
    def fit(cls, name: str, column: np.ndarray, view: str) -> Self:
        """Learn median, spread, and the mean and variance after squashing."""
        numbers = as_numbers(column, name, view)
        known = np.sort(numbers[~np.isnan(numbers)])
        if not len(known):
            return cls(name, 0.0, 1.0, 0.0, 0.0)
        median = float(np.median(known))
        spread = float(np.subtract(*np.quantile(known, [0.75, 0.25])))
        if spread <= EPSILON * abs(median):  # most values are equal
            spread = float(known.std()) or 1.0
        squashed = _squashed(known, median, spread)
        return cls(name, median, spread, float(squashed.mean()), _factor(squashed[:, None]))


@dataclass(frozen=True)
class DateEncoder:
    """Encodes dates by the time, and by the cycles that the fitted dates go through."""

    kind: ClassVar[str] = DATE
    name: str
    format: str  # of texts
    cycles: list[str]
    center: np.ndarray
    factors: np.ndarray

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns."""
        waves = [f"{self.name} ({wave} of {own})" for own in self.cycles for wave in ("sin", "cos")]
        return [f"{self.name} (time)", *waves]

    def __call__(self, column: np.ndarray, view: str) -> np.ndarray:
        """Return [sample, 1 + 2 cycles], NaN for blank cells."""
        features = _date_features(_as_days(column, self.format, self.name, view), self.cycles)
        return np.asarray((features - self.center) * self.factors)

    @classmethod
    def fit(cls, name: str, column: np.ndarray, view: str) -> Self:
        """Learn the format, the cycles, and the mean and variance of each."""
        form = _date_format(column)
        days = _as_days(column, form, name, view)
        known = np.sort(days[~np.isnan(days)])
        cycles = _cycles_of(known)
        width = 1 + 2 * len(cycles)
        if not len(known):
            return cls(name, form, cycles, np.zeros(width), np.zeros(width))
        features = _date_features(known, cycles)
        center = features.mean(axis=0)
        factors = np.empty(width)
        for start, stop in ((0, 1), *((1 + 2 * n, 3 + 2 * n) for n in range(len(cycles)))):
            factors[start:stop] = _factor(features[:, start:stop]) / np.sqrt(1 + len(cycles))
        return cls(name, form, cycles, center, factors)


@dataclass(frozen=True)
class TextEncoder:
    """Encodes texts by the tf-idf of their character n-grams, reduced by a truncated SVD."""

    kind: ClassVar[str] = TEXT
    name: str
    idf: np.ndarray  # [hashed n-gram]
    components: np.ndarray  # [hashed n-gram, component]
    center: np.ndarray  # [component]
    factor: float

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns."""
        return [f"{self.name} ({number})" for number in range(1, len(self.center) + 1)]

    def __call__(self, column: np.ndarray, view: str) -> np.ndarray:
        """Return [sample, component]; a blank cell is a text without n-grams."""
        texts, rows = np.unique(_texts(column), return_inverse=True)
        weights = _weighted(_hashed(texts), self.idf)
        return np.asarray((weights @ self.components - self.center) * self.factor)[rows]

    @classmethod
    def fit(cls, name: str, column: np.ndarray, view: str) -> Self:
        """Learn the weights of n-grams, and the components that hold most of the variance."""
        texts, counts = np.unique(_texts(column), return_counts=True)
        grams = _hashed(texts)
        n_samples = int(counts.sum())
        n_holding = np.asarray(sparse.csr_array(grams > 0).T @ counts).ravel()
        idf = np.log((1 + n_samples) / (1 + n_holding)) + 1
        weights = _weighted(grams, idf)
        n_components = max(1, min(N_COMPONENTS, len(texts) - 1))
        by_sample = sparse.csr_array(sparse.diags_array(np.sqrt(counts)) @ weights)
        _, _, directions = randomized_svd(
            by_sample, n_components, n_iter=5, random_state=0, flip_sign=True
        )
        components = np.ascontiguousarray(directions.T)
        encoded = weights @ components
        center = counts @ encoded / n_samples
        variance = counts @ ((encoded - center) ** 2).sum(axis=1) / n_samples
        factor = float(variance**-0.5) if variance > EPSILON else 0.0
        return cls(name, idf, components, center, factor)


ColumnEncoder = NumberEncoder | CategoryEncoder | BooleanEncoder | DateEncoder | TextEncoder
ENCODERS: dict[str, Any] = {
    encoder.kind: encoder
    for encoder in (NumberEncoder, CategoryEncoder, BooleanEncoder, DateEncoder, TextEncoder)
}


def as_numbers(column: np.ndarray, name: str, view: str) -> np.ndarray:
    """Return a column as floats, NaN for blank cells; refuse texts, dates and huge numbers."""
    where = f"view {view!r}: column {name!r}"
    if column.dtype.kind == "M":
        raise InputError(f"{where} must hold numbers; got dates.")
    if column.dtype.kind == "O":
        wrong = [row for row, cell in enumerate(column) if cell and not is_number(cell)]
        if wrong:
            raise InputError(
                f"{where} must hold numbers; {len(wrong)} of {len(column)} cells do not, the first "
                f"is {column[wrong[0]]!r} (row {wrong[0]})."
            )
        column = np.array([np.nan if cell is None else float(cell) for cell in column])
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        raise InputError(
            f"{where} must hold finite numbers; row {infinite[0]} holds {column[infinite[0]]}."
        )
    huge = np.flatnonzero(np.abs(column) > MAX_MAGNITUDE)
    if len(huge):
        raise InputError(
            f"{where} must hold numbers of at most {MAX_MAGNITUDE:g} in magnitude; row {huge[0]} "
            f"holds {column[huge[0]]:g}. Divide them, or take their logarithm."
        )
    return column


def _date_format(column: np.ndarray) -> str:
    if column.dtype.kind != "O":
        return ISO
    formats = date_formats(column[~blank_cells(column)].tolist())
    return formats[0] if formats else ISO


def _as_days(column: np.ndarray, form: str, name: str, view: str) -> np.ndarray:
    """Return dates, or texts of a format, as days since 1970, NaN for blank cells."""
    blank = blank_cells(column)
    if column.dtype.kind == "f" and not blank.all():
        raise InputError(
            f"view {view!r}: column {name!r} must hold dates; got the number {column[~blank][0]:g}."
        )
    if blank.all():
        return np.full(len(column), np.nan)
    dates = column
    if column.dtype.kind == "O":
        dates, wrong = parse_dates(column, form)
        if wrong:
            raise InputError(
                f"view {view!r}: column {name!r} must hold dates of the form {form}; {len(wrong)} "
                f"of {len(column)} cells do not, the first is {column[wrong[0]]!r} (row "
                f"{wrong[0]})."
            )
    return np.where(blank, np.nan, (dates - EPOCH) / DAY)


def _squashed(numbers: np.ndarray, median: float, spread: float) -> np.ndarray:
    z = (numbers - median) / spread
    return np.asarray(z / np.sqrt(1 + (z / SQUASHED_AT) ** 2))


def _factor(block: np.ndarray) -> float:
    """Return the factor that gives columns a total variance of 1; 0 for constant ones."""
    variance = float(block.var(axis=0).sum())
    return variance**-0.5 if variance > EPSILON * (1.0 + float((block**2).mean())) else 0.0


def _cycles_of(days: np.ndarray) -> list[str]:
    """Return the cycles that sorted dates go through at least once, and within which they vary."""
    if not len(days):
        return []
    span = days[-1] - days[0]
    has_times = bool((days % 1.0 > 0).any())
    found = [name for name, length in CYCLES.items() if span >= length]
    return [name for name in found if name != "day" or has_times]


def _date_features(days: np.ndarray, cycles: list[str]) -> np.ndarray:
    angles = [2 * np.pi * days / CYCLES[name] for name in cycles]
    waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    return np.column_stack([days, *waves])


def _texts(column: np.ndarray) -> np.ndarray:
    return np.array([key or "" for key in level_keys(column)], dtype=str)


def _hashed(texts: np.ndarray) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer  # only texts need its import

    vectorizer = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), n_features=N_HASHED, alternate_sign=False, norm=None
    )
    return sparse.csr_array(vectorizer.transform(texts))


def _weighted(grams: Any, idf: np.ndarray) -> Any:
    weighted = sparse.csr_array(grams @ sparse.diags_array(idf))
    lengths = np.sqrt(np.asarray(weighted.power(2).sum(axis=1)).ravel())
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sparse.csr_array(sparse.diags_array(inverse) @ weighted)
