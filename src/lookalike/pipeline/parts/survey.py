"""From the different values of a table that lies elsewhere to domains, counts, and a coding to be sent there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.date_formats import AS_TEXT
from lookalike.data.frequent_values import name_frequent, wants_frequent
from lookalike.data.long_tails import note_tails
from lookalike.data.microdata import (
    Codes,
    Column,
    Domain,
    Domains,
    Microdata,
    Whole,
    check_columns,
    encode_column,
    no_rows,
    refuse_lacking,
    texts_of,
)
from lookalike.data.missing_codes import codes_of, missing_in
from lookalike.data.person_doubts import find_spellings
from lookalike.data.persons import renumber
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.data.suspect_codes import note_codes
from lookalike.errors import DataError, SchemaError, unknown_name
from lookalike.files.tables.frames import observe_column
from lookalike.pipeline.backends import Backend
from lookalike.pipeline.run import caution_of_distinct, caution_of_numbers

_ROLES = (Role.QUASI, Role.SENSITIVE, Role.CARRIED)


@dataclass(frozen=True, eq=False)
class Coding:
    """What each column's values are as codes. Small enough to travel: it holds different values, no records."""

    values: tuple[pl.Series, ...]
    codes: tuple[pl.Series, ...]

    def __call__(self, cells: Sequence[pl.Series]) -> Codes:
        columns = []
        for column, values, codes in zip(cells, self.values, self.codes, strict=True):
            try:
                coded = column.replace_strict(values, codes, return_dtype=pl.Int32)
            except pl.exceptions.PolarsError:
                # Its words would quote the value.
                raise DataError("The table changed while it was read: it has values it did not have before.") from None
            columns.append(coded.to_numpy())
        return np.column_stack(columns).astype(np.int32, copy=False)


@dataclass(frozen=True, eq=False)
class Survey:
    """A table before any of its records is at hand."""

    data: Microdata
    """Without records; `whole` tells how many there are and how often each sensitive value occurs."""
    names: tuple[str, ...]
    """The published columns in the order of the codes: quasi-identifiers, sensitive, carried."""
    coding: Coding
    notes: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        assert self.data.whole is not None
        return self.data.whole.n_rows

    @property
    def n_published(self) -> int:
        """How many columns of the codes are published. If persons have several rows, who they are is behind them:
        the unit that promises count and, if that is a household, the person."""
        return len(self.data.domains.all)

    @property
    def counts_persons(self) -> bool:
        return self.data.persons is not None

    def records(self, codes: Codes) -> Microdata:
        """Some of the records, as a part of the whole."""
        data = self.data
        ends = np.cumsum([len(data.domains.quasi), len(data.domains.sensitive), len(data.domains.carried)])
        *blocks, owners = np.split(codes, ends, axis=1)
        found = dict(zip(("persons", "individuals"), map(renumber, owners.T), strict=False))
        return Microdata(data.schema, data.domains, *blocks, whole=data.whole, number_known=data.number_known, **found)


