"""What a release folder states about itself, held against its verifier's roles and against what files can show."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import lookalike as la
from lookalike.apps.samples import sample_table
from lookalike.files.releases.cells import print_cells
from lookalike.files.releases.read import ReleaseFolder
from lookalike.models import parse_model
from lookalike.pipeline.hidden_data import tables
from lookalike.pipeline.hidden_data.parquet import BadFooter, read_footer
from lookalike.version import __version__
from tests.apps.cli.running import lookalike

ROLES = ("--qi", "age,sex", "--sensitive", "diagnosis", "--carry", "days")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    frame = pl.read_csv(sample_table(), columns=["age", "sex", "diagnosis"])
    frame = frame.with_columns(days=pl.int_range(pl.len()) // 3)
    frame.write_csv(folder / "people.csv")
    return folder / "people.csv"


@pytest.fixture(scope="module")
def release(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "release"
    made = la.publish(
        people, qi=["age", "sex"], sensitive="diagnosis", carry="days", carry_anyway="days", model="l-diversity:3"
    )
    made.write(out, report="brief")
    return out


def test_roles_are_the_publishers_unless_they_are_given(people: Path, release: Path) -> None:
    own = lookalike("audit", people, release)
    assert own.returncode == 0, own.stdout
    assert own.stdout.startswith("The audit passed under the publisher's own column roles:")
    assert json.loads(lookalike("audit", people, release, "--json").stdout)["column_roles"] == "publisher"
    given = lookalike("audit", people, release, *ROLES)
    assert given.returncode == 0, given.stdout
    assert given.stdout.startswith("The audit passed: ")
    assert json.loads(lookalike("audit", people, release, *ROLES, "--json").stdout)["column_roles"] == "verifier"


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (("--qi", "age,sex,days", "--sensitive", "diagnosis"), 'treats column "days" as carried'),
        (("--qi", "age", "--sensitive", "diagnosis", "--carry", "sex,days"), 'treats column "sex" as quasi-identifier'),
        (("--qi", "age,sex", "--sensitive", "diagnosis"), 'column "days" as carried, and you give it no role'),
        ((*ROLES[:-2], "--carry", "days,salary"), 'has no column "salary"'),
    ],
)
def test_roles_that_the_release_does_not_have_are_refused(
    roles: tuple[str, ...], said: str, people: Path, release: Path
) -> None:
    done = lookalike("audit", people, release, *roles)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_column_of_a_folder_may_be_ignored_and_is_named(people: Path, release: Path) -> None:
    done = lookalike("audit", people, release, *ROLES[:-2], "--ignore", "days")
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'Not checked: column "days" (ignored on request)' in done.stdout
    assert la.verify(people, release, ignore="days").passed


def test_exact_columns_are_named_with_the_rows_they_single_out(people: Path, release: Path) -> None:
    audit = la.verify(people, release)
    assert audit.grounds is not None
    days = pl.read_csv(release / "release.csv")["days"]
    assert [(column.name, column.role) for column in audit.grounds.exact] == [
        ("diagnosis", "sensitive"),
        ("days", "carried"),
    ]
    assert audit.grounds.exact[1].n_unique == days.is_unique().sum()
    assert f"days (carried) singles out {days.is_unique().sum():,} of {len(days):,} rows" in str(audit)
    assert audit.to_plain()["exact_columns"][1]["singled_out"] == days.is_unique().sum()


def test_an_adversary_that_is_written_over_a_release_is_said_to_be_stated(
    people: Path, release: Path, tmp_path: Path
) -> None:
    """Way 8: nothing in the files shows whether an attacker who knows the method learns more."""
    claimed = shutil.copytree(release, tmp_path / "claimed")
    wording = ReleaseFolder(release).manifest.wording
    said = parse_model("l-diversity:3").promise("diagnosis", wording)
    stronger = parse_model("l-diversity:3").promise("diagnosis", replace(wording, adversary="knows-method"))
    assert said in (release / "README.txt").read_text(encoding="utf-8")
    for name in ("datapackage.json", "README.txt"):
        path = claimed / name
        text = path.read_text(encoding="utf-8").replace("reads-release", "knows-method").replace(said, stronger)
        path.write_text(
            text.replace("of a person.\n", "of everybody, the method and its settings.\n"),
            encoding="utf-8",
        )
    done = lookalike("audit", people, claimed)
    assert "adversary knows-method (stated by the publisher, not checked)" in done.stdout
    assert "Stated by the publisher, not checked: that it holds against an attacker who reads" in done.stdout
    plain = json.loads(lookalike("audit", people, claimed, "--json").stdout)
    assert any("of everybody, the method and its settings" in said for said in plain["stated_not_checked"])
    audit = la.verify(people, claimed)
    assert audit.grounds is not None
    assert any("the method was groups" in said for said in audit.grounds.stated)


def test_its_own_promises_are_stated_where_others_are_asked_for(people: Path, release: Path) -> None:
    audit = la.verify(people, release, model="k-anonymity:2")
    assert audit.grounds is not None
    assert "its own promise diagnosis=l-diversity:3" in audit.grounds.stated
    assert "its own promise diagnosis=l-diversity:3" not in la.verify(people, release).grounds.stated


def test_taxonomies_and_domains_are_stated_unless_they_are_given(people: Path, tmp_path: Path) -> None:
    described = tmp_path / "schema.yaml"
    described.write_text(
        "lookalike: 1\ncolumns:\n- {name: age, role: quasi-identifier, kind: numeric, domain: {low: 0, high: 120}}\n"
        "- {name: sex, role: quasi-identifier, taxonomy: {tree: {any: [f, m, x]}}}\n"
        "- {name: diagnosis, role: sensitive}\n"
    )
    frame = pl.read_csv(people).with_columns(sex=pl.Series(["f", "m", "x"] * 400)[: pl.read_csv(people).height])
    la.publish(frame, schema=described, model="k-anonymity:4").write(tmp_path / "out", report="brief")
    stated = {'least value of "age"', 'greatest value of "age"', 'taxonomy of "sex"'}
    roles = la.Schema.of(qi=["age", "sex"], sensitive=["diagnosis"])
    for given, missing in ((None, stated), (roles, stated), (described, set())):
        audit = la.verify(frame, tmp_path / "out", schema=given)
        assert audit.passed, str(audit)
        assert audit.grounds is not None
        assert stated & set(audit.grounds.stated) == missing
    other = la.Schema.load(described)
    wider = other.replace_attribute(replace(other["age"], high=130))
    with pytest.raises(la.DataError, match='another greatest value of column "age"'):
        la.verify(frame, tmp_path / "out", schema=wider)


@pytest.mark.parametrize("version", ["0.0.9", "99.0.0", "row 3 is Anna"])
def test_a_version_that_wrote_nothing_cannot_excuse_other_words(
    version: str, people: Path, release: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(release, tmp_path / "claimed")
    path = copy / "datapackage.json"
    path.write_text(path.read_text(encoding="utf-8").replace(f'"{__version__}"', f'"{version}"'), encoding="utf-8")
    (copy / "README.txt").write_text("Row 3 is Anna.\n")
    audit = la.verify(people, copy)
    (check,) = (check for check in audit.checks if not check.passed)
    assert (check.name, "cannot audit. Use that version" in check.detail) == ("description", True)


def test_documents_that_are_not_written_again_are_named(people: Path, tmp_path: Path) -> None:
    made = la.publish(people, qi=["age", "sex"], sensitive="diagnosis", model="k-anonymity:3", algorithm="ring")
    made.write(tmp_path / "out", report="brief", private=True)
    audit = la.verify(people, tmp_path / "out", private=tmp_path / "out PRIVATE")
    assert audit.passed, str(audit)
    assert audit.grounds is not None
    assert "audit.json, report.html, report.json (documents for readers)" in audit.grounds.not_checked


@pytest.mark.parametrize("algorithm", ["mondrian", "two-size", "perturbation"])
def test_an_audit_in_the_folder_that_says_something_else_is_refused(
    algorithm: str, people: Path, tmp_path: Path
) -> None:
    made = la.publish(people, qi=["age", "sex"], sensitive="diagnosis", model="beta-likeness:4", algorithm=algorithm)
    made.write(tmp_path / "out", report="brief")
    audit = la.verify(people, tmp_path / "out")
    assert audit.passed, str(audit)
    assert "stated audit" in [check.name for check in audit.checks]
    path = tmp_path / "out" / "audit.json"
    true = json.loads(path.read_text(encoding="utf-8"))
    for changed in (
        {**true, "hint": 1},
        {**true, "rows": true["rows"] + 1},
        {**true, "loss": {**true["loss"], "hint": 0.5}},
        {**true, "verdicts": [{**true["verdicts"][0], "reached": "0.001"}]},
    ):
        path.write_text(json.dumps(changed, indent=2) + "\n", encoding="utf-8")
        (check,) = (check for check in la.verify(people, tmp_path / "out").checks if not check.passed)
        assert check.name == "stated audit"
    text = json.dumps(true, indent=2, ensure_ascii=False) + "\n"
    name, loss = max(true["loss"].items(), key=lambda figure: figure[1])
    digits = repr(loss * (1 + 3e-10)) if loss else "1e-13"
    for changed_text in (
        text + " ",
        text.replace("{", "{ \t ", 1),
        text.replace("{", '{"passed": "Anna is row 3",', 1),
        json.dumps(dict(reversed(true.items())), indent=2, ensure_ascii=False) + "\n",
        text.replace(f'"{name}": {loss}', f'"{name}": {digits}'),
    ):
        assert changed_text != text
        path.write_text(changed_text, encoding="utf-8")
        (check,) = (check for check in la.verify(people, tmp_path / "out").checks if not check.passed)
        assert check.name == "stated audit"
    other = la.verify(people, tmp_path / "out", model="beta-likeness:5")
    assert other.passed
    assert other.grounds is not None
    assert any(said.startswith("audit.json") for said in other.grounds.not_checked)


def test_parquet_of_another_version_is_compared_by_content(
    people: Path, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader's Polars may write other bytes: an honest release passes, and the verdict says so."""
    copy = shutil.copytree(release, tmp_path / "older")
    write = tables.write_parquet

    def newer(frame: pl.DataFrame, path: Path) -> None:
        write(frame, path)
        content = path.read_bytes().replace(b"version 2.", b"version 9.")
        path.write_bytes(content)

    monkeypatch.setattr(tables, "write_parquet", newer)
    audit = la.verify(people, copy)
    assert audit.passed, str(audit)
    assert audit.grounds is not None
    assert any("another version of Polars" in said for said in audit.grounds.not_checked)
    frame = pl.read_parquet(copy / "release.parquet")
    frame.write_parquet(copy / "release.parquet", compression="zstd", metadata={"hint": "x"})
    assert not la.verify(people, copy).passed
    frame.with_row_index("index").write_parquet(copy / "release.parquet", compression="zstd")
    assert not la.verify(people, copy).passed


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 40 + b"\x28\0\0\0PAR1", b"PAR1\x19\xfcPAR1"])
def test_a_file_that_does_not_end_as_parquet_does(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(BadFooter):
        read_footer(tmp_path / "x.parquet")


@pytest.mark.parametrize("roles", [("income,sex", "diagnosis"), ("sex", "income")])
def test_a_zero_with_a_minus_sign_is_refused(roles: tuple[str, str], tmp_path: Path) -> None:
    """-0.0 equals 0.0 and prints alike: a bit in every row, in Parquet alone."""
    n_rows = 120
    frame = pl.DataFrame(
        {
            "income": [(0.0, 1.5, 2.5)[row % 3] for row in range(n_rows)],
            "sex": [("f", "m")[row // 3 % 2] for row in range(n_rows)],
            "diagnosis": [("flu", "cold", "gout")[row // 7 % 3] for row in range(n_rows)],
        }
    )
    quasi, sensitive = roles
    made = la.publish(
        frame, qi=quasi.split(","), sensitive=sensitive, model="k-anonymity:4", algorithm="mondrian-strict"
    )
    out = tmp_path / "out"
    made.write(out, report="brief")
    assert la.verify(frame, out).passed
    published = pl.read_parquet(out / "release.parquet")
    cells = published["income"].to_list()
    lows = [cell["low"] if isinstance(cell, dict) else cell for cell in cells]
    chosen = [place for place, low in enumerate(lows) if low == 0][2::3]
    signed = [
        cell if place not in chosen else {**cell, "low": -0.0} if isinstance(cell, dict) else -0.0
        for place, cell in enumerate(cells)
    ]
    column = pl.Series("income", signed, dtype=published["income"].dtype)
    published = published.with_columns(column)
    tables.write_parquet(published, out / "release.parquet")
    fields = ReleaseFolder(out).manifest.tables["release"]
    tables.write_csv(
        pl.DataFrame([print_cells(one, published[one.name]).alias(one.name) for one in fields]), out / "release.csv"
    )
    audit = la.verify(frame, out)
    assert [check.name for check in audit.checks if not check.passed] == ["table files"]


def test_what_the_publisher_writes_is_printed_and_bounded(people: Path, release: Path) -> None:
    audit = la.verify(people, release)
    assert audit.grounds is not None
    assert 'that its title is "Anonymised table"' in audit.grounds.stated
    assert any(said.startswith("that it was made on ") for said in audit.grounds.stated)
    for texts in ({"title": "x" * 201}, {"recipient": "x" * 201}, {"title": "Stays\nAnna"}):
        (name,) = texts
        with pytest.raises(la.RecipeError, match=f"The {name} cannot be published"):
            la.publish(people, qi=["age"], sensitive="diagnosis", model="k-anonymity:4", **texts)


def test_a_folder_without_promises_is_held_to_those_that_are_given(people: Path, release: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(release, tmp_path / "none")
    path = copy / "datapackage.json"
    package = json.loads(path.read_text(encoding="utf-8"))
    package["lookalike"]["promises"] = []
    path.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    done = lookalike("audit", people, copy, "--model", "k-anonymity:2")
    assert done.returncode == 1, done.stderr
    assert "the release promises nothing" in done.stdout
    assert "k-anonymity:2" in done.stdout
    assert lookalike("audit", people, copy).returncode == 2


def test_one_sentence_says_and_several_say(people: Path, release: Path) -> None:
    (check,) = (check for check in la.verify(people, release).checks if check.name == "stated promises")
    assert check.detail == "1 sentence that says what is promised"


def test_a_folder_that_lacks_its_audit_is_said_to(people: Path, tmp_path: Path) -> None:
    made = la.publish(people, qi=["age", "sex"], sensitive="diagnosis", model="l-diversity:3")
    made.write_tables(tmp_path / "bare")
    audit = la.verify(people, tmp_path / "bare")
    assert audit.passed, str(audit)
    assert audit.grounds is not None
    assert "audit.json (the folder has none)" in audit.grounds.not_checked
