"""Alignment: rows of several views and labels are matched by the index of their frames.

Frames and Series of pandas have an index, MuData has obs_names; arrays and polars frames have
neither and keep their order. Rows belong together whose index values are equal, whatever their
order:

indexes of the views -> join_samples -> Alignment -> rows of each view, labels of each sample
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.data.label_values import is_known, mark_unknown
from manyview.errors import InputError

ABSENT = -1  # row of a sample in a view that it lacks
N_SHOWN = 3  # sample names listed in a message


@dataclass(frozen=True)
class Alignment:
    """Samples of all views, and the row of each sample in each view."""

    # [sample] index values: those of the first view in its order, then those that only other views
    # have
    sample_ids: np.ndarray
    rows: dict[str, np.ndarray]  # [sample] row by view; -1 where a sample lacks the view


def index_of(table: Any) -> np.ndarray | None:
    """Return the index of a pandas frame or Series, None for everything else."""
    index = getattr(table, "index", None)
    if index is None or callable(index) or not hasattr(index, "to_numpy"):
        return None
    if np.dtype(getattr(index, "dtype", object)).kind in "iu":
        return np.asarray(index)
    values = np.empty(len(index), dtype=object)
    values[:] = [  # dates, tuples and the like become text
        value if isinstance(value, (str, int, float)) else str(value) for value in index.tolist()
    ]
    return values


def is_default_index(ids: np.ndarray) -> bool:
    """Return whether an index only numbers the rows: 0, 1, 2, ...

    Examples
    --------
    >>> is_default_index(np.array([0, 1, 2])), is_default_index(np.array([2, 0, 1]))
    (True, False)
    """
    return ids.dtype.kind in "iu" and bool((ids == np.arange(len(ids))).all())


def join_samples(
    indexes: Mapping[str, np.ndarray | None], n_rows_of: Callable[[str], int]
) -> Alignment | None:
    """Match the rows of views by their index values; None where there is nothing to match.

    Parameters
    ----------
    indexes
        Index by view, None for a view without one.
    n_rows_of
        Returns the number of rows of a view without an index.

    Examples
    --------
    >>> a, b = np.array(["x", "y"], dtype=object), np.array(["y", "z"], dtype=object)
    >>> joined = join_samples({"a": a, "b": b}, len)
    >>> joined.sample_ids.tolist(), joined.rows["b"].tolist()
    (['x', 'y', 'z'], [-1, 0, 1])
    """
    named = {view: ids for view, ids in indexes.items() if ids is not None}
    if not named:
        return None
    if all(map(is_default_index, named.values())):
        # Row numbers are no names: frames of different length are refused, not joined.
        numbers = np.arange(len(next(iter(named.values()))))
        is_equal = all(len(ids) == len(numbers) for ids in named.values())
        return Alignment(numbers, dict.fromkeys(indexes, numbers)) if is_equal else None
    for view, ids in named.items():
        _check_unique(ids, f"the index of view {view!r}")
    first = next(iter(named))
    position: dict[Any, int] = {}
    for ids in named.values():
        for value in ids.tolist():
            position.setdefault(value, len(position))
    of_first = set(named[first].tolist())
    for view, ids in named.items():
        if view != first and of_first.isdisjoint(ids.tolist()):
            raise InputError(
                f"views {first!r} and {view!r} have no sample in common: their indexes hold "
                f"{_shown(named[first])} and {_shown(ids)}. Views are joined on the index of their "
                "frames; give all frames the same sample names, or pass arrays to join by order."
            )
    rows = {view: _rows_of(ids, position) for view, ids in named.items()}
    in_order = all(np.array_equal(own, np.arange(len(position))) for own in rows.values())
    for view in indexes.keys() - named.keys():
        if not in_order or n_rows_of(view) != len(position):
            raise InputError(
                f"view {view!r} has no index, and the frames of the other views hold other samples "
                "or another order, so its rows cannot be matched. Pass it as a data frame with "
                "the same index."
            )
        rows[view] = np.arange(len(position))
    sample_ids = np.empty(len(position), dtype=object)
    sample_ids[:] = list(position)
    return Alignment(sample_ids, {view: rows[view] for view in indexes})


def align_labels(labels: Any, sample_ids: np.ndarray | None) -> Any:
    """Put labels with an index in the order of the samples, unknown where they have none.

    Labels without an index, and labels of samples without names, keep their order.
    """
    ids = index_of(labels)
    if ids is None or sample_ids is None or np.array_equal(ids, sample_ids):
        return labels
    _check_unique(ids, "the index of the labels")
    position = {value: row for row, value in enumerate(sample_ids.tolist())}
    foreign = [value for value in ids.tolist() if value not in position]
    if foreign:
        raise InputError(
            f"labels are matched to samples by their index, and {len(foreign)} of {len(ids)} name "
            f"samples that no view has: {_shown(foreign)}. Remove them, or pass the labels as an "
            "array in the order of the samples."
        )
    values = np.asarray(labels)
    rows = np.array([position[value] for value in ids.tolist()], dtype=np.int64)
    if len(rows) == len(sample_ids):
        ordered = np.empty_like(values)
        ordered[rows] = values
        return ordered
    spread = np.empty(len(sample_ids), dtype=values.dtype)
    spread[:] = values[0]
    spread[rows] = values
    unknown = np.ones(len(sample_ids), dtype=bool)
    unknown[rows] = ~is_known(values)
    return mark_unknown(spread, unknown)


def take_rows(matrix: Any, rows: np.ndarray) -> Any:
    """Return the rows of a view by sample; absent ones are copies of row 0, to be masked."""
    if len(rows) == matrix.shape[0] and np.array_equal(rows, np.arange(len(rows))):
        return matrix
    return matrix[np.where(rows == ABSENT, 0, rows)]


def _rows_of(ids: np.ndarray, position: Mapping[Any, int]) -> np.ndarray:
    rows = np.full(len(position), ABSENT)
    rows[[position[value] for value in ids.tolist()]] = np.arange(len(ids))
    return rows


def _check_unique(ids: np.ndarray, what: str) -> None:
    seen: set[Any] = set()
    twice = []
    for value in ids.tolist():
        if value in seen:
            twice.append(value)
        seen.add(value)
    if twice:
        raise InputError(
            f"{what} must name every sample once; {len(twice)} repeat: {_shown(twice)}. Remove "
            "the repeated rows, or use reset_index() to join by order."
        )


def _shown(values: Sequence[Any] | np.ndarray) -> str:
    shown = ", ".join(repr(value) for value in np.asarray(values, dtype=object)[:N_SHOWN].tolist())
    return f"{shown}, ..." if len(values) > N_SHOWN else shown
