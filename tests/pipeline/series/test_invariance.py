"""m-invariant series: exact probabilities over all worlds, random series of 50 persons, values that nobody has any
more.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms.shared.m_invariant import MInvariant, Signature, fill_buckets
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped
from lookalike.data.schema import Schema
from lookalike.errors import AuditFailed, RecipeError, Unsupported
from lookalike.files.tables import read_table
from lookalike.pipeline.series.contents import read_contents
from lookalike.pipeline.series.ledger import read_ledger
from lookalike.pipeline.series.people import digest
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.pipeline.series.people_tables import QI, Patient, change, draw_patients, write

Group = tuple[frozenset[int], tuple[int, ...]]
"""Values shown, and the persons in the group."""


def groups_of(
    values: Sequence[int], persons: Sequence[int], signatures: dict[int, Signature], seed: int
) -> list[Group]:
    """The groups of one release by the method itself; `values` and `signatures` are by person."""
    schema = Schema.of(qi=["place"], sensitive="value", categorical=["value"])
    rows = {"place": list(persons), "value": [f"v{values[person]}" for person in persons]}
    data = Microdata.encode(read_table(_frame(rows)), schema)
    texts = list(data.domains.sensitive[0].texts)
    wanted = sorted({f"v{value}" for signature in signatures.values() for value in signature} | set(texts))
    data = _over(data, wanted)
    code_of = {int(text[1:]): code for code, text in enumerate(wanted)}
    known = {
        record: tuple(sorted(code_of[value] for value in signatures[person]))
        for record, person in enumerate(persons)
        if person in signatures
    }
    release, record_map = MInvariant(2).over(known, {}).anonymize(data, (), Randomness(seed), silent)
    assert isinstance(release, Grouped)
    value_of = {code: value for value, code in code_of.items()}
    found = []
    for group in range(int(release.group_of_row.max()) + 1):
        rows_of = np.flatnonzero(release.group_of_row == group)
        shown = frozenset(value_of[code] for code in release.sensitive[rows_of, 0].tolist())
        assert len(shown) == len(rows_of)
        members = tuple(persons[record] for record in record_map.record_of_row[rows_of].tolist() if record >= 0)
        found.append((shown, members))
    return found


def _frame(columns: dict[str, list[object]]) -> object:
    return pl.DataFrame(columns)


def _over(data: Microdata, texts: list[str]) -> Microdata:
    from dataclasses import replace

    from lookalike.pipeline.series.invariance import extend_domain

    domain, codes = extend_domain(data.domains.sensitive[0], data.sensitive[:, 0], texts)
    return replace(data, domains=replace(data.domains, sensitive=(domain,)), sensitive=codes[:, None])


def beliefs(
    releases: Sequence[Sequence[Group]], n_persons: int, weights: Sequence[Fraction]
) -> list[dict[int, Fraction]]:
    """Of each person, over all tables that fit all releases; a table weighs as its values' weights multiplied."""
    n_values = len(weights)
    total = Fraction(0)
    found: list[dict[int, Fraction]] = [dict.fromkeys(range(n_values), Fraction(0)) for _ in range(n_persons)]
    for world in itertools.product(range(n_values), repeat=n_persons):
        fits = all(
            len({world[person] for person in members}) == len(members)
            and all(world[person] in shown for person in members)
            for groups in releases
            for shown, members in groups
        )
        if fits:
            weight = Fraction(1)
            for value in world:
                weight *= weights[value]
            total += weight
            for person, value in enumerate(world):
                found[person][value] += weight
    return [{value: weight / total for value, weight in one.items()} for one in found]


EVEN = [Fraction(1)] * 4


