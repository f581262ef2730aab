"""Data frames of pandas and polars, recognized by their attributes: neither is imported."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manyview.data.label_values import shown_names
from manyview.errors import InputError


def is_frame(view: Any) -> bool:
    """Return whether a view is a data frame."""
    return hasattr(view, "to_numpy") and hasattr(view, "columns")


def has_two_levels(view: Any) -> bool:
    """Return whether a view is a frame with two-level columns: view name, column name."""
    if not is_frame(view):
        return False
    n_levels = getattr(view.columns, "nlevels", 1)
    if n_levels > 2:
        raise InputError(
            "the columns of a data frame must have one level, or two for several views (view "
            f"name, column name); got {n_levels} levels."
        )
    return bool(n_levels == 2)


def view_frames(frame: Any) -> dict[str, Any]:
    """Split a frame with two-level columns into one frame per view, named by the top level."""
    return {str(name): frame[name] for name in dict.fromkeys(frame.columns.get_level_values(0))}


def column_names(frame: Any) -> tuple[str, ...]:
    """Return the column names of a data frame, as text."""
    return tuple(str(column) for column in frame.columns)


def is_numeric_frame(frame: Any) -> bool:
    """Return whether every column of a frame holds numbers; categorical ones do not."""
    series = (column_at(frame, position) for position in range(len(column_names(frame))))
    return all(_is_numeric(one) for one in series)


def frame_values(frame: Any) -> np.ndarray:
    """Return the values of a numeric frame as one matrix."""
    values = np.asarray(frame.to_numpy())
    return values if values.dtype.kind in "fiub" else values.astype(np.float64)


def is_categorical(series: Any) -> bool:
    """Return whether a column of pandas or polars has a categorical type."""
    return str(series.dtype).startswith(("category", "Categorical", "Enum"))


def column_at(frame: Any, position: int) -> Any:
    """Return one column by its position; names may repeat in pandas."""
    return frame.iloc[:, position] if hasattr(frame, "iloc") else frame[:, position]


def is_nested(series: Any) -> bool:
    """Return whether the cells of a column hold lists, structs or arrays."""
    dtype = series.dtype
    if hasattr(dtype, "is_nested"):  # polars
        return bool(dtype.is_nested())
    if getattr(dtype, "kind", None) != "O":
        return False
    return any(
        isinstance(cell, (Sequence, Mapping, np.ndarray, set))
        and not isinstance(cell, (str, bytes))
        for cell in series.to_numpy()
    )


def nested_columns_message(source: str, names: Sequence[str]) -> str:
    """Return the error message for nested columns."""
    return (
        f"{source} must hold one value per cell; got {len(names)} column(s) of lists or structs: "
        f"{shown_names([repr(name) for name in names])}. Unnest them into one column per "
        "value, or drop them."
    )


def is_blank(cell: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or NA and NaT of pandas."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def with_index_column(frame: Any) -> Any:
    """Make the index of a pandas frame its first column, unless it only numbers the rows."""
    if type(getattr(frame, "index", None)).__name__ in ("NoneType", "RangeIndex"):
        return frame
    return frame.rename_axis(index=frame.index.name or "index").reset_index()


def _is_numeric(series: Any) -> bool:
    if is_categorical(series) or is_nested(series):
        return False
    values = np.asarray(series)
    if values.dtype.kind in "fiub":
        return True
    if values.dtype.kind in "mM":  # numpy would count the nanoseconds
        return False
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
