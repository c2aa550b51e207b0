"""Publishing people again: --after by three ways of recognising them, series in mode checked, the ledger."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lookalike as la
from lookalike.apps.samples import sample_table
from lookalike.errors import AuditFailed, DataError, LookalikeError, RecipeError, Unsupported
from lookalike.files.releases.private import private_folder
from lookalike.files.releases.write import NewRelease
from lookalike.pipeline.series.ledger import Ledger, read_ledger
from lookalike.pipeline.series.people import count_again
from lookalike.pipeline.series.publishing import Step
from lookalike.randomness import Randomness
from tests.pipeline.series.people_tables import QI, Patient, change, draw_patients, write


def publish(patients: Sequence[Patient], folder: Path, name: str, **more: object) -> la.Publication:
    asked: dict[str, object] = {
        "qi": QI,
        "sensitive": "diagnosis",
        "person": "patient",
        "model": ["k-anonymity:4", "l-diversity:2"],
        "algorithm": "mondrian-strict",
    } | more
    table = write(folder / f"{name}.csv", patients)
    made = la.publish(table, destination=folder / name, **asked)
    made.write(folder / name, report="full")
    return made


def test_the_bundled_sample_twice_is_refused_by_its_files_alone(tmp_path: Path) -> None:
    asked = {"qi": ["age", "sex", "zip code"], "sensitive": "diagnosis", "model": "l-diversity:5"}
    la.publish(sample_table(), algorithm="anatomy", seed=1, **asked).write(tmp_path / "one")
    with pytest.raises(AuditFailed, match="certain") as refused:
        la.publish(sample_table(), algorithm="anatomy", seed=2, after=tmp_path / "one", **asked)
    own = int(str(refused.value).split("diagnosis of ")[1].split(" ")[0].replace(",", ""))
    assert 250 <= own <= 350


def test_people_are_recognised_by_list_original_or_files_and_judged_alike(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", algorithm="anatomy", model="l-diversity:2")
    assert {path.name for path in private_folder(tmp_path / "one").iterdir()} >= {"people.parquet", "people.key"}
    later = [*patients[5:], *draw_patients(9, Randomness(2), first=100)]
    said = []
    for after, person in (
        (tmp_path / "one", "patient"),
        ((tmp_path / "one", tmp_path / "one.csv"), "patient"),
    ):
        with pytest.raises(AuditFailed) as refused:
            publish(
                later, tmp_path, "two", algorithm="anatomy", model="l-diversity:2", person=person, after=[after], seed=3
            )
        said.append(str(refused.value).splitlines()[1:])
    assert said[0] == said[1]
    with pytest.raises(AuditFailed):
        publish(later, tmp_path, "two", algorithm="anatomy", model="l-diversity:2", person=None, after=tmp_path / "one")
    assert not (tmp_path / "two").exists()


def test_other_people_after_a_release_are_published(tmp_path: Path) -> None:
    publish(draw_patients(60, Randomness(1)), tmp_path, "one")
    made = publish(draw_patients(60, Randomness(2), first=100), tmp_path, "two", after=tmp_path / "one")
    assert any("holds in all releases together" in note for note in made.notes)
    readme = (tmp_path / "two" / "README.txt").read_text()
    assert "earlier releases of the same people" in readme
    # What is checked is not disclaimed; releases that were not checked are.
    assert "not promised that someone" in readme
    assert "people which were not checked together with this one" in readme
    assert "two releases about" not in readme
    assert "two releases about" in (tmp_path / "one" / "README.txt").read_text()
    assert "earlier releases of the same people" in (tmp_path / "two" / "report.html").read_text()
    assert la.verify(tmp_path / "two.csv", tmp_path / "two").passed


@pytest.mark.parametrize("way", ["list", "original", "ledger"])
def test_how_many_people_were_found_again_is_said(way: str, tmp_path: Path) -> None:
    """Numbers that lost their leading zeros are nobody's, and the releases would be held together as of strangers."""
    patients = draw_patients(60, Randomness(1))
    others = draw_patients(60, Randomness(2), first=100)
    kept = {"series": "stays"} if way == "ledger" else {}
    publish(patients, tmp_path, "one", model="k-anonymity:2", **kept)
    after = {"list": tmp_path / "one", "original": [(tmp_path / "one", tmp_path / "one.csv")]}
    asked = kept or {"after": after[way]}
    made = publish(others, tmp_path, "two", model="k-anonymity:2", **asked)
    assert any(note.startswith("Nobody in the new table was in ") for note in made.notes)


