"""Spellings of yesterday, made up here since none is deprecated: they work, and say what to write instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lookalike as la
from lookalike import deprecations
from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.apps.cli import main
from lookalike.data.parameters import component_text
from lookalike.deprecations import NAME, OPTION, Deprecated, Deprecation
from lookalike.models import MODELS, parse_model, parse_promise
from lookalike.version import __version__
from tests.apps.cli.running import lookalike


def old(kind: str, old: str, new: str) -> Deprecated:
    return Deprecated(kind=kind, old=old, new=new, since="0.2.0", until="0.4.0")


@pytest.fixture
def yesterday(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = (
        old(NAME, "anonymise", "publish"),
        old("model", "k-anon", "k-anonymity"),
        old("algorithm", "median-cuts", "mondrian"),
        old("mondrian parameter", "slices", "cuts"),
        old(OPTION, "--promise", "--model"),
    )
    monkeypatch.setattr(deprecations, "DEPRECATED", listed)


@pytest.mark.usefixtures("yesterday")
def test_an_old_spelling_works_and_says_what_to_write_since_when_and_how_long() -> None:
    said = "The name anonymise is deprecated since version 0.2.0: write publish. Version 0.4.0 may not know"
    with pytest.warns(Deprecation, match=said) as told:
        assert la.anonymise is la.publish
    assert told[0].filename == __file__
    with pytest.warns(Deprecation, match="write k-anonymity"):
        assert parse_model("k-anon:4") == la.KAnonymity(4)
    with pytest.warns(Deprecation, match="write k-anonymity"):
        assert parse_promise("k-anon:4").model == la.KAnonymity(4)
    with pytest.warns(Deprecation) as told:
        assert component_text(parse_algorithm("median-cuts:slices=2")) == "mondrian:cuts=2"
    assert [one.category for one in told] == [Deprecation, Deprecation]


@pytest.mark.usefixtures("yesterday")
def test_the_spelling_of_today_warns_of_nothing() -> None:
    assert parse_promise("k-anonymity:4").model == parse_model("k-anonymity:4")
    assert component_text(parse_algorithm("mondrian:cuts=2")) == "mondrian:cuts=2"
    with pytest.raises(AttributeError, match="anonymize"):
        la.anonymize


@pytest.mark.usefixtures("yesterday")
def test_the_command_says_it_in_a_note_once(patients: Path, tmp_path: Path) -> None:
    words = ("publish", patients, "--qi", "age,sex", "--sensitive", "diagnosis", "--algorithm", "median-cuts")
    done = lookalike(*words, "--promise=k-anon:4", "--promise", "k-anon:5", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert '"k-anonymity:5"' in done.stdout
    for sentence in ("write --model.", "write k-anonymity.", "write mondrian."):
        assert done.stderr.count(sentence) == 1


def test_what_is_listed_leads_somewhere_and_is_kept_long_enough() -> None:
    options = {flag for command in main.commands.values() for option in command.params for flag in option.opts}
    known = {NAME: set(la.__all__), OPTION: options, "model": set(MODELS), "algorithm": set(ALGORITHMS)}
    for one in deprecations.DEPRECATED:
        assert one.new in known.get(one.kind, {one.new})
        assert one.old not in known.get(one.kind, ())
        since, until = (tuple(map(int, version.split(".")[:2])) for version in (one.since, one.until))
        assert until[0] > since[0] or until[1] >= since[1] + 2
        assert since <= tuple(map(int, re.findall(r"\d+", __version__)[:2]))
