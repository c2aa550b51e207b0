"""The library's front door, with every kind of table."""

from __future__ import annotations

from pathlib import Path

import pandas
import polars
import pyarrow
import pytest

import lookalike as la
from lookalike.data.frequent_values import set_cells

QI = ["age", "sex"]


class Capsule:
    """Anything that speaks the Arrow PyCapsule interface."""

    def __init__(self, table: pyarrow.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def sources(patients: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    frame = polars.read_csv(patients, schema_overrides={"zip code": polars.String})
    folder = tmp_path_factory.mktemp("sources")
    frame.write_parquet(folder / "patients.parquet")
    frame.write_ipc(folder / "patients.arrow")
    return {
        "path": patients,
        "parquet": folder / "patients.parquet",
        "arrow": str(folder / "patients.arrow"),
        "polars": frame,
        "lazy": frame.lazy(),
        "pandas": frame.to_pandas().set_index("patient_id"),
        "pyarrow": frame.to_arrow(),
        "capsule": Capsule(frame.to_arrow()),
    }


@pytest.mark.slow
@pytest.mark.parametrize("source", ["path", "parquet", "arrow", "polars", "lazy", "pandas", "pyarrow", "capsule"])
def test_one_line_from_any_table_to_a_folder(source: str, sources: dict[str, object], tmp_path: Path) -> None:
    files = la.publish(sources[source], qi=QI, sensitive="diagnosis", model=la.BetaLikeness(4)).write(
        tmp_path / "out", report="brief"
    )
    assert "release.csv" in files
    assert la.verify(sources[source], tmp_path / "out").passed


def test_the_same_seed_gives_the_same_release_from_any_source(sources: dict[str, object]) -> None:
    frames = [
        la.publish(sources[name], qi=QI, sensitive="diagnosis", model="k-anonymity:4", seed=3).to_polars()
        for name in ("path", "polars", "pandas")
    ]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


def test_display_in_a_notebook(patients: Path) -> None:
    publication = la.publish(patients, qi=QI, sensitive="diagnosis", model=["k-anonymity:4", la.LDiversity(2)])
    page = publication._repr_html_()
    assert "<table" in page
    assert "k-anonymity:4" in page
    assert "passed" in publication.audit._repr_html_()
    assert "400 rows that keep k-anonymity:4" in str(publication)


def test_measures_and_reads_back(patients: Path, tmp_path: Path) -> None:
    publication = la.publish(patients, qi=QI, sensitive="diagnosis", model="k-anonymity:4")
    publication.write(tmp_path / "out", report="brief")
    assert la.measure(patients, tmp_path / "out") == pytest.approx(publication.losses)
    assert not la.verify(patients, tmp_path / "out", model="k-anonymity:400").passed


def test_a_schema_may_be_an_object_or_a_file(patients: Path, tmp_path: Path) -> None:
    suggested = la.suggest_schema(la.read_table(patients))
    with pytest.raises(la.RecipeError, match="--carry-anyway length_of_stay"):
        la.publish(patients, schema=suggested, model="k-anonymity:4")
    schema = set_cells(suggested, carry_anyway=[attribute.name for attribute in suggested.carried])
    (tmp_path / "schema.yaml").write_text(schema.to_yaml(), encoding="utf-8")
    for given in (schema, tmp_path / "schema.yaml"):
        publication = la.publish(patients, schema=given, model="k-anonymity:4")
        assert "patient_id" not in publication.frame().columns


def test_options_override_the_schema(patients: Path) -> None:
    schema = la.Schema.of(qi=["age", "occupation"], sensitive=["diagnosis"])
    publication = la.publish(
        patients, schema=schema, carry="occupation", carry_anyway="occupation", model="k-anonymity:4"
    )
    assert [domain.name for domain in publication.made.data.domains.carried] == ["occupation"]


def test_a_table_of_another_tool_needs_roles(patients: Path) -> None:
    with pytest.raises(la.RecipeError, match="quasi-identifiers"):
        la.verify(patients, patients)
    schema = la.Schema.of(qi=QI, sensitive=["diagnosis"])
    found = la.verify(patients, patients, schema=schema, model="k-anonymity:2")
    assert not found.passed


def test_a_model_must_be_a_model(patients: Path) -> None:
    with pytest.raises(la.RecipeError, match="KAnonymity"):
        la.publish(patients, qi=QI, model=7)  # type: ignore[arg-type]


def test_pandas_missing_values_are_kept() -> None:
    frame = pandas.DataFrame(
        {"age": [1.0, 2.0, None, None] * 5, "city": ["a", None, "b", None] * 5, "s": list("xy") * 10}
    )
    publication = la.publish(frame, qi=["age", "city"], sensitive="s", model="k-anonymity:5")
    assert publication.release.n_rows == 20
    assert publication.audit.passed


def test_what_a_notebook_keeps_of_a_publication_is_one_line(patients: Path) -> None:
    made = la.publish(patients, qi=QI, sensitive="diagnosis", model="k-anonymity:4", seed=314159, title="Stays")
    assert repr(made) == f"<Stays: {str(made).splitlines()[0]}>"
    shown = repr(made) + made._repr_html_()
    assert "314159" not in shown
    assert "record_of_row" not in shown
