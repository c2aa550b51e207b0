"""The hospital sample: bundled files, determinism, and the correlations it claims."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.apps.samples import hospital, hospital_schema, main, sample_schema, sample_table, to_csv
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Role, Schema
from lookalike.errors import RecipeError

ROWS = 40_000


@lru_cache
def table() -> Table:
    return hospital(ROWS, seed=11)


@lru_cache
def values(name: str) -> NDArray[Any]:
    column = table()[name]
    return np.append(column.values.astype(object), None)[column.codes]


def share_of(diagnosis: str, rows: NDArray[np.bool_]) -> float:
    return float(np.mean(values("diagnosis")[rows] == diagnosis))


def test_the_bundled_table_is_what_the_generator_draws(tmp_path: Path) -> None:
    to_csv(hospital(), tmp_path / "again.csv")
    assert sample_table().read_bytes() == (tmp_path / "again.csv").read_bytes()
    assert sample_table().stat().st_size < 100_000
    assert len(sample_table().read_text().splitlines()) == 1001


def test_the_bundled_schema_is_the_sample_s_and_encodes_it() -> None:
    assert sample_schema().read_text(encoding="utf-8") == hospital_schema().to_yaml()
    data = Microdata.encode(hospital(), Schema.load(sample_schema()))
    assert [domain.name for domain in data.domains.quasi] == ["age", "sex", "zip code", "admission_date", "occupation"]
    assert [domain.name for domain in data.domains.sensitive] == ["diagnosis"]
    assert data.schema["patient_id"].role is Role.IDENTIFIER


def test_same_seed_same_rows_other_seed_other_rows() -> None:
    first, again, other = hospital(300, 5), hospital(300, 5), hospital(300, 6)
    assert all(np.array_equal(one.codes, two.codes) for one, two in zip(first.columns, again.columns, strict=True))
    assert not np.array_equal(first["age"].codes, other["age"].codes)


def test_one_row_is_enough() -> None:
    assert hospital(1, 3).n_rows == 1
    with pytest.raises(RecipeError):
        hospital(0)


def test_identifiers_are_distinct_and_in_no_order() -> None:
    numbers = table()["patient_id"]
    assert len(numbers.values) == ROWS
    assert all(len(text) == 7 for text in numbers.values)
    assert abs(np.corrcoef(numbers.codes, np.arange(ROWS))[0, 1]) < 0.02


def test_sizes_of_domains() -> None:
    assert table()["age"].values[[0, -1]].tolist() == [0, 99]
    assert table()["sex"].values.tolist() == ["female", "male"]
    assert len(table()["occupation"].values) == 21
    assert len(table()["diagnosis"].values) == 27
    assert len(table()["admission_date"].values) == 731
    zips = table()["zip code"].values.tolist()
    assert len(zips) == 43
    assert all(len(zip) == 5 and zip.startswith("0") for zip in zips)
    assert len({zip[:3] for zip in zips}) == 10


def test_missing_values_only_where_they_belong() -> None:
    shares = {column.name: column.n_missing / ROWS for column in table().columns}
    assert 0.02 < shares.pop("zip code") < 0.04
    assert 0.02 < shares.pop("occupation") < 0.04
    assert set(shares.values()) == {0.0}


def test_diagnoses_keep_to_sex_and_age() -> None:
    ages, women, diagnoses = values("age").astype(int), values("sex") == "female", values("diagnosis")
    births, prostates = diagnoses == "childbirth", diagnoses == "prostate disorder"
    assert births.sum() > 1000
    assert women[births].all()
    assert ages[births].min() >= 15
    assert ages[births].max() <= 50
    assert prostates.sum() > 500
    assert not women[prostates].any()
    assert ages[prostates].min() > 45


def test_frequent_and_rare_diagnoses() -> None:
    everybody = np.ones(ROWS, dtype=bool)
    assert share_of("hypertension", everybody) > 0.08
    assert 0.003 < share_of("HIV infection", everybody) < 0.01
    old, young = values("age").astype(int) >= 70, values("age").astype(int) < 30
    assert share_of("stroke", old) > 0.04
    assert share_of("stroke", young) == 0
    assert share_of("appendicitis", young) > 2 * share_of("appendicitis", old)


def test_influenza_comes_in_winter_and_weekends_are_quiet() -> None:
    days = table()["admission_date"].values[table()["admission_date"].codes].astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(int) % 12
    assert share_of("influenza", np.isin(months, (11, 0, 1))) > 20 * share_of("influenza", np.isin(months, (5, 6, 7)))
    weekend = ~np.is_busday(days)
    assert 0.15 < weekend.mean() < 0.22
    assert (str(days.min()), str(days.max())) == ("2023-01-01", "2024-12-31")


def test_occupations_follow_age() -> None:
    ages, occupations = values("age").astype(int), values("occupation")
    assert set(occupations[ages < 6]) == {"preschool child"}
    assert ages[occupations == "pupil"].max() == 17
    assert set(occupations[(ages >= 6) & (ages < 18)]) == {"pupil", None}
    assert np.mean(occupations[ages >= 70] == "retired") > 0.9
    assert ages[occupations == "retired"].min() >= 60


def test_stays_follow_the_diagnosis() -> None:
    stays = values("length_of_stay").astype(int)
    means = {name: stays[values("diagnosis") == name].mean() for name in ("childbirth", "schizophrenia", "stroke")}
    assert 2 < means["childbirth"] < 4
    assert means["schizophrenia"] > 15
    assert means["childbirth"] < means["stroke"] < means["schizophrenia"]


def test_the_module_writes_a_table_and_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, schema = tmp_path / "out.csv", tmp_path / "out.yaml"
    assert main(["hospital", "--rows", "1000", "--seed", "1", "--out", str(out), "--schema", str(schema)]) == 0
    assert out.read_bytes() == sample_table().read_bytes()
    assert Schema.load(schema) == hospital_schema()
    assert main(["census", "--rows", "20", "--occupation", "zipf:0.5", "--out", str(out)]) == 0
    assert len(out.read_text().splitlines()) == 21
    assert main(["census", "--occupation", "normal", "--out", str(out)]) == 2
    assert "zipf:0.5" in capsys.readouterr().err


def test_the_module_writes_over_samples_and_over_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "patients.csv"
    for _ in range(2):
        assert main(["hospital", "--rows", "5", "--out", str(out)]) == 0
    out.write_text("patient,age\n1,34\n")
    assert main(["hospital", "--rows", "5", "--out", str(out)]) == 2
    assert out.read_text() == "patient,age\n1,34\n"
    assert "is no sample" in capsys.readouterr().err
