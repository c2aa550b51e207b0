"""Worlds: values lie in their cells, go together as the release says, and are the same again for the same seed."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.analysis.worlds import WorldModel
from lookalike.apps.samples import census
from lookalike.data.release import Bucketized, Grouped, Matched, Ranges, Release
from lookalike.data.worlds import draw_world
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.plain import value_frame
from lookalike.files.releases.read import find_release
from lookalike.randomness import Randomness
from tests.files.releases.release_forms import FORMS, clinic_release

N_ROWS = 1200


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    """Young women give birth, in winter people have influenza, old people a stroke; everything else is common."""
    rng = np.random.default_rng(3)
    age, sex, month = rng.integers(18, 90, N_ROWS), rng.integers(0, 2, N_ROWS), rng.integers(1, 13, N_ROWS)
    ill = rng.choice(["asthma", "fracture", "gastritis", "migraine"], N_ROWS).astype(object)
    draw = rng.random(N_ROWS)
    ill[(sex == 0) & (age < 40) & (draw < 0.6)] = "childbirth"
    ill[(month < 4) & (draw > 0.6)] = "influenza"
    ill[(age > 65) & (draw < 0.4)] = "stroke"
    return pl.DataFrame({"age": age, "sex": np.where(sex == 0, "f", "m"), "month": month, "ill": ill.astype(str)})


def publish(patients: pl.DataFrame, algorithm: str, model: str = "l-diversity:3", **more: Any) -> Any:
    return la.publish(
        patients, qi=["age", "sex", "month"], sensitive="ill", model=model, algorithm=algorithm, seed=1, **more
    )


def pair_error(original: pl.DataFrame, worlds: list[pl.DataFrame]) -> float:
    """The mean over pairs of columns of the total variation distance, ages in tens of years."""
    tens = (pl.col("Age") // 10).alias("Age")
    drawn, true = pl.concat(worlds).with_columns(tens), original.with_columns(tens)
    found = []
    for one, other in itertools.combinations(original.columns, 2):
        shares = [
            frame.group_by(one, other).agg((pl.len() / len(frame)).alias(name))
            for name, frame in (("true", true), ("drawn", drawn))
        ]
        both = shares[0].join(shares[1], on=[one, other], how="full").fill_null(0.0)
        found.append((both["true"] - both["drawn"]).abs().sum() / 2)
    return float(np.mean(found))


@pytest.mark.parametrize("form", FORMS)
def test_every_value_lies_in_its_cell(form: str) -> None:
    release = clinic_release(form)[1]
    model = WorldModel.of(release)
    for seed in range(20):
        assert fits(release, model.draw_rows(Randomness(seed)).quasi)


def fits(release: Release, quasi: np.ndarray) -> bool:
    if not isinstance(release, Grouped | Matched):
        return np.array_equal(quasi, release.quasi)
    inside = []
    for domain, extents, codes in zip(release.domains.quasi, release.extents, quasi.T, strict=True):
        units = release.unit_of_row
        if isinstance(extents, Ranges):
            missing = (codes == domain.missing_code) & extents.missing[units] & (domain.taxonomy is None)
            inside.append((extents.lows[units] <= codes) & (codes <= extents.highs[units]) | missing)
        else:
            held = [extents.members[extents.starts[unit] : extents.starts[unit + 1]] for unit in units]
            inside.append(np.array([code in members for code, members in zip(codes, held, strict=True)]))
    return bool(np.all(inside))


def test_pairs_are_nearer_than_with_even_draws() -> None:
    """People of a census: some countries and kinds of work are far more frequent than others."""
    columns = []
    table = census(1500, seed=1)
    for column in table.columns[:7]:
        values = column.values[column.codes]
        columns.append(pl.Series(column.name, values if column.name in ("Age", "Education") else values.astype(str)))
    people = pl.DataFrame(columns)
    *qi, sensitive = people.columns
    made = la.publish(people, qi=qi, sensitive=sensitive, model="k-anonymity:5", algorithm="mondrian", seed=1)
    release = read_alone(find_release(made))
    even = [value_frame(release.domains, draw_world(release, Randomness(seed))) for seed in range(5)]
    model = WorldModel.of(release)
    likely = [value_frame(release.domains, model.draw(Randomness(seed))) for seed in range(5)]
    assert pair_error(people, likely) < 0.75 * pair_error(people, even)


def test_what_goes_together_stays_together(patients: pl.DataFrame) -> None:
    births = patients.filter(pl.col("ill") == "childbirth")
    made = publish(patients, "anatomy")
    release = read_alone(find_release(made))
    even = pl.concat(value_frame(release.domains, draw_world(release, Randomness(seed))) for seed in range(5))
    worlds = pl.concat(la.sample(made, worlds=5, seed=1, frames="polars"))

    def mean_age(frame: pl.DataFrame) -> float:
        return float(frame.filter(pl.col("ill") == "childbirth")["age"].to_numpy().mean())

    true = float(births["age"].to_numpy().mean())
    assert abs(mean_age(worlds) - true) < 0.5 * abs(mean_age(even) - true)


def test_worlds_of_buckets_have_the_published_counts(patients: pl.DataFrame) -> None:
    release = read_alone(find_release(publish(patients, "anatomy")))
    assert isinstance(release, Bucketized)
    world = WorldModel.of(release).draw(Randomness(5))
    for bucket in range(int(release.bucket_of_quasi.max()) + 1):
        dealt = world.sensitive[release.bucket_of_quasi == bucket, 0]
        assert sorted(dealt) == sorted(release.sensitive[release.bucket_of_sensitive == bucket, 0])


def test_a_seed_repeats_a_draw_and_worlds_differ(patients: pl.DataFrame) -> None:
    made = publish(patients, "mondrian")
    one, two = la.sample(made, worlds=2, seed=9)
    again = la.sample(made, worlds=2, seed=9)
    assert one.equals(again[0])
    assert two.equals(again[1])
    assert not one.equals(two)


def test_intervals_over_worlds_hold_means(patients: pl.DataFrame) -> None:
    """The mean age of those with each illness, pooled over worlds, against the original's."""
    worlds = la.sample(publish(patients, "mondrian"), worlds=8, seed=2)
    held = []
    for ill in patients["ill"].unique():
        ages = [world.filter(pl.col("ill") == ill)["age"].to_numpy() for world in worlds]
        pooled = la.pool([each.mean() for each in ages], [each.var() / len(each) for each in ages])
        low, high = pooled.interval()
        held.append(low <= patients.filter(pl.col("ill") == ill)["age"].to_numpy().mean() <= high)
    assert np.mean(held) >= 0.8


def test_rows_of_one_person_agree(tmp_path: Path) -> None:
    """Sex and year of birth never differ between the visits of a person, and the table says whose visits they are."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(60), 3)
    frame = pl.DataFrame(
        {
            "id": [f"p{number}" for number in person],
            "sex": np.array(["f", "m"])[rng.integers(0, 2, 60)][person],
            "born": rng.integers(1940, 2000, 60)[person],
            "day": rng.integers(1, 360, len(person)),
            "ill": rng.choice(["flu", "cold", "cough"], len(person)),
        }
    )
    made = la.publish(
        frame, qi=["sex", "born", "day"], sensitive="ill", model="k-anonymity:4", person="id", rows="linked", seed=1
    )
    made.write(tmp_path / "linked", report="brief")
    (world,) = la.sample(tmp_path / "linked", worlds=1, seed=1)
    assert world.columns == ["person", "visit", "sex", "born", "day", "ill"]
    per_person = world.group_by("person").agg(pl.col("sex", "born", "day").n_unique())
    assert per_person["sex"].max() == per_person["born"].max() == 1
    assert per_person["day"].max() > 1
    assert per_person.height == world["person"].n_unique() > 1
