"""What may happen to an input: it works, or it is refused in a sentence that shows nobody's values, and soon."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable

from lookalike.errors import LookalikeError

SECRET = "zq7secret"
"""Stands in for a record's value: no message may show it, unless whoever wrote the input wrote it as a name."""
LONGEST_MESSAGE = 4000
MOST_SECONDS = 10.0
"""Of computing, on a machine that does other work too."""


class Fault(Exception):
    """What no user may meet."""

    def __init__(self, what: str, place: str) -> None:
        super().__init__(f"{what} at {place}")
        self.key = (what, place)
        """Equal for two inputs that probably show the same fault."""


def tried(work: Callable[[], object], *, named: bytes | str = b"", seconds: float = MOST_SECONDS) -> bool:
    """Whether the work was done rather than refused; `named` is what messages may quote. Fault for anything else."""
    started = time.process_time()
    done = True
    try:
        work()
    except LookalikeError as error:
        done = False
        _check_message(error, named)
    except (KeyboardInterrupt, SystemExit, Fault):
        raise
    except BaseException as error:  # Rust's panics are no plain exceptions
        raise Fault(type(error).__name__, _place_of(error)) from error
    if time.process_time() - started > seconds:
        raise Fault("too slow", getattr(work, "__qualname__", "?"))
    return done


def _check_message(error: LookalikeError, named: bytes | str) -> None:
    message = str(error)
    if len(message) > LONGEST_MESSAGE:
        raise Fault("endless message", _place_of(error)) from error
    if not message.strip():
        raise Fault("empty message", _place_of(error)) from error
    known = named if isinstance(named, bytes) else named.encode("utf-8", "surrogatepass")
    if SECRET in message and SECRET.encode() not in known:
        raise Fault("a value in a message", _place_of(error)) from error


def _place_of(error: BaseException) -> str:
    """The last line of ours that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "lookalike" in frame.filename.split("site-packages")[-1]]
    last = (ours or frames)[-1]
    return f"{last.filename.rpartition('lookalike/')[2]}:{last.lineno}"
