"""What the documents show works.

Every page is run: Python blocks in one namespace a page, `console` blocks as shell commands, in order, in a folder of
their own that holds the sample as patients.csv. A command may end in `# exit code N`; the lines below a command must
be in its output, with `...` for what varies. A comment `<!-- file: NAME -->` puts the block below it into a file.

What people type first, in README, is run by a shell, word by word. On other pages a plain `lookalike` command is
called here, which saves starting Python each time.
"""

from __future__ import annotations

import doctest
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lookalike.apps.samples import hospital, to_csv
from lookalike.data.schema import Schema
from tests.apps.cli.running import Done, lookalike
from tests.docs.pages import (
    PAGES,
    ROOT,
    Block,
    blocks_of,
    name_of,
)


def draw_visits(path: Path) -> None:
    """A table of the shape of that in the tutorial about persons, which needs a network to get."""
    rng, rows = random.Random(3), ["person,year,age,sex,site,health,visits"]
    for person in range(240):
        age, sex, site = rng.randint(0, 60), rng.choice(["male", "female"]), f"site {rng.randint(1, 6)}"
        health = rng.choices(["excellent", "good", "fair", "poor"], [54, 36, 8, 2])[0]
        for year in range(1, rng.choice([3, 3, 5]) + 1):
            rows.append(
                f"{person + 1000},{year},{age + year},{sex},{site},{health},{min(rng.expovariate(0.4) // 1, 20):.0f}"
            )
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def runs(page: Path) -> bool:
    if name_of(page) == "docs/spark.md":
        return False  # on a cluster, by tests/pipeline/backends/test_page.py
    return any(block.kind in ("python", "console", "yaml") or block.file for block in blocks_of(page))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registries: None) -> Path:
    to_csv(hospital(500, seed=1), tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=name_of)
def test_what_a_page_shows_works(page: Path, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__docs__"}
    if name_of(page) == "docs/tutorials/persons.md":
        draw_visits(folder / "visits.csv")
    for block in blocks_of(page):
        where = f"{name_of(page)}, line {block.line}"
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        if block.kind == "python" and ">>>" in block.text:
            run_session(block, names, where)
        elif block.kind == "python" and not block.file:
            exec(compile("\n" * block.line + block.text, name_of(page), "exec", dont_inherit=True), names)
        elif block.kind == "console":
            run_console(block.text, where, typed=page == ROOT / "README.md")
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


def run_console(text: str, where: str, typed: bool) -> None:
    for command, expected in commands_of(text):
        wanted = re.search(r"# exit code (\d+)$", command)
        plain = command.startswith("lookalike ") and not SHELL.search(QUOTED.sub("", command))
        done = called(command) if plain and not typed else shell(command)
        output = done.stdout + done.stderr
        assert done.returncode == int(wanted[1] if wanted else 0), f"{where}: {command}\n{output}"
        assert shows(output, expected), f"{where}: {command}\nwanted{expected}\ncame\n{output}"


SHELL, QUOTED = re.compile(r"[|<>;&$*?~`]"), re.compile(r"""'[^']*'|"[^"$`]*\"""")
"""What a shell would do something about, and where it would not; a command with any of it is left to one."""


def called(command: str) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "160")
        return lookalike(*shlex.split(command, comments=True)[1:])


def shell(command: str) -> Done:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        command,
        shell=True,
        env={**os.environ, "PATH": path, "COLUMNS": "160", "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def shows(output: str, expected: str) -> bool:
    """Whether the parts between dots are in the output, one after the other, whatever the spacing."""
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
