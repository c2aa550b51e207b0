"""Experiments of GB: what they measure in tiny size, the printed rules, and that each claim can hold and can fail."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from lookalike.algorithms.optimal_buckets import deal_values
from lookalike.algorithms.shared.bucket_sizes import Range, rooms
from lookalike.apps.papers import gb
from lookalike.apps.papers.claims import Verdict
from lookalike.apps.papers.experiments import Bench, Experiment, Results
from lookalike.apps.papers.gb.errors import ERRORS
from lookalike.apps.papers.gb.losses import ALLOWED, ANATOMY, LOSSES, NEEDED, NEEDS
from lookalike.apps.papers.gb.search import ANY, COUNT, RULE, RULES, SOME, Line, Task, count_settings, search_as_printed
from lookalike.apps.papers.gb.tables import OCC, THETAS, ceilings, corresponding_l
from lookalike.apps.papers.gb.times import (
    ALL,
    FULL,
    LOSS,
    MULTI,
    NONE,
    PAIRS,
    ROW_TIMES,
    VALUE_TIMES,
    solve_as_printed,
)
from tests.apps.papers.measuring import (
    TINY,
    altered,
    has_figures,
    is_complete,
    is_planned,
    made_up,
    measured,
    missing,
    repeated,
    shown,
    stand_ins,
    tells_its_story,
)

SERIES = ("TwoSize", "MultiSize", "Optimal")


@pytest.mark.parametrize("experiment", gb.EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_claims_are_complete(experiment: Experiment) -> None:
    is_complete(experiment)


def test_the_paper_tells_its_story() -> None:
    tells_its_story(gb.PAPER)


def test_every_figure_of_the_paper_is_there() -> None:
    names = {name for experiment in gb.EXPERIMENTS for name in experiment.names}
    assert names >= {f"gb-{number}-{table}" for table in ("occ", "edu") for number in (3, 4, 5, 6, 7)}


@pytest.mark.parametrize(("experiment", "most"), [(NEEDS, 20), (LOSSES, 5), (ERRORS, 3), (COUNT, 8), (RULES, 7)])
def test_they_measure_what_they_plan(experiment: Experiment, most: int) -> None:
    rows = measured(experiment, most)
    is_planned(experiment, rows)
    assert all(row["series"] for row in rows)
    assert not any("infeasible" in row for row in rows)
    assert {type(holds) for holds in shown(experiment, Results(tuple(rows))).values()} <= {bool, type(None)}


@pytest.mark.parametrize(("experiment", "most"), [(ROW_TIMES, 5), (VALUE_TIMES, 6)])
def test_times_are_measured_with_the_number_of_tests(experiment: Experiment, most: int) -> None:
    rows = measured(experiment, most)
    is_planned(experiment, rows)
    tests = {row["series"]: row.get("occ_tests") for row in rows}
    assert tests[FULL] < tests[LOSS] <= tests[NONE]
    assert rows[4]["series"] == PAIRS
    assert rows[4]["programs"] >= 12
    assert all(row["occ_seconds"] > 0 for row in rows)


def test_no_result_depends_on_the_clock() -> None:
    from lookalike.apps.papers.gb import errors, losses, search, times

    for module in (errors, losses, search, times):
        assert module.__file__ is not None
        with open(module.__file__, encoding="utf-8") as file:
            text = file.read()
        assert "seconds=" not in text
        assert "time_limit" not in text


def test_ceilings_and_their_l_are_those_of_the_paper() -> None:
    counts = np.array([8, 6, 4, 4, 2])
    bounds = ceilings(counts, 2)
    assert bounds == [Fraction(103, 150), Fraction(13, 25), Fraction(53, 150), Fraction(53, 150), Fraction(14, 75)]
    assert corresponding_l(bounds) == 6


def test_more_records_are_drawn_by_the_shares_of_the_table() -> None:
    bench = Bench(stand_ins(), TINY)
    counts = OCC.count_drawn(bench, 500_000, np.random.default_rng(1))
    known = OCC.count_known(bench)
    assert counts.sum() == 500_000
    assert np.allclose(counts / counts.sum(), known / known.sum(), atol=0.002)


def test_losses_fall_from_method_to_method() -> None:
    rows = measured(LOSSES, 4)
    assert [row["series"] for row in rows] == [ANATOMY, *SERIES]
    losses = [row["occ_msbs"] for row in rows]
    assert losses[1] >= losses[2] >= losses[3] > 0
    assert rows[0]["occ_anatomy_l"] > 1


def _counterexample() -> Task:
    line = Line.between(8, 2, 4)
    assert line is not None
    room1, room2 = rooms([Fraction(1), Fraction(26, 100)], (2, 4))
    return Task(line, np.array([6, 2]), room1, room2)


def test_the_printed_rule_takes_what_leaves_no_room() -> None:
    task = _counterexample()
    assert task.follow_rule(task.line.last) == 1
    assert not task.is_valid(1)
    assert task.try_all() == 2


def test_the_printed_move_picks_an_empty_value() -> None:
    line = Line.between(4, 1, 2)
    assert line is not None
    step = 1
    assert line.at(step) == (2, 1)
    # The first value has no room in buckets of 1: its record is on the other side already, where another would fit.
    room2 = np.array([2, 2, 2])
    task = Task(line, np.array([1, 2, 1]), np.array([0, 1, 1]), room2)
    assert task.is_valid(step)
    assert task.picks_an_empty_value(step)
    assert not Task(line, np.array([2, 1, 1]), np.array([1, 1, 0]), room2).picks_an_empty_value(step)


def test_the_printed_search_is_right_where_the_rule_is() -> None:
    counts = np.array([8, 6, 4, 4, 2])
    tried = Range.between(2, 12, ceilings(counts, 2))
    loss, valid = search_as_printed(counts, tried) or (0, False)
    assert loss <= 56
    assert valid == (loss == 56)
    assert search_as_printed(np.array([9, 1]), Range.between(2, 5, [Fraction(9, 10), Fraction(1, 10)])) is None


def test_settings_are_counted() -> None:
    assert count_settings(28, (2, 4)) == 8
    brute = sum((1000 - 3 * first) % 5 == 0 for first in range(334))
    assert count_settings(1000, (3, 5)) == brute
    assert count_settings(1_000_000) == 2_653_977
    assert count_settings(1_000_000, fewest=1) == 2_653_875


def test_claims_about_settings_and_rules() -> None:
    (says,) = (claim.says for claim in COUNT.claims)
    counted = made_up("records", (1_000_000,), {"settings": {ANY: [2_653_977], SOME: [2_653_875]}})
    assert missing(COUNT, counted) == [says]
    assert missing(COUNT, altered(counted, SOME, "settings", lambda _, place: 2_077_869)) == []
    right = Results(
        (
            *made_up("values", (2, 3), {"wrong": {RULE: [0, 0]}, "empty": {RULE: [0, 0]}}).rows,
            *made_up(
                "theta",
                (2, 32),
                {f"{table}_{y}": {RULE: [1, 1]} for table in ("occ", "edu") for y in ("valid", "excess")},
            ).rows,
        )
    )
    first, second, third = (claim.says for claim in RULES.claims)
    assert missing(RULES, right) == []
    assert missing(RULES, altered(right, RULE, "wrong", lambda _, place: place)) == [first]
    assert missing(RULES, altered(right, RULE, "empty", lambda _, place: place)) == [second]
    assert missing(RULES, altered(right, RULE, "edu_valid", lambda _, place: place)) == [third]
    assert missing(RULES, altered(right, RULE, "occ_excess", lambda _, place: 1.01)) == [third]


def _needs() -> Results:
    figures = {
        "occ_l": {NEEDED: [43, 38, 30, 22, 13], ALLOWED: [13] * 5},
        "edu_l": {NEEDED: [36, 28, 19, 12, 7], ALLOWED: [3] * 5},
        "occ_share": {NEEDED: [0.18] * 5, ALLOWED: [7.5] * 5},
        "edu_share": {NEEDED: [0.2] * 5, ALLOWED: [27.3] * 5},
    }
    return made_up("theta", THETAS, figures)


def test_claims_about_l() -> None:
    shares, most, last, none, above, often = (claim.says for claim in NEEDS.claims)
    assert missing(NEEDS, _needs()) == []
    assert missing(NEEDS, altered(_needs(), NEEDED, "occ_l", lambda ell, _: ell + 1)) == [last]
    assert missing(NEEDS, altered(_needs(), NEEDED, "occ_l", lambda ell, place: ell if place else 13)) == [most]
    assert missing(NEEDS, altered(_needs(), NEEDED, "edu_l", lambda ell, place: ell - 4 * (place == 4))) == [none]
    assert missing(NEEDS, altered(_needs(), NEEDED, "edu_l", lambda ell, _: min(ell, 9))) == [above]
    assert missing(NEEDS, altered(_needs(), ALLOWED, "edu_share", lambda share, _: share + 1)) == [shares]
    kept = altered(altered(_needs(), ALLOWED, "occ_l", lambda *_: 50), ALLOWED, "edu_l", lambda *_: 50)
    assert set(missing(NEEDS, kept)) == {shares, most, none, often}
    assert all(holds is None for holds in shown(NEEDS, Results(())).values())


def _losses() -> Results:
    losses = {ANATOMY: [42, 30, 13], "TwoSize": [12, 6, 2], "MultiSize": [11, 5.5, 1.9], "Optimal": [10, 5, 1.8]}
    figures = {f"{table}_msbs": losses for table in ("occ", "edu")}
    figures |= {f"{table}_anatomy_l": {ANATOMY: [43, 31, 14]} for table in ("occ", "edu")}
    return made_up("theta", (2, 8, 32), figures)


def test_claims_about_losses() -> None:
    inside, higher, much, slightly, close = (claim.says for claim in LOSSES.claims)
    assert missing(LOSSES, _losses()) == []
    assert missing(LOSSES, altered(_losses(), ANATOMY, "occ_anatomy_l", lambda ell, _: ell + 2)) == [inside]
    near = altered(_losses(), ANATOMY, "edu_msbs", lambda loss, place: loss if place else 22)
    assert missing(LOSSES, near) == [inside, much]
    lower = altered(_losses(), ANATOMY, "edu_msbs", lambda loss, place: loss if place else 11)
    assert missing(LOSSES, lower) == [inside, higher, much]
    assert missing(LOSSES, altered(_losses(), "TwoSize", "occ_msbs", lambda loss, _: 1.2 * loss)) == [slightly]
    better = altered(_losses(), "Optimal", "edu_msbs", lambda loss, place: loss / (1 + place))
    assert missing(LOSSES, better) == [close]


def _errors() -> Results:
    figures = {
        "occ_error": {"TwoSize": [10.5, 8, 6], "MultiSize": [9.9, 7.9, 5.9], "Optimal": [9.5, 7.5, 5.5]},
        "edu_error": {"TwoSize": [11, 7, 5], "MultiSize": [9.5, 6.5, 4.5], "Optimal": [8, 5, 3]},
    }
    for table in ("occ", "edu"):
        figures[f"{table}_msbs"] = {series: [30 - row, 20 - row, 10 - row] for row, series in enumerate(SERIES)}
    return made_up("theta", (2, 8, 32), figures)


def test_claims_about_errors() -> None:
    largest, most, close, closer, on_occ, guide = (claim.says for claim in ERRORS.claims)
    assert missing(ERRORS, _errors()) == []
    assert largest in missing(ERRORS, altered(_errors(), "TwoSize", "occ_error", lambda error, _: error + 3))
    small = Results(tuple({**row, **{y: row[y] / 2 for y in row if y.endswith("error")}} for row in _errors().rows))
    assert missing(ERRORS, small) == [largest]
    large = Results(tuple({**row, **{y: row[y] + 6 for y in row if y.endswith("error")}} for row in _errors().rows))
    assert missing(ERRORS, large) == [largest, most]
    assert missing(ERRORS, altered(_errors(), "Optimal", "edu_error", lambda error, _: error - 1)) == [close]
    assert closer in missing(ERRORS, altered(_errors(), "TwoSize", "edu_error", lambda error, _: error + 1))
    assert missing(ERRORS, altered(_errors(), "Optimal", "occ_error", lambda error, _: error - 1.5)) == [on_occ]
    against = altered(_errors(), "TwoSize", "edu_msbs", lambda loss, place: 1 + 40 * place)
    against = altered(against, "MultiSize", "edu_msbs", lambda loss, place: 2 + 40 * place)
    assert missing(ERRORS, against) == [guide]


def _times(x: str, points: tuple[int, ...], times: dict[str, list[float]]) -> Results:
    figures = {f"{table}_seconds": times for table in ("occ", "edu")}
    results = made_up(x, points, figures)
    return repeated(repeated(results, 0.99, 1.0, 1.01, y="occ_seconds"), 1.0, y="edu_seconds")


def _row_times(tests: list[float]) -> Results:
    times = {
        NONE: [12.0, 36.0, 60.0],
        LOSS: [0.5, 1.5, 2.5],
        FULL: [0.1, 0.11, 0.1],
        PAIRS: [2.0, 2.0, 2.0],
        MULTI: [0.2, 0.2, 0.2],
    }
    counted = made_up("rows", (1, 3, 5), {f"{table}_tests": {FULL: tests} for table in ("occ", "edu")})
    return Results((*_times("rows", (1, 3, 5), times).rows, *counted.rows))


def test_claims_about_times() -> None:
    saves, grows, least, flat, quick, hard, copes = (claim.says for claim in ROW_TIMES.claims)
    holding = _row_times([900, 1200, 1100])
    assert missing(ROW_TIMES, holding) == []
    assert missing(ROW_TIMES, _row_times([900, 1200, 1400])) == [flat]
    assert missing(ROW_TIMES, altered(holding, LOSS, "occ_seconds", lambda *_: 10.0)) == [saves, grows]
    assert missing(ROW_TIMES, altered(holding, FULL, "edu_seconds", lambda *_: 1.9)) == [least]
    assert missing(ROW_TIMES, altered(holding, PAIRS, "edu_seconds", lambda *_: 20.0)) == [quick]
    assert missing(ROW_TIMES, altered(holding, MULTI, "edu_seconds", lambda *_: 61.0)) == [copes]
    assert missing(ROW_TIMES, altered(holding, NONE, "occ_seconds", lambda *_: 59.0)) == [hard]
    overlapping = altered(holding, PAIRS, "occ_seconds", lambda _, place: 12.0)
    assert shown(ROW_TIMES, overlapping)[quick] is None


def _value_times() -> Results:
    times = {
        NONE: [20.0, 15.0, 10.0, 5.0],
        LOSS: [0.5, 0.5, 0.6, 0.7],
        FULL: [0.1, 0.1, 0.12, 0.15],
        PAIRS: [1.0, 1.5, 6.0, 60.0],
    }
    proven = made_up("gamma", (1, 64), {f"{table}_proven": {ALL: [1, 0]} for table in ("occ", "edu")})
    return Results((*_times("gamma", (1, 2, 8, 64), times).rows, *proven.rows))


def test_claims_about_times_by_the_number_of_values() -> None:
    ever, full, loss, falls, turns, few = (claim.says for claim in VALUE_TIMES.claims)
    holding = _value_times()
    assert missing(VALUE_TIMES, holding) == []
    linear = altered(holding, PAIRS, "edu_seconds", lambda _, place: (1.0, 4.0, 16.0, 64.0)[place % 4])
    assert missing(VALUE_TIMES, linear) == [ever]
    doubled = altered(holding, FULL, "edu_seconds", lambda _, place: (0.1, 0.1, 0.2, 0.3)[place % 4])
    assert missing(VALUE_TIMES, doubled) == [full]
    falling = altered(holding, LOSS, "occ_seconds", lambda _, place: (0.5, 0.5, 0.4, 0.3)[place % 4])
    assert missing(VALUE_TIMES, falling) == [loss]
    steady = altered(holding, LOSS, "occ_seconds", lambda *_: 0.5)
    assert shown(VALUE_TIMES, steady)[loss] is None
    rising = altered(holding, NONE, "occ_seconds", lambda _, place: (20.0, 15.0, 25.0, 5.0)[place % 4])
    assert missing(VALUE_TIMES, rising) == [falls]
    # The paper begins at gamma = 2: what happens before does not count.
    before = altered(holding, NONE, "occ_seconds", lambda _, place: (20.0, 25.0, 10.0, 5.0)[place % 4])
    assert missing(VALUE_TIMES, before) == []
    never = altered(holding, PAIRS, "occ_seconds", lambda seconds, _: seconds / 100)
    assert missing(VALUE_TIMES, never) == [turns]
    assert missing(VALUE_TIMES, altered(holding, ALL, "occ_proven", lambda *_: 1)) == [few]


def test_what_a_solver_decides_refutes_nothing() -> None:
    fails = {claim.says: claim.fails for claim in (*ROW_TIMES.claims, *VALUE_TIMES.claims)}
    assert fails["Optimal takes less time than No-pruning."] is Verdict.OPEN
    assert fails["Optimal is faster than No-pruning for few values and slower for many."] is Verdict.OPEN


def test_figures_have_something_to_show() -> None:
    has_figures(COUNT, measured(COUNT))


def test_the_printed_program_finds_the_least_loss_of_two_sizes_and_what_has_no_setting() -> None:
    counts = np.array([9, 7, 5, 4, 3, 2])
    bounds = ceilings(counts, 2)
    found = 0
    for pair in combinations(range(2, 9), 2):
        room = rooms(bounds, pair)
        losses = {
            numbers: sum(number * (size - 1) ** 2 for number, size in zip(numbers, pair, strict=True))
            for numbers in product(*(range(int(counts.sum()) // size + 1) for size in pair))
            if deal_values(counts, Range(np.array(pair), room), np.array(numbers)) is not None
        }
        solved = solve_as_printed(counts, Range(np.array(pair), room))
        assert solved.ended
        if not losses:
            assert solved.numbers is None
            continue
        found += 1
        assert solved.numbers is not None
        assert losses[solved.numbers] == min(losses.values())
    assert found == 4
