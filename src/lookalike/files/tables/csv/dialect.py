"""How a CSV file is written: its delimiter, its quote, whether it has a header.

Guessed from the first records by trying: the delimiter under which most records have as many fields as the first.
Whatever is guessed and not plain (a comma, double quotes, a header) becomes a sentence for the user; whatever is
given is taken. The guess only has to be likely: `structure` then holds every record of the file against it.
Cost: a few passes over the sample (64 kB at most).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from lookalike.errors import RecipeError
from lookalike.files.tables.csv.inference import MARKERS, looks_typed

SAMPLE_BYTES = 1 << 16
FOR_SPREADSHEETS = re.compile(r'(?:\ufeff)?"?sep=.?"?[;,\t|]*\r?\n?', re.IGNORECASE)
"""A first line that tells spreadsheets the delimiter, and is no part of the table."""
_DELIMITERS = (",", ";", "\t", "|")
_DELIMITER_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How records and fields are separated."""

    delimiter: str
    quote: str | None
    """None: no field is quoted."""
    header: bool
    padded: bool = False
    """Whether every delimiter is followed by a space that belongs to no field."""
    bare_returns: bool = False
    """Whether lines end in a carriage return alone."""
    quote_guessed: bool = False


def detect_dialect(
    sample: str,
    *,
    cut_off: bool,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
    tabs_expected: bool = False,
) -> tuple[Dialect, list[str]]:
    """The most likely dialect and what is to be said about it. An empty `quote` says that nothing is quoted."""
    _check_given(delimiter, quote)
    notes: list[str] = []
    bare_returns = "\r" in sample and "\n" not in sample
    if bare_returns:
        sample = sample.replace("\r", "\n")
        notes.append("Lines were taken to end in a carriage return.")
    if for_spreadsheets := FOR_SPREADSHEETS.match(sample):
        sample = sample[for_spreadsheets.end() :]
        notes.append("The first line, which tells spreadsheets the delimiter, was left out.")
    if delimiter is not None:
        found = delimiter
    else:
        expected = ("\t", *_DELIMITERS) if tabs_expected else _DELIMITERS
        found = _likeliest_delimiter(sample, expected, quote, cut_off)
        if found != expected[0]:
            notes.append(f"Fields were taken to be separated by {_DELIMITER_NAMES[found]}.")
    quoting = '"' if quote is None else quote
    if quote is None and _single_quotes_likely(sample, found, cut_off):
        quoting = "'"
        notes.append("Fields were taken to be quoted with single quotes.")
    fields = _split(sample, found, quoting or None, cut_off)
    has_header = _header_likely([[field.text for field in record] for record in fields]) if header is None else header
    if header is None and not has_header:
        notes.append("The first line looks like data, so columns were named column_1, column_2 and so on.")
    later = [field.spaced for record in fields[has_header:] for field in record[1:]]
    padded = found != " " and bool(later) and all(later)
    if padded:
        notes.append("The space after each delimiter was left out.")
    dialect = Dialect(
        delimiter=found,
        quote=quoting or None,
        header=has_header,
        padded=padded,
        bare_returns=bare_returns,
        quote_guessed=quote is None,
    )
    return dialect, notes


class _Field(NamedTuple):
    text: str
    spaced: bool
    """Whether a space is before it (or before its quote)."""


def split_records(text: str, delimiter: str, quote: str | None, cut_off: bool = False) -> list[list[str]]:
    """The records of a short text without blank lines; if it is cut off, without the record it breaks off in.

    >>> split_records('a;"b;""c"\\n\\n1;2\\n', ";", '"')
    [['a', 'b;"c'], ['1', '2']]
    """
    return [[field.text for field in record] for record in _split(text, delimiter, quote, cut_off)]


def split_spelled(text: str, delimiter: str, quote: str | None) -> Iterator[tuple[list[str], str]]:
    r"""The records of a text as they are spelled, quotes and spaces included, and how the line of each ends.

    >>> list(split_spelled('a;"b"\n\n1; 2\r\n', ";", '"'))
    [(['a', '"b"'], '\n'), ([''], '\n'), (['1', ' 2'], '\r\n')]
    """
    fields: list[str] = []
    for match in _match_fields(text, delimiter, quote):
        fields.append(match.group().removesuffix(match["end"]))
        if match["end"] != delimiter:
            yield fields, match["end"]
            fields = []


def _match_fields(text: str, delimiter: str, quote: str | None) -> Iterator[re.Match[str]]:
    """One field after the other, with what ends it; the empty one after a last delimiter too."""
    pattern = _field_pattern(delimiter, quote)
    position, end = 0, ""
    while position < len(text) or end == delimiter:
        match = pattern.match(text, position)
        assert match is not None  # the unquoted form matches anything
        position, end = match.end(), match["end"]
        yield match


