"""What a release says of carried columns: published exactly, and safe as far as nobody outside knows their values."""

from __future__ import annotations

from collections.abc import Iterable

from lookalike.data.schema import Attribute
from lookalike.errors import quoted


def join_names(names: Iterable[str], *, plain: bool = False) -> str:
    """Names in a sentence.

    >>> join_names(["ward", "bill", "stay"])
    '"ward", "bill" and "stay"'
    """
    listed = [name if plain else quoted(name) for name in names]
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def state_carried(attributes: Iterable[Attribute]) -> str | None:
    """What a release says of carried columns whose values nobody outside is said to know; None if there are none."""
    names = [attribute.name for attribute in attributes if attribute.carry_anyway]
    if not names:
        return None
    published, values, them = (
        ("are published exactly", "these values", "them")
        if len(names) > 1
        else ("is published exactly", "a value", "it")
    )
    return (
        f"{join_names(names)} {published}. Someone who knows {values} of a person can find that person's row in spite "
        f"of all promises. The publisher states that nobody outside knows {them}."
    )
