"""Whether whole numbers of a column are codes, and which hierarchy would suit it: suggestions, never decisions.

The kind itself is `microdata.guess_kind`, so that inspecting a table and publishing it never disagree. `roles` suggests
the role.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lookalike.data.column_names import words_of
from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType

_QUANTITIES = """
    age alter edad year years jahr jahre annee ano birth count counts number size amount total sum days day hours
    minutes weeks months length duration stay score level grade rank height weight income salary wage price cost
    education schooling children quantity anzahl dose rate percent share
"""
_CODES = """
    code codes class type category kind group status sex gender geschlecht race ethnicity marital country state region
    county city zip zipcode postal postalcode postcode plz job occupation profession work diagnosis icd religion
    nationality language sector branch
"""
_SPARSE = 10
_FEW = 200
_WIDE = 20
_DAY = 86_400_000_000


def names_category(name: str) -> bool:
    """Whether a name is that of a category, of which numbers are codes.

    >>> names_category("zip code"), names_category("age"), names_category("age group")
    (True, False, True)
    """
    return not _names_quantity(name) and bool(words_of(name) & set(_CODES.split()))


def _names_quantity(name: str) -> bool:
    words = words_of(name)
    return bool(words & set(_QUANTITIES.split())) and not words & {"code", "codes", "class", "group", "type"}


def code_reason(column: Column) -> str:
    """Why whole numbers look like codes whose distances mean nothing; empty if they do not.

    Years, counts and sizes never do. Otherwise the name decides, or few values strewn over a wide range.
    """
    if column.type is not ValueType.INTEGER or len(column.values) < 3:
        return ""
    if _names_quantity(column.name):
        return ""
    if names_category(column.name):
        return "its name speaks of a category"
    span = int(column.values[-1]) - int(column.values[0]) + 1
    if len(column.values) <= _FEW and span >= _SPARSE * len(column.values):
        return f"{len(column.values)} values lie strewn over a range of {span:,}"
    return ""


def taxonomy_hint(column: Column) -> Mapping[str, Any] | None:
    """A hierarchy that would suit the values, as a schema writes it; None if none suggests itself."""
    if not len(column.values) or code_reason(column):
        return None
    if column.type is ValueType.STRING:
        return _prefixes(column)
    span = float(column.values[-1]) - float(column.values[0])
    if column.type is ValueType.DATE:
        return {"dates": _date_levels(span)}
    if column.type is ValueType.DATETIME:
        return {"dates": _date_levels(span / _DAY)}
    if column.type is ValueType.INTEGER and len(column.values) > _WIDE:
        narrow = _round_length(span / 10)
        return {"intervals": [narrow, narrow * 5]}
    return None


def _prefixes(column: Column) -> Mapping[str, Any] | None:
    """Codes of equal length, digits at least in part: the nearer the longer their common beginning."""
    texts = [str(value) for value in column.values]
    length = len(texts[0])
    alike = all(len(text) == length and text.isalnum() and text.isascii() for text in texts)
    digits = sum(any(letter.isdigit() for letter in text) for text in texts)
    if len(texts) <= _WIDE // 2 or not 4 <= length <= 8 or not alike or digits < len(texts):
        return None
    levels = [length - 2, length - 3]
    coarsest = {text[: levels[-1]] for text in texts}
    return {"prefixes": levels} if len(coarsest) < len(texts) else None


def _date_levels(days: float) -> list[str]:
    if days <= 62:
        return ["week"]
    if days <= 3 * 366:
        return ["month", "quarter", "year"]
    return ["month", "year"] if days <= 15 * 366 else ["year", "decade"]


def _round_length(length: float) -> int:
    """The least of 1, 2, 5, 10, 20, 50 ... that is not below.

    >>> _round_length(9.9), _round_length(0.3), _round_length(12)
    (10, 1, 20)
    """
    if length <= 1:
        return 1
    power = 10 ** math.floor(math.log10(length))
    return next(int(step * power) for step in (1, 2, 5, 10) if step * power >= length)
