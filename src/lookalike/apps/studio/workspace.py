"""What is open in the studio: projects, each with its table, recipe and runs, in a private folder that is removed.

Everything is in memory or in that folder. Ids are random, so that one page cannot guess another's.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.microdata import Microdata, Table
from lookalike.data.person_columns import Repeated, find_repeated
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import Schema
from lookalike.errors import DataError, LookalikeError, RecipeError
from lookalike.evaluation.inspect import Inspection, inspect, suggest_schema
from lookalike.files.tables import read_columns, read_table
from lookalike.pipeline.person_rows import keep_rows

MOST_PROJECTS = 20
MOST_COLUMNS = 500
LONGEST_NAME = 1000
"""Of a column, in characters: more than this is no header, and no page could show it."""
PREFIX = "lookalike-studio-"
_MARK = "in-use"


class NotOpen(LookalikeError):
    """A page or a script asks for something that is not there (any more)."""


@dataclass
class Project:
    """One table on its way to a release."""

    id: str
    name: str
    """What the table is called: a file's name."""
    source: Path
    """Where it lies: the user's file, or the copy of an upload."""
    is_copy: bool
    folder: Path
    table: Table
    reading: Mapping[str, Any]
    schema: Schema
    models: tuple[str, ...] = ()
    persons: PersonSettings = field(default_factory=PersonSettings)
    """How the rows of one person are published, where a column says whose rows they are."""
    adversary: str = READS_RELEASE
    algorithm: str | None = None
    title: str = ""
    recipient: str = ""
    publish_scores: bool = False
    """Whether figures scored on the original go into the report of the release folder."""
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _encoded: tuple[Schema, Microdata] | None = field(default=None, repr=False)
    _inspected: tuple[Schema, Inspection] | None = field(default=None, repr=False)
    _repeated: tuple[Schema, Repeated | None] | None = field(default=None, repr=False)
    _salt: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    def microdata(self) -> Microdata:
        """The table under its schema, worked out once for each schema."""
        with self.lock:
            if self._encoded is None or self._encoded[0] != self.schema:
                table = self.table if self._as_read() else read_columns(self.source, self.schema, **self.reading)
                self._encoded = self.schema, Microdata.encode(table, self.schema)
            return self._encoded[1]

    def selected(self) -> Microdata:
        """The rows that would be published, one way they may be drawn: what promises are tried on."""
        return keep_rows(self.microdata(), self.drawn())

    def drawn(self) -> PersonSettings:
        """The settings for persons, with a salt that rows are drawn by while the user looks. A run draws anew."""
        return replace(self.persons, salt=self._salt)

    def repeated(self) -> Repeated | None:
        """The column by which persons have several rows although nobody said so, worked out once for each schema."""
        with self.lock:
            if self._repeated is None or self._repeated[0] != self.schema:
                self._repeated = self.schema, find_repeated(self.table, self.schema)
            return self._repeated[1]

    def inspection(self) -> Inspection:
        """Columns and how identifying they are, worked out once for each schema."""
        with self.lock:
            if self._inspected is None or self._inspected[0] != self.schema:
                self._inspected = self.schema, inspect(self.table, schema=self.schema)
            return self._inspected[1]

    def _as_read(self) -> bool:
        """Whether the table in memory has the columns as the schema wants them; otherwise the file is read again."""
        types = {column.name: column.type for column in self.table.columns}
        units = (attribute for attribute in (self.schema.person, self.schema.household) if attribute is not None)
        return all(
            attribute.name in types and attribute.type in (None, types[attribute.name])
            for attribute in (*self.schema.published, *units)
        )


class Workspace:
    """The projects that are open."""

    def __init__(self) -> None:
        remove_leftovers()
        # Closed to other users of the machine, as mkdtemp makes it.
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._mark = _lock_folder(self.folder, create=True)
        self._projects: dict[str, Project] = {}
        self._lock = threading.Lock()

    def projects(self) -> list[Project]:
        with self._lock:
            return list(self._projects.values())

    def project(self, id: str) -> Project:
        with self._lock:
            if id not in self._projects:
                raise NotOpen("This table is not open (any more). Load it again.")
            return self._projects[id]

    def room(self) -> Path:
        """A new folder for a project that is about to be opened."""
        with self._lock:
            self._check_room()
        return Path(tempfile.mkdtemp(dir=self.folder))

    def open(
        self,
        source: Path,
        name: str,
        folder: Path,
        *,
        is_copy: bool = False,
        schema: Schema | None = None,
        reading: Mapping[str, Any] | None = None,
    ) -> Project:
        """Read a table and open it; a table that cannot be read leaves nothing behind."""
        options = dict(reading or {})
        try:
            table = read_table(source, **options)
            _check_header(table)
            settled = schema or suggest_schema(table)
            project = Project(secrets.token_urlsafe(12), name, source, is_copy, folder, table, options, settled)
            with self._lock:
                self._check_room()
                self._projects[project.id] = project
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return project

    def close(self, id: str) -> None:
        """From now on it is not found; its folder is still to be removed, once nothing works in it."""
        self.project(id)
        with self._lock:
            self._projects.pop(id, None)

    def _check_room(self) -> None:
        if len(self._projects) >= MOST_PROJECTS:
            raise RecipeError(f"{MOST_PROJECTS} tables are open already. Close one first.")

    def remove(self) -> None:
        """Everything, when the studio ends."""
        with self._lock:
            self._projects.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._mark is not None:
            os.close(self._mark)
            self._mark = None


def _check_header(table: Table) -> None:
    if len(table.columns) > MOST_COLUMNS:
        raise DataError(
            f"The table has {len(table.columns):,} columns; the studio shows {MOST_COLUMNS} at most. Leave out those "
            "that are not to be published, or use the command line."
        )
    longest = max((len(column.name) for column in table.columns), default=0)
    if longest > LONGEST_NAME:
        raise DataError(
            f"The name of a column has {longest:,} characters; {LONGEST_NAME:,} are allowed. Is the first line "
            "a header?"
        )


def remove_leftovers() -> None:
    """Folders of studios that were killed, or whose machine lost its power: nobody holds their mark any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            mine = folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
            mark = _lock_folder(folder, create=False) if mine else None
        except (OSError, AttributeError):
            continue
        if mark is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(mark)


def _lock_folder(folder: Path, *, create: bool) -> int | None:
    """The folder's mark, locked for as long as this process lives; None if another one holds it, or none can."""
    try:
        import fcntl
    except ImportError:
        return None
    mark = os.open(folder / _MARK, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(mark)
        return None
    return mark
