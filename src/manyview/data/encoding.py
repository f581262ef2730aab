"""Encode views of mixed columns as numbers; fitted once, applied to new samples.

views -> fit_encoders -> encode_views -> views of numbers alone
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.data.column_encoders import ENCODERS, ColumnEncoder
from manyview.data.column_kinds import with_kinds
from manyview.data.mixed_table import MixedTable, as_column
from manyview.data.views import MultiView, View, match_columns
from manyview.errors import InputError


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
    """Learn how to encode each view of mixed columns, from the samples that have it."""
    encoders = {}
    for name in views.feature_names:
        table, rows = views[name], views.rows_with(name)
        if isinstance(table, MixedTable):
            encoders[name] = fit_table_encoder(table if rows is None else table[rows], name)
    return encoders


def encode_views(views: MultiView, encoders: Mapping[str, TableEncoder]) -> MultiView:
    """Encode the views that the encoders were fitted on; refuse other views of mixed columns."""
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


def _as_fitted(views: MultiView, name: str, encoder: TableEncoder) -> MixedTable:
    """Return a view as a table with the columns of the fit, which may all hold numbers now."""
    view, wanted = views[name], encoder.names
    if isinstance(view, MixedTable):
        match_columns(name, view.names, wanted)
        return view
    given = views.columns.get(name)
    if given is None:
        raise InputError(
            f"view {name!r} was fitted with named columns of several kinds; got numbers without "
            "names. Pass a data frame or table with the columns of the fit."
        )
    match_columns(name, given, wanted)
    dense = view.toarray() if isinstance(view, sparse.csr_array) else view
    return MixedTable(tuple(given), tuple(as_column(column) for column in dense.T))


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
