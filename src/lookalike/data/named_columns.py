"""Names of columns as Python users write them: one text, a list, an index of pandas, numbers as names of columns.

Tables name their columns by texts, so the name 0 of a data frame is "0" here. A column itself (`frame["age"]`) in place
of its name is refused: read as a list, its values would be taken for names, and are in an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lookalike.errors import SchemaError, quoted

Names = str | Iterable[str] | None
"""What may be given where several columns are named; None names none."""


def list_columns(given: Any, what: str) -> list[str]:
    """The names in order. `what`: the argument.

    >>> list_columns("age", "qi"), list_columns(["age", 0], "qi"), list_columns(None, "qi")
    (['age'], ['age', '0'], [])
    """
    if given is None:
        return []
    if isinstance(given, str) or _is_number(given):
        return [str(given)]
    if hasattr(given, "columns") and hasattr(given, "shape"):
        given = given.columns
    elif type(given).__name__ == "Series":
        name = getattr(given, "name", None)
        written = quoted("NAME" if name is None else str(name))
        raise SchemaError(f"{what} is a column, not the name of one. Write {what}={written}.")
    if isinstance(given, Mapping) or not isinstance(given, Iterable) or isinstance(given, bytes):
        raise SchemaError(
            f'{what} is of type {type(given).__name__}. Name columns by a list of texts: {what}=["age", "sex"].'
        )
    names = list(given)
    for name in names:
        if isinstance(name, Iterable) and not isinstance(name, str):
            raise SchemaError(
                f'{what} holds a {type(name).__name__} where a name should be. Write one list: {what}=["age", "sex"].'
            )
    return [str(name) for name in names]


def name_column(given: Any, what: str) -> str | None:
    """One name, or none.

    >>> name_column(["patient"], "person"), name_column(None, "person")
    ('patient', None)
    """
    names = list_columns(given, what)
    if len(names) > 1:
        raise SchemaError(f"{what} names {len(names)} columns, and can name one. Choose one of them.")
    return names[0] if names else None


def _is_number(given: object) -> bool:
    """Whether the name of a column is a number, as in a data frame without names."""
    return isinstance(given, int) or (hasattr(given, "dtype") and getattr(given, "ndim", 1) == 0)
