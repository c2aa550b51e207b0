"""How studies print: tables as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction


def percent(share: float | Fraction) -> str:
    return f"{100 * float(share):.1f} %"


def say(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def show(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    for line in (header, ["-" * width for width in widths], *rows):
        say("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")
    say()
