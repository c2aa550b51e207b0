"""What may be known about a column before anybody looks at a record: its cells.

A list of values that was read from the table tells that someone has each of them, so a promise about records does not
cover it. Cells are therefore made from what the schema declares where it does: the listed values, the leaves of the
tree, every whole number or day from low to high. A range with more values than `bins` is cut into equal parts, and
numbers with decimals always are; where in its part a drawn number lies is even chance. What had to be read from the
table is said (`undeclared`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data import taxonomy as taxonomies
from lookalike.data.microdata import Codes, Domain, texts_of
from lookalike.data.schema import Kind, ValueType
from lookalike.errors import SchemaError, counted, quoted
from lookalike.randomness import Randomness

_MOST_PLACES = 300
_LEAST_WIDTH = 1e-290
_LARGEST_WHOLE = 1 << 53
"""Ends of a range are kept as floats, which have every whole number up to here."""


@dataclass(frozen=True, eq=False)
class PublicColumn:
    """One column's cells; the last one stands for missing values where `has_missing`."""

    domain: Domain
    """As the table has it."""
    n_values: int
    """Cells without the one for missing values."""
    has_missing: bool
    cell_of_code: NDArray[np.int64]
    declared: bool
    """Whether the schema says all about the values."""
    width: float = 0.0
    """Of a part, where the column is a range; 0: cells are the domain's own values."""

    @property
    def name(self) -> str:
        return self.domain.name

    @property
    def size(self) -> int:
        return self.n_values + self.has_missing

    def draw(self, cells: NDArray[np.int64], rng: Randomness) -> tuple[Domain, Codes]:
        """Drawn cells as values: a domain that holds them, and codes over it."""
        if self.width == 0:
            return self._settle_domain(self.domain.values), cells.astype(np.int32)
        present = cells < self.n_values
        parts, uniforms = cells[present], rng.uniforms(len(cells))[present]
        decimal = self.domain.type is ValueType.NUMBER
        placed = self._decimals(parts, uniforms) if decimal else self._wholes(parts, uniforms)
        first, last = _whole_bounds(self.domain)
        # Where every whole number is a cell, the domain has them all; of a range in parts, what was drawn.
        every = not decimal and self.width == 1
        values: NDArray[Any] = np.arange(first, last + 1) if every else np.unique(placed)
        codes = np.full(len(cells), len(values), dtype=np.int32)
        codes[present] = np.searchsorted(values, placed)
        return self._settle_domain(values), codes

    def _wholes(self, parts: NDArray[np.int64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        first, last = _whole_bounds(self.domain)
        starts = first + parts * int(self.width)
        lengths = np.minimum(starts + int(self.width), last + 1) - starts
        return starts + np.minimum((uniforms * lengths).astype(np.int64), lengths - 1)

    def _decimals(self, parts: NDArray[np.int64], uniforms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers with as many decimals as make a thousandth of a part."""
        low, high = self.domain.low, self.domain.high
        if self.n_values == 1:
            return np.full(len(parts), low)
        places = min(3 - math.floor(math.log10(self.width)), _MOST_PLACES)
        shares = (parts + uniforms) / self.n_values
        return np.clip(np.round(low * (1 - shares) + high * shares, places), low, high)

    def _settle_domain(self, values: NDArray[Any]) -> Domain:
        attribute, type, tree = self.domain.attribute, self.domain.type, self.domain.taxonomy
        if self.declared and self.width == 0:
            # A list of values is text: that the table's own type fits all of it would tell that all occur.
            texts = texts_of(values, type)
            values, type = np.empty(len(texts), dtype=object), ValueType.STRING
            values[:] = texts
            if attribute.taxonomy is not None and self.has_missing != self.domain.has_missing:
                tree = taxonomies.build(
                    attribute.taxonomy, texts, texts, column=self.name, with_missing=self.has_missing
                )
        return replace(
            self.domain,
            attribute=replace(attribute, type=type),
            type=type,
            values=values,
            has_missing=self.has_missing,
            # How many different numbers the table has is not public; how many categories were declared is.
            size=max(self.domain.size if self.width == 0 else 0, len(values) + self.has_missing),
            taxonomy=tree,
        )


def public_column(domain: Domain, bins: int, *, may_be_missing: bool) -> PublicColumn:
    """The cells of a column; `may_be_missing` adds one for missing values even if none is."""
    has_missing = domain.has_missing or may_be_missing
    if domain.kind is Kind.NUMERIC and domain.taxonomy is None and (domain.declared or len(domain.values)):
        width, n_values, cell_of_value = _parts(domain, bins)
        cell_of_code = np.append(cell_of_value, n_values)
        return PublicColumn(domain, n_values, has_missing, cell_of_code, domain.declared, width)
    n_values = len(domain.values)
    return PublicColumn(domain, n_values, has_missing, np.arange(n_values + 1), _lists_its_values(domain))


def _lists_its_values(domain: Domain) -> bool:
    """A declared size says how many values there are, not which."""
    attribute = domain.attribute
    form = attribute.taxonomy or {}
    return attribute.order is not None or attribute.values is not None or "tree" in form or "file" in form


def _parts(domain: Domain, bins: int) -> tuple[float, int, NDArray[np.int64]]:
    """Width and number of the parts of a range, and the part of each value."""
    if domain.type is ValueType.NUMBER:
        width = domain.high / bins - domain.low / bins
        if width < _LEAST_WIDTH:
            return 1.0, 1, np.zeros(len(domain.values), dtype=np.int64)
        parts = np.floor(domain.values / width - domain.low / width).astype(np.int64)
        return width, bins, np.clip(parts, 0, bins - 1)
    first, last = _whole_bounds(domain)
    if max(-first, last) > _LARGEST_WHOLE:
        raise SchemaError(
            f"Column {quoted(domain.name)} has whole numbers that are too large for a range. Declare it categorical if "
            "they are codes, or leave it out."
        )
    width = -((first - last - 1) // bins)
    return float(width), -((first - last - 1) // width), (domain.values.astype(np.int64) - first) // width


def _whole_bounds(domain: Domain) -> tuple[int, int]:
    return math.ceil(domain.low), math.floor(domain.high)


def require_declared(columns: Sequence[PublicColumn]) -> None:
    """Refuse columns whose values had to be read from the table."""
    names = [quoted(column.name) for column in columns if not column.declared]
    if names:
        raise SchemaError(
            f"The schema does not declare the values of {counted(len(names), 'column')}: {', '.join(names)}. Declare "
            "them (domain: {low, high} or {values}, order, or a taxonomy as tree or file), or allow values that are "
            "read from the table (domains=observed)."
        )
