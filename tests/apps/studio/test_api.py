"""The whole way by JSON, and every way to do it wrong."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lookalike.apps.studio.uploads import MOST_BYTES_ASKED
from lookalike.checking import verify
from tests.apps.studio.asking import CSV, PROMISE, TOKEN, opened, promised, refused
from tests.secrets.traces import traces

NO_SEED = 0x5EED_5EED_5EED_5EED

NOBODY = "/api/projects/nothing"


@pytest.fixture(scope="module")
def project(client: TestClient) -> str:
    """A table to ask about; tests leave its settings as they were."""
    return promised(client)


@pytest.mark.slow
def test_the_way_from_a_file_to_a_release(client: TestClient, done: str) -> None:
    project = done.rpartition("/runs")[0]
    shown = client.get(project).json()
    assert (shown["name"], shown["rows"]) == ("people.csv", 120)
    assert (shown["quasi"], shown["sensitive"]) == (["age", "zip"], ["disease"])
    assert (shown["models"], shown["algorithm"], shown["title"]) == ([PROMISE], "mondrian", "Stays")
    columns = client.get(f"{project}/columns").json()
    assert [column["name"] for column in columns["columns"]] == ["age", "zip", "disease"]
    assert all(column["role_reason"] for column in columns["columns"])
    assert len(client.get(f"{project}/preview").json()["rows"]) == 8
    assert {model["name"] for model in client.get(f"{project}/models").json()} >= {"k-anonymity", "beta-likeness"}
    allowed = client.get(f"{project}/allows", params={"model": "l-diversity:4"}).json()
    assert allowed["feasible"]
    assert all(belief["ceiling"] <= 0.25 for belief in allowed["beliefs"])
    methods = client.get(f"{project}/methods").json()
    assert methods["chosen"] == "mondrian"
    run = client.get(done).json()
    assert (run["state"], run["share"], run["ahead"]) == ("done", 1.0, 0)
    found = client.get(f"{done}/results").json()
    assert found["summary"]["rows"] == 120
    assert found["report"]["audit"]
    assert "Stays" in client.get(f"{done}/report").text


def test_the_archive_and_the_folder_hold_the_same_release(client: TestClient, done: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV)
    packed = client.get(f"{done}/release.zip")
    assert packed.headers["content-disposition"] == 'attachment; filename="release.zip"'
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        archive.extractall(tmp_path / "unpacked")
    answer = client.post(f"{done}/export", json={"folder": str(tmp_path / "out")})
    assert answer.status_code == 200, answer.text
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert answer.json()["files"] == written
    for name in written:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "unpacked" / "release" / name).read_bytes()
    (tmp_path / "release.zip").write_bytes(packed.content)
    private = str(client.app_state.workspace.folder)
    assert traces([tmp_path / "release.zip"], seed=NO_SEED, words=["people.csv", private, tmp_path, TOKEN]) == []
    assert verify(tmp_path / "people.csv", tmp_path / "out").passed
    refused(client.post(f"{done}/export", json={"folder": str(tmp_path / "out")}), "exists already")
    again = client.post(f"{done}/export", json={"folder": str(tmp_path / "out"), "overwrite": True})
    assert again.status_code == 200


def test_a_release_goes_to_no_odd_place(client: TestClient, done: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "full")
    odd = ["release", "/", "/dev/null", "/dev/null/x", "/proc/x", "/a\0b", "~nobody-is-called-so/x", "/" + "a" * 300]
    for folder in (*odd, str(tmp_path / "full"), str(tmp_path / "link")):
        answer = client.post(f"{done}/export", json={"folder": folder, "overwrite": True})
        assert answer.status_code == 422, folder
        assert answer.json()["error"].endswith(("name.", "folder.", "release."))
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_the_command_and_the_schema_are_those_of_the_run(client: TestClient, done: str) -> None:
    found = client.get(f"{done}/command").json()
    assert found["command"].startswith("lookalike publish ./people.csv --schema schema.yaml --model k-anonymity:3")
    assert "--algorithm mondrian" in found["command"]
    schema = client.get(done.rpartition("/runs")[0] + "/schema")
    assert schema.headers["content-disposition"].startswith("attachment")
    assert schema.text == found["schema"]


def test_methods_that_cannot_publish_these_columns_say_so(client: TestClient) -> None:
    """The sample carries a column, which perturbation would publish beside exact quasi-identifiers."""
    project = f"/api/projects/{client.post('/api/projects/sample').json()['id']}"
    assert client.put(f"{project}/promise", json={"models": ["beta-likeness:3"]}).status_code == 200
    methods = {row["name"]: row for row in client.get(f"{project}/methods").json()["methods"]}
    assert "length_of_stay" in methods["perturbation"]["refused"]
    assert methods["groups"]["refused"] is None
    client.delete(project)


def test_what_is_not_open_is_not_found(client: TestClient, project: str) -> None:
    for path in ("", "/columns", "/preview", "/schema", "/models", "/methods", "/runs", "/allows?model=k-anonymity:2"):
        refused(client.get(NOBODY + path), "Load it again", 404)
    for path in ("/columns", "/schema", "/promise", "/method"):
        assert client.put(NOBODY + path, json={}).status_code in (404, 422)
    for path in ("", "/results", "/comparison", "/report", "/release.zip", "/command"):
        refused(client.get(f"{project}/runs/999{path}"), "no such run", 404)
    refused(client.get("/api/nothing"), "no such page", 404)


def test_what_is_not_done_yet_says_so(client: TestClient, done: str) -> None:
    fresh = opened(client)
    refused(client.get(f"{fresh}/methods"), "Choose one first")
    refused(client.post(f"{fresh}/runs", json={}), "Choose one first")
    refused(client.get(f"{done}/comparison"), "not done")
    everything = [{"name": name, "role": "carried"} for name in ("age", "zip", "disease")]
    assert client.put(f"{fresh}/columns", json={"columns": everything}).status_code == 200
    refused(client.post(f"{fresh}/comparisons", json={"models": ["k-anonymity:2"]}), "outsider may know")
    client.delete(fresh)


def test_a_comparison_waits_is_cancelled_and_has_no_command(client: TestClient, project: str) -> None:
    answer = client.post(f"{project}/comparisons", json={"models": ["k-anonymity:2,3"], "algorithms": ["mondrian"]})
    assert answer.status_code == 202
    run = f"{project}/runs/{answer.json()['number']}"
    refused(client.get(f"{run}/command"), "publishes")
    refused(client.get(f"{run}/release.zip"), "no release")
    assert client.post(f"{run}/cancel").json()["state"] == "cancelled"
    assert client.post(f"{run}/stop").json()["state"] == "cancelled"
    refused(client.get(f"{run}/comparison"), "not done")


@pytest.mark.parametrize(
    ("address", "sent", "words"),
    [
        ("promise", {"models": ["k-anonymity:999999999999999999999"]}, "k-anonymity:120"),
        ("promise", {"models": ["l-diversity:6"]}, "nearest"),
        ("promise", {"models": ["k-anonimity:3"]}, 'Did you mean "k-anonymity"?'),
        ("promise", {"models": ["k-anonymity:nan"]}, "whole number"),
        ("promise", {"models": ["k-anonymity:1e400"]}, "whole number"),
        ("promise", {"models": ["k-anonymity:3\0"]}, "whole number"),
        ("promise", {"models": [PROMISE], "adversary": "x"}, "no adversary"),
        ("promise", {"models": [PROMISE] * 21}, "at most 20 items"),
        ("promise", {"models": PROMISE}, "valid list"),
        ("promise", {}, "Field required"),
        ("promise", {"models": [PROMISE], "more": 1}, "not permitted"),
        ("method", {"algorithm": "nothing"}, "no algorithm"),
        ("method", {"algorithm": "groups:effort=-1"}, "effort"),
        ("columns", {"columns": [{"name": "nothing", "role": "carried"}]}, "no column"),
        ("columns", {"columns": [{"name": "age", "role": "x"}]}, "no role"),
        ("columns", {"columns": [{"name": "age", "role": "carried", "weight": -1}]}, "greater than or equal"),
        ("columns", {"columns": [{"name": "age", "role": "carried", "kind": "x"}]}, "no kind"),
        ("schema", {"yaml": ""}, "list called columns"),
        ("schema", {"yaml": "columns: ["}, "not valid YAML"),
        (
            "schema",
            {"yaml": "columns:\n- {name: nothing, role: carried}\n- {name: age, role: quasi-identifier}"},
            "no column",
        ),
        ("schema", {"yaml": "!!python/object/apply:os.getcwd []"}, "not valid YAML"),
    ],
)
def test_refusals_say_what_to_do_and_change_nothing(
    client: TestClient, project: str, address: str, sent: dict[str, Any], words: str
) -> None:
    before = client.get(project).json(), client.get(f"{project}/schema").text
    refused(client.put(f"{project}/{address}", json=sent), words)
    assert (client.get(project).json(), client.get(f"{project}/schema").text) == before


def nested(depth: int) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for _ in range(depth):
        tree = {"a": tree}
    return tree


@pytest.mark.parametrize(
    "taxonomy",
    [
        {"tree": nested(700)},
        {"tree": {"\ud800": ["1"]}},
        {"tree": None},
        {"intervals": float("nan")},
        {"intervals": [float("inf")]},
        {"intervals": [0]},
        {"intervals": {"steps": [1], "origin": 1e308}},
        {"dates": ["day"]},
        {"file": "/etc/hostname"},
        {"\ud800": 1},
        {"": ""},
    ],
)
def test_catastrophic_taxonomies_are_refused_and_change_nothing(
    client: TestClient, project: str, taxonomy: dict[str, Any]
) -> None:
    before = client.get(f"{project}/schema").text
    column = {"name": "age", "role": "quasi-identifier", "taxonomy": taxonomy}
    sent = json.dumps({"columns": [column]})
    answer = client.put(f"{project}/columns", content=sent, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert len(answer.json()["error"]) < 2500
    assert client.get(f"{project}/schema").text == before


def test_schemas_that_point_at_themselves_are_refused(client: TestClient, project: str) -> None:
    endless = "columns:\n- {name: age, role: quasi-identifier, taxonomy: &t {tree: {a: *t}}}"
    refused(client.put(f"{project}/schema", json={"yaml": endless}), "Write them out")
    column = '{name: age, role: quasi-identifier, taxonomy: {tree: {"\\uD800": [a]}}}'
    assert client.put(f"{project}/schema", json={"yaml": f"columns:\n- {column}"}).status_code == 422
    refused(client.put(f"{project}/schema", json={"yaml": "{a: " * 2000}), "go deeper than 50")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b"null",
        b'{"models": ["\\ud800"]}',
        b'{"\\ud800": 1}',
        b'{"models": ' + b"9" * 5000,
    ],
)
def test_bodies_that_are_no_json_are_refused(client: TestClient, project: str, body: bytes) -> None:
    answer = client.put(f"{project}/promise", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


def test_huge_bodies_are_refused(client: TestClient, project: str) -> None:
    pieces = (b" " * (1 << 20) for _ in range((MOST_BYTES_ASKED >> 20) + 1))
    answer = client.put(f"{project}/schema", content=pieces, headers={"content-type": "application/json"})
    refused(answer, "Send less at once", 413)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("", "no model"),
        ("x" * 2000, "no model"),
        ("k-anonymity:" + "9" * 1900, "k-anonymity"),
        ("beta-likeness:1e308", "number"),
        ("t-closeness:-1", "at least 0"),
        ("k-anonymity:1000", "k-anonymity:120"),
        ("\0", "no model"),
        ("zip=l-diversity:2", "zip"),
    ],
)
def test_promises_that_cannot_be_kept_say_why_at_once(client: TestClient, project: str, model: str, words: str) -> None:
    answer = client.get(f"{project}/allows", params={"model": model})
    assert answer.status_code == 200
    assert not answer.json()["feasible"]
    assert words in answer.json()["reason"]


def test_the_document_describes_refusals(client: TestClient) -> None:
    document = client.get("/api/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            assert {"404", "422"} <= set(described["responses"]), (method, path)
            schema = described["responses"]["422"]["content"]["application/json"]["schema"]
            assert schema["$ref"].endswith("/Problem")


def test_identifiers_in_a_column_are_shown_and_kept_on_a_statement_only(client: TestClient) -> None:
    rows = "".join(f"{20 + n % 40},p{n % 30}@example.org,{'abcde'[n % 5]}\n" for n in range(120))
    project = opened(client, "age,contact,disease\n" + rows)
    given = {"name": "contact", "role": "carried"}
    shown = client.put(f"{project}/columns", json={"columns": [given]}).json()
    contact = next(column for column in shown["columns"] if column["name"] == "contact")
    assert contact["identifiers"] == "30 of its 30 different values hold e-mail addresses"
    assert contact["keep_identifiers"] is False
    kept = client.put(f"{project}/columns", json={"columns": [{**given, "keep_identifiers": True}]}).json()
    assert next(column for column in kept["columns"] if column["name"] == "contact")["keep_identifiers"] is True
    page = client.get(project.replace("/api", "") + "/columns").text
    assert "You state that they identify nobody" in page
    again = client.put(f"{project}/columns", json={"columns": [{**given, "longest_set": 7}]}).json()
    column = next(column for column in again["columns"] if column["name"] == "contact")
    assert (column["longest_set"], column["keep_identifiers"]) == (7, True)


def test_a_sensitive_column_is_published_coarser(client: TestClient) -> None:
    """What is typed is read, shown again, and part of the schema; another role takes it back."""
    project = f"/api/projects/{client.post('/api/projects/sample').json()['id']}"

    def put(**settings: object) -> dict[str, object]:
        column = {"name": "length_of_stay", "role": "sensitive", **settings}
        answer = client.put(f"{project}/columns", json={"columns": [column]})
        assert answer.status_code == 200, answer.text
        return next(one for one in answer.json()["columns"] if one["name"] == "length_of_stay")

    assert put()["coarsen"] == ""
    assert put(coarsen=" top:30,round:5 ")["coarsen"] == "top:30, round:5"
    assert put()["coarsen"] == "top:30, round:5"
    assert "prepare:" in client.get(f"{project}/schema").text
    page = client.get(project.removeprefix("/api") + "/columns").text
    assert 'value="top:30, round:5"' in page
    bad = {"name": "length_of_stay", "role": "sensitive", "coarsen": "round:0"}
    refused(client.put(f"{project}/columns", json={"columns": [bad]}), "above 0")
    assert put(role="quasi-identifier")["coarsen"] == ""
    assert put(coarsen="")["coarsen"] == ""
    client.delete(project)
