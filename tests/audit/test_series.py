"""Promises held against several releases: the worked example, planted violations, and honest series."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from lookalike.audit.paths import ABSENT, ClassValues
from lookalike.audit.series import SeriesAudit, SeriesRelease, audit_series, check_m_invariance
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Domain
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.models import parse_model

TEXTS = ("HIV", "cold", "flu", "measles")


def column(texts: tuple[str, ...] = TEXTS) -> Domain:
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    attribute = Attribute(name="diagnosis", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    return Domain(attribute, ValueType.STRING, values, False, 0.0, 0.0, len(texts), False)


def release(name: str, classes: list[int], values: list[int], *models: str, made_up: int = 0) -> SeriesRelease:
    """Persons in classes (-1: not in it) with their values; made-up rows of the last class come after the persons."""
    groups, codes = np.array(classes), np.array(values)
    inside = groups != ABSENT
    n_classes = int(groups.max()) + 1
    extra = np.full(made_up, n_classes - 1), codes[len(groups) :]
    rows = np.concatenate((groups[inside], extra[0])), np.concatenate((codes[: len(groups)][inside], extra[1]))
    counts = np.zeros(n_classes, dtype=np.int64)
    counts[-1] = made_up
    promises = tuple(
        Promise(model, None if model.about_identity else "diagnosis") for model in map(parse_model, models)
    )
    return SeriesRelease(
        name=name, class_of_person=groups, made_up=counts, values=ClassValues.of(*rows, n_classes), promises=promises
    )


def held(*releases: SeriesRelease) -> SeriesAudit:
    return audit_series(releases, [column()], [np.arange(len(TEXTS))])


def test_example_e_one_newcomer_in_a_cell_is_found_by_subtraction() -> None:
    """k = 3. Cell A has 5 rows and gets 1, cell B has 3 and gets 4: both releases are 3-anonymous by themselves."""
    a, b, gone = 0, 1, ABSENT
    values = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]
    first = release("first", [a] * 5 + [b] * 3 + [gone] * 5, values, "k-anonymity:3")
    naive = release("second", [a] * 5 + [b] * 3 + [a] + [b] * 4, values, "k-anonymity:3")
    found = held(first, naive)
    assert not found.passed
    assert [(one.release, one.passed, one.n_persons) for one in found.held] == [
        ("first", True, 0),
        ("second", False, 1),
    ]
    assert found.certain[0].together == 1
    waits = release("second", [a] * 5 + [b] * 3 + [gone] + [b] * 4, values, "k-anonymity:3")
    assert held(first, waits).passed


def test_one_who_leaves_is_found_by_subtraction_too() -> None:
    values = [0, 1, 2, 3, 0, 1]
    first = release("first", [0] * 6, values, "k-anonymity:2", "l-diversity:2")
    found = held(first, release("second", [0] * 5 + [ABSENT], values, "k-anonymity:2", "l-diversity:2"))
    assert [one.n_persons for one in found.held] == [1, 1, 0, 0]


def exact_beliefs(releases: list[list[int]], values: list[int]) -> Fraction:
    """The greatest certainty in a value of anybody, over all tables that fit these releases."""

    def shown(table: tuple[int, ...]) -> list[Counter[tuple[int, int]]]:
        return [
            Counter((group, value) for group, value in zip(groups, table, strict=True) if group != ABSENT)
            for groups in releases
        ]

    wanted, counts, n_tables = shown(tuple(values)), Counter[tuple[int, int]](), 0
    for table in itertools.product(sorted(set(values)), repeat=len(values)):
        if shown(table) == wanted:
            n_tables += 1
            counts.update(enumerate(table))
    return Fraction(max(counts.values()), n_tables)


def test_overlapping_groups_of_which_no_numbers_follow_are_held_to_all_tables_that_fit() -> None:
    """Multiplied probabilities stay at 1/2 here, and the exact one is 4/5: groups of two releases overlap without
    nesting.
    """
    values = [0, 2, 2, 0, 3, 3, 2, 0, 3]
    groups = [[ABSENT, ABSENT, 1, 1, 2, 0, 0, 2, ABSENT], [ABSENT, 0, ABSENT, 1, ABSENT, 0, 1, 0, 1]]
    assert exact_beliefs([one[1:] for one in groups], values[1:]) == Fraction(4, 5)
    found = held(*(release(str(number), one, values, "l-diversity:2") for number, one in enumerate(groups)))
    assert not found.passed
    # Of numbers that follow, the certainty is exact and no bound is needed: the same groups again pass.
    again = [0, 1, 2, 3]
    same = held(
        release("first", [0, 0, 1, 1], again, "l-diversity:2"), release("second", [0, 0, 1, 1], again, "l-diversity:2")
    )
    assert same.passed


def test_values_of_one_release_can_break_the_promise_of_another() -> None:
    """Example F: {x flu, y HIV}, then {x flu, z cold} leaves only flu for x."""
    flu, hiv, cold = 2, 0, 1
    first = release("first", [0, 0, ABSENT], [flu, hiv, cold], "l-diversity:2")
    second = release("second", [0, ABSENT, 0], [flu, hiv, cold], "l-diversity:2")
    found = held(first, second)
    assert not found.passed
    assert found.certain[0].together == 3
    assert found.certain[0].own == 1
    assert found.certain[0].alone == 0
    invariant = release("second", [0, ABSENT, ABSENT], [flu, hiv, cold, hiv], "l-diversity:2", made_up=1)
    assert held(first, invariant).passed
    assert check_m_invariance([first, invariant], [2, 2]) == []


def test_the_same_groups_again_with_another_value_are_refused() -> None:
    first = release("first", [0, 0, 0, 0], [0, 1, 2, 3], "l-diversity:2")
    again = release("second", [0, 0, 0, 0], [0, 1, 2, 3], "l-diversity:2")
    assert held(first, again).passed
    changed = release("second", [0, 0, 0, 0], [1, 1, 2, 3], "l-diversity:2")
    found = held(first, changed)
    assert not found.passed
    assert found.changed == 4


@pytest.mark.parametrize(
    "model", ["beta-likeness:0.5", "t-closeness:0.3", "l-diversity:3", "l-diversity:3,kind=entropy"]
)
def test_a_later_release_with_a_weaker_promise_breaks_the_earlier_one(model: str) -> None:
    """All groups of the first have four different values, those of the second two."""
    values = [0, 1, 2, 3, 0, 1, 2, 3]
    first = release("first", [0, 0, 0, 0, 1, 1, 1, 1], values, model)
    second = release("second", [0, 0, 1, 1, 0, 0, 1, 1], values, "l-diversity:2")
    assert held(first).passed
    assert held(second).passed
    found = held(first, second)
    assert [one.n_persons for one in found.held] == [8, 0]


def test_a_promise_about_possible_rows_is_refused_with_the_reason() -> None:
    first = release("first", [0, 0], [0, 1], "k-concealment:2")
    (found,) = held(first).held
    assert not found.passed
    assert "not checked" in found.reason


@pytest.mark.parametrize(
    ("classes", "values", "made_up", "said"),
    [
        ([0, ABSENT, 0], [2, 0, 1], 0, "another set of values"),
        ([0, 0, ABSENT], [2, 2, 1], 0, "different values"),
        ([0, ABSENT, ABSENT], [2, 0, 1], 0, "at least 2 rows"),
    ],
)
def test_a_series_that_is_not_m_invariant_is_found(
    classes: list[int], values: list[int], made_up: int, said: str
) -> None:
    first = release("first", [0, 0, ABSENT], [2, 0, 1])
    problems = check_m_invariance([first, release("second", classes, values, made_up=made_up)], [2, 2])
    assert any(said in problem for problem in problems)


def test_wrong_numbers_of_made_up_rows_are_found() -> None:
    lying = release("second", [0, ABSENT], [2, 0, 0], made_up=1)
    honest = SeriesRelease(
        name="second", class_of_person=lying.class_of_person, made_up=np.array([0]), values=lying.values, promises=()
    )
    assert check_m_invariance([lying], [2]) == []
    assert "made-up rows" in check_m_invariance([honest], [2])[0]


def test_no_word_of_an_audit_names_a_value() -> None:
    flu, hiv, cold = 2, 0, 1
    first = release("first", [0, 0, ABSENT], [flu, hiv, cold], "l-diversity:2")
    found = held(first, release("second", [0, ABSENT, 0], [flu, hiv, cold], "l-diversity:2"))
    said = " ".join(found.lines) + str(found.to_plain())
    assert not any(text in said for text in TEXTS)
