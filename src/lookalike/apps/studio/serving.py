"""The studio on this machine: a port, a token, a link."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from lookalike.apps.studio.security import LOOPBACK, Guard
from lookalike.errors import MissingPart, RecipeError

_ADDRESS = "127.0.0.1"


def guard(app: Any, token: str, port: int) -> Guard:
    return Guard(app, token=token, hosts=tuple(f"{host}:{port}" for host in LOOPBACK))


def serve(*, port: int = 0, most_bytes: int | None = None, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; `ready` gets the link with the token. Port 0: any that is free.

    Nothing but this machine can connect, and nothing is logged about what is asked for.
    """
    try:
        import uvicorn

        from lookalike.apps.studio.app import create_app
    except ImportError as error:
        raise MissingPart(
            f"The studio needs {error.name}, which is missing. Install it: pip install 'lookalike[studio]'."
        ) from None
    try:
        listening = _listen(port)
    except OSError as error:
        raise RecipeError(f"Port {port} cannot be used: {error.strerror}. Choose another (--port), or none.") from None
    with listening, _end_on_signals():
        token, chosen = secrets.token_urlsafe(24), listening.getsockname()[1]
        app = create_app() if most_bytes is None else create_app(most_bytes=most_bytes)
        config = uvicorn.Config(
            guard(app, token, chosen),
            access_log=False,
            log_level="error",
            server_header=False,
            ws="none",
            h11_max_incomplete_event_size=64 << 10,
            timeout_graceful_shutdown=2,
        )
        # Ctrl-C is how it ends, not a failure.
        with suppress(KeyboardInterrupt):
            try:
                # It takes seconds to load what a run needs; the user looks at columns meanwhile.
                app.state.jobs.warm_up()
                ready(f"http://{_ADDRESS}:{chosen}/?token={token}")
                uvicorn.Server(config).run(sockets=[listening])
            finally:
                app.state.jobs.end()
                app.state.workspace.remove()


def _listen(port: int) -> socket.socket:
    # The protocol is named so that answers go out at once: asyncio looks for it, and waits 40 ms each time otherwise.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_ADDRESS, port))
        listening.listen()
    except BaseException:
        listening.close()
        raise
    return listening


@contextmanager
def _end_on_signals() -> Iterator[None]:
    """A closed terminal or a polite kill ends the studio as Ctrl-C does, so that the private folder is removed."""

    def ended(number: int, frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    # Signals come to the main thread; elsewhere they are someone else's.
    is_main = threading.current_thread() is threading.main_thread()
    names = [name for name in ("SIGTERM", "SIGHUP") if is_main and hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), ended) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
