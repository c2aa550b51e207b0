"""Tests of claims: each builder holds, fails or leaves undecided, and a claim gets one of five verdicts."""

from __future__ import annotations

import pytest

from lookalike.apps.papers import claims
from lookalike.apps.papers.claims import Claim, Found, Test, Verdict, judge
from lookalike.apps.papers.experiments import Results
from tests.apps.papers.measuring import made_up, repeated

LINES = made_up("k", (2, 5, 10), {"loss": {"low": [1.0, 2.0, 3.0], "high": [2.0, 4.0, 6.0], "bent": [1.0, 4.0, 2.0]}})
TIMES = repeated(made_up("n", (1, 2), {"seconds": {"quick": [1.0, 2.0], "slow": [4.0, 8.0]}}), 1.0, 1.1, 0.9)
EMPTY = Results(())


@pytest.mark.parametrize(
    ("test", "results", "holds"),
    [
        (claims.below("k", "loss", "low", "high"), LINES, True),
        (claims.below("k", "loss", "low", "high", "bent"), LINES, False),
        (claims.below("k", "loss", "high", "low", factor=2), LINES, True),
        (claims.below("k", "loss", "high", "low", factor=1.9), LINES, False),
        (claims.below("k", "loss", "low", "bent", at=[2, 5]), LINES, True),
        (claims.below("k", "loss", "low", "bent", at=[10]), LINES, False),
        (claims.below("k", "loss", "low", "absent"), LINES, None),
        (claims.below("k", "loss", "high", "absent", "low"), LINES, False),
        (claims.quicker("n", "quick", "slow"), TIMES, True),
        (claims.quicker("n", "slow", "quick"), TIMES, False),
        (claims.quicker("n", "quick", "slow", factor=0.25), TIMES, None),
        (claims.quicker("n", "quick", "slow", factor=0.1), TIMES, False),
        (claims.quicker("n", "quick", "absent"), TIMES, None),
        (claims.quicker("n", "quick", "slow", at=[2]), TIMES, True),
        (claims.quicker("n", "quick", "slow", at=[3]), TIMES, None),
        (claims.rises("k", "loss", "low", "high"), LINES, True),
        (claims.rises("k", "loss", "low", "bent"), LINES, False),
        (claims.rises("k", "loss", "bent", slack=0.5), LINES, True),
        (claims.rises("k", "loss", "absent"), LINES, None),
        (claims.falls("k", "loss", "low"), LINES, False),
        (claims.falls("k", "loss", "fall"), made_up("k", (2, 5), {"loss": {"fall": [2.0, 1.0]}}), True),
        (claims.falls("k", "loss", "fall"), EMPTY, None),
        (claims.takes_longer("n", "quick", "slow"), TIMES, True),
        (claims.takes_longer("n", "flat"), made_up("n", (1, 2), {"seconds": {"flat": [2.0, 1.0]}}), False),
        (
            claims.takes_longer("n", "flat"),
            repeated(made_up("n", (1, 2), {"seconds": {"flat": [1.0, 1.1]}}), 0.8, 1.2),
            None,
        ),
        (claims.takes_longer("n", "dip"), made_up("n", (1, 2, 3), {"seconds": {"dip": [1.0, 5.0, 3.0]}}), False),
        (claims.takes_longer("n", "absent"), TIMES, None),
        (claims.takes_less("n", "flat"), made_up("n", (1, 2), {"seconds": {"flat": [2.0, 1.0]}}), True),
        (claims.takes_less("n", "quick"), TIMES, False),
        (claims.takes_less("n", "peak"), made_up("n", (1, 2, 3), {"seconds": {"peak": [3.0, 5.0, 1.0]}}), False),
        (claims.ratio("k", "loss", "high", "low", 1.5, 2.5), LINES, True),
        (claims.ratio("k", "loss", "high", "low", 2.5, 9), LINES, False),
        (claims.ratio("k", "loss", "high", "low", 0, 1.5), LINES, False),
        (claims.ratio("k", "loss", "bent", "low", 2, 2, of=max), LINES, True),
        (claims.ratio("k", "loss", "bent", "low", 1, 1, at=[2]), LINES, True),
        (claims.ratio("k", "loss", "bent", "absent", 1, 1), LINES, None),
        (claims.between("k", "loss", "low", 1, 3), LINES, True),
        (claims.between("k", "loss", "low", 1.5, 3), LINES, False),
        (claims.between("k", "loss", "low", 0, 2.5), LINES, False),
        (claims.between("k", "loss", "low", 2, 2, at=[5]), LINES, True),
        (claims.between("k", "loss", "absent", 0, 9), LINES, None),
        (claims.steady("k", "loss", "low", factor=3), LINES, True),
        (claims.steady("k", "loss", "low", "bent", factor=2.9), LINES, False),
        (claims.steady("k", "loss", "absent", factor=9), LINES, None),
        (claims.near_printed("k", "loss", "low", {2: 1.05, 5: 1.9}, within=0.1), LINES, True),
        (claims.near_printed("k", "loss", "low", {2: 1.05, 5: 2.5}, within=0.1), LINES, False),
        (claims.near_printed("k", "loss", "low", {2: 0.5}, within=0.1), LINES, False),
        (claims.near_printed("k", "loss", "low", {7: 1.0}, within=0.1), LINES, None),
    ],
)
def test_a_builder_holds_fails_or_leaves_undecided(test: Test, results: Results, holds: bool | None) -> None:
    found = test(results)
    assert found.holds is holds
    assert found.evidence


