"""Persons who repeat unsaid, in a table that lies elsewhere: how often values repeat is counted in all of its rows, and
whether other columns are constant within them is judged from all rows of some of these values.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from lookalike.data.column_names import may_number_persons
from lookalike.data.microdata import Column, Table
from lookalike.data.person_columns import explain_repeated, find_repeated
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.errors import RecipeError
from lookalike.pipeline.backends import Backend
from lookalike.pipeline.parts.survey import observe

_VALUES = 20_000


def refuse_repeated_elsewhere(backend: Backend, schema: Schema, settings: PersonSettings) -> None:
    """As `person_columns.refuse_repeated`."""
    if settings.rows_are_persons or schema.unit is not None:
        return
    identifiers = {each.name for each in schema.attributes if each.role is Role.IDENTIFIER}
    worth = [name for name in backend.names if name in identifiers or may_number_persons(name)]
    known = [attribute.name for attribute in schema.quasi if attribute.name in backend.names]
    for name in worth:
        n_rows, n_values, most = backend.tally(name)
        if most < 2:
            continue
        names = list(dict.fromkeys((name, *known)))
        found = find_repeated(_table_of(backend, backend.some_rows(name, _VALUES, names)), schema, known)
        if found is not None and found.name == name:
            raise RecipeError(explain_repeated(replace(found, n_rows=n_rows, n_values=n_values, most=most)))


def _table_of(backend: Backend, frame: pl.DataFrame) -> Table:
    """The rows with their columns typed as those of the whole table are."""
    columns = []
    for cells in frame.iter_columns():
        tallied = cells.alias("value").value_counts(name="times")
        values, times = tallied["value"], tallied["times"].to_numpy()
        column, _ = observe(backend, Attribute(name=cells.name, role=Role.IDENTIFIER), values, times)
        codes = cells.replace_strict(values, pl.Series(column.codes, dtype=pl.Int32), return_dtype=pl.Int32)
        columns.append(Column(cells.name, column.type, codes.to_numpy(), column.values))
    return Table(tuple(columns), backend.source)