def test_people_who_were_found_again_are_counted_once() -> None:
    said = count_again(["a", "b", "gone"], ["b", "a", "new"], "the series")
    assert said == "2 of 3 persons were in the series before (for internal use only)."


def test_what_is_needed_to_recognise_people_is_said_where_it_is_missing(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one")
    shutil.rmtree(private_folder(tmp_path / "one"))
    with pytest.raises(RecipeError, match="ORIGINAL"):
        publish(patients, tmp_path, "two", after=tmp_path / "one")
    with pytest.raises(DataError, match="does not belong to the original"):
        publish(patients, tmp_path, "two", after=[(tmp_path / "one", write(tmp_path / "x.csv", patients[5:]))])


@pytest.mark.parametrize(
    ("algorithm", "model", "form"),
    [("freeform", "k-anonymity:2", "matched"), ("perturbation", "beta-likeness:2", "perturbed")],
)
def test_forms_that_cannot_be_read_together_are_refused_with_the_reason(
    algorithm: str, model: str, form: str, tmp_path: Path
) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", algorithm=algorithm, model=model)
    with pytest.raises(Unsupported, match=form):
        publish(patients, tmp_path, "two", after=tmp_path / "one")
    publish(patients, tmp_path, "three")
    with pytest.raises(Unsupported, match="This release cannot be read together"):
        publish(patients, tmp_path, "two", after=tmp_path / "three", algorithm=algorithm, model=model)


def test_promises_about_values_against_who_knows_the_method_are_refused(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    asked = {"adversary": "knows-method", "algorithm": "groups"}
    with pytest.raises(Unsupported, match="diagnosis=l-diversity:2 is asked for against someone who knows"):
        publish(patients, tmp_path, "one", series="stays", **asked)
    others = draw_patients(60, Randomness(2), first=100)
    publish(patients, tmp_path, "sizes", model="k-anonymity:4", **asked)
    made = publish(others, tmp_path, "three", after=tmp_path / "sizes", model="k-anonymity:4", **asked)
    assert made.audit.adversary == "knows-method"


def test_an_earlier_promise_against_who_knows_the_method_is_not_held_against_readers_alone(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", adversary="knows-method", algorithm="groups")
    with pytest.raises(AuditFailed, match="of the release in .*one: promised against someone who knows the method"):
        publish(patients, tmp_path, "two", after=tmp_path / "one", algorithm="groups")
    others = draw_patients(60, Randomness(2), first=100)
    made = publish(others, tmp_path, "two", after=tmp_path / "one", algorithm="groups")
    assert any("of the release in" in note and "holds in all releases together" in note for note in made.notes)


def test_an_earlier_release_whose_files_differ_is_refused(tmp_path: Path) -> None:
    publish(draw_patients(60, Randomness(1)), tmp_path, "one")
    table = tmp_path / "one" / "release.csv"
    first, second, *rest = table.read_text().splitlines(keepends=True)
    old = second.strip().split(",")[-1]
    table.write_text("".join([first, second.replace(old, "cold" if old != "cold" else "flu"), *rest]))
    with pytest.raises(DataError, match="disagree"):
        publish(draw_patients(60, Randomness(2), first=100), tmp_path, "two", after=tmp_path / "one")


def test_a_changed_value_is_refused(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    patients[3] = patients[3]._replace(diagnosis="cold" if patients[3].diagnosis != "cold" else "flu")
    with pytest.raises(AuditFailed, match="values of 1 person have changed"):
        publish(patients, tmp_path, "two", series="stays")
    with pytest.raises(AuditFailed, match="values of 1 person have changed"):
        publish(patients, tmp_path, "two", after=tmp_path / "one")
    assert len(read_ledger(tmp_path / "stays SERIES PRIVATE").entries) == 1


def test_several_rows_of_a_person_are_refused(tmp_path: Path) -> None:
    patients = draw_patients(40, Randomness(1))
    with pytest.raises(RecipeError, match="--rows one"):
        publish([*patients, patients[0]._replace(age=30)], tmp_path, "one", series="stays", algorithm="mondrian")


@pytest.mark.parametrize("rows", ["apart", "linked"])
def test_an_earlier_release_with_several_rows_per_person_is_named_as_the_reason(rows: str, tmp_path: Path) -> None:
    """Whatever is said about the new table, nothing can be checked against such a release."""
    patients = draw_patients(40, Randomness(1))
    visits = [*patients, *(one._replace(age=one.age + 1) for one in patients[:10])]
    publish(visits, tmp_path, "one", model="k-anonymity:4", algorithm="groups", rows=rows)
    for after in (tmp_path / "one", (tmp_path / "one", tmp_path / "one.csv")):
        with pytest.raises(Unsupported, match="from the first release on"):
            publish(patients, tmp_path, "two", after=[after])


def test_the_row_of_a_person_that_was_published_is_found_in_an_original_with_several(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    visits = [*patients, *(one._replace(age=one.age + 1) for one in patients[:10])]
    one_each = {"rows": "one", "model": "k-anonymity:4", "algorithm": "groups"}
    publish(visits, tmp_path, "one", keep="first", seed=1, **one_each)
    publish(visits, tmp_path, "drawn", keep="random", **one_each)
    newcomers = draw_patients(30, Randomness(2), first=100)
    shutil.rmtree(private_folder(tmp_path / "one"))
    shutil.rmtree(private_folder(tmp_path / "drawn"))
    with pytest.raises(AuditFailed, match="not together with 1 earlier release"):
        publish(
            visits[:45], tmp_path, "two", keep="first", after=[(tmp_path / "one", tmp_path / "one.csv")], **one_each
        )
    publish(newcomers, tmp_path, "three", after=[(tmp_path / "one", tmp_path / "one.csv")], model="k-anonymity:4")
    with pytest.raises(RecipeError, match="Leave =ORIGINAL out"):
        publish(
            newcomers, tmp_path, "four", after=[(tmp_path / "drawn", tmp_path / "drawn.csv")], model="k-anonymity:4"
        )


@pytest.mark.parametrize("seed", range(10))
def test_fifty_persons_come_and_go_and_what_is_published_keeps_every_promise(seed: int, tmp_path: Path) -> None:
    """Releases that were let through, joined by their persons: nobody's possible values are fewer than promised."""
    rng = Randomness(seed).child("series")
    patients, published, refused = draw_patients(50, rng), 0, 0
    left: dict[str, set[str]] = {}
    for number in range(4):
        try:
            made = publish(patients, tmp_path, f"r{number}", series="stays", model="l-diversity:2", seed=number)
            published += 1
        except AuditFailed:
            refused += 1
        else:
            data, release = made.made.data, made.release
            texts = data.domains.sensitive[0].texts
            shown: dict[int, set[str]] = {}
            for group, code in zip(release.group_of_row.tolist(), release.sensitive[:, 0].tolist(), strict=True):
                shown.setdefault(group, set()).add(texts[code])
            for row, record in enumerate(made.made.record_map.record_of_row.tolist()):
                name, own = patients[record].patient, shown[int(release.group_of_row[row])]
                left[name] = left.get(name, own) & own
        leave, come = (0, 12) if seed % 2 else (25, 25)
        patients = change(patients, leave, come, rng.child(number), first=100 * (number + 1))
    assert published >= 1
    assert min(map(len, left.values())) >= 2
    assert len(read_ledger(tmp_path / "stays SERIES PRIVATE").entries) == published


def test_people_in_a_ledger_are_noticed_without_the_series(tmp_path: Path) -> None:
    patients = draw_patients(50, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    both = [*patients[:20], *draw_patients(40, Randomness(2), first=100)]
    assert any("20 of 60 persons" in note for note in publish(both, elsewhere, "two").notes)
    # The column that the ledger knows them by is enough, and it may have several rows per person.
    assert any("20 of 60 persons" in note for note in publish(both, elsewhere, "three", person=None).notes)
    again = [*both, *(one._replace(diagnosis="flu") for one in both)]
    for rows in ({"rows": "apart"}, {"rows_are_persons": True, "person": None}):
        made = publish(again, elsewhere, f"several {len(rows)}", model="k-anonymity:4", **rows)
        assert any("20 of 60 persons" in note for note in made.notes)
    # Without it whole rows are compared.
    frame = pl.DataFrame(both).drop("patient")
    made = la.publish(frame, qi=QI, sensitive="diagnosis", model="k-anonymity:4", destination=elsewhere / "five")
    (known,) = [note for note in made.notes if "WARNING" in note]
    assert 20 <= int(known.split()[1]) <= 30
    assert "of 60 records" in known
    few = [*patients[:5], *draw_patients(40, Randomness(2), first=100)]
    assert not any("WARNING" in note for note in publish(few, elsewhere, "four").notes)


def test_people_in_a_ledger_are_noticed_in_parts(tmp_path: Path) -> None:
    patients = draw_patients(2_000, Randomness(1))
    asked = {"qi": QI, "sensitive": "diagnosis", "person": "patient", "model": "k-anonymity:4", "algorithm": "mondrian"}
    table = write(tmp_path / "all.csv", patients)
    made = la.publish(table, series="stays", destination=tmp_path / "one", **asked)
    made.write(tmp_path / "one", report="brief")
    again = la.publish(table, part_rows=1_000, out=tmp_path / "two", **asked)
    assert any("2,000 of 2,000 persons" in note for note in again.notes)


def test_the_ledger_is_private_and_holds_no_identifier(tmp_path: Path) -> None:
    patients = draw_patients(50, Randomness(1))
    made = publish(patients, tmp_path, "one", series="stays")
    folder = tmp_path / "stays SERIES PRIVATE"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    state = Path(os.environ["XDG_STATE_HOME"]) / "lookalike" / "series.json"
    assert state.stat().st_mode & 0o777 == 0o600
    assert json.loads(state.read_text()) == {"ledgers": [str(folder.resolve())]}
    people = pl.read_parquet(folder / "people.parquet")
    assert not set(people["person"]) & {one.patient for one in patients}
    key = (folder / "series.key").read_text().strip()
    for path in (tmp_path / "one").iterdir():
        content = path.read_bytes()
        assert key.encode() not in content
        assert bytes.fromhex(key) not in content
        assert not any(one.encode() in content for one in people["person"].to_list())
    assert made.summary()["series"]["name"] == "stays"


def test_a_deleted_release_still_counts_and_an_edited_one_is_refused(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    kept = (tmp_path / "one" / "release.csv").read_text()
    (tmp_path / "one" / "release.csv").write_text(kept.replace("flu", "cold"))
    with pytest.raises(DataError, match="was edited"):
        publish(patients, tmp_path, "two", series="stays")
    shutil.rmtree(tmp_path / "one")
    with pytest.raises(AuditFailed):
        publish(patients, tmp_path, "two", series="stays", algorithm="anatomy", model="l-diversity:2")
    made = publish(draw_patients(60, Randomness(2), first=100), tmp_path, "three", series="stays")
    assert any("still counts" in note for note in made.notes)


def test_a_moved_ledger_is_found_where_it_is_named(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("one", "stays SERIES PRIVATE"):
        shutil.move(tmp_path / name, moved / name)
    others = draw_patients(60, Randomness(2), first=100)
    with pytest.raises(RecipeError, match="is gone"):
        publish(others, tmp_path, "two", series="stays")
    publish(others, tmp_path, "two", series=moved / "stays SERIES PRIVATE")
    assert [entry.number for entry in read_ledger(moved / "stays SERIES PRIVATE").entries] == [1, 2]


def test_another_schema_or_mode_under_the_same_name_is_refused(tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    with pytest.raises(RecipeError, match="columns, their roles or their kinds"):
        publish(patients, tmp_path, "two", series="stays", qi=["age"])
    with pytest.raises(RecipeError, match="kept in mode checked"):
        publish(patients, tmp_path, "two", series="stays", mode="m-invariant")
    with pytest.raises(RecipeError, match="cannot be the name"):
        publish(patients, tmp_path, "two", series="..")
    with pytest.raises(RecipeError, match="Name the series"):
        publish(patients, tmp_path, "two", mode="checked")
    with pytest.raises(RecipeError, match="--after"):
        publish(patients, tmp_path, "two", series="stays", after=tmp_path / "one")


@pytest.mark.parametrize("name", ["series.json", "people.parquet", "contents.parquet", "series.key"])
def test_a_changed_ledger_is_refused(name: str, tmp_path: Path) -> None:
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    path = tmp_path / "stays SERIES PRIVATE" / name
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(LookalikeError, match="estore"):
        publish(draw_patients(60, Randomness(2), first=100), tmp_path, "two", series="stays")


def _forget(block: dict[str, Any]) -> None:
    block["releases"].clear()


def _weaken(block: dict[str, Any]) -> None:
    block["releases"][0]["promises"] = [["l-diversity:1", "diagnosis"]]


def _reopen(block: dict[str, Any]) -> None:
    """As if the release had been entered and never written."""
    entry = block["releases"][0]
    entry["digest"], entry["before"] = "", entry["digest"]


@pytest.mark.parametrize("change", [_forget, _weaken, _reopen, lambda block: block.update(extra={"m": 2})])
def test_an_edited_list_of_releases_is_refused(change: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    """Otherwise people of a release that is not listed any more, or promises less, are published again."""
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    path = tmp_path / "stays SERIES PRIVATE" / "series.json"
    content = json.loads(path.read_text())
    change(content["lookalike"])
    path.write_text(json.dumps(content))
    before = path.read_bytes()
    with pytest.raises(DataError, match="was changed since it was written. Restore"):
        publish(patients[10:], tmp_path, "two", series="stays")
    assert path.read_bytes() == before


def test_another_key_is_refused(tmp_path: Path) -> None:
    """Under another key nobody is recognised, and everybody would be published as a newcomer."""
    patients = draw_patients(60, Randomness(1))
    publish(patients, tmp_path, "one", series="stays")
    path = tmp_path / "stays SERIES PRIVATE" / "series.key"
    path.write_text("0" * 64 + "\n")
    with pytest.raises(DataError, match="was changed since it was written. Restore"):
        publish(patients[10:], tmp_path, "two", series="stays")


def test_a_release_that_another_run_is_writing_is_not_taken_for_one_that_never_appeared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients = draw_patients(60, Randomness(1))
    others = draw_patients(60, Randomness(2), first=100)
    tried: list[list[bool]] = []

    def write_while_another_run_begins(*given: Any, **more: Any) -> object:
        with monkeypatch.context() as unpatched:
            unpatched.setattr(NewRelease, "write_tables", written)
            with pytest.raises(RecipeError, match="Another run is publishing"):
                publish(others, tmp_path, "two", series="stays")
        tried.append([entry.is_pending for entry in read_ledger(tmp_path / "stays SERIES PRIVATE").entries])
        return written(*given, **more)

    written = NewRelease.write_tables
    monkeypatch.setattr(NewRelease, "write_tables", write_while_another_run_begins)
    publish(patients, tmp_path, "one", series="stays")
    assert tried == [[True]]
    entries = read_ledger(tmp_path / "stays SERIES PRIVATE").entries
    assert [(entry.folder, entry.is_pending) for entry in entries] == [("one", False)]


def test_a_release_of_the_series_is_not_overwritten(tmp_path: Path) -> None:
    publish(draw_patients(60, Randomness(1)), tmp_path, "one", series="stays")
    made = la.publish(
        write(tmp_path / "t.csv", draw_patients(60, Randomness(2), first=100)),
        qi=QI,
        sensitive="diagnosis",
        person="patient",
        model="k-anonymity:4",
        series="stays",
        destination=tmp_path / "one",
    )
    with pytest.raises(RecipeError, match="cannot be replaced"):
        made.write(tmp_path / "one", overwrite=True)


class Stopped(BaseException):
    """As Ctrl-C, and as a machine that stops: nothing after it runs."""


def test_a_run_that_stops_before_the_release_appears_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients = draw_patients(60, Randomness(1))
    written = Ledger.write
    calls: list[int] = []

    def write_once(ledger: Ledger) -> None:
        calls.append(1)
        if len(calls) > 1:
            raise Stopped
        written(ledger)

    def stop(*_: object, **__: object) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr("lookalike.files.releases.write.NewRelease.write_tables", stop)
        patched.setattr(Ledger, "write", write_once)
        with pytest.raises(Stopped):
            publish(patients, tmp_path, "one", series="stays")
    assert read_ledger(tmp_path / "stays SERIES PRIVATE").entries[0].is_pending
    made = publish(patients, tmp_path, "two", series="stays")
    assert any("never appeared" in note for note in made.notes)
    assert [entry.folder for entry in read_ledger(tmp_path / "stays SERIES PRIVATE").entries] == ["two"]


def test_a_run_that_stops_after_the_release_appeared_is_confirmed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients = draw_patients(60, Randomness(1))

    def stop(*_: object, **__: object) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "confirmed", stop)
        with pytest.raises(Stopped):
            publish(patients, tmp_path, "one", series="stays")
    assert (tmp_path / "one").is_dir()
    folder = tmp_path / "stays SERIES PRIVATE"
    assert read_ledger(folder).entries[0].is_pending
    made = publish(draw_patients(60, Randomness(2), first=100), tmp_path, "two", series="stays")
    assert any("now confirmed" in note for note in made.notes)
    assert [entry.is_pending for entry in read_ledger(folder).entries] == [False, False]


def test_another_folder_in_place_of_an_interrupted_release_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients = draw_patients(60, Randomness(1))

    def stop(*_: object, **__: object) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "confirmed", stop)
        with pytest.raises(Stopped):
            publish(patients, tmp_path, "one", series="stays")
    shutil.rmtree(tmp_path / "one")
    shutil.rmtree(private_folder(tmp_path / "one"), ignore_errors=True)
    publish(draw_patients(40, Randomness(3), first=300), tmp_path, "one")
    with pytest.raises(DataError, match="not what it was writing"):
        publish(draw_patients(60, Randomness(2), first=100), tmp_path, "two", series="stays")


def test_a_release_that_was_made_beside_another_one_is_not_written(tmp_path: Path) -> None:
    """Two made at the same time were not checked together."""
    made = [
        la.publish(
            write(tmp_path / f"{number}.csv", draw_patients(60, Randomness(number), first=100 * number)),
            qi=QI,
            sensitive="diagnosis",
            person="patient",
            model="k-anonymity:4",
            series="stays",
            destination=tmp_path / f"r{number}",
        )
        for number in range(2)
    ]
    made[0].write(tmp_path / "r0")
    with pytest.raises((RecipeError, DataError), match="again|was published"):
        made[1].write(tmp_path / "r1")
    assert not (tmp_path / "r1").exists()


def test_a_release_of_a_series_is_written_by_write_alone(tmp_path: Path) -> None:
    made = la.publish(
        write(tmp_path / "t.csv", draw_patients(60, Randomness(1))),
        qi=QI,
        sensitive="diagnosis",
        person="patient",
        model="k-anonymity:4",
        series="stays",
        destination=tmp_path / "one",
    )
    assert isinstance(made.step, Step)
    with pytest.raises(RecipeError, match="enters it in the ledger"):
        made.write_tables(tmp_path / "one")
