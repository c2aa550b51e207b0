"""Files on their way in: devices, hostile names, broken content, senders that go away."""

from __future__ import annotations

import asyncio
import bz2
import errno
import gzip
import io
import lzma
import os
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient

from tests.apps.studio.asking import CSV, HERE, TOKEN, folder_of, opened, refused, rooms, studio, upload
from tests.files.tables.workbook_files import write_workbook


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("people.csv", "full path"),
        ("/nothing/there.csv", "No such file"),
        ("/dev/zero", "device or a pipe"),
        ("/dev/stdin", "device or a pipe"),
        ("/proc/kmsg", "device or a pipe"),
        ("/proc/self/environ", "device or a pipe"),
        *[("/sys/kernel/notes", "device or a pipe")] * Path("/sys/kernel/notes").exists(),
        ("/tmp", "folder"),
        ("/a\0b", "cannot be a path"),
        ("~nobody-is-called-so/x.csv", "cannot be a path"),
        ("/" + "a" * 300, "too long"),
        ("/" + "a/" * 2000, "No such file"),
    ],
)
def test_paths_to_what_is_no_table_are_refused_at_once(client: TestClient, path: str, words: str) -> None:
    before = rooms(client)
    refused(client.post("/api/projects/path", json={"path": path}), words)
    assert rooms(client) == before


def test_pipes_and_links_to_devices_are_no_tables_and_links_to_files_are(client: TestClient, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    (tmp_path / "itself.csv").symlink_to(tmp_path / "itself.csv")
    (tmp_path / "empty.csv").touch()
    for name, words in {"pipe": "pipe", "device": "device", "itself": "cannot be opened", "empty": "empty"}.items():
        refused(client.post("/api/projects/path", json={"path": str(tmp_path / f"{name}.csv")}), words)
    (tmp_path / "people.csv").write_text(CSV)
    (tmp_path / "link.csv").symlink_to(tmp_path / "people.csv")
    answer = client.post("/api/projects/path", json={"path": str(tmp_path / "link.csv")})
    assert (answer.status_code, answer.json()["name"]) == (201, "link.csv")
    client.delete(f"/api/projects/{answer.json()['id']}")
    assert (tmp_path / "people.csv").exists(), "the user's own file stays"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../x.csv", "x.csv"),
        ("/etc/x.CSV", "x.CSV"),
        ("..\\..\\x.csv", "x.csv"),
        ("a\nb\r\x1b.csv", "a b  .csv"),
        ("\u202etxt.csv", "txt.csv"),
        ("été 日本.csv", "été 日本.csv"),
        ("a" * 251 + ".csv", "a" * 251 + ".csv"),
        ("<script>alert(1)</script>.csv", "script>.csv"),
        ("-rf.csv", "-rf.csv"),
        ("a\0.csv", "a .csv"),
    ],
)
def test_hostile_names_are_only_names(client: TestClient, name: str, shown: str) -> None:
    answer = upload(client, name=name)
    assert answer.status_code == 201, answer.text
    assert answer.json()["name"] == shown
    assert all(path.name.startswith("original.") for room in rooms(client) for path in room.glob("*.csv"))
    client.delete(f"/api/projects/{answer.json()['id']}")


def parquet(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", "empty"),
        ("a.exe", CSV, "not read here"),
        ("a", CSV, "not read here"),
        ("a" * 256, CSV, "at most 255"),
        ("a.csv", b"a,b\n1,2\n3\n", '"a.csv": line 3'),
        ("a.csv", b'a,b\n"1,2\n', "never closed"),
        ("a.csv", b"a,a\n1,2\n", "same name"),
        ("a.csv", b"\0" * 100, "NUL"),
        ("a.csv", b"PK\x03\x04" + b"x" * 500, "zip file"),
        ("a.parquet", CSV, "does not begin"),
        ("a.parquet", b"PAR1" + b"x" * 50 + b"PAR1", "damaged"),
        ("a.parquet", parquet(a=[1, 2])[:-20], "damaged"),
        ("a.arrow", b"x", "does not begin"),
        ("a.csv", b"a" * 900_000 + b",b\n1,2\n", "longer than 10,000 characters"),
        ("a.csv", ",".join(f"c{n}" for n in range(600)) + "\n" + "1," * 599 + "1\n", "600 columns"),
    ],
)
def test_files_that_cannot_be_read_say_why_and_leave_nothing(
    client: TestClient, name: str, content: str | bytes, words: str
) -> None:
    before = rooms(client)
    refused(upload(client, content, name), words)
    assert rooms(client) == before


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.bz2", ".csv.xz", ".zip", ".xlsx"])
def test_compressed_files_and_workbooks(client: TestClient, tmp_path: Path, ending: str) -> None:
    rows = [line.split(",") for line in CSV.splitlines()]
    text = CSV.encode()
    if ending == ".xlsx":
        content = write_workbook(tmp_path / "people.xlsx", {"people": rows}).read_bytes()
    elif ending == ".zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("people.csv", text)
        content = buffer.getvalue()
    else:
        content = {".csv.gz": gzip, ".csv.bz2": bz2, ".csv.xz": lzma}[ending].compress(text)
    answer = upload(client, content, f"people{ending}")
    assert answer.status_code == 201, answer.text
    assert answer.json()["columns"] == rows[0]
    assert f".{ending.rpartition('.')[2]}" in client.get("/").text
    client.delete(f"/api/projects/{answer.json()['id']}")


