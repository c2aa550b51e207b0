"""The three risks: which word is said when, with the columns named, and never more than is known."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import lookalike as la
from lookalike.apps.samples import hospital
from lookalike.attacks.run import Attacked, Attacks
from lookalike.attacks.shared.consequence import Consequence
from lookalike.data.contracts import Finding, Residual
from lookalike.evaluation.report import Basis
from lookalike.evaluation.three_risks import RISKS, VERDICTS, Risk, three_risks


def basis(**settings: Any) -> Basis:
    asked = {"qi": ["age", "sex"], "sensitive": "diagnosis", "model": "k-anonymity:5", "seed": 1, **settings}
    return Basis.of(la.publish(hospital(400, seed=5), **asked).made)


def verdicts(found: tuple[Risk, ...]) -> list[str]:
    return [risk.verdict for risk in found]


def found_by(attack: str, right: int, control_right: int) -> Attacks:
    residual = Residual(n=1000, right=right, control_n=1000, control_right=control_right, baseline=0.05, kind="reader")
    finding = Finding(attack=attack, column="diagnosis", sentence="It was tried.", residual=residual)
    return Attacks((Attacked(finding, {}, Consequence("permitted", "It is permitted.")),), {})


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "k-anonymity, exact ends": ({"ends": "exact"}, ["measured", "measured", "open"]),
    "k-anonymity, rounded ends": ({"ends": {"age": 5}}, ["bounded", "measured", "open"]),
    "values promised": ({"model": ["k-anonymity:5", "beta-likeness:3"]}, ["", "measured", "bounded"]),
    "buckets": ({"model": "l-diversity:3", "algorithm": "anatomy"}, ["open", "measured", "bounded"]),
    "perturbed": ({"model": "beta-likeness:3", "algorithm": "perturbation"}, ["open", "measured", "bounded"]),
    "nothing sensitive": ({"sensitive": (), "ends": {"age": 5}}, ["bounded", "measured", "open"]),
    "two columns, one promised": (
        {"sensitive": ["diagnosis", "zip code"], "model": "diagnosis=l-diversity:3"},
        ["", "measured", "open"],
    ),
    "carried": (
        {"carry": ["length_of_stay"], "carry_anyway": ["length_of_stay"], "ends": {"age": 5}},
        ["measured", "measured", "open"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_word_follows_from_promises_and_cells(case: str) -> None:
    settings, expected = CASES[case]
    found = three_risks(basis(**settings))
    assert [risk.name for risk in found] == list(RISKS)
    for risk, word in zip(found, expected, strict=True):
        assert risk.verdict in VERDICTS
        assert word in ("", risk.verdict), risk
        assert risk.sentence.endswith(".")
        assert risk.figure
        assert not re.search(r"anonymous|prevents", risk.sentence)
    assert "age and sex" in found[0].sentence


def test_how_many_people_a_row_can_be_given_to() -> None:
    risk = three_risks(basis(ends={"age": 5}))[0]
    assert "no row can be given to fewer than" in risk.sentence.lower()
    assert re.fullmatch(r"1 in \d+", risk.figure)
    assert int(risk.figure.split()[-1]) >= 5


def test_rounded_ends_are_asked_for_where_they_are_not() -> None:
    risk = three_risks(basis(ends="exact"))[0]
    assert "age" in risk.sentence
    assert risk.figure == "not measured"


def test_the_promise_about_values_is_told_in_words() -> None:
    inference = three_risks(basis(model=["k-anonymity:5", "l-diversity:4"]))[2]
    assert "diagnosis" in inference.sentence
    assert inference.figure in ("20 % at most", "25 % at most"), "as reached, which may be less than promised"


def test_attacks_add_their_figure() -> None:
    found = three_risks(basis(), found_by("inference", 210, 120))
    assert found[2].figure == "10 %"
    assert "12 %" in found[2].sentence
    assert found[2].residual is not None
    worse = Attacks((*found_by("inference", 210, 120).made, *found_by("inference:attacker=reader", 300, 120).made), {})
    assert three_risks(basis(), worse)[2].figure == "20 %"


def test_a_public_report_has_words_and_no_scores() -> None:
    owner = basis(ends="exact")
    public = three_risks(owner.public())
    assert verdicts(public) == verdicts(three_risks(owner))
    assert all(risk.residual is None for risk in public)
    assert not any("attack" in risk.sentence for risk in public)


def test_a_failed_promise_bounds_nothing() -> None:
    made = basis(model=["k-anonymity:5", "l-diversity:4"])
    failed = replace(made.audit, verdicts=tuple(replace(one, passed=False) for one in made.audit.verdicts))
    found = three_risks(replace(made, audit=replace(failed, measured=())))
    assert found[0].verdict == "measured"
    assert found[2].verdict == "open"


def persons(**settings: Any) -> Basis:
    visits = {
        "patient": [number // 2 for number in range(80)],
        "age": [20 + number % 40 for number in range(80)],
        "diagnosis": [f"d{(number * 7 + number // 40) % 8}" for number in range(80)],
    }
    import polars as pl

    made = la.publish(
        pl.DataFrame(visits), qi="age", sensitive="diagnosis", person="patient", model="k-anonymity:3", **settings
    )
    return Basis.of(made.made)


def test_numbers_that_link_rows_leave_linkability_open() -> None:
    risk = three_risks(persons(rows="linked"))[1]
    assert (risk.verdict, risk.figure) == ("open", "linked")
    assert "linked by design" in risk.sentence


def test_persons_are_counted() -> None:
    found = three_risks(persons(ends={"age": 5}))
    assert found[0].verdict == "bounded"
    assert found[1].verdict == "measured"
