"""A protocol of attacks: what was tried on a release, by whom with which knowledge, so that anybody can try it again.

It names the attacks with their parameters and the seed, and by digests the release, the original and the control group
that they were made on. Its figures are scored on the original, so the file is for internal use only. It holds no record
and no value of one.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from lookalike.attacks.run import Attacks
from lookalike.data.contracts import Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import ExactCells, NumberCells, PublishedTable, Ranges, Release
from lookalike.errors import DataError, counted, unread_format
from lookalike.files.atomic import place_file
from lookalike.untrusted import BadYaml, load_yaml, read_text
from lookalike.version import __version__

_FORMAT = 1
_INTERNAL = "For internal use only: the figures are scored on the original."


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What was tried on a release, and what it achieved."""

    what_was_tried: str
    """In one paragraph."""
    date: str
    version: str
    seed: int
    attacks: tuple[str, ...]
    """As one writes them, those that could not be made as well."""
    release: str
    """Digests of the published rows, the original's and the control group's."""
    original: str
    control: str | None
    results: tuple[Mapping[str, Any], ...]
    not_made: Mapping[str, str]

    @classmethod
    def of(cls, found: Attacks, target: Target, seed: int) -> Protocol:
        """Of attacks that were just made."""
        results = []
        for attacked in found.made:
            plain = attacked.to_plain()
            names = ("attack", "column", "n", "right", "control_n", "control_right", "baseline", "kind")
            results.append({name: plain[name] for name in names})
        made = tuple(dict.fromkeys(attacked.finding.attack for attacked in found.made))
        return cls(
            what_was_tried=_describe(found, target),
            date=datetime.date.today().isoformat(),
            version=__version__,
            seed=seed,
            attacks=(*made, *(name for name in found.not_made if name not in made)),
            release=_digest_release(target.release),
            original=_digest_table(target.original),
            control=None if target.control is None else _digest_table(target.control),
            results=tuple(results),
            not_made=dict(found.not_made),
        )

    def write(self, path: Path) -> None:
        """As YAML; the file must not exist."""
        plain = {"protocol": _FORMAT, "note": _INTERNAL, **asdict(self)}
        plain |= {"attacks": list(self.attacks), "results": [dict(one) for one in self.results]}
        text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)
        with place_file(path) as building:
            building.write_bytes(text.encode())

    def compare(self, today: Protocol) -> tuple[str, ...]:
        """What to say of the same attacks made again."""
        said = []
        for name, what in (("release", "release"), ("original", "original"), ("control", "control group")):
            if getattr(self, name) != getattr(today, name):
                said.append(f"The {what} is not the one of {self.date}.")
        if self.version != today.version:
            said.append(f"Version {self.version} of lookalike made these attacks on {self.date}, not this one.")
        differing = [one["attack"] for one in today.results if one not in self.results]
        again = f"The attacks of {self.date} were made again with the same seed"
        if not differing and len(self.results) == len(today.results):
            return (*said, f"{again}: the figures are the same.")
        return (*said, f"{again}, and {', '.join(dict.fromkeys(differing)) or 'other attacks'} give other figures.")


def _describe(found: Attacks, target: Target) -> str:
    """The line "what was tried" of the headline: attackers, guesses, knowledge, control group."""
    names = [*dict.fromkeys(attacked.finding.attack.partition(":")[0] for attacked in found.made)]
    guesses = sum(0 if attacked.finding.score is None else attacked.finding.score.n_guesses for attacked in found.made)
    known = ", ".join(domain.name for domain in target.original.domains.quasi)
    control = (
        "no control group"
        if target.control is None
        else f"a control group of {counted(target.control.n_persons, 'person')} who are not in the table"
    )
    return (
        f"{counted(len(names), 'attacker')} ({', '.join(names)}) made {counted(guesses, 'guess', 'guesses')}, knowing "
        f"{known} of each person and the release, with {control}; lookalike {__version__}."
    )


def read_protocol(path: Path) -> Protocol | None:
    """The protocol in a file; None if there is no file."""
    if not path.exists():
        return None
    try:
        plain = load_yaml(read_text(path))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}. Name another file.") from None
    except (UnicodeDecodeError, BadYaml) as error:
        place = error.place if isinstance(error, BadYaml) else ""
        raise DataError(f"{path} is no YAML{place}. Name a new file to have a protocol written.") from None
    if not isinstance(plain, dict) or "protocol" not in plain:
        raise DataError(f"{path} is no protocol of attacks. Name a new file to have one written.")
    if plain["protocol"] != _FORMAT:
        raise DataError(unread_format(str(path), plain["protocol"], (_FORMAT,), plain.get("version")))
    known = {field.name: plain.get(field.name) for field in fields(Protocol)}
    attacks, seed, results = known["attacks"], known["seed"], known["results"]
    if (
        not isinstance(attacks, list)
        or not all(isinstance(one, str) for one in attacks)
        or not isinstance(seed, int)
        or not isinstance(results, list)
    ):
        raise DataError(f"{path} is not as lookalike writes protocols. It was changed: name another file.")
    kept: dict[str, Any] = {**known, "attacks": tuple(attacks), "results": tuple(results)}
    return Protocol(**kept)


def _digest_table(data: Microdata) -> str:
    """Of codes and of what they mean; rows in any order."""
    digest = hashlib.sha256()
    for domain in data.domains.all:
        digest.update(repr((domain.name, domain.texts)).encode())
    rows = sorted(row.tobytes() for row in _rows_of(data))
    for row in rows:
        digest.update(row)
    return digest.hexdigest()


def _rows_of(data: Microdata) -> Any:
    return np.hstack([data.quasi, data.sensitive, data.carried])


def _digest_release(release: Release) -> str:
    """Of what is published."""
    digest = hashlib.sha256()
    for table in release.tables():
        digest.update(_bytes_of(table))
    return digest.hexdigest()


def _bytes_of(table: PublishedTable) -> bytes:
    parts = [table.name.encode()]
    for cells in table.columns:
        if isinstance(cells, NumberCells):
            parts.append(cells.numbers.tobytes())
        elif isinstance(cells, ExactCells):
            parts.append(cells.codes.tobytes())
        elif isinstance(cells.extents, Ranges):
            parts += [cells.extents.low_points.tobytes(), cells.extents.high_points.tobytes()]
            parts.append(cells.unit_of_row.tobytes())
        else:
            parts += [cells.extents.starts.tobytes(), cells.extents.members.tobytes(), cells.unit_of_row.tobytes()]
    return b"".join(parts)
