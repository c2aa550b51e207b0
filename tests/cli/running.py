"""The command as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLI = [sys.executable, "-m", "lookalike"]
QI = ["--qi", "age,sex,zip code", "--sensitive", "diagnosis"]


def lookalike(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CLI, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=300)


def published(patients: Path, out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return lookalike("publish", patients, *QI, "--model", "k-anonymity:4", "--out", out, *words)
