"""Label vectors of files: parsing, unknown values, and description."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.errors import DataFileError

UNKNOWN_WORDS = frozenset({"", "na", "nan", "?", "-1"})
LARGEST_EXACT = 2**53  # larger numbers are ids: as floats, distinct ones could be equal
N_SHOWN = 5  # names in a sentence before "and n more"


def is_known(labels: Any) -> np.ndarray:
    """Return a mask of the known labels: not -1, None or NaN.

    Examples
    --------
    >>> is_known([3, -1, 0])
    array([ True, False,  True])
    """
    values = np.asarray(labels)
    if values.dtype.kind == "f":
        return np.asarray(~np.isnan(values) & (values != -1))
    if values.dtype.kind == "O":
        return np.array([not _is_unknown(value) for value in values], dtype=bool)
    if values.dtype.kind == "i":
        return np.asarray(values != -1)
    return np.ones(len(values), dtype=bool)


def _is_unknown(value: object) -> bool:
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return True
    if type(value).__name__ == "NAType":  # pandas.NA, which compares to nothing
        return True
    return value is None or (not isinstance(value, str) and value == -1)


def mark_unknown(labels: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """Return a copy with the masked labels unknown: -1 among numbers, None otherwise.

    Unsigned labels become int64; texts and booleans become objects.
    """
    if labels.dtype.kind in "if":
        marked = labels.copy()
    else:
        marked = labels.astype(np.int64 if labels.dtype.kind == "u" else object)
    marked[unknown] = None if marked.dtype == object else -1
    return marked


def parse_labels(values: Sequence[str] | np.ndarray, source: str) -> np.ndarray:
    """Parse raw labels as int64 (-1 unknown), booleans, or texts (None unknown).

    Whole numbers keep their values, so classes may start at 0 or 1. Blank, NA, nan, ? and -1 are
    unknown.

    Examples
    --------
    >>> parse_labels(["1", "NA", "2"], "y.csv")
    array([ 1, -1,  2])
    >>> parse_labels(["cat", "?"], "y.csv")
    array(['cat', None], dtype=object)
    """
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "iu":
        if array.size and array.max() > np.iinfo(np.int64).max:
            raise DataFileError(
                f"labels in {source} must be whole numbers below 2**63, or text; got {array.max()}."
            )
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return _whole_numbers(array, source)
    words = ["" if _is_unknown(value) else str(value).strip() for value in array]
    unknown = np.array([word.casefold() in UNKNOWN_WORDS for word in words], dtype=bool)
    numbers = ["nan" if gone else word for word, gone in zip(words, unknown, strict=True)]
    if all(is_number(number) for number in numbers):
        parsed = np.array(numbers, dtype=np.float64)
        if np.nanmax(np.abs(parsed), initial=0) < LARGEST_EXACT:
            return _whole_numbers(parsed, source)
    texts = np.array(words)
    return mark_unknown(texts, unknown) if unknown.any() else texts


def _whole_numbers(values: np.ndarray, source: str) -> np.ndarray:
    values = values.astype(np.float64)  # the limit below is no number of half precision
    known = ~np.isnan(values)
    is_whole = (values == np.round(values)) & (np.abs(values) < 2.0**63)
    broken = values[known & ~is_whole]
    if len(broken):
        raise DataFileError(f"labels in {source} must be whole numbers or text; got {broken[0]:g}.")
    return np.where(known, values, -1).astype(np.int64)


def is_number(cell: str) -> bool:
    """Return whether a cell of a table is a number; 'nan' and 'inf' are."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # float() would read the id '1_2' as 12


def describe_labels(labels: np.ndarray, source: str) -> str:
    """Describe the labels in a few words.

    Examples
    --------
    >>> describe_labels(np.array([1, 2, 3, -1]), "Y")
    'labels in Y: 3 classes from 1 to 3, 1 sample unknown'
    """
    known = is_known(labels)
    classes = sorted(set(labels[known].tolist()))
    count = f"{len(classes)} class{'' if len(classes) == 1 else 'es'}"
    if not classes:
        text = "every label unknown"
    elif isinstance(classes[0], str) or len(classes) == 1:
        text = f"{count} ({shown_names(classes)})"
    elif classes[-1] - classes[0] == len(classes) - 1:  # sorted and distinct, so without gaps
        text = f"{count} from {classes[0]} to {classes[-1]}"
    else:
        text = f"{count} between {classes[0]} and {classes[-1]}"
    n_unknown = int((~known).sum())
    if classes and n_unknown:
        text += f", {n_unknown} sample{'' if n_unknown == 1 else 's'} unknown"
    return f"labels in {source}: {text}"


def shown_names(names: Sequence[object]) -> str:
    """List the first names, and the number of those left out."""
    listed = ", ".join(str(name) for name in names[:N_SHOWN])
    rest = len(names) - N_SHOWN
    return f"{listed} and {rest} more" if rest > 0 else listed


def count_of(number: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count_of(1, "view"), count_of(1200, "sample")
    ('1 view', '1,200 samples')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def check_unique(sample_ids: Sequence[str], source: str, first_row: int | None = None) -> None:
    """Refuse ids that occur more than once; `first_row` is the number of the first id's row."""
    repeated = [sample for sample, count in Counter(sample_ids).items() if count > 1]
    if not repeated:
        return
    first, *others = repeated
    rows = [row for row, sample in enumerate(sample_ids) if sample == first]
    times = "twice" if len(rows) == 2 else f"{len(rows)} times"
    where = way_out = ""
    if first_row is not None:
        where = f" (rows {rows[0] + first_row} and {rows[1] + first_row})"
        way_out = " Remove or merge rows, or pass id_column= if another column holds the ids."
    more = f", and {len(others)} other sample(s) more than once" if others else ""
    if not first:
        raise DataFileError(
            f"{source} has {len(rows)} rows without a sample id{where}; every sample must have "
            f"one.{way_out}"
        )
    raise DataFileError(
        f"{source} names sample {first!r} {times}{where}{more}; every sample must have one row."
        f"{way_out}"
    )
