"""Families: models, algorithms, attacks and metrics by name, both this package's own and guests.

A guest is a class from a file outside this package. The environment variable LOOKALIKE_EXTEND lists such files,
separated by commas: modules, or paths that end in .py. The command line, the studio and every process they start import
them first, so every process knows the guests. Anyone who can set the variable can run code, as with PYTHONPATH.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, MutableMapping
from pathlib import Path
from typing import TypeVar

from lookalike.errors import RecipeError

NAMED = "LOOKALIKE_EXTEND"
_Member = TypeVar("_Member")


class Family(MutableMapping[str, type[_Member]]):
    """The classes of a family by the name that users write. Each is loaded from the file of its name on first use."""

    def __init__(self, package: str, *names: str) -> None:
        self._files = {name: f"{package}.{name.replace('-', '_')}" for name in names}
        self._kinds: dict[str, type[_Member] | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> type[_Member]:
        kind = self._kinds[name]
        if kind is None:
            members = vars(importlib.import_module(self._files[name])).values()
            kind = next(one for one in members if isinstance(one, type) and getattr(one, "name", None) == name)
            self._kinds[name] = kind
        return kind

    def __setitem__(self, name: str, kind: type[_Member]) -> None:
        self._kinds[name] = kind

    def __delitem__(self, name: str) -> None:
        del self._kinds[name]

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def guests(self) -> list[type[_Member]]:
        """Those that no file of the package holds."""
        return [kind for name, kind in self._kinds.items() if kind is not None and name not in self._files]


def load_guests() -> None:
    """Import every module and file that the environment names; one that is here already is not imported again."""
    for name in filter(None, map(str.strip, os.environ.get(NAMED, "").split(","))):
        try:
            _load(name)
        except Exception as error:
            raise RecipeError(
                f"{NAMED} names {name}, which cannot be imported ({type(error).__name__}: {error}). Fix the name or "
                "the file, or remove it from the list."
            ) from error


def known_elsewhere(kinds: Iterable[type]) -> bool:
    """Whether a process that loads the same guests knows these classes: whether none was registered by hand."""
    named = {_module(name.strip()) for name in os.environ.get(NAMED, "").split(",")}
    return all(kind.__module__.partition(".")[0] in {"lookalike", *named} for kind in kinds)


def _module(name: str) -> str:
    return Path(name).stem if name.endswith(".py") else name.partition(".")[0]


def _load(name: str) -> None:
    if not name.endswith(".py"):
        importlib.import_module(name)
        return
    if _module(name) in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(_module(name), name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Before it runs: what it defines is found under this name by processes that are sent some of it.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
