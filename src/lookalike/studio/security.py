"""Who may talk to the studio: this machine, with the token, from its own pages.

Host      must name this machine (a page elsewhere whose name was made to lead here is refused: DNS rebinding)
token     in the link once, then in a cookie that scripts cannot read and other sites do not send; or as
          `Authorization: Bearer TOKEN`, for scripts
Origin    of whatever changes something must be the studio itself, if the request came by cookie
answers   forbid everything that does not come from the studio (Content-Security-Policy), are not kept (no-store)
          and cannot be framed by others
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

COOKIE = "lookalike-studio"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
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
    """Stands before the application; what it refuses never reaches it."""

    def __init__(self, app: App, *, token: str, hosts: tuple[str, ...]) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts
        """`host:port` as browsers send them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get(b"host", "").casefold() not in self.hosts:
            await _refuse(send, 421, "This name does not lead to the studio. Open the link that the terminal shows.")
            return
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if "token" in query and scope["method"] == "GET" and self._fits(query["token"][-1]):
            await self._let_in(scope, query, send)
            return
        by_cookie = self._fits(_cookie(headers.get(b"cookie", "")))
        by_header = self._fits(headers.get(b"authorization", "").removeprefix("Bearer "))
        if not by_cookie and not by_header:
            await _refuse(send, 403, "The token is missing or wrong. Open the link that the terminal shows.")
            return
        if scope["method"] not in SAFE_METHODS and not by_header and not self._is_own(headers):
            await _refuse(send, 403, "This request comes from another page. Use the studio's own pages.")
            return
        await self.app(scope, receive, _with_headers(send))

    def _fits(self, offered: str) -> bool:
        return hmac.compare_digest(offered.encode("utf-8", "replace"), self.token.encode())

    def _is_own(self, headers: dict[bytes, str]) -> bool:
        origin = headers.get(b"origin", "").casefold()
        return origin in [f"http://{host}" for host in self.hosts]

    async def _let_in(self, scope: Scope, query: dict[str, list[str]], send: Send) -> None:
        """The token goes from the link into a cookie, so that it stays out of the history and of referrers."""
        rest = urlencode([(name, value) for name, values in query.items() if name != "token" for value in values])
        # One slash: a path with two at its beginning would name another machine.
        path = "/" + scope["raw_path"].decode("latin-1").partition("?")[0].lstrip("/\\")
        location = path + (f"?{rest}" if rest else "")
        cookie = f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        more = [(b"location", location.encode("latin-1", "replace")), (b"set-cookie", cookie.encode())]
        await _respond(send, 303, b"", more)


def _cookie(text: str) -> str:
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _refuse(send: Send, status: int, sentence: str) -> None:
    page = f"<!doctype html><html lang=en><meta charset=utf-8><title>lookalike studio</title><p>{sentence}</p></html>"
    await _respond(send, status, page.encode(), [(b"content-type", b"text/html; charset=utf-8")])


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
