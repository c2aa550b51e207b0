"""Which tables are taken, and with which noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lookalike.algorithms.privbayes import network
from lookalike.algorithms.privbayes.network import list_measured_sets, measure
from lookalike.algorithms.shared.drawing import Link
from lookalike.progress import silent
from lookalike.randomness import Randomness

CHAIN = (Link(2, ()), Link(0, (2,)), Link(1, (0, 2)), Link(3, (0, 1)))


def test_a_table_within_another_is_not_taken_again() -> None:
    assert list_measured_sets(CHAIN) == [(0, 1, 2), (0, 1, 3)]
    assert list_measured_sets([Link(0, ()), Link(1, ())]) == [(0,), (1,)]
    assert list_measured_sets([Link(1, ()), Link(0, (1,)), Link(2, (0, 1))]) == [(0, 1, 2)]


def test_every_cell_gets_noise_of_the_scale_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Fraction, int]] = []

    def noise(rng: Randomness, scale: Fraction, count: int) -> np.ndarray:
        asked.append((scale, count))
        return np.arange(count) - 2

    monkeypatch.setattr(network, "discrete_laplace", noise)
    cells = np.array([[0, 1, 2], [0, 1, 2], [1, 0, 0]])
    made = measure(cells, [2, 2, 3], [(0, 1), (2,)], Fraction(7, 3), Randomness(1), silent)
    assert asked == [(Fraction(7, 3), 4), (Fraction(7, 3), 3)]
    assert made[0].counts.tolist() == [[0, 1], [1, 1]]  # 0, 2, 1, 0 and the noise -2, -1, 0, 1, negative ones set to 0
    assert made[1].counts.tolist() == [0, 0, 2]


def test_noise_differs_from_table_to_table() -> None:
    cells = np.zeros((1, 2), dtype=np.int64)
    first, second = measure(cells, [50, 50], [(0,), (1,)], Fraction(30), Randomness(1), silent)
    assert first.counts.tolist() != second.counts.tolist()
