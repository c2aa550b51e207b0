"""The folder that a comparison is kept in: one small file for each finished run, written whole or not at all.

    FOLDER/runs/<fingerprint>.json      the result of a run
    FOLDER/comparison.json              everything together; also the mark by which the folder is known
    FOLDER/comparison.csv, frontier.svg

A second comparison takes from it what is there. What is not readable, or was made by another version, is made again.

A fingerprint is a hash of the table's content, the schema, the recipe and the version: it tells one run from another,
and nobody learns from it what went into it. Where the table came from does not enter; a seed does only if one was
given, because runs without one are as good as each other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lookalike.data.microdata import Domain, Microdata
from lookalike.data.person_settings import PersonSettings
from lookalike.errors import RecipeError, unread_format
from lookalike.evaluation.compare.runs import AUDIT_FAILED, DONE, INFEASIBLE, UNFIT, Run, Task
from lookalike.files.atomic import cannot_write, hide_beside
from lookalike.version import __version__

KIND = "lookalike comparison"
FORMAT = 1
SUMMARY = "comparison.json"
TABLE = "comparison.csv"
PICTURE = "frontier.svg"
_RUNS = "runs"
_FINISHED = (DONE, AUDIT_FAILED, INFEASIBLE, UNFIT)


class Kept:
    """Finished runs by fingerprint, in a folder, or in none."""

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            _check(self.folder)

    def begin(self) -> None:
        """Make the folder, with its mark."""
        if self.folder is None:
            return
        try:
            (self.folder / _RUNS).mkdir(parents=True, exist_ok=True)
            if not (self.folder / SUMMARY).exists():
                self.write(SUMMARY, json.dumps({"kind": KIND, "format": FORMAT, "complete": False}) + "\n")
        except OSError as error:
            raise RecipeError(f"Cannot write to {self.folder}: {error.strerror}. Choose another folder.") from None

    def find(self, fingerprint: str) -> Run | None:
        """The run as it was kept; None if it is not there, or not whole."""
        if self.folder is None:
            return None
        try:
            content = json.loads((self.folder / _RUNS / f"{fingerprint}.json").read_text(encoding="utf-8"))
            run = Run.from_plain(content["run"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return run if content.get("fingerprint") == fingerprint and run.status in _FINISHED else None

    def keep(self, fingerprint: str, run: Run) -> None:
        """Write a finished run down. One that ended without an answer is tried again next time."""
        if self.folder is not None and run.status in _FINISHED:
            content = {"fingerprint": fingerprint, "run": run.to_plain()}
            self.write(f"{_RUNS}/{fingerprint}.json", json.dumps(content, indent=2, allow_nan=False) + "\n")

    def write(self, name: str, content: str) -> None:
        """A file that is there whole, or as it was before."""
        assert self.folder is not None
        target = self.folder / name
        try:
            with hide_beside(target) as hidden:
                part = hidden / target.name
                with part.open("w", encoding="utf-8", newline="") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, target)
        except OSError as error:
            raise cannot_write(target.parent, error) from None


def _check(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise RecipeError(f"{folder} is a file; a comparison is kept in a folder. Choose another name.")
    if all(_is_beginning(path) for path in folder.iterdir()):
        return
    summary = None
    with suppress(OSError, ValueError):
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    if not isinstance(summary, dict) or summary.get("kind") != KIND:
        raise RecipeError(f"{folder} holds something else than a comparison. Choose another name, or an empty folder.")
    if (found := summary.get("format", FORMAT)) != FORMAT:
        # What a later version keeps there must not be lost to an older one.
        raise RecipeError(unread_format(str(folder), found, (FORMAT,), summary.get("version")))


def _is_beginning(path: Path) -> bool:
    """What a comparison that was killed at once has left: no run yet, and no mark."""
    if path.name == _RUNS and path.is_dir():
        return not any(path.iterdir())
    return path.is_dir() and path.name.startswith(f".{SUMMARY}.") and path.name.endswith(".part")


_BYTES = 16


def table_fingerprint(data: Microdata, persons: PersonSettings | None = None) -> str:
    """A hash of every published value in its place, of the domains, and of what the schema says about them.

    Where persons have several rows, also of whose row each is, and of how these are published.
    """
    digest = hashlib.blake2b(digest_size=_BYTES, person=b"lookalike table")
    blocks = (
        ("quasi", data.domains.quasi, data.quasi),
        ("sensitive", data.domains.sensitive, data.sensitive),
        ("carried", data.domains.carried, data.carried),
    )
    for role, domains, codes in blocks:
        _add(digest, (role, str(codes.shape)))
        for domain in domains:
            _add(digest, _describe_domain(domain))
        digest.update(codes.astype("<i4").tobytes())
    for name, owners in (("persons", data.persons), ("individuals", data.individuals), ("visits", data.visits)):
        if owners is not None:
            _add(digest, (name, repr(persons)))
            digest.update(owners.astype("<i4").tobytes())
    return digest.hexdigest()


def run_fingerprint(table: str, task: Task) -> str:
    """A hash of one run of a table; `table` is its own fingerprint."""
    digest = hashlib.blake2b(digest_size=_BYTES, person=b"lookalike run")
    parts = [__version__, table, task.adversary, "" if task.seed is None else str(task.seed)]
    for part in (*(promise.model for promise in task.promises), task.algorithm, *task.attacks):
        parts += [f"{type(part).__module__}.{type(part).__qualname__}", str(part)]
    parts += [str(promise.column) for promise in task.promises]
    _add(digest, parts)
    return digest.hexdigest()


def _describe_domain(domain: Domain) -> list[str]:
    attribute, tree = domain.attribute, domain.taxonomy
    parts = [domain.name, str(domain.kind), str(domain.type), repr(float(attribute.weight)), str(domain.declared)]
    parts += [repr(float(domain.low)), repr(float(domain.high)), str(domain.size), str(len(domain.texts))]
    parts += domain.texts
    if tree is not None:
        parts += [*tree.labels, *map(str, tree.parents.tolist())]
    return parts


def _add(digest: hashlib.blake2b, parts: Iterable[str]) -> None:
    listed = list(parts)
    digest.update(len(listed).to_bytes(8, "big"))
    for part in listed:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
