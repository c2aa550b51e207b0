"""Java is found where Spark looks for it, and what is wrong with it is said in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.errors import MissingPart
from lookalike.pipeline.backends.spark_sessions import java_version, require_java


def java(folder: Path, said: str, code: int = 0) -> Path:
    """A folder as JAVA_HOME names it, whose program says this of itself."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}\nEND\nexit {code}\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)', 17),
        ('java version "1.8.0_392"\nJava(TM) SE Runtime Environment', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Dversion="3"\nopenjdk version "11.0.2" 2019-01-15', 11),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_versions_are_read_from_what_java_says(said: str, version: int | None) -> None:
    assert java_version(said) == version


def test_the_java_that_spark_would_start_is_asked(tmp_path: Path) -> None:
    new = java(tmp_path / "new", 'openjdk version "21.0.1" 2023-10-17')
    old = java(tmp_path / "old", 'java version "1.8.0_392"')
    path = f"{new / 'bin'}:/usr/bin:/bin"
    assert require_java({"PATH": path}) == 21
    with pytest.raises(MissingPart, match=r"Java 17 or newer.*old/bin/java is Java 8\. Install Java 17"):
        require_java({"PATH": path, "JAVA_HOME": str(old)})


def test_what_is_missing_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"none on the PATH\. Install Java 17 .*apt-get install"):
        require_java({"PATH": str(tmp_path)})
    with pytest.raises(MissingPart, match=r"JAVA_HOME names .*gone, which has no bin/java"):
        require_java({"JAVA_HOME": str(tmp_path / "gone")})
    stub = java(tmp_path / "stub", "Unable to locate a Java Runtime.", code=1)
    with pytest.raises(MissingPart, match="does not say its version"):
        require_java({"JAVA_HOME": str(stub)})
    broken = java(tmp_path / "broken", "")
    (broken / "bin" / "java").write_bytes(b"\x7fELF")
    with pytest.raises(MissingPart, match="cannot be run"):
        require_java({"JAVA_HOME": str(broken)})
