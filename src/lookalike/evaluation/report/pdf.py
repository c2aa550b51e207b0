"""The report on paper: printed to PDF by a browser that is there already.

The browser gets its own folder that is removed, no network (every name leads nowhere), and no header or footer, so
that no path is printed. LOOKALIKE_BROWSER names another browser; empty, it says that none is to be used.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from lookalike.errors import MissingPart

_BROWSER_VARIABLE = "LOOKALIKE_BROWSER"
_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
    "brave-browser",
)  # fmt: skip
_PLACES = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"),
    Path("C:/Program Files/Google/Chrome/Application/chrome.exe"),
    Path("C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe"),
)
_SECONDS = 120


def find_browser() -> Path | None:
    """A browser of the Chromium family; None if there is none, or if none is to be used."""
    named = os.environ.get(_BROWSER_VARIABLE)
    if named is not None:
        found = shutil.which(named) if named else None
        if named and found is None:
            raise MissingPart(f"{_BROWSER_VARIABLE} names {named}, which is no program here. Correct it, or unset it.")
        return None if found is None else Path(found)
    for name in _NAMES:
        if (found := shutil.which(name)) is not None:
            return Path(found)
    return next((place for place in _PLACES if place.exists()), None)


def to_pdf(html: str, browser: Path | None = None) -> bytes:
    program = browser or find_browser()
    if program is None:
        raise needs_browser()
    with tempfile.TemporaryDirectory(prefix="lookalike-") as name:
        folder = Path(name)
        page, paper = folder / "report.html", folder / "report.pdf"
        page.write_text(html, encoding="utf-8")
        command = [
            str(program), "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
            "--no-pdf-header-footer", f"--print-to-pdf={paper}", page.as_uri(),
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # Chromium's sandbox cannot be set up by the superuser; the page holds no script.
            command.insert(1, "--no-sandbox")
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MissingPart(_explain_failure(program, type(error).__name__)) from None
        if not paper.exists():
            raise MissingPart(_explain_failure(program, f"exit code {done.returncode}"))
        return _without_traces(paper.read_bytes())


def _without_traces(pdf: bytes) -> bytes:
    """The same document without the time of day, the kind of machine and the version of the browser, place by place.

    >>> _without_traces(b"/Creator (Mozilla/5.0) /ModDate (D:20261115190228+00'00')")
    b"/Creator (lookalike  ) /ModDate (D:20261115000000+00'00')"
    """

    def as_long(name: re.Match[bytes]) -> bytes:
        return name[1] + b"lookalike".ljust(len(name[2]))[: len(name[2])] + name[3]

    pdf = re.sub(rb"(/(?:Creator|Producer) \()([^()\\]*(?:\\.[^()\\]*)*)(\))", as_long, pdf)
    return re.sub(rb"(Date \(D:\d{8})\d{6}[^)]{7}", rb"\g<1>000000+00'00'", pdf)


def needs_browser() -> MissingPart:
    return MissingPart(
        "No browser was found to print the report with. Install Chromium, Chrome or Edge, or name one in "
        f"{_BROWSER_VARIABLE}; or open report.html in any browser and print it."
    )


def _explain_failure(program: Path, reason: str) -> str:
    return (
        f"{program.name} could not print the report ({reason}). Open report.html in any browser and print it, or go "
        "without (--no-pdf)."
    )
