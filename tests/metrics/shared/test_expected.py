"""Expected distributions: what drawing gives on average, over the parts of columns."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.apps.samples import hospital
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.data.worlds import draw_world
from lookalike.metrics.shared.expected import N_PARTS, Expected, Parts, all_parts
from lookalike.randomness import Randomness
from tests.files.releases.release_forms import make_release
from tests.metrics.making import table


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


def test_columns_of_many_values_are_put_in_parts() -> None:
    data = Microdata.encode(hospital(2000, seed=1), Schema.of(qi=["age", "zip code"], sensitive=["diagnosis"]))
    age, place, _ = all_parts(data)
    assert age.n_parts == N_PARTS
    counts = np.bincount(age.part_of_code[data.quasi[:, 0]]) / 2000
    assert counts.max() < 0.1
    assert (np.diff(age.part_of_code) >= 0).all()
    assert (np.diff(age.sizes) > 0).all()
    # Missing has its own part, the last.
    assert place.part_of_code[-1] == place.n_parts - 1
    assert np.count_nonzero(place.part_of_code == place.n_parts - 1) == 1


def test_rare_values_share_a_part() -> None:
    cells = [f"v{number:03d}" for number in range(80)] * 2 + ["v000", None]
    data = table(q=cells, s=["a"] * 162)
    parts = Parts.of(data.domains.quasi[0], data.quasi[:, 0])
    assert parts.n_parts == 51
    assert np.bincount(parts.part_of_code)[:50].max() == 31
    assert parts.part_of_code[-1] == 50
