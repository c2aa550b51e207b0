"""Persons with several rows in parts: distinct persons are counted over all parts, and no promise is about rows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.shared.method import Grouping
from lookalike.apps.samples import hospital
from lookalike.audit import joining
from lookalike.audit.parts import PartAudit
from lookalike.data.contracts import Boxes
from lookalike.data.frequent_values import set_cells
from lookalike.data.microdata import Microdata
from lookalike.data.person_columns import find_repeated
from lookalike.data.person_settings import PersonSettings
from lookalike.data.persons import PersonCounts, chance_of_value
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Role, Schema
from lookalike.errors import AuditFailed, DataError, Infeasible, RecipeError, SchemaError, Unsupported
from lookalike.models import parse_promise
from lookalike.pipeline.backends import Backend, Fragments
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.parts import publish as making
from lookalike.pipeline.parts.boxes import BoxTree
from lookalike.pipeline.parts.cut import cut, cutting_for
from lookalike.pipeline.parts.persons import select_persons
from lookalike.pipeline.parts.survey import survey
from lookalike.pipeline.parts.verify import verify_in_parts
from lookalike.pipeline.person_rows import keep_rows
from lookalike.pipeline.recipe import Recipe, require, settle
from lookalike.progress import Progress
from lookalike.publication import Publication
from lookalike.publication.in_parts import publish_in_parts
from lookalike.randomness import Randomness

QI = ["age", "sex", "zip code"]
SCHEMA = set_cells(Schema.of(qi=QI, sensitive=["diagnosis"], carry=["row"], person="patient"), carry_anyway="row")
CHECKED = ("groups:effort=fast", "mondrian", "mondrian-strict")


def visits_of(n_patients: int, seed: int, most: int = 4, heavy: int = 0) -> pl.DataFrame:
    """Patients with 1 to `most` stays each, some with the same quasi-identifiers and some not; one may have many."""
    rng = np.random.default_rng(seed)
    patients = hospital(n_patients, seed=seed)
    frame = pl.DataFrame(
        {column.name: pl.Series([*column.values.tolist(), None]).gather(column.codes) for column in patients.columns}
    )
    times = rng.integers(1, most + 1, n_patients)
    times[0] += heavy
    rows = np.repeat(np.arange(n_patients), times)
    frame = frame.drop("patient_id")
    table = frame[rows].with_columns(
        pl.Series("patient", [f"p{number:05d}" for number in rows]),
        diagnosis=pl.Series(rng.permutation(frame["diagnosis"][rng.integers(0, n_patients, len(rows))].to_numpy())),
        age=frame["age"][rows] + pl.Series(rng.integers(0, 2, len(rows)) * rng.integers(0, 2, len(rows))),
    )
    table = table.sample(fraction=1.0, shuffle=True, seed=seed)
    return table.with_columns(pl.Series("row", np.arange(len(rows))))


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    return visits_of(1500, 5)


def recipe_of(
    algorithm: Any, *promises: str, schema: Schema = SCHEMA, adversary: str = "reads-release", **persons: Any
) -> Recipe:
    return Recipe(
        schema=schema,
        promises=tuple(parse_promise(promise) for promise in promises),
        algorithm=parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm,
        seed=3,
        adversary=adversary,
        persons=PersonSettings(**persons),
    )


def published(frame: pl.DataFrame | Backend, out: Path, recipe: Recipe, **more: Any) -> Publication:
    backend = LocalBackend(frame) if isinstance(frame, pl.DataFrame) else frame
    return publish_in_parts(backend, recipe, out, **{"part_rows": 1000, **more})


def classes_of(folder: Path, frame: pl.DataFrame) -> list[pl.DataFrame]:
    """The original rows behind rows with identical published cells; the carried column says which these are."""
    release = pl.read_parquet(folder / "release.parquet")
    names = [name for name in release.columns if any(name == qi or name.startswith(f"{qi} ") for qi in QI)]
    held = defaultdict[str, list[int]](list)
    for *cells, row in release.select(*names, "row").iter_rows():
        held[repr(cells)].append(row)
    return [frame[rows] for rows in held.values()]


def shares_of(frame: pl.DataFrame) -> dict[str, Fraction]:
    owners = frame.select("patient", "diagnosis").unique()["diagnosis"].value_counts().rows()
    return {value: Fraction(times, frame["patient"].n_unique()) for value, times in owners}


@pytest.mark.parametrize("number_known", [True, False])
@pytest.mark.parametrize("algorithm", CHECKED)
def test_every_class_keeps_the_promise_by_distinct_persons(
    algorithm: str, number_known: bool, visits: pl.DataFrame, tmp_path: Path
) -> None:
    """By hand, from the files: nothing of the audit is used."""
    recipe = recipe_of(algorithm, "k-anonymity:6", "l-diversity:2", number_known=number_known)
    made = published(visits, tmp_path / "release", recipe)
    assert made.n_parts >= 2
    least, highest, n_rows = 10**9, Fraction(0), 0
    for held in classes_of(tmp_path / "release", visits):
        owners = held["patient"].to_list()
        n_rows += len(owners)
        least = min(least, len(set(owners)))
        most = max(Counter(owners).values())
        for value, share in shares_of(held).items():
            highest = max(highest, share)
            if number_known:
                highest = max(highest, chance_of_value(len(held), int((held["diagnosis"] == value).sum()), most))
    assert n_rows == len(visits)
    assert least >= 6
    assert highest <= Fraction(1, 2)
    reached = {verdict.model: verdict.reached for verdict in made.audit.verdicts}
    assert reached == {"k-anonymity:6": least, "l-diversity:2": pytest.approx(1 / highest)}
    assert made.audit.n_persons == visits["patient"].n_unique()
    assert min(made.made.crowds) == least


def test_beliefs_are_held_against_shares_of_persons_in_the_whole_table(visits: pl.DataFrame, tmp_path: Path) -> None:
    made = published(
        visits, tmp_path / "release", recipe_of("mondrian", "beta-likeness:2,bound=basic", number_known=False)
    )
    whole, worst = shares_of(visits), Fraction(0)
    for held in classes_of(tmp_path / "release", visits):
        worst = max(worst, *(share / whole[value] - 1 for value, share in shares_of(held).items()))
    assert made.audit.verdicts[0].reached == worst
    assert made.n_parts >= 2


def digests(folder: Path) -> dict[str, str]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


@pytest.mark.parametrize("algorithm", ["groups:effort=fast", "mondrian", "anatomy", "two-size"])
def test_one_row_per_person_gives_the_same_bytes_as_no_person_column(
    algorithm: str, visits: pl.DataFrame, tmp_path: Path
) -> None:
    numbered = visits.with_columns(pl.Series("patient", [f"q{row}" for row in range(len(visits))]))
    plain = Schema.of(qi=QI, sensitive=["diagnosis"])
    for name, schema in (("without", plain), ("with", Schema.of(plain, person="patient"))):
        published(numbered, tmp_path / name, recipe_of(algorithm, "l-diversity:3", schema=schema))
    assert digests(tmp_path / "with") == digests(tmp_path / "without")


class Remembering(LocalBackend):
    """Keeps the cuts, to make the same ones again."""

    cuts: Fragments

    def map(self, work: Any, fragments: Fragments, watch: Any) -> list[bytes]:
        self.cuts = fragments
        return super().map(work, fragments, watch)


@pytest.mark.parametrize("settings", [{}, {"contribution": 2}, {"rows": "one"}])
def test_the_order_of_rows_makes_no_difference(settings: dict[str, Any], visits: pl.DataFrame, tmp_path: Path) -> None:
    """Neither for the rows that are drawn nor for what is made of them; the carried column tells rows apart."""
    recipe = recipe_of("mondrian", "k-anonymity:5", **settings)
    backend = Remembering(visits)
    made = published(backend, tmp_path / "one", recipe)
    shuffled = LocalBackend(visits.sample(fraction=1.0, shuffle=True, seed=2))
    published(shuffled, tmp_path / "other", recipe, fragments=backend.cuts)
    assert digests(tmp_path / "one") == digests(tmp_path / "other")
    most = {"contribution": 2, "rows": 1}.get(next(iter(settings), ""), 9)
    rows = pl.read_parquet(tmp_path / "one" / "release.parquet")["row"].to_list()
    times = Counter(visits["patient"][rows].to_list())
    assert times == {owner: min(n, most) for owner, n in Counter(visits["patient"].to_list()).items()}
    left_out = [note for note in made.notes if "left out: at most" in note]
    assert bool(left_out) == bool(settings)


def test_all_rows_of_a_person_are_equally_likely_to_be_kept() -> None:
    """Rows that are equal in everything count as often as they occur."""
    frame = pl.DataFrame(
        {"age": [1, 1, 1, 2] * 600, "diagnosis": list("aaab") * 600, "patient": np.repeat(np.arange(600), 4)}
    )
    schema = Schema.of(qi=["age"], sensitive=["diagnosis"], person="patient")
    recipe = recipe_of("mondrian", "k-anonymity:2", schema=schema, rows="one")
    backend = LocalBackend(frame)
    seen = survey(backend, schema)
    backend.encode(seen.names, seen.coding)
    kept, _ = select_persons(backend, seen, recipe.persons, Randomness(1))
    assert not kept.counts_persons
    assert kept.n_rows == 600
    counts = kept.data.prior(0).tolist()
    # Three of four: 450 with a standard deviation of 10.6.
    assert sum(counts) == 600
    assert abs(counts[0] - 450) < 54


def test_a_survey_counts_the_persons_that_the_table_has(visits: pl.DataFrame) -> None:
    for settings in (PersonSettings(), PersonSettings(contribution=1, keep="first")):
        whole = keep_rows(Microdata.encode(la.read_table(visits), SCHEMA), settings)
        frame = visits if whole.persons is not None else visits.group_by("patient", maintain_order=True).first()
        backend = LocalBackend(frame)
        seen = survey(backend, SCHEMA)
        backend.encode(seen.names, seen.coding)
        seen, _ = select_persons(backend, seen, PersonSettings(), Randomness(1))
        for column in (None, 0):
            assert seen.data.prior(column).tolist() == whole.prior(column).tolist()
        assert seen.n_rows == whole.n_rows
        assert isinstance(seen.data.prior(0), PersonCounts) == (whole.persons is not None)


def test_a_survey_says_that_one_person_may_have_two_spellings(visits: pl.DataFrame) -> None:
    named = pl.format("p{}", "patient")
    spelled = visits.with_columns(patient=pl.when(pl.col("row") == 0).then(named.str.to_uppercase()).otherwise(named))
    assert not any("capitals" in note for note in survey(LocalBackend(visits), SCHEMA).notes)
    (said,) = (note for note in survey(LocalBackend(spelled), SCHEMA).notes if "capitals" in note)
    assert said.startswith('1 value of "patient" differs from another one only in capitals or blanks')


def test_households_are_counted_where_they_are_named(visits: pl.DataFrame, tmp_path: Path) -> None:
    number = visits["patient"].str.slice(1).cast(pl.Int64) // 3
    frame = visits.with_columns(household=number)
    schema = Schema.of(SCHEMA, household="household")
    made = published(frame, tmp_path / "release", recipe_of("mondrian", "k-anonymity:5", schema=schema))
    assert made.n_parts >= 2
    assert made.audit.n_persons == number.n_unique()
    held = classes_of(tmp_path / "release", frame)
    assert min(one["household"].n_unique() for one in held) == made.audit.verdicts[0].reached >= 5


@pytest.mark.parametrize(
    ("sample", "algorithm", "adversary"),
    [(300_000, "mondrian", "reads-release"), (60, "mondrian", "reads-release"), (400, "groups", "knows-method")],
)
def test_no_box_has_too_few_persons(
    sample: int, algorithm: str, adversary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the table is one patient's: cuts by rows alone would give that patient a part, whatever the sample."""
    monkeypatch.setattr("lookalike.pipeline.parts.person_boxes._SAMPLE", sample)
    rng = np.random.default_rng(1)
    ages = np.concatenate((rng.integers(20, 50, 4000), rng.integers(60, 80, 4000)))
    patients = np.concatenate((rng.integers(0, 2000, 4000), np.full(4000, 9999)))
    frame = pl.DataFrame({"age": ages, "patient": patients, "diagnosis": rng.integers(0, 9, 8000).astype(str)})
    schema = Schema.of(qi=["age"], sensitive=["diagnosis"], person="patient")
    recipe = recipe_of(algorithm, "k-anonymity:20", schema=schema)
    backend = LocalBackend(frame)
    seen = survey(backend, schema)
    backend.encode(seen.names, seen.coding)
    seen, _ = select_persons(backend, seen, recipe.persons, Randomness(1))
    promises = settle(recipe.promises, seen.data)
    cutting = cutting_for(parse_algorithm(algorithm), adversary)
    boxes, _ = cut(backend, seen, promises, require(promises, seen.data), cutting, adversary, 1000, Randomness(1))
    assert isinstance(boxes, BoxTree)
    parts = boxes.part_of(backend._codes)
    held = [set(patients[parts == part].tolist()) for part in range(boxes.n_parts)]
    assert boxes.n_parts >= 3
    assert min(map(len, held)) >= 20
    assert sum(boxes.sizes) == 8000
    assert list(boxes.sizes) == np.bincount(parts).tolist()


