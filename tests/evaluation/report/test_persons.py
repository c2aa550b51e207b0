"""Reports on releases in which persons have several rows, and what the owner alone learns of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.errors import counted
from lookalike.evaluation import against_rows, tradeoff
from lookalike.evaluation.against_rows import compare_with_rows
from lookalike.evaluation.report.persons import describe_numbers
from lookalike.randomness import Randomness
from tests.visits import longitudinal, twenty_by_five

QI = {"qi": ["age", "sex", "zip"], "sensitive": "diagnosis"}
PROMISES = ["k-anonymity:4", "l-diversity:1.3"]


def visits() -> pl.DataFrame:
    table = pl.DataFrame(longitudinal(90))
    return table.with_columns(pl.col("age").cast(pl.Int64))


def published(table: pl.DataFrame | None = None, **more: Any) -> la.Publication:
    given = {"model": PROMISES, "algorithm": "mondrian", "person": "patient_id", "contribution": 2, **QI, **more}
    return la.publish(visits() if table is None else table, **given)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[la.Publication, Path]:
    made, folder = published(title="Visits"), tmp_path_factory.mktemp("persons") / "release"
    made.write(folder, report="full")
    return made, folder


def test_the_owner_sees_persons_and_rows_side_by_side(written: tuple[la.Publication, Path]) -> None:
    made, folder = written
    report = json.loads((folder.parent / "release PRIVATE" / "report.json").read_text())
    owners = visits()["patient_id"].value_counts()["count"].to_numpy().astype(int)
    first, left_out, smallest = report["numbers"]
    assert f"{owners.sum():,} rows of 90 persons" in first
    assert f"{np.count_nonzero(owners > 1)} persons have several rows" in first
    assert f"{owners.max()} the most" in first
    assert f"{np.maximum(owners - 2, 0).sum()} rows of {np.count_nonzero(owners > 2)} persons are left out" in left_out
    assert f"{min(made.made.crowds)} different persons" in smallest
    assert report["unit"] == "person"
    page = (folder.parent / "release PRIVATE" / "report.html").read_text()
    for said in ("each person: different persons are counted, not rows", *report["numbers"], report["against_rows"]):
        assert said in page
    assert "Average group size, by persons" in page
    assert "(GCP, 0 to 1), by rows" in page
    assert "no record left out" not in page


def test_the_published_report_has_no_number_of_persons(written: tuple[la.Publication, Path]) -> None:
    made, folder = written
    report = json.loads((folder / "report.json").read_text())
    assert not {"numbers", "against_rows"} & set(report)
    assert report["unit"] == "person"
    assert not {"average_group_size", "discernibility", "msbs"} & set(report["losses"])
    assert "persons" not in json.loads((folder / "audit.json").read_text())
    for name in ("report.html", "report.json", "audit.json", "README.txt", "datapackage.json"):
        text = (folder / name).read_text()
        assert not re.search(r"\b90 (different )?persons", text)
        assert "counts rows" not in text
    page, letter = (folder / "report.html").read_text(), (folder / "README.txt").read_text()
    for text in (page, letter):
        assert "at least 4 different people" in text
        assert "from one row of a person" in text
        assert "not against someone who knows several" in text
    assert made.made.audit.n_persons == 90


def test_shares_of_values_are_shares_of_persons(written: tuple[la.Publication, Path]) -> None:
    made, _ = written
    (table,) = made.owners_report().beliefs
    data = made.made.data
    codes, domain = data.sensitive[:, 0], data.domains.sensitive[0]
    for line in table.lines:
        having = np.unique(data.persons[codes == domain.texts.index(line.value)])
        assert line.share == pytest.approx(len(having) / 90)
        assert line.belief <= (line.ceiling or 0)
    assert sum(line.share for line in table.lines) > 1


def test_the_loss_by_rows_is_that_of_the_release_by_rows(written: tuple[la.Publication, Path]) -> None:
    """Of all rows of the table, also those that are left out by persons."""
    made, _ = written
    found = compare_with_rows(made.made)
    by_rows = la.publish(visits().drop("patient_id", "household_id"), model=PROMISES, algorithm="mondrian", **QI)
    assert found is not None
    assert found.by_units == pytest.approx(made.losses["gcp"])
    assert found.by_rows == pytest.approx(by_rows.losses["gcp"], abs=0.02)
    assert found.by_rows < found.by_units
    assert f"{found.by_units:.4f}; when the same promise counts rows: {found.by_rows:.4f}" in str(made)
    assert made.summary()["loss_against_rows"]["by_persons"] == found.by_units
    assert "loss_against_rows" not in by_rows.summary()


def test_large_tables_are_compared_on_a_sample_of_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against_rows, "LARGEST", 100)
    monkeypatch.setattr(against_rows, "_SAMPLED", 120)
    found = compare_with_rows(published().made)
    assert found is not None
    assert found.n_sampled is not None
    assert 20 < found.n_sampled < 90
    assert f"a random sample of {counted(found.n_sampled, 'person')}" in found.sentence()
    assert found.to_plain()["sampled"] == found.n_sampled


def test_what_cannot_be_made_by_rows_is_said() -> None:
    """By persons a value of 8 of 12 rows may be one person's; by rows no release keeps the promise."""
    table = pl.DataFrame(
        {"who": [0] * 8 + [1, 2, 3, 4], "age": [30] * 12, "illness": ["flu"] * 8 + ["gout", "burn", "cold", "cough"]}
    )
    made = la.publish(
        table,
        qi=["age"],
        sensitive="illness",
        person="who",
        model="l-diversity:2",
        algorithm="mondrian",
        number_known=False,
    )
    found = compare_with_rows(made.made)
    assert found is not None
    assert found.by_rows is None
    assert "No release that counts rows could be made" in found.sentence()
    assert "l-diversity:2" in found.to_plain()["reason"]


