"""Made-up people: they follow from the release alone, and no combination of values is one that it shows."""

from __future__ import annotations

import inspect
import json
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.apps.samples import hospital, sample_knowledge, sample_schema
from lookalike.data.knowledge import Knowledge, break_rules
from lookalike.data.release import Bucketized, ExtentCells, Grouped, Matched, Perturbed, Randomizer, Release, Withheld
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.evaluation.report.examples import (
    Examples,
    draw_examples,
    make_up_examples,
    make_up_people,
    show_invented,
)
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from lookalike.randomness import Randomness
from tests.data.test_worlds import fits, rows_of
from tests.evaluation.report.conftest import Reported
from tests.examples import examples
from tests.files.releases.release_forms import FORMS, MANIFEST, clinic_release, held, releases

NO_RULES = Knowledge(())
"""People are drawn, and nobody is left out."""


@pytest.mark.parametrize("form", FORMS)
def test_without_rules_every_report_has_the_same_invented_people(form: str, tmp_path: Path) -> None:
    """What a fixed example shows is what the form does, and is no function of any table."""
    _, release = clinic_release(form)
    write_release(tmp_path / "out", release, manifest=MANIFEST)
    found = make_up_examples(ReleaseFolder(tmp_path / "out"))
    assert found == show_invented(form)
    assert not found.drawn
    for before, after in zip(found.before, found.after, strict=True):
        if form in ("grouped", "matched"):
            low, _, high = after[0].partition("..")
            assert int(low) <= int(before[0]) <= int(high)
            assert before[1] in after[1].split("|")
            assert before[2] in after[2].split("|")
            assert before[3] == after[3]
        else:
            assert before[:3] == after[:3]
        if form == "bucketized":
            assert before[3] in after[3].removeprefix("one of: ").split(", ")
    assert form != "perturbed" or {one[3] for one in found.before} != {one[3] for one in found.after}


def test_people_who_contradict_a_rule_are_not_drawn(reported: Reported) -> None:
    """No man with childbirth, nobody retired at 42: over all people that the release can be made into."""
    rules = Knowledge.load(sample_knowledge())
    opened = ReleaseFolder(reported.folder)
    found = make_up_examples(opened, rules)
    assert found == make_up_examples(opened, rules)
    alone = read_alone(opened)
    world = make_up_people(alone, Randomness(3)).before
    absurd = break_rules(rules, alone.domains, world.quasi, world.sensitive)
    assert absurd.any()
    for before in found.before if found.drawn else ():
        age, sex, occupation, diagnosis = int(before[0]), before[1], before[4], before[5]
        assert diagnosis != "childbirth" or (sex == "female" and 15 <= age <= 50)
        assert diagnosis != "prostate disorder" or (sex == "male" and age > 45)
        assert occupation != "retired" or age > 54
        assert occupation != "preschool child" or age < 6


def test_nobody_of_the_original_is_shown(reported: Reported) -> None:
    data = reported.publication.made.data
    domains = (*data.domains.quasi, *data.domains.sensitive)
    people = {
        tuple(domain.texts[code] for domain, code in zip(domains, codes, strict=True))
        for codes in np.column_stack((data.quasi, data.sensitive)).tolist()
    }
    found = draw_examples(ReleaseFolder(reported.folder), NO_RULES)
    assert found is not None
    assert found.before
    assert not people & set(found.before)
    assert [*inspect.signature(make_up_examples).parameters] == ["folder", "knowledge"]


def test_columns_are_put_together_at_random(reported: Reported) -> None:
    """Cells as in the release; which goes with which is drawn anew."""
    alone = read_alone(ReleaseFolder(reported.folder))
    people = make_up_people(alone, Randomness(1)).before
    ages, jobs = people.quasi[:, 0], people.quasi[:, 4]
    children = alone.domains.quasi[0].values[ages] < 15
    retired = np.array([alone.domains.quasi[4].texts[code] == "retired" for code in jobs])
    assert (children & retired).any()


