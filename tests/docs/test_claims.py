"""What documents say about the code is so: options, functions, parameters, files, extras, exit codes, counts."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import click
import pytest

import lookalike
from lookalike.algorithms import ALGORITHMS
from lookalike.apps.cli import main
from lookalike.apps.cli.exits import EXIT_CODES
from lookalike.attacks import ATTACKS
from lookalike.data.release import FORMS
from lookalike.models import MODELS
from tests.docs.pages import PAGES, ROOT, name_of

STALE = (
    "lacks a graphical",
    "no graphical program",
    "saved as csv first",
    "only the local machine so far",
    "smoothing=0",
    "are not built",
    "is not built",
    "not implemented yet",
)
"""Claims that were true once."""
OF_OTHER_PROGRAMS = {
    "--archives", "--conf", "--deploy-mode", "--master", "--no-cache-dir", "--no-compile", "--scope",
}  # fmt: skip
"""Options of pip, spark-submit and systemd-run that the documents name."""
HISTORY = {"CHANGELOG.md"}
"""Pages that name what there was in earlier versions."""
KINDS = {**MODELS, **ALGORITHMS, **ATTACKS}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
COUNTS = {
    "forms": len(FORMS),
    "models": len(MODELS),
    "algorithms": len(ALGORITHMS),
    "attacks": len(ATTACKS),
    "exit codes": len(EXIT_CODES),
}
each_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def options_of(command: click.Command) -> set[str]:
    named = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    return {name for name in named if name.startswith("-")} | {"--help"}


@cache
def options_of_scripts() -> set[str]:
    """The options that benchmarks, studies and makers of documents read themselves."""
    files = [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("docs/**/*.py"), *ROOT.glob("scripts/*.py")]
    return {found for file in files for found in re.findall(r'"(--[a-z-]+)"', file.read_text(encoding="utf-8"))}


@each_page
def test_every_option_is_one(page: Path) -> None:
    known = set().union(*map(options_of, main.commands.values())) | options_of_scripts() | OF_OTHER_PROGRAMS
    known |= options_of(main) | {"--version"}
    found = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text_of(page)))
    assert found - known == set()


def commands_in(text: str) -> Iterator[tuple[str, str]]:
    """Commands of lookalike that are shown: the name, and what follows on the line and on continued ones."""
    for found in re.finditer(r"(?:^\$ |`)lookalike ([a-z][a-z-]*)((?:\\\n|[^`\n])*)", text, re.MULTILINE):
        yield found[1], found[2]


@each_page
def test_commands_that_are_shown_have_their_options(page: Path) -> None:
    if name_of(page) in HISTORY:
        return
    for name, rest in commands_in(text_of(page)):
        assert name in main.commands, f"lookalike {name}"
        own = rest.split("lookalike")[0].split("|")[0].split("&&")[0]
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", own)) <= options_of(main.commands[name]), (name, rest)


@each_page
def test_functions_that_are_named_exist(page: Path) -> None:
    if name_of(page) in HISTORY:
        return
    for name in re.findall(r"(?<![\w.])la\.([A-Za-z_]\w*)", text_of(page)):
        assert hasattr(lookalike, name) or importlib.util.find_spec(f"lookalike.{name}"), f"la.{name}"


def parameters_in(text: str) -> Iterator[tuple[str, str]]:
    """Names of members with the parameters that are written behind them: naive-bayes:kind=classic."""
    names = "|".join(sorted(map(re.escape, KINDS), key=len, reverse=True))
    for found in re.finditer(rf"(?<![\w-])({names}):((?:[\w./-]+,)?[a-z_]+=[^\s`\"')]*)", text):
        for parameter in re.findall(r"(?:^|,)([a-z_]+)=", found[2]):
            yield found[1], parameter


@each_page
def test_parameters_that_are_written_exist(page: Path) -> None:
    if name_of(page) == "docs/cli.md":
        return  # --coarsen COLUMN=groups:... is no method
    for name, parameter in parameters_in(text_of(page)):
        known = {field.name for field in fields(KINDS[name])}
        known |= {"file"} if name == "f-privacy" else set()
        assert parameter in known, f"{name}:{parameter}="


def test_parameters_that_do_not_exist_are_found() -> None:
    assert [*parameters_in("`naive-bayes:smoothing=0` and `l-diversity:4,band=50`")] == [
        ("naive-bayes", "smoothing"),
        ("l-diversity", "band"),
    ]
    assert "smoothing" not in {field.name for field in fields(ATTACKS["naive-bayes"])}


@each_page
def test_files_that_are_named_exist(page: Path) -> None:
    if name_of(page) in HISTORY:
        return
    for path in re.findall(r"(?<![\w/])((?:benchmarks|notebooks|scripts|fuzz)/[\w/]+\.(?:py|ipynb|sh))", text_of(page)):
        assert (ROOT / path).exists(), path


def test_extras_that_are_named_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    texts = {name_of(page): text_of(page) for page in PAGES}
    texts |= {str(file): file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py")}
    for where, text in texts.items():
        for found in re.findall(r"\blookalike\[([a-z, ]+)\]", text):
            assert set(re.split(r",\s*", found)) <= extras, where


@each_page
def test_exit_codes_that_are_named_are_some(page: Path) -> None:
    found = {int(number) for number in re.findall(r"exit code (\d+)", text_of(page))}
    assert found <= set(EXIT_CODES)


@each_page
def test_counts_of_all_members_are_right(page: Path) -> None:
    if name_of(page) in HISTORY or "reproduction" in name_of(page):
        return
    words = "|".join([r"\d+", *NUMBERS])
    for number, what in re.findall(rf"\ball ({words}) ({'|'.join(COUNTS)})\b", text_of(page)):
        assert (int(number) if number.isdigit() else NUMBERS.index(number)) == COUNTS[what], f"all {number} {what}"


def test_claims_that_were_true_once_are_gone() -> None:
    found = [
        (name_of(page), claim)
        for page in PAGES
        if "reproduction" not in name_of(page)
        for claim in STALE
        if claim in " ".join(text_of(page).split()).casefold()
    ]
    assert found == []
