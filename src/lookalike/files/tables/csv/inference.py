"""From texts to values: which type a column of a text file has, and its distinct values in order.

A type is only taken if every text fits it. Digits with a leading zero stay text (they are codes), and so do signs
and commas that could mean two things: 1,234 may be a thousand or one and a bit, 101,2 only the latter. The usual
markers for "nothing" count as missing only among numbers, dates and booleans: in a column of words "NA" may be Namibia.
An empty text is always missing. Dates that are not written as 2024-12-31 are read by `dates`.
Works on distinct texts wherever the caller has them. Cost: a few vectorised passes; a sort of the distinct values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.date_formats import AS_TEXT, DAY_FIRST, MONTH_FIRST, DateFormat
from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, counted, quoted
from lookalike.files.tables.csv.amounts import Amounts, parse_amounts
from lookalike.files.tables.csv.dates import (
    DAY,
    FIRST_DAY,
    LAST_DAY,
    PLACES,
    Dates,
    describe,
    guess_dates,
    parse_dates,
    parse_times,
)

MARKERS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", ".")

_INTEGER = r"-?(?:0|[1-9][0-9]*)"
_NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WHOLE_NUMBER = r"-?(?:0|[1-9][0-9]{0,14})(?:\.0)?"
_COMMA_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:,[0-9]+)?"
_DECIMAL_COMMA = r",(?:[0-9]{1,2}|[0-9]{4,})$|^-?(?:0|[0-9]{4,}),"
_BOOLEAN = r"(?i:true|false)"
# Where the user names the type, zeros and signs in front can mean only one thing.
_INTEGER_ASKED = r"[+-]?[0-9]+(?:\.0*)?"
_NUMBER_ASKED = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATETIME = (
    rf"({_DATE})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_OTHER_DATE = r"[0-9]{1,4}(?P<gap>[/.-])(?:[0-9]{1,2}|[A-Za-z]{3,9})(?P=gap)[0-9]{1,4}"
_TYPED = re.compile(f"{_NUMBER}|{_DATETIME}|{_OTHER_DATE}")

MOST_PLACES = 5
"""Lines or rows that a message lists."""
_MOMENTS = (ValueType.DATE, ValueType.DATETIME)
_HEAD = 512
"""How many texts must fit before all are tried."""
_NOUNS = {
    ValueType.INTEGER: "whole numbers of at most 64 bits",
    ValueType.NUMBER: "numbers",
    ValueType.DATE: "dates such as 2024-12-31",
    ValueType.DATETIME: "dates with times such as 2024-12-31T23:59:00",
    ValueType.BOOLEAN: "true or false",
    ValueType.STRING: "text",
}


@dataclass(frozen=True, eq=False)
class Settled:
    """Texts as a type, its distinct values in order, and the code of each text (`len(values)`: missing)."""

    type: ValueType
    values: NDArray[Any]
    codes: NDArray[np.int32]
    misfits: NDArray[np.bool_]
    """Texts that are not of the type that was asked for, or that `question` is about."""
    notes: tuple[str, ...] = ()
    date_format: str | None = None
    """How dates are written that are not written as 2024-12-31."""
    question: str = ""
    """What the user must say before these texts can be taken for dates; `PLACES` stands for where the misfits are."""


class _Parsed(NamedTuple):
    values: NDArray[Any]
    fits: NDArray[np.bool_]
    note: str = ""
    date_format: str | None = None


def _explain_misfits(name: str, asked: ValueType | str, n_misfits: int, where: str = "") -> str:
    """What is said when values are not of the type asked for; the values themselves are not shown."""
    verb = "does" if n_misfits == 1 else "do"
    wanted = _NOUNS[asked] if isinstance(asked, ValueType) else f"dates written as {asked}"
    return (
        f"column {quoted(name)} is asked to be {asked}, but {counted(n_misfits, 'value')} {verb} not fit{where}. "
        f"Wanted: {wanted}. Correct the values, or ask for type string."
    )


def finish_column(
    name: str,
    settled: Settled,
    asked: ValueType | None,
    places: NDArray[np.int32],
    where: Sequence[int],
    noun: str,
    source: str,
    n_misfits: int,
) -> tuple[Column, tuple[str, ...]]:
    """The column whose cells are at these places among the texts, and what is to be said about it.

    `where` are the first places of misfits, called lines or rows. DataError if they had to fit.
    """
    listed = _list_places(where, noun, n_misfits)
    question = settled.question.replace(PLACES, listed)
    wanted = asked or (settled.date_format and settled.type)
    if question and asked in _MOMENTS:
        raise DataError(f"{source}: column {quoted(name)}: {question}")
    if not question and wanted and n_misfits:
        raise DataError(f"{source}: {_explain_misfits(name, settled.date_format or wanted, n_misfits, listed)}")
    code_of = np.append(settled.codes, np.int32(len(settled.values)))
    notes = (*settled.notes, f"Column {quoted(name)}: {question}") if question else settled.notes
    column = Column(name, settled.type, code_of[places], settled.values, settled.date_format, question)
    return column, notes


def _list_places(where: Sequence[int], noun: str, n_all: int) -> str:
    """
    >>> _list_places([3, 9], "line", 2), _list_places([3, 9], "row", 7), _list_places([], "row", 0)
    (' (lines 3, 9)', ' (rows 3, 9 and 5 more)', '')
    """
    if not where:
        return ""
    more = f" and {n_all - len(where):,} more" if n_all > len(where) else ""
    return f" ({noun}{'s' if n_all > 1 else ''} {', '.join(f'{place:,}' for place in where)}{more})"


def looks_typed(text: str) -> bool:
    """Whether a text could be a number, a date or a date with a time.

    >>> [looks_typed(text) for text in ("12", "-0.5", "2024-02-29", "007", "age")]
    [True, True, True, False, False]
    """
    return _TYPED.fullmatch(text) is not None


def settle(
    name: str,
    texts: pl.Series,
    asked: ValueType | None,
    missing: Collection[str] = (),
    date_format: str | None = None,
) -> Settled:
    """The type of texts (or the one asked for) and their values; `missing` are texts that mean nothing here.

    `date_format` says how dates are written (`data.date_formats`), and that these are dates.
    """
    stripped = texts.str.strip_chars()
    nothing = (texts == "") | texts.is_null()
    if missing:
        nothing = nothing | texts.is_in(list(missing)) | stripped.is_in(list(missing))
    blank = nothing | (stripped == "")
    marked = stripped.is_in(list(MARKERS)) & ~blank
    candidates = stripped.filter(~(blank | marked))
    if asked is ValueType.STRING or date_format == AS_TEXT or (len(candidates) == 0 and asked is None):
        return _settle_text(texts, nothing)
    if date_format is not None or asked in (ValueType.DATE, ValueType.DATETIME):
        return _settle_dates(name, asked, date_format, candidates, texts, nothing, blank | marked, marked)
    if asked is not None:
        return _settle_values(name, asked, _ASKED[asked](candidates), blank | marked, marked)
    head = candidates.head(_HEAD)
    dates: Dates | None = None
    for type, parse in _GUESSES:
        if parse(head).fits.all() and (parsed := parse(candidates)).fits.all():
            if (
                type is not ValueType.INTEGER
                or parse is _whole_numbers
                or (dates := guess_dates(name, candidates)) is None
            ):
                return _settle_values(name, type, parsed, blank | marked, marked)
            break
    if dates is None:
        dates = guess_dates(name, candidates)
    if dates is None and (amounts := parse_amounts(candidates)).fits.all():
        type = ValueType.INTEGER if amounts.are_whole else ValueType.NUMBER
        return _settle_values(name, type, _as_parsed(amounts), blank | marked, marked)
    if dates is None:
        return _settle_text(texts, nothing, _ambiguous(name, candidates))
    return _settle_guessed(name, dates, texts, nothing, blank | marked, marked)


def _settle_dates(
    name: str,
    asked: ValueType | None,
    date_format: str | None,
    candidates: pl.Series,
    texts: pl.Series,
    nothing: pl.Series,
    left_out: pl.Series,
    marked: pl.Series,
) -> Settled:
    """Texts that are said to be dates, in a format that is given or to be found."""
    wanted = date_format if date_format in (DAY_FIRST, MONTH_FIRST) else None
    if date_format is not None and wanted is None:
        format = DateFormat.parse(date_format, name)
        type = ValueType.DATETIME if format.has_time else ValueType.DATE
        read = parse_dates(candidates, format)
        values = read.values
        if asked is ValueType.DATETIME and type is ValueType.DATE:
            type, values = asked, values * DAY
        parsed = _Parsed(values, read.fits, describe(format, read), str(format))
        return _settle_values(name, type, parsed, left_out, marked)
    type = asked if asked in (ValueType.DATE, ValueType.DATETIME) else ValueType.DATE
    plain = _parse_iso_dates(candidates) if type is ValueType.DATE else _datetimes(candidates)
    if wanted is None and plain.fits.all():
        return _settle_values(name, type, plain, left_out, marked)
    dates = guess_dates(name, candidates, wanted)
    found = None if dates is None else ValueType.DATETIME if dates.format.has_time else ValueType.DATE
    if dates is None or (asked is not None and found is not type):
        return _settle_values(name, type, plain, left_out, marked)
    return _settle_guessed(name, dates, texts, nothing, left_out, marked)


def _settle_guessed(
    name: str, dates: Dates, texts: pl.Series, nothing: pl.Series, left_out: pl.Series, marked: pl.Series
) -> Settled:
    """Dates as they were read, or text with a question."""
    if dates.question:
        misfits = np.zeros(len(texts), dtype=np.bool_)
        misfits[~left_out.to_numpy()] = ~dates.parsed.fits
        return replace(_settle_text(texts, nothing), misfits=misfits, question=dates.question)
    parsed = _Parsed(dates.parsed.values, dates.parsed.fits, dates.note, str(dates.format))
    type = ValueType.DATETIME if dates.format.has_time else ValueType.DATE
    return _settle_values(name, type, parsed, left_out, marked)


def distinct_texts(texts: pl.Series) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The distinct texts in order of their characters, and the code of each text given. No text may be null."""
    codes = texts.rank("dense").cast(pl.Int32).to_numpy() - np.int32(1)
    somewhere = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    somewhere[codes] = np.arange(len(codes))
    return np.array(texts.gather(pl.Series(somewhere, dtype=pl.UInt32)).to_list(), dtype=object), codes


