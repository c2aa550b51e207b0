"""What came of one run: plain data that goes through a pipe, into a file and into a table. No record is in it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

DONE = "done"
AUDIT_FAILED = "audit failed"
"""A release was made and does not keep its promise: a fault of the method or of the software, never a result."""
INFEASIBLE = "infeasible"
"""No release, or none of this method, can keep the promise."""
UNFIT = "unfit"
"""The algorithm does not serve the promise."""
FAULT = "fault"
"""The run ended without an answer."""
NOT_RUN = "not run"
"""Stopped before its turn."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One promise, or several together, kept by one algorithm; and what that cost."""

    promise: str
    """As one writes it, with its columns."""
    meaning: tuple[str, ...] = ()
    """What is promised, in plain sentences."""
    algorithm: str
    adversary: str
    """Whom the promise holds against."""
    status: str
    reason: str = ""
    """Why there is no release to speak of."""
    nearest: str | None = None
    """For a promise that cannot be kept: the nearest that can, where that is known."""
    form: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    """Losses, levels reached over all columns, the best attack, seconds: by name."""
    levels: dict[str, dict[str, float]] = field(default_factory=dict)
    """Levels by sensitive column; those about identity under an empty name."""
    attacks: tuple[dict[str, Any], ...] = ()
    not_made: dict[str, str] = field(default_factory=dict)
    """Attacks that do not apply, with the reason."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By step, checking and attacking included."""

    @property
    def name(self) -> str:
        return f"{self.promise}, {self.algorithm}"

    def figure(self, name: str) -> float | None:
        return self.figures.get(name)

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON, which has no infinity."""
        plain: dict[str, Any] = _finite(asdict(self))
        return plain

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Run:
        """A run as it was; KeyError, TypeError or ValueError if it is none."""
        known = {one.name: plain[one.name] for one in fields(cls)}
        known["meaning"], known["attacks"] = tuple(known["meaning"]), tuple(known["attacks"])
        known["figures"] = {name: float(value) for name, value in known["figures"].items()}
        known["levels"] = {
            column: {name: float(value) for name, value in levels.items()} for column, levels in known["levels"].items()
        }
        return cls(**known)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if isinstance(content, float) and math.isinf(content):
        return "infinity" if content > 0 else "-infinity"
    return content
