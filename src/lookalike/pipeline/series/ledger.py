"""The private ledger of a series: the releases made so far, their groups, and who was in which of them, by digests.

    NAME SERIES PRIVATE/   series.json      mode, digest of the schema, the releases with promises and digests, a seal
                           series.key       the key of the digests of people, which lies nowhere else
                           people.parquet   release, person, group, digests of values and row, signature
                           contents.parquet release, group, values and their numbers of rows: what was published

The folder is replaced as a whole or not at all, and closed to others. A release is entered before it appears
(`pending`) and confirmed after; a run that was interrupted in between is settled by looking at the folder. What the
ledger knows of a release stays when its folder is deleted: what was handed over cannot be taken back.

The seal is a digest, under the key, of all that series.json says and of the two tables, so an edited file, a shortened
list of releases, weaker promises or another key are refused. It withstands mistakes and not someone who makes a new
seal: the key is beside it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from lookalike import models
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.series_modes import MODES
from lookalike.errors import DataError, LookalikeError, RecipeError, counted, quoted, unread_format
from lookalike.files.atomic import check_target, place_folder
from lookalike.files.releases.write import write_parquet
from lookalike.pipeline.series.contents import CLASS, Contents, read_contents
from lookalike.pipeline.series.people import People, digest, new_key, read_frame, read_key
from lookalike.untrusted import load_json, read_text

MARKER, _KEY, _PEOPLE, _CONTENTS = "series.json", "series.key", "people.parquet", "contents.parquet"
_FORMAT = 1
_ENDING = " SERIES PRIVATE"
_LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A release of the series."""

    number: int
    folder: str
    """Where it was written: beside the ledger if it does not begin with a slash."""
    digest: str
    """Of its files; empty while it is being written."""
    before: str
    """While it is being written: the digest of what lay there before."""
    form: str
    promises: tuple[tuple[str, str | None], ...]
    sensitive: tuple[str, ...]
    carried: tuple[str, ...]
    made_up: tuple[tuple[int, int], ...] = ()

    @property
    def is_pending(self) -> bool:
        return not self.digest

    @property
    def name(self) -> str:
        return f"release {self.number} ({Path(self.folder).name})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Ledger:
    """A series as its ledger has it."""

    name: str
    folder: Path
    mode: str
    schema: str
    recognised_by: str
    """The person column; empty: whole rows."""
    key: str
    entries: tuple[Entry, ...]
    people: pl.DataFrame
    contents: pl.DataFrame
    extra: dict[str, Any]
    """What a mode keeps besides."""

    @classmethod
    def new(cls, name: str, folder: Path, mode: str, data: Microdata) -> Ledger:
        unit = data.schema.person or data.schema.household
        return cls(
            name=name,
            folder=folder,
            mode=mode,
            schema=digest_schema(data),
            recognised_by="" if unit is None else unit.name,
            key=new_key(),
            entries=(),
            people=pl.DataFrame(schema=_PEOPLE_COLUMNS),
            contents=pl.DataFrame(),
            extra={},
        )

    def contents_of(self, entry: Entry) -> Contents:
        frame = self.contents.filter(pl.col("release") == entry.number).drop("release")
        return Contents(
            form=entry.form,
            promises=tuple(Promise(models.parse_model(text), column) for text, column in entry.promises),
            sensitive=entry.sensitive,
            carried=entry.carried,
            frame=frame,
            made_up=dict(entry.made_up),
        )

    def people_of(self, entry: Entry) -> People:
        frame = self.people.filter(pl.col("release") == entry.number).select("person", CLASS, "values")
        return People.from_frame(frame, str(self.folder / _PEOPLE))

    @property
    def persons(self) -> frozenset[str]:
        """Digests of everybody who was published in some release."""
        return frozenset(self.people.filter(pl.col(CLASS) >= 0)["person"])

    @property
    def has_pending(self) -> bool:
        """Whether the last release was entered and not confirmed."""
        return bool(self.entries) and self.entries[-1].is_pending

    def place_of(self, entry: Entry) -> Path:
        """Where the release lies, or lay."""
        return self.folder.parent / entry.folder

    def with_entry(self, entry: Entry, contents: Contents, people: People, rows: Sequence[str]) -> Ledger:
        """The ledger with one more release; `rows` are digests of whole rows."""
        numbered = pl.lit(entry.number, dtype=pl.Int64).alias("release")
        listed = pl.DataFrame(
            {"person": people.persons, CLASS: people.groups, "values": people.values, "row": list(rows)}
        ).select(numbered, pl.all())
        shown = contents.frame.select(numbered, pl.all())
        return replace(
            self,
            entries=(*self.entries, entry),
            people=pl.concat([self.people, listed.cast(_PEOPLE_COLUMNS)]).sort("release", "person"),  # type: ignore[arg-type]
            contents=pl.concat([self.contents, shown]) if len(self.contents) else shown,
        )

    def without(self, entry: Entry) -> Ledger:
        other = pl.col("release") != entry.number
        contents = self.contents.filter(other) if len(self.contents) else self.contents
        entries = tuple(one for one in self.entries if one.number != entry.number)
        return replace(self, entries=entries, people=self.people.filter(other), contents=contents)

    def confirmed(self, digest: str) -> Ledger:
        last = replace(self.entries[-1], digest=digest, before="")
        return replace(self, entries=(*self.entries[:-1], last))

    def write(self) -> None:
        """Replace the ledger's folder; an interruption leaves the old one."""
        with place_folder(self.folder, marker=MARKER, overwrite=True) as building:
            building.chmod(0o700)
            write_parquet(self.people, building / _PEOPLE)
            write_parquet(self.contents, building / _CONTENTS)
            (building / _KEY).write_text(f"{self.key}\n", encoding="ascii")
            (building / "README.txt").write_text(_README, encoding="utf-8")
            files = sorted([MARKER, *(path.name for path in building.iterdir())])
            block = {
                "series": _FORMAT,
                "files": files,
                "name": self.name,
                "mode": self.mode,
                "schema": self.schema,
                "recognised_by": self.recognised_by,
                "releases": [asdict(entry) for entry in self.entries],
                "extra": self.extra,
                "digests": {name: _digest_file(building / name) for name in (_PEOPLE, _CONTENTS)},
            }
            block["seal"] = _seal(self.key, block)
            (building / MARKER).write_text(json.dumps({"lookalike": block}, indent=2) + "\n", encoding="utf-8")
            for path in building.iterdir():
                path.chmod(0o600)