def test_rows_after_hold_the_rows_before(reported: Reported) -> None:
    found = draw_examples(ReleaseFolder(reported.folder), NO_RULES)
    assert found is not None
    assert found.columns == ("age", "sex", "zip code", "admission_date", "occupation", "diagnosis")
    assert len(found.before) == len(found.after) >= 3
    for before, after in zip(found.before, found.after, strict=True):
        low, _, high = after[0].partition("..")
        assert int(low) <= int(before[0]) <= int(high or low)
        assert after[1] == "*" or before[1] in after[1].split("|")
        assert "*" not in before[2]
        assert before[2].startswith(after[2].rstrip("*"))
        assert before[5] == after[5]
    assert len({after[:5] for after in found.after}) == 1


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [("anatomy", "l-diversity:3"), ("perturbation", "beta-likeness:2"), ("ring", "l-diversity:3")],
)
def test_every_form_has_examples(algorithm: str, model: str, tmp_path: Path) -> None:
    whole = Schema.load(sample_schema())
    schema = Schema(tuple(one for one in whole.attributes if one.role is not Role.CARRIED))
    made = la.publish(hospital(200, seed=2), schema=schema, model=model, algorithm=algorithm, seed=1)
    made.write(tmp_path / "out", report="brief")
    found = draw_examples(ReleaseFolder(tmp_path / "out"), NO_RULES)
    assert found is not None
    assert found == draw_examples(ReleaseFolder(tmp_path / "out"), NO_RULES)
    assert len(found.before) == len(found.after) == (3 if algorithm == "anatomy" else 5)
    for before, after in zip(found.before, found.after, strict=True):
        assert (before[:5] == after[:5]) == (algorithm != "ring")
        if algorithm == "anatomy":
            assert before[5] in after[5].removeprefix("one of: ").split(", ")


def examples_of(release: Release, folder: Path) -> Examples | None:
    write_release(folder, release, manifest=MANIFEST)
    return draw_examples(ReleaseFolder(folder), NO_RULES)


def published(release: Release) -> set[tuple[str, ...]]:
    """Quasi-identifiers of all rows that have a plain value in every cell."""
    if isinstance(release, Bucketized | Perturbed):
        rows = rows_of(release.quasi)
    else:
        columns = release.tables()[0].columns[: len(release.domains.quasi)]
        cells = zip(*([codes for codes, _ in held(column)] for column in columns), strict=True)
        rows = [tuple(next(iter(codes)) for codes in row) for row in cells if all(len(codes) == 1 for codes in row)]
    return {tuple(domain.texts[code] for domain, code in zip(release.domains.quasi, row, strict=True)) for row in rows}


def cells_by_column(release: Grouped | Matched) -> list[Counter[object]]:
    """How many units have which cell, column by column."""
    columns = zip(release.domains.quasi, release.extents, strict=True)
    return [
        Counter(held(ExtentCells(domain, extents, np.arange(len(extents), dtype=np.int32))))
        for domain, extents in columns
    ]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(30))
@given(st.data())
def test_made_up_people_have_the_cells_of_the_release_and_no_combination_that_it_shows(
    form: str, data: st.DataObject
) -> None:
    _, release = data.draw(releases(form))
    made = make_up_people(release, Randomness(data.draw(st.integers(0, 99))))
    if isinstance(made.after, Grouped | Matched):
        assert fits(made.after, made.before)
        assert cells_by_column(made.after) == cells_by_column(release)
    else:
        for drawn, known in zip(made.before.quasi.T.tolist(), release.quasi.T.tolist(), strict=True):
            repeated = {code for code, number in Counter(known).items() if number > 1}
            assert set(drawn) <= (repeated or set(known))
        assert np.array_equal(made.before.quasi, made.after.quasi)
    for place, (one, other) in enumerate(zip(release.tables()[0].columns, made.after.tables()[0].columns, strict=True)):
        if place < len(release.domains.quasi):
            assert held(other) == [held(one)[row] for row in made.rows_of_cells[:, place]]
    with tempfile.TemporaryDirectory() as place:
        found = examples_of(release, Path(place) / "out")
        alone = read_alone(ReleaseFolder(Path(place) / "out"))
    if found is not None:
        assert 0 < len(found.before) == len(found.after) <= 5
        assume(not any("(missing)" in domain.texts[: len(domain.values)] for domain in alone.domains.quasi))
        assert not published(alone) & {row[: len(alone.domains.quasi)] for row in found.before}


