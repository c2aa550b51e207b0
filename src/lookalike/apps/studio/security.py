"""Who may talk to the studio: this machine, with the token, from its own pages.

Host      must name this machine (a page elsewhere whose name was made to lead here is refused: DNS rebinding)
token     in the link once, then in a cookie that scripts cannot read and other sites do not send; or as
          `Authorization: Bearer TOKEN`, for scripts
Origin    of whatever changes something must be the studio itself, if the request came by cookie
answers   forbid everything that does not come from the studio (Content-Security-Policy), are not kept (no-store)
          and cannot be framed by others
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

_COOKIE = "lookalike-studio"
"""With the port behind it: a machine's cookies are common to all its ports, and two studios must not mix theirs up."""
_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox"
"""For report.html, which has its style inside and nothing to run."""
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"SAMEORIGIN",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Is before the application; what it refuses never reaches it."""

    def __init__(self, app: App, *, token: str, hosts: tuple[str, ...]) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts
        """`host:port` as browsers send them."""
        self.cookie = f"{_COOKIE}-{hosts[0].rpartition(':')[2]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get(b"host", "").casefold() not in self.hosts:
            await _refuse(
                scope, send, 421, "This name does not lead to the studio. Open the link that the terminal shows."
            )
            return
        if scope["method"] not in _METHODS:
            await _refuse(
                scope, send, 405, "The studio does not know this method.", [(b"allow", ", ".join(_METHODS).encode())]
            )
            return
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if "token" in query and scope["method"] == "GET" and self._fits(query["token"][-1]):
            await self._let_in(scope, query, send)
            return
        by_cookie = any(self._fits(value) for value in _cookies(scope, self.cookie))
        scheme, _, credentials = headers.get(b"authorization", "").partition(" ")
        by_header = scheme.casefold() == "bearer" and self._fits(credentials.strip())
        if not by_cookie and not by_header:
            await _refuse(scope, send, 403, "The token is missing or wrong. Open the link that the terminal shows.")
            return
        own_pages = [f"http://{host}" for host in self.hosts]
        if (
            scope["method"] not in _SAFE_METHODS
            and not by_header
            and headers.get(b"origin", "").casefold() not in own_pages
        ):
            await _refuse(scope, send, 403, "This request comes from another page. Use the studio's own pages.")
            return
        await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """To the application. Its faults end here: a server would log their text, which could hold a value."""
        status = None

        async def watched(message: dict[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, _with_headers(watched))
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # some libraries' faults are not Exceptions
            if status != 500:
                logging.getLogger("lookalike.apps.studio").error("request failed: %s", type(error).__name__)
            if status is None:
                await _refuse(scope, send, 500, "This failed. It is a fault of the software, please report it.")

    def _fits(self, offered: str) -> bool:
        return hmac.compare_digest(offered.encode("utf-8", "replace"), self.token.encode())

    async def _let_in(self, scope: Scope, query: dict[str, list[str]], send: Send) -> None:
        """The token goes from the link into a cookie, so that it stays out of the history and of referrers."""
        rest = urlencode([(name, value) for name, values in query.items() if name != "token" for value in values])
        # One slash: a path with two at its beginning would name another machine; browsers skip tabs and take \\ for /.
        path = "/" + quote(scope["raw_path"].partition(b"?")[0].lstrip(b"/"), safe="/%:@!$&'()*+,;=~")
        location = path + (f"?{rest}" if rest else "")
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        more = [(b"location", location.encode("latin-1", "replace")), (b"set-cookie", cookie.encode())]
        await _respond(send, 303, b"", more)


def _cookies(scope: Scope, name: str) -> list[str]:
    """Every cookie of that name. By hand: one odd cookie of another program on this machine must not hide ours."""
    sent = b";".join(value for header, value in scope["headers"] if header.lower() == b"cookie").decode("latin-1")
    pairs = (pair.strip().partition("=") for pair in sent.split(";"))
    return [value for found, _, value in pairs if found == name]


async def _refuse(
    scope: Scope, send: Send, status: int, sentence: str, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    kind = b"text/html; charset=utf-8"
    said = f"<!doctype html><html lang=en><meta charset=utf-8><title>lookalike studio</title><p>{sentence}</p></html>"
    if scope["path"].startswith("/api/"):
        kind, said = b"application/json", json.dumps({"error": sentence, "nearest": None})
    await _respond(send, status, said.encode(), [(b"content-type", kind), *(more or [])])


async def _respond(send: Send, status: int, body: bytes, more: list[tuple[bytes, bytes]]) -> None:
    headers = [*HEADERS.items(), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    async def guarded(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            own = [(name, value) for name, value in HEADERS.items() if name not in present]
            message = {**message, "headers": [*message["headers"], *own]}
        await send(message)

    return guarded
