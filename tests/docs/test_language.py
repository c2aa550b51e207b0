"""What people read is plain English: words and patterns that stay out of it.

The list is of words that were in the texts once, each with what to write instead. Texts are the documents, the pages of
the report and the studio, and all strings of the package (messages, help, docstrings). Single words are names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT

OUT = {
    r"whoever": "anyone who, someone who",
    r"somebody": "someone",
    r"(?:unless|until|if|by default where) told": "by default",
    r"honest guess(?:es|ing)?": "baseline",
    r"crowds?": "group, rows",
    r"can bear|could bear|not bear": "support, withstand",
    r"(?:come|comes|came) of (?:it|each|a run)": "result",
    r"at home": "with the owner",
    r"learnt": "learned",
    r"unasked": "by default",
    r"heard with|not be heard": "has no effect",
    r"about nobody": "invented",
    r"no machine holds": "very large",
    r"(?:how|as) nearly": "how accurately",
    r"against who\b(?!m)|against whom": "against someone who; attacker",
    r"mend(?:s|ed|ing)?": "fix",
    r"leaves the house|the house": "the files you hand over; the package",
    r"where to\.|which there are": "say what: output folder, available attacks",
    r"what came": "results",
    r"once a (?:run|row|file|model|release|part|person)": "once per",
    r"(?:one|a) (?:file|row|line|sentence|number) a (?:model|row|person|column|release|run|part|group|method)": "per",
    r"bombs exceed": "say what the limit stops",
    r"(?:highest|largest|strongest) beliefs?": "highest certainty",
    r"(?:stands?|standing) (?:in|at|on|beside|behind) (?:a|the) (?:table|row|file|folder|group|cell|release)": "is in",
}
"""Patterns, and what to write instead."""
EXCEPT = {
    "docs/reproduction.md": "words of the papers and of their claims",
    "src/lookalike/apps/papers": "words of the papers and of their claims",
    "docs/studies": "programs of studies, which other programs cite by their lines",
    "src/lookalike/kernels": "comments for those who read loops",
    "src/lookalike/words/en-0.1.0.toml": "words of an earlier version never change",
    "src/lookalike/evaluation/inspect/vocabulary.py": "names of columns in tables of others",
    "src/lookalike/files/identifiers/patterns.py": "numbers of houses",
    "docs/reading.md": "numbers of houses",
}
"""Files and folders that are left out, and why."""
ALLOWED: dict[tuple[str, str], str] = {
    ("src/lookalike/evaluation/report/templates/report.html", "crowds"): "a macro's name",
    ("src/lookalike/evaluation/report/templates/_tables.html", "crowds"): "a macro's name",
    ("src/lookalike/apps/studio/templates/results.html", "crowds"): "a macro's name",
    ("src/lookalike/apps/studio/static/run.js", "mended"): "a function's name",
    ("src/lookalike/pipeline/run.py", "crowds"): "a parameter's name",
}
"""Single words of single files that are left, and why."""

TEMPLATES = [*(ROOT / "src").rglob("*.html"), *(ROOT / "src").rglob("*.js"), *(ROOT / "src").rglob("en.toml")]
MODULES = list((ROOT / "src").rglob("*.py"))
TEXTS = sorted({*PAGES, *TEMPLATES, *MODULES})
_RULE = re.compile("|".join(rf"\b(?:{pattern})(?!\w)" for pattern in OUT), re.IGNORECASE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_left_out(path: Path) -> bool:
    return any(name_of(path).startswith(name) for name in EXCEPT)


def texts_of(path: Path) -> Iterator[str]:
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield " ".join(content.split())
        return
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield " ".join(node.value.split())


def faults_of(path: Path) -> list[str]:
    found = (match for text in texts_of(path) for match in _RULE.finditer(text))
    return [match[0] for match in found if (name_of(path), match[0].casefold()) not in ALLOWED]


@pytest.mark.parametrize("folder", ["src", "docs", "top"])
def test_listed_words_stay_out(folder: str) -> None:
    paths = [path for path in TEXTS if (name_of(path).split("/")[0] if "/" in name_of(path) else "top") == folder]
    assert len(paths) >= 4
    found = {name_of(path): faults for path in paths if not is_left_out(path) and (faults := faults_of(path))}
    assert found == {}, "see OUT for what to write instead"


def test_a_listed_word_is_found() -> None:
    said = "Whoever reads it, unless told otherwise, learnt one row a person; an honest guess, and what came of it."
    assert [match[0] for match in _RULE.finditer(said)] == [
        "Whoever",
        "unless told",
        "learnt",
        "one row a person",
        "honest guess",
        "what came",
    ]


def test_every_exception_is_there_and_needed() -> None:
    assert all((ROOT / name).exists() for name in EXCEPT)
    for name, word in ALLOWED:
        assert word in (ROOT / name).read_text(encoding="utf-8").casefold(), (name, word)
