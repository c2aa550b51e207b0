"""The documents say what is there, and what they show works.

Every page is run: Python blocks in one namespace a page, `console` blocks as shell commands, in order, in a folder of
their own that holds the sample as patients.csv. A command may end in `# exit code N`; the lines below a command must
be in its output, with `...` for what varies. A comment `<!-- file: NAME -->` puts the block below it into a file.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
import yaml

import lookalike
from lookalike import errors
from lookalike.algorithms import ALGORITHMS, describe_algorithms
from lookalike.attacks import ATTACKS, describe_attacks
from lookalike.cli import main
from lookalike.cli.exits import exit_code
from lookalike.metrics import FIDELITY, METRICS
from lookalike.models import MODELS, describe_models
from lookalike.release import Release
from lookalike.samples import hospital, to_csv
from lookalike.schema import Schema

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
FENCE = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
MODEL_HEADINGS = ("Promise", "What it does not promise", "Definition", "Parameters", "Example", "Eligibility", "Notes")
DECISION_HEADINGS = ("Context", "Decision", "Consequences")


class Block(NamedTuple):
    kind: str
    text: str
    file: str | None
    line: int


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(found["kind"], found["text"], found["file"], text.count("\n", 0, found.start()) + 1)


def headings_of(page: Path) -> list[str]:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [line.lstrip("#").strip() for line in prose.splitlines() if line.startswith("#")]


def anchor_of(heading: str) -> str:
    """As the usual renderers make them."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").casefold()).replace(" ", "-")


def runs(page: Path) -> bool:
    return any(block.kind in ("python", "console", "yaml") or block.file for block in blocks_of(page))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    to_csv(hospital(500, seed=1), tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=name_of)
def test_what_a_page_shows_works(page: Path, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__docs__"}
    for block in blocks_of(page):
        where = f"{name_of(page)}, line {block.line}"
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        if block.kind == "python" and ">>>" in block.text:
            run_session(block, names, where)
        elif block.kind == "python" and not block.file:
            exec(compile("\n" * block.line + block.text, name_of(page), "exec", dont_inherit=True), names)
        elif block.kind == "console":
            run_console(block.text, where)
        elif block.kind == "yaml" and "columns:" in block.text:
            Schema.from_yaml(block.text, where)
        elif block.kind == "yaml":
            yaml.safe_load(block.text)


def run_session(block: Block, names: dict[str, Any], where: str) -> None:
    """A block of `>>>` lines; names are shared with the blocks before and after."""
    session = doctest.DocTestParser().get_doctest(block.text, names, where, None, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(session, out=said.append, clear_globs=False)
    names.update(session.globs)
    assert runner.failures == 0, "".join(said)


def run_console(text: str, where: str) -> None:
    for command, expected in commands_of(text):
        wanted = re.search(r"# exit code (\d+)$", command)
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        done = subprocess.run(
            command,
            shell=True,
            env={**os.environ, "PATH": path, "COLUMNS": "160", "PYTHONWARNINGS": "error"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        output = done.stdout + done.stderr
        assert done.returncode == int(wanted[1] if wanted else 0), f"{where}: {command}\n{output}"
        assert shows(output, expected), f"{where}: {command}\nwanted{expected}\ncame\n{output}"


def shows(output: str, expected: str) -> bool:
    """Whether the parts between dots stand in the output, one after the other, whatever the spacing."""
    rest = " ".join(output.split())
    for part in (" ".join(part.split()) for part in expected.split("...")):
        if part not in rest:
            return False
        rest = rest[rest.index(part) + len(part) :]
    return True


def commands_of(text: str) -> Iterator[tuple[str, str]]:
    """Commands (joined over backslashes) and the output shown below each."""
    command, output = "", ""
    for line in text.splitlines():
        if line.startswith("$ ") or command.endswith("\\"):
            if command and not command.endswith("\\"):
                yield command, output
                command, output = "", ""
            command = f"{command[:-1]}\n{line}" if command else line[2:]
            command = command.replace("\n", " ")
        else:
            output += f"\n{line}"
    if command:
        yield command, output


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


def test_every_page_is_on_the_map() -> None:
    linked = {
        (DOCS / link.partition("#")[0]).resolve() for link in LINK.findall((DOCS / "index.md").read_text("utf-8"))
    }
    assert set(DOCS.rglob("*.md")) - linked == {DOCS / "index.md"}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_page(name: str) -> None:
    page = DOCS / "models" / f"{name}.md"
    assert tuple(headings_of(page)) == (name, *MODEL_HEADINGS)
    rows = {row["name"]: row for row in describe_models()}
    text = page.read_text(encoding="utf-8")
    for parameter in rows[name]["parameters"]:
        assert f"| `{parameter['name']}` |" in text
    assert any(block.kind == "python" for block in blocks_of(page))
    assert f"(models/{name}.md)" in (DOCS / "choose-a-promise.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_heading(name: str) -> None:
    pages = {page: headings_of(page) for page in (DOCS / "algorithms").glob("*.md")}
    page = next(page for page, headings in pages.items() if name in headings)
    rows = {row["name"]: row for row in describe_algorithms()}
    for parameter in rows[name]["parameters"]:
        assert f"| `{parameter['name']}` |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_has_a_heading(name: str) -> None:
    pages = {page: headings_of(page) for page in (DOCS / "attacks").glob("*.md")}
    page = next(page for page, headings in pages.items() if name in headings)
    rows = {row["name"]: row for row in describe_attacks()}
    for parameter in rows[name]["parameters"]:
        assert f"| `{parameter['name']}` |" in page.read_text(encoding="utf-8")


def test_every_metric_has_a_heading() -> None:
    assert {*METRICS, *FIDELITY} < set(headings_of(DOCS / "metrics.md"))


def test_every_error_is_explained_with_its_exit_code() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__]
    page = DOCS / "errors.md"
    table = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert table == {kind.__name__: str(exit_code(kind("x"))) for kind in kinds if kind is not errors.LookalikeError}
    assert {kind.__name__ for kind in kinds} - set(table) == {"LookalikeError"}
    assert set(table) <= set(headings_of(page))


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
        assert f"`{name[0]}`" in reasons


def test_every_public_name_is_documented() -> None:
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    assert [name for name in lookalike.__all__ if f"`{name}" not in text] == []


def test_command_reference_is_current() -> None:
    spec = importlib.util.spec_from_file_location("make_cli_reference", DOCS / "make_cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == script.reference(), "run python docs/make_cli_reference.py"
    for name, command in main.commands.items():
        assert f"## lookalike {name}\n" in page
        assert all(f"`{option.opts[0]}" in page for option in command.params if option.param_type_name == "option")


def test_changelog_has_this_version() -> None:
    headings = headings_of(ROOT / "CHANGELOG.md")
    assert any(lookalike.__version__ in heading for heading in headings)
    assert "Privacy and output" in headings


def test_layers_in_the_documents_are_those_that_are_kept() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    assert "\n".join(layers) + "\n" in [block.text for block in blocks_of(DOCS / "how-it-works.md")]


def test_make_targets_in_the_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert target in targets, f"{name_of(page)}: make {target}"


def test_readme_counts_what_is_there() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for counted in (
        f"{len(MODELS)} privacy models",
        f"{len(get_args(Release))} forms of release",
        f"{len(ALGORITHMS)} methods",
        f"{len(ATTACKS)} [attacks]",
    ):
        assert counted in text


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
