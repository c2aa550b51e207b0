"""Who may talk to the studio, and what it tells whom."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from lookalike.apps.studio.security import HEADERS, POLICY, Guard
from tests.apps.studio.asking import BEARER, CSV, HERE, LINK, TOKEN, opened, upload

COOKIE = {"Cookie": f"lookalike-studio-8765={TOKEN}"}
OWN = {**COOKIE, "Origin": LINK}


def ask(client: TestClient, method: str = "GET", path: str = "/api/projects", **headers: str) -> Any:
    """A request with these headers and no token but in them."""
    sent = {"Authorization": "", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return client.request(method, path, headers=sent)


@pytest.mark.parametrize("host", [HERE, "localhost:8765", "[::1]:8765", "LocalHost:8765"])
def test_this_machine_is_let_in_by_its_names(client: TestClient, host: str) -> None:
    assert ask(client, **BEARER, Host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8765",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:8765.evil.example",
        "[::1]",
        "0:8765",
    ],
)
def test_other_names_are_refused_even_with_the_token(client: TestClient, host: str) -> None:
    answer = ask(client, **BEARER, Host=host)
    assert answer.status_code == 421
    assert "link that the terminal shows" in answer.json()["error"]


def test_a_request_without_a_host_is_refused() -> None:
    answer = asyncio.run(_bare({"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}))
    assert answer[0]["status"] == 421


async def _bare(scope: dict[str, Any]) -> list[dict[str, Any]]:
    """What the guard itself answers; the application must not be reached."""

    async def unreachable(*_: Any) -> None:
        raise AssertionError("reached the application")

    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    await Guard(unreachable, token=TOKEN, hosts=(HERE,))(scope, receive, send)
    return said


def test_websockets_are_closed() -> None:
    assert asyncio.run(_bare({"type": "websocket", "path": "/", "headers": []})) == [
        {"type": "websocket.close", "code": 1008}
    ]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Cookie": "lookalike-studio-8765="},
        {"Cookie": "lookalike-studio-8765=wrong"},
        {"Cookie": f"lookalike-studio-9999={TOKEN}"},
        {"Cookie": f"other={TOKEN}"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
    ],
)
def test_without_the_token_nothing_is_told(client: TestClient, headers: dict[str, str]) -> None:
    for path in ("/", "/api/projects", "/api/openapi.json", "/static/studio.css", "/?token=wrong", "/?token="):
        answer = ask(client, path=path, **headers)
        assert answer.status_code == 403, path
        assert "token is missing or wrong" in answer.text


def test_bytes_that_are_no_text_are_no_token() -> None:
    headers = [
        (b"host", HERE.encode()),
        (b"cookie", b"lookalike-studio-8765=\xff\xfe"),
        (b"authorization", b"Bearer \xff"),
    ]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "query_string": b"token=%ff%00\xff"}
    assert asyncio.run(_bare(scope))[0]["status"] == 403


def test_the_link_sets_a_cookie_and_the_token_leaves_the_address(client: TestClient) -> None:
    answer = ask(client, path=f"/projects/x?a=1&token={TOKEN}&b=%26")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/projects/x?a=1&b=%26"
    cookie = answer.headers["set-cookie"]
    assert cookie == f"lookalike-studio-8765={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    client.cookies.clear()
    assert ask(client, **COOKIE).status_code == 200


@pytest.mark.parametrize(
    "path", ["//evil.example/x", "///evil.example", "/\\evil.example", "/\t/evil.example", "/\\\\evil"]
)
def test_the_link_cannot_lead_elsewhere(path: str) -> None:
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "headers": [(b"host", HERE.encode())],
    }
    said = asyncio.run(_bare({**scope, "query_string": f"token={TOKEN}".encode()}))
    location = dict(said[0]["headers"])[b"location"].decode()
    assert re.match(r"/[\w.%]", location)
    assert not set(location) & set("\\\t\n")
    assert httpx.URL(f"{LINK}/").join(location).netloc == HERE.encode()


def test_odd_cookies_of_other_programs_do_not_lock_the_user_out(client: TestClient) -> None:
    odd = f'a=[1,{{"x"}}]; =; ;;b; lookalike-studio-8765=old; {COOKIE["Cookie"]}; c="'
    assert ask(client, Cookie=odd).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:8765", f"{LINK}.evil", ""],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_changes_by_cookie_come_from_the_studio_itself(client: TestClient, origin: str | None, method: str) -> None:
    headers = COOKIE if origin is None else {**COOKIE, "Origin": origin}
    answer = ask(client, method, "/api/projects/sample", **headers)
    assert answer.status_code == 403
    assert "another page" in answer.json()["error"]


def test_the_studios_own_pages_and_scripts_with_the_token_may_change_things(client: TestClient) -> None:
    nothing = "/api/projects/nothing"
    assert ask(client, "DELETE", nothing, **OWN).status_code == 404
    assert ask(client, "DELETE", nothing, **COOKIE, Origin="http://localhost:8765").status_code == 404
    assert ask(client, "DELETE", nothing, **BEARER).status_code == 404
    assert ask(client, "DELETE", nothing, **BEARER, Origin="http://evil.example").status_code == 404


@pytest.mark.slow
def test_every_kind_of_answer_forbids_what_is_not_the_studios(client: TestClient, done: str) -> None:
    answers = [
        client.get("/"),
        client.get("/nothing"),
        client.get("/api/projects"),
        client.get("/api/projects/nothing"),
        client.get("/api/openapi.json"),
        client.get("/static/studio.css"),
        client.get("/static/nothing"),
        client.get(f"{done}/release.zip"),
        client.get(f"{done}/command"),
        client.get(done.rpartition("/runs")[0] + "/schema"),
        client.post("/api/projects/path", json={"path": "x"}),
        client.head("/api/projects"),
        client.options("/api/projects"),
        client.request("TRACE", "/"),
        ask(client),
        ask(client, **BEARER, Host="evil.example"),
        ask(client, "POST", "/api/projects/sample", **COOKIE),
        ask(client, path=f"/?token={TOKEN}"),
    ]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name.decode()] == value.decode(), (answer.request.url, name)
    report = client.get(f"{done}/report")
    assert report.headers["content-security-policy"].endswith("sandbox")
    assert "script-src" not in report.headers["content-security-policy"]
    assert "'unsafe" not in POLICY
    assert "http" not in POLICY


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PATCH", "PROPFIND", "get", "X" * 500])
def test_odd_methods_are_refused(client: TestClient, method: str) -> None:
    answer = client.request(method, "/api/projects")
    assert answer.status_code == 405 or method == "get"
    assert client.head("/api/projects").status_code == 405


def test_long_addresses_and_headers_do_no_harm(client: TestClient) -> None:
    assert client.get("/api/projects/" + "a" * 60_000).status_code == 404
    assert client.get("/api/projects?" + "&".join(f"a{n}=1" for n in range(5_000))).status_code == 200
    assert ask(client, Cookie="; ".join(["a=b"] * 5_000)).status_code == 403
    assert client.get("/api/projects", headers={f"X-{n}": "y" for n in range(500)}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "../app.py",
        "%2e%2e/app.py",
        "..%2f..%2fapp.py",
        "..%5capp.py",
        "/etc/hostname",
        "%2fetc%2fhostname",
        "a%00b",
        "",
    ],
)
def test_static_files_are_those_of_the_folder(client: TestClient, path: str) -> None:
    answer = client.get(f"/static/{path}")
    assert answer.status_code == 404
    assert "FastAPI" not in answer.text


def test_ids_cannot_be_guessed_and_tables_do_not_see_each_others_runs(client: TestClient, done: str) -> None:
    first, second = opened(client), opened(client)
    assert first != second
    assert all(len(address.rpartition("/")[2]) >= 16 for address in (first, second))
    number = done.rpartition("/")[2]
    for what in ("", "/results", "/report", "/release.zip", "/command"):
        assert client.get(f"{first}/runs/{number}{what}").status_code == 404
    assert client.post(f"{first}/runs/{number}/cancel").status_code == 404
    assert client.get(f"{first}/runs").json() == []
    for address in (first, second):
        client.delete(address)


def test_faults_are_told_without_their_text(
    client: TestClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Panic(BaseException):
        """As compiled libraries raise them."""

    for kind in (ValueError, Panic):

        def failing(*_: Any, kind: type[BaseException] = kind) -> None:
            raise kind("Mrs. Secret, 1961")

        monkeypatch.setattr("lookalike.apps.studio.api.describe_project", failing)
        with caplog.at_level(logging.DEBUG):
            answer = client.post("/api/projects/sample")
        assert answer.status_code == 500
        assert "fault of the software" in answer.json()["error"]
        assert "Secret" not in answer.text + caplog.text
        assert answer.headers["content-security-policy"] == POLICY
    assert "request failed" in caplog.text
    for project in client.app_state.workspace.projects():
        if project.name == "hospital.csv":
            client.delete(f"/api/projects/{project.id}")


def test_records_and_token_stay_out_of_logs(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        project = opened(client, CSV.replace("abcde"[0], "Mrs. Secret"))
        for path in ("", "/columns", "/preview", "/allows?model=l-diversity:2"):
            client.get(project + path)
        upload(client, "a,b\nMrs. Secret,2\n3\n")
        ask(client, path=f"/?token={TOKEN}")
    lines = [record.getMessage() for record in caplog.records if not record.name.startswith("httpx")]
    assert not [line for line in lines if "Secret" in line or TOKEN in line]
    client.delete(project)
