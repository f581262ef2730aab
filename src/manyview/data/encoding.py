"""Encode tables column by column as numbers; fitted once, applied to new samples.

views -> fit_encoders -> encode_views -> views of numbers alone

If one table has a column that is not a number, all tables of the fit are encoded, those of numbers
alone too: one table that is split into views is treated alike. A table of over 100 columns, all
numbers, stays as it is: so many numbers are usually one measurement in one unit (genes, pixels,
spectra), in which the variances of the columns are part of the data. Arrays and sparse matrices
without column names stay as they are, and so do data sets of numbers alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.data.column_encoders import ENCODERS, ColumnEncoder
from manyview.data.column_kinds import NUMBER, with_kinds
from manyview.data.mixed_table import MixedTable, as_column
from manyview.data.views import MultiView, View, match_columns
from manyview.errors import InputError

MAX_NUMBERS = 100  # columns of a table of numbers alone that is encoded beside a mixed one


@dataclass(frozen=True)
class TableEncoder:
    """Encodes the columns of one view, in the order of the fit."""

    encoders: list[ColumnEncoder]

    @property
    def names(self) -> list[str]:
        """Names of the original columns."""
        return [encoder.name for encoder in self.encoders]

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each original column."""
        return {encoder.name: encoder.kind for encoder in self.encoders}

    @property
    def has_numbers_alone(self) -> bool:
        """Whether every original column holds numbers."""
        return set(self.kinds.values()) <= {NUMBER}

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns."""
        return [column for encoder in self.encoders for column in encoder.columns]

    def __call__(self, table: MixedTable, view: str) -> np.ndarray:
        """Return [sample, encoded column]; a row of blank cells only becomes NaN."""
        encoded = np.hstack(
            [encoder(table.column(encoder.name), view) for encoder in self.encoders]
        )
        encoded[table.is_blank().all(axis=1)] = np.nan
        return encoded


def fit_table_encoder(table: MixedTable, view: str) -> TableEncoder:
    """Learn how to encode the columns of a view, from the rows that are not blank.

    Examples
    --------
    >>> from manyview.data.mixed_table import mixed_table
    >>> table = mixed_table(["age", "sex"], [[20, 30, 40, 50], ["f", "m", "f", "m"]], "clinical")
    >>> encoder = fit_table_encoder(table, "clinical")
    >>> encoder.columns
    ['age', 'sex=f', 'sex=m']
    >>> encoder(table, "clinical").var(axis=0).round(3)
    array([1. , 0.5, 0.5])
    """
    table = with_kinds(table, f"view {view!r}")
    held = table[~table.is_blank().all(axis=1)]
    return TableEncoder(
        [
            ENCODERS[table.kinds[name]].fit(name, column, view)
            for name, column in zip(held.names, held.columns, strict=True)
        ]
    )


def fit_encoders(views: MultiView) -> dict[str, TableEncoder]:
    """Learn how to encode each table, from the samples that have it.

    Tables of numbers alone are encoded if another table has a column that is not a number.
    """
    mixed = [name for name in views.feature_names if isinstance(views[name], MixedTable)]
    encoders = {name: _fit_encoder(views, name) for name in mixed}
    if not all(encoder.has_numbers_alone for encoder in encoders.values()):
        numbers = [name for name in views.feature_names if _is_table_of_numbers(views, name)]
        encoders |= {name: _fit_encoder(views, name) for name in numbers}
    return {name: encoders[name] for name in views.feature_names if name in encoders}


def encode_views(views: MultiView, encoders: Mapping[str, TableEncoder]) -> MultiView:
    """Encode the views that the encoders were fitted on; refuse texts in the others."""
    encoded: dict[str, View] = {}
    for name, encoder in encoders.items():
        if name in views.names:
            encoded[name] = encoder(_as_fitted(views, name, encoder), name)
    for name, view in views.items():
        if isinstance(view, MixedTable) and name not in encoded:
            _refuse_texts(view, name)
    if not encoded:
        return views
    columns = {name: encoders[name].columns for name in encoded}
    changed = views.with_views(encoded, {**views.columns, **columns})
    changed.encoded_names = frozenset(encoded)
    return changed


def _is_table_of_numbers(views: MultiView, name: str) -> bool:
    """Return whether a view is a table of few columns, each with a name of its own."""
    view = views[name]
    if name not in views.table_names or not isinstance(view, np.ndarray):
        return False
    n_columns = int(view.shape[1])
    return len(set(views.columns[name])) == n_columns and n_columns <= MAX_NUMBERS


def _fit_encoder(views: MultiView, name: str) -> TableEncoder:
    view, rows = views[name], views.rows_with(name)
    table = view if isinstance(view, MixedTable) else _table_of(view, views.columns[name])
    return fit_table_encoder(table if rows is None else table[rows], name)


def _as_fitted(views: MultiView, name: str, encoder: TableEncoder) -> MixedTable:
    """Return a view as a table with the columns of the fit, blank for samples that lack it.

    Columns of any kind may all hold numbers now. Numbers without names are taken in the order of
    the fit if it had numbers alone.
    """
    view, wanted = views[name], encoder.names
    given = views.columns.get(name)
    if isinstance(view, MixedTable):
        given = view.names
    elif given is None and encoder.has_numbers_alone and view.shape[1] == len(wanted):
        given = tuple(wanted)
    if given is None:
        raise InputError(
            f"view {name!r} was fitted with named columns of several kinds; got numbers without "
            "names. Pass a data frame or table with the columns of the fit."
        )
    match_columns(name, given, wanted)
    table = view if isinstance(view, MixedTable) else _table_of(view, given)
    rows = views.rows_with(name)
    if rows is None:
        return table
    own = np.full(len(views), -1)
    own[rows] = rows
    return table.with_blank_rows(own)


def _table_of(view: View, names: Sequence[str]) -> MixedTable:
    """Return a matrix as a table."""
    dense = view.toarray() if isinstance(view, sparse.csr_array) else view
    return MixedTable(tuple(names), tuple(as_column(column) for column in dense.T))


def _refuse_texts(table: MixedTable, view: str) -> None:
    name, column = next(
        (name, column)
        for name, column in zip(table.names, table.columns, strict=True)
        if column.dtype.kind != "f"
    )
    cell = next((cell for cell in column.tolist() if cell is not None), None)
    raise InputError(
        f"view {view!r} must hold numbers alone, as in the fit; column {name!r} holds {cell!r}."
    )
