"""`lookalike reproduce`: the list of experiments, a run with its verdicts, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lookalike.apps.papers import EXPERIMENTS, run
from tests.apps.cli.running import lookalike
from tests.apps.papers.test_run import EXAMPLE, FALLS, RISES, TINY


def test_the_list_names_every_figure() -> None:
    listed = lookalike("reproduce", "--list")
    assert listed.returncode == 0, listed.stderr
    for experiment in EXPERIMENTS:
        assert all(name in listed.stdout for name in experiment.names)
        assert experiment.title in listed.stdout


@pytest.mark.parametrize(("words", "said"), [([], "--list names them all"), (["hg-6z"], "hg-6a")])
def test_without_an_experiment_it_says_how_to_name_one(words: list[str], said: str) -> None:
    refused = lookalike("reproduce", *words)
    assert refused.returncode == 2
    assert said in refused.stderr


def test_each_claim_has_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK", TINY)
    monkeypatch.setattr(run, "EXPERIMENTS", (EXAMPLE,))
    done = lookalike("reproduce", "xx-1a", "--out", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    assert f"reproduced with limits: {RISES}" in done.stdout
    assert f"not reproduced (data not public): {FALLS}" in done.stdout
    assert "1 reproduced with limits; 1 not reproduced (data not public)\n" in done.stdout
    assert done.stdout.endswith(f"Results and figures: {tmp_path / 'figures'}\n")
    assert (tmp_path / "figures" / "xx-1a.svg").exists()
    (plain,) = json.loads(lookalike("reproduce", "xx-1a", "--json").stdout)
    assert [claim["verdict"] for claim in plain["claims"]] == [
        "reproduced with limits",
        "not reproduced (data not public)",
    ]
    assert len(plain["rows"]) == 4


def test_another_seed_needs_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK", TINY)
    monkeypatch.setattr(run, "EXPERIMENTS", (EXAMPLE,))
    assert lookalike("reproduce", "xx-1a", "--out", tmp_path).returncode == 0
    refused = lookalike("reproduce", "xx-1a", "--out", tmp_path, "--seed", "1")
    assert refused.returncode != 0
    assert "Name another folder with --out" in refused.stderr
