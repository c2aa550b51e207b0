"""`lookalike attack`: chosen attacks as text and JSON, and what is needed for them."""

from __future__ import annotations

import json
from pathlib import Path

from lookalike.apps.cli.attack import split_attacks
from tests.apps.cli.running import lookalike


def test_the_command_attack(patients: Path, release: Path) -> None:
    words = ("attack", release, "--original", patients)
    shown = lookalike(*words, "--attack", "naive-bayes:kind=classic,homogeneity", "--seed", "1")
    assert shown.returncode == 0, shown.stderr
    assert "naive-bayes:kind=classic" in shown.stdout
    assert "homogeneity" in shown.stdout
    printed = lookalike(*words, "--attack", "linkage", "--json")
    assert json.loads(printed.stdout)["attacks"][0]["attack"].startswith("linkage")


def test_the_command_attack_needs_the_original(release: Path) -> None:
    refused = lookalike("attack", release)
    assert refused.returncode == 2
    assert "--original" in refused.stderr


def test_an_attack_that_does_not_apply_is_noted_and_the_others_are_made(patients: Path, release: Path) -> None:
    words = ("attack", release, "--original", patients)
    shown = lookalike(*words, "--attack", "possible-worlds", "--attack", "homogeneity")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[1].startswith("homogeneity")
    assert "possible-worlds was not made: " in shown.stderr
    misspelt = lookalike(*words, "--attack", "homogenity")
    assert misspelt.returncode == 2
    assert 'Did you mean "homogeneity"' in misspelt.stderr


def test_several_attacks_are_parted_by_commas() -> None:
    assert split_attacks("linkage") == ["linkage"]
    assert split_attacks("naive-bayes:kind=classic,within=unit,linkage") == [
        "naive-bayes:kind=classic,within=unit",
        "linkage",
    ]