@dataclass(frozen=True)
class CountingRows(Grouping):
    """Groups of six rows by age, as if every row were a person."""

    name: ClassVar[str] = "counting-rows"
    in_parts: ClassVar[Boxes] = Boxes("A group is in one box.")

    def refuses_persons(self, promises: Any, adversary: str) -> None:
        return None

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[np.ndarray, int]:
        order = np.lexsort((data.persons, *data.quasi.T[::-1]))
        groups = np.empty(data.n_rows, dtype=np.int32)
        groups[order] = np.minimum(np.arange(data.n_rows) // 6, data.n_rows // 6 - 1)
        return groups, data.n_rows // 6


def test_a_method_that_counts_rows_fails_the_audit(visits: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(AuditFailed, match="k-anonymity"):
        published(visits, tmp_path / "release", recipe_of(CountingRows(), "k-anonymity:6"))
    assert list(tmp_path.iterdir()) == []


def planted(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """The audits of the parts changed before they are joined."""
    join = joining.join_audits
    monkeypatch.setattr(making, "join_audits", lambda parts: join([change(part) for part in parts]))


def with_more_persons(part: PartAudit) -> PartAudit:
    assert part.whole_persons is not None
    (n_persons,), *others = part.whole_persons
    return replace(part, whole_persons=((n_persons + 1,), *others))


def with_a_value_more_often(part: PartAudit) -> PartAudit:
    assert part.whole_persons is not None
    persons, (first, *rest), *others = part.whole_persons
    return replace(part, whole_persons=(persons, (first + 1, *rest), *others))


def with_a_person_less(part: PartAudit) -> PartAudit:
    """One person of this part, who has rows in no other, is left out."""
    assert part.persons is not None
    return replace(part, persons=(part.persons[0][:-1], *part.persons[1:]))


@pytest.mark.parametrize("change", [with_more_persons, with_a_value_more_often, with_a_person_less])
def test_wrong_numbers_of_persons_are_found_when_parts_are_joined(
    change: Any, visits: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, change)
    with pytest.raises(AuditFailed, match="persons counted"):
        published(visits, tmp_path / "release", recipe_of("mondrian", "k-anonymity:5"))


def test_a_table_too_large_to_count_its_persons_again_says_so(
    visits: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.audit.parts._MOST_PAIRS", 10)
    made = published(visits, tmp_path / "release", recipe_of("mondrian", "k-anonymity:5"))
    check = next(check for check in made.audit.checks if check.name == "persons counted")
    assert check.status == "not run"
    assert "taken from the survey" in check.detail


@pytest.mark.parametrize(
    ("algorithm", "promise", "settings", "refusal"),
    [
        ("mondrian", "k-anonymity:5", {"rows": "linked"}, "linked rows of one person"),
        ("mondrian", "k-anonymity:5", {"rows": "one", "keep": "first"}, "--keep first needs the order"),
        ("mondrian", "k-anonymity:5", {"contribution": 2, "keep": "last"}, "--keep last needs the order"),
        ("mondrian", "k-anonymity:5", {"order": "admission_date"}, "--order needs all rows of a person together"),
        ("anatomy", "l-diversity:3", {}, "deals records out to parts"),
        ("burel", "beta-likeness:3", {}, "counts rows, not persons"),
        ("mondrian", "t-closeness:0.3", {}, "whole distributions"),
    ],
)
def test_what_parts_do_not_serve_is_refused_with_the_reason(
    algorithm: str, promise: str, settings: dict[str, Any], refusal: str, visits: pl.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises((Unsupported, RecipeError), match=refusal):
        published(visits, tmp_path / "release", recipe_of(algorithm, promise, **settings))
    assert list(tmp_path.iterdir()) == []


def test_a_person_column_that_lacks_values_or_is_missing_is_refused(visits: pl.DataFrame, tmp_path: Path) -> None:
    recipe = recipe_of("mondrian", "k-anonymity:5")
    holes = visits.with_columns(patient=pl.when(pl.col("row") < 7).then(None).otherwise(pl.col("patient")))
    with pytest.raises(DataError, match='"patient" has the role person and lacks a value in 7 rows'):
        published(holes, tmp_path / "release", recipe)
    named = pl.format("p{}", "patient")
    blanks = visits.with_columns(patient=pl.when(pl.col("row") < 7).then(pl.lit("  ")).otherwise(named))
    with pytest.raises(DataError, match='"patient" has the role person and lacks a value in 7 rows'):
        published(blanks, tmp_path / "release", recipe)
    with pytest.raises(SchemaError, match='no column "patient"'):
        published(visits.drop("patient"), tmp_path / "release", recipe)


def test_one_piece_and_parts_choose_the_same_settings_against_who_knows_the_method(
    visits: pl.DataFrame, tmp_path: Path
) -> None:
    recipe = recipe_of("groups:effort=fast", "k-anonymity:5", adversary="knows-method")
    made = published(visits, tmp_path / "release", recipe)
    assert made.n_parts >= 2
    assert made.audit.passed
    assert made.adversary == "knows-method"
    about_values = recipe_of("groups:effort=fast", "l-diversity:2", adversary="knows-method")
    with pytest.raises(Unsupported, match="one row per person only"):
        published(visits, tmp_path / "other", about_values)


@pytest.mark.parametrize("algorithm", ["mondrian", "groups:effort=fast"])
def test_parts_are_audited_again_by_persons(algorithm: str, visits: pl.DataFrame, tmp_path: Path) -> None:
    """From the files alone, and with the whole table at hand: as far as cells tell whose rows a group has."""
    plain = Schema.of(qi=QI, sensitive=["diagnosis"], person="patient")
    recipe = recipe_of(algorithm, "k-anonymity:5", "l-diversity:2", schema=plain)
    made = published(visits, tmp_path / "release", recipe)
    whom = {"units": plain._with_role(Role.PERSON)}
    again = verify_in_parts(LocalBackend(visits), tmp_path / "release", **whom)
    whole = la.verify(visits, tmp_path / "release")
    assert again.n_persons == whole.n_persons == visits["patient"].n_unique()
    for one, other, own in zip(again.verdicts, whole.verdicts, made.audit.verdicts, strict=True):
        if algorithm == "mondrian":
            assert (one.reached, one.passed) == (other.reached, other.passed) == (own.reached, True)
        else:
            # Cells of a search overlap, and there is no map.
            assert one.passed or one.is_open
            assert one.passed == other.passed
    with pytest.raises(RecipeError, match="counts persons. Name the column"):
        verify_in_parts(LocalBackend(visits), tmp_path / "release")
    if algorithm == "mondrian":
        stated = la.spark.verify(LocalBackend(visits), tmp_path / "release")
        assert stated.passed
        assert any('"patient" identifies the person of each row' in said for said in stated.grounds.stated)
        stronger = verify_in_parts(
            LocalBackend(visits), tmp_path / "release", [parse_promise("k-anonymity:30")], **whom
        )
        assert not stronger.passed
        # By other persons: every patient twice under two numbers.
        fewer = visits.with_columns(patient=pl.col("patient").str.head(4))
        assert not verify_in_parts(LocalBackend(fewer), tmp_path / "release", **whom).passed


def test_parts_of_which_rows_were_drawn_are_not_audited_again(visits: pl.DataFrame, tmp_path: Path) -> None:
    published(visits, tmp_path / "release", recipe_of("mondrian", "k-anonymity:5", contribution=2))
    with pytest.raises(Unsupported, match="drawn by a key that nobody kept"):
        verify_in_parts(
            LocalBackend(visits),
            tmp_path / "release",
            units=SCHEMA._with_role(Role.PERSON),
            persons=PersonSettings(contribution=2),
        )
    for verify in (la.verify, la.spark.verify):
        with pytest.raises(Unsupported, match="drawn by a key that nobody keeps"):
            verify(LocalBackend(visits) if verify is la.spark.verify else visits, tmp_path / "release")


def test_the_release_says_whose_rows_it_has(visits: pl.DataFrame, tmp_path: Path) -> None:
    published(visits, tmp_path / "release", recipe_of("mondrian", "k-anonymity:5", rows="one"))
    stated = json.loads((tmp_path / "release" / "datapackage.json").read_text())["lookalike"]["persons"]
    assert stated == {"person": "patient", "rows": "one", "keep": "random", "number_known": True}
    once = visits.unique("patient", keep="first", maintain_order=True)
    published(once, tmp_path / "once", recipe_of("mondrian", "k-anonymity:5"))
    assert "persons" not in json.loads((tmp_path / "once" / "datapackage.json").read_text())["lookalike"]


UNSAID = Schema.of(qi=QI, sensitive=["diagnosis"])


def test_persons_who_repeat_unsaid_are_refused(visits: pl.DataFrame, tmp_path: Path) -> None:
    """The two ways out are named; numbers are those of the whole table."""
    named = visits.rename({"patient": "patient_id"})
    n_rows, n_patients = len(visits), visits["patient"].n_unique()
    said = f'Column "patient_id" repeats: {n_rows:,} rows, {n_patients:,} different values, one of them in 4 rows'
    with pytest.raises(RecipeError, match=said):
        published(named, tmp_path / "release", recipe_of("mondrian", "k-anonymity:5", schema=UNSAID))
    stated = recipe_of("mondrian", "k-anonymity:5", schema=UNSAID, rows_are_persons=True)
    assert published(named, tmp_path / "stated", stated).audit.passed
    folder = tmp_path / "stated"
    assert json.loads((folder / "datapackage.json").read_text())["lookalike"]["persons"] == {"rows_are_persons": True}
    with pytest.raises(RecipeError, match="repeats"):
        verify_in_parts(LocalBackend(named), folder)
    assert verify_in_parts(LocalBackend(named), folder, persons=PersonSettings(rows_are_persons=True)).passed
    person = Schema.of(UNSAID, person="patient_id")
    assert published(named, tmp_path / "named", recipe_of("mondrian", "k-anonymity:5", schema=person)).audit.passed


def test_a_number_is_taken_for_that_of_a_person_if_other_columns_are_constant_within_it(
    visits: pl.DataFrame, tmp_path: Path
) -> None:
    """As in one piece: `case number` says nothing by itself, but whose age, sex and zip code it has does."""
    recipe = recipe_of("mondrian", "k-anonymity:5", schema=UNSAID)
    numbers = visits.rename({"patient": "case number"})
    with pytest.raises(RecipeError, match='"age", "sex" and "zip code" are constant'):
        published(numbers, tmp_path / "release", recipe)
    chance = numbers.with_columns(pl.col("case number").shuffle(seed=1))
    assert published(chance, tmp_path / "chance", recipe).audit.passed
    for frame in (numbers, chance):
        found = find_repeated(la.read_table(frame), UNSAID)
        assert (found is not None) == (frame is numbers)


def test_the_public_function_counts_persons_in_parts(visits: pl.DataFrame, tmp_path: Path) -> None:
    """Twenty people with five rows each are no crowd of a hundred."""
    frame = visits_of(20, 1, most=1)[np.repeat(np.arange(20), 100)].with_columns(row=pl.Series(np.arange(2000)))
    asked = {"qi": QI, "sensitive": "diagnosis", "person": "patient", "part_rows": 1000, "seed": 1}
    with pytest.raises(Infeasible):
        la.publish(frame, model="k-anonymity:21", out=tmp_path / "no", **asked)
    made = la.publish(frame, model="k-anonymity:20", out=tmp_path / "yes", **asked)
    assert made.audit.verdicts[0].reached == 20
    assert made.audit.n_persons == 20
    files = b"".join(path.read_bytes() for path in sorted((tmp_path / "yes").rglob("*")) if path.is_file())
    # The column is named, for audits; none of its values is.
    assert not any(value.encode() in files for value in frame["patient"].unique())
    one = la.publish(frame, model="k-anonymity:5", out=tmp_path / "one", rows="one", **asked)
    assert one.n_rows == 20
    assert one.audit.n_persons is None
