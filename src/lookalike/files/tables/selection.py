"""Which columns are read, under which names, and what is said when a column cannot be.

Shared by all readers, so that a name that is missing, doubled or empty, or a type that does not fit, is refused in
the same words wherever the table comes from. Knows no files and no frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from lookalike.data.schema import ValueType
from lookalike.errors import SchemaError, counted, quoted, unknown_name

MOST_FIELDS = 100_000
"""Columns that a table has at most."""
MOST_COLUMNS = 10_000
"""Columns that are read at most."""
_LONGEST_NAME = 10_000
LONGEST_FIELD = 4 << 20
_NOUNS = {
    ValueType.INTEGER: "whole numbers of at most 64 bits",
    ValueType.NUMBER: "numbers",
    ValueType.DATE: "dates such as 2024-12-31",
    ValueType.DATETIME: "dates with times such as 2024-12-31T23:59:00",
    ValueType.BOOLEAN: "true or false",
    ValueType.STRING: "text",
}


def choose_names(
    names: Sequence[str], columns: Collection[str] | None, types: Mapping[str, ValueType], source: str
) -> list[str]:
    """The names to read, in the order of the table."""
    known = set(names)
    for name in (*(columns or ()), *types):
        if name not in known:
            raise SchemaError(f"{source}: {unknown_name('column', name, names)}")
    wanted = [name for name in names if columns is None or name in columns]
    if len(wanted) > MOST_COLUMNS:
        raise SchemaError(
            f"{source} has {len(wanted):,} columns, more than the {MOST_COLUMNS:,} that can be read at once. Name "
            "those that are needed, or look whether rows and columns were exchanged."
        )
    return wanted


def check_types(types: Mapping[str, ValueType] | None) -> dict[str, ValueType]:
    """Types as asked for, given as `ValueType` or by name."""
    known = [type.value for type in ValueType]
    checked = {}
    for name, type in (types or {}).items():
        if type not in known:
            raise SchemaError(f"Column {quoted(name)}: {unknown_name('type', str(type), known)}")
        checked[name] = ValueType(type)
    return checked


def refuse_bad_names(names: Sequence[str], source: str) -> None:
    """Every column has a name, no two the same, and none is endless."""
    if len(names) > MOST_FIELDS:
        raise SchemaError(
            f"{source} has {counted(len(names), 'column')}, and a table has {MOST_FIELDS:,} at most. Leave some out."
        )
    if any(len(name) > _LONGEST_NAME for name in names):
        place = next(attr + 1 for attr, name in enumerate(names) if len(name) > _LONGEST_NAME)
        raise SchemaError(
            f"{source}: the name of column {place} is longer than {_LONGEST_NAME:,} characters. Is the first line a "
            "header?"
        )
    nameless = [str(attr + 1) for attr, name in enumerate(names) if not name]
    if nameless:
        raise SchemaError(
            f"{source}: {counted(len(nameless), 'column')} of {len(names)} without a name (place "
            f"{', '.join(nameless[:10])}). Name every column in the header; a nameless first column is often a row "
            "number that can be left out."
        )
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise SchemaError(
            f"{source}: two columns have the same name: {', '.join(quoted(name) for name in doubled[:10])}. "
            "Give every column its own name."
        )


def misfit_message(name: str, asked: ValueType, n_misfits: int, where: str | None = None) -> str:
    """What is said when values are not of the type asked for; the values themselves are not shown."""
    verb = "does" if n_misfits == 1 else "do"
    place = f" (the first {where})" if where else ""
    return (
        f"column {quoted(name)} is asked to be {asked}, but {counted(n_misfits, 'value')} {verb} not fit{place}. "
        f"Wanted: {_NOUNS[asked]}. Mend the values, or ask for type string."
    )
