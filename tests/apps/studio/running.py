"""A real studio in its own process, for tests in a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass
class Studio:
    """Where it is, and what it said."""

    link: str
    """With the token."""
    process: subprocess.Popen[str]
    errors: IO[str]

    @property
    def base(self) -> str:
        return self.link.partition("/?")[0]

    @property
    def token(self) -> str:
        return self.link.partition("token=")[2]

    def said(self) -> str:
        """All that it wrote to standard error so far."""
        self.errors.flush()
        return Path(self.errors.name).read_text(encoding="utf-8")


@contextmanager
def a_studio(folder: Path, *options: str, report: str = "brief") -> Iterator[Studio]:
    """Started with these options; ended by Ctrl-C."""
    with (folder / "studio-errors.txt").open("w", encoding="utf-8") as errors:
        command = [sys.executable, "-m", "lookalike", "studio", "--no-browser", *options]
        environment = {**os.environ, "LOOKALIKE_REPORT": report}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, f"no link: {line!r}\n{Path(errors.name).read_text()}"
            yield Studio(found[0], process, errors)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=20)
            finally:
                process.kill()
                process.stdout.close()