def place_codes(known: NDArray[Any], present: NDArray[np.bool_], missing: int) -> NDArray[np.int32]:
    """The codes of cells: the known ones in their order where a value is present, elsewhere that of missing."""
    codes = np.full(len(present), missing, dtype=np.int32)
    codes[present] = known
    return codes


def _settle_text(texts: pl.Series, nothing: pl.Series, notes: tuple[str, ...] = ()) -> Settled:
    values, known = distinct_texts(texts.filter(~nothing))
    codes = place_codes(known, ~nothing.to_numpy(), len(values))
    return Settled(ValueType.STRING, values, codes, np.zeros(len(texts), dtype=np.bool_), notes)


def _settle_values(name: str, type: ValueType, parsed: _Parsed, left_out: pl.Series, marked: pl.Series) -> Settled:
    values, known = np.unique(parsed.values, return_inverse=True)
    present = ~left_out.to_numpy()
    misfits = np.zeros(len(present), dtype=np.bool_)
    misfits[present] = ~parsed.fits
    notes = [f"Column {quoted(name)}: {parsed.note}"] if parsed.note else []
    if marked.any():
        notes.append(f"Column {quoted(name)}: markers such as NA, ? or - were read as missing.")
    codes = place_codes(known, present, len(values))
    return Settled(type, values, codes, misfits, tuple(notes), parsed.date_format)


