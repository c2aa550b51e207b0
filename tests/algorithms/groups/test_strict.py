"""Strict groups: columns, transversals, and the theorem that they rest on, by exact Bayes over every world."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.algorithms.groups import EFFORTS, Groups, Run, columns, strict
from lookalike.algorithms.groups.columns import pure_zones, tables_for, transversals, zones_of
from lookalike.algorithms.groups.sizes import Plan, even_sizes, in_blocks, plan_sizes, rooms_for
from lookalike.algorithms.groups.strict import choose_strict_box_size, cut_boxes_by_attributes, strict_groups
from lookalike.algorithms.shared.axes import axes_of
from lookalike.apps.samples import census
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import cover
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import Infeasible, Unsupported
from lookalike.kernels.matching import growth_costs, row_losses, sort_by_costliest
from lookalike.metrics.shared.cells import certainty_penalty
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require as required_by
from lookalike.pipeline.recipe import settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import column_of, microdatas
from tests.worlds import Path, Tape, all_orders, exact_posteriors, orders_within_values, tiny_table


def census_data(rows: int) -> Microdata:
    table = census(rows, seed=6)
    names = table.names
    return Microdata.encode(table, Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]]))


def required(data: Microdata, *models: str) -> tuple[Requirement, ...]:
    promises = settle([Promise(parse_model(model)) for model in models], data)
    return required_by(promises, data)


def run_with(rng: object) -> Run:
    return Run(rng, map, lambda share, loss: None, lambda: False)  # type: ignore[arg-type]


@st.composite
def blocks(draw: st.DrawFn) -> tuple[np.ndarray, int, np.ndarray]:
    """Counts that groups of a size can hold, and the rooms that each value has in a group."""
    size, n_rows = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    left, counts, rooms = size * n_rows, [], []
    while left:
        count = draw(st.integers(1, left))
        least = -(-count // n_rows)
        counts.append(count)
        rooms.append(draw(st.integers(least, max(least, size))))
        left -= count
    order = draw(st.permutations(range(len(counts))))
    return np.array(counts)[list(order)], size, np.array(rooms)[list(order)]


@settings(max_examples=examples(300), deadline=None)
@given(blocks(), st.booleans())
def test_no_value_is_in_more_columns_of_a_zone_than_it_may_be(
    block: tuple[np.ndarray, int, np.ndarray], sequence: bool
) -> None:
    counts, size, rooms = block
    zones = columns._in_sequence(counts, size, rooms) if sequence else zones_of(counts, size, rooms)
    assert (sum(zone.sum(axis=0) for zone in zones) == counts).all()
    for zone in zones:
        assert zone.shape == (size, len(counts))
        assert len(set(zone.sum(axis=1).tolist())) == 1
        assert (np.count_nonzero(zone, axis=0) <= rooms).all()


def test_columns_come_out_nearly_even() -> None:
    """Many values of many sizes leave at most a row or two to their own zone."""
    counts = np.bincount(census_data(5000).sensitive[:, 0])
    zones = zones_of(counts, 5, np.ones(len(counts), dtype=np.int64))
    assert len(zones) <= 2
    assert min(zone[0].sum() for zone in zones) <= 2 or len(zones) == 1


def test_the_spec_example_in_sequence() -> None:
    """a3 b3 c3 d2 e2 f2 in five columns: aaa bbb ccc dde eff, e separated by a cut after the first row."""
    zones = columns._in_sequence(np.array([3, 3, 3, 2, 2, 2]), 5, np.ones(6, dtype=np.int64))
    assert [int(zone[0].sum()) for zone in zones] == [2, 1]


@settings(max_examples=examples(60), deadline=None)
@given(blocks(), st.integers(0, 9))
def test_tables_hold_every_record_once_in_the_columns_of_its_value(
    block: tuple[np.ndarray, int, np.ndarray], seed: int
) -> None:
    counts, size, rooms = block
    values = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)
    zones = zones_of(counts, size, rooms)
    tables = tables_for(np.arange(len(values)), values, [(counts, zones)], Randomness(seed))
    assert sorted(np.concatenate([table.ravel() for table in tables]).tolist()) == list(range(len(values)))
    for table, zone in zip(tables, zones, strict=True):
        found = Counter(tuple(np.bincount(values[column], minlength=len(counts))) for column in table.T)
        assert found == Counter(map(tuple, zone))


def test_pure_zones_keep_each_groups_values() -> None:
    quotas = np.array([[2, 1], [1, 2], [2, 1]])
    zones = pure_zones(quotas)
    assert sorted(zone.tolist() for zone in zones) == [[[0, 1], [0, 1], [1, 0]][::-1], [[2, 0], [2, 0], [0, 2]]]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(1, 12), min_size=2, max_size=8), st.integers(2, 5))
def test_two_blocks_share_every_value(counts: list[int], ell: int) -> None:
    number = np.array(counts)
    n_rows = int(number.sum())
    assume(n_rows >= ell and number.max() <= n_rows // ell)
    ceilings = [Fraction(1, ell)] * len(counts)
    found = in_blocks(Plan(even_sizes(n_rows, ell)), number, ceilings)
    assert (sum(found.values()) == number).all()
    for size, part in found.items():
        assert part.min() >= 0
        n_groups = int(part.sum()) // size
        assert n_groups * size == part.sum()
        assert (part <= rooms_for(size, ceilings) * n_groups).all()


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.fractions(0, 1, max_denominator=12)), min_size=2, max_size=6))
@example([(5, Fraction(3, 4)), (2, Fraction(3, 7)), (1, Fraction(1, 4)), (1, Fraction(1, 4))])
def test_what_is_planned_can_be_laid_out(values: list[tuple[int, Fraction]]) -> None:
    """Each value's ceiling lies between its share of the table and 1."""
    counts = np.array([count for count, _ in values])
    shares = [Fraction(count, int(counts.sum())) for count, _ in values]
    ceilings = [share + slack * (1 - share) for share, (_, slack) in zip(shares, values, strict=True)]
    plan = plan_sizes([counts], [ceilings], 1)
    if plan is None:
        return
    found = in_blocks(plan, counts, ceilings)
    assert (sum(found.values()) == counts).all()
    for size, part in found.items():
        n_groups = int(np.count_nonzero(plan.sizes == size))
        assert part.sum() == size * n_groups
        assert (part <= rooms_for(size, ceilings) * n_groups).all()


