"""Which dates the texts of a column are: the format is guessed from all of them, and asked about where two fit.

The first text says which formats are possible; the others decide. A column that fits day-first and month-first alike,
two-digit years that would lie in the future, and texts of which most but not all are dates have no answer here: they
come back with a question and stay text. ISO dates are read elsewhere (`inference`), since they need no guess.
Cost: one pattern match per text and candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.column_names import find_word, numbers_records, words_of
from lookalike.data.date_formats import AS_TEXT, DAY_FIRST, FIRST_YEAR, DateFormat
from lookalike.errors import counted, quoted

DAY = 86_400_000_000
FIRST_DAY = int(np.datetime64("0001-01-01", "D").astype(np.int64))
LAST_DAY = int(np.datetime64("9999-12-31", "D").astype(np.int64))
_TIME = (
    r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(?: ?([AaPp])\.?[Mm]\.?)?(?: ?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)
"""Hours, minutes, seconds, fraction, half of the day, zone."""
_NAME = r"[^\W\d_]{3,12}\.?"
_HEAD = 512
_MOST_LIKELY = 0.5
"""Share of texts that must be dates for the others to be asked about."""
_FIRST_PLAIN, _LAST_PLAIN = 1900, 2099
_LAST_SURE = 2026
"""Two-digit years after this one may be of either century. Not today's year: the clock decides no reading."""
"""Years that digits without separators must lie in to be taken for dates."""
_ENOUGH = 3
PLACES = "{places}"
"""Is in a question for where the texts are that do not fit."""
_DATE_WORDS = "date dates day dob birth birthday born datum tag fecha data jour geburt* naissance nacimiento"
_MONTHS = (
    "january januar janvier enero gennaio januari",
    "february februar fevrier février febrero febbraio februari feb fev fév fevr févr",
    "march marz märz mars marzo maart mrz mär mrt",
    "april avril abril aprile avr abr",
    "may mai mayo maggio mei mag",
    "june juni juin junio giugno giu",
    "july juli juillet julio luglio juil lug",
    "august aout août agosto augustus ago aou",
    "september septembre septiembre settembre sept set",
    "october oktober octobre octubre ottobre okt ott",
    "november novembre noviembre",
    "december dezember decembre décembre diciembre dicembre dez dic déc",
)
_MONTH_OF = {
    name: month
    for month, names in enumerate(_MONTHS, start=1)
    for word in names.split()
    for name in (word, word[:3])
    if name != "jui"
}


class Parsed(NamedTuple):
    values: NDArray[np.int64]
    """Days, or microseconds where the format has times; 0 where a text does not fit."""
    fits: NDArray[np.bool_]
    is_zoned: bool = False


@dataclass(frozen=True, eq=False)
class Dates:
    """What texts are as dates: read in one format, or a question to the user and the texts that do not fit."""

    format: DateFormat
    parsed: Parsed
    note: str = ""
    question: str = ""


def guess_dates(name: str, texts: pl.Series, wanted: str | None = None) -> Dates | None:
    """The dates that all texts are, or what to ask; None where they are none. `wanted`: day-first or month-first."""
    if not len(texts):
        return None
    candidates = list(_candidates(str(texts[0])))
    if wanted is not None:
        candidates = [one for one in candidates if _is_first(one, wanted)]
    has_time = bool(texts.str.contains(r"[0-9]:[0-9]{2}").any()) if candidates else False
    candidates = [replace(one, has_time=has_time) for one in candidates]
    head = texts.head(_HEAD)
    candidates = [one for one in candidates if parse_dates(head, one).fits.mean() >= _MOST_LIKELY]
    if not candidates or (candidates[0].between == ("", "") and not candidates[0].is_named):
        return _digits(name, texts, candidates[0]) if candidates else None
    tried = [(one, parse_dates(texts, one)) for one in candidates]
    fitting = [(one, parsed) for one, parsed in tried if parsed.fits.all()]
    # Years come first only where nothing else fits: 13/05/24 is the 13th of May.
    fitting = [pair for pair in fitting if pair[0].order[0] != "Y"] or fitting
    if not fitting:
        return _ask_about_misfits(name, *max(tried, key=lambda pair: int(pair[1].fits.sum())))
    (format, parsed), *others = fitting
    rivals = [other for other, read in others if not np.array_equal(read.values, parsed.values)]
    if rivals and format.between[0] != ".":
        return Dates(format, parsed, question=_ask_which(name, str(format), str(rivals[0]), "every value fits both"))
    if format.year_digits == 2 and wanted is None:
        asked = _ask_about_century(name, format, parsed)
        if asked is not None:
            return asked
    return Dates(format, parsed, note=describe(format, parsed))