@pytest.mark.parametrize("seed", range(20))
def test_each_value_of_the_signature_is_equally_likely_over_all_worlds(seed: int) -> None:
    """Four persons, two leave and two come, another leaves: three releases, all worlds of six persons and 4 values."""
    drawn = Randomness(seed).child("values").integers(4, 6).tolist()
    values = [0, 1, *drawn[2:]]
    present = [(0, 1, 2, 3), (0, 2, 4, 5), (0, 4, 5)]
    releases, signatures = [], dict[int, Signature]()
    for number, persons in enumerate(present):
        groups = groups_of(values, persons, signatures, seed * 10 + number)
        releases.append(groups)
        for shown, members in groups:
            signatures |= {person: tuple(sorted(shown)) for person in members}
    for person, found in enumerate(beliefs(releases, 6, EVEN)):
        signature = signatures.get(person)
        if signature is None:
            continue
        assert len(signature) >= 2
        assert {value for value, belief in found.items() if belief} == set(signature)
        assert {belief for belief in found.values() if belief} == {Fraction(1, len(signature))}


def test_who_knows_how_frequent_values_are_becomes_surer() -> None:
    """x flu and y HIV, y leaves, z HIV comes: flu 9 times as frequent as HIV makes x a bearer of HIV with 9 in 10.

    The limit that docs/series.md states: the promise takes values to be equally likely beforehand.
    """
    hiv, flu = 0, 1
    releases: list[list[Group]] = [[(frozenset({hiv, flu}), (0, 1))], [(frozenset({hiv, flu}), (0, 2))]]
    even = beliefs(releases, 3, [Fraction(1), Fraction(1)])
    assert even[0] == {hiv: Fraction(1, 2), flu: Fraction(1, 2)}
    assert beliefs(releases, 3, [Fraction(1, 10), Fraction(9, 10)])[0][hiv] == Fraction(9, 10)
    # With a made-up row in place of z the share of the value itself remains.
    made_up: list[list[Group]] = [[(frozenset({hiv, flu}), (0,))]]
    assert beliefs(made_up, 1, [Fraction(1, 10), Fraction(9, 10)])[0][flu] == Fraction(9, 10)


def test_example_f_a_row_is_made_up_for_the_one_who_left() -> None:
    """m = 2. y leaves and z comes with another value: x is not put together with z, who waits."""
    hiv, flu, cold = 0, 1, 2
    first = groups_of([flu, hiv, cold], (0, 1), {}, seed=1)
    assert first == [(frozenset({hiv, flu}), first[0][1])]
    signatures = dict.fromkeys((0, 1), (hiv, flu))
    second = groups_of([flu, hiv, cold], (0, 2), signatures, seed=2)
    assert second == [(frozenset({hiv, flu}), (0,))]


def test_buckets_are_balanced_and_newcomers_come_before_made_up_rows() -> None:
    values = np.array([0, 0, 1, 2, 1, 2, 0], dtype=np.int32)
    signatures = {0: (0, 1), 1: (0, 1), 3: (1, 2)}
    buckets, waiting = fill_buckets(values, signatures, 2, Randomness(1))
    for signature, bucket in buckets.items():
        assert set(bucket) == set(signature)
        assert len({len(records) for records in bucket.values()}) == 1
    placed = [record for bucket in buckets.values() for records in bucket.values() for record in records]
    assert sorted([record for record in placed if record >= 0] + waiting) == list(range(7))
    # Two newcomers have value 1, and three are lacking: only one row of that value is made up.
    assert sum(record < 0 for record in placed) == 1


def publish(patients: Sequence[Patient], folder: Path, number: int, m: int = 3, **more: object) -> la.Publication:
    table = write(folder / f"{number}.csv", patients)
    made = la.publish(
        table,
        qi=QI,
        sensitive="diagnosis",
        person="patient",
        model=f"l-diversity:{m}",
        mode="m-invariant",
        destination=folder / f"release {number}",
        seed=number,
        **{"series": "people"} | more,
    )
    made.write(folder / f"release {number}")
    return made


