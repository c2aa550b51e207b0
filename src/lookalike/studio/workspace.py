"""What is open in the studio: projects, each with its table, recipe and runs, in a private folder that is removed.

Everything lies in memory or in that folder. Ids are random, so that one page cannot guess another's.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookalike.adversary import READS_RELEASE
from lookalike.errors import LookalikeError
from lookalike.inspection import Inspection, inspect, suggest_schema
from lookalike.microdata import Microdata, Table
from lookalike.publication import read_columns, read_table
from lookalike.schema import Schema

MOST_PROJECTS = 20


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
    adversary: str = READS_RELEASE
    algorithm: str | None = None
    title: str = ""
    recipient: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _encoded: tuple[Schema, Microdata] | None = field(default=None, repr=False)
    _inspected: tuple[Schema, Inspection] | None = field(default=None, repr=False)

    def microdata(self) -> Microdata:
        """The table under its schema, worked out once for each schema."""
        with self.lock:
            if self._encoded is None or self._encoded[0] != self.schema:
                table = self.table if self._as_read() else read_columns(self.source, self.schema, **self.reading)
                self._encoded = self.schema, Microdata.encode(table, self.schema)
            return self._encoded[1]

    def inspection(self) -> Inspection:
        """Columns and how identifying they are, worked out once for each schema."""
        with self.lock:
            if self._inspected is None or self._inspected[0] != self.schema:
                self._inspected = self.schema, inspect(self.table, self.schema)
            return self._inspected[1]

    def _as_read(self) -> bool:
        """Whether the table in memory has the columns as the schema wants them; otherwise the file is read again."""
        types = {column.name: column.type for column in self.table.columns}
        return all(
            attribute.name in types and attribute.type in (None, types[attribute.name])
            for attribute in self.schema.published
        )


class Workspace:
    """The projects that are open."""

    def __init__(self) -> None:
        # Closed to other users of the machine, as mkdtemp makes it.
        self.folder = Path(tempfile.mkdtemp(prefix="lookalike-studio-"))
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
            if len(self._projects) >= MOST_PROJECTS:
                raise NotOpen(f"{MOST_PROJECTS} tables are open already. Close one first.")
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
            settled = schema or suggest_schema(table)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        project = Project(secrets.token_urlsafe(12), name, source, is_copy, folder, table, options, settled)
        with self._lock:
            self._projects[project.id] = project
        return project

    def close(self, id: str) -> None:
        project = self.project(id)
        with self._lock:
            del self._projects[id]
        shutil.rmtree(project.folder, ignore_errors=True)

    def remove(self) -> None:
        """Everything, when the studio ends."""
        with self._lock:
            self._projects.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
