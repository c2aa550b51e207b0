"""What holds for all of these attacks: how they are written, and that they run on every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lookalike.attacks import describe_attacks, parse_attack
from lookalike.data.contracts import Attack, Target
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Withheld
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.audit.making import bucketized, grouped, mixing_matrix, perturbed, ring, whole_numbers, words

NAMES = ("linkage", "homogeneity", "skewness", "similarity", "corruption", "composition", "repeated-values")
ILLNESSES = ["zoster", "quinsy", "rickets", "yaws"]
TREE = {"tree": {"any": {"old": ["zoster", "quinsy"], "new": ["rickets", "yaws"]}}}
DRUGS = ["codeine", "aspirin", "morphine"]


def two_sensitive_columns(n_rows: int = 60) -> Microdata:
    rng = np.random.default_rng(3)
    columns = (
        whole_numbers("age", rng.integers(0, 20, n_rows)),
        words("illness", rng.integers(0, 4, n_rows), ILLNESSES),
        words("drug", rng.integers(0, 3, n_rows), DRUGS),
    )
    attributes = (
        Attribute(name="age", role=Role.QUASI),
        Attribute(name="illness", role=Role.SENSITIVE, taxonomy=TREE),
        Attribute(name="drug", role=Role.SENSITIVE),
    )
    return Microdata.encode(Table(columns), Schema(attributes))


def released(data: Microdata, form: str) -> Any:
    rng = np.random.default_rng(4)
    groups, order = np.argsort(np.argsort(data.quasi[:, 0], kind="stable")) // 6, rng.permutation(data.n_rows)
    if form == "grouped":
        return grouped(data, groups, order)
    if form == "bucketized":
        return bucketized(data, groups, order, rng.permutation(data.n_rows))
    if form == "perturbed":
        return perturbed(rng, data, [mixing_matrix(4, 7, 10), mixing_matrix(3, 6, 10)], order)
    return ring(rng, data, 4)[0]


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_reads_back_as_it_prints(name: str) -> None:
    attack = parse_attack(name)
    assert isinstance(attack, Attack)
    assert str(attack) == name
    row = next(row for row in describe_attacks() if row["name"] == name)
    assert row["meaning"]
    assert all(parameter["meaning"] for parameter in row["parameters"])


@pytest.mark.parametrize("text", ["linkage:threshold=0.05,fraction=0.01", "corruption:known=3,repeats=2"])
def test_parameters_read_back(text: str) -> None:
    assert str(parse_attack(text)) == text


@pytest.mark.slow
@pytest.mark.parametrize("form", ["grouped", "bucketized", "perturbed", "matched"])
@pytest.mark.parametrize("name", NAMES)
def test_every_form_with_two_sensitive_columns(name: str, form: str) -> None:
    data = two_sensitive_columns()
    target = Target(release=released(data, form), original=data, others=(released(data, "bucketized"),))
    attack = parse_attack(name)
    if attack.refuses(target) is not None:
        assert (name, form != "matched") == ("repeated-values", True)
        return
    findings = attack.run(target, Randomness(1), silent)
    columns = {"linkage": [None], "similarity": ["illness"]}.get(name, ["illness", "drug"])
    assert [finding.column for finding in findings] == columns
    again = attack.run(target, Randomness(1), silent)
    for finding, other in zip(findings, again, strict=True):
        assert finding.attack == name
        assert not any(value in finding.sentence for value in (*ILLNESSES, *DRUGS))
        assert all(np.isfinite(number) for number in finding.figures.values())
        assert (finding.score, finding.figures, finding.sentence) == (other.score, other.figures, other.sentence)
        if finding.exposure is not None:
            assert (finding.exposure.sizes > 0).all()


@pytest.mark.parametrize("name", ["linkage", "homogeneity", "skewness", "similarity", "corruption", "composition"])
def test_records_that_were_left_out_are_nowhere(name: str) -> None:
    data = two_sensitive_columns()
    kept = np.arange(6, 60)
    groups = np.argsort(np.argsort(data.quasi[:, 0], kind="stable")) // 6
    groups[:6] = groups[6]
    whole = grouped(data, groups, kept)
    counts = tuple(np.bincount(data.sensitive[:6, column], minlength=4) for column in range(2))
    release = type(whole)(**{**vars(whole), "withheld": Withheld(suppressed=counts, n_suppressed=6)})
    target = Target(release=release, original=data, others=(released(data, "bucketized"),))
    for finding in parse_attack(name).run(target, Randomness(1), silent):
        assert all(np.isfinite(number) for number in finding.figures.values())
        if finding.exposure is not None:
            assert (finding.exposure.sizes > 0).all()
