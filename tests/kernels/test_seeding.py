"""Records dealt out through the tree of groups, against looking at every group."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.algorithms.shared.axes import axes_of
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.kernels.neighbourhood import Layout
from lookalike.kernels.seeding import deal
from tests.strategies import column_of

SIZE, SPANS = 4, (1.0, 30.0)


def people(n_rows: int, seed: int) -> Microdata:
    """A category of two values, a number up to 30, and five sensitive values."""
    rng = np.random.default_rng(seed)
    columns = (
        column_of("sex", list(rng.choice(["f", "m"], n_rows)), ValueType.STRING),
        column_of("age", [0, 30, *rng.integers(0, 31, n_rows - 2).tolist()], ValueType.INTEGER),
        column_of("ill", list(rng.choice(list("abcde"), n_rows, p=[0.24, 0.22, 0.2, 0.18, 0.16])), ValueType.STRING),
    )
    schema = Schema(
        (
            Attribute(name="sex", role=Role.QUASI, kind=Kind.CATEGORICAL),
            Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC),
            Attribute(name="ill", role=Role.SENSITIVE),
        )
    )
    return Microdata.encode(Table(columns), schema)


@pytest.mark.parametrize(("n_groups", "seed"), [(5, 8), (70, 2), (300, 3), (1100, 4)])
def test_each_record_goes_where_it_widens_a_group_least(n_groups: int, seed: int) -> None:
    """Whatever the height of the tree: one level, two, three, four. Nobody is left over with these seeds."""
    data = people(n_groups * SIZE, seed)
    axes, rng = axes_of(data), np.random.default_rng(seed)
    layout = Layout(np.full(data.n_rows, -1), np.arange(0, data.n_rows + 1, SIZE))
    spread = np.lexsort((data.quasi[:, 1], data.quasi[:, 0]))
    seeds, home = data.quasi[spread[::SIZE]].astype(np.int64), np.empty(data.n_rows, dtype=np.int64)
    home[spread] = np.arange(data.n_rows) // SIZE
    rooms = np.full((1, 1, 5), 2, dtype=np.int64)
    order = rng.permutation(data.n_rows)
    alike = np.zeros(n_groups, dtype=np.int64)
    offsets = np.array([0, 2, 2])
    anywhere = np.zeros(data.n_rows, dtype=np.int64)
    assert deal(axes, rooms, alike, data.sensitive, layout, seeds, home, order, offsets, anywhere)
    assert sorted(layout.members) == list(range(data.n_rows))
    group_of = np.empty(data.n_rows, dtype=np.int64)
    group_of[layout.members] = np.repeat(np.arange(n_groups), SIZE)
    tallies, sexes = np.zeros((n_groups, 5), dtype=np.int64), np.zeros((n_groups, 2), dtype=bool)
    lows, highs = seeds[:, 1].copy(), seeds[:, 1].copy()
    sexes[np.arange(n_groups), seeds[:, 0]] = True
    for record in order:
        (sex, age), value, group = data.quasi[record], data.sensitive[record, 0], group_of[record]
        wider = np.maximum(highs, age) - np.minimum(lows, age) - (highs - lows)
        growths = ~sexes[:, sex] / SPANS[0] + wider / SPANS[1]
        is_open = (tallies[:, value] < 2) & (tallies.sum(axis=1) < SIZE)
        assert is_open[group]
        assert growths[group] == pytest.approx(growths[is_open].min(), abs=1e-12)
        tallies[group, value] += 1
        sexes[group, sex] = True
        lows[group], highs[group] = min(lows[group], age), max(highs[group], age)
    assert tallies.max() == 2


def test_no_room_is_said_and_not_made_up() -> None:
    data = people(40, 5)
    layout = Layout(np.full(40, -1), np.arange(0, 41, SIZE))
    shared = (layout, data.quasi[::SIZE].astype(np.int64), np.zeros(40, dtype=np.int64), np.arange(40))
    rooms = np.zeros((1, 1, 5), dtype=np.int64)
    nowhere = deal(
        axes_of(data), rooms, np.zeros(10, dtype=np.int64), data.sensitive, *shared, np.array([0, 2, 2]), shared[2]
    )
    assert not nowhere
