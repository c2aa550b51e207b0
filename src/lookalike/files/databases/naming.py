"""Names in a database. They are always quoted, so nothing in a name is ever taken for SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lookalike.errors import RecipeError, quoted

_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


@dataclass(frozen=True)
class TableName:
    """A table, and the schema it lies in if that was said. Taken letter by letter: capitals count."""

    name: str
    schema: str | None = None

    @classmethod
    def parse(cls, text: str) -> TableName:
        """
        >>> TableName.parse("clinic.stays"), TableName.parse('"a.b"')
        (TableName(name='stays', schema='clinic'), TableName(name='a.b', schema=None))
        """
        parts = []
        at = 0
        while found := _PART.match(text, at):
            parts.append(found[1].replace('""', '"') if found[1] else found[2])
            at = found.end()
            if at == len(text) or text[at] != ".":
                break
            at += 1
        if not text or at != len(text) or text.endswith(".") or len(parts) > 2:
            raise RecipeError(
                f"{quoted(text)} does not name a table. Write name or schema.name, and a name that has a dot or a "
                'quote in double quotes, as in table="a.b".'
            )
        if "\0" in text:
            raise RecipeError("The name of a table cannot hold a NUL character. Write its name as the database has it.")
        return cls(parts[-1], parts[0] if len(parts) == 2 else None)

    @property
    def sql(self) -> str:
        own = identifier(self.name)
        return own if self.schema is None else f"{identifier(self.schema)}.{own}"

    def beside(self, name: str) -> TableName:
        """Another table of the same schema."""
        return TableName(name, self.schema)

    def __str__(self) -> str:
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


def identifier(name: str) -> str:
    """
    >>> identifier('a"; DROP TABLE b; --')
    '"a""; DROP TABLE b; --"'
    """
    return '"' + name.replace('"', '""') + '"'


def find_free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores until it is no other's; a database may not tell capitals apart."""
    folded = {other.casefold() for other in taken}
    while name.casefold() in folded:
        name += "_"
    return name
