"""The chain over complete assignments against all of them, listed one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from lookalike.kernels.worlds import Fits, World, wander, warm_up
from lookalike.randomness import Randomness

CYCLE = np.eye(3, dtype=bool) | np.roll(np.eye(3, dtype=bool), 1, axis=1)
"""A 6-cycle: each record fits its own row and the next one's. No exchange of two is possible."""


def all_worlds(fitting: np.ndarray) -> list[tuple[int, ...]]:
    """Every complete assignment, as the row of each record."""
    n_records = len(fitting)
    return [rows for rows in itertools.permutations(range(n_records)) if all(fitting[range(n_records), rows].tolist())]


def chain(fitting: np.ndarray, start: tuple[int, ...], sizes: list[int] | None = None) -> tuple[Fits, World]:
    n_records = len(fitting)
    starts = np.concatenate(([0], np.cumsum(fitting.sum(axis=1)))).astype(np.int64)
    rows = np.nonzero(fitting)[1].astype(np.int32)
    edge_of = np.array(
        [starts[record] + np.searchsorted(rows[starts[record] : starts[record + 1]], row)
         for record, row in enumerate(start)]
    )  # fmt: skip
    owner = np.argsort(start).astype(np.int64)
    bounds = np.concatenate(([0], np.cumsum(sizes or [n_records]))).astype(np.int64)
    return Fits(starts, rows, bounds), World(edge_of.astype(np.int64), owner)


def visits(fitting: np.ndarray, n_draws: int, limit: int, trips: int, seed: int) -> np.ndarray:
    """How often the chain is in each world."""
    worlds = {world: place for place, world in enumerate(all_worlds(fitting))}
    fits, world = chain(fitting, next(iter(worlds)))
    counts, state = np.zeros(len(fits.rows), dtype=np.int64), Randomness(seed).words(1).copy()
    found = np.zeros(len(worlds))
    for _ in range(n_draws):
        wander(fits, world, np.array([limit]), np.array([trips]), 1, counts, state)
        rows = fits.rows[world.edge_of]
        assert (world.owner[rows] == np.arange(len(fitting))).all()
        found[worlds[tuple(rows.tolist())]] += 1
    assert counts.sum() == n_draws * len(fitting)
    return found


def random_graph(seed: int, n_records: int, share: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    fitting = rng.random((n_records, n_records)) < share
    fitting[np.arange(n_records), rng.permutation(n_records)] = True
    return fitting


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limit", [7, 400], ids=["trips taken back", "all trips"])
def test_every_world_is_equally_likely(seed: int, limit: int) -> None:
    fitting = random_graph(seed, 4 + seed % 4, 0.5)
    found = visits(fitting, 12_000, limit, 12, seed)
    assert len(found) == 1 or chisquare(found).pvalue > 1e-4


@pytest.mark.parametrize("limit", [3, 100])
def test_worlds_that_exchanges_of_two_do_not_connect(limit: int) -> None:
    found = visits(CYCLE, 8_000, limit, 6, 3)
    assert len(found) == 2
    assert chisquare(found).pvalue > 1e-4


def test_steps_one_by_one_are_as_often_there_as_back() -> None:
    """Without thinning: the matrix of transitions is symmetric."""
    fitting = random_graph(11, 5, 0.6)
    worlds = {world: place for place, world in enumerate(all_worlds(fitting))}
    fits, world = chain(fitting, next(iter(worlds)))
    counts, state = np.zeros(len(fits.rows), dtype=np.int64), Randomness(5).words(1).copy()
    moves = np.zeros((len(worlds), len(worlds)))
    here = 0
    for _ in range(60_000):
        wander(fits, world, np.array([6]), np.array([1]), 1, counts, state)
        there = worlds[tuple(fits.rows[world.edge_of].tolist())]
        moves[here, there] += 1
        here = there
    apart = (moves - moves.T)[np.triu_indices(len(worlds), 1)]
    together = (moves + moves.T)[np.triu_indices(len(worlds), 1)]
    assert len(worlds) > 4
    assert (np.abs(apart) <= 5 * np.sqrt(together + 1)).all()


def test_components_do_not_mix() -> None:
    fitting = np.zeros((7, 7), dtype=bool)
    fitting[:3, :3], fitting[3:, 3:] = CYCLE, True
    fits, world = chain(fitting, tuple(range(7)), [3, 4])
    state, limits = Randomness(1).words(1).copy(), np.array([10, 100])
    trips = warm_up(fits, world, limits, 20, state)
    counts = np.zeros(len(fits.rows), dtype=np.int64)
    made, taken_back, steps = wander(fits, world, limits, trips, 20_000, counts, state)
    assert made == 20_000 * trips.sum()
    assert 0 <= taken_back < made <= steps
    shares = counts / 20_000
    assert shares[:6] == pytest.approx(1 / 2, abs=0.03)
    assert shares[6:] == pytest.approx(1 / 4, abs=0.03)