@pytest.mark.parametrize("seed", range(10))
def test_fifty_persons_come_and_go(seed: int, tmp_path: Path) -> None:
    """Anyone who joins what the groups of a person share in all releases is left with the same m values or more."""
    rng, m = Randomness(seed).child("series"), 3
    patients = draw_patients(50, rng)
    values = {one.patient: one.diagnosis for one in patients}
    seen: dict[str, set[str | None]] = {}
    for number in range(1, 5):
        made = publish(patients, tmp_path, number, m)
        record_map, release = made.made.record_map, made.release
        contents, _, class_of_row = read_contents(tmp_path / f"release {number}")
        shown: dict[int, set[str | None]] = {}
        for group, text in contents.frame.select("group", "value of diagnosis").iter_rows():
            shown.setdefault(group, set()).add(text)
        assert all(len(texts) >= m for texts in shown.values())
        assert len(contents.frame) == release.n_rows
        for row, record in enumerate(record_map.record_of_row.tolist()):
            if record >= 0:
                name, own = patients[record].patient, shown[int(class_of_row[row])]
                assert values[name] in own
                assert seen.setdefault(name, own) == own
        rows, counts = np.unique(class_of_row, return_counts=True)
        real = np.unique(class_of_row[record_map.record_of_row >= 0], return_counts=True)[1]
        made_up = dict(zip(rows.tolist(), (counts - real).tolist(), strict=True))
        assert {group: count for group, count in made_up.items() if count} == contents.made_up
        patients = change(patients, 12, 9, rng.child(number), first=100 * number)
        values |= {one.patient: one.diagnosis for one in patients}
    ledger = read_ledger(tmp_path / "people SERIES PRIVATE")
    assert len(ledger.entries) == 4
    assert not any(entry.is_pending for entry in ledger.entries)


def test_a_corrected_person_gets_other_groups_if_the_old_ones_lack_the_value(tmp_path: Path) -> None:
    patients = draw_patients(30, Randomness(4))
    publish(patients, tmp_path, 1)
    lacking = next(text for text in ("HIV", "asthma", "cold") if text != patients[0].diagnosis)
    patients[0] = patients[0]._replace(diagnosis=lacking)
    again = publish(patients, tmp_path, 2)
    assert again.audit.passed
    third = publish(patients, tmp_path, 3)
    assert not any("with a value now" in note for note in third.notes)


def test_a_changed_value_is_not_found_by_comparing_the_groups_of_the_person() -> None:
    """x had HIV among flu and HIV, and has cold now: a group with cold and HIV or flu would tell one of the two."""
    flu, hiv, cold, gout = range(4)
    values, barred = np.array([cold, flu, hiv, gout, hiv], dtype=np.int32), {0: frozenset({flu, hiv})}
    for seed in range(20):
        buckets, waiting = fill_buckets(values, {}, 2, Randomness(seed), barred)
        own = [signature for signature, bucket in buckets.items() if 0 in bucket.get(cold, [])]
        assert waiting == [0] or not barred[0].intersection(*own)
    # With someone else's signature that lacks them there is a place.
    buckets, waiting = fill_buckets(values, {3: (cold, gout)}, 2, Randomness(1), barred)
    assert buckets[cold, gout][cold] == [0]
    assert 0 not in waiting
    # Nobody barred joins a group that is barred to them afterwards.
    late = np.array([cold, gout, flu, hiv, cold, gout], dtype=np.int32)
    for seed in range(20):
        buckets, _ = fill_buckets(late, {}, 2, Randomness(seed), {0: frozenset({flu}), 1: frozenset({hiv})})
        for signature, bucket in buckets.items():
            assert not (0 in bucket.get(cold, []) and flu in signature)
            assert not (1 in bucket.get(gout, []) and hiv in signature)


def group_of(folder: Path, person: str) -> set[str]:
    """The values of the group of a person, by the private list, which knows persons by nothing but their identifier."""
    private = folder.with_name(f"{folder.name} PRIVATE")
    key = (private / "people.key").read_text().strip()
    listed = pl.read_parquet(private / "people.parquet").filter(pl.col("person") == digest(key, "person", person))
    place = listed["group"].item()
    if place < 0:
        return set()
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["diagnosis"] for row in rows if row["group"] == rows[place]["group"]}


