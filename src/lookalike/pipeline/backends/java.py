"""Whether the Java that Spark would start is there and new enough, asked before it is started.

Spark's own answer to a missing Java is a stack trace. It takes `$JAVA_HOME/bin/java`, else `java` on the PATH; so does
this. Cost: one `java -version`, a tenth of a second.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lookalike.errors import MissingPart

_OLDEST_JAVA = 17
_HOW = (
    f"Install Java {_OLDEST_JAVA} or newer (on Debian and Ubuntu: apt-get install default-jre-headless; on macOS: brew "
    "install openjdk), or let JAVA_HOME name the folder of one that is there."
)
_PATIENCE = 30
"""Seconds; a Java that is slower to say its version is no help either."""


def require_java(environment: Mapping[str, str] = os.environ) -> int:
    """The major version of the Java that Spark would start; raises `MissingPart` if there is none that can serve."""
    program = _program(environment)
    try:
        asked = subprocess.run(
            [program, "-version"], capture_output=True, text=True, errors="replace", timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        raise MissingPart(f"Spark needs Java, and {program} cannot be run. {_HOW}") from None
    version = java_version(asked.stderr + asked.stdout)
    if asked.returncode or version is None:
        raise MissingPart(f"Spark needs Java, and {program} does not say its version. {_HOW}")
    if version < _OLDEST_JAVA:
        raise MissingPart(f"Spark needs Java {_OLDEST_JAVA} or newer, and {program} is Java {version}. {_HOW}")
    return version


def java_version(said: str) -> int | None:
    """The major version in what `java -version` says, or None.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'^\S+ version "(?:1\.)?(\d+)', said, re.MULTILINE)
    return int(found.group(1)) if found else None


def _program(environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        if not program.with_suffix(".exe" if os.name == "nt" else "").is_file():
            raise MissingPart(f"Spark needs Java, and JAVA_HOME names {home}, which has no bin/java. {_HOW}")
        return str(program)
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path is None:
        raise MissingPart(f"Spark needs Java, and there is none on the PATH. {_HOW}")
    return on_path
