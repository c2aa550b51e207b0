"""The attackers that promises hold against, from weak to strong. `Wording.describe_adversary` says what each knows."""

from __future__ import annotations

READS_RELEASE, KNOWS_METHOD = ADVERSARIES = ("reads-release", "knows-method")