def _matches(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.str.contains(f"^(?:{pattern})$")


def _integers(texts: pl.Series, pattern: str = _INTEGER) -> _Parsed:
    wholes = texts.str.replace(r"\.0*$", "").str.strip_prefix("+") if pattern is _INTEGER_ASKED else texts
    numbers = wholes.cast(pl.Int64, strict=False)
    fits = _matches(texts, pattern) & numbers.is_not_null()
    return _Parsed(numbers.fill_null(0).to_numpy(), fits.to_numpy())


def _whole_numbers(texts: pl.Series) -> _Parsed:
    """Whole numbers that are written with .0, as programs write them where some are missing."""
    fits = _matches(texts, _WHOLE_NUMBER)
    numbers = texts.str.strip_suffix(".0").cast(pl.Int64, strict=False)
    return _Parsed(
        numbers.fill_null(0).to_numpy(), fits.to_numpy(), "whole numbers written with .0 were read as whole numbers."
    )


def _as_parsed(amounts: Amounts) -> _Parsed:
    values = amounts.values.astype(np.int64) if amounts.are_whole else amounts.values
    return _Parsed(values, amounts.fits, amounts.note)


def _numbers(texts: pl.Series, pattern: str = _NUMBER) -> _Parsed:
    numbers = texts.str.strip_prefix("+").cast(pl.Float64, strict=False)
    fits = _matches(texts, pattern) & numbers.is_finite().fill_null(False)
    values = numbers.fill_null(0.0).to_numpy() + 0.0  # no negative zero
    values = np.where(fits.to_numpy(), values, 0.0)
    large = pl.Series(np.abs(values) >= 2.0**63) & _matches(texts, _INTEGER)
    note = "whole numbers beyond 64 bits were rounded to 16 digits. Ask for type string to keep them." * large.any()
    return _Parsed(values, fits.to_numpy(), note)


def _comma_numbers(texts: pl.Series) -> _Parsed:
    """Numbers with a decimal comma; none fits unless some comma can be nothing else."""
    if not texts.str.contains(_DECIMAL_COMMA).any():
        return _Parsed(np.zeros(len(texts)), np.zeros(len(texts), dtype=np.bool_))
    parsed = _numbers(texts.str.replace(",", ".", literal=True))
    fits = parsed.fits & _matches(texts, _COMMA_NUMBER).to_numpy()
    return _Parsed(
        parsed.values, fits, "numbers were read with a decimal comma. Ask for type string if they are codes."
    )


def _ambiguous(name: str, texts: pl.Series) -> tuple[str, ...]:
    """What to say of texts that would be numbers if one knew what their commas mean."""
    if not texts.str.contains(",", literal=True).any() or not _matches(texts, _COMMA_NUMBER).all():
        return ()
    return (
        f"Column {quoted(name)}: its commas may be before thousands or before decimals, so it was read as text. "
        "Write its numbers with a point, or without commas.",
    )


def _parse_numbers(texts: pl.Series) -> _Parsed:
    parsed = _numbers(texts, _NUMBER_ASKED)
    if parsed.fits.all():
        return parsed
    others = (_comma_numbers, lambda texts: _as_parsed(parse_amounts(texts)))
    return next((found for parse in others if (found := parse(texts)).fits.all()), parsed)


def _parse_integers(texts: pl.Series) -> _Parsed:
    parsed = _integers(texts, _INTEGER_ASKED)
    if not parsed.fits.all() and (amounts := parse_amounts(texts)).are_whole:
        return _as_parsed(amounts)
    return parsed


def _booleans(texts: pl.Series) -> _Parsed:
    lower = texts.str.to_lowercase()
    return _Parsed((lower == "true").cast(pl.Int64).to_numpy(), _matches(texts, _BOOLEAN).to_numpy())


def _parse_iso_dates(texts: pl.Series) -> _Parsed:
    matching = _matches(texts, _DATE)
    # What does not match is hidden from the parser, which would guess at it.
    shown = pl.select(pl.when(matching).then(texts)).to_series()
    days = shown.str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64)
    fits = (days.is_between(FIRST_DAY, LAST_DAY)).fill_null(False)
    return _Parsed(days.fill_null(0).to_numpy(), fits.to_numpy())


