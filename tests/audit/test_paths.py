"""Bounds on values by paths hold in every world, and are exact where classes lie within each other."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.audit.paths import ABSENT, Bounds, ClassValues, Paths, bound_values, check_sizes, multiply
from lookalike.errors import DataError

N_VALUES = 3


def publish(classes: list[int], values: tuple[int, ...]) -> ClassValues:
    """What a release shows whose persons are in these classes with these values."""
    inside = [place for place, group in enumerate(classes) if group != ABSENT]
    groups, renumbered = np.unique([classes[place] for place in inside], return_inverse=True)
    return ClassValues.of(renumbered, np.array([values[place] for place in inside]), len(groups))


def ranked(classes: list[int]) -> np.ndarray:
    listed = np.array(classes)
    known = np.unique(listed[listed != ABSENT])
    return np.where(listed == ABSENT, ABSENT, np.searchsorted(known, listed))


def read(*releases: list[int], values: tuple[int, ...]) -> tuple[Paths, list[ClassValues], Bounds]:
    published = [publish(classes, values) for classes in releases]
    paths = Paths.of([ranked(classes) for classes in releases], [np.zeros(one.n_classes, int) for one in published])
    return paths, published, bound_values(paths, published)


def worlds_of(releases: tuple[list[int], ...], values: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All values of the persons with which every release would show the same."""
    shown = [show(classes, values) for classes in releases]
    every = itertools.product(range(N_VALUES), repeat=len(values))
    return [world for world in every if [show(classes, world) for classes in releases] == shown]


def show(classes: list[int], values: tuple[int, ...]) -> Counter[tuple[int, int]]:
    return Counter((group, value) for group, value in zip(classes, values, strict=True) if group != ABSENT)


def bounds_by_path(paths: Paths, bounds: Bounds) -> dict[int, dict[int, tuple[int, int]]]:
    found: dict[int, dict[int, tuple[int, int]]] = {path: {} for path in range(len(paths.sizes))}
    for path, value, least, most in zip(bounds.paths, bounds.values, bounds.least, bounds.most, strict=True):
        found[int(path)][int(value)] = int(least), int(most)
    return found


people = st.lists(
    st.tuples(st.integers(ABSENT, 2), st.integers(ABSENT, 2), st.integers(0, N_VALUES - 1)), min_size=2, max_size=7
).filter(lambda rows: any(row[0] != ABSENT for row in rows) and any(row[1] != ABSENT for row in rows))


@given(people)
def test_bounds_hold_in_every_world_that_the_releases_allow(rows: list[tuple[int, int, int]]) -> None:
    rows = [row for row in rows if row[:2] != (ABSENT, ABSENT)]
    first, second, values = ([row[0] for row in rows], [row[1] for row in rows], tuple(row[2] for row in rows))
    paths, _, bounds = read(first, second, values=values)
    found = bounds_by_path(paths, bounds)
    assert not len(bounds.contradicted)
    for world in worlds_of((first, second), values):
        counts = Counter(zip(paths.path_of_person.tolist(), world, strict=True))
        for path, size in enumerate(paths.sizes.tolist()):
            assert sum(counts[path, value] for value in range(N_VALUES)) == size
            for value in range(N_VALUES):
                least, most = found[path].get(value, (0, 0))
                assert least <= counts[path, value] <= most


@given(people)
def test_where_classes_lie_within_each_other_numbers_and_beliefs_are_exact(rows: list[tuple[int, int, int]]) -> None:
    """One class in the second release per class of the first, and newcomers: rows are found by subtraction."""
    first = [row[0] for row in rows]
    second = [row[0] if row[0] != ABSENT else max(row[1], 0) for row in rows]
    values = tuple(row[2] for row in rows)
    paths, _, bounds = read(first, second, values=values)
    assert bounds.known.all()
    worlds = worlds_of((first, second), values)
    for person in range(len(rows)):
        path = int(paths.path_of_person[person])
        for value, (least, most) in bounds_by_path(paths, bounds)[path].items():
            chance = Fraction(sum(world[person] == value for world in worlds), len(worlds))
            assert least == most
            assert Fraction(least, int(paths.sizes[path])) == chance


def test_two_who_leave_one_after_the_other_are_found_by_subtraction() -> None:
    """One class of six; person 1 is not in the second release, and person 3 not in the third."""
    values = (0, 2, 1, 2, 0, 2)
    gone = ABSENT
    _, _, bounds = read([0] * 6, [0, gone, 0, 0, 0, 0], [0, 0, 0, gone, 0, 0], values=values)
    assert bounds.known.all()


def test_groups_that_overlap_are_added_and_subtracted() -> None:
    """Persons 4 and 5 are in two releases each, with others; together they are class A and class B less class C."""
    gone = ABSENT
    first = [0, 0, 1, 1, 0, 1, gone]
    second = [0, 1, 0, 1, gone, gone, 0]
    values = (0, 1, 1, 0, 2, 2, 0)
    paths, _, bounds = read(first, second, values=values)
    assert {values[person] for person in (4, 5)} == {2}
    found = bounds_by_path(paths, bounds)
    for person in (4, 5):
        path = int(paths.path_of_person[person])
        assert found[path][2] == (1, 1)


