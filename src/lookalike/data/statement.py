"""What the publisher states about a release, and no table can show: for whom, why, on what legal basis, until when.

It is printed on the first page of the report and nowhere else; an audit lists it as stated. Every text is short and on
one line, so that no table fits into it. A schema may hold it under `report`:

    lookalike: 1
    report:
      purpose: Study of emergency admissions
      legal_basis: Art. 9 (2) j GDPR
      review_date: 2027-11-30
    columns: ...
"""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from lookalike.errors import RecipeError, SchemaError, unknown_name

LONGEST_TITLE = 200
"""Of a title and of every other text: what a reader of the verdict can take in, and no table fits into."""
UNTITLED = "Anonymised table"
_TEXTS = ("title", "recipient", "purpose", "legal_basis", "contact")
_DATES = ("review_date", "date")


def title_problem(title: str) -> str | None:
    """Why a text cannot be the title of a release, or another text on its first page."""
    if len(title) > LONGEST_TITLE:
        return f"it has {len(title):,} characters, and at most {LONGEST_TITLE} are allowed"
    if any(unicodedata.category(letter) in ("Cc", "Cn", "Co", "Zl", "Zp") for letter in title):
        return "it has line breaks or control characters"
    return None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What the publisher states on page one of the report.

    >>> Statement.of(purpose="Teaching", review_date="2027-11-30").review_date
    datetime.date(2027, 11, 30)
    """

    title: str | None = None
    recipient: str | None = None
    """For whom the release is made."""
    purpose: str | None = None
    """What it is made for."""
    legal_basis: str | None = None
    contact: str | None = None
    """Whom to ask about it."""
    review_date: datetime.date | None = None
    """When the release is to be looked at again."""
    population: int | None = None
    """How many people there are of whom those in the table are a random sample."""
    date: datetime.date | None = None
    """The date of the report and of the release; None: the day it is written."""

    @classmethod
    def of(cls, **given: Any) -> Statement:
        """From what users write; RecipeError for what cannot be printed."""
        for name in _TEXTS:
            text, option = given.get(name), f"--{name.replace('_', '-')} TEXT"
            words = name.replace("_", " ")
            if text is not None and not isinstance(text, str):
                raise RecipeError(f"The {words} is a text, not of type {type(text).__name__}.")
            if text is not None and (problem := title_problem(text)) is not None:
                raise RecipeError(f"The {words} cannot be published: {problem}. Give a shorter plain one ({option}).")
        read: dict[str, Any] = {name: _read_date(name, given[name]) for name in _DATES if given.get(name) is not None}
        if given.get("population") is not None:
            read["population"] = _read_population(given["population"])
        return cls(**{**given, **read})

    @classmethod
    def from_plain(cls, entry: object, source: str) -> Statement:
        """What a schema says under `report`."""
        if not isinstance(entry, Mapping):
            raise SchemaError(f"{source}: report must be a mapping with purpose, recipient and the like.")
        known = [field.name for field in fields(cls)]
        for key in entry:
            if key not in known:
                raise SchemaError(f"{source}, report: {unknown_name('setting', str(key), known)}")
        # YAML takes a telephone number or a year for a number.
        entry = {key: value for key, value in entry.items() if value is not None}
        plain = {key: str(value) if key in _TEXTS and _is_number(value) else value for key, value in entry.items()}
        try:
            return cls.of(**plain)
        except RecipeError as error:
            raise SchemaError(f"{source}, report: {error}") from None

    def __or__(self, other: Statement) -> Statement:
        """What `self` states, and where it is silent what the other does."""
        silent = {field.name: getattr(other, field.name) for field in fields(self) if getattr(self, field.name) is None}
        return replace(self, **silent)

    def to_plain(self) -> dict[str, Any]:
        """Ready for YAML and JSON: what is stated, dates as text."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.isoformat() if isinstance(value, datetime.date) else value
            for name, value in held.items()
            if value is not None
        }

    @property
    def day(self) -> datetime.date:
        """The date of the report: the one that is stated, or today's."""
        return self.date or datetime.date.today()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_date(name: str, given: object) -> datetime.date:
    if isinstance(given, datetime.datetime):
        given = given.date()
    if isinstance(given, datetime.date):
        return given
    try:
        date = datetime.date.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        date = None
    if date is None or date.isoformat() != given:
        raise RecipeError(
            f"The {name.replace('_', ' ')} is written as 2027-11-30 (year, month, day), not {given!r} "
            f"(--{name.replace('_', '-')} DATE)."
        )
    return date


def _read_population(given: object) -> int:
    try:
        number = int(str(given).replace(",", "").replace("_", ""))
    except ValueError:
        number = 0
    if isinstance(given, bool) or not 0 < number < 10**12:
        raise RecipeError(f"The population is a number of people, as 82000, not {given!r} (--population N).")
    return number
