"""What figure 4 of BL rests on: the search for a parameter, and t and l of a release's groups."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.apps.papers.bl import closeness
from lookalike.apps.papers.bl.closeness import measure_levels, search_farthest
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.release import Grouped, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType


@given(st.floats(0.2, 7.9), st.booleans())
def test_halving_finds_the_last_good_parameter(threshold: float, down: bool) -> None:
    near, far = (8.0, 0.1) if down else (0.1, 8.0)

    def good(made: Any) -> bool:
        return bool(made.at >= threshold if down else made.at <= threshold)

    found: Any = search_farthest(lambda at: SimpleNamespace(at=at), good, near, far)  # type: ignore[arg-type, return-value]
    assert good(found)
    assert abs(found.at - threshold) <= 7.9 / 2**closeness.STEPS + 1e-5


def test_halving_ends_where_all_is_good_and_gives_up_where_nothing_is() -> None:
    def make(at: float) -> Any:
        return SimpleNamespace(at=at)

    everything: Any = search_farthest(make, lambda made: True, 1.0, 5.0)
    assert everything.at == 5.0
    assert search_farthest(make, lambda made: False, 1.0, 5.0) is None


def test_levels_of_a_release_of_two_groups() -> None:
    """Groups {a, b} and {a, a, a, c} of a table with a 4, b 1, c 1."""
    ages, values = np.array([0, 0, 1, 1, 1, 1], dtype=np.int32), np.array([0, 1, 0, 0, 0, 2], dtype=np.int32)
    table = Table(
        (
            Column("age", ValueType.INTEGER, ages, np.array([30, 40])),
            Column("value", ValueType.STRING, values, np.array(["a", "b", "c"], dtype=object)),
        )
    )
    schema = Schema(
        (
            Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC),
            Attribute(name="value", role=Role.SENSITIVE, kind=Kind.CATEGORICAL),
        )
    )
    data = Microdata.encode(table, schema)
    release = Grouped(
        domains=data.domains,
        extents=(cover(data.domains.quasi[0], data.quasi[:, 0], ages, 2),),
        group_of_row=ages,
        sensitive=data.sensitive,
        carried=data.carried,
    )
    levels = measure_levels(data, release)
    assert levels["groups"] == 2
    # Gains of the groups against 4/6, 1/6, 1/6: b by 1/3; a and c by 1/12 each.
    assert levels["equal t"] == pytest.approx(1 / 3)
    assert levels["mean equal t"] == pytest.approx((1 / 3 + 1 / 6) / 2)
    # Running sums differ by 1/6 and 1/6 in the first group, by 1/12 and 1/12 in the second, over two steps each.
    assert levels["ordered t"] == pytest.approx(1 / 6)
    assert levels["mean ordered t"] == pytest.approx((1 / 6 + 1 / 12) / 2)
    assert levels["l"] == pytest.approx(4 / 3)
    assert levels["mean l"] == pytest.approx((2 + 4 / 3) / 2)
