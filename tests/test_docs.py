"""The documents say what is there, and what they show works.

Every page is run: Python blocks in one namespace a page, `console` blocks as shell commands, in order, in a folder of
their own that holds the sample as patients.csv. A command may end in `# exit code N`; the lines below a command must
be in its output, with `...` for what varies. A comment `<!-- file: NAME -->` puts the block below it into a file.
"""

from __future__ import annotations

import doctest
import importlib.util
import math
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_args
from xml.etree import ElementTree

import pytest
import yaml

import lookalike
from lookalike import errors
from lookalike.algorithms import ALGORITHMS, describe_algorithms
from lookalike.attacks import ATTACKS, describe_attacks
from lookalike.cli import main
from lookalike.cli.exits import exit_code
from lookalike.metrics import FIDELITY, METRICS
from lookalike.models import MODELS, describe_models, parse_model
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
MODEL_HEADINGS = (
    "Promise",
    "What it does not promise",
    "Definition",
    "Paper",
    "Parameters",
    "Example",
    "Eligibility",
    "Cost",
    "Notes",
)
SVG = "http://www.w3.org/2000/svg"
METRIC_HEADINGS = ("What it says", "What it does not say", "Definition", "Paper", "Example", "Cost")
ALGORITHM_HEADINGS = (
    "Promise",
    "What it does not promise",
    "How it works",
    "Paper",
    "Parameters",
    "Example",
    "Cost",
)
ATTACK_HEADINGS = ("What it shows", "What it does not show", "How it works", "Paper", "Parameters", "Example", "Cost")
SHARED_PAGES = ("bucketization", "grouping")
"""Of methods: what several have in common."""
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


def test_the_site_lists_every_page_once_and_nothing_else() -> None:
    listed = list(pages_in(site_settings()["nav"]))
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_the_site_needs_no_network_and_hides_no_warning() -> None:
    settings = site_settings()
    assert settings["strict"] is True
    assert settings["theme"]["font"] is False
    assert settings["use_directory_urls"] is False
    assert "*.py" in settings["exclude_docs"].split()
    own = [*settings["extra"]["polyfills"], *settings["extra_css"], settings["theme"]["favicon"]]
    assert all((DOCS / file).is_file() for file in own)
    assert not any("http" in (DOCS / file).read_text(encoding="utf-8").replace(SVG, "") for file in own)
    # The offline plugin adds a script from elsewhere unless it finds one of this name.
    assert any("iframe-worker" in file for file in settings["extra"]["polyfills"])


def site_settings() -> dict[str, Any]:
    """Of mkdocs.yml, whose one tag names a function of the renderer."""

    class Settings(yaml.SafeLoader):
        pass

    Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    return dict(yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Settings))


