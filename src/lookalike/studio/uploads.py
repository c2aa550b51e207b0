"""Files that are sent: streamed to the project's private folder, and no larger than allowed."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from fastapi import Request

from lookalike.errors import DataError

MOST_BYTES = 2 << 30
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc")


async def keep_upload(request: Request, name: str, folder: Path, most: int | None = None) -> Path:
    """The body as a file in the folder; the folder is removed if the file cannot be kept.

    The name is only looked at for its ending: where the file lies is ours to say.
    """
    limit = most if most is not None else request.app.state.most_bytes
    try:
        ending = Path(name).suffix.casefold()
        if ending not in ENDINGS:
            raise DataError(f"Files of the kind {ending or '(none)'} are not read here. Known: {', '.join(ENDINGS)}.")
        target = folder / f"original{ending}"
        size = 0
        with target.open("wb") as file:
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    raise DataError(
                        f"The file is larger than {limit / (1 << 20):,.0f} MB. Open it by its path instead, or allow "
                        "more (lookalike studio --most MB)."
                    )
                await asyncio.to_thread(file.write, piece)
        if size == 0:
            raise DataError("The file is empty. Choose another one.")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return target
