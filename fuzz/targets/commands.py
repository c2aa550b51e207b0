"""The command line: words parted by line feeds. It ends with a documented code and no traceback.

Commands that write, or take long by intent, are left out.
"""

from __future__ import annotations

import os
from pathlib import Path

from click.testing import CliRunner

from fuzz.clinic import folder_of, workplace
from fuzz.judging import Fault, tried
from lookalike.apps.cli import main
from tests.files.releases.release_forms import FORMS

_COMMANDS = ("inspect", "query", "audit", "measure", "models", "algorithms", "attacks")
_CODES = {0, 1, 2, 3, 4}
SEEDS = (
    b"query\ngrouped\nSELECT COUNT(*) WHERE age > 3\n--json",
    b"query\nperturbed\nSELECT COUNT(*), diagnosis GROUP BY diagnosis\n--level\n0.5",
    b"inspect\nrelease.csv\n--qi\nage,pain\n--json",
    b"inspect\nrelease.csv\n--schema\nschema.yaml",
    b"audit\nrelease.csv\ngrouped\n--model\nk-anonymity:2\n--json",
    b"measure\nrelease.csv\nrelease.csv\n--qi\nage\n--sensitive\ndiagnosis",
    b"models\n--json",
    b"algorithms\n--help",
)
WORDS = (b"--json", b"--qi\n", b"--sensitive\n", b"--model\n", b"--schema\n", b"--level\n", b"--delimiter\n",
         b"--encoding\n",
         b"--numeric\n", b"--categorical\n", b"--carry\n", b"nan", b"\0", b"\xff", b"grouped", b"release.csv", b"~",
         b"schema.yaml", b"rot13", b"utf-7", b"punycode", b"idna", b"undefined", b"\xe2\x80\xae")  # fmt: skip


def run(data: bytes) -> None:
    # No system hands on a word with a NUL.
    words = data.replace(b"\0", b"").decode("utf-8", "surrogateescape").split("\n")[:12]
    words[0] = words[0] if words[0] in _COMMANDS else _COMMANDS[len(data) % len(_COMMANDS)]
    # Only what lies in the place of work.
    words = [word for word in words if "/" not in word and ".." not in word and not word.startswith("~")]
    tried(lambda: _run(words), named=data)


def _run(words: list[str]) -> None:
    before = Path.cwd()
    os.chdir(folder_of(FORMS[0]))
    link = workplace() / FORMS[0] / "grouped"
    if not link.is_symlink():
        link.symlink_to(".")
    try:
        result = CliRunner().invoke(main, words)
    finally:
        os.chdir(before)
    if result.exit_code not in _CODES or "Traceback" in result.output or 'File "' in result.output:
        place = "".join(line.strip() for line in result.output.splitlines() if "src/lookalike" in line)[-120:]
        raise Fault(f"exit {result.exit_code}", place or words[0])
