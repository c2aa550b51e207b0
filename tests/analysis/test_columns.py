"""Published cells as ends, middles, lists and numbers of groups."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.analysis.columns import list_columns
from lookalike.data.release import Grouped, Matched, Ranges, Release
from lookalike.data.schema import NUMBER_LIKE, Kind
from lookalike.errors import DataError, RecipeError
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.cells import type_values
from lookalike.files.releases.write import hold_release, write_release
from tests.examples import examples
from tests.files.releases.release_forms import MANIFEST, releases

DAY = datetime.date
PEOPLE = {
    "age": [30, 33, 41, None, 52, 58],
    "born": [DAY(1990, 1, 1), DAY(1990, 1, 4), DAY(1980, 5, 5), DAY(1980, 5, 6), DAY(1970, 2, 2), DAY(1970, 2, 3)],
    "job": ["cook", "nurse", "cook", "cook", "smith", None],
    "grade": ["low", "mid", "low", "high", "mid", "mid"],
    "town": ["A1", "A2", "A1", "B1", "B1", "B1"],
    "ill": ["flu", "hiv", "flu", "gout", "flu", "hiv"],
}
SCHEMA = """
lookalike: 1
columns:
  - {name: age, role: quasi-identifier, kind: numeric}
  - {name: born, role: quasi-identifier}
  - {name: job, role: quasi-identifier, kind: categorical}
  - {name: grade, role: quasi-identifier, kind: ordered, order: [low, mid, high]}
  - {name: town, role: quasi-identifier, taxonomy: {tree: {any: {A: [A1, A2], B: [B1]}}}}
  - {name: ill, role: sensitive}
