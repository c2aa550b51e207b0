"""Who is in which group of a release, without names: what the owner keeps so that later releases can be checked.

Each record is known by a digest, HMAC-SHA256 under a key that is beside the list and nowhere else: of the person's
identifier, or without a person column of the whole row and how many equal rows come before it. A second digest is of
the person's values, so that a change is seen. List and key together undo the release for someone who can guess
identifiers: they are private like the record map, and nothing of them goes into a release folder.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from lookalike.audit.reading import Ints
from lookalike.data.microdata import Codes, Column, Domain, Microdata, Table, texts_of
from lookalike.errors import AuditFailed, DataError, RecipeError, counted, quoted
from lookalike.files.releases.private import PEOPLE
from lookalike.pipeline.run import MadeWhole
from lookalike.pipeline.series.contents import CLASS, FORMS, classes_of_rows
from lookalike.untrusted import check_plain_file, read_text

_LIST, _KEY = PEOPLE
_COLUMNS = {"person": pl.String, CLASS: pl.Int64, "values": pl.String}
_DIGITS = 32


@dataclass(frozen=True, eq=False)
class People:
    """Of each record of a release: a digest of who it is, the group, and a digest of the values."""

    persons: list[str]
    groups: Ints
    """-1: left out."""
    values: list[str]

    @property
    def published(self) -> frozenset[str]:
        """The persons who were not left out."""
        return frozenset(person for person, group in zip(self.persons, self.groups.tolist(), strict=True) if group >= 0)

    def to_frame(self) -> pl.DataFrame:
        return pl.DataFrame({"person": self.persons, CLASS: self.groups, "values": self.values}, schema=_COLUMNS).sort(
            "person"
        )

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, source: str) -> People:
        if dict(frame.schema) != _COLUMNS or any(frame[name].null_count() for name in _COLUMNS):
            raise DataError(f"{source} is not as lookalike writes it: it was changed or damaged. Restore it.")
        if frame["person"].n_unique() != len(frame):
            raise DataError(f"{source} lists someone twice: it was changed. Restore it.")
        return cls(frame["person"].to_list(), frame[CLASS].to_numpy().astype(np.int64), frame["values"].to_list())


def new_key() -> str:
    return secrets.token_hex(32)


def digest(key: str, *parts: str | None) -> str:
    text = json.dumps(parts, ensure_ascii=True).encode()
    return hmac.new(bytes.fromhex(key), text, hashlib.sha256).hexdigest()[:_DIGITS]


def name_records(table: Table | None, data: Microdata) -> list[str]:
    """What each record is recognised by: the person's identifier, else the whole row."""
    unit = data.schema.person or data.schema.household
    if unit is None:
        return name_rows(data)
    if data.persons is not None:
        raise RecipeError(
            f"Persons have several rows by {quoted(unit.name)}, and releases can be checked together only with one row "
            f"per {data.schema.unit_name}. Publish one: --rows one --keep first."
        )
    if table is None or data.owners is None:
        raise RecipeError(
            f"The values of {quoted(unit.name)} are not at hand, so nobody can be recognised. Publish from a file."
        )
    column = table[unit.name]
    texts = texts_of(column.values, column.type)
    return [texts[code] for code in data.owners.tolist()]


def name_persons(column: Column) -> list[str]:
    """Each different person of a column that says whose row it is, once."""
    texts = texts_of(column.values, column.type)
    return [texts[code] for code in np.unique(column.codes).tolist() if code < len(texts)]


def name_rows(data: Microdata) -> list[str]:
    """Whole rows as text, columns by name; equal rows are numbered in their order."""
    columns = {
        domain.name: _texts(domain, codes)
        for domains, block in (
            (data.domains.quasi, data.quasi),
            (data.domains.sensitive, data.sensitive),
            (data.domains.carried, data.carried),
        )
        for domain, codes in zip(domains, block.T, strict=True)
    }
    seen: Counter[str] = Counter()
    named = []
    for row in zip(*(columns[name] for name in sorted(columns)), strict=True):
        text = json.dumps(row)
        seen[text] += 1
        named.append(f"{text} {seen[text]}")
    return named