@settings(max_examples=examples(60), deadline=None)
@given(microdatas(min_rows=4), st.data())
def test_costs_are_what_groups_grow_by(data: Microdata, draw: st.DataObject) -> None:
    axes = axes_of(data)
    n_columns = draw.draw(st.integers(2, min(4, data.n_rows // 2)))
    n_groups = data.n_rows // n_columns
    table = np.random.default_rng(1).permutation(data.n_rows)[: n_groups * n_columns].reshape(n_groups, n_columns)

    def loss(members: np.ndarray) -> float:
        units = np.zeros(len(members), dtype=np.int32)
        return sum(
            float(certainty_penalty(domain, cover(domain, data.quasi[members, attr], units, 1))[0])
            for attr, domain in enumerate(data.domains.quasi)
        )

    costs = np.empty((n_groups, n_groups))
    growth_costs(axes, table, np.arange(1, n_columns), 0, costs)
    for group, coming in itertools.product(range(n_groups), repeat=2):
        others = table[group, 1:]
        grown = loss(np.append(others, table[coming, 0])) - loss(others)
        assert costs[group, coming] == pytest.approx(grown, abs=1e-9)
    marks = np.empty(int(data.quasi.max(initial=0)) + 1, dtype=np.int64)
    expected = sum(n_columns * loss(members) for members in table)
    assert n_columns * row_losses(axes, table, marks).sum() == pytest.approx(expected, abs=1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(microdatas(max_rows=25))
def test_the_costliest_attribute_is_that_of_the_mean_pair(data: Microdata) -> None:
    axes = axes_of(data)
    members = np.arange(data.n_rows)
    first, second = np.array([*itertools.product(range(data.n_rows), repeat=2)]).T
    both, pair = np.concatenate([first, second]), np.tile(np.arange(len(first), dtype=np.int32), 2)
    means = [
        float(certainty_penalty(domain, cover(domain, data.quasi[both, attr], pair, len(first))).sum())
        for attr, domain in enumerate(data.domains.quasi)
    ]
    chosen = sort_by_costliest(axes, members, 0, data.n_rows)
    assert chosen == -1 if max(means) == 0 else means[chosen] == pytest.approx(max(means))


def test_rounds_never_cost_and_groups_stay_transversals() -> None:
    data = census_data(900)
    axes = axes_of(data)
    table = np.random.default_rng(2).permutation(900).reshape(150, 6)
    told: list[float] = []
    run = Run(Randomness(3), map, lambda share, loss: told.append(loss), lambda: False)
    (found,) = transversals(axes, [table], EFFORTS["best"], run)
    assert told == sorted(told, reverse=True)
    assert told[-1] < told[0]
    for column in range(6):
        assert sorted(found[:, column]) == sorted(table[:, column])


def test_cells_do_not_depend_on_values_and_hold_whole_groups() -> None:
    data = census_data(3000)
    cells = cut_boxes_by_attributes(axes_of(data), 400, 7, Randomness(1))
    assert sum(len(rows) for rows in cells) == 3000
    assert sum(len(rows) % 7 != 0 for rows in cells) <= 1
    assert min(len(rows) for rows in cells) >= 400 - 7


def test_the_size_of_cells_is_settled_by_counts_alone() -> None:
    even, skewed = np.full(20, 5000), np.array([18_000, *[82_000 // 19] * 19])
    ceilings = [Fraction(1, 5)] * 20
    assert choose_strict_box_size(even, ceilings, 5) < 20_000
    assert choose_strict_box_size(skewed, ceilings, 5) == int(skewed.sum())


def test_a_refusal_names_cells_that_work() -> None:
    """Two halves that differ in a quasi-identifier and in their values: neither half keeps the promise alone."""
    table = Table(
        (
            column_of("side", ["l"] * 40 + ["r"] * 40, ValueType.STRING),
            column_of("value", list("abcc" * 10 + "abde" * 10), ValueType.STRING),
        )
    )
    data = Microdata.encode(table, Schema.of(qi=["side"], sensitive=["value"]))
    requirements = required(data, "l-diversity:3")
    with pytest.raises(Infeasible, match=r"cell=\d+") as refused:
        Groups(mode="strict", cell=40).partition(data, requirements, Randomness(1), silent)
    named = int(re.findall(r"cell=(\d+)", str(refused.value))[0])
    groups, _ = Groups(mode="strict", cell=named).partition(data, requirements, Randomness(1), silent)
    assert np.bincount(groups).min() >= 3


def test_two_sensitive_columns_are_refused_with_the_reason() -> None:
    cells = ["a", "b", "c", "d"] * 5
    table = Table(tuple(column_of(name, cells, ValueType.STRING) for name in ("town", "illness", "income")))
    data = Microdata.encode(table, Schema.of(qi=["town"], sensitive=["illness", "income"]))
    with pytest.raises(Unsupported, match="one sensitive column"):
        Groups(mode="strict").partition(data, required(data, "l-diversity:2"), Randomness(1), silent)


def test_the_adversary_chooses_the_mode() -> None:
    assert str(Groups().facing(KNOWS_METHOD)) == "groups:mode=strict"
    assert str(Groups(effort="fast").facing("reads-release")) == "groups:mode=free,effort=fast"
    assert Groups(mode="free").facing(KNOWS_METHOD).adversary == "reads-release"
    assert Groups(mode="strict").facing("reads-release").adversary == KNOWS_METHOD


def seen(groups: list[np.ndarray], world: str) -> frozenset[tuple[frozenset[int], str]]:
    """What is published, and more: who is in which group, and the group's values without their order."""
    return frozenset(
        (frozenset(members.tolist()), "".join(sorted(world[member] for member in members))) for members in groups
    )


def strict_posteriors(text: str, model: str, points: list[int], cell: int = 0) -> dict[tuple[Any, int, str], Fraction]:
    @functools.cache
    def required_in(world: str) -> tuple[Requirement, ...]:
        return required(tiny_table(world, points), model)

    def publish(data: Microdata, tape: Any, world: str) -> Hashable | None:
        try:
            return seen(strict_groups(data, required_in(world), cell, EFFORTS["fast"], run_with(tape)), world)
        except Infeasible:
            return None

    def choices(path: Path, count: int, world: str) -> Iterator[np.ndarray] | None:
        # The order of columns in later rounds adds nothing: the columns themselves come in every order.
        if path[-1] == "blocks":
            # Each draw is over a cell's own records, and only the order within each value matters.
            axes = axes_of(tiny_table(world, points))
            rows = cut_boxes_by_attributes(axes, cell or len(world), 2, Tape({}, {}))[int(path[1])]  # type: ignore[arg-type]
            assert count == len(rows)
            return orders_within_values("".join(world[row] for row in rows))
        return all_orders(count) if "block" in path else None

    # A world is published once for every random choice; what is settled before any choice is settled once.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            strict, "plan_column", once(strict.plan_column, lambda data, requirements: (id(data), id(requirements)))
        )
        patch.setattr(strict, "_layout", once(strict._layout, lambda counts, plan, *_: (counts.tobytes(), id(plan))))
        return exact_posteriors(text, points, publish, choices)


def once(function: Callable[..., Any], key: Callable[..., Hashable]) -> Callable[..., Any]:
    """The function, run once for whatever the key tells apart; what it was given is kept, so that ids stay theirs."""
    found: dict[Hashable, tuple[Any, Any]] = {}

    def known(*given: Any) -> Any:
        if key(*given) not in found:
            found[key(*given)] = given, function(*given)
        return found[key(*given)][1]

    return known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "ell", "cell"),
    [
        ("aabbcc", 2, 0),
        ("aabbcd", 2, 0),
        ("aabcde", 2, 0),
        ("aaabcd", 2, 0),
        ("aabbcc", 3, 0),
        ("aabcde", 3, 0),
        ("aaaabbbb", 2, 4),
        ("aaaabbcc", 2, 4),
    ],
)
def test_whoever_knows_the_method_learns_exactly_one_in_l(text: str, ell: int, cell: int) -> None:
    points = [0, 1, 3, 7, 8, 20, 22, 31][: len(text)]
    posteriors = strict_posteriors(text, f"l-diversity:{ell}", points, cell)
    assert posteriors
    assert set(posteriors.values()) == {Fraction(1, ell)}


@pytest.mark.parametrize(
    ("text", "model", "shows"),
    [
        ("aaabbc", "alpha-k:alpha=0.67,k=3", lambda values: values.count("a") > 1),
        ("aabbc", "l-diversity:2", lambda values: len(values) == 3),
    ],
)
def test_in_groups_of_several_kinds_the_posterior_is_the_share_of_the_group(
    text: str, model: str, shows: Callable[[str], bool]
) -> None:
    posteriors = strict_posteriors(text, model, [0, 2, 3, 9, 10, 30][: len(text)])
    assert any(shows(values) for release, _, _ in posteriors for _, values in release)
    for (release, record, value), posterior in posteriors.items():
        members, values = next(group for group in release if record in group[0])
        assert posterior == Fraction(values.count(value), len(members))


def test_columns_without_zones_would_tell_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test can fail: c in both columns and no zones, and someone is found out."""
    one_zone = np.array([[2, 1, 0], [0, 1, 2]])
    monkeypatch.setattr(columns, "zones_of", lambda counts, size, rooms: [one_zone])
    posteriors = strict_posteriors("aabbcc", "l-diversity:2", [0, 1, 3, 7, 8, 20])
    assert max(posteriors.values()) > Fraction(1, 2)


def test_sizes_planned_for_two_blocks_are_planned_at_all() -> None:
    counts = np.array([3, 3, 3, 2, 2, 2, 1])
    plan = plan_sizes([counts], [[Fraction(1, 3)] * 7], 1)
    assert plan is not None
    assert sorted(set(plan.sizes.tolist())) == [3, 4]


def test_too_many_values_to_lay_out_are_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict, "_MOST_PLACES", 100)
    frame = pl.DataFrame({"age": list(range(30)), "pay": list(range(30))})
    asked = {"qi": ["age"], "sensitive": "pay", "model": "t-closeness:0.3,distance=ordered", "algorithm": "groups"}
    with pytest.raises(Unsupported, match=r"30 different values in 30 rows .*--round COLUMN=STEP"):
        la.publish(frame, adversary="knows-method", **asked)
    la.publish(frame, adversary="reads-release", **asked)
