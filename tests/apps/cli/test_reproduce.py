"""`lookalike reproduce`: the list of experiments, a run with its verdicts, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lookalike.apps.papers import EXPERIMENTS, run
from tests.apps.cli.running import lookalike
from tests.apps.papers.test_run import EXAMPLE, TINY


def test_the_list_names_every_figure() -> None:
    listed = lookalike("reproduce", "--list")
    assert listed.returncode == 0, listed.stderr
    for experiment in EXPERIMENTS:
        assert ", ".join(experiment.names) in listed.stdout
        assert experiment.title in listed.stdout


@pytest.mark.parametrize(("words", "said"), [([], "--list names them all"), (["hg-6z"], "hg-6a")])
def test_without_an_experiment_it_says_how_to_name_one(words: list[str], said: str) -> None:
    refused = lookalike("reproduce", *words)
    assert refused.returncode == 2
    assert said in refused.stderr


def test_claims_that_do_not_show_are_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK", TINY)
    monkeypatch.setattr(run, "find", lambda names: [EXAMPLE])
    done = lookalike("reproduce", "xx-1a", "--out", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    assert "DOES NOT SHOW: loss falls with k" in done.stdout
    assert done.stdout.endswith(f"Results and figures: {tmp_path / 'figures'}\n")
    assert (tmp_path / "figures" / "xx-1a.svg").exists()
    (plain,) = json.loads(lookalike("reproduce", "xx-1a", "--json").stdout)
    assert plain["shows"] == {"loss rises with k": True, "loss falls with k": False}
    assert len(plain["rows"]) == 4