def _always(holds: bool | None, evidence: str = "seen") -> Test:
    return lambda results: Found(holds, evidence)


@pytest.mark.parametrize(
    ("parts", "holds"),
    [
        ((True, True), True),
        ((True, None), None),
        ((None, False), False),
        ((True, False), False),
    ],
)
def test_every_test_must_hold(parts: tuple[bool | None, ...], holds: bool | None) -> None:
    assert claims.every(*(_always(part) for part in parts))(EMPTY) == Found(holds, "seen")


def test_evidence_has_the_means_and_says_where_a_test_fails() -> None:
    found = claims.below("k", "loss", "low", "bent")(LINES)
    assert found.evidence == "low 1 2 3; bent 1 4 2 (fails at k 10)"
    both = claims.every(claims.below("k", "loss", "low", "high"), claims.rises("k", "loss", "low"))(LINES)
    assert both.evidence == "low 1 2 3; high 2 4 6"
    assert claims.describe(LINES, "k", "loss", "absent") == "absent not measured"
    assert claims.describe(LINES, "k", "loss", "low", [5, 10]) == "low 2 3"
    printed = claims.near_printed("k", "loss", "low", {2: 1.05}, within=0.1)(LINES)
    assert printed.evidence == "low: 1 (printed 1.05) at 2"
    assert "high over low: 2 (2 to 2)" in claims.ratio("k", "loss", "high", "low", 1, 3)(LINES).evidence


@pytest.mark.parametrize(
    ("number", "said"), [(0.123456, "0.123"), (12.0, "12"), (999.4, "999"), (999.6, "1,000"), (1234567.0, "1,234,567")]
)
def test_figures_have_three_digits(number: float, said: str) -> None:
    assert claims.format_figure(number) == said


def _claim(holds: bool | None, fails: Verdict = Verdict.AGAINST, limits: str = "") -> Claim:
    return Claim("1", "It holds.", _always(holds), fails=fails, why="It had to fail.", limits=limits)


def test_the_five_verdicts() -> None:
    assert judge(_claim(True), EMPTY).verdict is Verdict.REPRODUCED
    assert judge(_claim(True), EMPTY, "Other data.").verdict is Verdict.LIMITED
    assert judge(_claim(False, Verdict.NO_DATA), EMPTY).verdict is Verdict.NO_DATA
    assert judge(_claim(False), EMPTY).verdict is Verdict.AGAINST
    assert judge(_claim(None), EMPTY).verdict is Verdict.OPEN
    assert judge(_claim(False, Verdict.OPEN), EMPTY).verdict is Verdict.OPEN
    assert {str(verdict) for verdict in Verdict} == {
        "reproduced",
        "reproduced with limits",
        "not reproduced (data not public)",
        "not reproduced (our evidence against the paper)",
        "open",
    }