def _datetimes(texts: pl.Series) -> _Parsed:
    # day, hours, minutes, seconds, fraction, zone: one text column each
    parts = texts.str.extract_groups(f"^(?:{_DATETIME})$").struct.unnest()
    day, hour, minute, second, fraction, zone = (parts.to_series(part) for part in range(6))
    days = day.str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64)
    half = pl.Series([None], dtype=pl.String).new_from_index(0, len(texts))
    micros, sound, zoned = parse_times([hour, minute, second, fraction, half, zone])
    moments = days.fill_null(0).to_numpy() * DAY + micros
    inside = (moments >= FIRST_DAY * DAY) & (moments < (LAST_DAY + 1) * DAY)
    fits = days.is_not_null().to_numpy() & sound & inside
    mostly_zoned = 2 * int(np.count_nonzero(zoned & fits)) > int(np.count_nonzero(fits))
    values = np.where(fits, moments, 0)
    return _Parsed(values, fits & (zoned == mostly_zoned), UTC_NOTE if mostly_zoned else "")


UTC_NOTE = "times with a time zone were converted to UTC."

_Parser = Callable[[pl.Series], _Parsed]
_GUESSES: tuple[tuple[ValueType, _Parser], ...] = (
    (ValueType.INTEGER, _integers),
    (ValueType.INTEGER, _whole_numbers),
    (ValueType.NUMBER, _numbers),
    (ValueType.NUMBER, _comma_numbers),
    (ValueType.BOOLEAN, _booleans),
    (ValueType.DATE, _parse_iso_dates),
    (ValueType.DATETIME, _datetimes),
)
_ASKED: dict[ValueType, _Parser] = {
    ValueType.INTEGER: _parse_integers,
    ValueType.NUMBER: _parse_numbers,
    ValueType.BOOLEAN: _booleans,
}
