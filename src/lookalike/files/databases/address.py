"""Where a table lies, as a URL says it:

    postgresql://user@host:5432/database?table=schema.name
    sqlite:///file.db?table=name          four slashes where the path begins at the root
    duckdb:///file.duckdb?table=name
    env:NAME, env:NAME?table=name         the URL, or its beginning, is in the environment variable NAME

A URL with a password is refused unless it comes from the environment: on a command line every user of the machine
can see it, and in a script or a notebook it is kept. An `Address` shows neither user nor host nor password.
Names of tables and columns are always quoted, so nothing in a name is ever taken for SQL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from lookalike.errors import RecipeError, quoted, unknown_name

_PART = r'("(?:[^"]|"")+"|[^".]+)'
_NAME = re.compile(rf"(?:{_PART}\.)?{_PART}")


@dataclass(frozen=True)
class TableName:
    """A table, and the schema it is in if that was said. Taken letter by letter: capitals count."""

    name: str
    schema: str | None = None

    @classmethod
    def parse(cls, text: str) -> TableName:
        """
        >>> TableName.parse("clinic.stays"), TableName.parse('"a.b"')
        (TableName(name='stays', schema='clinic'), TableName(name='a.b', schema=None))
        """
        found = _NAME.fullmatch(text)
        if found is None:
            raise RecipeError(
                f"{quoted(text)} does not name a table. Write name or schema.name, and a name that has a dot or a "
                'quote in double quotes, as in table="a.b".'
            )
        if "\0" in text:
            raise RecipeError("The name of a table cannot hold a NUL character. Write its name as the database has it.")
        parts = [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in found.groups() if part]
        return cls(*reversed(parts))

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


_SCHEME = re.compile(r"(?:postgresql|postgres|sqlite|duckdb)(?=:)", re.IGNORECASE)
_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)(?:\?(.*))?", re.DOTALL)
_SECRETS = ("password", "sslpassword")
_SETTINGS = (
    "channel_binding",
    "connect_timeout",
    "dbname",
    "gssencmode",
    "host",
    "hostaddr",
    "passfile",
    "port",
    "service",
    "sslcert",
    "sslcrl",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
    "user",
)
"""Of PostgreSQL's client library: how to get there and how to be believed. None changes what is read."""

_EXAMPLES = (
    "postgresql://host/database?table=schema.name, sqlite:///file.db?table=name, duckdb:///file.duckdb?table=name"
)


class Database(StrEnum):
    POSTGRESQL = "postgresql"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"


@dataclass(frozen=True, repr=False)
class Address:
    """A table in a database."""

    database: Database
    target: str
    """The file; of PostgreSQL the URL for its client library, which may hold a password and is shown nowhere."""
    table: TableName

    def __str__(self) -> str:
        return f"table {quoted(str(self.table))}"

    __repr__ = __str__


def is_address(source: object) -> bool:
    """Whether a text names a table in a database rather than a file."""
    return isinstance(source, str) and bool(_SCHEME.match(source) or _VARIABLE.fullmatch(source))


def parse_address(url: str, environment: Mapping[str, str] | None = None) -> Address:
    """What the URL says; RecipeError, which does not repeat it, if that is not enough or too much."""
    variable = _VARIABLE.fullmatch(url)
    if variable is None:
        return _parse(url, may_hold_password=False)
    held = (os.environ if environment is None else environment).get(variable[1])
    if not held:
        raise RecipeError(f"The environment variable {variable[1]} is not set. It is to hold a URL: {_EXAMPLES}.")
    if not _SCHEME.match(held):
        raise RecipeError(f"The environment variable {variable[1]} does not hold the URL of a database: {_EXAMPLES}.")
    if variable[2]:
        held += ("&" if "?" in held else "?") + variable[2]
    return _parse(held, may_hold_password=True)


def _parse(url: str, *, may_hold_password: bool) -> Address:
    try:
        url.encode()
        parts = urlsplit(url)
        settings = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        secret, _ = parts.password, parts.port
    except ValueError:
        raise RecipeError(
            f"The URL of the database is not well formed. Write it as one of these: {_EXAMPLES}; odd characters as "
            "%XX, as in %3F for a question mark."
        ) from None
    if not may_hold_password and (secret or any(name in _SECRETS for name, _ in settings)):
        raise RecipeError(
            "The URL holds a password, which others could read in the list of processes, in the shell's history or "
            "in a saved script. Leave it out, and give it by ~/.pgpass, PGPASSFILE, PGSERVICE or PGPASSWORD; or put "
            "the whole URL into an environment variable and write env:NAME instead. If it was a real one, change it."
        )
    tables = [value for name, value in settings if name == "table"]
    if len(tables) != 1:
        raise RecipeError(f"The URL of a database names one table, at its end: {_EXAMPLES}.")
    table = TableName.parse(tables[0])
    others = [(name, value) for name, value in settings if name != "table"]
    if parts.scheme in ("postgresql", "postgres"):
        return Address(Database.POSTGRESQL, _for_client(parts.netloc, parts.path, others), table)
    database = Database(parts.scheme)
    if others:
        raise RecipeError(f"The URL of a {database} file takes table=NAME and nothing else. Leave the rest out.")
    if parts.netloc or not parts.path.strip("/") or parts.fragment:
        raise RecipeError(
            f"After {database}: stand three slashes and the path of a file, or four slashes if it begins at the root: "
            f"{database}:///file.db?table=name."
        )
    if database is Database.SQLITE and table.schema is not None:
        raise RecipeError('SQLite has no schemas. Write the name alone, and one with a dot in quotes: table="a.b".')
    return Address(database, unquote(parts.path[1:]), table)


def _for_client(place: str, path: str, settings: list[tuple[str, str]]) -> str:
    for name, _ in settings:
        if name not in (*_SETTINGS, *_SECRETS):
            raise RecipeError(f"The URL of the database: {unknown_name('setting', name, ('table', *_SETTINGS))}")
    given = dict(settings)
    if "connect_timeout" not in given and "PGCONNECT_TIMEOUT" not in os.environ:
        given["connect_timeout"] = "10"
    given |= {"client_encoding": "UTF8", "application_name": "lookalike"}
    return f"postgresql://{place}{path}?{urlencode(given, quote_via=quote)}"


_HELD = re.compile(r"(\w:/{0,2}[^\s:/?#]*:)\S+@")
_STATED = re.compile(r"((?:ssl)?password=)[^\s&]+", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """The text with the passwords of all URLs in it blotted out.

    >>> without_passwords("no file postgresql://ann:secret@host/db?table=t")
    'no file postgresql://ann:***@host/db?table=t'
    """
    return _STATED.sub(r"\1***", _HELD.sub(r"\1***@", text))
