"""The most memory that this process has held lately, where the system tells it (Linux)."""

from __future__ import annotations

from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def forget_peak() -> None:
    """Begin anew: what was held before does not count."""
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:
        return


def peak_megabytes() -> float | None:
    """Megabytes at the highest since `forget_peak`; None if the system does not say."""
    try:
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        if name == "VmHWM":
            return round(int(rest.split()[0]) / 1024, 1)
    return None
