"""What all pictures share: colours, shapes of marks, and letters.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart, and every series has a mark
of its own as well. Text and axes are of a grey that shows on white and on black, and there is no background, so the
same picture fits a light page, a dark one and paper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]
Shape = tuple[tuple[float, float], ...]
"""Corners around the middle of a mark, in half its size; none: a circle."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
INK = "#808080"
DARK = (COLOURS[0],)
"""Colours on which letters are white."""
SHADES = ((0xDC, 0xE9, 0xF5), (0x00, 0x3A, 0x66))
FONT = "Helvetica, Arial, sans-serif"
SMALL, MEDIUM, LARGE = 10, 11, 13
"""Sizes of letters: labels, titles of axes, the title."""


class Look(NamedTuple):
    """How a series is drawn."""

    colour: str = COLOURS[0]
    shape: Shape = ()
    hollow: bool = False
    """Marks are outlines and lines are dashed: colours and shapes are used a second time."""


CIRCLE: Shape = ()
SQUARE: Shape = ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9))
WALL: Shape = ((-0.2, -1.5), (0.2, -1.5), (0.2, 1.5), (-0.2, 1.5))
_UP: Shape = ((0, -1.15), (1.1, 0.85), (-1.1, 0.85))
_DIAMOND: Shape = ((0, -1.25), (1.1, 0), (0, 1.25), (-1.1, 0))
_QUARTER = ((0.4, -0.4), (0.4, -1.15), (-0.4, -1.15))
_TURNS = ((1, 0), (0, -1), (-1, 0), (0, 1))
_PLUS: Shape = tuple((x * along - y * up, x * up + y * along) for along, up in _TURNS for x, y in _QUARTER)
_DOWN, _RIGHT = tuple((x, -y) for x, y in _UP), tuple((-y, x) for x, y in _UP)
_LEFT = tuple((y, x) for x, y in _UP)
_SHAPES = (CIRCLE, SQUARE, _UP, _DIAMOND, _PLUS, _DOWN, _RIGHT, _LEFT)


def looks_of(names: Sequence[str], walls: Sequence[str] = ()) -> dict[str, Look]:
    """A colour and a shape for each name; every other time around, hollow ones."""
    return {
        name: Look(
            COLOURS[turn % len(COLOURS)],
            WALL if name in walls else _SHAPES[turn % len(_SHAPES)],
            bool(turn // len(COLOURS) % 2),
        )
        for turn, name in enumerate(names)
    }


def names_of(rows: Sequence[Row], column: str) -> list[str]:
    """What a column says, each once, in the order of the rows."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def shade_of(share: float) -> str:
    """The darker the larger, from 0 to 1."""
    mixed = (round(light + (dark - light) * min(max(share, 0), 1)) for light, dark in zip(*SHADES, strict=True))
    return "#" + "".join(f"{part:02X}" for part in mixed)


_ADVANCES = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r{}", 355: '"', 389: "*", 469: "^",
    500: "Jcksvxyz", 584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%",
    944: "W", 1000: "\N{HORIZONTAL ELLIPSIS}", 1015: "@",
}  # fmt: skip
_ADVANCE = {chr(code): 556 for code in range(32, 127)} | {
    letter: wide for wide, letters in _ADVANCES.items() for letter in letters
}
"""How wide the letters of Helvetica and Arial are, in thousandths of their size."""
_FIRST_WIDE = 0x2E80
"""Letters from here on, of Chinese and other scripts, are as wide as high."""


def measure_text(text: str, size: float = SMALL) -> float:
    """About how wide a text is, in pixels."""
    return size / 1000 * sum(_ADVANCE.get(letter) or (611 if ord(letter) < _FIRST_WIDE else 1000) for letter in text)


def shorten(text: str, most: float, size: float = SMALL) -> str:
    """The text, or as many of its first letters as fit, and an ellipsis."""
    if measure_text(text[:1000], size) <= most and len(text) <= 1000:
        return text
    kept = text[: int(most / size / 0.19)]
    while kept and measure_text(f"{kept}\N{HORIZONTAL ELLIPSIS}", size) > most:
        kept = kept[:-1]
    return f"{kept.rstrip()}\N{HORIZONTAL ELLIPSIS}"


_NOT_IN_XML = re.compile("[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Values may hold characters that XML does not; lines and tabs become spaces."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", re.sub("[\t\n\r]", " ", text))
