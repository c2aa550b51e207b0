"""What nobody foresaw: a documented code and a sentence, with the place in the software and none of the data."""

from __future__ import annotations

import json

import polars as pl
import pytest

from lookalike import memory
from tests.apps.cli.running import lookalike

NAME = "Mrs. Secret"


@pytest.mark.parametrize("kind", [ValueError, EOFError, pl.exceptions.PanicException])
def test_a_fault_of_the_software_is_told_without_its_words(
    monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    """A panic of a library in Rust is no plain exception; click takes EOFError for an interruption."""

    def fails(*_: object) -> None:
        raise kind(NAME)

    monkeypatch.setattr("lookalike.apps.samples.sample_table", fails)
    said = lookalike("demo", "--out", "nowhere", "--json")
    assert said.returncode == 70
    assert f"A fault of the software ({kind.__name__}), with nothing written. Please report it." in said.stderr
    assert json.loads(said.stdout)["error"]["kind"] == "Fault"
    assert "test_exits.py" in said.stderr
    assert NAME not in said.stdout + said.stderr


def test_a_fault_for_lack_of_addresses_is_put_down_to_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise OSError("cannot load library")

    monkeypatch.setattr("lookalike.apps.samples.sample_table", fails)
    monkeypatch.setattr(memory, "is_scarce", lambda: True)
    said = lookalike("demo", "--out", "nowhere", "--json")
    assert said.returncode == 2
    assert json.loads(said.stdout)["error"]["kind"] == "MemoryError"
    assert "ulimit -v" in said.stderr


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (["publish", "a.csv", "--k", "5"], "write --model k-anonymity:5."),
        (["publish", "a.csv", "-k", "5"], "write --model k-anonymity:5."),
        (["publish", "a.csv", "--l=3"], "write --model l-diversity:3."),
        (["publish", "a.csv", "--out", "x", "--model", "k-anonymity", "5"], "Write --model k-anonymity:5."),
        (["publish", "a.csv", "--out", "x", "--model", "l-diversity:2", "--qi", "age", "sex"], "--qi age,sex"),
        (["anonymize", "a.csv"], "Write lookalike publish."),
        (["verify", "a.csv"], "Write lookalike audit."),
        (["publish", "a.csv", "--models", "k-anonymity:5"], "'--model'"),
    ],
)
def test_options_and_commands_of_other_names_say_what_to_write(words: list[str], written: str) -> None:
    said = lookalike(*words)
    assert said.returncode == 2
    assert written in said.stderr