_PEOPLE_COLUMNS = {
    "release": pl.Int64,
    "person": pl.String,
    CLASS: pl.Int64,
    "values": pl.String,
    "row": pl.String,
}
_README = """For internal use only. DO NOT GIVE THIS FOLDER AWAY.

Do not delete it either while releases of these people may follow. It is the ledger of a series of releases about the
same people: which releases were made, and which person, by a digest, was in which group. Together with the key beside
it, it undoes the releases for someone who can guess identifiers.
"""


def ledger_folder(parent: Path, name: str) -> Path:
    """Where the ledger of a series lies: beside the folders of its releases."""
    if (
        not name
        or len(name) > _LONGEST_NAME
        or not name.isprintable()
        or set(name) & set('/\\:*?"<>|')
        or name[0] == "."
    ):
        raise RecipeError(
            f"{quoted(name)} cannot be the name of a series. Use up to {_LONGEST_NAME} letters, digits, spaces and "
            "dashes (--series NAME)."
        )
    return parent / f"{name}{_ENDING}"


def digest_schema(data: Microdata) -> str:
    """Of the columns, their roles and kinds: what has to stay the same in a series."""
    unit = data.schema.person or data.schema.household
    columns = [(domain.name, str(domain.attribute.role), str(domain.kind)) for domain in data.domains.all]
    text = json.dumps([sorted(columns), None if unit is None else unit.name])
    return hashlib.sha256(text.encode()).hexdigest()