def test_a_header_of_ten_megabytes_does_nothing() -> None:
    with studio(most_bytes=20 << 20) as client:
        refused(upload(client, b"a" * (10 << 20) + b",b\n1,2\n"), "longer than 4 MB")
        assert rooms(client) == []


def test_a_file_that_is_too_large_is_refused_before_it_is_all_there() -> None:
    sent = 0

    def pieces() -> Any:
        nonlocal sent
        while sent < 1000:
            sent += 1
            yield b"1,2,3\n" * 1000

    async def half_sent() -> int:
        """The application itself, with a client that counts how much was taken."""
        taken = 0
        body = pieces()

        async def receive() -> dict[str, Any]:
            nonlocal taken
            taken += 1
            return {"type": "http.request", "body": next(body), "more_body": True}

        said: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            said.append(message)

        await client.app(_upload_scope(), receive, send)
        assert said[0]["status"] == 413
        return taken

    with studio(most_bytes=50_000) as client:
        assert asyncio.run(half_sent()) == 9
        assert rooms(client) == []
        refused(upload(client, b"1,2,3\n" * 10_000), "larger than", 413)
        assert rooms(client) == []


def _upload_scope() -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "path": "/api/projects/upload",
        "raw_path": b"/api/projects/upload",
        "query_string": b"name=a.csv",
        "headers": [(b"host", HERE.encode()), (b"authorization", f"Bearer {TOKEN}".encode())],
        "server": ("127.0.0.1", 8765),
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
    }


def test_a_full_disk_is_said_and_nothing_is_left(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder_of(client)))

    before = rooms(client)
    monkeypatch.setattr("lookalike.apps.studio.uploads.asyncio.to_thread", full)
    answer = upload(client)
    refused(answer, "no room left")
    assert rooms(client) == before


def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(client: TestClient) -> None:
    before = rooms(client)
    messages = iter([{"type": "http.request", "body": b"age,zip\n1,", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> dict[str, Any]:
        return next(messages)

    async def send(message: dict[str, Any]) -> None:
        assert message.get("status", 400) == 400

    asyncio.run(client.app(_upload_scope(), receive, send))
    assert next(messages, None) is None
    assert rooms(client) == before


def test_cells_with_scripts_and_formulas_stay_text(client: TestClient) -> None:
    cells = ["<script>alert(1)</script>", "=1+1", "@SUM(A1)", '"><img src=x onerror=alert(1)>', "{{7*7}}"]
    frame = {"<b>job</b>": cells * 20, "=cmd": list(range(100))}
    answer = upload(client, parquet(**frame), "a.parquet")
    project = f"/api/projects/{answer.json()['id']}"
    shown = client.get(f"{project}/preview").json()
    assert [row[0] for row in shown["rows"][:5]] == cells
    labels = client.get(f"{project}/columns").json()["columns"][0]["histogram"]["labels"]
    assert sorted(labels) == sorted(cells)
    for path in ("/preview", "/columns", ""):
        kind = client.get(project + path).headers
        assert kind["content-type"] == "application/json"
        assert kind["x-content-type-options"] == "nosniff"
    client.delete(project)


def test_reading_options(client: TestClient) -> None:
    answer = upload(client, "a;b\né;1\nb;2\n".encode("latin-1"), delimiter=";", encoding="iso-8859-1")
    assert answer.json()["columns"] == ["a", "b"]
    client.delete(f"/api/projects/{answer.json()['id']}")
    before = rooms(client)
    for option in ({"encoding": "nothing"}, {"encoding": "base64"}, {"delimiter": "\n"}, {"delimiter": "ab"}):
        assert upload(client, **option).status_code == 422, option
    assert rooms(client) == before


def test_there_is_an_end_to_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.apps.studio.workspace.MOST_PROJECTS", 1)
    with studio() as client:
        project = opened(client)
        refused(upload(client), "Close one first")
        refused(client.post("/api/projects/sample"), "Close one first")
        assert len(rooms(client)) == 1
        client.delete(project)
        assert client.post("/api/projects/sample").status_code == 201
        folder = folder_of(client)
    assert not folder.exists()