def pages_in(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_in(entry)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_page(name: str) -> None:
    page = DOCS / "models" / f"{name}.md"
    assert tuple(headings_of(page)) == (name, *MODEL_HEADINGS)
    rows = {row["name"]: row for row in describe_models()}
    text = page.read_text(encoding="utf-8")
    for parameter in rows[name]["parameters"]:
        assert f"| `{parameter['name']}` |" in text
    assert any(block.kind == "python" for block in blocks_of(page))
    for picture in (f"{name}.svg", f"{name}-loss.svg"):
        assert f"]({picture})" in text
        assert (page.parent / picture).is_file()
    assert f"(models/{name}.md)" in (DOCS / "choose-a-promise.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("model", "share", "belief"),
    [
        ("k-anonymity:10", 0.01, 1),
        ("alpha-k:alpha=0.2,k=5", 0.3, None),
        ("l-diversity:5", 0.01, 0.2),
        ("l-diversity:5,kind=distinct", 0.01, 0.999999),
        ("t-closeness:0.1", 0.01, 0.11),
        ("beta-likeness:3", 0.01, 0.04),
        ("beta-likeness:3", 0.3, 0.3 * (1 - math.log(0.3))),
        ("beta-likeness:3,bound=basic", 0.3, 1),
        ("delta-disclosure:1.5", 0.01, 0.01 * math.exp(1.5)),
        ("delta-disclosure:1.5", 0.5, 1 - 0.5 * math.exp(-1.5)),
        ("f-privacy:theta=2", 0.01, 0.04),
        ("rho-privacy:rho1=0.01,rho2=0.1", 0.02, 1),
    ],
)
def test_pictures_of_models_show_what_the_models_allow(model: str, share: float, belief: float | None) -> None:
    found = script("make_model_pictures").largest_belief(parse_model(model), share)
    assert found == (None if belief is None else pytest.approx(belief, abs=2e-6))


def test_hiv_and_flu_are_believed_as_the_table_says() -> None:
    text = (DOCS / "choose-a-promise.md").read_text(encoding="utf-8")
    number = r"([\d.]+)"
    line = rf"^\| `(\S+)` \| {number} % \| {number} times \| {number} % \| {number} times \|$"
    rows = re.findall(line, text, re.MULTILINE)
    assert len(rows) >= 7
    most = script("make_model_pictures").largest_belief
    for model, *printed in rows:
        for share, percent, times in zip((0.001, 0.1), printed[::2], printed[1::2], strict=True):
            belief = most(parse_model(model), share)
            assert float(percent) == pytest.approx(100 * belief, rel=0.011), model
            assert float(times) == pytest.approx(belief / share, rel=0.011), model


def test_every_model_is_pictured() -> None:
    assert set(script("make_model_pictures").MODELS) == set(MODELS)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_page(name: str) -> None:
    rows = {row["name"]: row for row in describe_algorithms()}
    check_page_of(DOCS / "algorithms" / f"{name}.md", ALGORITHM_HEADINGS, rows[name])


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_has_a_page(name: str) -> None:
    rows = {row["name"]: row for row in describe_attacks()}
    check_page_of(DOCS / "attacks" / f"{name}.md", ATTACK_HEADINGS, rows[name])
    assert f"| [{name}](attacks/{name}.md) |" in (DOCS / "attacks.md").read_text(encoding="utf-8")


def check_page_of(page: Path, headings: tuple[str, ...], row: dict[str, Any]) -> None:
    """Its name, the usual sections first and in order, a picture, its parameters, an example that runs."""
    text = page.read_text(encoding="utf-8")
    sections = sections_of(page)
    assert headings_of(page)[0] == row["name"]
    assert tuple(sections)[: len(headings)] == headings
    assert all(sections.values())
    assert f"]({row['name']}.svg)" in text
    picture = ElementTree.parse(page.with_suffix(".svg"))
    assert any(words.strip() for words in picture.getroot().itertext())
    named = re.findall(r"^\| `(\w+)` \|", sections["Parameters"], re.MULTILINE)
    assert sorted(named) == sorted(parameter["name"] for parameter in row["parameters"])
    assert named or sections["Parameters"] == "None."
    assert "```python" in sections["Example"]


def sections_of(page: Path) -> dict[str, str]:
    """What stands below each heading of the second level, examples included."""
    parts = re.split(r"^## (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def test_pages_of_methods_and_attacks_are_those_there_are() -> None:
    assert {page.stem for page in (DOCS / "algorithms").glob("*.md")} == {*ALGORITHMS, *SHARED_PAGES}
    assert {page.stem for page in (DOCS / "attacks").glob("*.md")} == set(ATTACKS)


def test_methods_keep_what_their_pages_say() -> None:
    study = script("studies/algorithms")
    stays = study.stays(300)
    overview = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    for row in describe_algorithms():
        name = row["name"]
        assert study.row(name, stays) in overview, "run python docs/studies/algorithms.py"
        promise = sections_of(DOCS / "algorithms" / f"{name}.md")["Promise"]
        linked = re.findall(r"\(\.\./models/([\w-]+)\.md\)", promise)
        served = study.served(name, stays)
        assert sorted(linked) == sorted(served) or ("[every model]" in promise and served == list(MODELS)), name
        assert f"`{row['adversary']}`" in promise, name


@pytest.mark.parametrize("name", [*METRICS, *FIDELITY, "query_error"])
def test_every_metric_has_a_page(name: str) -> None:
    page = DOCS / "metrics" / f"{name}.md"
    assert tuple(headings_of(page)) == (name, *METRIC_HEADINGS)
    assert f"]({name}.svg)" in page.read_text(encoding="utf-8")
    assert (page.parent / f"{name}.svg").is_file()
    assert any(block.kind == "python" for block in blocks_of(page))
    overview = DOCS / "metrics.md"
    assert name in headings_of(overview)
    assert f"| [{name}](metrics/{name}.md) |" in overview.read_text(encoding="utf-8")


def test_every_error_is_explained_with_its_exit_code() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__]
    page = DOCS / "errors.md"
    table = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert table == {kind.__name__: str(exit_code(kind("x"))) for kind in kinds if kind is not errors.LookalikeError}
    assert {kind.__name__ for kind in kinds} - set(table) == {"LookalikeError"}
    assert set(table) <= set(headings_of(page))


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


def test_every_public_name_is_documented() -> None:
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    assert [name for name in lookalike.__all__ if f"`{name}" not in text] == []


def script(name: str) -> ModuleType:
    """One of the scripts beside the pages."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_what_stands_below_a_numbered_item_stays_there_on_the_site() -> None:
    written = "1. one:\n   - of it\n\n   more\n2. two\n\n```text\n   as it is\n```\n\n- other\n   kept"
    wanted = "1. one:\n    - of it\n\n    more\n\n2. two\n\n```text\n   as it is\n```\n\n- other\n   kept"
    assert script("site_pages").on_page_markdown(written, page=None) == wanted


def test_sessions_and_files_are_told_from_programs_on_the_site() -> None:
    session, program = "```python\n>>> 1 + 1\n2\n```", "```python\nassert 1 + 1 == 2\n```"
    told = script("site_pages").on_page_markdown(f"{session}\n\n{program}")
    assert told == f"{session.replace('python', 'pycon')}\n\n{program}"
    told = script("site_pages").on_page_markdown("<!-- file: caps.yaml -->\n```yaml\nHIV: 0.05\n```")
    assert told == '```yaml title="caps.yaml"\nHIV: 0.05\n```'


def test_command_reference_is_current() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == script("make_cli_reference").reference(), "run python docs/make_cli_reference.py"
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
        f"{len(ALGORITHMS)} [methods]",
        f"{len(ATTACKS)} [attacks]",
    ):
        assert counted in text


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