def _texts(domain: Domain, codes: Codes) -> list[str | None]:
    texts: list[str | None] = [*domain.texts]
    if domain.has_missing:
        texts[domain.missing_code] = None
    return [texts[code] for code in codes.tolist()]


def list_people(names: Sequence[str], data: Microdata, groups: Ints, key: str) -> People:
    """The list of one release; `groups` has the group of each record, -1 where it was left out."""
    persons = [digest(key, "person", name) for name in names]
    columns = sorted(
        (domain.name, _texts(domain, codes))
        for domains, block in ((data.domains.sensitive, data.sensitive), (data.domains.carried, data.carried))
        for domain, codes in zip(domains, block.T, strict=True)
    )
    values = [
        digest(key, "values", person, *(part for name, texts in columns for part in (name, texts[row])))
        for row, person in enumerate(persons)
    ]
    return People(persons, groups, values)


def groups_of_records(class_of_row: Ints, record_of_row: Ints, n_records: int) -> Ints:
    """The group of each record by the private record map; -1: not published."""
    groups = np.full(n_records, -1, dtype=np.int64)
    real = record_of_row >= 0
    groups[record_of_row[real]] = class_of_row[real]
    return groups


def read_people(folder: Path) -> tuple[People, str] | None:
    """The list in a PRIVATE folder, and its key; None if there is none."""
    if not (folder / _LIST).exists():
        return None
    return People.from_frame(read_frame(folder / _LIST), str(folder / _LIST)), read_key(folder / _KEY)


def read_key(path: Path) -> str:
    try:
        key = read_text(path, "ascii").strip()
        if len(bytes.fromhex(key)) != 32:
            raise ValueError
    except (OSError, ValueError):
        raise DataError(f"Cannot read the key {path}. Without it nobody is recognised again: restore it.") from None
    return key


def read_frame(path: Path) -> pl.DataFrame:
    try:
        check_plain_file(path)
        return pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = getattr(error, "strerror", None) or "it is no Parquet file"
        raise DataError(f"Cannot read {path}: {reason}. Restore it.") from None


def find_names(table: Table, data: Microdata) -> list[str] | None:
    """The person of each record; None without a person column, or where persons have several rows."""
    if data.owners is None or data.persons is not None:
        return None
    return name_records(table, data)


def private_files(made: MadeWhole, names: Sequence[str]) -> dict[str, bytes]:
    """The list and its key as files of the PRIVATE folder; none for releases that are not read together with others."""
    if made.form not in FORMS:
        return {}
    class_of_row = classes_of_rows(made.release, made.data)
    groups = groups_of_records(class_of_row, made.record_map.record_of_row, made.data.n_rows)
    key, written = new_key(), io.BytesIO()
    list_people(names, made.data, groups, key).to_frame().write_parquet(written, compression="zstd")
    return {_LIST: written.getvalue(), _KEY: f"{key}\n".encode()}


def count_again(earlier: Collection[str], now: Sequence[str], what: str) -> str:
    """How many people were found again, for the owner: numbers that are written in another way find nobody."""
    n_known = len({*earlier} & {*now})
    if n_known:
        return f"{n_known:,} of {counted(len(now), 'person')} were in {what} before (for internal use only)."
    return (
        f"Nobody in the new table was in {what}. If this is wrong, the numbers of persons are written differently "
        "there, and people who are in both are not protected together: write the numbers alike, with leading zeros."
    )


def count_changes(earlier: People, now: People) -> int:
    """How many persons of both releases have other values now."""
    before = dict(zip(earlier.persons, earlier.values, strict=True))
    return sum(before.get(person, values) != values for person, values in zip(now.persons, now.values, strict=True))


def refuse_changes(n_changed: int, what: str) -> None:
    """Raise `AuditFailed` if someone's values have changed since an earlier release."""
    if n_changed:
        raise AuditFailed(
            f"The values of {counted(n_changed, 'person')} have changed since {what}; nothing is written. Someone who "
            "reads both releases sees which values changed. Publish the earlier values again, leave these persons out, "
            "or publish everybody from the first release on in a series with --mode m-invariant, which takes "
            "corrections."
        )
