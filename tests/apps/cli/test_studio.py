"""`lookalike studio`: the link, the browser, the largest upload, and ports that cannot be used."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import click
import pytest

from lookalike.apps.studio import serving
from tests.apps.cli.running import lookalike

LINK = "http://127.0.0.1:8000/?token=secret"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the studio was started with and which page was opened; nothing is served."""
    found: dict[str, Any] = {}

    def serve(*, ready: Callable[[str], None], **settings: Any) -> None:
        found.update(settings)
        ready(LINK)

    monkeypatch.setattr(serving, "serve", serve)
    monkeypatch.setattr(click, "launch", lambda link: found.update(opened=link))
    return found


def test_the_link_is_printed_and_opened(asked: dict[str, Any]) -> None:
    done = lookalike("studio")
    assert (done.returncode, done.stdout) == (0, f"lookalike studio: {LINK}\nCtrl-C ends it.\n")
    assert asked == {"port": 0, "most_bytes": 2 << 30, "opened": LINK}


def test_the_browser_can_be_left_out_and_the_largest_file_be_named(asked: dict[str, Any]) -> None:
    done = lookalike("studio", "--no-browser", "--port", "8123", "--most", "5")
    assert LINK in done.stdout
    assert asked == {"port": 8123, "most_bytes": 5 << 20}


@pytest.mark.parametrize("words", [("--port", "70000"), ("--port", "-1"), ("--most", "0")])
def test_numbers_out_of_range_are_refused(asked: dict[str, Any], words: tuple[str, str]) -> None:
    done = lookalike("studio", *words)
    assert (done.returncode, "not in the range" in done.stderr) == (2, True)
    assert asked == {}


def test_a_port_that_is_taken_is_refused_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = lookalike("studio", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert f"Port {port} cannot be used" in done.stderr
    assert "--port" in done.stderr
    assert done.stdout == ""
