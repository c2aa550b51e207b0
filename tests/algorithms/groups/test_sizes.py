"""How many groups of which size: near the best that enumeration finds, and the same on a busy machine."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.groups import sizes as sizes_module
from lookalike.algorithms.groups.columns import blocks_for
from lookalike.algorithms.groups.linear_programs import Numbers, allot_values, allotments, divide_further, rooms_at
from lookalike.algorithms.groups.sizes import loss_of_group, plan_sizes
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Grouped
from lookalike.data.schema import Schema
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples


def zipf_counts(n_rows: int, n_values: int, exponent: float) -> np.ndarray:
    shares = 1 / np.arange(1, n_values + 1) ** exponent
    counts = np.floor(shares / shares.sum() * n_rows).astype(np.int64)
    counts[0] += n_rows - counts.sum()
    return counts


def likeness(counts: np.ndarray, beta: int) -> list[Fraction]:
    """Ceilings of basic beta-likeness."""
    n_rows = int(counts.sum())
    return [min(Fraction(1), (1 + beta) * Fraction(int(number), n_rows)) for number in counts]


def partitions(n_rows: int, least: int, most: int) -> Iterator[Numbers]:
    if n_rows == 0:
        yield {}
    for size in range(min(n_rows, most), least - 1, -1):
        for rest in partitions(n_rows - size, least, size):
            yield {**rest, size: rest.get(size, 0) + 1}


def fillable_by_search(counts: list[int], ceilings: list[Fraction], groups: list[int]) -> bool:
    """Whether the groups can be filled, group after group, with every way to fill one: no flow, no program."""
    if not groups:
        return not any(counts)

    def fillings(value: int, open_places: int) -> Iterator[list[int]]:
        if value == len(counts):
            if open_places == 0:
                yield []
            return
        for taken in range(min(counts[value], open_places, int(ceilings[value] * groups[0])) + 1):
            for more in fillings(value + 1, open_places - taken):
                yield [taken, *more]

    return any(
        fillable_by_search([have - take for have, take in zip(counts, taken, strict=True)], ceilings, groups[1:])
        for taken in fillings(0, groups[0])
    )


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.fractions(0, 1, max_denominator=10**6), min_size=1, max_size=6),
    st.lists(st.integers(1, 10**6), min_size=1, max_size=6),
)
def test_rooms_are_exact(ceilings: list[Fraction], sizes: list[int]) -> None:
    rooms = rooms_at(sizes, ceilings)
    assert rooms.tolist() == [[ceiling * size // 1 for ceiling in ceilings] for size in sizes]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 6)), min_size=2, max_size=3),
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
)
def test_flows_say_what_a_search_through_all_fillings_says(values: list[tuple[int, int]], groups: list[int]) -> None:
    counts, ceilings = [number for number, _ in values], [Fraction(sixths, 6) for _, sixths in values]
    numbers = {size: groups.count(size) for size in groups}
    found = allot_values(np.array(counts), ceilings, numbers)
    assert (found is not None) == fillable_by_search(counts, ceilings, groups)


@pytest.mark.slow
def test_small_tables_get_nearly_the_best_plan_that_enumeration_finds() -> None:
    draw = random.Random(23)
    gaps = []
    for _ in range(120):
        counts = np.array([draw.randint(1, 6) for _ in range(draw.randint(2, 6))])
        n_rows, least = int(counts.sum()), draw.choice([1, 2, 3])
        shares = [Fraction(int(number), n_rows) for number in counts]
        ceilings = [share + (1 - share) * Fraction(draw.randint(0, 12), 12) for share in shares]
        loss = loss_of_group([ceilings])
        losses = [
            sum(loss(size) * number for size, number in plan.items())
            for plan in partitions(n_rows, least, n_rows)
            if allot_values(counts, ceilings, plan) is not None
        ]
        plan = plan_sizes([counts], [ceilings], least)
        assert (plan is None) == (not losses)
        if plan is not None and plan.allotment is not None:
            assert int(plan.sizes.sum()) == n_rows
            assert int(plan.sizes.min()) >= least
            gaps.append(sum(loss(size) for size in plan.sizes.tolist()) / min(losses) - 1)
    assert len(gaps) > 40
    assert np.mean(np.array(gaps) < 1e-9) > 0.8
    assert max(gaps) < 0.35


@pytest.mark.parametrize("beta", [1, 3])
@pytest.mark.parametrize(("n_values", "exponent"), [(50, 0.9), (200, 0.9), (200, 0.5), (200, 0.0)])
def test_zipf_tables_get_small_groups(n_values: int, exponent: float, beta: int) -> None:
    """Two hundred values took the former integer program more than its two seconds: all rows became one group."""
    counts = zipf_counts(10_000, n_values, exponent)
    ceilings = likeness(counts, beta)
    plan = plan_sizes([counts], [ceilings], 1)
    assert plan is not None
    assert not plan.makeshift
    assert len(plan.sizes) >= 25
    least = max(1 / float(ceiling) for ceiling in ceilings)
    assert plan.sizes.max() <= 2 * least + 2


def test_values_are_shared_out_in_other_ways_that_fit_too() -> None:
    counts = zipf_counts(2000, 30, 0.9)
    ceilings = likeness(counts, 3)
    plan = plan_sizes([counts], [ceilings], 1)
    assert plan is not None
    numbers = {int(size): int(np.count_nonzero(plan.sizes == size)) for size in np.unique(plan.sizes)}
    assert len(numbers) > 1
    found = [*allotments(counts, ceilings, numbers)]
    assert len({tuple(map(tuple, one.values())) for one in found}) > 2
    for one in found:
        assert (sum(one.values()) == counts).all()
        for size, shared in one.items():
            assert shared.sum() == size * numbers[size]
            assert (shared <= rooms_at([size], ceilings)[0] * numbers[size]).all()


def test_a_single_group_is_divided_as_far_as_it_goes() -> None:
    """The program's numbers cannot be rounded here; dividing finds the plan."""
    counts, ceilings = np.array([7, 3, 2]), [Fraction(89, 144), Fraction(7, 8), Fraction(67, 72)]
    loss = loss_of_group([ceilings])
    assert divide_further([counts], [ceilings], {12: 1}, loss, 1) == {2: 1, 5: 2}


