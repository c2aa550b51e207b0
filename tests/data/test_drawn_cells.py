"""Codes drawn from published cells."""

from __future__ import annotations

import numpy as np

from lookalike.data.release import Ranges, Sets
from lookalike.data.worlds import drawn_from_cells
from lookalike.randomness import Randomness
from tests.audit.making import mixed_table


def test_a_drawn_code_lies_in_its_cell_and_each_is_as_likely() -> None:
    data = mixed_table(np.random.default_rng(1), 60)
    age, job = data.domains.quasi[:2]
    missing = np.array([False, True, True])
    runs = Ranges.of(age, np.array([2, 5, 0]), np.array([5, 5, -1]), missing)
    drawn = drawn_from_cells(age, runs, np.repeat(np.arange(3), 6000), Randomness(1)).reshape(3, -1)
    found = [dict(zip(*np.unique(part, return_counts=True), strict=True)) for part in drawn]
    assert [sorted(part) for part in found] == [[2, 3, 4, 5], [5, age.missing_code], [age.missing_code]]
    # Six standard deviations around what is expected.
    assert all(abs(count - 1500) < 6 * 34 for count in found[0].values())
    assert all(abs(count - 3000) < 6 * 39 for count in found[1].values())
    sets = Sets(np.array([0, 1, 4]), np.array([2, 0, 1, 3], dtype=np.int32))
    drawn = drawn_from_cells(job, sets, np.repeat(np.arange(2), 6000), Randomness(2)).reshape(2, -1)
    assert np.unique(drawn[0]).tolist() == [2]
    values, counts = np.unique(drawn[1], return_counts=True)
    assert values.tolist() == [0, 1, 3]
    assert (abs(counts - 2000) < 6 * 37).all()
