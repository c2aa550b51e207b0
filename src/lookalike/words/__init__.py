"""The catalogue: the words of promises, once for every door, as messages with named placeholders.

    words/en.toml          what this version says
    words/en-0.1.0.toml    what releases of an earlier version say, so that their folders can be checked word by word

A message has a key, `l-diversity.frequency`, and text with placeholders in braces. A translation is one more file with
the same keys (decision 30). Messages are whole phrases, and placeholders may come in any order, because languages put
words in different places.
"""

from __future__ import annotations

import functools
import string
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

ENGLISH = "en"
_FORMS_OF_NUMBER = ("one", "other")
"""A table with these keys is one message. Languages with more forms of number need more keys here."""
_EDITIONS = {"0.1.0": "-0.1.0"}
"""Versions whose words differ from those of this one, and the ends of their files' names."""


class Catalogue:
    """The messages of one language."""

    def __init__(self, messages: Mapping[str, str | Mapping[str, str]]) -> None:
        self._messages = dict(messages)
        self._placeholders: dict[str, frozenset[str]] = {}

    @classmethod
    def of_text(cls, text: str) -> Catalogue:
        """Read from TOML.

        >>> catalogue = Catalogue.of_text('[rows]\\nfound = { one = "{count} row", other = "{count} rows" }')
        >>> catalogue.say("rows.found", 1), catalogue.say("rows.found", 3)
        ('1 row', '3 rows')
        """
        return cls(_flatten(tomllib.loads(text)))

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self._messages)

    def has(self, key: str) -> bool:
        return key in self._messages

    def say(self, key: str, count: int | None = None, /, **given: object) -> str:
        """The message, filled in; `count` chooses among the forms of number and is filled in too."""
        message = self._messages[key]
        if not isinstance(message, str):
            message = message["one" if count == 1 else "other"]
        if count is not None:
            given = {"count": f"{count:,}", **given}
        return message.format_map(given)

    def placeholders(self, key: str) -> frozenset[str]:
        """The names that a message fills in.

        >>> sorted(catalogue().placeholders("hidden.matched"))
        ['count', 'k']
        """
        if key not in self._placeholders:
            message = self._messages[key]
            parsed = map(string.Formatter().parse, [message] if isinstance(message, str) else message.values())
            self._placeholders[key] = frozenset(name for text in parsed for _, name, _, _ in text if name is not None)
        return self._placeholders[key]


def _flatten(content: Mapping[str, Any], before: str = "") -> dict[str, str | Mapping[str, str]]:
    messages: dict[str, str | Mapping[str, str]] = {}
    for name, value in content.items():
        key = f"{before}{name}"
        if isinstance(value, str) or tuple(value) == _FORMS_OF_NUMBER:
            messages[key] = value
        else:
            messages |= _flatten(value, f"{key}.")
    return messages


@functools.cache
def catalogue(language: str = ENGLISH, version: str | None = None) -> Catalogue:
    """The messages of a language, as that version of lookalike says them (None: as this one does).

    >>> catalogue().say("share.rows")
    'its share in the whole table'
    """
    name = f"{language}{_EDITIONS.get(version or '', '')}.toml"
    return Catalogue.of_text((resources.files(__name__) / name).read_text(encoding="utf-8"))


def languages() -> tuple[str, ...]:
    """The languages that there are messages in.

    >>> languages()
    ('en',)
    """
    names = sorted(entry.name for entry in resources.files(__name__).iterdir() if entry.name.endswith(".toml"))
    return tuple(name.removesuffix(".toml") for name in names if "-" not in name)
