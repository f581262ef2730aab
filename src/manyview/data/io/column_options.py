"""Kinds of columns that a user or a fitted model determines."""

from collections.abc import Mapping, Sequence
from typing import Any

from manyview.data.column_kinds import KINDS
from manyview.data.io.reading import missing_name
from manyview.data.io.tables import SourceTable
from manyview.data.label_values import shown_names
from manyview.errors import DataFileError, InputError


def kinds_by_view(
    tables: Sequence[SourceTable], columns: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Return the kinds of columns that are known, by view and column name.

    Parameters
    ----------
    columns
        Kinds by column name, which must exist, or, as a fitted model has them, by view and
        column name.
    """
    known = {table.view: dict(table.kinds) for table in tables}
    fitted = {view: kinds for view, kinds in columns.items() if isinstance(kinds, Mapping)}
    if len(fitted) == len(tables) == 1:  # a single view may have another name than in the fit
        fitted = dict(zip(known, fitted.values(), strict=True))
    for view, kinds in fitted.items():
        known.get(view, {}).update(kinds)
    for key, kind in columns.items():
        if isinstance(kind, Mapping):
            continue
        if kind not in KINDS:
            raise InputError(
                f"columns must give each column a kind ({', '.join(KINDS)}); got {kind!r} for "
                f"{key!r}.",
                parameter="columns",
            )
        holding = [table for table in tables if key in table.header]
        if not holding:
            names = list(dict.fromkeys(name for table in tables for name in table.header))
            raise DataFileError(
                missing_name(shown_names([table.source for table in tables]), "column", key, names)
            )
        for table in holding:
            known[table.view][key] = kind
    return known
