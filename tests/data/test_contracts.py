"""The residual of an attack: worked examples, and what is said where there is nothing to print."""

from __future__ import annotations

import pytest

from lookalike.data.contracts import NO_CONTROL, Residual, Score, wilson


@pytest.mark.parametrize(
    ("n", "right", "control_right", "centres", "residual", "low", "high"),
    [
        (500, 60, 20, (0.12290, 0.02852, 0.04351, 0.01747), 0.08300, 0.04880, 0.11720),
        (2000, 220, 180, None, 0.02195, 0.00170, 0.04221),
        (10000, 2065, 1175, None, 0.10083, 0.08977, 0.11188),
    ],
)
def test_worked_examples(
    n: int,
    right: int,
    control_right: int,
    centres: tuple[float, float, float, float] | None,
    residual: float,
    low: float,
    high: float,
) -> None:
    if centres is not None:
        assert (*wilson(right, n), *wilson(control_right, n)) == pytest.approx(centres, abs=5e-6)
    found = Residual(n=n, right=right, control_n=n, control_right=control_right)
    assert (found.residual, found.low, found.high) == pytest.approx((residual, low, high), abs=5e-6)
    assert found.uncut == found.residual


def test_shares_of_nothing_give_no_leak() -> None:
    found = Residual(n=500, right=0, control_n=500, control_right=0)
    assert wilson(0, 500)[0] == pytest.approx(0.0038, abs=5e-5)
    assert found.residual == 0


def test_a_control_group_that_is_guessed_better_is_cut_to_0_and_kept_uncut() -> None:
    found = Residual(n=1000, right=100, control_n=1000, control_right=200, baseline=0.05, kind="ends")
    assert found.uncut is not None
    assert found.uncut < 0
    assert (found.residual, found.low) == (0, 0)
    plain = found.to_plain()
    assert list(plain) == [
        "n", "right", "control_n", "control_right", "baseline", "residual", "low", "high", "uncut", "kind"
    ]  # fmt: skip
    assert (plain["residual"], plain["kind"], plain["n"], plain["control_right"]) == (0, "ends", 1000, 200)


def test_where_everything_is_known_anyway_there_is_no_residual() -> None:
    found = Residual(n=200, right=200, control_n=200, control_right=200)
    assert (found.residual, found.low, found.high, found.uncut) == (None, None, None, None)
    assert found.sentence().endswith("Everything is known about everybody anyway.")


def test_without_a_control_group_the_sentence_says_what_is_missing() -> None:
    found = Residual(n=300, right=60, baseline=0.1)
    assert found.residual is None
    assert found.sentence() == (
        "Of 300 guesses about people in the table 20 % are right, of guesses that ignore the release 10 %. "
        f"{NO_CONTROL}"
    )


def test_sentences_have_whole_per_cents_and_no_figure_below_100_guesses() -> None:
    found = Residual(n=10000, right=2065, control_n=10000, control_right=1175, baseline=0.08)
    assert found.sentence() == (
        "Of 10,000 guesses about people in the table 21 % are right, of 10,000 about people like them who are not in "
        "it 12 %, of guesses that ignore the release 8 %. So of what is not known anyway 10 % (9 to 11 %) is learned "
        "about people because they are in the table."
    )
    few = Residual(n=500, right=60, control_n=99, control_right=2)
    assert "%" not in few.sentence()
    assert "Fewer than 100 guesses" in few.sentence()


def test_a_score_has_the_same_interval() -> None:
    assert Score(0, 0).interval == (0.0, 1.0)
    centre, reach = wilson(10, 100)
    assert Score(10, 100).interval == pytest.approx((centre - reach, centre + reach))
