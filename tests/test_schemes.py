"""apply_scheme: a further table in fixed cells, audited like any release; what leaving out says, and to whom."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms.shared.fixed_cells import FixedCells, group_test
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.release import Grouped, Withheld
from lookalike.data.scheme import Cell, Cut, Scheme
from lookalike.errors import DataError, Infeasible, RecipeError, Unsupported
from lookalike.pipeline.run import MadeWhole, verify
from tests.data.test_scheme import AGE
from tests.pipeline.test_schemes import patients

COLUMNS: dict[str, Any] = {"qi": ["age", "sex", "zip"], "sensitive": "diagnosis", "categorical": ["zip"]}


@pytest.fixture(scope="module")
def scheme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("january")
    path = folder / "scheme.yaml"
    january = la.publish(
        patients(900),
        model=["k-anonymity:20", "l-diversity:2"],
        seed=1,
        scheme_out=path,
        out=folder / "release",
        **COLUMNS,
    )
    assert la.read_scheme(path).n_cells == len(np.unique(january.release.group_of_row))
    return path


def second_hospital(n_rows: int = 700) -> pl.DataFrame:
    """Other ages, a zip code that the first hospital never saw, missing values, and patients with several rows."""
    draw = np.random.default_rng(5)
    frame = patients(n_rows, seed=2).with_columns(
        age=pl.Series(draw.integers(10, 100, n_rows)),
        zip=pl.Series(draw.choice(["12205", "12207", "12301", "55555"], n_rows)),
        patient=pl.Series(draw.integers(0, n_rows // 2, n_rows)),
    )
    lacks = pl.Series(draw.random(n_rows) < 0.1)
    return frame.with_columns(sex=pl.when(lacks).then(None).otherwise(pl.col("sex")))


def test_a_second_hospital_is_published_and_audited(scheme: Path, tmp_path: Path) -> None:
    frame = second_hospital()
    frame.write_csv(tmp_path / "second.csv")
    published = la.apply_scheme(
        tmp_path / "second.csv",
        scheme,
        model="k-anonymity:4",
        suppress="0.9",
        out=tmp_path / "out",
        rows_are_persons=True,
    )
    assert published.audit.passed
    ages, zips = published.frame()["age"].unique().to_list(), published.frame()["zip"].unique().to_list()
    assert {"<=17", ">=91"} & set(ages)
    assert "(other)" in zips
    notes = " ".join(published.notes)
    n_young = frame.filter(pl.col("age") < 18).height
    assert f'{n_young} records outside the scheme: "age" below 18.' in notes
    n_other = frame.filter(pl.col("zip") == "55555").height
    assert f'{n_other} records outside the scheme: "zip" other than the declared values.' in notes
    # No value of the second hospital that the scheme lacks is in the folder.
    texts = "".join(
        path.read_text() for path in (tmp_path / "out").iterdir() if path.suffix in (".csv", ".yaml", ".txt")
    )
    assert "55555" not in texts
    assert "<=17 is 17 or less" in texts
    found = la.verify(tmp_path / "second.csv", tmp_path / "out")
    assert found.passed
    assert str(published.algorithm) == "fixed-cells:suppress=0.9"


def test_promises_count_persons(scheme: Path) -> None:
    # 20 persons with 5 rows each, all alike but for the diagnosis: by rows a cell of 5, by persons of 1.
    one = pl.DataFrame({"age": [30], "sex": ["F"], "zip": ["12205"]})
    rows = pl.concat([one] * 5).with_columns(diagnosis=pl.Series(["flu", "cold", "HIV", "asthma", "none"]))
    alone = rows.with_columns(patient=pl.lit(1))
    assert la.apply_scheme(alone, scheme, model="k-anonymity:5").audit.passed
    with pytest.raises(Infeasible):
        la.apply_scheme(alone, scheme, model="k-anonymity:5", person="patient")
    several = pl.concat([rows.with_columns(patient=pl.lit(number)) for number in range(5)])
    by_persons = la.apply_scheme(several, scheme, model="k-anonymity:5", person="patient")
    assert by_persons.audit.passed
    assert by_persons.audit.n_persons == 5
    assert la.apply_scheme(several, scheme, model="k-anonymity:5", person="patient", rows="one").n_rows == 5


def test_whole_cells_are_left_out_up_to_the_share() -> None:
    given = Scheme(schema=two_cells().schema, promises=("k-anonymity:3",), parts=(Cut("age", 40), Cell(), Cell()))
    table = pl.DataFrame({"age": [20] * 6 + [60] * 2, "diagnosis": list("abcdefgh")})
    with pytest.raises(Infeasible, match=r"1 cell of 2 with 2 records of 8 .*--suppress 0.25"):
        la.apply_scheme(table, given)
    with pytest.raises(Infeasible):
        la.apply_scheme(table, given, suppress="0.2499")
    made = la.apply_scheme(table, given, suppress="0.25")
    assert made.release.withheld.n_suppressed == 2
    assert made.frame()["age"].to_list() == ["18..39"] * 6
    with pytest.raises(Infeasible, match="None of the 2 cells"):
        la.apply_scheme(table, given, model="k-anonymity:7", suppress=1)
    with pytest.raises(RecipeError, match="suppress"):
        la.apply_scheme(table, given, suppress=2)


def two_cells() -> Scheme:
    schema = la.Schema((AGE, la.Attribute(name="diagnosis", role=la.Role.SENSITIVE)))
    return Scheme(schema=schema, promises=("l-diversity:2",), parts=(Cut("age", 40), Cell(), Cell()))


def test_leaving_out_by_values_is_refused_against_somebody_who_knows_the_method() -> None:
    table = pl.DataFrame({"age": [20, 21, 60, 61], "diagnosis": ["flu", "cold", "flu", "HIV"]})
    with pytest.raises(Unsupported, match="someone who knows the method could tell"):
        la.apply_scheme(table, two_cells(), adversary=KNOWS_METHOD, suppress="0.1")
    assert la.apply_scheme(table, two_cells(), adversary=KNOWS_METHOD).adversary == KNOWS_METHOD
    sizes = la.apply_scheme(table, two_cells(), adversary=KNOWS_METHOD, suppress="0.5", model="k-anonymity:2")
    assert sizes.audit.adversary == KNOWS_METHOD
    by_visits = table.with_columns(patient=pl.Series([1, 2, 1, 3]))
    with pytest.raises(Unsupported, match="one row per person only"):
        la.apply_scheme(by_visits, two_cells(), adversary=KNOWS_METHOD, person="patient")


def test_exact_beliefs_of_somebody_who_knows_the_rule() -> None:
    """All worlds of 2 + 3 persons in two cells, three values: l-diversity:2 decides which cells are published."""
    cells, values = [(0, 1), (2, 3, 4)], range(3)
    seen = defaultdict[object, list[tuple[int, ...]]](list)
    for world in itertools.product(values, repeat=5):
        shown = []
        for members in cells:
            own = sorted(world[person] for person in members)
            passes = max(own.count(value) for value in own) * 2 <= len(own)
            shown.append(tuple(own) if passes else None)
        seen[tuple(shown)].append(world)
    n_left_out = 0
    for shown, worlds in seen.items():
        for members, own in zip(cells, shown, strict=True):  # type: ignore[call-overload]
            for person, value in itertools.product(members, values):
                belief = Fraction(sum(world[person] == value for world in worlds), len(worlds))
                if own is not None:
                    # Of a published cell: what its rows say, and nothing more.
                    assert belief == Fraction(own.count(value), len(own)) <= Fraction(1, 2)
            if own is None:
                # Of a cell that is left out: that two of its persons are alike is more likely than before.
                alike = Fraction(sum(world[members[0]] == world[members[1]] for world in worlds), len(worlds))
                assert alike > Fraction(1, 3)
                n_left_out += 1
    assert n_left_out


def test_the_audit_catches_a_cell_that_does_not_keep_the_promise() -> None:
    table = pl.DataFrame({"age": [20, 21, 22, 60], "diagnosis": ["flu", "cold", "HIV", "flu"]})
    made = la.apply_scheme(table, two_cells(), model="k-anonymity:3", suppress="0.25").made
    assert isinstance(made, MadeWhole)
    located = two_cells().locate(made.data)
    planted = Grouped(
        domains=made.data.domains,
        extents=two_cells().extents(made.data.domains.quasi, located),
        group_of_row=located.cell_of_record,
        sensitive=made.data.sensitive,
        carried=made.data.carried,
        withheld=Withheld(),
    )
    found = verify(made.data, planted, made.promises)
    assert not found.passed
    assert [verdict.passed for verdict in found.verdicts] == [False]


def test_tests_of_groups_agree_with_counting() -> None:
    table = pl.DataFrame({"age": [20] * 5, "diagnosis": ["flu", "flu", "cold", "HIV", "flu"]})
    made = la.apply_scheme(table, two_cells(), model="k-anonymity:2").made
    assert isinstance(made, MadeWhole)
    data = made.data
    promises = [la.LDiversity(2).requirement(data.prior(0), data.domains.sensitive[0], 0)]
    keeps = group_test(data, promises)
    for size in range(1, 6):
        for rows in itertools.combinations(range(5), size):
            codes = data.sensitive[list(rows), 0].tolist()
            assert keeps(np.array(rows)) == (max(map(codes.count, codes)) * 2 <= size)


def test_a_method_without_a_scheme_makes_nothing(scheme: Path) -> None:
    with pytest.raises(Unsupported, match="lookalike apply SCHEME DATA"):
        la.publish(patients(50), model="k-anonymity:5", algorithm="fixed-cells", **COLUMNS)
    assert str(FixedCells("0.05").over(la.read_scheme(scheme))) == "fixed-cells:suppress=0.05"


def test_tables_that_do_not_fit_the_scheme(scheme: Path) -> None:
    with pytest.raises(la.SchemaError, match='no column "zip"'):
        la.apply_scheme(patients(50).drop("zip"), scheme)
    with pytest.raises(DataError, match="age"):
        la.apply_scheme(patients(50).with_columns(age=pl.col("age") + 0.5), scheme)
    with pytest.raises(RecipeError, match="promises nothing"):
        la.apply_scheme(patients(50), Scheme(schema=two_cells().schema, parts=(Cell(),)))


def test_a_scheme_is_written_after_its_release_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "scheme.yaml"
    made = la.publish(patients(100), model="k-anonymity:10", scheme_out=path, **COLUMNS)
    assert not path.exists()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(RecipeError):
        made.write(tmp_path / "taken")
    assert not path.exists()
    made.write(tmp_path / "release", report="brief")
    assert path.exists()
    with pytest.raises(RecipeError, match="exists already"):
        made.write(tmp_path / "second", report="brief")
    assert not (tmp_path / "second").exists()
    with pytest.raises(RecipeError, match="exists already"):
        la.publish(patients(100), model="k-anonymity:10", scheme_out=path, out=tmp_path / "second", **COLUMNS)
    with pytest.raises(RecipeError, match="all groups at once"):
        la.publish(
            patients(3000),
            model="k-anonymity:10",
            scheme_out=tmp_path / "x.yaml",
            part_rows=1000,
            out=tmp_path / "p",
            **COLUMNS,
        )