def schema_of(table: Table) -> Schema:
    names = table.names
    return Schema.of(qi=names[:4], sensitive=names[-1:], categorical=[names[1], names[3], names[-1]])


def published(n_rows: int, model: str, algorithm: str) -> pipeline.Outcome:
    table = census(n_rows, seed=6)
    promises = (Promise(parse_model(model)),)
    return pipeline.run(
        prepare(Recipe(schema=schema_of(table), promises=promises, algorithm=parse_algorithm(algorithm), seed=4), table)
    )


@pytest.mark.parametrize("algorithm", ["groups:mode=strict,effort=fast", "heterogeneous"])
def test_a_note_points_out_a_makeshift_plan(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any("No plan of small groups" in note for note in published(400, "beta-likeness:2", algorithm).notes)
    monkeypatch.setattr(sizes_module, "numbers_of_groups", lambda *given, **more: None)
    made = published(400, "beta-likeness:2", algorithm)
    assert made.losses["gcp"] < 1
    assert any("No plan of small groups for 400 rows was found" in note for note in made.notes)


@pytest.mark.parametrize("model", ["beta-likeness:1/1000", "t-closeness:1/100000"])
def test_a_note_points_out_a_single_group(model: str) -> None:
    made = published(200, model, "groups:mode=strict,effort=fast")
    assert isinstance(made.release, Grouped)
    assert set(made.release.group_of_row.tolist()) == {0}
    assert any(note.startswith("200 rows form a single group") for note in made.notes)


def without_a_clock(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Every look at a clock finds that an hour has passed; the options of every program solved."""
    hours = count(1)
    for name in ("monotonic", "perf_counter", "time", "process_time"):
        monkeypatch.setattr(time, name, lambda: next(hours) * 3600.0)
    seen: list[dict[str, Any]] = []
    for name in ("linprog", "milp"):
        solve = getattr(scipy.optimize, name)

        def watched(*given: Any, solve: Any = solve, **more: Any) -> Any:
            seen.append(dict(more.get("options") or {}))
            return solve(*given, **more)

        monkeypatch.setattr(scipy.optimize, name, watched)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm", ["groups:mode=strict,effort=fast", "groups:mode=free,effort=fast", "heterogeneous", "optimal-buckets"]
)
def test_results_do_not_depend_on_the_clock(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = census(600, seed=6)
    data = Microdata.encode(table, schema_of(table))
    promises = settle([Promise(parse_model("beta-likeness:2"))], data)
    requirements, method = require(promises, data), parse_algorithm(algorithm)

    def rows() -> list[int]:
        return method.anonymize(data, requirements, Randomness(3), silent)[1].record_of_row.tolist()  # type: ignore[no-any-return]

    usual = rows()
    options = without_a_clock(monkeypatch)
    assert rows() == usual
    assert options
    assert not any("time_limit" in some for some in options)


def test_columns_of_many_values_are_made_in_little_work() -> None:
    counts = zipf_counts(10_000, 200, 0.9)
    ceilings = likeness(counts, 3)
    plan = plan_sizes([counts], [ceilings], 1)
    assert plan is not None
    for numbers, zones in blocks_for(plan, counts, ceilings):
        assert (sum(zone.sum(axis=0) for zone in zones) == numbers).all()
