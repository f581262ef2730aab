"""Encoders of categories and booleans: equal levels coincide, distinct ones lie equally far apart.

Up to 256 levels get one column each. More levels get codes of 254 columns, so that memory stays
bounded and no level loses its identity. Write the number of a level with digits to the base 127;
the digits a_1, a_2, ... are the coefficients of a polynomial, and the code samples its wave:

    f(t) = a_1 t + a_2 t^2 + ...     code = [cos(2 pi f(t) / 127), sin(2 pi f(t) / 127)] / sqrt(127)

with t = 0 ... 126. Codes have length 1, and by Weil's bound on exponential sums the inner product
of two distinct ones is at most (d - 1) / sqrt(127), with d digits: up to 127^2 = 16,129 levels, all
distances lie within 5% of sqrt(2), and up to 127^3, within 10%. Codes of a formula need no
storage, and unlike random ones they cannot collide.

Levels that occur once are not pooled: samples that share no level are not alike.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from manyview.data.column_kinds import BOOLEAN, BOOLEAN_WORDS, CATEGORY
from manyview.data.label_values import shown_names
from manyview.data.mixed_table import blank_cells
from manyview.errors import DataWarning, warn_user

MAX_OWN_COLUMNS = 256  # levels up to which each gets a column
BASE = 127  # a prime; codes have 2 * BASE columns
EPSILON = 1e-12  # a variance below this fraction of the square is rounding


@dataclass(frozen=True)
class CategoryEncoder:
    """Encodes categories by one column per level, or by codes of many levels, centered."""

    kind: ClassVar[str] = CATEGORY
    name: str
    levels: list[str | None]  # None is the level of blank cells
    center: np.ndarray  # mean code
    factor: float

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns."""
        if len(self.levels) > MAX_OWN_COLUMNS:
            return [f"{self.name} ({number})" for number in range(1, len(self.center) + 1)]
        return [f"{self.name}={'(blank)' if level is None else level}" for level in self.levels]

    def __call__(self, column: np.ndarray, view: str) -> np.ndarray:
        """Return [sample, column]; a level that the fit did not see becomes zeros, the mean."""
        keys = level_keys(column)
        number_of = {level: number for number, level in enumerate(self.levels)}
        numbers = np.array([number_of.get(key, -1) for key in keys], dtype=np.int64)
        self._warn_of_unseen([key for key in keys if key not in number_of], len(keys), view)
        encoded = np.zeros((len(keys), len(self.center)))
        seen = numbers >= 0
        distinct, rows = np.unique(numbers[seen], return_inverse=True)
        codes = (level_codes(distinct, len(self.levels)) - self.center) * self.factor
        encoded[seen] = codes[rows]
        return encoded

    def _warn_of_unseen(self, keys: Sequence[str | None], n_samples: int, view: str) -> None:
        unseen = sorted({key for key in keys if key is not None})
        if unseen:
            warn_user(
                f"view {view!r}, column {self.name!r}: {len(keys)} of {n_samples} samples have a "
                f"category that the fit did not see ({shown_names([repr(u) for u in unseen])}); "
                "the column is ignored for them.",
                DataWarning,
            )

    @classmethod
    def fit(cls, name: str, column: np.ndarray, view: str) -> Self:
        """Learn the levels, in alphabetical order, and their mean code."""
        counts = Counter(level_keys(column))
        levels = sorted(counts, key=lambda level: (level is None, level or ""))
        frequencies = np.array([counts[level] for level in levels]) / max(len(column), 1)
        center = frequencies @ level_codes(np.arange(len(levels)), len(levels))
        variance = 1.0 - float(center @ center)  # codes have length 1
        factor = variance**-0.5 if variance > EPSILON else 0.0
        return cls(name, levels, center, factor)


@dataclass(frozen=True)
class BooleanEncoder(CategoryEncoder):
    """Encodes booleans as categories; true, yes, t, y and 1 are the same, in any case."""

    kind: ClassVar[str] = BOOLEAN

    def __call__(self, column: np.ndarray, view: str) -> np.ndarray:
        """Return [sample, level]."""
        return super().__call__(_booleans(column), view)

    @classmethod
    def fit(cls, name: str, column: np.ndarray, view: str) -> Self:
        """Learn the frequencies of true, false and blank."""
        return super().fit(name, _booleans(column), view)


def level_codes(numbers: np.ndarray, n_levels: int) -> np.ndarray:
    """Return codes [number, column] of length 1, nearly orthogonal, of some of `n_levels` levels.

    Examples
    --------
    >>> level_codes(np.array([0, 2]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    >>> codes = level_codes(np.array([17, 4_000]), 5_000)
    >>> codes.shape, bool(abs(codes[0] @ codes[1]) <= 127**-0.5)
    ((2, 254), True)
    """
    if n_levels <= MAX_OWN_COLUMNS:
        return np.asarray(numbers[:, None] == np.arange(n_levels), dtype=np.float64)
    points = np.arange(BASE, dtype=np.int32)
    powers, phases = np.ones_like(points), np.zeros((len(numbers), BASE), dtype=np.int32)
    rest = numbers
    while n_levels > 1:
        powers = powers * points % BASE
        phases = (phases + (rest % BASE).astype(np.int32)[:, None] * powers) % BASE
        rest, n_levels = rest // BASE, -(-n_levels // BASE)
    angles = 2 * np.pi * points / BASE
    waves = np.hstack([np.cos(angles)[phases], np.sin(angles)[phases]])
    return np.asarray(waves / np.sqrt(BASE))


def level_keys(column: np.ndarray) -> list[str | None]:
    """Return the level of each cell as text, None for a blank one; 3.0 is the level 3."""
    texts = [
        str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
        for cell in column.tolist()
    ]
    return [None if gone else text for text, gone in zip(texts, blank_cells(column), strict=True)]


def _booleans(column: np.ndarray) -> np.ndarray:
    words = [None if key is None else key.casefold() for key in level_keys(column)]
    return np.array([BOOLEAN_WORDS.get(word or "", word) for word in words], dtype=object)
