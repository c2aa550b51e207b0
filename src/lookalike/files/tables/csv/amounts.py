"""Numbers as people and spreadsheets write them: $1,234.50, 1.234,50 EUR, 1'234, 45 %, (12.50) for less than nothing.

A column is read so only if every text fits one way of writing, and nothing in it could mean two things. One separator
with three digits after it may be before thousands or before decimals: another text of the column decides it, or a
currency, which has no thousandths. Digits in groups that are long without exception (123 456 789) may be numbers of
persons and stay text, and so do zeros in front. Cost: a few vectorised passes over the texts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

_CURRENCY = (
    r"[$\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd\u20ba\u20aa\u20ab\u20b1\u20b4\u20a6\u0e3f\u00a2]|[A-Z]{1,2}\$|"
    r"AED|ARS|AUD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KES|KRW|MXN|MYR|NGN|NOK|NZD|PEN|"
    r"PHP|PKR|PLN|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR|Fr\.|kr\.?|z\u0142|R\$|Rs\.?"
)
_GAP = r"[ \u00a0\u202f]?"
_MARKED = (
    rf"^(?:(?P<sign>-)?{_GAP}(?:(?P<before>{_CURRENCY}){_GAP})?(?P<second>-)?|"
    rf"(?P<open>\()(?:(?P<inside>{_CURRENCY}){_GAP})?)"
)
_BODY = r"(?P<body>[0-9][0-9.,'\u2019 \u00a0\u202f]*?)"
_WRITTEN = rf"{_MARKED}{_BODY}(?:{_GAP}(?P<after>{_CURRENCY}|%))?(?P<end>\))?$"
_SPACES = r"['\u2019 \u00a0\u202f]"
_WHOLE = "(?:0|[1-9][0-9]*)"
_MOST_DIGITS = 15
"""So many decimal digits a float keeps."""
_FEW_DIGITS = 6
"""Telephone numbers and numbers of persons have more."""
_HEAD = 512
"""How many texts must look so before all are tried."""


class Amounts(NamedTuple):
    """Texts as numbers."""

    values: NDArray[np.float64]
    fits: NDArray[np.bool_]
    are_whole: bool = False
    """Whether no text has decimals."""
    note: str = ""


class _Way(NamedTuple):
    """A way of grouping digits."""

    group: str
    """What is before thousands, as a pattern."""
    decimal: str
    """What is before decimals, as a pattern."""
    called: str


_WAYS = (
    _Way(",", r"\.", "commas"),
    _Way(r"\.", ",", "points"),
    _Way(_SPACES, r"\.", "spaces or apostrophes"),
    _Way(_SPACES, ",", "spaces or apostrophes"),
)


def parse_amounts(texts: pl.Series) -> Amounts:
    """The numbers of a column of stripped texts; none fits unless all do, and in one way only."""
    nothing = Amounts(np.zeros(len(texts)), np.zeros(len(texts), dtype=np.bool_))
    texts = texts.str.replace("\u2212", "-", literal=True)  # the true minus sign
    if not len(texts) or not texts.head(_HEAD).str.contains(_WRITTEN).all():
        return nothing
    parts = texts.str.extract_groups(_WRITTEN).struct.unnest()
    body, given = parts["body"], {name: parts[name].is_not_null() for name in ("sign", "second", "open", "end")}
    if body.is_null().any() or (given["open"] != given["end"]).any() or (given["sign"] & given["second"]).any():
        return nothing
    units = pl.concat([parts["before"], parts["inside"], parts["after"]]).drop_nulls()
    if units.n_unique() > 1 or len(units) not in (0, len(texts)):
        return nothing
    unit, has_brackets = str(units[0]) if len(units) else "", bool(given["open"].any())
    fitting = [way for way in _WAYS if _fit(body, way)]
    way = _choose(body, fitting, unit)
    if way is None:
        return nothing
    is_grouped = _is_grouped(body, way)
    if not unit and (_number_something(body, way) if is_grouped else not has_brackets and (texts == body).all()):
        return nothing
    plain = _plain(body, way)
    numbers = plain.cast(pl.Float64, strict=False)
    n_digits = plain.str.replace(".", "", literal=True).str.strip_chars_start("0").str.len_chars()
    if numbers.is_null().any() or (n_digits > _MOST_DIGITS).any():
        return nothing
    is_negative = (given["sign"] | given["second"] | given["open"]).to_numpy()
    values = np.where(is_negative, -numbers.to_numpy(), numbers.to_numpy()) + 0.0  # no negative zero
    has_decimals = bool(body.str.contains(way.decimal).any())
    has_comma = has_decimals and way.decimal == ","
    note = _describe(unit, way.called if is_grouped else "", has_comma, has_brackets)
    return Amounts(values, np.ones(len(texts), dtype=np.bool_), not has_decimals, note)


def _fit(body: pl.Series, way: _Way) -> bool:
    pattern = rf"^(?:{_WHOLE}|[1-9][0-9]{{0,2}}(?:{way.group}[0-9]{{3}})+)(?:{way.decimal}[0-9]+)?$"
    return bool(body.str.contains(pattern).all())


def _is_grouped(body: pl.Series, way: _Way) -> bool:
    return bool(body.str.contains(way.group).any())


def _plain(body: pl.Series, way: _Way) -> pl.Series:
    return body.str.replace_all(way.group, "").str.replace(way.decimal, ".")


def _choose(body: pl.Series, fitting: list[_Way], unit: str) -> _Way | None:
    """The one way in which the texts can be meant; None where two are left that mean different numbers."""
    if unit:
        # 1,234 of a currency is more than a thousand, for there are no thousandths; 1,234 % is not.
        likely = [way for way in fitting if _is_grouped(body, way) is (unit != "%")]
        fitting = likely or fitting
    meant = {tuple(_plain(body, way)) for way in fitting}
    return fitting[0] if len(meant) == 1 else None


def _number_something(body: pl.Series, way: _Way) -> bool:
    """Whether grouped digits may be numbers of persons or telephones: long without exception (79.456.123)."""
    n_digits = body.str.replace_all(r"[^0-9]", "").str.len_chars()
    has_decimals = body.str.contains(way.decimal).any()
    return way.group != "," and not has_decimals and not (n_digits <= _FEW_DIGITS).any()


def _describe(unit: str, grouping: str, has_comma: bool, has_brackets: bool) -> str:
    """
    >>> _describe("$", "commas", False, False)
    'numbers were read without $, with commas before thousands. Ask for type string if they are codes.'
    """
    said = [f"without {unit}"] if unit else []
    said += [f"with {grouping} before thousands"] if grouping else []
    said += ["with a decimal comma"] if has_comma else []
    said += ["with brackets as minus signs"] if has_brackets else []
    return f"numbers were read {', '.join(said)}. Ask for type string if they are codes."