def test_a_later_m_invariant_release_is_not_compared_with_rows_of_other_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was in which group before is known by record: other rows, or a sample, are other records."""
    monkeypatch.setattr(against_rows, "LARGEST", 10)
    asked = {"qi": ["age"], "sensitive": "illness", "person": "who", "model": "l-diversity:2", "rows": "one"}
    illness = ["flu", "gout", "burn", "cold"]
    for name, last in (("first", 20), ("second", 18)):
        table = pl.DataFrame(
            [{"who": who, "age": 30 + who, "illness": illness[who % 4]} for who in range(last) for _ in range(2)]
        )
        series = {"series": "stays", "mode": "m-invariant", "destination": tmp_path / name}
        made = la.publish(table, keep="first", **asked, **series)
        made.write(tmp_path / name, report="brief")
    found = compare_with_rows(made.made)
    assert found is not None
    assert found.by_rows is None
    assert found.n_sampled is None
    assert "follow from the groups of earlier ones" in found.sentence()
    monkeypatch.setattr(tradeoff, "MOST_RECORDS", 10)
    around = tradeoff.tradeoff(made.made.data, made.promises, made.algorithm, made.adversary, Randomness(0))
    assert around.settings == ()


def test_a_brief_report_and_one_row_per_person() -> None:
    made = published(rows="one", contribution=None)
    assert made.made.data.persons is None
    found = compare_with_rows(made.made)
    assert found is not None
    assert found.by_units != found.by_rows
    assert "rows of 90 persons" in describe_numbers(made.made)[0]
    assert made.owners_report().unit is None
    assert "loss_against_rows" not in made.summary()


def test_published_scores_do_not_tell_what_persons_cost(tmp_path: Path) -> None:
    made = published()
    made.write(tmp_path / "release", publish_scores=True, report="full")
    report = json.loads((tmp_path / "release" / "report.json").read_text())
    assert report["attacks"]
    assert not {"numbers", "against_rows"} & set(report)


def test_households_are_named_and_persons_counted_beside_them() -> None:
    made = published(household="household_id", model=["k-anonymity:4"])
    report = made.owners_report()
    assert report.unit == "household"
    assert "at least 4 different households" in report.promises[0]["sentence"]
    assert "households" in report.numbers[0]
    assert re.search(
        r"smallest group has rows of \d+ different households; .* fewest persons has \d+ persons", report.numbers[-1]
    )


def test_rows_that_are_said_to_be_persons_are_a_statement_of_the_publisher(tmp_path: Path) -> None:
    table = pl.DataFrame(twenty_by_five()).with_columns(pl.col("age").cast(pl.Int64))
    made = la.publish(table, **QI, model=["k-anonymity:5"], rows_are_persons=True, out=tmp_path / "release")
    page = (tmp_path / "release" / "report.html").read_text()
    assert "Stated by the publisher: every row is a different person." in page
    assert made.owners_report().unit is None
    assert "Someone who already knows a person&#39;s age" in page


def test_tables_of_one_row_per_person_say_nothing_of_it(tmp_path: Path) -> None:
    one = visits().unique("patient_id", keep="first", maintain_order=True).drop("patient_id", "household_id")
    made = la.publish(one, **QI, model="k-anonymity:4", algorithm="mondrian")
    made.write(tmp_path / "release", report="full")
    for folder in ("release", "release PRIVATE"):
        report = json.loads((tmp_path / folder / "report.json").read_text())
        assert not {"persons", "unit", "known", "most_rows", "states_persons", "numbers", "against_rows"} & set(report)
    assert compare_with_rows(made.made) is None
    assert describe_numbers(made.made) == ()


def test_a_release_of_twenty_persons_by_rows_is_attacked_by_persons(tmp_path: Path) -> None:
    table = tmp_path / "visits.csv"
    pl.DataFrame(twenty_by_five()).write_csv(table)
    la.publish(table, **QI, model=["k-anonymity:5", "l-diversity:3"], rows_are_persons=True, out=tmp_path / "by rows")
    by_rows = la.attack(table, tmp_path / "by rows", attacks=["linkage"])
    assert by_rows.made[0].finding.figures["highest prosecutor risk"] == 1 / 5
    found = la.attack(table, tmp_path / "by rows", attacks=["linkage", "homogeneity"], person="patient_id")
    linkage, homogeneity = (attacked.finding for attacked in found.made)
    assert linkage.figures["mean prosecutor risk"] == 1
    assert linkage.n_affected == 20
    assert homogeneity.n_affected == 20


def test_a_release_by_persons_is_attacked_and_measured_with_its_private_folder(
    written: tuple[la.Publication, Path], tmp_path: Path
) -> None:
    made, folder = written
    table = tmp_path / "visits.csv"
    visits().write_csv(table)
    private = folder.parent / "release PRIVATE"
    found = la.attack(table, folder, attacks=["linkage"], private=private)
    assert found.made[0].finding.figures["highest prosecutor risk"] == 1 / min(made.made.crowds)
    measured = la.measure(table, folder, private=private)
    assert measured["average_group_size"] == pytest.approx(made.losses["average_group_size"])
    assert measured.notes[-1].startswith("Sizes of groups are numbers of different persons;")


def test_counts_from_a_release_are_said_to_be_of_rows(written: tuple[la.Publication, Path], tmp_path: Path) -> None:
    made, folder = written
    (said,) = la.open_release(folder).notes
    assert said.startswith("Counts are numbers of rows, not of persons")
    assert made.fidelity().notes[0].startswith("Rows are compared, not persons")
    one = published(rows="one", contribution=None)
    one.write(tmp_path / "one")
    assert la.open_release(tmp_path / "one").notes == []


def test_a_report_on_linked_rows_names_all_rows(tmp_path: Path) -> None:
    made = published(rows="linked", model=["k-anonymity:4"], algorithm="groups", contribution=3)
    made.write(tmp_path / "release", report="full")
    for folder in ("release", "release PRIVATE"):
        page = (tmp_path / folder / "report.html").read_text()
        assert "from all rows of a person" in page
        assert "one row of" not in page
        assert "at least 4 different people" in page
    assert "of all rows of a person" in (tmp_path / "release" / "README.txt").read_text()
    report = json.loads((tmp_path / "release PRIVATE" / "report.json").read_text())
    assert report["known"] == "all rows"
    assert {line["attack"] for line in report["attacks"]} >= {"linkage", "homogeneity", "skewness", "corruption"}
    assert "one by one" in report["attacks_not_made"]["naive-bayes"]


def test_whose_rows_they_are_does_not_change_a_published_file(tmp_path: Path) -> None:
    """Originals that differ in their persons alone: where the released rows are the same, so is every file."""
    ages, illness = [20, 20, 21, 40, 40, 41, 41], ["a", "b", "c", "a", "b", "c", "d"]
    folders: dict[bytes, list[dict[str, bytes]]] = {}
    owned = ([0, 0, 1, 2, 2, 3, 4], [0, 1, 1, 2, 3, 4, 4], [0, 1, 2, 3, 3, 4, 5], [0, 0, 1, 3, 3, 4, 4])
    for place, owners in enumerate(owned):
        table = pl.DataFrame({"who": owners, "age": ages, "illness": illness})
        made = la.publish(
            table, qi=["age"], sensitive="illness", person="who", model="k-anonymity:2", algorithm="mondrian", seed=4
        )
        made.write(tmp_path / str(place), report="brief")
        files = {path.name: path.read_bytes() for path in (tmp_path / str(place)).iterdir()}
        folders.setdefault(files["release.csv"], []).append(files)
    assert max(len(same) for same in folders.values()) >= 3
    for first, *others in folders.values():
        for other in others:
            assert {name for name in first if first[name] != other[name]} == set()
            assert set(first) == set(other)
