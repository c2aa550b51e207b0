"""Worlds drawn from releases of every form: what stays, what is drawn, and what is right on average."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import pool
from lookalike.apps.samples import hospital
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, ExtentCells, Perturbed, Randomizer, Ranges, Release, Sets, Withheld
from lookalike.data.schema import Schema, ValueType
from lookalike.data.worlds import World, draw_from_cells, draw_world
from lookalike.errors import DataError
from lookalike.randomness import Randomness
from tests.audit.making import mixed_table
from tests.examples import examples
from tests.files.releases.release_forms import FORMS, clinic_release, held, releases
from tests.strategies import column_of


def rows_of(codes: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in codes.tolist()]


def fits(release: Release, world: World) -> bool:
    """Whether every cell holds the code that was drawn from it."""
    for place, cells in enumerate(release.tables()[0].columns[: len(release.domains.quasi)]):
        assert isinstance(cells, ExtentCells)
        if any(code not in codes for code, (codes, _) in zip(world.quasi[:, place], held(cells), strict=True)):
            return False
    return True


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(30))
@given(st.data())
def test_worlds_are_tables_that_the_release_may_come_from(form: str, data: st.DataObject) -> None:
    original, release = data.draw(releases(form))
    world = draw_world(release, Randomness(data.draw(st.integers(0, 99))))
    assert len(world) == original.n_rows
    if form in ("grouped", "matched"):
        assert fits(release, world)
        assert np.array_equal(world.sensitive, release.sensitive)
    else:
        assert np.array_equal(world.quasi, release.quasi)
        known = np.array([domain.n_codes for domain in release.domains.sensitive])
        assert (world.sensitive < known).all()
    if isinstance(release, Bucketized):
        beside = zip(release.bucket_of_quasi, rows_of(world.sensitive), rows_of(world.carried), strict=True)
        published = zip(release.bucket_of_sensitive, rows_of(release.sensitive), rows_of(release.carried), strict=True)
        assert Counter(beside) == Counter(published)
    else:
        assert np.array_equal(world.carried, release.carried)


@pytest.mark.parametrize("form", FORMS)
def test_a_seed_repeats_a_world_and_another_does_not(form: str) -> None:
    _, release = clinic_release(form)
    one, again, other = (draw_world(release, Randomness(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.quasi, again.quasi)
    assert np.array_equal(one.sensitive, again.sensitive)
    assert not (np.array_equal(one.quasi, other.quasi) and np.array_equal(one.sensitive, other.sensitive))


def test_every_way_to_deal_a_bucket_is_as_likely() -> None:
    _, release = clinic_release("bucketized")
    assert isinstance(release, Bucketized)
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(1500):
        world = draw_world(release, Randomness(seed))
        seen[tuple(world.sensitive[release.bucket_of_quasi == 0, 0].tolist())] += 1
    # Four persons and four different values.
    assert len(seen) == 24
    assert all(abs(count - 62.5) < 5 * 62.5**0.5 for count in seen.values())


def test_buckets_of_unequal_sizes_are_refused() -> None:
    _, release = clinic_release("bucketized")
    assert isinstance(release, Bucketized)
    broken = replace(release, bucket_of_quasi=np.zeros(12, dtype=np.int32))
    with pytest.raises(DataError, match="other sizes"):
        draw_world(broken, Randomness(1))


@pytest.mark.parametrize("form", ["grouped", "matched", "bucketized"])
def test_made_up_records_are_taken_away_by_their_values(form: str) -> None:
    _, release = clinic_release(form)
    dummies = (np.array([0, 2, 1, 0]), np.array([1, 2]))
    marked = replace(release, withheld=Withheld(dummies=dummies, n_dummies=3, indistinguishable=True))
    kept = [draw_world(marked, Randomness(seed)) for seed in range(20)]
    for world in kept:
        assert np.bincount(world.sensitive[:, 0], minlength=4).tolist() == [3, 1, 2, 3]
        assert len(world.quasi) == len(world.carried) == 9
    assert len({tuple(world.carried[:, 0].tolist()) for world in kept}) > 1


def perturbed(data: Microdata, keep: float, generator: np.random.Generator) -> Perturbed:
    """Each value kept with a probability, or drawn evenly."""
    n_codes = data.domains.sensitive[0].n_codes
    weights = np.full((n_codes, n_codes), 10) + round(10 * n_codes * keep / (1 - keep)) * np.eye(n_codes, dtype=int)
    total = int(weights[:, 0].sum())
    cumulated = np.cumsum(weights, axis=0)[:, data.sensitive[:, 0]]
    shown = (cumulated <= generator.integers(0, total, data.n_rows)).sum(axis=0)
    return Perturbed(
        domains=data.domains,
        quasi=data.quasi,
        sensitive=shown[:, None].astype(np.int32),
        carried=data.carried,
        randomizers=(Randomizer(weights, total),),
    )


@pytest.mark.slow
def test_values_drawn_back_have_the_right_counts_on_average_and_go_with_what_they_went() -> None:
    table = hospital(2000, seed=5)
    coarse = Microdata.encode(table, Schema.of(qi=["age", "sex"], sensitive=["diagnosis"]))
    # Six groups of diagnoses: counts that stay well above 0 after the matrix is taken back.
    domain = coarse.domains.sensitive[0]
    six = replace(domain, values=domain.values[:6], size=6)
    codes = (coarse.sensitive[:, :1] * 6 // domain.n_codes).astype(np.int32)
    data = replace(coarse, domains=replace(coarse.domains, sensitive=(six,)), sensitive=codes)
    old = data.quasi[:, 0] > 60
    truth = np.stack([np.bincount(codes[rows, 0], minlength=6) for rows in (slice(None), old)])
    found = []
    for turn in range(20):
        release = perturbed(data, 0.4, np.random.default_rng(turn))
        drawn = draw_world(release, Randomness(turn)).sensitive[:, 0]
        found.append([np.bincount(drawn[rows], minlength=6) for rows in (slice(None), old)])
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / len(found) ** 0.5
    assert (np.abs(means[0] - truth[0]) < 4 * errors[0]).all()
    # One prior for all would keep less than half of the association.
    association = [counts[1] - counts[0] * old.mean() for counts in (truth, means)]
    kept = (association[0] @ association[1]) / (association[0] @ association[0])
    assert 0.8 < kept < 1.1


def test_a_matrix_that_changes_nothing_is_taken_back_exactly() -> None:
    data = Microdata.encode(hospital(200, seed=2), Schema.of(qi=["age"], sensitive=["diagnosis"]))
    n_codes = data.domains.sensitive[0].n_codes
    release = replace(
        perturbed(data, 0.5, np.random.default_rng(1)),
        sensitive=data.sensitive,
        randomizers=(Randomizer(np.eye(n_codes, dtype=np.int64), 1),),
    )
    assert np.array_equal(draw_world(release, Randomness(1)).sensitive, data.sensitive)


def test_slopes_from_a_part_of_the_rows_leave_the_counts_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.data.reconstruct.MOST_FITTED", 300)
    data = Microdata.encode(hospital(4000, seed=4), Schema.of(qi=["age"], sensitive=["sex"]))
    release = perturbed(data, 0.5, np.random.default_rng(1))
    drawn = [np.bincount(draw_world(release, Randomness(turn)).sensitive[:, 0])[0] for turn in range(12)]
    observed = np.bincount(release.sensitive[:, 0])[0]
    # Half are kept, half drawn evenly: observed = n/4 + count/2.
    assert abs(np.mean(drawn) - 2 * (observed - 1000)) < 4 * np.std(drawn) / 12**0.5 + 5


@pytest.mark.slow
def test_pooled_intervals_from_worlds_cover() -> None:
    """Two kinds of people of whom 60 % and 35 % have a value: how many have it, and by how much the kinds differ."""
    n_rows, n_worlds, turns = 600, 4, 80
    truth, covered = np.array([0.475, 0.25]), np.zeros(2)
    quasi, sensitive = (column_of(name, [0, 1], ValueType.INTEGER) for name in ("q", "s"))
    pattern = Microdata.encode(Table((quasi, sensitive)), Schema.of(qi=["q"], sensitive=["s"], categorical=["q", "s"]))
    for turn in range(turns):
        generator = np.random.default_rng(turn)
        kind = generator.integers(0, 2, n_rows)
        has = generator.random(n_rows) < np.where(kind == 1, 0.6, 0.35)
        data = replace(
            pattern,
            quasi=kind[:, None].astype(np.int32),
            sensitive=has[:, None].astype(np.int32),
            carried=np.empty((n_rows, 0), dtype=np.int32),
        )
        release = perturbed(data, 0.5, generator)
        estimates, variances = [], []
        for world in range(n_worlds):
            drawn = draw_world(release, Randomness(turn).child(world)).sensitive[:, 0]
            shares = [drawn.mean(), drawn[kind == 1].mean(), drawn[kind == 0].mean()]
            each = [
                share * (1 - share) / n for share, n in zip(shares, (n_rows, kind.sum(), (1 - kind).sum()), strict=True)
            ]
            estimates.append([shares[0], shares[1] - shares[2]])
            variances.append([each[0], each[1] + each[2]])
        low, high = pool(estimates, variances).interval(0.9)
        covered += (low <= truth) & (truth <= high)
    # Four standard deviations of a share of 0.9 in so many turns.
    assert (np.abs(covered / turns - 0.9) < 4 * (0.09 / turns) ** 0.5).all()


def test_a_drawn_code_lies_in_its_cell_and_each_is_as_likely() -> None:
    data = mixed_table(np.random.default_rng(1), 60)
    age, job = data.domains.quasi[:2]
    missing = np.array([False, True, True])
    runs = Ranges.of(age, np.array([2, 5, 0]), np.array([5, 5, -1]), missing)
    drawn = draw_from_cells(age, runs, np.repeat(np.arange(3), 6000), Randomness(1)).reshape(3, -1)
    found = [dict(zip(*np.unique(part, return_counts=True), strict=True)) for part in drawn]
    assert [sorted(part) for part in found] == [[2, 3, 4, 5], [5, age.missing_code], [age.missing_code]]
    # Six standard deviations around what is expected.
    assert all(abs(count - 1500) < 6 * 34 for count in found[0].values())
    assert all(abs(count - 3000) < 6 * 39 for count in found[1].values())
    sets = Sets(np.array([0, 1, 4]), np.array([2, 0, 1, 3], dtype=np.int32))
    drawn = draw_from_cells(job, sets, np.repeat(np.arange(2), 6000), Randomness(2)).reshape(2, -1)
    assert np.unique(drawn[0]).tolist() == [2]
    values, counts = np.unique(drawn[1], return_counts=True)
    assert values.tolist() == [0, 1, 3]
    assert (abs(counts - 2000) < 6 * 37).all()
