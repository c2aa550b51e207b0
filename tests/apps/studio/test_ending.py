"""What the studio keeps for the time being, and that nothing of it stays, however it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from lookalike.apps.studio.workspace import PREFIX, Workspace, remove_leftovers
from tests.apps.studio.asking import CSV, folder_of, opened, rooms


def test_the_private_folder_is_closed_to_others_and_loses_a_table_that_is_closed(client: TestClient) -> None:
    assert stat.S_IMODE(folder_of(client).stat().st_mode) == 0o700
    before = rooms(client)
    project = opened(client)
    (room,) = set(rooms(client)) - set(before)
    assert stat.S_IMODE(room.stat().st_mode) == 0o700
    assert client.delete(project).status_code == 204
    assert rooms(client) == before
    assert client.get(project).status_code == 404
    assert client.delete(project).status_code == 404


def test_what_a_killed_studio_left_is_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    alive = Workspace()
    left = tmp_path / f"{PREFIX}left"
    (left / "room").mkdir(parents=True)
    (left / "room" / "original.csv").write_text(CSV)
    (left / "in-use").touch()
    strange = tmp_path / f"{PREFIX}strange"
    strange.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "in-use").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(elsewhere)
    remove_leftovers()
    assert not left.exists()
    assert alive.folder.exists()
    assert strange.exists()
    assert elsewhere.exists()
    alive.remove()
    assert not alive.folder.exists()


@contextmanager
def real_studio(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A studio in its own process, with a folder for temporary files."""
    command = [sys.executable, "-m", "lookalike", "studio", "--no-browser"]
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        yield process
        process.kill()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with real_studio(tmp_path) as process:
        yield process


def _link(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Where a studio is, and its token, as it prints them."""
    assert process.stdout is not None
    link = process.stdout.readline().split()[-1]
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{32})", link)
    assert found is not None
    return found[1], found[2]


def test_what_a_killed_studio_leaves_is_closed_and_goes_with_the_next(
    process: subprocess.Popen[str], tmp_path: Path
) -> None:
    port, token = _link(process)
    upload = {"url": f"http://127.0.0.1:{port}/api/projects/upload", "headers": {"Authorization": f"Bearer {token}"}}
    assert httpx.post(**upload, params={"name": "a.csv"}, content=CSV).status_code == 201
    process.kill()
    process.wait(20)
    (left,) = tmp_path.glob(f"{PREFIX}*")
    assert left.stat().st_mode & 0o077 == 0
    with real_studio(tmp_path) as after:
        _link(after)
        (own,) = tmp_path.glob(f"{PREFIX}*")
        assert own != left


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_real_studio_serves_this_machine_alone_and_leaves_nothing(
    process: subprocess.Popen[str], tmp_path: Path, name: str
) -> None:
    port, token = _link(process)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"}) as client:
        answer = client.post("/api/projects/upload", params={"name": "a.csv"}, content=CSV.replace("a", "Mrs. Secret"))
        assert answer.status_code == 201
        assert "server" not in answer.headers
        # It may hang up before it has heard all, which is as good.
        with suppress(httpx.TransportError):
            assert client.get("/api/projects", headers={"X-Long": "x" * 200_000}).status_code == 400
    if name == "SIGINT":
        _left_in_the_middle(int(port), token)
        for address in _other_addresses():
            with pytest.raises(OSError, match="refused"):
                socket.create_connection((address, int(port)), timeout=2)
    (folder,) = tmp_path.glob(f"{PREFIX}*")
    assert len(list(folder.glob("*/original.csv"))) == 1
    process.send_signal(getattr(signal, name))
    out, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert list(tmp_path.glob(f"{PREFIX}*")) == []
    assert "Secret" not in out + errors
    assert token not in out + errors
    assert errors == ""


def _left_in_the_middle(port: int, token: str) -> None:
    """Someone sends half of a file and goes away."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = (
            f"POST /api/projects/upload?name=b.csv HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}"
        )
        connection.sendall(f"{head}\r\nContent-Length: 1000000\r\n\r\nage,zip\n1,2\n".encode())
        time.sleep(0.3)
    time.sleep(0.3)


def _other_addresses() -> list[str]:
    """Those of this machine that others can reach it by, if it has any."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            # Nothing is sent: it only asks which address would be used.
            asked.connect(("192.0.2.1", 9))
        except OSError:
            return []
        address: str = asked.getsockname()[0]
        return [] if address.startswith("127.") else [address]
