"""The audit of frozen series finds every set of rows with one history that does not keep a promise."""

from __future__ import annotations

import numpy as np
import pytest

import lookalike as la
from lookalike.audit.frozen import ABSENT, audit_histories
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Promise
from tests.pipeline.series.test_frozen_attacked import PROMISES, people, play_frozen, subtract


def audit(shown: list[np.ndarray], cells: np.ndarray, data: la.Microdata, *promises: Promise) -> list[str]:
    groups = np.column_stack([np.where(here, cells, ABSENT) for here in shown])
    made = [promises or PROMISES] * len(shown)
    return audit_histories(groups, data.sensitive, made, data.domains.sensitive, READS_RELEASE)


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_subtraction(seed: int) -> None:
    data, present = people(seed)
    cells = (data.domains.quasi[0].values[data.quasi[:, 0]] >= 50).astype(np.int64)
    frozen = play_frozen(data, present)
    assert subtract(data, frozen) == 0
    assert audit(frozen, cells, data) == []
    assert subtract(data, list(present)) > 0
    assert audit(list(present), cells, data)


def test_a_row_that_came_alone_is_found() -> None:
    data, _ = people(1)
    cells = np.zeros(50, dtype=np.int64)
    first = np.ones(50, dtype=bool)
    first[7] = False
    found = audit([first, np.ones(50, dtype=bool)], cells, data, Promise(la.KAnonymity(2)))
    assert len(found) == 1
    assert "k-anonymity:2 only up to 1, in a set of 1 row" in found[0]
    # One row that left alone, too.
    assert audit([np.ones(50, dtype=bool), first], cells, data, Promise(la.KAnonymity(2)))
    assert audit([first, first], cells, data, Promise(la.KAnonymity(2))) == []


def test_a_weaker_promise_later_does_not_end_an_earlier_one() -> None:
    data, _ = people(1)
    cells, everybody = np.zeros(50, dtype=np.int64), np.ones(50, dtype=bool)
    later = everybody.copy()
    later[:3] = False
    groups = np.column_stack([np.where(here, cells, ABSENT) for here in (everybody, later)])
    strict, weak = (Promise(la.KAnonymity(k)) for k in (5, 2))

    def held(*promises: Promise) -> list[str]:
        made = [[promise] for promise in promises]
        return audit_histories(groups, data.sensitive, made, data.domains.sensitive, READS_RELEASE)

    assert "k-anonymity:5 only up to 3, in a set of 3 rows" in held(strict, weak)[0]
    # Those who left before the strict promise was made are not among the people that it is about.
    assert held(weak, strict) == []
