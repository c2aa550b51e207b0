"""Tables in which persons have several rows, by JSON: what is asked, what is refused, and that runs keep to it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import lookalike as la
from tests.apps.studio.asking import ended, opened, refused, studio

VISITS = "patient_id,age,zip,disease\n" + "".join(
    f"p{person},{20 + person % 30},{1000 + person % 4},{'abcdefgh'[(person * 3 + visit * 5) % 8]}\n"
    for person in range(80)
    for visit in range(1 + person % 3)
)
ROLES = (("age", "quasi-identifier"), ("zip", "quasi-identifier"), ("disease", "sensitive"))
USUAL = {"rows": "apart", "keep": "random", "contribution": None, "number_known": True, "rows_are_persons": False}


@pytest.fixture
def project(client: TestClient) -> str:
    """Visits of which nobody has said yet whose they are."""
    address = opened(client, VISITS)
    columns = [{"name": name, "role": role} for name, role in (("patient_id", "identifier"), *ROLES)]
    assert client.put(f"{address}/columns", json={"columns": columns}).status_code == 200
    return address


def declare(client: TestClient, project: str, role: str = "person") -> dict[str, Any]:
    answer = client.put(f"{project}/columns", json={"columns": [{"name": "patient_id", "role": role}]})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["persons"]
    return found


def promise(client: TestClient, project: str, *models: str) -> None:
    for address, sent in (("promise", {"models": list(models)}), ("method", {"algorithm": "mondrian"})):
        answer = client.put(f"{project}/{address}", json=sent)
        assert answer.status_code == 200, answer.text


def test_a_table_is_opened_with_its_persons_proposed(client: TestClient) -> None:
    address = opened(client, VISITS)
    columns = client.get(f"{address}/columns").json()
    assert {one["name"]: one["role"] for one in columns["columns"]}["patient_id"] == "person"
    assert client.get(address).json()["n_persons"] == 80


def test_persons_who_repeat_unsaid_are_a_choice_with_two_ways_out(client: TestClient, project: str) -> None:
    found = client.get(f"{project}/columns").json()["persons"]
    repeated = found["repeated"]
    assert (repeated["column"], repeated["rows"], repeated["values"], repeated["most"]) == ("patient_id", 159, 80, 3)
    assert client.get(project).json()["undecided"]
    promise(client, project, "k-anonymity:3")
    for address, sent in (("runs", {}), ("comparisons", {"models": ["k-anonymity:3"]})):
        refused(
            client.post(f"{project}/{address}", json=sent), 'Column "patient_id" has the role identifier and repeats'
        )
    assert client.get(f"{project}/runs").json() == []
    stated = client.put(f"{project}/persons", json={"rows_are_persons": True})
    assert stated.json()["settings"] == {**USUAL, "rows_are_persons": True}
    assert not client.get(project).json()["undecided"]
    # The other way: what was stated before means nothing any more.
    assert declare(client, project)["settings"] == USUAL
    refused(client.put(f"{project}/persons", json={"rows_are_persons": True}), "Leave out one of the two")


def test_persons_and_rows_are_shown_side_by_side(client: TestClient, project: str) -> None:
    found = declare(client, project)
    assert (found["unit"], found["column"], found["several"]) == ("person", "patient_id", True)
    figures = {line["what"]: (line["rows"], line["persons"]) for line in found["figures"]}
    assert figures["In the table"] == ("159", "80")
    assert figures["Rows per person"] == ("", "1.99 on average, 3 at most")
    # Sixty combinations, twenty of which two persons share; one in three persons has a single row.
    combinations = [(20 + person % 30, 1000 + person % 4) for person in range(80)]
    alone = [person for person in range(80) if combinations.count(combinations[person]) == 1]
    assert figures["Alone with what others may know"][1] == f"{len(alone)} ({100 * len(alone) / 80:.3g} %)"
    single = sum(person % 3 == 0 for person in alone)
    assert figures["Alone with what others may know"][0] == f"{single} ({100 * single / 159:.3g} %)"
    assert any("distinct persons, not rows" in said for said in found["says"])
    limited = client.put(f"{project}/persons", json={"contribution": 2}).json()
    assert limited["left_out"] == {"rows": 26, "persons": 26}
    one = client.put(f"{project}/persons", json={"rows": "one", "keep": "first"}).json()
    assert one["settings"] == {**USUAL, "rows": "one", "keep": "first"}
    assert one["left_out"] == {"rows": 79, "persons": 53}


def test_a_column_in_which_nobody_repeats_changes_nothing(client: TestClient) -> None:
    address = opened(client, VISITS.replace("p", "q", 1))
    lines = VISITS.splitlines()
    single = "\n".join([lines[0], *(f"x{place}{line[line.index(',') :]}" for place, line in enumerate(lines[1:]))])
    address = opened(client, single)
    columns = [{"name": "patient_id", "role": "person"}, *({"name": name, "role": role} for name, role in ROLES)]
    found = client.put(f"{address}/columns", json={"columns": columns}).json()["persons"]
    assert (found["unit"], found["several"], found["figures"], found["repeated"]) == ("person", False, [], None)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"rows": "two"}, "rows must be one of apart, linked, one"),
        ({"rows": "one", "keep": "best"}, "keep must be one of first, last, random"),
        ({"rows": "one", "contribution": 2}, "allows more"),
        ({"contribution": 0}, "greater than or equal to 1"),
        ({"contribution": 1.5}, "valid integer"),
        ({"salt": "00"}, "not permitted"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    sent: dict[str, Any], said: str, client: TestClient, project: str
) -> None:
    declare(client, project)
    refused(client.put(f"{project}/persons", json=sent), said)
    assert client.get(project).json()["persons"] == USUAL


def test_settings_of_persons_need_a_column_of_persons(client: TestClient, project: str) -> None:
    refused(client.put(f"{project}/persons", json={"rows": "one"}), "no column identifies the persons")


def test_what_a_promise_allows_is_of_persons(client: TestClient, project: str) -> None:
    rows = client.get(f"{project}/allows", params={"model": "l-diversity:2"}).json()
    declare(client, project)
    persons = client.get(f"{project}/allows", params={"model": "l-diversity:2"}).json()
    assert max(one["share"] for one in persons["beliefs"]) > max(one["share"] for one in rows["beliefs"])
    assert "one row" in persons["sentences"][0]
    refused_here = client.get(f"{project}/allows", params={"model": "t-closeness:0.3"}).json()
    assert not refused_here["feasible"]
    assert "one row per person" in refused_here["reason"]
    refused(client.put(f"{project}/promise", json={"models": ["t-closeness:0.3"]}), "one row per person")
    promise(client, project, "l-diversity:2")
    methods = {row["name"]: row["refused"] for row in client.get(f"{project}/methods").json()["methods"]}
    assert methods["mondrian"] is None
    assert "counts rows, not persons" in methods["burel"]
    client.put(f"{project}/persons", json={"rows": "linked"})
    linked = client.get(f"{project}/allows", params={"model": "l-diversity:2"}).json()
    assert "all rows of a person" in linked["sentences"][0]
    methods = {row["name"]: row["refused"] for row in client.get(f"{project}/methods").json()["methods"]}
    assert methods["groups"] is None
    assert "not whole persons" in methods["mondrian"]
    client.put(f"{project}/persons", json={"rows": "one"})
    methods = {row["name"]: row["refused"] for row in client.get(f"{project}/methods").json()["methods"]}
    assert methods["two-size"] is None
    assert client.get(f"{project}/allows", params={"model": "t-closeness:0.6"}).json()["feasible"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{}, {"rows": "one"}, {"rows": "one", "keep": "first"}, {"contribution": 2, "number_known": False}]
)
def test_a_run_counts_persons(settings: dict[str, Any], client: TestClient, project: str, tmp_path: Path) -> None:
    """The release is the one that the command line would make, and the audit agrees."""
    declare(client, project)
    assert client.put(f"{project}/persons", json=settings).status_code == 200
    promise(client, project, "k-anonymity:4")
    run = f"{project}/runs/{client.post(f'{project}/runs', json={}).json()['number']}"
    assert ended(client, run)["state"] == "done", client.get(run).json()
    found = client.get(f"{run}/results").json()
    rows = {"rows": 80, "contribution": 133}.get(next(iter(settings), ""), 159)
    assert found["summary"]["rows"] == rows
    assert found["summary"]["persons"] == (None if "rows" in settings else 80)
    page = client.get(f"{project.removeprefix('/api')}/results").text
    assert "The original has 159 rows of 80 persons" in page
    assert ("one row per person of the original" in page) == ("rows" in settings)
    command = client.get(f"{run}/command").json()["command"]
    assert "--person patient_id" in command
    for flag, name in (("--rows one", "rows"), ("--contribution 2", "contribution"), ("unknown", "number_known")):
        assert (flag in command) == (name in settings)
    (tmp_path / "visits.csv").write_text(VISITS)
    for name in ("release", "private"):
        answer = client.get(f"{run}/{name}.zip")
        if name == "private" and "keep" in settings:
            refused(answer, "keeps nothing private")
            continue
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            archive.extractall(tmp_path)
    private = tmp_path / "release PRIVATE"
    kept = {} if "keep" in settings else {"private": private}
    assert la.verify(tmp_path / "visits.csv", tmp_path / "release", **kept).passed
    stated = json.loads((tmp_path / "release" / "datapackage.json").read_text())["lookalike"]["persons"]
    assert stated["person"] == "patient_id"
    assert {name: stated[name] for name in settings} == settings
    page = client.get(f"{project.removeprefix('/api')}/export").text
    assert ("private.zip" in page) == ("keep" not in settings)


def test_a_release_that_needs_nothing_private_has_nothing_private(client: TestClient, done: str) -> None:
    refused(client.get(f"{done}/private.zip"), "keeps nothing private")
    page = client.get(f"{done.partition('/runs')[0].removeprefix('/api')}/export").text
    assert "private.zip" not in page


def test_pages_ask_and_show(client: TestClient, project: str) -> None:
    pages = project.removeprefix("/api")
    asked = client.get(f"{pages}/columns").text
    assert 'id="repeated"' in asked
    assert "Nothing is published until you decide" in asked
    assert 'id="undecided"' in client.get(f"{pages}/promise").text
    declare(client, project)
    shown = client.get(f"{pages}/columns").text
    assert 'id="repeated"' not in shown
    assert 'id="persons-form"' in shown
    assert 'id="undecided"' not in client.get(f"{pages}/promise").text
    promise(client, project, "k-anonymity:4")
    assert "80 persons, by patient_id" in client.get(f"{pages}/run").text
    households = declare(client, project, "household")
    assert households["unit"] == "household"
    assert "80 households, by patient_id" in client.get(f"{pages}/run").text


def test_names_of_persons_are_shown_as_text(client: TestClient) -> None:
    hostile = "<img src=x onerror=alert(1)> patient_id"
    address = opened(client, VISITS.replace("patient_id", hostile))
    columns = [{"name": hostile, "role": "person"}, *({"name": name, "role": role} for name, role in ROLES)]
    assert client.put(f"{address}/columns", json={"columns": columns}).status_code == 200
    for page in ("columns", "run"):
        text = client.get(f"{address.removeprefix('/api')}/{page}").text
        assert "<img src=x" not in text
    columns[0]["role"] = "identifier"
    client.put(f"{address}/columns", json={"columns": columns})
    assert "<img src=x" not in client.get(f"{address.removeprefix('/api')}/columns").text


@pytest.fixture
def fresh() -> Iterator[TestClient]:
    """A studio without other tables, of which it opens only so many."""
    with studio() as client:
        yield client


def test_rows_without_a_person_are_told_on_the_page(fresh: TestClient) -> None:
    """A table opens although some rows have no number, and the page says what to do before it is published."""
    address = opened(fresh, VISITS + "".join(f",{40 + n},1001,a\n" for n in range(3)))
    found = fresh.get(f"{address}/columns")
    assert found.status_code == 200, found.text
    assert "lacks a value in 3 rows" in found.json()["persons"]["problem"]
    page = fresh.get(address.replace("/api", "") + "/columns")
    assert page.status_code == 200
    assert 'id="persons-problem"' in page.text


def test_counting_households_is_said_with_the_way_back(fresh: TestClient) -> None:
    lines = VISITS.splitlines()
    homes = [int(line[1:].split(",")[0]) // 2 for line in lines[1:]]
    table = "\n".join(
        ["household_id," + lines[0], *(f"h{home},{line}" for home, line in zip(homes, lines[1:], strict=True))]
    )
    address = opened(fresh, table)
    persons = fresh.get(f"{address}/columns").json()["persons"]
    assert persons["unit"] == "household"
    assert 'mark "household_id" as not published' in " ".join(persons["advice"])
    answer = fresh.put(f"{address}/columns", json={"columns": [{"name": "household_id", "role": "identifier"}]})
    found = answer.json()
    assert found["persons"]["unit"] == "person"
    (home,) = (one for one in found["columns"] if one["name"] == "household_id")
    assert home["suggested_role"] == "household"