def describe(format: DateFormat, parsed: Parsed) -> str:
    """How dates were read, in a sentence."""
    years = f", with years from {format.since} to {format.since + 99}" if format.year_digits == 2 else ""
    zones = " Times with a time zone were converted to UTC." * parsed.is_zoned
    return f"dates were read as {format}{years}.{zones}"


def parse_dates(texts: pl.Series, format: DateFormat) -> Parsed:
    """The texts as dates of that format."""
    number = "{2}" if format.between == ("", "") and not format.is_named else "{1,2}"
    written = {
        "D": f"([0-9]{number})",
        "M": f"({_NAME})" if format.is_named else f"([0-9]{number})",
        "Y": f"([0-9]{{{format.year_digits}}})",
    }
    first, second, third = (written[part] for part in format.order)
    date = f"{first}{re.escape(format.between[0])}{second}{re.escape(format.between[1])}{third}"
    tail = f"(?:(?: ?T ?| +){_TIME})?" if format.has_time else ""
    parts = texts.str.extract_groups(f"^(?:{date}{tail})$").struct.unnest()
    cells = {part: parts.to_series(place) for place, part in enumerate(format.order)}
    month = cells["M"]
    if format.is_named:
        plain = month.str.to_lowercase().str.strip_chars_end(".")
        month = plain.replace_strict(_MONTH_OF, default=None, return_dtype=pl.Int64)
    year = cells["Y"].cast(pl.Int64)
    if format.year_digits == 2:
        year = format.since + (year - format.since) % 100
    days = _days(year, month.cast(pl.Int64), cells["D"].cast(pl.Int64))
    sound = days.is_not_null()
    if not format.has_time:
        return Parsed(days.fill_null(0).to_numpy(), sound.to_numpy())
    micros, fits, zoned = parse_times([parts.to_series(place) for place in range(3, 9)])
    moments = (days.fill_null(0) * DAY).to_numpy() + micros
    is_zoned = 2 * int(np.count_nonzero(zoned)) > len(texts)
    inside = (moments >= FIRST_DAY * DAY) & (moments < (LAST_DAY + 1) * DAY)
    return Parsed(moments, sound.to_numpy() & fits & (zoned == is_zoned) & inside, is_zoned)


def _days(year: pl.Series, month: pl.Series, day: pl.Series) -> pl.Series:
    """Days since 1970; null where there is no such date."""
    known = (year.is_between(1, 9999) & month.is_between(1, 12) & day.is_between(1, 31)).fill_null(False)
    present = known.to_numpy()
    months = (year.fill_null(1970).to_numpy() - 1970) * 12 + month.fill_null(1).to_numpy() - 1
    firsts = np.where(present, months, 0).astype("datetime64[M]")
    lengths = ((firsts + 1).astype("datetime64[D]") - firsts.astype("datetime64[D]")).astype(np.int64)
    days = firsts.astype("datetime64[D]").astype(np.int64) + day.fill_null(1).to_numpy() - 1
    fits = present & (day.fill_null(99).to_numpy() <= lengths)
    return pl.Series(days).set(pl.Series(~fits), None)


def parse_times(parts: list[pl.Series]) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """The groups of `_TIME` as microseconds after midnight in UTC; which are times, and which have a zone."""
    hour, minute, second, fraction, half, zone = parts
    hours, minutes, seconds = (part.fill_null("0").cast(pl.Int64).to_numpy() for part in (hour, minute, second))
    micros = fraction.fill_null("").str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64).to_numpy()
    halved = half.is_not_null().to_numpy()
    is_later = half.str.to_lowercase().eq("p").fill_null(False).to_numpy()
    sound = np.where(halved, (hours >= 1) & (hours <= 12), hours < 24) & (minutes < 60) & (seconds < 60)
    hours = np.where(halved, hours % 12 + 12 * is_later, hours)
    digits = zone.str.replace("^(?:Z|UTC|GMT)$", "+00").str.replace(":", "", literal=True).fill_null("+00")
    offset_hours = digits.str.slice(1, 2).cast(pl.Int64).to_numpy()
    offset_minutes = digits.str.slice(3, 2).str.pad_start(1, "0").cast(pl.Int64).to_numpy()
    sign = np.where(digits.str.starts_with("-").to_numpy(), -1, 1)
    sound &= (offset_hours < 24) & (offset_minutes < 60)
    minutes_of_day = hours * 60 + minutes - sign * (offset_hours * 60 + offset_minutes)
    return (minutes_of_day * 60 + seconds) * 1_000_000 + micros, sound, zone.is_not_null().to_numpy()


