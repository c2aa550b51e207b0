"""The documents say what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import lookalike
from lookalike import errors
from lookalike.apps.cli import main
from lookalike.apps.cli.exits import EXIT_CODES, exit_code
from tests.docs.pages import (
    DOCS,
    FENCE,
    LINK,
    PAGES,
    ROOT,
    anchor_of,
    headings_of,
    name_of,
    script,
)

MADE_OR_MEANT = {"demo/", "site/", "shared/", "tests/x/test_y.py", "src/lookalike/x/y.py"}
"""Paths in the guides that a command makes, or that stand for others."""
DECISION_HEADINGS = ("Context", "Decision", "Consequences")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(prose):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        assert ROOT in target.parents
        if anchor:
            assert anchor in [anchor_of(heading) for heading in headings_of(target)], f"{name_of(page)}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_are_plain(page: Path) -> None:
    """One title, no path of anybody's machine, no character that a keyboard lacks."""
    text = page.read_text(encoding="utf-8")
    assert text.isascii()
    assert not re.search(r"(?<![\w.*])/(?:home|root|work|tmp|usr|var|etc|opt|mnt|Users)\b", text)
    assert not re.search(r"\b[A-Z]:\\", text)
    titles = [line for line in FENCE.sub("", text).splitlines() if line.startswith("# ")]
    assert len(titles) == 1
    assert text.startswith("# ")


def test_every_error_is_explained_with_its_exit_code() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__]
    page = DOCS / "errors.md"
    table = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert table == {kind.__name__: str(exit_code(kind("x"))) for kind in kinds if kind is not errors.LookalikeError}
    assert {kind.__name__ for kind in kinds} - set(table) == {"LookalikeError"}
    assert set(table) <= set(headings_of(page))


def test_exit_codes_are_listed_once() -> None:
    (place,) = (page for page in PAGES if re.search(r"^\| 130 \|", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert place == DOCS / "errors.md"
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.LookalikeError)
    ]
    assert {exit_code(kind("x")) for kind in kinds} <= set(EXIT_CODES)


def test_every_message_that_is_explained_is_one() -> None:
    code = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py"))
    # Messages go over several lines of code, and some begin with "There is no {what}".
    code = re.sub(r'"\s*\n\s*f?"', "", code).replace("There is no {what}", "There is no column, There is no model")
    explained = re.findall(r'^\| "(.+?)" \|', (DOCS / "errors.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(explained) > 30
    assert [message for message in explained if message not in code] == []


def test_the_glossary_is_in_order() -> None:
    terms = re.findall(r"^\*\*(.+?)\.\*\* ", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(terms) > 70
    assert terms == sorted(set(terms), key=str.casefold)


def test_every_erratum_names_a_test_that_is_there() -> None:
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), test
    entries = re.findall(r"^\*\*", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"\bTest:", text)) <= len(named)


def test_every_decision_is_complete() -> None:
    records = sorted((DOCS / "decisions").glob("*.md"))
    assert [int(record.name[:4]) for record in records] == list(range(1, len(records) + 1))
    for record in records:
        assert tuple(headings_of(record)[1:]) == DECISION_HEADINGS, record.name


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [name for listed in project["optional-dependencies"].values() for name in listed]
    reasons = (DOCS / "decisions" / "0007-dependencies.md").read_text(encoding="utf-8")
    for requirement in (*project["dependencies"], *extras):
        name = re.match(r"[\w.-]+", requirement)
        assert name is not None
        assert f"`{name[0]}`" in reasons, name[0]


def test_every_dependency_is_bounded() -> None:
    """A new major version of anything is tried before people get it."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = stated["project"]
    extras = [name for listed in project["optional-dependencies"].values() for name in listed]
    for requirement in (*stated["build-system"]["requires"], *project["dependencies"], *extras):
        if not requirement.startswith("lookalike["):
            assert re.fullmatch(r"[\w.-]+(\[\w+\])?>=[\d.]+,<[\d.]+", requirement), requirement


def test_every_public_name_is_documented() -> None:
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    assert [name for name in lookalike.__all__ if f"`{name}" not in text] == []


def test_command_reference_is_current() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == script("make_cli_reference").reference(), "run python docs/make_cli_reference.py"
    for name, command in main.commands.items():
        assert f"## lookalike {name}\n" in page
        assert all(f"`{option.opts[0]}" in page for option in command.params if option.param_type_name == "option")


def test_api_reference_is_current() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == script("make_api_reference").reference(), "run python docs/make_api_reference.py"
    assert [name for name in lookalike.__all__ if f"### {name.strip('_')}\n" not in page] == []


def test_changelog_has_this_version() -> None:
    headings = headings_of(ROOT / "CHANGELOG.md")
    assert any(lookalike.__version__ in heading for heading in headings)
    assert "Privacy and output" in headings


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/how-it-works.md", "docs/decisions/0007-dependencies.md"])
def test_paths_in_the_guides_exist(page: str) -> None:
    """Of files and folders, from the project's folder or from the package's."""
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", text)) - MADE_OR_MEANT
    places = (ROOT, ROOT / "src" / "lookalike", ROOT / "src" / "lookalike" / "pipeline")
    assert len(named) > 5
    assert [path for path in sorted(named) if not any((place / path).exists() for place in places)] == []


def test_make_targets_in_the_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert target in targets, f"{name_of(page)}: make {target}"


def test_generated_lists_tables_and_counts_are_current() -> None:
    indexes = script("make_indexes")
    for file in indexes.REGIONS:
        made = indexes.current(file)
        assert (ROOT / file).read_text(encoding="utf-8") == made, f"{file}: run python docs/make_indexes.py"
        assert indexes.TODO not in made, f"{file}: a member lacks its words"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
