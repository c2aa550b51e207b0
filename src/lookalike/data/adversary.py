"""Whom a promise holds against, from weak to strong."""

from __future__ import annotations

READS_RELEASE = "reads-release"
KNOWS_METHOD = "knows-method"

ADVERSARIES = {
    READS_RELEASE: "knows every quasi-identifier of the person and reads the release",
    KNOWS_METHOD: "knows every quasi-identifier of everybody, the method and its parameters, and reads the release",
}
