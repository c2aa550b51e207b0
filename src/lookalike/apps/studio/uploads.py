"""Files on their way in: those that are sent go piece by piece to a private folder, none larger than allowed."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Request

from lookalike.errors import DataError, LookalikeError
from lookalike.files.atomic import cannot_write
from lookalike.files.tables.formats import list_endings

MOST_BYTES = 2 << 30
_UPLOAD = "/api/projects/upload"
MOST_BYTES_ASKED = 32 << 20
"""Of any other request."""
_NO_FILES = ("/proc", "/sys", "/dev")
"""What lies there looks like files, but reading may never end, or change something."""


class TooLarge(LookalikeError):
    """More was sent than is allowed."""


def existing_file(text: str) -> Path:
    """A file on this machine, by its full path; looked at before it is opened, which could wait for ever."""
    try:
        path = Path(text).expanduser()
        if not path.is_absolute():
            raise DataError("Write the full path of the file, as in /home/me/patients.csv.")
        real = Path(os.path.realpath(path))
        found = real.stat()
    except OSError as error:
        raise DataError(f"This file cannot be opened: {error.strerror}. Check the path and who may read it.") from None
    except (ValueError, RuntimeError):
        raise DataError(
            "This cannot be a path. Write the full path of the file, as in /home/me/patients.csv."
        ) from None
    if stat.S_ISDIR(found.st_mode):
        raise DataError("This is a folder. Write the full path of one file in it.")
    if not stat.S_ISREG(found.st_mode) or str(real).startswith(tuple(f"{place}/" for place in _NO_FILES)):
        raise DataError("This is no file with a table, but a device or a pipe. Choose another one.")
    if found.st_size == 0:
        raise DataError("The file is empty. Choose another one.")
    return path


def clean_name(name: str) -> str:
    """What a file that was sent is called: the last part of its name, in one line."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "".join(sign if sign.isprintable() else " " for sign in last).strip() or "table"


async def keep_upload(request: Request, name: str, folder: Path) -> Path:
    """The body as a file in the folder; the folder is removed if the file cannot be kept.

    The name is only looked at for its ending: where the file lies is ours to say.
    """
    limit = request.app.state.most_bytes
    try:
        ending = Path(clean_name(name)).suffix.casefold()
        if ending not in (known := list_endings()):
            raise DataError(f"Files of the kind {ending or '(none)'} are not read here. Known: {', '.join(known)}.")
        target = folder / f"original{ending}"
        size = 0
        with target.open("wb") as file:
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    raise TooLarge(
                        f"The file is larger than {limit / (1 << 20):,.0f} MB. Open it by its path instead, or allow "
                        "more (lookalike studio --most MB)."
                    )
                await asyncio.to_thread(file.write, piece)
        if size == 0:
            raise DataError("The file is empty. Choose another one.")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise cannot_write(folder.parent, error) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return target


class Bounded:
    """Around the application: whatever is sent to it, but for files, has to fit into memory several times."""

    def __init__(self, app: Callable[..., Awaitable[None]], most: int = MOST_BYTES_ASKED) -> None:
        self.app = app
        self.most = most

    async def __call__(
        self, scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Any
    ) -> None:
        size = 0

        async def bounded() -> dict[str, Any]:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.most:
                raise HTTPException(413, f"The request is larger than {self.most >> 20} MB. Send less at once.")
            return message

        is_upload = scope["type"] == "http" and scope["path"] == _UPLOAD
        await self.app(scope, receive if is_upload else bounded, send)
