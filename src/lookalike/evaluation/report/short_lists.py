"""Texts and lists of names cut to a length, so that page one stays one page whatever a table calls its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_NAMES, _LONGEST = 4, 28


def clip(text: str, most: int = _LONGEST) -> str:
    """At most so many characters on one line.

    >>> clip("a very long name of a column", 12)
    'a very lo...'
    """
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."


def clip_sentences(text: str, most: int) -> str:
    """As many whole sentences as fit; at least the first, cut if it must be.

    >>> clip_sentences("One is here. Two is here. Three is here.", 30)
    'One is here. Two is here.'
    """
    kept = ""
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z0-9])", text):
        if kept and len(kept) + len(sentence) + 1 > most:
            break
        kept = f"{kept} {sentence}".strip()
    return clip(kept, most)


def join_some(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Names in a sentence, with the number of those that are left out.

    >>> join_some(["age"]), join_some(["age", "sex"]), join_some(list("abcdef"))
    ('age', 'age and sex', 'a, b, c and 3 more')
    """
    if len(names) > most:
        return f"{', '.join(clip(name) for name in names[: most - 1])} and {len(names) - most + 1} more"
    shown = [clip(name) for name in names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