"""


def published(**settings: Any) -> la.Publication:
    schema = la.Schema.from_yaml(SCHEMA)
    return la.publish(pl.DataFrame(PEOPLE), schema=schema, model="k-anonymity:2", seed=1, **settings)


def test_bounds_middles_and_groups_stand_beside_their_columns() -> None:
    made = published(algorithm="mondrian")
    frame = made.to_polars(bounds=True, midpoints=True, groups=True)
    assert frame.columns == [
        "group",
        *("age", "age_low", "age_high", "age_mid", "age_missing"),
        *("born", "born_low", "born_high", "born_mid"),
        *("job", "job_values", "job_missing"),
        *("grade", "grade_low", "grade_high"),
        *("town", "town_values"),
        "ill",
    ]
    assert frame.schema["age_low"] == pl.Int64
    assert frame.schema["born_high"] == pl.Date
    assert frame.schema["born_mid"] == pl.Datetime("us")
    assert frame.schema["job_values"] == pl.List(pl.String)
    assert made.to_polars().columns == list(PEOPLE)
    assert made.to_polars(groups=True).columns == ["group", *PEOPLE]
    # A group is what a reader can tell apart.
    cells = frame.select("age", "born", "job", "grade", "town")
    assert frame["group"].n_unique() == cells.n_unique()
    assert frame.with_columns(pl.struct(cells.columns).alias("all"))["all"].n_unique() == frame["group"].n_unique()
    assert frame.group_by("group").len()["len"].min() >= 2
    for row in frame.iter_rows(named=True):
        if row["age_low"] is not None and row["age_high"] is not None:
            assert row["age_mid"] == (row["age_low"] + row["age_high"]) / 2
        lasts = row["born_high"] - row["born_low"]
        middle = datetime.datetime.combine(row["born_low"], datetime.time()) + lasts / 2
        assert row["born_mid"] == middle


def test_names_that_are_taken_are_not_taken_twice() -> None:
    table = {"age": [30, 31, 40, 41], "age_low": ["a", "a", "b", "b"], "group": ["x"] * 4}
    made = la.publish(table, qi=["age"], sensitive="age_low", carry="group", model="k-anonymity:2")
    frame = made.to_polars(bounds=True, groups=True)
    assert frame.columns == ["group_", "age", "age_low_", "age_high", "age_low", "group"]


@pytest.mark.parametrize(
    ("taxonomy", "values", "ends"),
    [
        ({"intervals": [10, 50]}, [21, 28, 33, 34, 90, 95], {(20, 29), (30, 39), (90, 99)}),
        ({"intervals": [10, 50]}, [1.5, 2.5, 33.25, 34.5, 90.0, 95.75], {(0.0, 10.0), (30.0, 40.0), (90.0, 100.0)}),
        (
            {"dates": ["month", "year"]},
            [DAY(2024, 1, 5), DAY(2024, 1, 9), DAY(2024, 2, 3), DAY(2024, 2, 29), DAY(2023, 7, 7), DAY(2023, 7, 8)],
            {
                (DAY(2024, 1, 1), DAY(2024, 1, 31)),
                (DAY(2024, 2, 1), DAY(2024, 2, 29)),
                (DAY(2023, 7, 1), DAY(2023, 7, 31)),
            },
        ),
    ],
)
def test_nodes_of_numbers_and_dates_have_ends(taxonomy: Any, values: list[Any], ends: set[Any]) -> None:
    attribute = la.Attribute(name="x", role=la.Role.QUASI, taxonomy=taxonomy)
    schema = la.Schema((attribute, la.Attribute(name="ill", role=la.Role.SENSITIVE)))
    made = la.publish({"x": values, "ill": list("ababab")}, schema=schema, model="k-anonymity:2", algorithm="mondrian")
    frame = made.to_polars(bounds=True, midpoints=True)
    assert "*" not in frame["x"]
    assert set(frame.select("x_low", "x_high").iter_rows()) == ends
    assert frame["x_mid"].null_count() == 0


@pytest.mark.parametrize(("algorithm", "form"), [("ring", "matched"), ("perturbation", "perturbed")])
def test_releases_without_groups_say_so(algorithm: str, form: str) -> None:
    table = {"age": list(range(30, 50)), "ill": ["a", "b"] * 10}
    model = "beta-likeness:3" if form == "perturbed" else "k-anonymity:2"
    made = la.publish(table, qi="age", sensitive="ill", model=model, algorithm=algorithm)
    with pytest.raises(RecipeError, match=f"A {form} release has no groups"):
        made.frame(groups=True)
    assert made.to_polars(bounds=True, midpoints=True).columns[-1] == "ill"


def test_two_tables_keep_their_bucket_numbers() -> None:
    table = {"age": list(range(30, 50)), "ill": ["a", "b"] * 10}
    made = la.publish(table, qi="age", sensitive="ill", model="l-diversity:2", algorithm="anatomy")
    frames = made.to_polars(bounds=True, groups=True)
    assert {name: frame.columns for name, frame in frames.items()} == {
        "qit": ["age", "bucket"],
        "sat": ["bucket", "ill"],
    }
    assert set(made.to_pandas()) == {"qit", "sat"}


def _texts_in(release: Release, column: int, row: int) -> tuple[list[str], bool]:
    """The values that a cell holds, as texts, and whether it may be missing."""
    assert isinstance(release, Grouped | Matched)
    domain, extents, unit = release.domains.quasi[column], release.extents[column], release.unit_of_row[row]
    if isinstance(extents, Ranges):
        codes = list(range(extents.lows[unit], extents.highs[unit] + 1))
        missing = bool(extents.missing[unit])
    else:
        codes = extents.members[extents.starts[unit] : extents.starts[unit + 1]].tolist()
        missing = False
    known = [domain.texts[code] for code in codes if code < len(domain.values)]
    return known, missing or domain.missing_code in codes


@pytest.mark.parametrize("form", ["grouped", "matched"])
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_columns_say_what_the_cells_hold(form: str, data: st.DataObject) -> None:
    """Every value that a cell holds is between its ends, or in its list; and so is a missing one flagged."""
    _, release = data.draw(releases(form))
    try:
        folder = hold_release(release, MANIFEST)
        alone = read_alone(folder)
    except DataError:
        assume(False)
    (frame,) = list_columns(folder.manifest.tables, folder.frames, alone, bounds=True).values()
    (plain,) = list_columns(folder.manifest.tables, folder.frames, None).values()
    assert pl.DataFrame([frame[name] for name in plain.columns]).equals(plain)
    names = list(frame.columns)
    for column, domain in enumerate(release.domains.quasi):
        at = names.index(domain.name)
        # What is said of a column stands right after it.
        beside = {
            name[len(domain.name) + 1 :].rstrip("_"): frame[name]
            for name in names[at + 1 : at + 4]
            if name not in plain.columns and name.startswith(f"{domain.name}_")
        }
        numeric = domain.type in NUMBER_LIKE and domain.kind is Kind.NUMERIC
        assert ("low" in beside) is (numeric or domain.kind is Kind.ORDERED)
        for row in range(frame.height):
            held, missing = _texts_in(release, column, row)
            # A node says nothing of missing values below it: a reader knows them where a cell is empty.
            if domain.taxonomy is None:
                assert beside.get("missing", pl.Series([False] * frame.height))[row] is missing
            if "values" in beside:
                listed = beside["values"][row].to_list()
                assert set(held) <= set(listed) or frame[domain.name][row] == "*"
                assert sorted(held) == sorted(listed) or domain.taxonomy is not None or frame[domain.name][row] == "*"
            elif numeric and held:
                low, high = beside["low"][row], beside["high"][row]
                codes = [list(domain.texts).index(text) for text in held]
                values = type_values(domain.values, domain.type)
                assert low <= values[min(codes)] <= values[max(codes)] <= high
            elif held:
                assert (beside["low"][row], beside["high"][row]) == (held[0], held[-1])


@pytest.mark.parametrize("form", ["grouped", "matched", "bucketized", "perturbed"])
@given(data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_a_release_in_memory_is_read_as_its_folder_is(
    form: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _, release = data.draw(releases(form))
    folder: Path = tmp_path_factory.mktemp("held") / "out"
    write_release(folder, release, documents={}, manifest=MANIFEST)
    held, written = hold_release(release, MANIFEST), la.open_release(folder)
    try:
        alone = read_alone(held)
    except DataError:
        assume(False)
    assert held.manifest.tables == written.manifest.tables
    assert held.schema == read_schema(folder)
    for name, frame in written.tables.items():
        assert held.frames[name].equals(frame)
        assert held.frames[name].schema == frame.schema
    for table, again in zip(alone.tables(), written.release.tables(), strict=True):
        for cells, others in zip(table.columns, again.columns, strict=True):
            assert type(cells) is type(others)
            for field in ("codes", "unit_of_row", "numbers"):
                if hasattr(cells, field):
                    assert np.array_equal(getattr(cells, field), getattr(others, field))
    worlds = [la.sample(folder, worlds=1, seed=3)[0], la.open_release(folder).sample(1, seed=3)[0]]
    assert worlds[0].equals(worlds[1])


def read_schema(folder: Path) -> la.Schema:
    return la.Schema.load(folder / "schema.yaml")
