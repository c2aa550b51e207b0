"""Page one: its figures follow from the release and the original, and it stays one page whatever the table."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

import lookalike as la
from lookalike.data.statement import Statement
from lookalike.errors import RecipeError, SchemaError
from lookalike.evaluation.report import Report, find_browser, to_html, to_pdf
from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.columns import NamedColumns, may_be_named
from lookalike.files.releases.private import private_folder
from tests.evaluation.report.conftest import Reported

QUASI = ["age", "sex", "zip"]
STATED = {
    "title": "Stays",
    "purpose": "A study",
    "recipient": "The institute",
    "legal_basis": "Art. 9 (2) (j) GDPR",
    "review_date": "2027-11-30",
    "contact": "dpo@hospital.example",
    "population": 4_000,
    "date": "2026-05-04",
}


def people(n_rows: int = 240, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "patient": np.arange(n_rows) + 5_000,
            "age": rng.integers(20, 80, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "zip": rng.choice(["01", "02", "03", "04"], n_rows),
            "ward": rng.choice(["a", "b", "c"], n_rows),
            "ill": rng.choice(["flu", "gout", "rash", "cold"], n_rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


class Published(NamedTuple):
    original: pd.DataFrame
    made: la.Publication
    folder: Path
    public: dict[str, Any]
    owners: dict[str, Any]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    original = people()
    made = la.publish(
        original, qi=QUASI, sensitive="ill", model=["k-anonymity:4", "l-diversity:2"], algorithm="mondrian", **STATED
    )
    folder = tmp_path_factory.mktemp("certificate") / "release"
    made.write(folder, report="brief")
    owners = json.loads(json.dumps(Report.on(Basis.of(made.made, removed=made.removed), made.stated).to_plain()))
    return Published(original, made, folder, json.loads((folder / "report.json").read_text()), owners)


def test_figures_are_those_of_the_published_rows_and_of_the_original(published: Published) -> None:
    """Recomputed with pandas from release.csv and the original."""
    rows = pd.read_csv(published.folder / "release.csv", dtype=str)
    sizes = rows.groupby(QUASI).size()
    values = rows.groupby([*QUASI, "ill"]).size()
    best = values.groupby(QUASI).max()
    found, unknown, guessed = published.public["certificate"]["risks"]
    assert published.public["n_rows"] == len(rows) == len(published.original)
    assert found["after"]["highest"] == pytest.approx(1 / sizes.min())
    assert found["after"]["average"] == pytest.approx(len(sizes) / len(rows))
    assert guessed["after"]["highest"] == pytest.approx((best / sizes).max())
    assert guessed["after"]["average"] == pytest.approx(best.sum() / len(rows))
    assert guessed["blind"] == pytest.approx(rows["ill"].value_counts(normalize=True).max())
    share = len(rows) / STATED["population"]
    risks = {size: journalist(size, share) for size in set(sizes.tolist())}
    assert unknown["after"]["highest"] == pytest.approx(max(risks.values()), rel=1e-6)
    mean = sum(size * risks[size] for size in sizes.tolist()) / len(rows)
    assert unknown["after"]["average"] == pytest.approx(mean, rel=1e-6)
    before = published.original.groupby(QUASI).size()
    most = published.original.groupby([*QUASI, "ill"]).size().groupby(QUASI).max()
    owned, _, guessed_before = published.owners["certificate"]["risks"]
    assert owned["before"]["highest"] == pytest.approx(1 / before.min())
    assert owned["before"]["average"] == pytest.approx(len(before) / len(rows))
    assert guessed_before["before"]["highest"] == pytest.approx((most / before).max())
    assert guessed_before["before"]["average"] == pytest.approx(most.sum() / len(rows))


def journalist(size: int, share: float) -> float:
    """The expected 1 / F of a class of that size in a sample with that rate, by integration."""
    return float(quad(lambda w: w ** (size - 1) * share / (share + (1 - share) * w), 0, 1)[0])


def test_the_page_that_goes_with_the_release_says_nothing_that_is_scored_on_the_original(published: Published) -> None:
    for line in published.public["certificate"]["risks"]:
        assert line["before"] in ({"highest": 1.0, "average": None}, {"highest": None, "average": None})
    assert published.public["certificate"]["to_decide"] == []
    assert all(risk["residual"] is None for risk in published.public["certificate"]["three"])
    other = published.original.copy()
    # Other exact values of quasi-identifiers within the same groups change the owner's figures, not the published ones.
    other["age"] = np.random.default_rng(7).permutation(other["age"].to_numpy())
    made = la.publish(other, qi=QUASI, sensitive="ill", model="k-anonymity:4", algorithm="mondrian", **STATED)
    assert Basis.of(made.made).before is not None
    assert Basis.of(made.made).public().before is None


def test_every_file_but_the_report_itself_has_its_digest(published: Published, reported: Reported) -> None:
    digests = published.public["certificate"]["digests"]
    files = {path.name for path in published.folder.iterdir()} - {"report.html", "report.json"}
    assert set(digests) == files
    for name, digest in digests.items():
        assert hashlib.sha256((published.folder / name).read_bytes()).hexdigest() == digest
    folder = reported.folder
    owners = json.loads((private_folder(folder) / "report.json").read_text())["certificate"]["digests"]
    assert set(owners) == {path.name for path in folder.iterdir()}
    assert owners["report.html"] == hashlib.sha256((folder / "report.html").read_bytes()).hexdigest()


def test_what_is_stated_is_printed_recorded_and_audited(published: Published) -> None:
    page = (published.folder / "report.html").read_text(encoding="utf-8")
    for text in ("Stays", "A study", "The institute", "Art. 9 (2) (j) GDPR", "2027-11-30", "dpo@hospital.example"):
        assert text in page
    assert published.public["date"] == "2026-05-04"
    assert json.loads((published.folder / "datapackage.json").read_text())["lookalike"]["created"] == "2026-05-04"
    audit = la.verify(published.original, published.folder)
    assert audit.passed
    assert audit.grounds is not None
    said = "; ".join(audit.grounds.stated)
    assert 'that its purpose is "A study"' in said
    assert 'a population of "4000"' in said


def test_names_of_removed_columns_follow_the_original_or_are_stated(published: Published) -> None:
    removed = published.public["certificate"]["columns"][0]
    assert (removed["names"], removed["n_others"]) == (["patient", "ward"], 0)
    audit = la.verify(published.original.drop(columns="ward"), published.folder)
    assert not audit.passed
    wider = published.original.assign(height=1)
    audit = la.verify(wider, published.folder)
    assert audit.passed
    assert audit.grounds is not None
    assert "which columns of the original were removed" in audit.grounds.stated


def test_a_column_per_person_is_not_named() -> None:
    assert not may_be_named(["visit", "Anna Keller"])
    frame = people().assign(**{"Anna Keller": 1})
    made = la.publish(frame, qi=QUASI, model="k-anonymity:4", algorithm="mondrian")
    basis = Basis.of(made.made, removed=made.removed)
    public = Report.on(basis.public(), made.stated)
    assert "Anna" not in to_html(public)
    assert public.certificate.columns[0].n_others == 4
    assert "Anna Keller" in to_html(Report.on(basis, made.stated))


ALL_FORMS = ["mondrian", "freeform", "anatomy", "perturbation"]


@pytest.mark.parametrize("algorithm", ALL_FORMS)
def test_every_form_has_a_page_that_an_audit_writes_again(algorithm: str, tmp_path: Path) -> None:
    original = people(80)
    model = {"freeform": "k-anonymity:3", "perturbation": "beta-likeness:2"}.get(algorithm, "l-diversity:2")
    made = la.publish(original, qi=QUASI, sensitive="ill", model=model, algorithm=algorithm)
    made.write(tmp_path / "out", report="brief")
    assert la.verify(original, tmp_path / "out", private=None).passed or algorithm == "freeform"
    page = json.loads((tmp_path / "out" / "report.json").read_text())["certificate"]
    assert [risk["name"] for risk in page["three"]] == ["singling out", "linkability", "inference"]
    exact = {"anatomy", "perturbation"}
    coarse, plain = page["columns"][1]["names"], page["columns"][2]["names"]
    assert sorted([*coarse, *plain]) == QUASI
    assert (plain == QUASI) == (algorithm in exact)
    if algorithm in exact:
        # Quasi-identifiers are published exactly, so finding a row is as easy as before.
        alone = original.groupby(QUASI).size()
        assert page["risks"][0]["after"]["average"] == pytest.approx(len(alone) / len(original))
    if algorithm == "freeform":
        assert page["risks"][0]["after"]["highest"] is None
        assert page["risks"][0]["promised"] == pytest.approx(1 / 3)


def test_promises_are_in_words_with_the_names_of_columns(published: Published) -> None:
    first, second = published.public["certificate"]["promises"]
    assert "a person's age, sex and zip" in first
    assert "can be at most 50 % sure" in second
    assert "quasi-identifiers" not in first + second


def test_persons_without_sensitive_columns_and_several_of_them_have_a_page() -> None:
    frame = pd.concat([people(120), people(120)])
    made = la.publish(frame, qi=QUASI, sensitive="ill", person="patient", model="k-anonymity:3", algorithm="mondrian")
    basis = Basis.of(made.made)
    assert basis.before is not None
    owners, public = Report.on(basis, made.stated), Report.on(basis.public(), made.stated)
    assert owners.certificate.risks[0].what.startswith("finding a person")
    # How many persons a group holds is not published.
    assert public.certificate.risks[0].after.highest is None
    assert "not published" in to_html(public)
    alone = la.publish(people(), qi=QUASI, model="k-anonymity:4", algorithm="mondrian")
    page = Report.on(Basis.of(alone.made), alone.stated)
    assert [line.column for line in page.certificate.risks] == [None]
    assert page.certificate.three[2].verdict == "open"
    two = la.publish(
        people(), qi=["age", "sex"], sensitive=["ill", "ward"], model="l-diversity:2", algorithm="mondrian"
    )
    page = Report.on(Basis.of(two.made), two.stated)
    assert [line.column for line in page.certificate.risks] == [None, "ill", "ward"]


def crowded(n_quasi: int = 40) -> Report:
    """Many columns with long and hostile names."""
    rng = np.random.default_rng(3)
    names = [f"<b>column</b> number {place} " + "w" * (place * 7 % 90) for place in range(n_quasi)]
    frame = pd.DataFrame({name: rng.integers(0, 3, 60) for name in names})
    kept = [f"{{{{ sensitive }}}} {place} " + "x" * 120 for place in range(6)]
    for name in kept:
        frame[name] = rng.choice(["a", "b", "c"], 60)
    frame[[f"left out {place} " + "y" * 60 for place in range(30)]] = 1
    long = dict.fromkeys(("title", "purpose", "recipient", "legal_basis", "contact"), ("many words " * 20)[:199])
    made = la.publish(
        frame, qi=names, sensitive=kept, model=["k-anonymity:2", "l-diversity:1.5"], algorithm="mondrian", **long,
        review_date="2027-11-30",
    )  # fmt: skip
    digests = {f"file-{place}.csv": "0" * 64 for place in range(30)}
    return Report.on(Basis.of(made.made, removed=made.removed), made.stated, digests=digests)


def test_lists_are_cut_on_page_one_and_whole_in_the_annex() -> None:
    report = crowded()
    for listed in report.certificate.columns:
        assert len(listed.shown) < 200
    assert "more (see the annex)" in report.certificate.columns[1].shown
    page = to_html(report)
    assert "<b>" not in page
    sheet, annex = page.split("<nav")
    assert sheet.count("0" * 64) == 12
    assert annex.count("0" * 64) == 30
    assert NamedColumns("Exact", "", ()).shown == "none"


@pytest.mark.skipif(find_browser() is None, reason="no browser of the Chromium family is installed")
@pytest.mark.parametrize("kind", ["usual", "crowded"])
def test_page_one_is_one_sheet_of_paper(kind: str, published: Published) -> None:
    basis = Basis.of(published.made.made, removed=published.made.removed)
    report = crowded() if kind == "crowded" else Report.on(basis, published.made.stated)
    page = to_html(report)
    # The sheet alone.
    head, rest = page.split("<nav", 1)
    printed = to_pdf(f"{head.replace('break-after: page', '')}</body></html>")
    assert printed.count(b"/Type /Page\n") == 1
    assert rest


def test_what_cannot_be_printed_is_refused(tmp_path: Path) -> None:
    for bad, said in (
        ({"purpose": "x" * 201}, "--purpose"),
        ({"contact": "a\nb"}, "line breaks"),
        ({"review_date": "30.11.2027"}, "2027-11-30"),
        ({"population": "many"}, "--population"),
        ({"recipient": 7}, "not of type int"),
    ):
        with pytest.raises(RecipeError, match=said):
            Statement.of(**bad)
    text = "lookalike: 1\nreport: {purpos: x}\ncolumns: [{name: a}]\n"
    with pytest.raises(SchemaError, match="purpose"):
        la.Schema.from_yaml(text)


def test_a_schema_holds_what_is_stated_and_options_win() -> None:
    text = """lookalike: 1
report: {title: Stays, purpose: A study, review_date: 2027-11-30, contact: 4711}
columns:
- {name: age, role: quasi-identifier}
"""
    schema = la.Schema.from_yaml(text)
    assert la.Schema.from_yaml(schema.to_yaml()) == schema
    assert la.Schema.of(schema, qi=["sex"]).report == schema.report
    made = la.publish(people(), schema=schema, model="k-anonymity:4", algorithm="mondrian", purpose="Another")
    assert (made.title, made.stated.purpose, made.stated.contact) == ("Stays", "Another", "4711")
