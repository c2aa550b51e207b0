"""Persons with several rows by the commands: refused unsaid, published, audited with and without the private folder."""

from __future__ import annotations

import csv
import json
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from tests.apps.cli.running import Done, lookalike
from tests.visits import QI, longitudinal, twenty_by_five, write_rows

BRIEF = ("--report", "brief", "--no-pdf")


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("stays") / "stays.csv", twenty_by_five())


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("visits") / "visits.csv", longitudinal())


def publish(table: Path, out: Path, *words: str, model: str = "k-anonymity:5") -> Done:
    return lookalike("publish", table, *QI, "--model", model, "--out", out, *BRIEF, *words)


def stated(release: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((release / "datapackage.json").read_text())["lookalike"]["persons"]
    return found


def test_twenty_persons_with_five_rows_are_refused_and_nothing_is_written(stays: Path, tmp_path: Path) -> None:
    done = publish(stays, tmp_path / "release", "--model", "l-diversity:3")
    assert done.returncode == 2
    assert '"patient_id" repeats: 100 rows, 20 different values, one of them in 5 rows' in done.stderr
    assert "--person patient_id" in done.stderr
    assert "--rows-are-persons" in done.stderr
    assert not (tmp_path / "release").exists()
    assert not (tmp_path / "release PRIVATE").exists()


@pytest.mark.parametrize("command", ["compare", "synthesize", "parts"])
def test_the_other_commands_refuse_it_too(stays: Path, tmp_path: Path, command: str) -> None:
    words = {
        "compare": ("compare", stays, *QI, "--model", "k-anonymity:5"),
        "synthesize": ("synthesize", stays, *QI, "--epsilon", "1", "--out", tmp_path / "synthetic.csv"),
        "parts": ("publish", stays, *QI, "--model", "k-anonymity:5", "--part-rows", "1000", "--out", tmp_path / "out"),
    }[command]
    done = lookalike(*words)
    assert done.returncode == 2, done.stderr
    assert '"patient_id" repeats: 100 rows, 20 different values' in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_declared_identifier_is_refused_whatever_its_name(tmp_path: Path) -> None:
    rows = [{"who": row.pop("patient_id"), **row} for row in twenty_by_five()]
    table = write_rows(tmp_path / "stays.csv", rows)
    assert publish(table, tmp_path / "unknown").returncode == 0
    schema = tmp_path / "schema.yaml"
    schema.write_text("columns:\n- {name: who, role: identifier}\n")
    done = publish(table, tmp_path / "refused", "--schema", str(schema))
    assert done.returncode == 2
    assert '"who" has the role identifier and repeats' in done.stderr


def test_published_by_persons_every_group_has_five(stays: Path, tmp_path: Path) -> None:
    release, private = tmp_path / "release", tmp_path / "release PRIVATE"
    done = publish(stays, release, "--person", "patient_id")
    assert done.returncode == 0, done.stderr
    assert f"kept in {private}" in done.stderr
    assert stated(release) == {"person": "patient_id", "rows": "apart", "keep": "random", "number_known": True}
    readme = (release / "README.txt").read_text()
    assert "Each row is one person" not in readme
    assert "count distinct persons, not rows" in readme
    for name in ("audit.json", "datapackage.json", "README.txt"):
        assert '"persons": 20' not in (release / name).read_text()
    # With the record map: whose row each is, and how many persons a group of equal cells has.
    import polars as pl

    with stays.open(encoding="utf-8") as file:
        owners = [row["patient_id"] for row in csv.DictReader(file)]
    rows = pl.read_parquet(release / "release.parquet").rows()
    held = defaultdict[str, set[str]](set)
    for place, record in pl.read_parquet(private / "linkage.parquet").select("row", "record").rows():
        held[repr(rows[place][:3])].add(owners[record])
    assert min(map(len, held.values())) == 5
    done = lookalike("audit", stays, release, "--private", private, "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert (found["persons"], found["verdicts"][0]["reached"]) == (20, "5")
    assert 'that "patient_id" identifies the person of each row' in " ".join(found["stated_not_checked"])


def test_the_release_by_rows_fails_the_audit_by_persons(stays: Path, tmp_path: Path) -> None:
    """The table is published unchanged, and each group is one person."""
    release = tmp_path / "release"
    assert publish(stays, release, "--model", "l-diversity:3", "--rows-are-persons").returncode == 0
    assert stated(release) == {"rows_are_persons": True}
    assert "Every row counts as a different person" in (release / "README.txt").read_text()
    assert "Every row counts as a different person" in (release / "report.html").read_text()
    done = lookalike("audit", stays, release)
    assert done.returncode == 0, done.stdout
    assert "that every row is a different person" in done.stdout
    done = lookalike("audit", stays, release, "--person", "patient_id", "--json")
    assert done.returncode == 1
    assert [verdict["reached"] for verdict in json.loads(done.stdout)["verdicts"]] == ["1", "1"]


def test_a_release_that_says_nothing_is_not_audited_by_rows(stays: Path, tmp_path: Path) -> None:
    """As an older version wrote it, or another tool."""
    plain = write_rows(
        tmp_path / "stays.csv", [{**row, "patient_id": str(n)} for n, row in enumerate(twenty_by_five())]
    )
    release = tmp_path / "release"
    assert publish(plain, release).returncode == 0
    assert "persons" not in json.loads((release / "datapackage.json").read_text())["lookalike"]
    done = lookalike("audit", stays, release)
    assert done.returncode == 2
    assert '"patient_id" repeats' in done.stderr
    assert lookalike("audit", stays, release, "--rows-are-persons").returncode == 0
    assert lookalike("audit", stays, release, "--person", "patient_id").returncode == 1
    csv_file = release / "release.csv"
    assert lookalike("audit", stays, csv_file, *QI, "--model", "k-anonymity:5").returncode == 2


def test_without_the_map_the_audit_says_what_it_cannot_decide(visits: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    done = publish(visits, release, "--person", "patient_id", "--no-private", model="k-anonymity:3")
    assert done.returncode == 0, done.stderr
    assert "No record map is kept" in done.stderr
    assert "without --no-private" in done.stderr
    parts = publish(visits, tmp_path / "parts", "--person", "patient_id", "--part-rows", "1000", model="k-anonymity:3")
    assert parts.returncode == 0, parts.stderr
    assert "publish the table in one piece" in parts.stderr
    assert "--private" not in parts.stderr
    assert not (tmp_path / "release PRIVATE").exists()
    other, private = tmp_path / "other", tmp_path / "other PRIVATE"
    done = publish(visits, other, "--qi", "visit date", "--person", "patient_id", model="k-anonymity:3")
    assert done.returncode == 0, done.stderr
    done = lookalike("audit", visits, other)
    assert done.returncode == 1
    assert "did NOT PASS, because what is promised is not shown" in done.stdout
    assert "(--private DIR)" in done.stdout
    assert "(what is promised of persons is not decided without --private DIR)" in done.stdout
    assert lookalike("audit", visits, other, "--private", private).returncode == 0
    done = lookalike("audit", visits, other, "--private", tmp_path / "nowhere")
    assert done.returncode == 2


def test_the_auditor_may_assume_more_of_an_attacker_than_the_release(visits: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    words = ("--person", "patient_id", "--number-of-rows", "unknown")
    done = publish(visits, release, *words, model="l-diversity:2")
    assert done.returncode == 0, done.stderr
    assert stated(release)["number_known"] is False
    words = ("audit", visits, release, "--private", tmp_path / "release PRIVATE")
    done = lookalike(*words)
    assert done.returncode == 0, done.stdout
    assert "that no attacker knows how many rows a person has" in done.stdout
    stricter = lookalike(*words, "--number-of-rows", "known", "--json")
    assert stricter.returncode == 1
    assert json.loads(stricter.stdout)["verdicts"][0]["passed"] is False


def test_a_map_that_lies_is_found(stays: Path, tmp_path: Path) -> None:
    import polars as pl

    release, private = tmp_path / "release", tmp_path / "release PRIVATE"
    assert publish(stays, release, "--person", "patient_id").returncode == 0
    path = private / "linkage.parquet"
    frame = pl.read_parquet(path)
    frame.with_columns(pl.col("record").shuffle(seed=1)).write_parquet(path)
    done = lookalike("audit", stays, release, "--private", private)
    assert done.returncode == 1
    assert "cannot be of the record that the map names" in done.stdout


@pytest.mark.parametrize("words", [("--rows", "one"), ("--rows", "one", "--keep", "first"), ("--contribution", "2")])
def test_the_audit_draws_the_same_rows_again(visits: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    release, private = tmp_path / "release", tmp_path / "release PRIVATE"
    done = publish(visits, release, "--person", "patient_id", *words, model="k-anonymity:3")
    assert done.returncode == 0, done.stderr
    settings = stated(release)
    assert "salt" not in settings
    if settings["keep"] == "first":
        assert not (private / "linkage.parquet").exists()
        assert lookalike("audit", visits, release).returncode == 0
        # The folder that is beside the release has nothing that is needed, and is no mistake.
        assert lookalike("audit", visits, release, "--private", private).returncode == 0
        return
    done = lookalike("audit", visits, release)
    assert done.returncode == 2
    assert "--private DIR" in done.stderr
    done = lookalike("audit", visits, release, "--private", private)
    assert done.returncode == 0, done.stdout
    assert "rows per person" in done.stdout
    # Another salt chooses other rows, and the release does not have these.
    mark = private / "private.json"
    changed = json.loads(mark.read_text())
    changed["lookalike"]["salt"] = "0" * 32
    mark.write_text(json.dumps(changed))
    assert lookalike("audit", visits, release, "--private", private).returncode == 1


def test_what_rows_were_drawn_by_stays_at_home(visits: Path, tmp_path: Path) -> None:
    """Places in a sorted table say something about values, and anyone who tries seeds could find the one that
    gives it.
    """
    release, private = tmp_path / "release", tmp_path / "release PRIVATE"
    words = ("--person", "patient_id", "--rows", "one", "--seed", "7")
    assert publish(visits, release, *words, model="k-anonymity:3").returncode == 0
    salt = json.loads((private / "private.json").read_text())["lookalike"]["salt"]
    for path in release.iterdir():
        assert salt.encode() not in path.read_bytes()
    again = tmp_path / "again"
    assert publish(visits, again, *words, model="k-anonymity:3").returncode == 0
    assert (again / "release.csv").read_bytes() == (release / "release.csv").read_bytes()


def test_one_row_per_person_gives_the_bytes_of_a_table_without_the_column(tmp_path: Path) -> None:
    rows = [{**row, "patient_id": f"{number:04d}"} for number, row in enumerate(twenty_by_five())]
    table = write_rows(tmp_path / "stays.csv", rows)
    done = publish(table, tmp_path / "with", "--person", "patient_id", "--seed", "3")
    assert done.returncode == 0
    assert 'Column "patient_id" has another value in every row' in done.stderr
    assert publish(table, tmp_path / "without", "--seed", "3").returncode == 0
    for path in (tmp_path / "without").iterdir():
        assert path.read_bytes() == (tmp_path / "with" / path.name).read_bytes()
    assert not (tmp_path / "with PRIVATE" / "linkage.parquet").exists()


def test_households_and_persons_are_named_together(visits: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    words = ("--person", "patient_id", "--household", "household_id")
    done = publish(visits, release, *words, model="k-anonymity:3")
    assert done.returncode == 0, done.stderr
    assert stated(release)["household"] == "household_id"
    found = lookalike("audit", visits, release, "--private", tmp_path / "release PRIVATE", "--json")
    assert found.returncode == 0, found.stdout
    audit = json.loads(found.stdout)
    assert audit["persons"] == 60
    levels = {line["model"]: int(line["reached"]) for line in audit["measured"] if line["column"] is None}
    # By hand: rows with the same cells, and whose they are.
    import polars as pl

    with visits.open(encoding="utf-8") as file:
        owners = [(row["household_id"], row["patient_id"]) for row in csv.DictReader(file)]
    rows = pl.read_parquet(release / "release.parquet").rows()
    held = defaultdict[str, set[tuple[str, str]]](set)
    for place, record in (
        pl.read_parquet(tmp_path / "release PRIVATE" / "linkage.parquet").select("row", "record").rows()
    ):
        held[repr(rows[place][:3])].add(owners[record])
    assert levels["k-anonymity"] == min(len({household for household, _ in one}) for one in held.values())
    assert levels["k-anonymity (persons)"] == min(map(len, held.values()))
    assert "k-anonymity (persons)" in done.stdout
    assert "l-diversity (persons)" in done.stdout
    assert "Limits on values are about households" in (release / "README.txt").read_text()
    assert "(persons)" not in (release / "audit.json").read_text()


def test_roles_of_persons_come_from_schemas_that_inspect_writes(visits: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.yaml"
    assert lookalike("inspect", visits, "--write-schema", schema).returncode == 0
    assert "role: person" in schema.read_text()
    assert "role: household" in schema.read_text()
    release = tmp_path / "release"
    done = lookalike("publish", visits, "--schema", schema, "--model", "k-anonymity:2", "--out", release, *BRIEF)
    assert done.returncode == 0, done.stderr
    assert stated(release)["person"] == "patient_id"


WRONG = [
    (("--rows", "one"), "--rows is about the rows of one person, and no column identifies the persons"),
    (("--person", "patient_id", "--contribution", "0"), "0 is not in the range"),
    (("--contribution", "2"), "--contribution is about the rows of one person"),
    (("--number-of-rows", "unknown"), "--number-of-rows is about the rows of one person"),
    (("--person", "age"), 'Column "age" is named twice. Give it one role: quasi-identifier or person.'),
    (("--person", "patientid"), 'Did you mean "patient_id"?'),
    (("--person", "patient_id", "--rows-are-persons"), "Leave out one of the two"),
    (("--person", "patient_id", "--rows", "one", "--contribution", "2"), "Leave one of the two out"),
    (("--person", "patient_id", "--keep", "first"), "Add --rows one or --contribution C"),
    (("--person", "patient_id", "--algorithm", "ring"), "--rows one"),
    (("--person", "patient_id", "--model", "t-closeness:0.3"), "publish one row per person (--rows one)"),
    (("--person", "patient_id", "--rows", "linked", "--algorithm", "mondrian"), "mondrian"),
]


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_wrong_settings_are_refused_with_what_to_do(
    visits: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = publish(visits, tmp_path / "release", *words, model="k-anonymity:3")
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cell", ["", "  "])
def test_a_row_of_nobody_is_refused(tmp_path: Path, cell: str) -> None:
    rows = twenty_by_five()
    rows[3]["patient_id"] = cell
    done = publish(write_rows(tmp_path / "stays.csv", rows), tmp_path / "release", "--person", "patient_id")
    assert done.returncode == 2
    assert "lacks a value in 1 row. Fill them in" in done.stderr


def test_two_spellings_of_a_person_are_two_persons_and_this_is_said(tmp_path: Path) -> None:
    rows = [{**row, "patient_id": "p" + row["patient_id"]} for row in twenty_by_five()]
    rows[3]["patient_id"] = rows[3]["patient_id"].upper()
    table = write_rows(tmp_path / "stays.csv", rows)
    done = publish(table, tmp_path / "release", "--person", "patient_id")
    assert done.returncode == 0
    assert '1 value of "patient_id" differs from another one only in capitals or blanks' in done.stderr
    assert "only in capitals or blanks" in lookalike("inspect", table).stdout


def test_leading_zeros_tell_persons_apart(tmp_path: Path) -> None:
    """0007 and 7 are two patients where some number has a zero in front."""
    rows = [
        {**row, "patient_id": "7" if row["patient_id"] == "0008" else row["patient_id"]} for row in twenty_by_five()
    ]
    release = tmp_path / "release"
    table = write_rows(tmp_path / "stays.csv", rows)
    assert publish(table, release, "--person", "patient_id").returncode == 0
    found = lookalike("audit", table, release, "--private", tmp_path / "release PRIVATE", "--json")
    assert json.loads(found.stdout)["persons"] == 20


def test_comparisons_count_persons(visits: Path, tmp_path: Path) -> None:
    words = ("compare", visits, *QI, "--person", "patient_id", "--model", "k-anonymity:3", "--algorithm", "mondrian")
    words = (*words, "--attack", "none", "--jobs", "1", "--out", tmp_path / "kept", "--json")
    made = json.loads(lookalike(*words).stdout)
    assert made["runs"][0]["status"] == "done"
    assert made["runs"][0]["levels"][""]["k"] >= 3
    again = json.loads(lookalike(*words).stdout)
    assert again["reused"] == 1
    one = json.loads(lookalike(*words, "--rows", "one").stdout)
    assert one["reused"] == 0
    by_rows = json.loads(
        lookalike(*(word for word in words if word not in ("--person", "patient_id")), "--rows-are-persons").stdout
    )
    assert by_rows["reused"] == 0
    assert by_rows["runs"][0]["figures"]["gcp"] < made["runs"][0]["figures"]["gcp"]
    refused = json.loads(lookalike(*words, "--algorithm", "ring").stdout)
    assert [run["status"] for run in refused["runs"]] == ["done", "unfit"]


def test_measure_and_fidelity_take_the_rows_that_were_published(visits: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    done = publish(visits, release, "--person", "patient_id", "--rows", "one", model="k-anonymity:3")
    assert done.returncode == 0
    measured = json.loads(lookalike("measure", visits, release, "--json").stdout)
    assert measured["rows"] == 120
    assert lookalike("fidelity", release, "--original", visits, "--json").returncode == 0
    assert lookalike("attack", release, "--original", visits, "--attack", "linkage", "--json").returncode == 0


def test_advice_is_about_one_row_per_person(visits: Path) -> None:
    done = lookalike("inspect", visits, "--json")
    assert done.returncode == 0, done.stderr
    advice = json.loads(done.stdout)["advice"]
    assert advice["largest_k"] == 60
    assert "one row of each household (60 of 397 rows: --rows one)" in advice["notes"][0]
    options = ["--person", "patient_id", "--household", "household_id", "--rows", "one"]
    assert advice["start"]["options"] == options


def test_a_folder_that_was_moved_keeps_what_it_states(stays: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    assert publish(stays, release, "--person", "patient_id").returncode == 0
    moved = tmp_path / "handed over"
    shutil.copytree(release, moved)
    assert lookalike("audit", stays, moved, "--private", tmp_path / "release PRIVATE").returncode == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"person": "p0017 has HIV"}, "which is no column of the original"),
        ({"person": "zip"}, "which is a published column"),
        ({"salt": "0123456789abcdef" * 2}, "lacks parts of its lookalike block"),
    ],
)
def test_what_a_folder_says_of_persons_has_no_room_for_a_message(
    stays: Path, tmp_path: Path, change: dict[str, str], said: str
) -> None:
    """Also where the reader names the column: the audit counts by that one, and looks at what the folder says."""
    release = tmp_path / "release"
    assert publish(stays, release, "--person", "patient_id").returncode == 0
    described = release / "datapackage.json"
    block = json.loads(described.read_text())
    block["lookalike"]["persons"] |= change
    described.write_text(json.dumps(block, indent=2) + "\n")
    done = lookalike("audit", stays, release, "--person", "patient_id", "--private", tmp_path / "release PRIVATE")
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
