"""lookalike: publish tables about people so that nobody can be singled out, and prove it.

    import lookalike as la
    la.publish("patients.csv", qi=["age", "sex", "zip"], sensitive="diagnosis", model=la.BetaLikeness(2)).write("out")

Everything a user needs stands here; what is below is named after what it does.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from lookalike.version import __version__ as __version__


def _read_homes() -> dict[str, str]:
    """Where each public name is, from the stub: so the names are listed once, for people, type checkers and Python."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


# Loaded when first used, so that `import lookalike` and `lookalike --help` answer at once.
_HOMES = _read_homes()
__all__ = sorted(name for name in _HOMES if name != "spark")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    home = _HOMES[name]
    found = import_module(f"{home}.{name}") if home == "lookalike" else getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