def test_corrections_in_written_releases_change_a_group_altogether_or_not_at_all(tmp_path: Path) -> None:
    patients, changed = draw_patients(30, Randomness(14)), 0
    for number in range(1, 5):
        publish(patients, tmp_path, number, m=2)
        if number > 1:
            for one in patients:
                before = group_of(tmp_path / f"release {number - 1}", one.patient)
                now = group_of(tmp_path / f"release {number}", one.patient)
                assert not before or not now or before == now or not before & now
                changed += bool(before and now and before != now)
        draw = np.random.default_rng(number)
        for place in draw.choice(len(patients), 6, replace=False).tolist():
            patients[place] = patients[place]._replace(diagnosis=str(draw.choice(["HIV", "asthma", "cold", "flu"])))
    assert changed


def test_a_group_that_shares_a_value_with_an_earlier_one_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = MInvariant.over
    monkeypatch.setattr(MInvariant, "over", lambda self, known, donors, barred: real(self, known, donors, {}))
    patients = draw_patients(30, Randomness(14))
    publish(patients, tmp_path, 1, m=2)
    signatures = {one.patient: group_of(tmp_path / "release 1", one.patient) for one in patients}
    for place, one in enumerate(patients):
        if signatures[one.patient]:
            other = next(text for text in ("HIV", "asthma", "cold") if text not in signatures[one.patient])
            patients[place] = one._replace(diagnosis=other)
    with pytest.raises(AuditFailed, match="shares values with an earlier one"):
        publish(patients, tmp_path, 2, m=2)


def test_tiny_tables_are_attacked_and_written(tmp_path: Path) -> None:
    """The attack goes through tables in which persons have values that their signature lacks: the method makes none."""
    patients = draw_patients(6, Randomness(3))
    publish(patients, tmp_path, 1, m=2)
    publish(patients[1:], tmp_path, 2, m=2)
    assert (tmp_path / "release 2" / "report.html").exists()


def test_values_that_nobody_has_now_are_made_up(tmp_path: Path) -> None:
    patients = draw_patients(30, Randomness(5))
    publish(patients, tmp_path, 1)
    left = [one for one in patients if one.diagnosis != "HIV"]
    made = publish(left, tmp_path, 2)
    assert made.release.withheld.n_dummies > 0
    assert "HIV" in (tmp_path / "release 2" / "release.csv").read_text()
    assert made.audit.passed
    again = la.verify(tmp_path / "2.csv", tmp_path / "release 2")
    assert again.passed, str(again)


def test_made_up_rows_carry_what_a_row_with_the_value_carries(tmp_path: Path) -> None:
    patients = draw_patients(30, Randomness(6))
    for number, table in enumerate((patients, patients[8:]), start=1):
        frame = pl.DataFrame(
            {
                **{name: [getattr(one, name) for one in table] for name in Patient._fields},
                "ward": [f"ward of {one.diagnosis}" for one in table],
            }
        )
        made = la.publish(
            frame,
            qi=QI,
            sensitive="diagnosis",
            carry=["ward"],
            carry_anyway=["ward"],
            person="patient",
            model="l-diversity:3",
            series="wards",
            mode="m-invariant",
            destination=tmp_path / f"r{number}",
            seed=number,
        )
        made.write(tmp_path / f"r{number}")
    shown = pl.read_csv(tmp_path / "r2" / "release.csv")
    assert made.release.withheld.n_dummies > 0
    assert (shown["ward"] == "ward of " + shown["diagnosis"]).all()


