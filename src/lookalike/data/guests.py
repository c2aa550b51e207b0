"""Guests: files and modules from outside that register models, methods, attacks, metrics and formats when imported.

The environment variable LOOKALIKE_EXTEND names them, parted by commas: modules, or files that end in .py. The command
line, the studio and every process that they start import them first, so a guest is known wherever the work is done.
Whoever may set it may run code, as with PYTHONPATH.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from lookalike.errors import RecipeError

NAMED = "LOOKALIKE_EXTEND"


def load_guests() -> None:
    """Import every module and file that the environment names; one that is here already is not imported again."""
    for name in filter(None, map(str.strip, os.environ.get(NAMED, "").split(","))):
        try:
            _load(name)
        except Exception as error:
            raise RecipeError(
                f"{NAMED} names {name}, which cannot be imported ({type(error).__name__}: {error}). Correct it, or "
                "leave it out."
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
