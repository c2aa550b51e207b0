"""How dates are written in a column: DD/MM/YYYY, MM/DD/YY from 1930, DD-Mon-YYYY hh:mm, YYYYMMDD.

    YYYY YY     the year with four or two digits        DD MM     day and month, as one or two digits
    Mon         the month by name, short or in full     hh:mm     a time, also with seconds, AM or PM, and a zone
    from 1930   of two-digit years: the hundred years from 1930 on (without it from 1969 on)

`day-first` and `month-first` stand for whichever such format fits, `text` for no date at all. The patterns of strptime
(%d/%m/%Y) are read too. A format says how cells are spelled; values are always published as 2024-12-31.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lookalike.errors import SchemaError, quoted

DAY_FIRST, MONTH_FIRST, AS_TEXT = WORDS = ("day-first", "month-first", "text")
FIRST_YEAR = 1969
"""Of two-digit years, as POSIX reads them."""
_SEPARATORS = ("/", "-", ".", " ", ", ", ". ", "")
_EXAMPLES = "DD/MM/YYYY, MM/DD/YYYY, DD-Mon-YY, YYYYMMDD, DD.MM.YYYY hh:mm, day-first or text"
_STRPTIME = {
    "%Y": "YYYY",
    "%y": "YY",
    "%m": "MM",
    "%d": "DD",
    "%b": "Mon",
    "%B": "Mon",
    "%H": "hh",
    "%I": "hh",
    "%M": "mm",
    "%S": "ss",
    "%p": "AM",
    "%z": "Z",
    "%T": "hh:mm:ss",
    "%F": "YYYY-MM-DD",
}
_TOKEN = re.compile(r"yyyy|yy|month|mon|mmm|mm?|dd?", re.IGNORECASE)
_WRITTEN = re.compile(
    r"(?P<date>.+?)(?P<time>(?: ?T ?| )hh?:mm(?::ss)?(?: ?(?:AM|PM))?(?: ?(?:Z|zone))?)?(?: from (?P<since>[0-9]{4}))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DateFormat:
    """The parts of a date in their order, what is between them, and how year and month are written."""

    order: str
    """D, M and Y in their order."""
    between: tuple[str, str]
    year_digits: int = 4
    is_named: bool = False
    """Whether months are names."""
    has_time: bool = False
    since: int = FIRST_YEAR

    @classmethod
    def parse(cls, text: str, column: str) -> DateFormat:
        """The format as a user writes it; SchemaError if it is none."""
        written = text.strip()
        for code, token in _STRPTIME.items():
            written = written.replace(code, token)
        found = _WRITTEN.fullmatch(written)
        parts = [] if found is None else list(_TOKEN.finditer(found["date"]))
        date = "" if found is None else found["date"]
        tokens = [part[0].upper() for part in parts]
        order = "".join(token[0] for token in tokens)
        gaps = [date[one.end() : other.start()] for one, other in zip(parts, parts[1:], strict=False)]
        is_whole = bool(parts) and parts[0].start() == 0 and parts[-1].end() == len(date)
        is_sound = is_whole and sorted(order) == ["D", "M", "Y"] and all(gap in _SEPARATORS for gap in gaps)
        if found is None or not is_sound or ("" in gaps and any(gaps)):
            raise SchemaError(
                f"Column {quoted(column)}: {quoted(text)} is not how dates are written. Give a format such as "
                f"{_EXAMPLES}."
            )
        year = next(token for token in tokens if token[0] == "Y")
        month = next(token for token in tokens if token[0] == "M")
        if found["since"] and len(year) == 4:
            raise SchemaError(
                f"Column {quoted(column)}: {quoted(text)} has years of four digits, so from {found['since']} has no "
                "effect. Leave it out."
            )
        since = int(found["since"] or FIRST_YEAR)
        return cls(order, (gaps[0], gaps[1]), len(year), len(month) > 2, bool(found["time"]), since)

    def __str__(self) -> str:
        """
        >>> print(DateFormat.parse("%d-%b-%y", "born"), DateFormat.parse("m/d/yyyy hh:mm:ss AM", "seen"), sep=", ")
        DD-Mon-YY, MM/DD/YYYY hh:mm
        """
        spelled = {"D": "DD", "M": "Mon" if self.is_named else "MM", "Y": "Y" * self.year_digits}
        first, second, third = (spelled[part] for part in self.order)
        date = f"{first}{self.between[0]}{second}{self.between[1]}{third}"
        time = " hh:mm" if self.has_time else ""
        since = f" from {self.since}" if self.year_digits == 2 and self.since != FIRST_YEAR else ""
        return f"{date}{time}{since}"


def check_date_format(text: str, column: str) -> str:
    """The format in its usual spelling; SchemaError if it is none."""
    if text.strip().lower() in WORDS:
        return text.strip().lower()
    return str(DateFormat.parse(text, column))
