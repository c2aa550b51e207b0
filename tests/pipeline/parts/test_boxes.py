"""Cells: boxes that do not overlap, cover everything, follow taxonomies, and keep the promise after being fixed."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms.mondrian import Mondrian
from lookalike.data.microdata import Codes, Microdata, Table
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema, ValueType
from lookalike.pipeline.parts.boxes import BoxTree, grow_boxes, put_together
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.strategies import column_of, microdatas


def repeated(data: Microdata, times: int) -> Codes:
    """Enough records for a sample to decide something."""
    return np.repeat(np.column_stack([data.quasi, data.sensitive]), times, axis=0)


def anything(records: Codes) -> float:
    return 0.0


@given(microdatas(min_rows=4), st.integers(60, 400))
def test_every_combination_of_values_lies_in_one_box(data: Microdata, part_rows: int) -> None:
    sample = repeated(data, 20)
    cells = grow_boxes(sample, data.domains, len(sample), part_rows, anything)
    leaves = list(cells.root.leaves())
    assert [leaf.number for leaf in leaves] == list(range(cells.n_parts))
    ranges = [range(domain.n_codes) for domain in data.domains.quasi]
    every = np.array(list(itertools.islice(itertools.product(*ranges), 3000)), dtype=np.int32)
    parts = pickle.loads(pickle.dumps(cells)).part_of(every)
    inside = np.array([((every >= leaf.lows) & (every <= leaf.highs)).all(axis=1) for leaf in leaves])
    assert (inside.sum(axis=0) == 1).all()
    assert (inside.argmax(axis=0) == parts).all()


@given(microdatas(min_rows=4), st.integers(60, 200))
def test_what_is_published_of_a_cell_stays_in_its_box(data: Microdata, part_rows: int) -> None:
    codes = repeated(data, 20)
    cells = grow_boxes(codes, data.domains, len(codes), part_rows, anything)
    parts = cells.part_of(codes)
    for number in range(cells.n_parts):
        rows = codes[parts == number]
        if not len(rows):
            continue
        quasi, sensitive = np.split(rows, [data.quasi.shape[1]], axis=1)
        part = Microdata(
            data.schema, data.domains, quasi, sensitive, np.zeros((len(rows), data.carried.shape[1]), np.int32)
        )
        release, _ = Mondrian().anonymize(part, [Requirement(min_size=3)], Randomness(1), silent)
        assert cells.strays(number, rows, release) == 0
        elsewhere = (number + 1) % cells.n_parts
        if elsewhere != number:
            assert cells.strays(elsewhere, rows, release) == len(rows) + len(release.extents[0])


@given(microdatas(min_rows=4), st.integers(60, 200), st.integers(1, 1200))
def test_cells_that_do_not_fit_are_put_together(data: Microdata, part_rows: int, least: int) -> None:
    codes = repeated(data, 20)
    cells = grow_boxes(codes, data.domains, len(codes), part_rows, anything)
    sizes = np.bincount(cells.part_of(codes), minlength=cells.n_parts)
    least = min(least, len(codes))
    mended = put_together(cells, lambda numbers: int(sizes[numbers].sum()) >= least)
    after = np.bincount(mended.part_of(codes), minlength=mended.n_parts)
    assert after.sum() == len(codes)
    assert after.min() >= least
    assert mended.n_parts <= cells.n_parts
    if sizes.min() >= least:
        assert mended.n_parts == cells.n_parts


def test_cuts_bring_records_nearer() -> None:
    """Two columns, one of which spreads wide: it is the one that is cut."""
    rng = np.random.default_rng(5)
    wide, narrow = rng.integers(0, 1000, 2000).tolist(), (500 + rng.integers(0, 20, 2000)).tolist()
    narrow[0], narrow[1] = 0, 1000
    columns = (column_of("wide", wide, ValueType.INTEGER), column_of("narrow", narrow, ValueType.INTEGER))
    data = Microdata.encode(Table(columns), Schema.of(qi=["wide", "narrow"]))
    cells = grow_boxes(data.quasi, data.domains, 2000, 500, anything)
    assert cells.root.attr == 0
    assert isinstance(cells, BoxTree)
    assert cells.n_parts >= 4
    assert np.bincount(cells.part_of(data.quasi)).max() <= 500


def test_a_cut_that_cannot_be_is_not_made() -> None:
    data_codes = np.column_stack([np.arange(1000), np.arange(1000) >= 500]).astype(np.int32)
    columns = (
        column_of("age", list(range(1000)), ValueType.INTEGER),
        column_of("ill", (data_codes[:, 1]).tolist(), ValueType.INTEGER),
    )
    data = Microdata.encode(Table(columns), Schema.of(qi=["age"], sensitive=["ill"]))
    both = np.column_stack([data.quasi, data.sensitive])
    mixed = grow_boxes(both, data.domains, 1000, 250, lambda rows: 1.0 if len(np.unique(rows[:, 1])) > 1 else 2.0)
    assert mixed.n_parts < 4
    for number in range(mixed.n_parts):
        assert len(np.unique(both[mixed.part_of(both) == number, 1])) == 2


def test_cuts_that_leave_room_come_first() -> None:
    """Cutting by age gains more, but fills a side; the other column is cut first."""
    rng = np.random.default_rng(2)
    ages, sides = rng.integers(0, 100, 4000), rng.integers(40, 60, 4000)
    sides[:2] = 0, 100
    columns = (
        column_of("age", ages.tolist(), ValueType.INTEGER),
        column_of("side", sides.tolist(), ValueType.INTEGER),
    )
    data = Microdata.encode(Table(columns), Schema.of(qi=["age", "side"]))

    def fullness(rows: Codes) -> float:
        return 0.5 + 0.45 * abs(float(rows[:, 0].mean()) - 49.5) / 25

    assert grow_boxes(data.quasi, data.domains, 4000, 1000, anything).root.attr == 0
    assert grow_boxes(data.quasi, data.domains, 4000, 1000, fullness).root.attr == 1
