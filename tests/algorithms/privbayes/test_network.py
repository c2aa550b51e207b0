"""Mutual information, its sensitivity, candidates, and the privacy of the structure, all against brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms.privbayes.budget import Shape
from lookalike.algorithms.privbayes.network import (
    Scores,
    candidates,
    choice_sensitivity,
    grow_network,
    information_sensitivity,
    mutual_information,
    parent_sets,
)
from lookalike.algorithms.shared.drawing import Link
from lookalike.algorithms.shared.mechanisms import GRID, exponents
from lookalike.progress import silent
from lookalike.randomness import Randomness

Rows = tuple[tuple[int, ...], ...]


def information_by_definition(pairs: list[tuple[int, int]]) -> Decimal:
    with localcontext() as context:
        context.prec = 40
        n, joint = Decimal(len(pairs)), Counter(pairs)
        first, second = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
        nats = sum(
            (count / n * (count * n / (first[x] * second[y])).ln() for (x, y), count in joint.items()), Decimal(0)
        )
        return nats / Decimal(2).ln()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=60))
def test_information_is_right_to_a_fraction_of_the_sensitivity(pairs: list[tuple[int, int]]) -> None:
    joint = np.zeros((4, 5), dtype=np.int64)
    np.add.at(joint, tuple(np.array(pairs).T), 1)
    off = abs(Decimal(mutual_information(joint)) - information_by_definition(pairs))
    assert off < Decimal(information_sensitivity(len(pairs), binary=True)) / 2**22


@pytest.mark.parametrize(
    ("n_first", "n_second", "n"),
    [(2, 2, 2), (2, 2, 6), (2, 3, 5), (2, 4, 4), (3, 3, 3), (3, 3, 4), (3, 3, 5), (3, 4, 4), (4, 4, 3)],
)
def test_no_replacement_changes_information_by_more_than_the_sensitivity(n_first: int, n_second: int, n: int) -> None:
    cells = list(itertools.product(range(n_first), range(n_second)))
    largest = 0.0
    for rest in itertools.combinations_with_replacement(cells, n - 1):
        joint = np.zeros((n_first, n_second), dtype=np.int64)
        np.add.at(joint, tuple(np.array(rest).T), 1)
        found = []
        for cell in cells:
            joint[cell] += 1
            found.append(mutual_information(joint))
            joint[cell] -= 1
        largest = max(largest, max(found) - min(found))
    bound = information_sensitivity(n, binary=n_first == 2)
    assert largest <= bound + 1e-12
    if n % 2 or n_first == 2:
        assert largest == pytest.approx(bound)  # the bounds are met: nothing is wasted, and less would not do


def test_the_sensitivity_of_a_choice_is_its_worst_candidates() -> None:
    sizes = [2, 2, 3, 5]
    two, wide = Link(0, (2, 3)), Link(2, (3,))
    assert choice_sensitivity([two], sizes, 9) == information_sensitivity(9, binary=True)
    assert choice_sensitivity([two, wide], sizes, 9) == information_sensitivity(9, binary=False)
    assert choice_sensitivity([Link(2, (0,))], sizes, 9) == information_sensitivity(9, binary=True)
    assert choice_sensitivity([Link(2, (0, 1))], sizes, 9) == information_sensitivity(9, binary=False)
    assert information_sensitivity(9, binary=False) > information_sensitivity(9, binary=True)
    assert information_sensitivity(1, binary=True) > 0


@given(
    st.lists(st.integers(2, 6), min_size=2, max_size=6),
    st.integers(1, 4),
    st.integers(2, 200),
)
def test_parent_sets_are_the_maximal_ones_that_fit(sizes: list[int], degree: int, most_cells: int) -> None:
    placed = list(range(1, len(sizes)))
    fits = [
        parents
        for size in range(degree + 1)
        for parents in itertools.combinations(placed, size)
        if size == 0 or sizes[0] * math.prod(sizes[p] for p in parents) <= most_cells
    ]
    maximal = [one for one in fits if not any({*one} < {*other} for other in fits)]
    found = list(parent_sets(0, placed, sizes, Shape(degree, most_cells)))
    assert sorted(found) == sorted(maximal)
    assert len(found) == len({*found})


def networks(
    rows: Rows, sizes: list[int], shape: Shape, per_choice: Fraction
) -> Iterator[tuple[tuple[Link, ...], float]]:
    """Every network that can come of a table, with the logarithm of its probability."""
    scores = Scores(np.array(rows, dtype=np.int64), sizes)

    def grown(network: tuple[Link, ...], logarithm: float) -> Iterator[tuple[tuple[Link, ...], float]]:
        if len(network) == len(sizes):
            yield network, logarithm
            return
        links = candidates([link.column for link in network], sizes, shape)
        weights = exponents(scores(links), per_choice, choice_sensitivity(links, sizes, len(rows))) / GRID
        normal = math.log(sum(math.exp(weight - weights.max()) for weight in weights)) + weights.max()
        for link, weight in zip(links, weights, strict=True):
            yield from grown((*network, link), logarithm + weight - normal)

    for column in range(len(sizes)):
        yield from grown((Link(column, ()),), -math.log(len(sizes)))


@pytest.mark.parametrize(
    ("sizes", "shape"), [([2, 2, 2], Shape(1, 4)), ([3, 3, 3], Shape(2, 27)), ([2, 3, 4], Shape(2, 12))]
)
def test_the_structure_is_private_exactly(sizes: list[int], shape: Shape) -> None:
    """Over every neighbour of some tables, every network is at most e^epsilon times as likely."""
    epsilon = Fraction(3, 2)
    generator = np.random.default_rng(5)
    records = list(itertools.product(*(range(size) for size in sizes)))
    diagonal = tuple(tuple(min(value, size - 1) for size in sizes) for value in (0, 1, 2))
    tables = [
        diagonal,
        diagonal * 2,
        *(tuple(map(tuple, generator.integers(0, sizes, (4, 3)).tolist())) for _ in range(2)),
    ]
    largest = 0.0
    for table in tables:
        before = dict(networks(table, sizes, shape, epsilon / 2))
        assert sum(math.exp(logarithm) for logarithm in before.values()) == pytest.approx(1.0)
        for record in records:
            after = dict(networks((record, *table[1:]), sizes, shape, epsilon / 2))
            assert after.keys() == before.keys()
            largest = max(largest, *(abs(after[network] - before[network]) for network in before))
    assert 0.1 < largest <= epsilon


def test_networks_are_drawn_as_likely_as_they_should_be() -> None:
    sizes, shape, rows = [2, 2, 3], Shape(1, 6), ((0, 0, 0), (0, 0, 1), (1, 1, 2), (1, 1, 2))
    expected = {network: math.exp(logarithm) for network, logarithm in networks(rows, sizes, shape, Fraction(2))}
    cells, n = np.array(rows, dtype=np.int64), 3000
    drawn = Counter(grow_network(cells, sizes, shape, Fraction(2), Randomness(seed), silent) for seed in range(n))
    assert drawn.keys() <= expected.keys()
    chi_square = sum((drawn[network] - n * share) ** 2 / (n * share) for network, share in expected.items())
    freedom = len(expected) - 1
    assert chi_square < freedom + 5 * math.sqrt(2 * freedom)


def test_without_parents_no_record_is_looked_at() -> None:
    nothing = np.empty((0, 3), dtype=np.int64)
    found = grow_network(nothing, [2, 3, 4], Shape(0, 0), Fraction(0), Randomness(1), silent)
    assert found == (Link(0, ()), Link(1, ()), Link(2, ()))


def test_each_pair_is_scored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Link] = []
    score = Scores._score
    monkeypatch.setattr(Scores, "_score", lambda self, link: counted.append(link) or score(self, link))
    cells = np.random.default_rng(1).integers(0, 3, (500, 8))
    grow_network(cells, [3] * 8, Shape(2, 27), Fraction(1), Randomness(1), silent)
    assert len(counted) == len({*counted}) <= 8 * (1 + 7 + 21)


def test_a_bad_replacement_spends_half_of_the_budget() -> None:
    """One record turns what is known of two columns into what is known of others: a bound that were half as large would
    be broken, so the test above is not passed by tables that do not matter."""
    sizes, shape, epsilon = [2] * 4, Shape(1, 4), Fraction(20)
    rest = ((0, 0, 0, 0),) * 5
    before = dict(networks(((1, 1, 0, 0), *rest), sizes, shape, epsilon / 3))
    after = dict(networks(((1, 0, 1, 1), *rest), sizes, shape, epsilon / 3))
    assert 0.45 * epsilon < max(abs(after[network] - before[network]) for network in before) <= epsilon


@pytest.mark.parametrize("most_records", [2, 3])
def test_the_structure_is_private_exactly_for_a_person_with_several_records(most_records: int) -> None:
    """All records of a person replaced by any others: every network is at most e^epsilon times as likely."""
    sizes, shape, epsilon = [2, 2, 2], Shape(1, 4), Fraction(3, 2)
    # What `PrivBayes.learn` hands on: a record's share of epsilon, in two choices.
    per_choice = epsilon / most_records / 2
    records = list(itertools.product(*(range(size) for size in sizes)))
    others = ((0, 0, 0), (1, 1, 1), (0, 1, 1))
    found = [
        dict(networks((*own, *others), sizes, shape, per_choice))
        for own in itertools.combinations_with_replacement(records, most_records)
    ]
    spread = [max(one[network] for one in found) - min(one[network] for one in found) for network in found[0]]
    assert float(epsilon) / 10 < max(spread) <= epsilon