def test_each_verdict_has_its_evidence_and_its_reason() -> None:
    reproduced = judge(_claim(True), EMPTY)
    assert (reproduced.evidence, reproduced.reason) == ("seen", "")
    limited = judge(_claim(True, limits="A rebuilt method."), EMPTY, "Other data.")
    assert limited.reason == "A rebuilt method. Other data."
    assert judge(_claim(False), EMPTY).reason == "It had to fail."
    assert judge(Claim("1", "It holds.", _always(None)), EMPTY).reason == "The measurements do not decide."


def test_a_claim_without_a_test_is_open() -> None:
    judged = judge(Claim("1", "It holds.", why="Nothing was printed."), EMPTY)
    assert (judged.verdict, judged.evidence, judged.reason) == (Verdict.OPEN, "", "Nothing was printed.")


def test_invented_records_limit_a_success_and_refute_nothing() -> None:
    assert judge(_claim(True), EMPTY, invented=True).verdict is Verdict.LIMITED
    refuted = judge(_claim(False), EMPTY, invented=True)
    assert refuted.verdict is Verdict.OPEN
    assert "invented" in refuted.reason
    assert judge(_claim(False, Verdict.NO_DATA), EMPTY, invented=True).verdict is Verdict.NO_DATA


def test_repetitions_that_disagree_decide_nothing() -> None:
    """The means fall, but one of the two repetitions rises."""
    rows = [
        {"k": k, "series": series, "repetition": repetition, "loss": loss}
        for series, losses in (("low", ([3.0, 1.0], [1.0, 1.5])), ("once", ([2.0, 1.0],)))
        for repetition, pair in enumerate(losses)
        for k, loss in zip((2, 5), pair, strict=True)
    ]
    results = Results(tuple(rows))
    assert len(results.list_repetitions()) == 2
    falls, rises = claims.falls("k", "loss", "low"), claims.rises("k", "loss", "low")
    assert (falls(results).holds, rises(results).holds) == (True, False)
    judged = judge(Claim("1", "It falls.", falls), results)
    assert (judged.verdict, judged.evidence) == (Verdict.OPEN, "low 2 1.25")
    assert judged.reason == "It holds for the means, but fails in 1 of 2 repetitions taken alone."
    refuted = judge(Claim("1", "It rises.", rises), results)
    assert refuted.verdict is Verdict.OPEN
    assert refuted.reason == "It fails for the means, but holds in 1 of 2 repetitions taken alone."
    assert judge(Claim("1", "It falls.", claims.falls("k", "loss", "once")), results).verdict is Verdict.REPRODUCED
    above = judge(Claim("1", "Low is above once.", claims.below("k", "loss", "once", "low")), results)
    assert above.reason == "It holds for the means, but fails in 1 of 2 repetitions taken alone."


def test_a_point_is_known_whichever_order_its_names_have() -> None:
    rows = [
        {"table": "occ", "k": k, "repetition": repetition, "series": "one", "k_again": repetition}
        for repetition in (0, 1, 2)
        for k in (1, 2)
    ]
    alone = Results(tuple(rows)).list_repetitions()
    assert [[row["repetition"] for row in one.rows] for one in alone] == [[0, 0], [1, 1], [2, 2]]
    assert Results(tuple(rows[:2])).list_repetitions() == []


def test_a_verdict_that_changes_with_the_seed_is_none() -> None:
    claim = Claim("1", "It rises.", claims.rises("k", "loss", "low"), fails=Verdict.NO_DATA)
    fallen = made_up("k", (2, 5, 10), {"loss": {"low": [3.0, 2.0, 1.0]}})
    assert judge(claim, LINES, again=LINES).verdict is Verdict.REPRODUCED
    assert judge(claim, fallen, again=fallen).verdict is Verdict.NO_DATA
    for first, second in ((LINES, fallen), (fallen, LINES), (LINES, EMPTY)):
        judged = judge(claim, first, again=second)
        assert judged.verdict is Verdict.OPEN
        assert "second run" in judged.reason
        assert judged.evidence == judge(claim, first).evidence
    # What is open anyway keeps its own reason.
    kept = Claim("1", "It rises.", claims.rises("k", "loss", "absent"), why="Nobody measured it.")
    assert judge(kept, LINES, again=fallen).reason == "Nobody measured it."
