"""Control groups of a publication: held out by share or given as a table, kept, and left out of the original again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.apps.samples import hospital, to_csv
from lookalike.attacks import parse_attack
from lookalike.errors import DataError, RecipeError
from lookalike.evaluation.protocol import read_protocol
from lookalike.files.releases.private import read_held_out

ROLES: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": "diagnosis"}
READER = "inference:attacker=reader"


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    to_csv(hospital(400, seed=5), tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


@pytest.fixture
def others(tmp_path: Path) -> Path:
    to_csv(hospital(310, seed=6), tmp_path / "others.csv")
    return tmp_path / "others.csv"


@pytest.fixture
def held_out(patients: Path, tmp_path: Path) -> Path:
    made = la.publish(patients, model="k-anonymity:4", control=0.25, seed=3, **ROLES)
    made.write(tmp_path / "release", report="brief")
    return tmp_path / "release"


def test_the_release_is_about_the_other_people(patients: Path, held_out: Path) -> None:
    private = held_out.parent / "release PRIVATE"
    known = read_held_out(private)
    assert known is not None
    rows, n_rows = known
    assert (len(rows), n_rows) == (100, 400)
    frame = pl.read_csv(patients, infer_schema=False)
    kept = pl.read_csv(private / "control.csv", infer_schema=False)
    assert kept["age"].to_list() == frame["age"].gather(rows).to_list()
    assert kept["diagnosis"].to_list() == frame["diagnosis"].gather(rows).to_list()
    assert la.open_release(held_out).count({}).value == 300
    manifest = json.loads((held_out / "datapackage.json").read_text())
    assert manifest["lookalike"]["held_out"] == "0.25"
    assert "A share of 0.25 of the people" in (held_out / "README.txt").read_text()
    assert "control.csv" in (private / "README.txt").read_text()


def test_an_audit_knows_who_is_not_in_it(patients: Path, held_out: Path) -> None:
    private = held_out.parent / "release PRIVATE"
    found = la.verify(patients, held_out, private=private)
    assert found.passed, str(found)
    assert found.n_records == 300
    assert any("a share of 0.25" in said for said in found.grounds.stated)  # type: ignore[union-attr]
    alone = la.verify(patients, held_out)
    assert not alone.passed
    assert "--private DIR" in " ".join(alone.notes)


def test_an_audit_against_the_table_that_lacks_them_already(patients: Path, held_out: Path, tmp_path: Path) -> None:
    rows, _ = read_held_out(held_out.parent / "release PRIVATE")  # type: ignore[misc]
    frame = pl.read_csv(patients, infer_schema=False)
    left = np.setdiff1d(np.arange(len(frame)), rows)
    frame[left].write_csv(tmp_path / "reduced.csv")
    assert la.verify(tmp_path / "reduced.csv", held_out).passed
    assert la.verify(tmp_path / "reduced.csv", held_out, private=held_out.parent / "release PRIVATE").passed


def test_another_table_is_not_the_one_that_they_were_drawn_from(others: Path, held_out: Path) -> None:
    with pytest.raises(DataError, match="held out of a table with 400"):
        la.attack(others, held_out, attacks=READER)


def test_measure_and_attack_find_the_private_folder(patients: Path, held_out: Path) -> None:
    assert la.measure(patients, held_out).n_rows == 300
    found = la.attack(patients, held_out, attacks=READER, seed=1)
    residual = found.made[0].finding.residual
    assert residual is not None
    assert residual.control_n == residual.n == 100
    own = la.attack(patients, held_out, attacks=READER, seed=1, control=held_out.parent / "release PRIVATE/control.csv")
    assert own.made[0].finding.residual == residual


def test_a_private_folder_of_another_release_is_refused(patients: Path, held_out: Path, tmp_path: Path) -> None:
    la.publish(patients, model="k-anonymity:4", control=0.25, **ROLES).write(tmp_path / "second", report="brief")
    with pytest.raises(DataError, match="belongs to another release"):
        la.verify(patients, held_out, private=tmp_path / "second PRIVATE")


def test_the_draw_does_not_depend_on_values_and_repeats_with_the_seed(patients: Path) -> None:
    first, second = (la.publish(patients, model="k-anonymity:4", control=0.25, seed=3, **ROLES) for _ in range(2))
    assert first.held_out is not None
    assert second.held_out is not None
    assert (first.held_out.rows == second.held_out.rows).all()
    values = la.publish(patients, model="k-anonymity:4", control=0.25, seed=3, qi="age", sensitive="sex")
    assert values.held_out is not None
    assert (values.held_out.rows == first.held_out.rows).all()
    another = la.publish(patients, model="k-anonymity:4", control=0.25, **ROLES)
    assert another.held_out is not None
    assert not np.array_equal(another.held_out.rows, first.held_out.rows)


def test_values_that_only_held_out_people_have_are_not_in_the_release(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": list(range(200)), "sex": ["f", "m"] * 100, "diagnosis": ["a", "b", "c", "d"] * 50})
    made = la.publish(frame, model="k-anonymity:4", control=0.5, ends="exact", **ROLES)
    assert made.held_out is not None
    ages = made.made.domains.quasi[0].values.tolist()  # type: ignore[union-attr]
    assert not set(ages) & set(frame["age"].gather(made.held_out.rows).to_list())


def test_persons_are_held_out_whole(tmp_path: Path) -> None:
    visits = pl.DataFrame(
        {
            "patient": [n // 3 for n in range(240)],
            "age": [20 + (n // 3) % 40 for n in range(240)],
            "sex": ["f" if (n // 3) % 2 else "m" for n in range(240)],
            "diagnosis": [f"d{(n * 7) % 9}" for n in range(240)],
        }
    )
    made = la.publish(visits, person="patient", model="k-anonymity:3", control=0.25, **ROLES)
    made.write(tmp_path / "visits", report="brief")
    assert made.held_out is not None
    patients = visits["patient"].to_numpy()
    gone = set(patients[made.held_out.rows].tolist())
    assert len(gone) == 20
    assert len(made.held_out.rows) == 60
    control = made.made.control  # type: ignore[union-attr]
    assert control is not None
    assert control.n_persons == 20
    assert la.verify(visits, tmp_path / "visits", private=tmp_path / "visits PRIVATE").passed
    found = la.attack(visits, tmp_path / "visits", attacks=[READER, "singling-out", "linkability"])
    assert {attacked.finding.residual.control_n for attacked in found.made[:1]} == {20}  # type: ignore[union-attr]


def test_a_control_group_of_its_own(patients: Path, others: Path, tmp_path: Path) -> None:
    made = la.publish(patients, model="k-anonymity:4", control=others, **ROLES)
    assert made.held_out is None
    assert made.n_rows == 400
    assert made.made.control is not None  # type: ignore[union-attr]
    evaluated = made.evaluate()
    found = {attacked.finding.attack: attacked.finding for attacked in evaluated.attacks.made}
    for name in ("singling-out", "linkability", "inference", "naive-bayes", "learner", "definetti"):
        residual = found[name].residual
        assert residual is not None, name
        assert residual.control_n, name
    made.write(tmp_path / "release", report="brief")
    assert "held_out" not in (tmp_path / "release" / "datapackage.json").read_text()
    assert la.verify(patients, tmp_path / "release").passed


def test_the_same_people_are_no_control_group(patients: Path) -> None:
    with pytest.raises(DataError, match="may be the same people"):
        la.publish(patients, model="k-anonymity:4", control=patients, **ROLES, carry="zip code")


@pytest.mark.parametrize("share", [0, 1, "1.5"])
def test_a_share_lies_between_0_and_1(patients: Path, share: object) -> None:
    with pytest.raises(RecipeError, match="share between 0 and 1"):
        la.publish(patients, model="k-anonymity:4", control=share, **ROLES)


def test_people_who_are_held_out_must_be_kept(patients: Path, tmp_path: Path) -> None:
    made = la.publish(patients, model="k-anonymity:4", control=0.25, **ROLES)
    with pytest.raises(RecipeError, match="PRIVATE folder"):
        made.write(tmp_path / "release", private=False)
    with pytest.raises(RecipeError, match="nothing private is"):
        made.write("s3://bucket/release")
    with pytest.raises(RecipeError, match="keeps them"):
        made.write_tables(tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_parts_and_series_hold_nobody_out(patients: Path, others: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="in parts, so it has no control group"):
        la.publish(patients, model="k-anonymity:4", control=0.25, part_rows=1000, out=tmp_path / "parts", **ROLES)
    with pytest.raises(RecipeError, match="held against others"):
        la.publish(patients, model="k-anonymity:4", control=0.25, series="s", destination=tmp_path / "one", **ROLES)


def test_a_protocol_is_written_and_repeated(patients: Path, others: Path, held_out: Path, tmp_path: Path) -> None:
    file = tmp_path / "protocol.yaml"
    asked = [READER, "linkability", "possible-worlds"]
    first = la.attack(patients, held_out, attacks=asked, protocol=file)
    assert "for internal use only" in first.notes[-1]
    kept = read_protocol(file)
    assert kept is not None
    assert set(kept.attacks) == {"inference:attacker=reader", "linkability", "possible-worlds"}
    assert "possible-worlds" in kept.not_made
    assert "2 attackers (inference, linkability) made" in kept.what_was_tried
    assert "a control group of 100" in kept.what_was_tried
    text = file.read_text()
    for value in set(pl.read_csv(patients)["diagnosis"].to_list()):
        assert value not in text
    again = la.attack(patients, held_out, protocol=file)
    assert again.notes[-1].endswith("the figures are the same.")
    assert [one.finding.sentence for one in again.made] == [one.finding.sentence for one in first.made]
    changed = la.attack(patients, held_out, protocol=file, control=others)
    assert "The control group is not the one of" in " ".join(changed.notes)
    assert "other figures" in changed.notes[-1]
    with pytest.raises(RecipeError, match="Leave these out"):
        la.attack(patients, held_out, attacks=READER, protocol=file)


def test_a_file_that_is_no_protocol_is_refused(patients: Path, held_out: Path, tmp_path: Path) -> None:
    file = tmp_path / "protocol.yaml"
    for text, said in (
        ("a: 1", "is no protocol"),
        ("protocol: 9\nversion: 9.0.0", "has format 9"),
        ("protocol: 1\nattacks: 3", "It was changed"),
        ("a: [", "is no YAML"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=said):
            la.attack(patients, held_out, protocol=file)


def test_synthetic_records_are_attacked_without_rows_of_persons(patients: Path, others: Path, tmp_path: Path) -> None:
    made = la.synthesize(patients, epsilon=5, **ROLES)
    made.write(tmp_path / "synthetic.csv")
    schema = la.Schema.of(**ROLES)
    found = la.attack(patients, tmp_path / "synthetic.csv", synthetic=True, control=others, schema=schema, seed=1)
    assert {one.finding.attack for one in found.made} == {"singling-out", "linkability", "inference"}
    assert "nobody's" in found.not_made["homogeneity"]
    for attacked in found.made:
        residual = attacked.finding.residual
        assert residual is not None
        # Records are drawn anew each time, and an interval of 95 % misses now and then, by little.
        assert residual.low is not None
        assert residual.low < 0.05, attacked.finding.sentence
    with pytest.raises(RecipeError, match="which column is what"):
        la.attack(patients, tmp_path / "synthetic.csv", synthetic=True)


def test_the_table_itself_as_synthetic_records_gives_everything_away(patients: Path, others: Path) -> None:
    schema = la.Schema.of(**{**ROLES, "qi": ["age", "sex", "zip code"]})
    found = la.attack(
        patients, patients, synthetic=True, control=others, schema=schema, attacks=["singling-out:kind=exact", READER]
    )
    exact, read = (one.finding.residual for one in found.made)
    assert exact is not None
    assert read is not None
    keys = pl.read_csv(patients, infer_schema=False).group_by("age", "sex", "zip code").len()
    assert read.share > 0.7
    alone = int((keys["len"] == 1).sum())
    whole = la.attack(patients, patients, synthetic=True, schema=schema, attacks="singling-out:kind=exact").made[0]
    assert whole.finding.score is not None
    assert (whole.finding.score.n_guesses, whole.finding.score.n_right) == (400, alone)


def test_a_table_of_another_tool_has_a_control_group_too(patients: Path, others: Path, tmp_path: Path) -> None:
    made = la.publish(patients, model="k-anonymity:4", **ROLES)
    made.to_polars().write_csv(tmp_path / "foreign.csv")
    found = la.attack(patients, tmp_path / "foreign.csv", control=others, attacks=READER, schema=la.Schema.of(**ROLES))
    assert found.made[0].finding.residual is not None
    assert found.made[0].finding.residual.control_n == 310
    assert parse_attack(READER).name == "inference"
