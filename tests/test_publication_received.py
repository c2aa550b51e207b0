"""What a recipient can do, done on a publication: no folder is written, and the answers are those of its folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import DataError
from tests.visits import longitudinal, write_rows

FRAME = pl.DataFrame(
    {
        "age": [30 + row % 20 for row in range(200)],
        "sex": ["F" if row % 3 else "M" for row in range(200)],
        "ill": ["flu", "hiv", "gout", "cold", "flu"] * 40,
    }
)
METHODS = {
    "mondrian": "k-anonymity:5",
    "ring": "k-anonymity:5",
    "anatomy": "l-diversity:2",
    "perturbation": "beta-likeness:3",
    "groups": "beta-likeness:2",
}


@pytest.fixture(scope="module", params=METHODS)
def made(request: pytest.FixtureRequest) -> la.Publication:
    method = request.param
    return la.publish(FRAME, qi=["age", "sex"], sensitive="ill", model=METHODS[method], algorithm=method)


def test_a_publication_answers_as_its_folder_does(made: la.Publication, tmp_path: Path) -> None:
    made.write(tmp_path / "out", report="brief")
    here, there = la.open_release(made), la.open_release(tmp_path / "out")
    assert repr(here) == repr(there)
    assert here.notes == there.notes
    for name, frame in there.tables.items():
        assert here.tables[name].equals(frame)
    assert here.counts("ill").equals(there.counts("ill"))
    assert made.counts("ill", where={"sex": "F"}).equals(there.counts("ill", where={"sex": "F"}))
    assert made.count({"age": (35, 40)}) == there.count({"age": (35, 40)})
    assert made.crosstab("sex", "ill").equals(there.crosstab("sex", "ill"))
    asked = "SELECT COUNT(*) WHERE age > 40 AND ill = 'flu'"
    assert made.query(asked) == there.query(asked)
    drawn, again = la.sample(made, worlds=2, seed=5), la.sample(tmp_path / "out", worlds=2, seed=5)
    assert all(one.equals(other) for one, other in zip(drawn, again, strict=True))
    assert made.sample(1, seed=5)[0].equals(drawn[0])
    assert made.open() is made.open()


def test_nothing_is_written(made: la.Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    la.sample(made, worlds=1)
    made.frame()
    made.counts("ill")
    assert list(tmp_path.iterdir()) == []


KINDS: dict[str, type] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.Table}


@pytest.mark.parametrize("library", KINDS)
def test_frames_come_out_as_they_went_in(library: str, tmp_path: Path) -> None:
    table: Any = {"pandas": FRAME.to_pandas(), "polars": FRAME.lazy(), "arrow": FRAME.to_arrow()}[library]
    made = la.publish(table, qi=["age", "sex"], sensitive="ill", model="k-anonymity:5", algorithm="mondrian")
    kind = KINDS[library]
    assert isinstance(made.frame(), kind)
    assert isinstance(made.frame(bounds=True), kind)
    assert all(isinstance(world, kind) for world in (*made.sample(1), *la.sample(made, worlds=1)))
    assert isinstance(made.counts("ill"), kind)
    assert isinstance(made.query("SELECT COUNT(*), ill GROUP BY ill"), kind)
    assert isinstance(la.open_release(made).frame(), kind)
    assert isinstance(la.open_release(made, frames="polars").frame(), pl.DataFrame)
    for other, wanted in KINDS.items():
        assert isinstance(getattr(made, f"to_{other}")(), wanted)
        assert isinstance(la.sample(made, worlds=1, frames=other)[0], wanted)
    made.write(tmp_path / "out", report="brief")
    opened = la.open_release(tmp_path / "out", frames=library)
    assert isinstance(opened.counts("ill"), kind)
    assert isinstance(opened.to_pandas(groups=True, midpoints=True), pd.DataFrame)
    synthetic = la.synthesize(table, qi=["age", "sex"], sensitive="ill", epsilon=1)
    assert isinstance(synthetic.frame(), kind)


def test_a_table_with_numbers_to_work_with() -> None:
    made = la.publish(
        FRAME.to_pandas(), qi=["age", "sex"], sensitive="ill", model="k-anonymity:5", algorithm="mondrian"
    )
    frame = made.to_pandas(bounds=True, midpoints=True, groups=True)
    assert frame["age_low"].dtype == "int64"
    assert (frame["age_low"] <= frame["age_high"]).all()
    assert frame["age_mid"].mean() == pytest.approx(FRAME["age"].mean(), abs=2)
    assert frame.groupby("group").size().min() >= 5
    assert set(frame["sex_values"].explode()) == {"F", "M"}


def test_linked_rows_and_releases_in_parts(tmp_path: Path) -> None:
    visits = write_rows(tmp_path / "visits.csv", longitudinal(40))
    linked = la.publish(
        visits, qi=["age"], sensitive="diagnosis", model="k-anonymity:2", person="patient_id", rows="linked"
    )
    assert {"person", "visit", "age_low"} <= set(linked.frame(bounds=True).columns)
    large = pl.concat([FRAME] * 15)
    parts = la.publish(
        large, qi=["age", "sex"], sensitive="ill", model="k-anonymity:5", part_rows=1000, out=tmp_path / "parts"
    )
    assert parts.n_parts > 1
    assert parts.frame().height == large.height
    assert parts.count({"sex": "F"}).value == pytest.approx(large.filter(sex="F").height, rel=0.2)
    assert la.sample(parts, worlds=1)[0].columns == ["age", "sex", "ill"]


@pytest.mark.parametrize("name", ["verify", "measure", "attack", "fidelity"])
def test_what_needs_a_folder_says_so(name: str, made: la.Publication) -> None:
    with pytest.raises(DataError, match=r"made.write\("):
        getattr(la, name)(FRAME, made)
    with pytest.raises(DataError, match="not a path"):
        getattr(la, name)(FRAME, FRAME)


def test_what_is_no_release_is_named() -> None:
    with pytest.raises(DataError, match="A release cannot be read from a DataFrame"):
        la.sample(FRAME)  # type: ignore[arg-type]


def test_pandas_without_pyarrow() -> None:
    """The plain installation with pandas: pyarrow cannot be imported."""
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import lookalike as la, pandas as pd\n"
        "t = pd.DataFrame({'age': [30, 31, 40, None] * 5, 'day': pd.to_datetime(['2024-01-05'] * 20),\n"
        "                  'sex': pd.Categorical(['F', 'M'] * 10), 'ill': ['a', 'b'] * 10})\n"
        "made = la.publish(t, qi=['age', 'sex', 'day'], sensitive='ill', model='k-anonymity:2', algorithm='mondrian')\n"
        "frames = [made.frame(bounds=True, midpoints=True, groups=True)]\n"
        "frames += [made.counts('ill'), *la.sample(made, worlds=2)]\n"
        "assert all(type(frame) is pd.DataFrame for frame in frames)\n"
        "print(frames[-1].dtypes.astype(str).to_dict())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "'age': 'Float64'" in done.stdout or "'age': 'float64'" in done.stdout
    assert "'day': 'datetime64" in done.stdout