def _split(text: str, delimiter: str, quote: str | None, cut_off: bool) -> list[list[_Field]]:
    records: list[list[_Field]] = []
    fields: list[_Field] = []
    for match in _match_fields(text, delimiter, quote):
        inner, plain, end = match.group("quoted", "plain", "end")
        if cut_off and (not end or (quote and inner is None and plain.lstrip(" ").startswith(quote))):
            break
        cell = plain if inner is None else inner.replace(f"{quote}{quote}", quote or "")
        fields.append(_Field(cell, match.group().startswith(" ")))
        if end != delimiter:
            if len(fields) > 1 or cell.strip() or inner is not None:
                records.append(fields)
            fields = []
    return records


@cache
def _field_pattern(delimiter: str, quote: str | None) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    end = rf"(?P<end>{mark}|\r?\n|\Z)"
    plain = rf"(?P<plain>[^{mark}\n]*?)"
    if quote is None:
        return re.compile(rf"(?:(?P<quoted>(?!)))?{plain}{end}")
    sign = re.escape(quote)
    closed = rf"[ ]*{sign}(?P<quoted>(?:[^{sign}]|{sign}{sign})*+){sign}[ ]*(?={mark}|\r?\n|\Z)"
    return re.compile(rf"(?:{closed}|{plain}){end}")


def _check_given(delimiter: str | None, quote: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"\0'):
        raise RecipeError(f'The delimiter must be one ASCII character such as "," or ";", not {delimiter!r}.')
    if quote and (len(quote) != 1 or not quote.isascii() or quote in "\r\n\0 "):
        raise RecipeError(f"The quote must be one ASCII character, or empty for no quoting, not {quote!r}.")
    if delimiter is not None and delimiter == quote:
        raise RecipeError(f"Delimiter and quote are both {delimiter!r}. Give two different characters.")


def _share_like_first(records: Sequence[Sequence[str]]) -> float:
    return sum(len(record) == len(records[0]) for record in records) / len(records)


def _likeliest_delimiter(sample: str, expected: Sequence[str], quote: str | None, cut_off: bool) -> str:
    best, best_score = expected[0], (False, 0.0, 0)
    for delimiter in (one for one in expected if one in sample):
        for sign in _possible_quotes(sample, delimiter, cut_off) if quote is None else (quote or None,):
            records = split_records(sample, delimiter, sign, cut_off)
            if not records or len(records[0]) < 2:
                continue
            # A quote that is opened and not closed before the delimiter tells against the delimiter.
            sound = sign is None or not _begins_with(sign, records)
            score = (sound, _share_like_first(records), len(records[0]))
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _possible_quotes(sample: str, delimiter: str, cut_off: bool) -> tuple[str, ...]:
    if "'" not in sample or ('"' in sample and _begins_with('"', split_records(sample, delimiter, None, cut_off))):
        return ('"',)
    return ('"', "'")


def _begins_with(sign: str, records: Sequence[Sequence[str]]) -> bool:
    return any(cell.lstrip(" ").startswith(sign) for record in records for cell in record)


def _single_quotes_likely(sample: str, delimiter: str, cut_off: bool) -> bool:
    """Whether fields are quoted with ': none with ", and it makes records even or wraps a whole column."""
    if delimiter == "'" or "'" not in sample:
        return False
    double = split_records(sample, delimiter, '"', cut_off)
    single = split_records(sample, delimiter, "'", cut_off)
    if not double or not single or len(_possible_quotes(sample, delimiter, cut_off)) == 1:
        return False
    if _begins_with("'", single):
        return False  # one that is opened and never closed: an apostrophe
    even_single, even_double = _share_like_first(single), _share_like_first(double)
    if even_single != even_double:
        return even_single > even_double
    columns = zip(*(record for record in double[1:] if len(record) == len(double[0])), strict=True)
    return any(all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in column) for column in columns)


def _header_likely(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns: not if it holds a number or date above nothing but such."""
    if len(records) < 2:
        return True
    first, below = records[0], [record for record in records[1:] if len(record) == len(records[0])]
    over_typed: list[str] = []
    for attr, cell in enumerate(name.strip() for name in first):
        column = [text for record in below if (text := record[attr].strip()) and text not in MARKERS]
        if not column or not all(looks_typed(text) for text in column):
            continue
        if looks_typed(cell):
            over_typed.append(cell)
        elif cell and cell not in MARKERS:
            return True  # a word above numbers
    return not over_typed or _is_run_of_years(over_typed)


def _is_run_of_years(cells: Sequence[str]) -> bool:
    if len(cells) < 2 or not all(re.fullmatch("(?:19|20)[0-9]{2}", cell) for cell in cells):
        return False
    return [int(cell) - int(cells[0]) for cell in cells] == list(range(len(cells)))
