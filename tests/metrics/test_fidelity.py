"""Distances and correlations: zero for the table itself, known for one big group, and what drawing gives on average."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.apps.samples import hospital
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Randomizer, Release, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.data.worlds import draw_world
from lookalike.metrics.fidelity import CorrelationDifference, MarginalDistance, PairDistance, association
from lookalike.metrics.shared.expected import N_PARTS, Expected, Observed, Parts, all_parts
from lookalike.randomness import Randomness
from tests.files.releases.release_forms import FORMS, make_release
from tests.strategies import column_of, microdatas


def table(**columns: list[object]) -> Microdata:
    """Columns of whole numbers or text; the last one is sensitive."""
    types = {
        name: ValueType.INTEGER if isinstance(cells[0], int) else ValueType.STRING for name, cells in columns.items()
    }
    made = tuple(column_of(name, cells, types[name]) for name, cells in columns.items())
    *quasi, sensitive = columns
    return Microdata.encode(Table(made), Schema.of(qi=quasi, sensitive=[sensitive]))


def itself(data: Microdata, form: str) -> Release:
    """A release that says everything."""
    everybody = np.arange(data.n_rows)
    if form == Matched.form:
        cells = zip(data.domains.quasi, data.quasi.T, strict=True)
        extents = tuple(cover(domain, codes, everybody, data.n_rows) for domain, codes in cells)
        return Matched(domains=data.domains, extents=extents, sensitive=data.sensitive, carried=data.carried)
    if form != Perturbed.form:
        return make_release(form, data, everybody, everybody)
    nothing = tuple(Randomizer(np.eye(domain.n_codes, dtype=np.int64), 1) for domain in data.domains.sensitive)
    return Perturbed(
        domains=data.domains, quasi=data.quasi, sensitive=data.sensitive, carried=data.carried, randomizers=nothing
    )


@pytest.mark.parametrize("form", FORMS)
@given(st.data())
def test_a_table_is_at_no_distance_from_itself(form: str, data: st.DataObject) -> None:
    original = data.draw(microdatas(min_rows=2, max_rows=30))
    release = itself(original, form)
    assert MarginalDistance().measure(original, release) == pytest.approx(0, abs=1e-9)
    assert PairDistance().measure(original, release) == pytest.approx(0, abs=1e-9)
    assert CorrelationDifference().measure(original, release) == pytest.approx(0, abs=1e-6)


def test_one_big_group_has_the_known_distance() -> None:
    data = table(age=[0] * 5 + [9] * 5, sex=["F"] * 8 + ["M"] * 2, s=list("ab" * 5))
    release = make_release(Grouped.form, data, np.zeros(10, dtype=int), np.arange(10))
    # The parts of age are 0, and all above it up to 9: 1/10 against 5/10. Half of each sex instead of 8/10 and 2/10.
    assert MarginalDistance().by_column(data, release) == pytest.approx({"age": 0.4, "sex": 0.3, "s": 0.0})
    assert MarginalDistance().measure(data, release) == pytest.approx(0.7 / 3)
    pairs = PairDistance().by_pair(data, release)
    uniform = np.outer([0.1, 0.9], [0.5, 0.5])
    assert pairs["age", "sex"] == pytest.approx(np.abs(uniform - [[0.5, 0.0], [0.3, 0.2]]).sum() / 2)
    assert pairs["sex", "s"] == pytest.approx(np.abs(np.full((2, 2), 0.25) - [[0.4, 0.4], [0.1, 0.1]]).sum() / 2)
    (lost, *_) = CorrelationDifference().associations(data, release)
    assert lost.columns == ("age", "sex")
    assert lost.original == pytest.approx(0.5)
    assert lost.release == pytest.approx(0)


@pytest.mark.parametrize("form", ["grouped", "matched", "bucketized"])
def test_expectations_are_what_drawing_gives_on_average(form: str) -> None:
    generator = np.random.default_rng(2)
    ages = [*range(12), *generator.integers(0, 12, 28).tolist()]
    jobs = [None if age == 3 else "xyz"[age % 3] for age in ages]
    data = table(age=ages, job=jobs, s=generator.choice(list("pqr"), 40).tolist())
    release = make_release(form, data, np.argsort(np.argsort(ages)) // 8, generator.permutation(40))
    parts = all_parts(data)
    expected = Expected(release, parts)
    drawn = [draw_world(release, Randomness(seed)) for seed in range(300)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        tables = []
        for world in drawn:
            columns = np.concatenate((world.quasi.T, world.sensitive.T))
            found = np.zeros((parts[one].n_parts, parts[other].n_parts))
            np.add.at(found, (parts[one].part_of_code[columns[one]], parts[other].part_of_code[columns[other]]), 1 / 40)
            tables.append(found)
        assert np.abs(np.mean(tables, axis=0) - expected.pair(one, other)).max() < 0.01
        assert expected.pair(one, other).sum(axis=1) == pytest.approx(expected.column(one))
        assert expected.pair(one, other).sum(axis=0) == pytest.approx(expected.column(other))


def test_perturbed_counts_are_taken_back() -> None:
    data = table(sex=["F"] * 600 + ["M"] * 400, s=["a"] * 450 + ["b"] * 150 + ["a"] * 100 + ["b"] * 300)
    noise = Randomizer(np.array([[3, 1], [1, 3]]), 4)
    shown = np.array([0] * 375 + [1] * 225 + [0] * 150 + [1] * 250, dtype=np.int32)[:, None]
    release = Perturbed(
        domains=data.domains, quasi=data.quasi, sensitive=shown, carried=data.carried, randomizers=(noise,)
    )
    # What is published is just what the matrix makes of the counts on average.
    assert MarginalDistance().measure(data, release) == pytest.approx(0, abs=1e-4)
    assert PairDistance().measure(data, release) == pytest.approx(0, abs=1e-4)


def test_columns_of_many_values_are_put_in_parts() -> None:
    data = Microdata.encode(hospital(2000, seed=1), Schema.of(qi=["age", "zip code"], sensitive=["diagnosis"]))
    age, place, _ = all_parts(data)
    assert age.n_parts == N_PARTS
    counts = np.bincount(age.part_of_code[data.quasi[:, 0]]) / 2000
    assert counts.max() < 0.1
    assert (np.diff(age.part_of_code) >= 0).all()
    assert (np.diff(age.sizes) > 0).all()
    # Missing has a part of its own, the last.
    assert place.part_of_code[-1] == place.n_parts - 1
    assert np.count_nonzero(place.part_of_code == place.n_parts - 1) == 1


def test_rare_values_share_a_part() -> None:
    cells = [f"v{number:03d}" for number in range(80)] * 2 + ["v000", None]
    data = table(q=cells, s=["a"] * 162)
    parts = Parts.of(data.domains.quasi[0], data.quasi[:, 0])
    assert parts.n_parts == 51
    assert np.bincount(parts.part_of_code)[:50].max() == 31
    assert parts.part_of_code[-1] == 50


def test_associations() -> None:
    data = table(one=[1, 2, 3, 4], two=[2, 4, 6, 8], place=list("aabb"), s=list("aabb"))
    one, two, place, s = all_parts(data)
    pairs = Observed(data, (one, two, place, s))
    assert association(pairs.pair(0, 1), one, two) == pytest.approx(1)
    assert association(pairs.pair(2, 3), place, s) == pytest.approx(1)
    # Means 1.5 and 3.5 around 2.5: 1 of 1.25 of the spread.
    assert association(pairs.pair(0, 2), one, place) == pytest.approx(math.sqrt(1 / 1.25))
    assert association(pairs.pair(0, 2).T, place, one) == pytest.approx(math.sqrt(1 / 1.25))
    assert association(np.full((4, 2), 1 / 8), one, s) == pytest.approx(0)
    assert association(np.full((2, 2), 1 / 4), place, s) == pytest.approx(0)


def test_one_column_has_no_pairs() -> None:
    column = column_of("q", [1, 2, 3], ValueType.INTEGER)
    data = Microdata.encode(Table((column,)), Schema((Attribute(name="q", role=Role.QUASI, kind=Kind.NUMERIC),)))
    extents = (cover(data.domains.quasi[0], data.quasi[:, 0], np.zeros(3, dtype=int), 1),)
    release = Grouped(
        domains=data.domains,
        extents=extents,
        group_of_row=np.zeros(3, dtype=np.int32),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    assert MarginalDistance().measure(data, release) == pytest.approx(0)
    assert math.isnan(PairDistance().measure(data, release))
    assert math.isnan(CorrelationDifference().measure(data, release))


def test_random_buckets_lose_what_goes_with_what_and_nothing_else() -> None:
    data = table(q=["x"] * 50 + ["y"] * 50, s=["a"] * 50 + ["b"] * 50)
    everybody = np.zeros(100, dtype=np.int32)
    release = Bucketized(
        domains=data.domains,
        quasi=data.quasi,
        bucket_of_quasi=everybody,
        sensitive=data.sensitive,
        carried=data.carried,
        bucket_of_sensitive=everybody,
    )
    assert MarginalDistance().measure(data, release) == pytest.approx(0)
    assert PairDistance().measure(data, release) == pytest.approx(0.5)
    assert CorrelationDifference().measure(data, release) == pytest.approx(1)
