"""Categories by frequency: the values that many persons have keep their names, all others become "(other)".

A column with a long tail (a town, a job in free text) can so be published without naming what few persons have. A value
is kept if at least as many persons have it as its schema says (`taxonomy: {frequent: 20}`); without a person column
these are rows. Only the column itself and whose rows they are decide, never a sensitive value, so an attacker who knows
all quasi-identifiers and the method learns nothing from which values are kept.

What is decided is written into the schema as a list of values that states that others exist (`values`, `others`). So an
audit, a later table and a reader need no counts, and rare values are in no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.data.schema import Attribute, Kind, Role, Schema, limit_sets
from lookalike.errors import RecipeError, SchemaError, counted, quoted

_FREQUENT = "frequent"
_LEAST_FREQUENT = 2
"""A value that one person has is never kept."""


def wants_frequent(attribute: Attribute) -> bool:
    """Whether the values that keep their names are to be found by counting."""
    return attribute.taxonomy is not None and _FREQUENT in attribute.taxonomy


def name_frequent(attribute: Attribute, texts: Sequence[str], counts: NDArray[np.int64] | None) -> Attribute:
    """The column with the values listed that enough persons have.

    `counts`: how many persons (rows) have each of the texts; None: nobody counts them.

    >>> towns = Attribute(name="town", role=Role.QUASI, taxonomy={"frequent": 3})
    >>> named = name_frequent(towns, ["Bern", "Thun", "Worb"], np.array([7, 3, 2]))
    >>> named.values, named.others, named.taxonomy
    (('Bern', 'Thun'), True, None)
    """
    least = _check(attribute)
    if counts is None:
        raise SchemaError(
            f"Column {quoted(attribute.name)}: taxonomy frequent counts persons per value, and in parts persons with "
            "several rows are not counted by value. Publish in one piece, or list the values that keep their names "
            "(domain: {values: [...], others: true})."
        )
    kept = tuple(text for text, count in zip(texts, counts.tolist(), strict=True) if count >= least)
    return replace(attribute, taxonomy=None, kind=Kind.CATEGORICAL, values=kept, others=True)


class _Counted(Protocol):
    """A domain whose values were counted."""

    @property
    def attribute(self) -> Attribute: ...

    @property
    def n_outside(self) -> int: ...


def describe_frequent(given: Schema, domains: Iterable[_Counted], unit: str) -> tuple[str, ...]:
    """A sentence per column about the values that keep their names; `unit` is what is counted."""
    said = []
    before = {attribute.name: attribute for attribute in given.quasi if wants_frequent(attribute)}
    for domain in domains:
        settled = domain.attribute
        if settled.name not in before or wants_frequent(settled):
            continue
        least, n_kept = _check(before[settled.name]), len(settled.values or ())
        keep = "keeps its name" if n_kept == 1 else "keep their names"
        said.append(
            f"Column {quoted(settled.name)}: {counted(n_kept, 'value')} of at least {counted(least, unit)} {keep}; "
            f"{counted(domain.n_outside, 'other value')} became (other)."
        )
    return tuple(said)


def _check(attribute: Attribute) -> int:
    """The least number of persons; raises `SchemaError` where it contradicts what else is said of the column."""
    spec = attribute.taxonomy or {}
    where, least = f"Column {quoted(attribute.name)}: taxonomy frequent", spec[_FREQUENT]
    if isinstance(least, list | tuple) and len(least) == 1:
        least = least[0]
    if len(spec) > 1:
        raise SchemaError(f"{where} stands alone. Leave out {', '.join(key for key in spec if key != _FREQUENT)}.")
    if isinstance(least, bool) or not isinstance(least, int) or least < _LEAST_FREQUENT:
        raise SchemaError(
            f"{where} takes the least number of persons that a value needs to keep its name: a whole number from "
            f"{_LEAST_FREQUENT}, as in {{frequent: 20}}."
        )
    if attribute.role is not Role.QUASI:
        raise SchemaError(f"{where} is for quasi-identifiers, and the role is {attribute.role}. Leave it out.")
    if attribute.kind not in (None, Kind.CATEGORICAL):
        raise SchemaError(f"{where} makes categories, and the kind is {attribute.kind}. Make it categorical.")
    if attribute.values is not None or attribute.size is not None:
        raise SchemaError(f"{where} finds the values that are named, and the domain is declared. Keep one of the two.")
    return least


def set_cells(
    schema: Schema,
    frequent: Mapping[str, int] | None = None,
    longest_set: int | None = None,
    keep_identifiers: str | Iterable[str] = (),
    carry_anyway: str | Iterable[str] = (),
) -> Schema:
    """The schema with what a user says of the cells of its columns.

    `frequent`: categories by frequency, in place of a taxonomy that a column has.
    """
    if longest_set is not None:
        if isinstance(longest_set, bool) or not isinstance(longest_set, int) or longest_set < 0:
            raise RecipeError(f"longest_set must be a whole number, 0 for cells of any length, not {longest_set!r}.")
        schema = limit_sets(schema, longest_set)
    for name in [keep_identifiers] if isinstance(keep_identifiers, str) else keep_identifiers:
        schema = schema.replace_attribute(replace(schema[name], keep_identifiers=True))
    for name in [carry_anyway] if isinstance(carry_anyway, str) else carry_anyway:
        if schema[name].role is not Role.CARRIED:
            raise RecipeError(
                f"carry_anyway is for carried columns, and {quoted(name)} has the role {schema[name].role}. Leave it "
                "out."
            )
        schema = schema.replace_attribute(replace(schema[name], carry_anyway=True))
    if frequent is not None and not isinstance(frequent, Mapping):
        raise RecipeError(
            'frequent takes a whole number per column, as in frequent={"town": 20}, not a value of type '
            f"{type(frequent).__name__}."
        )
    for name, least in (frequent or {}).items():
        if isinstance(least, bool) or not isinstance(least, int):
            raise RecipeError(
                f"frequent takes a whole number per column, as in frequent={{{quoted(name)}: 20}}, not "
                f"{quoted(str(least))}."
            )
        schema = schema.replace_attribute(replace(schema[name], taxonomy={_FREQUENT: least}, kind=Kind.CATEGORICAL))
    return schema
