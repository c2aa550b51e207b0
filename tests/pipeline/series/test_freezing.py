"""Series in mode frozen, month by month: rows wait, gone rows stay until they may leave, the audit of all releases."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.audit.paths import ABSENT
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.data.scheme import Scheme
from lookalike.errors import AuditFailed, Infeasible, RecipeError, Unsupported
from lookalike.pipeline.series import freezing
from lookalike.pipeline.series.check import Now
from lookalike.pipeline.series.freezing import hold_frozen
from lookalike.pipeline.series.frozen import plan_batch
from tests.data.test_scheme import AGE

SCHEME = Scheme(
    schema=Schema((AGE, Attribute(name="diagnosis", role=Role.SENSITIVE), Attribute(name="patient", role=Role.PERSON))),
    promises=("k-anonymity:3",),
    starts={"age": (50,)},
)


def table(*people: tuple[int, int, str]) -> pl.DataFrame:
    return pl.DataFrame(people, schema=["patient", "age", "diagnosis"], orient="row")


def month(frame: pl.DataFrame, folder: Path, name: str, **asked: Any) -> la.Publication:
    made = la.apply_scheme(frame, SCHEME, series="stays", mode="frozen", destination=folder / name, **asked)
    made.write(folder / name, report="brief")
    return made


YOUNG = [(number, 20 + number, diagnosis) for number, diagnosis in enumerate(["flu", "cold", "HIV", "flu", "asthma"])]
OLD = [(10 + number, 60 + number, diagnosis) for number, diagnosis in enumerate(["flu", "cold", "HIV"])]
NEW_OLD = [(20 + number, 70 + number, diagnosis) for number, diagnosis in enumerate(["flu", "cold", "HIV", "asthma"])]
ALONE = (30, 30, "HIV")


def test_example_e_month_by_month(tmp_path: Path) -> None:
    first = month(table(*YOUNG, *OLD), tmp_path, "january")
    assert first.n_rows == 8
    # Cell A gets one row, cell B four: the one waits, and nothing in the folder says so.
    second = month(table(*YOUNG, *OLD, ALONE, *NEW_OLD), tmp_path, "february")
    assert second.frame()["age"].value_counts().sort("age").rows() == [("18..49", 5), ("50..90", 7)]
    assert any("4 of 5 new rows published, 1 row waiting" in note for note in second.notes)
    said = "".join(
        path.read_text() for path in (tmp_path / "february").iterdir() if path.suffix in (".json", ".txt", ".yaml")
    )
    assert "wait" not in said
    # With two more the three are a group, and all of them appear.
    third = month(table(*YOUNG, *OLD, ALONE, *NEW_OLD, (31, 31, "flu"), (32, 32, "cold")), tmp_path, "march")
    assert third.n_rows == 15
    assert any("keeps its promises in 3 releases" in note for note in third.notes)


def test_one_who_left_alone_stays_until_more_leave(tmp_path: Path) -> None:
    many = [*YOUNG, *((40 + number, 40, "flu") for number in range(3))]
    month(table(*many, *OLD), tmp_path, "january")
    with pytest.raises(Infeasible, match="1 published row gone from the table may not leave yet"):
        month(table(*many[1:], *OLD), tmp_path, "february")
    assert not (tmp_path / "february").exists()
    # Three may leave together, and five stay behind.
    left = month(table(*many[3:], *OLD), tmp_path, "february")
    assert left.n_rows == 8
    # They never come back.
    back = month(table(*many, *OLD), tmp_path, "march")
    assert back.n_rows == 8
    assert any("3 persons who left the series and came back stay out of it" in note for note in back.notes)


def test_a_weaker_promise_later_does_not_end_an_earlier_one(tmp_path: Path) -> None:
    month(table(*YOUNG, *OLD, *NEW_OLD), tmp_path, "january")
    # Two leave: enough for what is promised now, too few for what was promised to them.
    with pytest.raises(Infeasible, match="2 published rows gone from the table may not leave yet"):
        month(table(*YOUNG, *OLD, *NEW_OLD[2:]), tmp_path, "february", model="k-anonymity:2")
    # Newcomers keep the stricter promise, too: a reader cannot tell which release promised it to them.
    made = month(table(*YOUNG, *OLD, *NEW_OLD, ALONE, (31, 31, "flu")), tmp_path, "february", model="k-anonymity:2")
    assert made.n_rows == 12


def test_values_of_those_who_are_gone_are_held_to_the_promise(tmp_path: Path) -> None:
    people = [(number, 20 + number, diagnosis) for number, diagnosis in enumerate(["flu", "flu", "cold", "HIV"])]
    month(table(*people), tmp_path, "january", model="l-diversity:2")
    # The two with flu would leave together: anyone who knows that they left knows their diagnosis.
    with pytest.raises(Infeasible, match="2 published rows"):
        month(table(*people[2:]), tmp_path, "february", model="l-diversity:2")
    assert month(table(*people[1:3]), tmp_path, "february", model="l-diversity:2").n_rows == 2


STAY, GO = [(1, 20, "flu"), (2, 21, "cold")], [(3, 22, "flu"), (4, 23, "HIV")]
COME = [(5, 24, "flu"), (6, 25, "asthma")]


def beliefs_over_all_worlds(january: list[str], february: list[str]) -> dict[str, Fraction]:
    """Of each value, the certainty that a person who stays has it: all ways to give values to 1, 2, 3, 4 and to 5,
    6.
    """
    counts: Counter[str] = Counter()
    n_worlds = 0
    for before in set(itertools.permutations(january)):
        for after in set(itertools.permutations(february)):
            if before[:2] == after[:2]:
                n_worlds += 1
                counts[before[0]] += 1
    return {value: Fraction(count, n_worlds) for value, count in counts.items()}


def test_rows_do_not_come_and_go_at_once_under_promises_on_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [[row[2] for row in rows] for rows in (STAY, GO, COME)]
    # Those who stay, who go and who come are diverse, each pair by itself; the sums say more.
    assert beliefs_over_all_worlds(values[0] + values[1], values[0] + values[2])["flu"] == Fraction(2, 3)
    month(table(*STAY, *GO), tmp_path, "january", model="l-diversity:2")
    second = month(table(*STAY, *COME), tmp_path, "february", model="l-diversity:2")
    assert sorted(second.frame()["diagnosis"].to_list()) == ["cold", "flu"]
    third = month(table(*STAY, *COME), tmp_path, "march", model="l-diversity:2")
    assert third.n_rows == 4
    # The audit catches it without the rule.
    monkeypatch.setattr(freezing, "plan_batch", lambda rows, keeps, about_values: plan_batch(rows, keeps))
    (tmp_path / "other").mkdir()
    asked = {"model": "l-diversity:2", "series": "other", "mode": "frozen"}
    la.apply_scheme(table(*STAY, *GO), SCHEME, destination=tmp_path / "other" / "1", **asked).write(
        tmp_path / "other" / "1", report="brief"
    )
    with pytest.raises(AuditFailed, match=r"reach diagnosis=l-diversity:2 only up to 1\b"):
        la.apply_scheme(table(*STAY, *COME), SCHEME, destination=tmp_path / "other" / "2", **asked)


def test_people_who_move_to_another_cell_are_named_in_the_refusal(tmp_path: Path) -> None:
    month(table(*YOUNG, *OLD), tmp_path, "january")
    moved = [(0, 80, "flu"), *YOUNG[1:]]
    with pytest.raises(AuditFailed, match="1 person moved to another cell"):
        month(table(*moved, *OLD), tmp_path, "february")
    # Within the cell nothing is seen.
    assert month(table((0, 30, "flu"), *YOUNG[1:], *OLD), tmp_path, "february").n_rows == 8


def test_a_waiting_row_does_not_show_in_any_file(tmp_path: Path) -> None:
    """Two series that differ in a waiting row alone: its number with decimals must not change a column's type."""
    files = []
    for name, extra in (("without", []), ("with", [(30, 30, "2.5")])):
        (tmp_path / name).mkdir()
        for number, more in enumerate(([], extra), start=1):
            rows = [(one, age, str(one % 3 + 1)) for one, age, _ in (*YOUNG, *OLD, *NEW_OLD)]
            lines = [f"{one},{age},{value}" for one, age, value in [*rows, *more]]
            source = tmp_path / name / f"{number}.csv"
            source.write_text("\n".join(["patient,age,diagnosis", *lines]) + "\n")
            made = la.apply_scheme(
                source, SCHEME, series=f"stays {name}", mode="frozen", destination=tmp_path / name / f"r{number}",
                seed=number,
            )  # fmt: skip
            made.write(tmp_path / name / f"r{number}", report="brief")
        assert any("1 row waiting" in note for note in made.notes) == bool(extra)
        files.append({path.name: path.read_bytes() for path in (tmp_path / name / "r2").iterdir()})
    assert files[0] == files[1]


