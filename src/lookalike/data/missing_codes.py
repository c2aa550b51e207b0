"""Texts that stand for "no value": in every column (unknown), or in one (age=999).

An entry `column=text` is about that column if the table has it. A text with an equals sign is given by its column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from lookalike.errors import RecipeError, SchemaError, quoted, unknown_name


def list_missing(given: Collection[str] | Mapping[str, Collection[object]] | None) -> frozenset[str]:
    """What a user gives, as entries: a list of texts, or a mapping from columns to lists of texts.

    >>> sorted(list_missing({"age": [-9, 999]}))
    ['age=-9', 'age=999']
    """
    if given is None:
        return frozenset()
    if isinstance(given, str):
        raise RecipeError(f"missing must be a list of texts, not the text {quoted(given)}. Put it in brackets.")
    if isinstance(given, Mapping):
        pairs = ((name, [texts] if isinstance(texts, str | int | float) else texts) for name, texts in given.items())
        return frozenset(f"{name}={text}" for name, texts in pairs for text in texts)
    return frozenset(map(str, given))


def missing_in(entries: Iterable[str], column: str) -> frozenset[str]:
    """The texts that mean nothing in a column.

    >>> sorted(missing_in(["?", "age=999"], "age")), sorted(missing_in(["?", "age=999"], "sex"))
    (['999', '?'], ['?'])
    """
    entries = list(entries)
    return frozenset({entry for entry in entries if "=" not in entry[1:]}.union(codes_of(entries, column)))


def codes_of(entries: Iterable[str], column: str) -> tuple[str, ...]:
    """The texts that mean nothing in this column by its name, in their order.

    >>> codes_of(["?", "age=999", "age=-9"], "age")
    ('-9', '999')
    """
    start = f"{column}="
    return tuple(sorted(entry.removeprefix(start) for entry in entries if entry.startswith(start)))


def check_missing(entries: Iterable[str], names: Collection[str], source: str) -> None:
    """Raise `SchemaError` where an entry is about a column that is not there."""
    known = set(names)
    for entry in entries:
        places = [place for place, letter in enumerate(entry) if letter == "=" and place]
        if places and not any(entry[:place] in known for place in places):
            raise SchemaError(
                f"{source}: --missing {quoted(entry)} speaks of one column. "
                f"{unknown_name('column', entry[: places[0]], names)}"
            )