def survey(backend: Backend, schema: Schema) -> Survey:
    """Domains and counts, from each column's different values."""
    check_columns(schema, backend.names, backend.source)
    by_role = {role: [each for each in schema.attributes if each.role is role] for role in _ROLES}
    attributes = [attribute for role in _ROLES for attribute in by_role[role]]
    owners = _list_owners(schema, backend)
    domains: dict[str, Domain] = {}
    found: list[tuple[pl.Series, NDArray[np.int32], NDArray[np.int64]]] = []
    notes: list[str] = []
    columns: list[tuple[Column, NDArray[np.int64]]] = []
    tails: list[tuple[Column, NDArray[np.int64], Attribute]] = []
    distinct = backend.distinct([attribute.name for attribute in (*attributes, *owners)])
    by_rows = all(times.max(initial=0) < 2 for _, times in distinct[len(attributes) :])
    for attribute, (values, times) in zip(attributes, distinct, strict=False):
        if not times.sum():
            raise DataError(no_rows(backend.source))
        column, said = observe(backend, attribute, values, times)
        by_value = np.bincount(column.codes, weights=times, minlength=len(column.values) + 1).astype(np.int64)[:-1]
        columns.append((column, by_value))
        tails.append((column, by_value, attribute))
        if wants_frequent(attribute):
            named = texts_of(column.values, column.type)
            attribute = name_frequent(attribute, named, by_value if by_rows else None)
        domain, codes = encode_column(column, attribute)
        domains[attribute.name] = domain
        found.append((values, codes, times))
        notes += said
        if attribute.role is Role.SENSITIVE:
            counts_of_values = np.bincount(codes, weights=times, minlength=domain.n_codes).astype(np.int64)
            notes += caution_of_numbers(domain, counts_of_values)
        if attribute.role is Role.CARRIED:
            notes += caution_of_distinct(attribute.name, len(times), int(times.sum()))
    notes += (*note_codes(columns), *note_tails(tails))
    settled = Schema(
        tuple(domains[each.name].attribute if each.name in domains else each for each in schema.attributes)
    )
    n_quasi, n_sensitive = len(by_role[Role.QUASI]), len(by_role[Role.SENSITIVE])
    counts = tuple(
        np.bincount(codes, weights=times, minlength=domains[attribute.name].n_codes).astype(np.int64)
        for attribute, (_, codes, times) in zip(
            by_role[Role.SENSITIVE], found[n_quasi : n_quasi + n_sensitive], strict=True
        )
    )
    of_owners = []
    for attribute, (values, times) in zip(owners, distinct[len(attributes) :], strict=True):
        column, _ = observe(backend, attribute, values, times)
        refuse_lacking(attribute, column, times)
        notes += filter(None, [find_spellings(column)])
        of_owners.append((values, column.codes, times))
    if of_owners and np.bincount(of_owners[0][1], weights=of_owners[0][2]).max() < 2:
        # Every row is another person.
        of_owners = []
    found += of_owners
    grouped = (tuple(domains[attribute.name] for attribute in by_role[role]) for role in _ROLES)
    nobody = (np.zeros((0, len(by_role[role])), dtype=np.int32) for role in _ROLES)
    data = Microdata(
        settled,
        Domains(*grouped),
        *nobody,
        whole=Whole(int(found[0][2].sum()), counts),
        persons=np.zeros(0, dtype=np.int32) if of_owners else None,
    )
    coding = Coding(
        tuple(values for values, _, _ in found), tuple(pl.Series(codes, dtype=pl.Int32) for _, codes, _ in found)
    )
    names = (attribute.name for attribute in (*attributes, *owners[: len(of_owners)]))
    return Survey(data, tuple(names), coding, tuple(notes))


def observe(
    backend: Backend, attribute: Attribute, values: pl.Series, times: NDArray[np.int64]
) -> tuple[Column, tuple[str, ...]]:
    """The column of different values, typed as in the files that the back end reads."""
    name = attribute.name
    codes = tuple(dict.fromkeys((*(attribute.missing_codes or ()), *codes_of(backend.missing, name))))
    format = backend.date_formats.get(name, attribute.date_format)
    column, notes = observe_column(
        name,
        values,
        times,
        asked=None if format == AS_TEXT else attribute.type,
        missing=missing_in(backend.missing, name).union(codes),
        guess=backend.is_text,
        source=backend.source,
        date_format=format,
    )
    return replace(column, missing_codes=codes), notes


def _list_owners(schema: Schema, backend: Backend) -> list[Attribute]:
    """The column whose values promises count and, if these are households, the column of persons."""
    owners = [attribute for attribute in (schema.unit, schema.household and schema.person) if attribute is not None]
    for attribute in owners:
        if attribute.name not in backend.names:
            raise SchemaError(f"{unknown_name('column', attribute.name, backend.names)} (read from {backend.source})")
    return owners
