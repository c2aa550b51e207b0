"""Where the ledgers of this machine's user lie, and whether people of a new table are in one of them.

A list of paths in the user's state folder ($XDG_STATE_HOME/lookalike/series.json, else ~/.local/state), for its owner
alone. It holds no key and no digest: those lie in the ledgers. Ledgers beside the output folder are looked at too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from lookalike.data.microdata import Microdata, Table
from lookalike.errors import LookalikeError, RecipeError, counted, quoted
from lookalike.pipeline.series.ledger import MARKER, Ledger, count_known, describe_ledger, ledger_folder, read_ledger
from lookalike.pipeline.series.people import digest, name_persons, name_rows
from lookalike.untrusted import load_json, read_text

_WARN_FROM = Fraction(1, 5)
_MOST = 1_000


def _state_file() -> Path:
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if given and Path(given).is_absolute() else Path.home() / ".local" / "state"
    return base / "lookalike" / "series.json"


def _list_ledgers(beside: Path | None = None) -> list[Path]:
    """The folders of all known ledgers that are there."""
    listed = [Path(path) for path in _read_paths()]
    if beside is not None and beside.is_dir():
        with suppress(OSError):
            listed += sorted(path.parent for path in beside.glob(f"* SERIES PRIVATE/{MARKER}"))
    found = {os.path.realpath(path): path for path in listed if (path / MARKER).is_file()}
    return list(found.values())


def _read_paths() -> list[str]:
    try:
        listed = load_json(read_text(_state_file()))["ledgers"]
        return [path for path in listed if isinstance(path, str) and Path(path).is_absolute()]
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return []


def register(folder: Path) -> str | None:
    """Add a ledger to the list; a sentence if that cannot be done."""
    path = os.path.realpath(folder)
    try:
        target = _state_file()
        paths = _read_paths()
        if path in paths:
            return None
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        draft.write_text(json.dumps({"ledgers": [path, *paths][:_MOST]}, indent=2) + "\n", encoding="utf-8")
        draft.chmod(0o600)
        os.replace(draft, target)
    except (OSError, RuntimeError):
        return (
            "The place of the ledger could not be noted for this user, so a later publish of the same people without "
            "--series will not warn unless it writes beside the ledger."
        )
    return None


def find_ledger(name: str | Path, parent: Path | None) -> Path:
    """The folder of a series' ledger: a path as given, beside the output folder, where it was last, or a new one."""
    text = str(name)
    if (os.sep in text or "/" in text) and (Path(text) / MARKER).is_file():
        return Path(text)
    if os.sep in text or "/" in text:
        raise RecipeError(f"There is no ledger of a series in {text}. Name the series, or the folder of its ledger.")
    if parent is None:
        raise RecipeError("A series keeps its ledger beside the release. Say where that goes: out=FOLDER.")
    own = ledger_folder(parent, text)
    if (own / MARKER).is_file():
        return own
    others = [Path(path) for path in _read_paths() if Path(path).name == own.name]
    there = [path for path in others if (path / MARKER).is_file()]
    if len(there) == 1:
        return there[0]
    if len(there) > 1:
        raise RecipeError(
            f"There are {len(there)} series called {quoted(text)}. Name the folder of the ledger instead: --series "
            f"{quoted(str(there[0]))}."
        )
    if others and any(os.path.realpath(path) != os.path.realpath(own) for path in others):
        raise RecipeError(
            f"The ledger of the series {quoted(text)} was at {others[0]} and is not there any more. Put it back, or "
            "name the folder where it is now (--series FOLDER). For another series use another name."
        )
    if others:
        raise RecipeError(
            f"The ledger of the series {quoted(text)} was at {own} and is gone. Put it back: without it nobody knows "
            "what was published of these people. For another series use another name."
        )
    return own


def warn_of_known(goes_to: str | Path | None, table: Table, data: Microdata) -> tuple[str, ...]:
    """What to say about a table whose people, or rows, are in a ledger, when it is published without a series.

    People are looked for by the column that the ledger recognises them by, whatever role it has in this table and
    however many rows a person has, and by the one that says whose row it is. Otherwise whole rows are compared.
    """
    ledgers = _list_ledgers(None if goes_to is None else Path(goes_to).absolute().parent)
    rows = name_rows(data) if ledgers else []
    said: list[str] = []
    for folder in ledgers:
        try:
            ledger = read_ledger(folder)
        except LookalikeError:
            said.append(f"The ledger in {folder} cannot be read, so nobody knows whether these people are in it.")
            continue
        n_known, n_all, noun = _look_for(ledger, table, data, rows)
        if n_known and Fraction(n_known, n_all) >= _WARN_FROM:
            said.append(
                f"WARNING: {n_known:,} of {counted(n_all, noun)} ({n_known / n_all:.0%}) are in the "
                f"{describe_ledger(ledger)}. Two releases of the same people, read together, can reveal what each of "
                f"them hides. Publish with --series {quoted(ledger.name)} to have them checked together."
            )
    return tuple(said)


def _look_for(ledger: Ledger, table: Table, data: Microdata, rows: Sequence[str]) -> tuple[int, int, str]:
    """How many people of the table are in the ledger, of how many; of its rows, where no column tells people."""
    unit = data.schema.person or data.schema.household
    columns = [ledger.recognised_by, "" if unit is None else unit.name] if ledger.recognised_by else []
    found = []
    for column in dict.fromkeys(name for name in columns if name in table.names):
        names = name_persons(table[column])
        digests = [digest(ledger.key, "person", name) for name in names]
        found.append((count_known(ledger, "person", digests), len(names), "person"))
    if found:
        return max(found)
    digests = [digest(ledger.key, "row", row) for row in rows]
    return count_known(ledger, "row", digests), len(rows), "record"
