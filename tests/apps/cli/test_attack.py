"""`lookalike attack`: chosen attacks as text and JSON, and what is needed for them."""

from __future__ import annotations

import json
from pathlib import Path

from lookalike.apps.cli.attack import split_attacks
from lookalike.apps.samples import hospital, to_csv
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
    assert "\n  What this means for signing: " in shown.stdout
    assert "Not applicable: possible-worlds. It is about matched releases" in shown.stderr
    assert "Not run, because not asked for: linkage, " in shown.stderr
    misspelt = lookalike(*words, "--attack", "homogenity")
    assert misspelt.returncode == 2
    assert 'Did you mean "homogeneity"' in misspelt.stderr


def test_several_attacks_are_parted_by_commas() -> None:
    assert split_attacks("linkage") == ["linkage"]
    assert split_attacks("naive-bayes:kind=classic,within=unit,linkage") == [
        "naive-bayes:kind=classic,within=unit",
        "linkage",
    ]


def test_a_control_group_is_printed_beside_the_table(patients: Path, release: Path, tmp_path: Path) -> None:
    to_csv(hospital(300, seed=77), tmp_path / "others.csv")
    words = ("attack", release, "--original", patients, "--control", tmp_path / "others.csv")
    shown = lookalike(*words, "--attack", "singling-out,linkability,inference", "--seed", "1")
    assert shown.returncode == 0, shown.stderr
    assert "control" in shown.stdout.splitlines()[0]
    assert "because they are in the table" in shown.stdout
    printed = lookalike(*words, "--attack", "inference:attacker=reader", "--json")
    (found,) = json.loads(printed.stdout)["attacks"]
    assert found["kind"] == "reader"
    assert found["n"] == found["control_n"] > 0
    names = ("right", "control_right", "baseline", "residual", "low", "high", "uncut")
    assert all(found[name] is not None for name in names)


def test_the_two_files_of_linkability_are_named(patients: Path, release: Path) -> None:
    words = ("attack", release, "--original", patients)
    shown = lookalike(*words, "--split", "age / sex, zip code", "--json")
    assert shown.returncode == 0, shown.stderr
    (found,) = json.loads(shown.stdout)["attacks"]
    assert found["attack"] == "linkability:first=age,second=sex|zip code"
    assert found["residual"] is None
    refused = lookalike(*words, "--split", "age / / sex")
    assert refused.returncode == 2
    assert "--split" in refused.stderr
    twice = lookalike(*words, "--split", "age", "--attack", "linkability:first=age")
    assert twice.returncode == 2


def test_what_was_tried_is_written_and_repeated(patients: Path, release: Path, tmp_path: Path) -> None:
    words = ("attack", release, "--original", patients, "--protocol", tmp_path / "protocol.yaml")
    first = lookalike(*words, "--attack", "linkability")
    assert first.returncode == 0, first.stderr
    assert "internal use only" in first.stderr
    again = lookalike(*words)
    assert "the figures are the same" in again.stderr
    assert again.stdout == first.stdout


def test_people_are_held_out_at_the_command_line(patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "held"
    words = ("publish", patients, "--qi", "age", "--sensitive", "diagnosis", "--model", "k-anonymity:5")
    made = lookalike(*words, "--control", "0.2", "--report", "brief", "--out", out)
    assert made.returncode == 0, made.stderr
    assert "are held out as a control group" in made.stderr
    assert (tmp_path / "held PRIVATE" / "control.csv").exists()
    audited = lookalike("audit", patients, out, "--private", tmp_path / "held PRIVATE")
    assert audited.returncode == 0, audited.stdout
    attacked = lookalike("attack", out, "--original", patients, "--attack", "inference:attacker=reader", "--json")
    assert json.loads(attacked.stdout)["attacks"][0]["control_n"] > 0
    for elsewhere in (("--out", "-"), ("--out", tmp_path / "other", "--no-private")):
        refused = lookalike(*words, "--control", "0.2", *elsewhere)
        assert refused.returncode == 2
        assert "PRIVATE" in refused.stderr


def test_a_population_is_read_for_linkage(patients: Path, release: Path, tmp_path: Path) -> None:
    everybody = patients.read_text(encoding="utf-8").splitlines()
    others = tmp_path / "others.csv"
    to_csv(hospital(400, seed=78), others)
    population = tmp_path / "everybody.csv"
    population.write_text("\n".join([*everybody, *others.read_text(encoding="utf-8").splitlines()[1:]]) + "\n", "utf-8")
    words = ("attack", release, "--original", patients)
    shown = lookalike(*words, "--attack", f"linkage:population={population}", "--json")
    assert shown.returncode == 0, shown.stderr
    figures = json.loads(shown.stdout)["attacks"][0]["figures"]
    known = figures["highest journalist risk (population table)"]
    assert 0 < known <= figures["highest prosecutor risk"]
    assert figures["marketer risk (population table)"] < figures["mean prosecutor risk"]
    lacking = lookalike(*words, "--attack", f"linkage:population={others}")
    assert lacking.returncode == 2
    assert "of the table" in lacking.stderr
    twice = lookalike(
        *words, "--attack", f"linkage:population={population}", "--attack", f"linkage:population={others}"
    )
    assert twice.returncode == 2
    assert "Name one" in twice.stderr
