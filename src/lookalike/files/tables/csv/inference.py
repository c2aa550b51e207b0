"""From texts to values: which type a column of a text file has, and its distinct values in order.

A type is only taken if every text fits it. Digits with a leading zero stay text (they are codes), and so do signs
and commas that could mean two things: 1,234 may be a thousand or one and a bit, 101,2 only the latter. The usual
markers for "nothing" count as missing only among numbers, dates and booleans: in a column of words "NA" may be Namibia.
An empty text is always missing.
Works on distinct texts wherever the caller has them. Cost: a few vectorised passes; a sort of the distinct values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.schema import ValueType
from lookalike.errors import counted, quoted

MARKERS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", ".")

_INTEGER = r"-?(?:0|[1-9][0-9]*)"
_NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_COMMA_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:,[0-9]+)?"
_DECIMAL_COMMA = r",(?:[0-9]{1,2}|[0-9]{4,})$|^-?(?:0|[0-9]{4,}),"
_BOOLEAN = r"(?i:true|false)"
# Where the user names the type, zeros and signs in front can mean only one thing.
_INTEGER_ASKED = r"[+-]?[0-9]+(?:\.0*)?"
_NUMBER_ASKED = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_DATES = (
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "%Y-%m-%d", ""),
    (r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}", "%d.%m.%Y", "day.month.year"),
    (r"[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}", "%Y/%m/%d", "year/month/day"),
)
_DATETIME = (
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_TYPED = re.compile("|".join((_NUMBER, *(pattern for pattern, _, _ in _DATES), _DATETIME)))

_DAY = 86_400_000_000
FIRST_DAY = int(np.datetime64("0001-01-01", "D").astype(np.int64))
LAST_DAY = int(np.datetime64("9999-12-31", "D").astype(np.int64))
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
    """Texts that are not of the type that was asked for."""
    notes: tuple[str, ...] = ()


class _Parsed(NamedTuple):
    values: NDArray[Any]
    fits: NDArray[np.bool_]
    note: str = ""


def misfit_message(name: str, asked: ValueType, n_misfits: int, where: str | None = None) -> str:
    """What is said when values are not of the type asked for; the values themselves are not shown."""
    verb = "does" if n_misfits == 1 else "do"
    place = f" (the first {where})" if where else ""
    return (
        f"column {quoted(name)} is asked to be {asked}, but {counted(n_misfits, 'value')} {verb} not fit{place}. "
        f"Wanted: {_NOUNS[asked]}. Mend the values, or ask for type string."
    )


def looks_typed(text: str) -> bool:
    """Whether a text could be a number, a date or a date with a time.

    >>> [looks_typed(text) for text in ("12", "-0.5", "2024-02-29", "007", "age")]
    [True, True, True, False, False]
    """
    return _TYPED.fullmatch(text) is not None


def settle(name: str, texts: pl.Series, asked: ValueType | None, missing: Collection[str] = ()) -> Settled:
    """The type of texts (or the one asked for) and their values; `missing` are texts that mean nothing here."""
    stripped = texts.str.strip_chars()
    nothing = (texts == "") | texts.is_null()
    if missing:
        nothing = nothing | texts.is_in(list(missing)) | stripped.is_in(list(missing))
    blank = nothing | (stripped == "")
    marked = stripped.is_in(list(MARKERS)) & ~blank
    candidates = stripped.filter(~(blank | marked))
    if asked is ValueType.STRING or (len(candidates) == 0 and asked is None):
        return _settle_text(texts, nothing)
    if asked is not None:
        return _settle_values(name, asked, _ASKED[asked](candidates), blank | marked, marked)
    head = candidates.head(_HEAD)
    for type, parse in _GUESSES:
        if parse(head).fits.all() and (parsed := parse(candidates)).fits.all():
            return _settle_values(name, type, parsed, blank | marked, marked)
    return _settle_text(texts, nothing, _ambiguous(name, candidates))


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
    return Settled(type, values, place_codes(known, present, len(values)), misfits, tuple(notes))


def _matches(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.str.contains(f"^(?:{pattern})$")


def _integers(texts: pl.Series, pattern: str = _INTEGER) -> _Parsed:
    wholes = texts.str.replace(r"\.0*$", "").str.strip_prefix("+") if pattern is _INTEGER_ASKED else texts
    numbers = wholes.cast(pl.Int64, strict=False)
    fits = _matches(texts, pattern) & numbers.is_not_null()
    return _Parsed(numbers.fill_null(0).to_numpy(), fits.to_numpy())


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
        f"Column {quoted(name)}: its commas may stand before thousands or before decimals, so it was read as text. "
        "Write its numbers with a point, or without commas.",
    )


def _parse_numbers(texts: pl.Series) -> _Parsed:
    parsed = _numbers(texts, _NUMBER_ASKED)
    if not parsed.fits.all() and (with_commas := _comma_numbers(texts)).fits.all():
        return with_commas
    return parsed


def _booleans(texts: pl.Series) -> _Parsed:
    lower = texts.str.to_lowercase()
    return _Parsed((lower == "true").cast(pl.Int64).to_numpy(), _matches(texts, _BOOLEAN).to_numpy())


def _parse_dates(texts: pl.Series, pattern: str, layout: str, label: str) -> _Parsed:
    matching = _matches(texts, pattern)
    # What does not match is hidden from the parser, which would guess at it.
    shown = pl.select(pl.when(matching).then(texts)).to_series()
    days = shown.str.to_date(layout, strict=False).cast(pl.Int32).cast(pl.Int64)
    fits = (days.is_between(FIRST_DAY, LAST_DAY)).fill_null(False)
    return _Parsed(days.fill_null(0).to_numpy(), fits.to_numpy(), f"dates were read as {label}." if label else "")


def _datetimes(texts: pl.Series) -> _Parsed:
    # day, hours, minutes, seconds, fraction, zone: one text column each
    parts = texts.str.extract_groups(f"^(?:{_DATETIME})$").struct.unnest()
    day, hour, minute, second, fraction, zone = (parts.to_series(part) for part in range(6))
    days = day.str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64)
    hours, minutes, seconds = (part.fill_null("0").cast(pl.Int64) for part in (hour, minute, second))
    micros = fraction.fill_null("").str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64)
    digits = zone.str.replace("Z", "+00", literal=True).str.replace(":", "", literal=True).fill_null("+00")
    offset_hours = digits.str.slice(1, 2).cast(pl.Int64)
    offset_minutes = digits.str.slice(3, 2).str.pad_start(1, "0").cast(pl.Int64)
    offset = (offset_hours * 60 + offset_minutes) * pl.Series(np.where(digits.str.starts_with("-").to_numpy(), -1, 1))
    moments = days * _DAY + ((hours * 60 + minutes - offset) * 60 + seconds) * 1_000_000 + micros
    sound = (hours < 24) & (minutes < 60) & (seconds < 60) & (offset_hours < 24) & (offset_minutes < 60)
    fits = (sound & moments.is_between(FIRST_DAY * _DAY, (LAST_DAY + 1) * _DAY - 1)).fill_null(False).to_numpy()
    zoned = zone.is_not_null().to_numpy()
    mostly_zoned = 2 * int(np.count_nonzero(zoned & fits)) > int(np.count_nonzero(fits))
    return _Parsed(moments.fill_null(0).to_numpy(), fits & (zoned == mostly_zoned), UTC_NOTE if mostly_zoned else "")


UTC_NOTE = "times with a time zone were converted to UTC."

_Parser = Callable[[pl.Series], _Parsed]
_GUESSES: tuple[tuple[ValueType, _Parser], ...] = (
    (ValueType.INTEGER, _integers),
    (ValueType.NUMBER, _numbers),
    (ValueType.NUMBER, _comma_numbers),
    (ValueType.BOOLEAN, _booleans),
    *((ValueType.DATE, lambda texts, form=form: _parse_dates(texts, *form)) for form in _DATES),
    (ValueType.DATETIME, _datetimes),
)
_ASKED: dict[ValueType, _Parser] = {
    ValueType.INTEGER: lambda texts: _integers(texts, _INTEGER_ASKED),
    ValueType.NUMBER: _parse_numbers,
    ValueType.BOOLEAN: _booleans,
    ValueType.DATE: lambda texts: max(
        (_parse_dates(texts, *form) for form in _DATES), key=lambda read: read.fits.sum()
    ),
    ValueType.DATETIME: _datetimes,
}