def test_corrections_and_other_schemes_are_refused(tmp_path: Path) -> None:
    month(table(*YOUNG, *OLD), tmp_path, "january")
    with pytest.raises(AuditFailed, match="The values of 1 person have changed"):
        month(table((0, 20, "asthma"), *YOUNG[1:], *OLD), tmp_path, "february")
    other = Scheme(schema=SCHEME.schema, promises=SCHEME.promises, starts={"age": (60,)})
    with pytest.raises(RecipeError, match="another scheme"):
        la.apply_scheme(table(*YOUNG, *OLD), other, series="stays", destination=tmp_path / "february")
    with pytest.raises(RecipeError, match="rows wait instead"):
        month(table(*YOUNG, *OLD), tmp_path, "february", suppress="0.1")
    with pytest.raises(RecipeError, match="lookalike apply scheme.yaml"):
        la.publish(
            table(*YOUNG), qi=["age"], sensitive="diagnosis", person="patient", model="k-anonymity:2", series="other",
            mode="frozen", destination=tmp_path / "x",
        )  # fmt: skip


def test_what_waiting_tells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="learns from it"):
        month(table(*YOUNG, *OLD), tmp_path, "january", model="l-diversity:2", adversary=KNOWS_METHOD)
    with pytest.raises(Unsupported, match="change with every batch"):
        month(table(*YOUNG, *OLD), tmp_path, "january", model="beta-likeness:4")
    assert month(table(*YOUNG, *OLD), tmp_path, "january", adversary=KNOWS_METHOD).audit.adversary == KNOWS_METHOD


def test_the_audit_of_the_series_does_not_trust_the_rule(tmp_path: Path) -> None:
    month(table(*YOUNG, *OLD), tmp_path, "january")
    planned = la.apply_scheme(table(*YOUNG, *OLD, *NEW_OLD), SCHEME, series="stays", destination=tmp_path / "february")
    step = planned.step
    assert step is not None
    assert step.now is not None
    assert step.data is not None
    assert hold_frozen(step.before, step.now, step.data, "reads-release")
    # As if one of the new rows had been left out of the release and another one had come in alone.
    groups = step.now.groups.copy()
    groups[np.isin(np.array([*step.now.names]), ["20", "21", "22"])] = ABSENT
    planted = Now(contents=step.now.contents, groups=groups, names=step.now.names)
    with pytest.raises(AuditFailed, match="k-anonymity:3 only up to 1"):
        hold_frozen(step.before, planted, step.data, "reads-release")
