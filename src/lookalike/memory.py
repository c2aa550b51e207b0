"""Whether a table fits into memory, asked before the machine begins to swap or the system ends the process.

    require(estimate_bytes(n_rows, n_columns), "mondrian on 2,000,000 records", ...)      raises DataError, or returns

What a run needs is estimated low: a table that would fit is not to be refused, and one that is refused would not fit.
What there is: the least of what the system says is available, what the control group leaves, and what the process may
still take. LOOKALIKE_MEMORY says another figure ("8G", "500M"), or "any" to skip this check.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from lookalike.errors import DataError, RecipeError, quoted

VARIABLE = "LOOKALIKE_MEMORY"
_ANY = "any"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_UNLIMITED = 1 << 60
"""Control groups without a limit say a number as large as this, or larger."""


def estimate_bytes(n_rows: int, n_columns: int, *, own_rows: bool = False) -> int:
    """Bytes beyond what is held when a table has been read; `own_rows`: every row is published with its own extents.

    Measured on census tables with 8 columns, then rounded down: by mondrian, from 100,000 to 300,000 records, 495 bytes
    for each record more; by ring, 100,000 records took about 1,200 bytes per record more than a small table.
    """
    return n_rows * ((_WITH_EXTENTS if own_rows else _PER_CELL) * n_columns + _PER_ROW)


_PER_CELL, _WITH_EXTENTS, _PER_ROW = 45, 120, 100


def require(n_bytes: int, what: str, fits: str, root: Path = Path("/")) -> None:
    """Raise `DataError` if so much is not there; `fits` says what to do instead."""
    there = available(root)
    if there is None or n_bytes <= there:
        return
    raise DataError(
        f"{what} needs about {_format_bytes(n_bytes)} of memory, and {_format_bytes(there)} can be had. {fits} To go "
        f"ahead anyway: {VARIABLE}={_ANY}."
    )


def available(root: Path = Path("/")) -> int | None:
    """Bytes that this process can still take without swapping; None if nobody knows, or nobody should ask."""
    said = os.environ.get(VARIABLE, "").strip()
    if said.casefold() == _ANY:
        return None
    if said:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", said, re.IGNORECASE)
        if found is None:
            raise RecipeError(f'{VARIABLE} is {quoted(said)}. Write a size, as in "8G" or "500M", or "{_ANY}".')
        return int(float(found[1]) * _UNITS[found[2].upper()])
    figures = [_read_status(root / "proc/meminfo", "MemAvailable"), _of_group(root), address_space_left(root)]
    return min((figure for figure in figures if figure is not None), default=None)


def _format_bytes(n_bytes: int) -> str:
    """
    >>> _format_bytes(3 << 30), _format_bytes(700 << 20)
    ('3.0 GB', '700 MB')
    """
    return f"{n_bytes / (1 << 30):,.1f} GB" if n_bytes >= 1 << 30 else f"{n_bytes / (1 << 20):,.0f} MB"


def _of_group(root: Path) -> int | None:
    """What the control group, and those it is in, still allow (version 2, then version 1)."""
    figures = []
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        below, limit, used = _VERSION_1 if controllers else _VERSION_2
        top = root / below
        group = top / path.strip("/")
        # Inside a container the path may be the host's; then only the top is there.
        for folder in (group, *group.parents):
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None and most < _UNLIMITED:
                figures.append(max(0, most - (now or 0) + _read_cached(folder)))
            if folder == top:
                break
    return min(figures, default=None)


_VERSION_1 = ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
_VERSION_2 = ("sys/fs/cgroup", "memory.max", "memory.current")


def _read_cached(folder: Path) -> int:
    """Pages of files that the group gives back when memory is asked for."""
    for line in _lines(folder / "memory.stat"):
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file") and value.isdecimal():
            return int(value)
    return 0


def address_space_left(root: Path = Path("/")) -> int | None:
    """What a limit on the address space leaves (ulimit -v); None if there is none."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return None
    return max(0, most - (_read_status(root / "proc/self/status", "VmSize") or 0))


def forget_peak() -> None:
    """Begin anew with `peak_megabytes`: what was held before does not count."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_megabytes() -> float | None:
    """The most that this process has held since `forget_peak`; None if the system does not say (it does on Linux)."""
    peak = _read_status(Path("/proc/self/status"), "VmHWM")
    return None if peak is None else round(peak / (1 << 20), 1)


def check_addresses(least: int) -> None:
    """Raise `DataError` if a limit leaves fewer: libraries that get none for their threads abort, or wait for ever."""
    left = address_space_left()
    if left is not None and left < least:
        raise DataError(
            f"The process may take {_format_bytes(left)} more addresses (ulimit -v), and its libraries need "
            f"{_format_bytes(least)}, though not as memory. Lift that limit (ulimit -v unlimited), and limit memory by "
            f"{VARIABLE} or by a control group instead."
        )


TO_START, TO_READ = 3 << 30, 1 << 30
"""Addresses that a command needs before it loads anything, and a program that did when it reads its first table."""


def is_scarce() -> bool:
    """Whether a fault is best put down to a lack of addresses: libraries that get none say so in many ways."""
    left = address_space_left()
    return left is not None and left < _SCARCE


_SCARCE = 256 << 20


def _read_status(path: Path, name: str) -> int | None:
    """Bytes that a file of the system says under a name, where they stand as kilobytes."""
    found = (int(line.split()[1]) << 10 for line in _lines(path) if line.startswith(f"{name}:"))
    return next(found, None)


def _number(path: Path) -> int | None:
    text = "".join(_lines(path))
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