three = st.lists(
    st.tuples(*[st.integers(ABSENT, 1)] * 3, st.integers(0, N_VALUES - 1)).filter(lambda row: max(row[:3]) > ABSENT),
    min_size=2,
    max_size=7,
).filter(lambda rows: all(any(row[place] != ABSENT for row in rows) for place in range(3)))


@given(three)
def test_what_follows_from_adding_and_subtracting_groups_is_noticed(rows: list[tuple[int, int, int, int]]) -> None:
    """By fractions: a path that is a sum of multiples of classes is known. And no world is outside of the bounds."""
    releases = tuple([row[place] for row in rows] for place in range(3))
    values = tuple(row[3] for row in rows)
    paths, _, bounds = read(*releases, values=values)
    assert bounds.complete
    assert not len(bounds.contradicted)
    found = bounds_by_path(paths, bounds)
    classes = [(release, group) for release in range(3) for group in sorted(set(releases[release])) if group != ABSENT]
    matrix = [[int(releases[release][person] == group) for person in range(len(rows))] for release, group in classes]
    for person in range(len(rows)):
        path = int(paths.path_of_person[person])
        members = np.flatnonzero(paths.path_of_person == path)
        wanted = [int(other in members) for other in range(len(rows))]
        if rank_of([*matrix, wanted]) == rank_of(matrix):
            assert bounds.known[path]
        for world in worlds_of(releases, values):
            counts = Counter(world[other] for other in members)
            assert all(least <= counts[one] <= most for one, (least, most) in found[path].items())


def rank_of(matrix: list[list[int]]) -> int:
    """By exact elimination."""
    rows, rank = [[Fraction(number) for number in row] for row in matrix], 0
    for column in range(len(matrix[0])):
        pivot = next((row for row in rows[rank:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(rank, pivot)
        for place in range(rank + 1, len(rows)):
            factor = rows[place][column] / pivot[column]
            rows[place] = [mine - factor * other for mine, other in zip(rows[place], pivot, strict=True)]
        rank += 1
    return rank


def test_what_takes_too_long_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.audit.subtraction._MOST_STEPS", 3)
    _, _, bounds = read([0, 0, 1, 1], [0, 1, 0, 1], values=(0, 1, 1, 0))
    assert not bounds.complete


def test_values_that_contradict_each_other_are_found() -> None:
    first = publish([0, 0], (0, 1))
    second = publish([0, 0], (0, 2))
    paths = Paths.of([np.array([0, 0])] * 2, [np.zeros(1, int)] * 2)
    assert len(bound_values(paths, [first, second]).contradicted)


def test_a_class_that_holds_another_adds_nothing() -> None:
    """Release 2 has one class for all; only the classes of release 1 count, so its probabilities stay."""
    paths, published, bounds = read([0, 0, 1, 1], [0, 0, 0, 0], values=(0, 1, 0, 0))
    which = np.arange(len(paths.sizes))
    weights, totals = multiply(paths, published, bounds, which, None)
    beliefs = {
        (int(bounds.paths[entry]), int(bounds.values[entry])): Fraction(int(weights[entry]), int(total))
        for entry, total in enumerate(np.repeat(totals, np.diff(bounds.starts)))
    }
    path = int(paths.path_of_person[0])
    assert beliefs[path, 0] == beliefs[path, 1] == Fraction(1, 2)


def test_multiplied_beliefs_by_hand() -> None:
    """Two classes of values {0, 0, 1} and {0, 1, 1} meet in one person: weights 2 * 1 and 1 * 2 before shares."""
    first, second = [0, 0, 0, ABSENT, ABSENT], [0, ABSENT, ABSENT, 0, 0]
    paths, published, bounds = read(first, second, values=(0, 0, 1, 1, 1))
    which = np.array([paths.path_of_person[0]])
    weights, totals = multiply(paths, published, bounds, which, None)
    assert (weights / totals).tolist() == [0.5, 0.5]
    weights, totals = multiply(paths, published, bounds, which, np.array([1, 3]))
    assert (weights / totals).tolist() == [0.75, 0.25]


def test_made_up_rows_are_nobodys() -> None:
    """A group of two rows, one made up: the person has either value."""
    shown = ClassValues.of(np.array([0, 0]), np.array([0, 1]), 1)
    paths = Paths.of([np.array([0])], [np.array([1])])
    check_sizes(paths, [shown])
    bounds = bound_values(paths, [shown])
    assert paths.is_person.tolist() == [True, False]
    assert bounds.most[bounds.paths == 0].tolist() == [1, 1]
    assert bounds.least[bounds.paths == 0].tolist() == [0, 0]


def test_a_list_that_does_not_fit_the_release_is_refused() -> None:
    shown = ClassValues.of(np.array([0, 0]), np.array([0, 1]), 1)
    with pytest.raises(DataError, match="other numbers of rows"):
        check_sizes(Paths.of([np.array([0])], [np.array([0])]), [shown])
