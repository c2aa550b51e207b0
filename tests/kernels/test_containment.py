"""The containment kernels and the placement of records against brute force."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.audit.exposures import complete_assignment
from lookalike.audit.matching import existence
from lookalike.audit.reading import Reading, largest_placement
from lookalike.data.requirement import Requirement
from lookalike.kernels.containment import holds_each, list_fitting
from tests.audit.making import grouped, matched, mixed_table, number_table, random_groups
from tests.examples import examples
from tests.oracles import containment as oracle

seeds = st.integers(0, 2**32 - 1)


def scrambled(release, rng):
    """Rows take the values of other rows: an assignment need not exist any more."""
    order = rng.permutation(release.n_rows)
    keep = rng.random(release.n_rows) < 0.6
    order[keep] = np.flatnonzero(keep)
    order[~keep] = rng.permutation(np.flatnonzero(~keep))
    return replace(release, sensitive=release.sensitive[order], carried=release.carried[order])


@given(seeds, st.integers(1, 24), st.integers(1, 6))
@settings(max_examples=examples(150), deadline=None)
def test_fitting_pairs_and_largest_assignment_are_those_of_brute_force(seed, n_rows, size):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows, n_values=int(rng.integers(1, 4)))
    release = scrambled(grouped(data, random_groups(rng, n_rows, size), rng.permutation(n_rows)), rng)
    table = oracle.fit_table(release, data)
    reading = Reading(release, data)

    starts, rows = reading.fits
    found = np.zeros_like(table)
    found[np.repeat(np.arange(n_rows), np.diff(starts)), rows] = True
    assert (found == table).all()

    records, published = np.meshgrid(np.arange(n_rows), np.arange(n_rows), indexing="ij")
    units = reading.boxes.class_of_row[published.ravel()]
    held = holds_each(reading.boxes.cells.for_kernels(), units, np.ascontiguousarray(data.quasi), records.ravel())
    assert (held.reshape(table.shape) == table).all()

    allowed = table & oracle.same_values(release, data)
    for pairs in (10_000, int(rng.integers(0, n_rows + 1))):
        reading = Reading(release, data)
        # Set beforehand: `placement` is worked out once. Few pairs: the search that needs no list takes over.
        vars(reading)["placement"] = largest_placement(
            reading.boxes, data.quasi, reading.value_of_record, reading.value_of_row, reading.n_values, pairs
        )
        assert reading.placement.n_placed == oracle.largest_assignment(allowed)
        row_of_record = complete_assignment(reading)
        placed = np.flatnonzero(row_of_record >= 0)
        assert len(np.unique(row_of_record[placed])) == len(placed)
        assert allowed[placed, row_of_record[placed]].all()


@given(seeds, st.integers(1, 20), st.integers(1, 5))
@settings(max_examples=examples(60), deadline=None)
def test_classes_are_rows_with_identical_cells(seed, n_rows, size):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows)
    groups = random_groups(rng, n_rows, size)
    # Equal extents are stored twice: group numbers must not matter.
    release = grouped(data, groups, rng.permutation(n_rows))
    seen = oracle.classes(release)
    mine = Reading(release, data).boxes.class_of_row
    for row in range(n_rows):
        for other in range(n_rows):
            assert (mine[row] == mine[other]) == (seen[row] == seen[other])


def test_classes_do_not_depend_on_row_order():
    rng = np.random.default_rng(5)
    data = mixed_table(rng, 60)
    groups, order = random_groups(rng, 60, 3), rng.permutation(60)
    first = Reading(grouped(data, groups, np.arange(60)), data)
    second = Reading(grouped(data, groups, order), data)
    assert (first.boxes.class_of_row[order] == second.boxes.class_of_row).all()
    assert (first.placement.item_of_record == second.placement.item_of_record).all()


def test_ends_that_another_tool_rounded_tell_rows_apart():
    data = number_table([[0], [1], [2], [3]], [0, 1, 0, 1])
    release = grouped(data, [0, 0, 1, 1], [0, 1, 2, 3])
    same = replace(
        release,
        extents=(
            replace(
                release.extents[0],
                lows=np.array([0, 0], dtype=np.int32),
                highs=np.array([3, 3], dtype=np.int32),
                low_points=np.array([0.0, 0.0]),
                high_points=np.array([3.0, 3.0]),
            ),
        ),
    )
    assert Reading(same, data).boxes.n_classes == 1
    rounded = replace(same, extents=(replace(same.extents[0], high_points=np.array([3.0, 4.0])),))
    assert Reading(rounded, data).boxes.n_classes == 2


@given(seeds, st.integers(2, 6), st.integers(1, 3))
@settings(max_examples=examples(60), deadline=None)
def test_flow_finds_a_regular_part_exactly_where_there_is_one(seed, n_rows, degree):
    rng = np.random.default_rng(seed)
    data = number_table(rng.integers(0, 6, (n_rows, 2)), rng.integers(0, 3, n_rows))
    slots = [[slot, *rng.choice(n_rows, int(rng.integers(0, n_rows)), replace=False)] for slot in range(n_rows)]
    release, _ = matched(data, slots, np.arange(n_rows), rng.permutation(n_rows))
    degree = min(degree, n_rows)
    n_codes = data.domains.sensitive[0].n_codes
    shares = tuple(Fraction(int(rng.integers(1, 4)), 3) for _ in range(n_codes))
    table = oracle.fit_table(release, data)
    values = release.sensitive[:, 0].tolist()
    for requirement, caps in (
        (Requirement(min_size=degree), [degree] * n_codes),
        (Requirement(column=0, distinct=max(degree, 2)), [1] * n_codes),
    ):
        wanted = max(degree, requirement.distinct)
        found = existence(Reading(release, data), requirement, requirement.column, None)
        assert found.exists == oracle.regular_part_exists(table, values, wanted, caps)
    found = existence(Reading(release, data), Requirement(column=0, min_size=degree, ceilings=shares), 0, None)
    expected = any(
        oracle.regular_part_exists(table, values, wanted, [int(share * wanted) for share in shares])
        for wanted in range(degree, n_rows + 1)
    )
    assert found.exists == expected


def test_a_record_without_a_place_does_not_cost_another_its_own():
    data = number_table([[0], [0], [5], [9]], [0, 0, 0, 0])
    release = grouped(data, [0, 0, 1, 1], [0, 1, 2, 3])
    narrowed = replace(release.extents[0], highs=np.array([0, 1], dtype=np.int32))
    reading = Reading(replace(release, extents=(narrowed,)), data)
    assert reading.placement.n_placed == 3


def test_the_limit_on_listed_pairs_stops_the_listing():
    data = number_table([[number] for number in range(40)], [0] * 40)
    reading = Reading(grouped(data, [0] * 40, np.arange(40)), data)
    everything = np.array([0, 40])
    codes = np.ascontiguousarray(data.quasi)
    for limit, n_listed in ((1599, 0), (1600, 1600)):
        starts, rows = list_fitting(
            reading.boxes.cells.for_kernels(), reading.boxes.class_of_row, everything, codes, everything, limit
        )
        assert starts[-1] == 1600
        assert len(rows) == n_listed


def test_both_ways_to_place_records_agree_on_many_equal_records():
    rng = np.random.default_rng(11)
    data = number_table(rng.integers(0, 4, (600, 3)), rng.integers(0, 3, 600))
    release = scrambled(grouped(data, random_groups(rng, 600, 2), rng.permutation(600)), rng)
    reading = Reading(release, data)
    known = reading.boxes, data.quasi, reading.value_of_record, reading.value_of_row, reading.n_values
    listed, searched = largest_placement(*known), largest_placement(*known, pairs=50)
    assert 0 < listed.n_placed == searched.n_placed < 600


@pytest.mark.slow
@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="compiled only: takes hours otherwise")
@pytest.mark.parametrize("n_values", [1, 50])
def test_heavily_overlapping_classes_take_seconds(n_values):
    rng = np.random.default_rng(3)
    n_rows = 20_000
    quasi = np.column_stack([rng.integers(0, width, n_rows) for width in (70, 2, 10, 80, 20)])
    data = number_table(quasi, rng.integers(0, n_values, n_rows))
    release = grouped(data, random_groups(rng, n_rows, 12), rng.permutation(n_rows))
    reading = Reading(release, data)
    started = time.perf_counter()
    assert reading.placement.n_placed == n_rows
    # Compiling included; without the pruning it takes minutes.
    assert time.perf_counter() - started < 60
