"""Writes docs/api.md from the public names: `python docs/make_api_reference.py`.

Signatures, texts and fields come from the code, examples from api_examples.py beside this file. `tests/docs` compares
the page with `reference()`, and runs its examples.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import lookalike

sys.path.insert(0, str(Path(__file__).parent))
from api_examples import EXAMPLES, GROUPS

PAGE = Path(__file__).parent / "api.md"
_OPENING = """# API reference

Every public name, with an example that runs. This page is made from the code by `docs/make_api_reference.py`; do not
edit it by hand. [Python](python.md) explains the same names by task.
"""


def reference() -> str:
    """The whole page."""
    named = [name for names in GROUPS.values() for name in names]
    if sorted(named) != sorted(lookalike.__all__) or set(named) != set(EXAMPLES):
        raise ValueError(f"api_examples.py: {sorted(set(named) ^ set(lookalike.__all__) | set(named) ^ set(EXAMPLES))}")
    parts = [_OPENING]
    for group, names in GROUPS.items():
        parts.append(f"## {group}\n")
        parts.extend(line for name in names for line in _entry(name))
    return "\n".join(parts)


def _entry(name: str) -> Iterator[str]:
    found = getattr(lookalike, name)
    yield f"### {name.strip('_')}\n"
    if isinstance(found, str):
        yield "The version of the package, as text.\n"
    else:
        yield _described(inspect.getdoc(found) or "") + "\n"
        if inspect.isfunction(found):
            yield f"```text\n{_signature(name, found)}\n```\n"
        else:
            yield from _members(found)
    yield f"```python\n{EXAMPLES[name].strip()}\n```\n"


def _described(text: str) -> str:
    """The words of a docstring, without its examples."""
    paragraphs = [
        " ".join(part.split()) for part in re.split(r"\n\s*\n", text) if not part.lstrip().startswith((">>>", "..."))
    ]
    return "\n\n".join(_wrapped(part.partition(" >>> ")[0]) for part in paragraphs if part)


def _wrapped(words: str) -> str:
    # A line must not begin like an item of a list.
    return "\n".join(textwrap.wrap(words, 120, break_long_words=False, break_on_hyphens=False)).replace("\n- ", " -\n")


def _signature(name: str, function: Any) -> str:
    """As it is called, wrapped; types are in the code."""
    words, starred = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        sign = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        default = parameter.default
        plain = default is None or isinstance(default, str | int | float | tuple)
        said = "" if default is parameter.empty else f"={default!r}" if plain else "=..."
        words.append(f"{sign}{parameter.name}{said}")
    indent = " " * (len(name) + 1)
    return "\n".join(
        textwrap.wrap(f"{name}({', '.join(words)})", 100, subsequent_indent=indent, break_long_words=False)
    )


def _members(kind: type) -> Iterator[str]:
    """A table of what a class has: values of an enumeration, fields, then properties and methods."""
    if issubclass(kind, Enum):
        yield "| value | written |\n|---|---|\n" + "".join(f"| `{one.name}` | `{one.value}` |\n" for one in kind)
        return
    rows = [f"| `{name}` | {said} |\n" for name, said in (*_fields(kind), *_methods(kind))]
    if rows:
        yield "| attribute | meaning |\n|---|---|\n" + "".join(rows)


def _fields(kind: type) -> Iterator[tuple[str, str]]:
    """Annotated names of a class and its parents in the package, with the text below each."""
    seen = set()
    for owner in reversed([one for one in kind.__mro__ if one.__module__.startswith("lookalike")]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(tree, ast.ClassDef)
        for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            name = node.target.id
            if name.startswith("_") or name in seen or "ClassVar" in ast.unparse(node.annotation):
                continue
            seen.add(name)
            told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            yield name, _cell(str(after.value.value)) if told else ""  # type: ignore[union-attr]


def _methods(kind: type) -> Iterator[tuple[str, str]]:
    for name in dir(kind):
        if name.startswith("_"):
            continue
        found = inspect.getattr_static(kind, name)
        home = getattr(found, "func", None) or getattr(found, "fget", None) or getattr(found, "__func__", found)
        if not getattr(home, "__module__", "").startswith("lookalike") or not inspect.isfunction(home):
            continue
        called = inspect.isfunction(found) or isinstance(found, classmethod | staticmethod)
        yield f"{name}()" if called else name, _cell((inspect.getdoc(home) or "").split("\n\n")[0])


def _cell(text: str) -> str:
    return " ".join(text.split()).partition(" >>> ")[0].replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
