"""Publishing in parts on one machine: folders of Parquet files in, folders of Parquet files out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.apps.samples import hospital, to_csv
from lookalike.errors import RecipeError
from tests.apps.cli.running import lookalike

QI = ["age", "sex", "zip code"]


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Years in their own folders, as Hive has them."""
    folder = tmp_path_factory.mktemp("in") / "stays"
    to_csv(hospital(4_000, seed=3), folder.with_suffix(".csv"))
    table = pl.read_csv(folder.with_suffix(".csv"))
    for place, year in enumerate((2023, 2024)):
        (folder / f"year={year}").mkdir(parents=True)
        table[place * 2_000 : (place + 1) * 2_000].write_parquet(folder / f"year={year}" / "part.parquet")
    return folder


@pytest.mark.slow
def test_parquet_folders_in_and_out(stays: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    made = la.publish(
        stays, qi=[*QI, "year"], sensitive="diagnosis", model="l-diversity:3", part_rows=1_000, out=out, seed=5
    )
    assert made.audit.passed
    assert made.n_parts > 1
    assert len(list((out / "release.parquet").iterdir())) == made.n_parts
    published = pl.read_parquet(out / "release.parquet" / "*.parquet")
    assert (len(published), set(published.columns)) == (4_000, {*QI, "year", "diagnosis"})
    assert la.verify(stays, out).passed


@pytest.mark.slow
def test_the_command_does_the_same_and_says_how_to_repeat_it(stays: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    asked = ["--qi", ",".join(QI), "--sensitive", "diagnosis", "--model", "k-anonymity:4", "--part-rows", "1000"]
    said = lookalike("publish", str(stays), *asked, "--out", str(out))
    assert said.returncode == 0, said.stderr
    assert "that keep k-anonymity:4" in said.stdout
    assert "--part-rows 1000" in (out / "report.html").read_text(encoding="utf-8")
    again = lookalike("publish", str(stays), *asked, "--out", str(out))
    assert again.returncode == 2
    assert "--overwrite" in again.stderr
    assert lookalike("publish", str(stays), *asked, "--out", str(out), "--overwrite").returncode == 0


def test_what_cannot_be_done_in_parts_is_refused(stays: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="too small"):
        la.publish(stays, qi=QI, model="k-anonymity:4", part_rows=10, out=tmp_path / "release")
    with pytest.raises(la.Unsupported, match="freeform"):
        la.publish(stays, qi=QI, model="k-anonymity:4", algorithm="freeform", part_rows=1_000, out=tmp_path / "release")
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("algorithm", ["mondrian", "groups"])
def test_ends_are_rounded_in_every_part_and_reach_into_no_other(tmp_path: Path, algorithm: str) -> None:
    rng = np.random.default_rng(11)
    table = pl.DataFrame(
        {"lab": rng.normal(50, 20, 4_000), "age": rng.integers(0, 90, 4_000), "ill": rng.choice(["a", "b", "c"], 4_000)}
    )
    asked = {"qi": ["lab", "age"], "sensitive": "ill", "model": "k-anonymity:20", "algorithm": algorithm}
    made = la.publish(table, **asked, part_rows=1_000, out=tmp_path / "release", seed=5, rows_are_persons=True)
    assert made.audit.passed
    assert made.n_parts > 1
    found = made.summary()["ends"]["lab"]
    assert found["exact_loss"] < found["loss"] <= 1.02 * found["exact_loss"]
    assert la.verify(table, tmp_path / "release").passed
    exact = la.publish(
        table, **asked, part_rows=1_000, out=tmp_path / "exact", seed=5, rows_are_persons=True, ends="exact"
    )
    assert exact.summary()["ends"] == {}
    assert exact.losses["gcp"] < made.losses["gcp"]

    def shares_of_persons(folder: Path) -> float:
        cells = pl.read_parquet(folder / "release.parquet" / "*.parquet")["lab"].struct
        ends = pl.concat([cells.field("low"), cells.field("high")]).unique()
        return float(ends.is_in(table["lab"].implode()).mean())

    assert shares_of_persons(tmp_path / "exact") == 1
    # Only ends where two parts meet are someone's.
    assert shares_of_persons(tmp_path / "release") < 0.2


def test_columns_are_made_coarser_in_parts_as_in_one_piece(tmp_path: Path) -> None:
    """Blocks depend on each value alone, so parts agree on them; the audit finds them in the original."""
    draw = np.random.default_rng(2)
    table = tmp_path / "pay.csv"
    frame = pl.DataFrame({"age": draw.integers(20, 70, 2500), "pay": np.round(draw.uniform(0, 9_000, 2500), 2)})
    frame.write_csv(table)
    asked = {
        "qi": ["age"],
        "sensitive": "pay",
        "coarsen": {"pay": {"round": 1000, "top": 8000}},
        "model": "t-closeness:0.4,distance=ordered",
        "algorithm": "mondrian",
    }
    la.publish(table, out=tmp_path / "parts", part_rows=1000, **asked)
    assert la.verify(table, tmp_path / "parts").passed
    whole = la.publish(table, out=tmp_path / "whole", **asked)
    shown = pl.concat(
        [pl.read_csv(part, infer_schema=False) for part in sorted((tmp_path / "parts" / "release.csv").glob("*.csv"))]
    )
    assert sorted(shown["pay"].unique()) == sorted(whole.release.domains.sensitive[0].texts)
    assert sorted(shown["pay"]) == sorted(pl.read_csv(tmp_path / "whole" / "release.csv", infer_schema=False)["pay"])