def read_ledger(folder: Path) -> Ledger:
    """A ledger from its folder; DataError if it is damaged or was changed."""
    marker = folder / MARKER
    broken = DataError(f"{marker} is not as lookalike writes it. The ledger was changed or damaged: restore it.")
    try:
        block = load_json(read_text(marker))["lookalike"]
    except OSError as error:
        raise DataError(f"Cannot read {marker}: {error.strerror}. Restore the ledger of the series.") from None
    except (ValueError, KeyError, TypeError):
        raise broken from None
    if not isinstance(block, dict) or block.get("series") != _FORMAT:
        found = block.get("series") if isinstance(block, dict) else None
        raise DataError(unread_format(str(marker), found, (_FORMAT,)))
    people, contents = read_frame(folder / _PEOPLE), read_frame(folder / _CONTENTS)
    try:
        digests = {str(name): str(digest) for name, digest in block["digests"].items()}
        ledger = Ledger(
            name=str(block["name"]),
            folder=folder,
            mode=str(block["mode"]),
            schema=str(block["schema"]),
            recognised_by=str(block["recognised_by"]),
            key=read_key(folder / _KEY),
            entries=tuple(_entry_of(one) for one in block["releases"]),
            people=people,
            contents=contents,
            extra=dict(block["extra"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise broken from None
    numbers = [entry.number for entry in ledger.entries]
    for name in (_PEOPLE, _CONTENTS):
        if digests.get(name) != _digest_file(folder / name):
            raise DataError(f"{folder / name} was changed since it was written. Restore the ledger of the series.")
    if block.get("seal") != _seal(ledger.key, block):
        raise DataError(
            f"{marker} or {_KEY} beside it was changed since it was written. Restore the ledger of the series."
        )
    if dict(people.schema) != _PEOPLE_COLUMNS or numbers != sorted(set(numbers)) or ledger.mode not in MODES:
        raise broken
    return ledger


def _entry_of(plain: dict[str, Any]) -> Entry:
    return Entry(
        number=int(plain["number"]),
        folder=str(plain["folder"]),
        digest=str(plain["digest"]),
        before=str(plain["before"]),
        form=str(plain["form"]),
        promises=tuple((str(text), None if column is None else str(column)) for text, column in plain["promises"]),
        sensitive=tuple(map(str, plain["sensitive"])),
        carried=tuple(map(str, plain["carried"])),
        made_up=tuple((int(group), int(count)) for group, count in plain["made_up"]),
    )


def _seal(key: str, block: dict[str, Any]) -> str:
    """A digest under the key of all that the marker says, the digests of the tables included."""
    said = {name: value for name, value in block.items() if name != "seal"}
    return digest(key, "ledger", json.dumps(said, sort_keys=True))


def _digest_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_release(folder: Path) -> str:
    """Of the tables of a release and what describes them; reports may be printed again. Empty if there is none."""
    names = ("*.parquet", "*.csv", "datapackage.json", "schema.yaml")
    files = sorted(path for name in names for path in folder.glob(name) if path.is_file())
    parts = [f"{path.name} {_digest_file(path)}" for path in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest() if parts else ""


def settle_pending(ledger: Ledger) -> tuple[Ledger, str | None]:
    """The ledger after an interrupted run: the release counts if it appeared, and is taken out if it did not."""
    if not ledger.has_pending:
        return ledger, None
    entry = ledger.entries[-1]
    place = ledger.place_of(entry)
    found = digest_release(place)
    if found == entry.before:
        return ledger.without(
            entry
        ), f"An interrupted run had entered {entry.name}, which never appeared; it is taken out."
    with suppress(LookalikeError):
        shown, _, _ = read_contents(place)
        order = list(shown.frame.columns)
        if shown.frame.sort(order).equals(ledger.contents_of(entry).frame.select(order).sort(order)):
            return ledger.confirmed(found), f"An interrupted run had written {entry.name}; it is now confirmed."
    raise DataError(
        f"A run that published {entry.name} was interrupted, and {place} is not what it was writing. Move that folder "
        "away if nobody was given it, and run again; otherwise restore it."
    )


def check_folders(ledger: Ledger) -> list[str]:
    """Refuse releases that were edited; sentences about those whose folders are gone."""
    said = []
    for entry in ledger.entries:
        found = digest_release(ledger.place_of(entry))
        if not found:
            said.append(
                f"The folder of {entry.name} is not at {ledger.place_of(entry)} any more. The ledger knows what it "
                "published, and what was handed over still counts."
            )
        elif found != entry.digest:
            raise DataError(
                f"{entry.name} of the series was edited: {ledger.place_of(entry)} is not what was published. Restore "
                "its files; what is checked must be what was handed over."
            )
    return said


@contextmanager
def hold_lock(parent: Path) -> Iterator[None]:
    """Let one run at a time publish in the series whose ledgers lie in a folder."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(parent, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecipeError(
                f"Another run is publishing a series in {parent}. Wait until it has finished, and run again."
            ) from None
        except OSError:
            pass
        yield
    finally:
        os.close(descriptor)


def check_writable(folder: Path) -> None:
    """Refuse, before any work is done, a place where no ledger can be written."""
    check_target(folder, marker=MARKER, overwrite=True)


def count_known(ledger: Ledger, column: str, digests: Sequence[str]) -> int:
    """How many of these digests, of persons or of rows, the ledger has."""
    known = set(ledger.people[column].to_list())
    return sum(one in known for one in digests)


def describe_ledger(ledger: Ledger) -> str:
    return f"series {quoted(ledger.name)} ({ledger.mode}, {counted(len(ledger.entries), 'release')} so far)"