_TAIL = r"(?:[T ].*)?"
_GAP = r"(?P<gap>[/.\- ])"
_YEAR_FIRST = re.compile(rf"[0-9]{{4}}{_GAP}(?:[0-9]{{1,2}}|(?P<name>{_NAME}))(?P=gap)[0-9]{{1,2}}{_TAIL}")
_YEAR_LAST = re.compile(
    rf"[0-9]{{1,2}}{_GAP}(?:[0-9]{{1,2}}|(?P<name>{_NAME}))(?P=gap)(?P<year>[0-9]{{4}}|[0-9]{{2}}){_TAIL}"
)
_RUN_TOGETHER = re.compile(rf"[0-9]{{1,2}}{_NAME}(?P<year>[0-9]{{4}}|[0-9]{{2}}){_TAIL}")
_DAY_WITH_POINT = re.compile(rf"[0-9]{{1,2}}\. {_NAME} [0-9]{{4}}{_TAIL}")
_NAME_FIRST = re.compile(rf"{_NAME} [0-9]{{1,2}}(?P<gap>,? )[0-9]{{4}}{_TAIL}")
_DIGITS = re.compile(r"[0-9]{8}")


def _candidates(text: str) -> Iterator[DateFormat]:
    """The formats that a text may be written in, the more usual ones first."""
    if _DIGITS.fullmatch(text):
        yield DateFormat("YMD", ("", ""))
    elif found := _YEAR_FIRST.fullmatch(text):
        between = (found["gap"], found["gap"])
        yield DateFormat("YMD", between, is_named=found["name"] is not None)
        if found["name"] is None:
            yield DateFormat("YDM", between)
    elif found := _YEAR_LAST.fullmatch(text):
        between, digits = (found["gap"], found["gap"]), len(found["year"])
        yield DateFormat("DMY", between, digits, found["name"] is not None)
        if found["name"] is None:
            yield DateFormat("MDY", between, digits)
            if digits == 2:
                yield DateFormat("YMD", between, digits)
    elif found := _RUN_TOGETHER.fullmatch(text):
        yield DateFormat("DMY", ("", ""), len(found["year"]), is_named=True)
    elif _DAY_WITH_POINT.fullmatch(text):
        yield DateFormat("DMY", (". ", " "), is_named=True)
    elif found := _NAME_FIRST.fullmatch(text):
        yield DateFormat("MDY", (" ", found["gap"]), is_named=True)


def _is_first(format: DateFormat, wanted: str) -> bool:
    """Whether the day or the month comes first, of those two."""
    return (format.order.index("D") < format.order.index("M")) == (wanted == DAY_FIRST)


def _digits(name: str, texts: pl.Series, format: DateFormat) -> Dates | None:
    """YYYYMMDD, which are whole numbers like any other: only if all are days of the last or this century."""
    words = words_of(name)
    parsed = parse_dates(texts, format)
    days = parsed.values.astype("datetime64[D]")
    first, last = np.datetime64(f"{_FIRST_PLAIN}-01-01"), np.datetime64(f"{_LAST_PLAIN}-12-31")
    if not parsed.fits.all() or days.min() < first or days.max() > last or numbers_records(name):
        return None
    if not find_word(words, _DATE_WORDS) and len(np.unique(parsed.values)) < _ENOUGH:
        return None
    return Dates(format, parsed, note=describe(format, parsed))


def _ask_which(name: str, first: str, second: str, why: str) -> str:
    ways = [f"--date-format {quoted(f'{name}={format}')}" for format in (first, second, AS_TEXT)]
    return (
        f"its dates may be written as {first} or as {second}: {why}. Say which with {ways[0]} or {ways[1]}, or keep it "
        f"as text with {ways[2]}."
    )


def _ask_about_century(name: str, format: DateFormat, parsed: Parsed) -> Dates | None:
    """What to ask where two-digit years may lie in the future; None where they do not."""
    last = int(np.datetime64(f"{_LAST_SURE}-12-31").astype(np.int64)) * (DAY if format.has_time else 1)
    if not len(parsed.values) or parsed.values.max() <= last:
        return None
    past, later = _LAST_SURE - 99, FIRST_YEAR
    why = f"two digits may mean a year up to {past + 99} or up to {later + 99}"
    question = _ask_which(name, f"{format} from {past}", f"{format} from {later}", why)
    return Dates(format, parsed, question=question)


def _ask_about_misfits(name: str, format: DateFormat, parsed: Parsed) -> Dates | None:
    n_misfits = int(np.count_nonzero(~parsed.fits))
    if n_misfits > (1 - _MOST_LIKELY) * len(parsed.fits):
        return None
    verb = "is" if n_misfits == 1 else "are"
    question = (
        f"most of its values are dates written as {format}, but {counted(n_misfits, 'value')} {verb} not"
        f"{PLACES}. Correct them; or name a text that means no value with --missing {quoted(f'{name}=TEXT')}; or keep "
        f"the column as text with --date-format {quoted(f'{name}={AS_TEXT}')}."
    )
    return Dates(format, parsed, question=question)