@pytest.mark.parametrize("form", ["grouped", "matched", "bucketized"])
def test_records_that_the_publisher_made_up_are_not_shown_as_people(form: str, tmp_path: Path) -> None:
    """Three of the twelve, one per group: all that have a cold."""
    _, release = clinic_release(form)
    if isinstance(release, Bucketized):
        release = replace(release, quasi=release.quasi[np.arange(12) // 2 * 2])  # values of one person are not shown
    cold = release.domains.sensitive[0].texts.index("cold")
    smokers = np.bincount(release.sensitive[release.sensitive[:, 0] == cold, 1], minlength=2)
    withheld = Withheld(dummies=(np.eye(4, dtype=np.int64)[cold] * 3, smokers), n_dummies=3)
    found = examples_of(replace(release, withheld=withheld), tmp_path / "out")
    assert found is not None
    assert found.columns[5] == "diagnosis"
    assert "cold" not in {row[5] for row in found.before}


def test_values_of_a_perturbed_release_are_redrawn_by_its_matrix() -> None:
    _, release = clinic_release("perturbed")
    assert isinstance(release, Perturbed)
    weights = [3 * np.eye(len(one.weights), dtype=np.int64) + 1 for one in release.randomizers]
    # Every value becomes the next one.
    weights[0] = np.roll(np.eye(len(weights[0]), dtype=np.int64), 1, axis=0)
    known = replace(release, randomizers=tuple(Randomizer(one, int(one[:, 0].sum())) for one in weights))
    kept = 0
    for seed in range(500):
        made = make_up_people(known, Randomness(seed))
        before, after = made.before.sensitive, made.after.sensitive
        assert np.array_equal(after[:, 0], (before[:, 0] + 1) % len(weights[0]))
        kept += int((after[:, 1] == before[:, 1]).sum())
    share = 4 / (3 + len(weights[1]))
    n_drawn = 500 * release.n_rows
    assert abs(kept / n_drawn - share) < 5 * (share * (1 - share) / n_drawn) ** 0.5


def publish_examples(folder: Path, schema: Schema, model: str, algorithm: str) -> Examples | None:
    la.publish(hospital(60, seed=3), schema=schema, model=model, algorithm=algorithm).write(folder, report="brief")
    return draw_examples(ReleaseFolder(folder), NO_RULES)


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [("anatomy", "l-diversity:3"), ("perturbation", "beta-likeness:2"), ("mondrian", "k-anonymity:5")],
)
def test_a_release_that_shows_every_combination_has_no_examples(algorithm: str, model: str, tmp_path: Path) -> None:
    schema = Schema.of(qi=["sex"], sensitive=["diagnosis"])
    assert publish_examples(tmp_path / "out", schema, model, algorithm) is None


def test_a_value_that_one_person_has_is_never_shown(tmp_path: Path) -> None:
    """Whatever stood beside the only mayor would be said of the mayor."""
    jobs = ["mayor", *["clerk"] * 5]
    table = pl.DataFrame(
        {"job": jobs, "sex": ["f", "m", "f", "m", "f", "f"], "diagnosis": ["flu", "cold", "hiv", "flu", "cold", "hiv"]}
    )
    shown = 0
    for seed in range(12):
        folder = tmp_path / str(seed)
        la.publish(
            table, qi=["job", "sex"], sensitive=["diagnosis"], model="l-diversity:3", algorithm="anatomy", seed=seed
        ).write(folder, report="brief")
        made = draw_examples(ReleaseFolder(folder), NO_RULES)
        shown += made is not None
        assert made is None or not any("mayor" in row for row in (*made.before, *made.after))
    assert not shown  # with one other job, every row is one that the release shows


def test_a_column_that_the_release_hides_may_have_any_value(tmp_path: Path) -> None:
    prefixes = Attribute(name="zip code", role=Role.QUASI, taxonomy={"prefixes": [3, 2]})
    schema = Schema((*Schema.of(qi=["age"], sensitive=["diagnosis"]).attributes, prefixes))
    found = publish_examples(tmp_path / "out", schema, "k-anonymity:60", "mondrian")
    assert found is not None
    place = found.columns.index("zip code")
    assert {row[place] for row in found.after} == {"*"}
    assert {row[place] for row in found.before} == {"(any value)"}


def test_a_cell_that_may_hide_too_many_values_has_no_examples(tmp_path: Path) -> None:
    table = pl.DataFrame({"income": [*range(0, 9_000_000, 1_000_000)], "diagnosis": ["flu", "cold", "gout"] * 3})
    income = Attribute(name="income", role=Role.QUASI, taxonomy={"intervals": [10_000_000]})
    schema = Schema((income, *Schema.of(qi=["x"], sensitive=["diagnosis"]).sensitive))
    la.publish(table, schema=schema, model="k-anonymity:9", algorithm="mondrian").write(tmp_path / "out", report="full")
    assert json.loads((tmp_path / "out" / "report.json").read_text())["examples"]["drawn"] is False
    assert la.verify(table, tmp_path / "out").passed


def test_a_release_that_counts_made_up_rows_has_examples(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {
            "who": [*range(60)],
            "age": [20 + row % 9 for row in range(60)],
            "ill": ["abcde"[row % 5] for row in range(60)],
        }
    )
    made = la.publish(
        people,
        qi=["age"],
        sensitive="ill",
        person="who",
        model="l-diversity:3",
        series="stays",
        mode="m-invariant",
        destination=tmp_path / "first",
    )
    made.write(tmp_path / "first")
    folder = ReleaseFolder(tmp_path / "first")
    assert set(folder.manifest.tables) == {"release", "counterfeits"}
    shown = make_up_examples(folder)
    assert shown is not None
    assert shown.after