@pytest.mark.parametrize(
    ("changed", "kind", "said"),
    [
        ({"algorithm": "groups"}, RecipeError, "its own method"),
        ({"person": None}, RecipeError, "recognises people by the column"),
        ({"model": "k-anonymity:3"}, Unsupported, "promises l-diversity:m"),
        ({"model": "l-diversity:2.5"}, Unsupported, "whole m"),
        ({"adversary": "knows-method"}, Unsupported, "No algorithm serves"),
        ({"sensitive": ["diagnosis", "sex"], "qi": ["age"]}, Unsupported, "one sensitive column"),
    ],
)
def test_what_the_mode_cannot_keep_is_refused(
    changed: dict[str, object], kind: type[Exception], said: str, tmp_path: Path
) -> None:
    asked = {"qi": QI, "sensitive": "diagnosis", "person": "patient", "model": "l-diversity:3"} | changed
    with pytest.raises(kind, match=said):
        la.publish(
            write(tmp_path / "t.csv", draw_patients(20, Randomness(1))),
            series="people",
            mode="m-invariant",
            destination=tmp_path / "out",
            **asked,
        )
    assert not (tmp_path / "people SERIES PRIVATE").exists()


def test_another_m_is_refused(tmp_path: Path) -> None:
    patients = draw_patients(30, Randomness(7))
    publish(patients, tmp_path, 1)
    with pytest.raises(RecipeError, match="l-diversity:3"):
        publish(patients, tmp_path, 2, m=2)


def test_a_method_that_forgets_signatures_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patients = draw_patients(40, Randomness(8))
    publish(patients, tmp_path, 1)
    monkeypatch.setattr(MInvariant, "over", lambda self, *known: self)
    with pytest.raises(AuditFailed, match="another set of values"):
        publish(patients[6:], tmp_path, 2)
    assert not (tmp_path / "release 2").exists()
    assert len(read_ledger(tmp_path / "people SERIES PRIVATE").entries) == 1


def test_carried_columns_that_let_a_reader_follow_rows_are_refused(tmp_path: Path) -> None:
    """Two groups of releases that share one person would show the row of that person by what it carries."""
    patients = draw_patients(30, Randomness(6))
    frame = pl.DataFrame({name: [getattr(one, name) for one in patients] for name in Patient._fields})
    with pytest.raises(Unsupported, match="follow a row"):
        la.publish(
            frame.with_columns(days=pl.int_range(30)),
            qi=QI,
            sensitive="diagnosis",
            carry=["days"],
            person="patient",
            model="l-diversity:3",
            series="days",
            mode="m-invariant",
            destination=tmp_path / "out",
        )


def test_no_figure_tells_which_values_were_made_up(tmp_path: Path) -> None:
    """Two tables with flu and HIV exchanged: the folders say the same, although other values are made up."""
    import json

    said = []
    for exchanged in (False, True):
        folder = tmp_path / str(exchanged)
        folder.mkdir()
        patients = [
            one._replace(diagnosis="flu" if (place % 2 == 0) != exchanged else "HIV")
            for place, one in enumerate(draw_patients(20, Randomness(2)))
        ]
        publish(patients, folder, 1, m=2, series=f"people {exchanged}")
        made = publish([patients[1], *patients[::2]], folder, 2, m=2, series=f"people {exchanged}")
        assert made.release.withheld.n_dummies == 9
        assert la.verify(folder / "2.csv", folder / "release 2").passed
        assert made.audit.measured  # The owner sees all of it.
        report = json.loads((folder / "release 2" / "report.json").read_text())
        assert report["beliefs"] == []
        del report["examples"]
        said.append(((folder / "release 2" / "audit.json").read_text(), report))
    assert said[0] == said[1]


def test_a_release_with_people_who_wait_is_audited_again(tmp_path: Path) -> None:
    patients = [one._replace(diagnosis="flu") for one in draw_patients(12, Randomness(3))]
    patients[0] = patients[0]._replace(diagnosis="HIV")
    made = publish(patients, tmp_path, 1, m=2)
    second = publish(patients[2:], tmp_path, 2, m=2)
    assert made.release.withheld.n_suppressed
    assert second.release.withheld.n_dummies
    assert la.verify(tmp_path / "1.csv", tmp_path / "release 1").passed
    assert la.verify(tmp_path / "2.csv", tmp_path / "release 2").passed
