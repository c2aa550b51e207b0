"""Names say what a thing is: a function is a verb, and what begins with a letter is for other modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lookalike.algorithms import ALGORITHMS, SYNTHESIZERS
from lookalike.attacks import ATTACKS
from lookalike.data.families import Family
from lookalike.metrics import FIDELITY, METRICS, QUERIES
from lookalike.models import MODELS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
USERS = ("src", "tests", "docs", "scripts", "benchmarks", "fuzz", "notebooks")

DATA = {"quoted", "counted"}
"""They stand inside messages, where they read as what they give."""
SAID_ELSEWHERE = {("lookalike.data.contracts", "NEEDS"), ("lookalike.apps.studio.openapi", "Problem")}
"""What guests read about metrics, and a name in the studio's description of its answers."""
PARTICIPLES = re.compile(
    "\\w+ed|begun|bought|broken|brought|built|caught|chosen|dealt|done|drawn|driven|fallen|given|gone|grown|held|hidden|"
    "kept|known|laid|learnt|lent|lost|made|meant|met|paid|rebuilt|redrawn|rewritten|said|seen|sent|shown|sold|spelt|"
    "spent|stood|struck|taken|taught|thrown|told|torn|understood|withheld|won|written|woven"
)
VERBS = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"}
PARTICLES = re.compile("again|apart|aside|away|by|down|for|further|in|off|on|out|over|to|together|up")


def is_participle(name: str) -> bool:
    """
    >>> [is_participle(name) for name in ("held", "_laid_out", "hold", "drawn_rows", "seed")]
    [True, True, False, False, False]
    """
    first, *others = name.strip("_").split("_")
    return first not in VERBS and bool(PARTICIPLES.fullmatch(first)) and all(map(PARTICLES.fullmatch, others))


@cache
def trees() -> dict[str, ast.Module]:
    found = {}
    for path in sorted((SOURCE / "lookalike").rglob("*.py")):
        names = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(names[:-1] if names[-1] == "__init__" else names)] = ast.parse(path.read_text())
    return found


@pytest.mark.slow
def test_functions_are_named_by_verbs() -> None:
    named = [
        f"{module}.{node.name}"
        for module, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name)
    ]
    assert [name for name in named if name.rpartition(".")[2] not in DATA] == []


@pytest.mark.slow
def test_names_that_only_their_own_module_uses_begin_with_an_underscore() -> None:
    homes = {
        (module, name)
        for module, tree in trees().items()
        for name in public_names(tree)
        if module.rpartition(".")[2] != "__main__"
    }
    used = {place for path in users() for place in uses(path)}
    assert sorted(homes - used - members() - SAID_ELSEWHERE) == []


def members() -> set[tuple[str, str]]:
    """Classes that a registry finds by name."""
    families: tuple[Family[Any], ...] = (MODELS, ALGORITHMS, SYNTHESIZERS, ATTACKS, METRICS, FIDELITY, QUERIES)
    return {(kind.__module__, kind.__name__) for family in families for kind in family.values()}


def public_names(tree: ast.Module) -> Iterator[str]:
    """Functions, classes and constants that stand for themselves.

    Not what `__all__` lists, names of types, types that a public function or class speaks of, or what a router takes.
    """
    exported = {
        text.value
        for node in tree.body
        if isinstance(node, ast.Assign) and [name.id for name in names_in(*node.targets)] == ["__all__"]
        for text in ast.walk(node.value)
        if isinstance(text, ast.Constant)
    }
    assigned = {name.id for node in tree.body if isinstance(node, ast.Assign) for name in names_in(*node.targets)}
    spoken = {name.id for node in tree.body for name in names_in(*signature(node))}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found = {node.name} - spoken
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = any(name.id in assigned for name in names_in(*node.decorator_list) if name.id != node.name)
            found = set() if taken else {node.name}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = {name.id for name in names_in(*targets) if name.id.isupper() or name.id.islower()}
        else:
            found = set()
        yield from (name for name in found - exported if not name.startswith("_"))


def signature(node: ast.AST) -> Iterator[ast.AST]:
    """The annotations and bases of what is public."""
    if isinstance(node, ast.Assign):
        yield node.value
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    name = getattr(node, "name", "_")
    if isinstance(node, ast.ClassDef) and not name.startswith("_"):
        yield from node.bases
        for member in node.body:
            if not isinstance(member, ast.Assign):
                yield from signature(member)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (not name.startswith("_") or name == "__init__"):
        yield from (one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg) and one.annotation)
        if node.returns:
            yield node.returns


def names_in(*nodes: ast.AST) -> Iterator[ast.Name]:
    return (name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name))


def users() -> list[Path]:
    found = [path for folder in USERS for path in (ROOT / folder).rglob("*.py*") if path.suffix in (".py", ".pyi")]
    return found + [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]


def uses(path: Path) -> Iterator[tuple[str, str]]:
    """Names of the package's modules that a file of another module imports, reaches or writes out."""
    text = path.read_text(encoding="utf-8")
    for imported in re.finditer(r"from (lookalike[\w.]*) import (\([^)]*\)|[^\n\"]*)", text):
        yield from ((imported[1], name) for name in re.findall(r"(\w+)(?: as \w+)?", imported[2]))
    for dotted in re.finditer(r"\b(lookalike(?:\.\w+)*)\.(\w+)", text):
        yield dotted[1], dotted[2]
    if path.suffix == ".py":
        yield from _reaches(ast.parse(text))


def _reaches(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Attributes of modules under the names that a file gives them, also as text for getattr and setattr."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lookalike"):
            modules |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.asname: alias.name for alias in node.names if alias.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr
        elif isinstance(node, ast.Call) and [*map(type, node.args[:2])] == [ast.Name, ast.Constant]:
            yield modules.get(getattr(node.args[0], "id", ""), ""), getattr(node.args[1], "value", "")
