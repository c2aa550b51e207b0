"""Tests mirror the source: tests/x/test_y.py is about the module or package src/lookalike/x/y.

Where one file would be too long, tests/x/test_y_aspect.py is too. A package may be tested inside of its folder:
tests/x/y/test_y.py.

The other way round, every model, algorithm, attack, metric and command has a test file of its name, or a folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "lookalike"

ELSEWHERE = {"docs", "exams", "faults", "fuzz", "golden", "peers", "secrets"}
"""Folders about the whole, or about what is no part of the package."""
CROSSING = {
    "algorithms/test_persons_everywhere.py",
    "algorithms/test_record_numbers.py",
    "apps/cli/test_persons.py",
    "apps/cli/test_pipes.py",
    "apps/cli/test_signals.py",
    "apps/studio/test_browser.py",
    "apps/studio/test_ending.py",
    "apps/studio/test_fuzz.py",
    "audit/test_exam.py",
    "audit/test_honest_releases.py",
    "audit/test_matched_without_graph.py",
    "audit/test_messages.py",
    "audit/test_planted_violations.py",
    "audit/test_worked_examples.py",
    "evaluation/report/test_parts.py",
    "models/test_agreement.py",
    "models/test_eligibility.py",
    "models/test_relations.py",
    "models/test_sentences.py",
    "models/test_worked_examples.py",
    "pipeline/backends/test_page.py",
    "test_families.py",
    "test_names.py",
    "test_public_api.py",
    "test_selection.py",
    "test_tree.py",
}
"""Files about several modules, or about the tests."""

MIRRORED = ("algorithms", "apps/cli", "attacks", "metrics", "models")
"""Folders in which every module or package has its own tests; what they share (`shared`) is tested as needed."""


def test_every_test_file_names_what_it_tests_or_is_listed() -> None:
    files = {path.relative_to(HERE) for path in HERE.rglob("test_*.py")}
    astray = {str(path) for path in files if path.parts[0] not in ELSEWHERE and not _subject(path)}
    assert astray == CROSSING


@pytest.mark.parametrize("folder", MIRRORED)
def test_every_member_and_every_command_has_tests_of_its_name(folder: str) -> None:
    members = _modules(SOURCE / folder)
    assert len(members) > 5
    assert {name for name in members if not _tested(HERE / folder, name)} == set()


def _modules(folder: Path) -> set[str]:
    """Modules and packages of a folder, without the package itself."""
    found = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    return found - {"__init__", "shared"}


def _tested(folder: Path, name: str) -> bool:
    return (folder / f"test_{name}.py").is_file() or any((folder / name).glob("test_*.py"))


def _subject(path: Path) -> bool:
    """Whether there is a module or package that this test file is named after."""
    folder, words = SOURCE / path.parent, path.stem.split("_")[1:]
    names = ["_".join(words[:length]) for length in range(1, len(words) + 1)]
    return path.parent.name in names[-1:] or any(
        (folder / name).is_dir() or (folder / f"{name}.py").is_file() for name in names
    )
