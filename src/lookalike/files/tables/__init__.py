"""Tables at the border: files, frames and database tables in. The frame library is used here and in `releases`.

Reading gives a `Table` of dictionary-encoded columns and sentences about what was guessed:

    csv/  encoding -> dialect -> structure -> (polars) -> inference      text files, block by block
    formats -> read -> frames                                            files and frames that have types

Readers are loaded on first use, so that importing this package, or `formats` for help, loads neither polars nor numpy.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lookalike.data.missing_codes import list_missing
from lookalike.errors import RecipeError, quoted

if TYPE_CHECKING:
    from lookalike.data.microdata import Table
    from lookalike.data.schema import Schema

__all__ = ["find_library", "read_columns", "read_table", "read_whole"]


def read_table(source: Any, **reading: Any) -> Table:
    """Read a file (`formats`), a table in a database or a data frame as dictionary-encoded columns.

    `reading`: see `read.read_table`. A table that was read already is given back.
    """
    from lookalike.data.microdata import Table
    from lookalike.files.tables import read

    known = inspect.signature(read.read_table).parameters
    for name in reading:
        # Every function that reads a table hands on here what it does not know itself.
        if name not in known:
            raise RecipeError(f"There is no argument {quoted(name)}. See the help of the function you called.")
    return source if isinstance(source, Table) else read.read_table(source, **reading)


def find_library(source: Any) -> str:
    """The library whose frames a user who gives this table works with: "pandas", "arrow", else "polars"."""
    from lookalike.files.tables.handing_back import library_of

    return library_of(source)


def read_columns(
    source: Any, schema: Schema, *, order: str | None = None, made: Collection[str] = (), **reading: Any
) -> Table:
    """Read the columns that the schema publishes, with the types it declares, the columns of persons and of order.

    Without a declared person also those that may say whose row it is: identifiers, and columns that number something.
    `made` are columns that are made of others later, and are not in the source.
    """
    from lookalike.data.column_names import may_number_persons
    from lookalike.data.schema import Role

    if made:
        schema = replace(schema, attributes=tuple(one for one in schema.attributes if one.name not in made))
    units = [attribute for attribute in (schema.person, schema.household) if attribute is not None]
    named = [attribute.name for attribute in (*schema.published, *units)]
    columns = [*dict.fromkeys((*named, *([order] if order else [])))]
    if units:
        if made:
            # A column of the source with such a name is refused where the new one is made.
            reading["also"] = lambda name: name in made
        return read_whole(source, schema, columns=columns, **reading)
    identifiers = {attribute.name for attribute in schema.attributes if attribute.role is Role.IDENTIFIER}
    return read_whole(
        source, schema, columns=columns, also=lambda name: name in identifiers or may_number_persons(name), **reading
    )


def read_whole(source: Any, schema: Schema, *, made: Collection[str] = (), **reading: Any) -> Table:
    """Read every column, those that the schema needs with the types it declares, except for those `made` later."""
    units = [attribute for attribute in (schema.person, schema.household) if attribute is not None]
    needed = (attribute for attribute in (*schema.published, *units) if attribute.name not in made)
    by_name = {attribute.name: attribute for attribute in needed}
    types = {name: attribute.type for name, attribute in by_name.items() if attribute.type is not None}
    formats = {name: attribute.date_format for name, attribute in by_name.items() if attribute.date_format is not None}
    codes = {name: attribute.missing_codes for name, attribute in by_name.items() if attribute.missing_codes}
    missing = [*list_missing(reading.pop("missing", None)), *list_missing(codes)]
    formats |= reading.pop("date_format", None) or {}
    table = read_table(source, types=types, missing=missing, date_format=formats, **reading)
    if table is source:
        from lookalike.files.tables.read import respell

        return respell(table, missing, formats)
    return table
