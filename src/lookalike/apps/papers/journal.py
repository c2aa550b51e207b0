"""What a run of experiments has measured so far, on disk, so that a run that was stopped goes on where it was.

Each point is one line of JSON, written as soon as it is measured. A line that was cut short is measured again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
"""One measurement: the parameter on the x axis, `series`, `repetition`, and figures by name."""


@dataclass(eq=False)
class Journal:
    """The points of one experiment; without a path they are kept in memory."""

    path: Path | None = None
    _found: dict[str, Row] = field(default_factory=dict)
    _points: dict[str, Row] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    """What each point took, by the clock: for the time left, not for any result."""

    def __post_init__(self) -> None:
        if self.path is None or not self.path.exists():
            return
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        for line in whole.splitlines():
            point = json.loads(line)
            name = _name(point["at"])
            self._found[name], self.seconds[name] = point["found"], point["seconds"]
            self._points[name] = point["at"]

    @property
    def rows(self) -> list[Row]:
        """Everything measured so far, in the order in which it was."""
        return [{**self._points[name], **found} for name, found in self._found.items()]

    def find(self, at: Mapping[str, Any]) -> Row | None:
        """What was measured at a point, if it was."""
        found = self._found.get(_name(at))
        return None if found is None else {**at, **found}

    def add(self, at: Mapping[str, Any], found: Row, seconds: float) -> Row:
        """Keep what was measured at a point, and return its row."""
        name = _name(at)
        # Through JSON in any case: a row is the same whether it was measured now or read.
        line = json.dumps({"at": dict(at), "found": _plain(found), "seconds": round(seconds, 3)})
        self._found[name], self.seconds[name] = json.loads(line)["found"], seconds
        self._points[name] = dict(at)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        return {**at, **self._found[name]}


def _name(at: Mapping[str, Any]) -> str:
    return json.dumps(dict(at), sort_keys=True)


def _plain(found: Row) -> Row:
    """Numbers as JSON has them; what is infinite or missing has no place in a figure."""
    plain: Row = {}
    for name, value in found.items():
        if isinstance(value, str | bool) or value is None:
            plain[name] = value
        elif isinstance(value, int) or float(value).is_integer() and not isinstance(value, float):
            plain[name] = int(value)
        else:
            plain[name] = float(value) if math.isfinite(value) else None
    return plain
