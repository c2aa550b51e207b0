"""Published columns as typed series (Parquet) and as text (CSV), and the text read back.

    numbers, dates    28..39, [-5..-2], 28, 2024-01-05..2024-02-10; open to one side: <=17, >=91
    ordered values    low to high
    sets              Private|Federal, * for every value of the column
    taxonomy nodes    the node's label
    missing           empty; with others: 28..39|(missing)

A spreadsheet leaves each of these as it is, but for single values that it takes for something else (01234, 1e5).
Formats 1 and 2 of releases have ranges that many spreadsheets take for dates (28-39, -5 to -2,
2024-01-05/2024-02-10): they are the encoding `interval`, and are still read and printed.

`lay_out` gives the typed series, `print_cells` turns a typed series into text and needs no domain, so a Parquet file
can be held against a CSV file without the original. `parse_cells` reads text over the domain of an original.
Invariant: parse(print(lay_out(cells))) is the same extent, whatever the values contain. Everything is formatted once
a unit and gathered; parsing costs one step a distinct cell.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, texts_of
from lookalike.data.release import Cells, ExactCells, Extents, NumberCells, Ranges, Sets, is_numeric_cell
from lookalike.data.schema import NUMBER_LIKE, ValueType
from lookalike.data.taxonomy import old_label
from lookalike.errors import DataError, quoted
from lookalike.files.releases.assemble import DomainIndex, Holding, parse_end

_ANY = "*"
MISSING = "(missing)"
_EMPTY = "(empty)"
_UP, _UP_TO, _AT_LEAST = "..", "<=", ">="
_TIMES = (ValueType.DATE, ValueType.DATETIME)


class Encoding(StrEnum):
    """How the cells of a published column are written."""

    EXACT = "exact"
    RANGE = "range"
    INTERVAL = "interval"
    """A range as formats 1 and 2 of releases write it."""
    SPAN = "span"
    NODE = "node"
    SET = "set"
    BUCKET = "bucket"
    COUNT = "count"
    PERSON = "person"
    VISIT = "visit"


@dataclass(frozen=True)
class Field:
    """A published column: all that is needed to print its typed values."""

    name: str
    role: str
    kind: str
    type: ValueType
    encoding: Encoding

    @property
    def is_plain(self) -> bool:
        """Whether a cell is one value (or a number), and no text that says which values it may hide."""
        return self.encoding is Encoding.EXACT or self.is_number

    @property
    def is_range(self) -> bool:
        """Whether a cell is a range of numbers or dates, in either notation."""
        return self.encoding in (Encoding.RANGE, Encoding.INTERVAL)

    @property
    def is_number(self) -> bool:
        """Whether it numbers groups, persons or visits, or counts rows, and is no column of the original."""
        return self.encoding in (Encoding.BUCKET, Encoding.PERSON, Encoding.VISIT, Encoding.COUNT)


def lay_out(cells: Cells, *, old: bool = False) -> tuple[Field, pl.Series, NDArray[Any] | None]:
    """The column's typed entries once a unit, and which entry each row has (None: entries are rows).

    `old`: as formats 1 and 2 of releases have them.
    """
    if isinstance(cells, NumberCells):
        field = Field(cells.name, cells.role, cells.role, ValueType.INTEGER, Encoding(cells.role))
        return field, pl.Series(cells.name, cells.numbers, dtype=pl.Int64), None
    domain, role, kind = cells.domain, str(cells.role), str(cells.domain.kind)
    if isinstance(cells, ExactCells):
        return Field(domain.name, role, kind, domain.type, Encoding.EXACT), _value_entries(domain), cells.codes
    type, encoding, entries = _extent_entries(domain, cells.extents, old)
    return Field(domain.name, role, kind, type, encoding), entries, cells.unit_of_row


def _value_entries(domain: Domain) -> pl.Series:
    """A column's values in the order of their codes, then null for missing."""
    return column_entries(domain.values, domain.type)


def column_entries(values: NDArray[Any], type: ValueType) -> pl.Series:
    """Typed values in the order of their codes, then null for missing."""
    typed = type_values(values, type)
    return pl.concat([typed, pl.Series([None], dtype=typed.dtype)])


def value_series(domain: Domain, codes: Codes) -> pl.Series:
    """Codes as the values that they stand for, missing as null."""
    return _value_entries(domain).gather(codes).alias(domain.name)


def type_values(values: NDArray[Any], type: ValueType) -> pl.Series:
    """A column's values with the type that they have at the border."""
    if type is ValueType.STRING:
        return pl.Series(values.tolist(), dtype=pl.String)
    if type is ValueType.NUMBER:
        return pl.Series(np.asarray(values, dtype=np.float64) + 0.0, dtype=pl.Float64)
    return pl.Series(np.asarray(values, dtype=np.int64), dtype=pl.Int64).cast(_DTYPES[type])


def raw_values(series: pl.Series, type: ValueType) -> NDArray[Any]:
    """The same back: typed values, none of them null, as a column of codes has them."""
    if type is ValueType.STRING:
        return np.array(series.to_list(), dtype=object)
    typed = series.cast(_DTYPES[type])
    return (typed if type is ValueType.NUMBER else typed.cast(pl.Int64)).to_numpy()


def negative_zeros(series: pl.Series) -> NDArray[np.bool_]:
    """Which entries hold a zero with a minus sign. It equals zero, and lookalike never writes it."""
    if isinstance(series.dtype, pl.Struct):
        found = [negative_zeros(part) for part in series.struct.unnest().get_columns()]
        return np.asarray(np.logical_or.reduce(found), dtype=bool)
    if not series.dtype.is_float():
        return np.zeros(len(series), dtype=bool)
    numbers = series.fill_null(1.0).to_numpy()
    return np.asarray((numbers == 0) & np.signbit(numbers), dtype=bool)


def without_negative_zeros(series: pl.Series) -> pl.Series:
    """The same entries with zeros as lookalike writes them."""
    if isinstance(series.dtype, pl.Struct):
        parts = [without_negative_zeros(part) for part in series.struct.unnest().get_columns()]
        return pl.DataFrame(parts).to_struct(series.name)
    return series + 0.0 if series.dtype.is_float() else series


def values_of(texts: Sequence[str | None], type: ValueType) -> pl.Series:
    """Values from how they print (`texts_of`); None is missing."""
    special: dict[ValueType, Callable[[str], Any]] = {
        ValueType.STRING: str,
        ValueType.BOOLEAN: "true".__eq__,
        ValueType.INTEGER: int,
    }
    parse = special.get(type, partial(parse_end, type=type))
    known = [parse(text) for text in texts if text is not None]
    next_place = itertools.count()
    places = [None if text is None else next(next_place) for text in texts]
    return type_values(np.array(known), type).gather(pl.Series(places, dtype=pl.UInt32))


_DTYPES: dict[ValueType, Any] = {
    ValueType.STRING: pl.String,
    ValueType.INTEGER: pl.Int64,
    ValueType.NUMBER: pl.Float64,
    ValueType.DATE: pl.Date,
    ValueType.DATETIME: pl.Datetime("us"),
    ValueType.BOOLEAN: pl.Boolean,
}


def dtype_of(field: Field) -> Any:
    """How a column is in Parquet."""
    value = _DTYPES[field.type]
    if field.encoding is Encoding.SET:
        return pl.Struct({"values": pl.List(pl.String), "missing": pl.Boolean, "any": pl.Boolean})
    if field.is_range or field.encoding is Encoding.SPAN:
        return pl.Struct({"low": value, "high": value, "missing": pl.Boolean})
    return pl.Int64 if field.is_number else value


def _extent_entries(domain: Domain, extents: Extents, old: bool) -> tuple[ValueType, Encoding, pl.Series]:
    if isinstance(extents, Sets):
        return ValueType.STRING, Encoding.SET, _set_entries(domain, extents)
    if is_numeric_cell(domain):
        type, entries = _range_entries(domain, extents)
        return type, Encoding.INTERVAL if old else Encoding.RANGE, entries
    empty = extents.highs < extents.lows
    _refuse_empty(domain, empty & ~extents.missing)
    if domain.taxonomy is None:
        texts = pl.Series([*domain.texts[: len(domain.values)], None], dtype=pl.String)
        ends = [texts.gather(np.where(empty, len(domain.values), codes)) for codes in (extents.lows, extents.highs)]
        return ValueType.STRING, Encoding.SPAN, _struct(low=ends[0], high=ends[1], missing=extents.missing)
    nodes = domain.taxonomy.closures(extents.lows, extents.highs)
    is_node = (domain.taxonomy.firsts[nodes] == extents.lows) & (domain.taxonomy.lasts[nodes] == extents.highs)
    if not is_node.all():
        return ValueType.STRING, Encoding.SET, _set_entries(domain, _spell_out(extents))
    labels: list[str | None] = [old_label(label) if old else label for label in domain.taxonomy.labels]
    if domain.has_missing:
        labels[int(domain.taxonomy.leaf_nodes[domain.missing_code])] = None
    return ValueType.STRING, Encoding.NODE, pl.Series(labels, dtype=pl.String).gather(nodes)


def _range_entries(domain: Domain, ranges: Ranges) -> tuple[ValueType, pl.Series]:
    unprintable = np.isnan(ranges.low_points) | np.isnan(ranges.high_points)
    _refuse_empty(domain, unprintable & ~ranges.missing)
    type = domain.type if domain.type in NUMBER_LIKE else ValueType.INTEGER
    points = np.concatenate([ranges.low_points[~unprintable], ranges.high_points[~unprintable]])
    points = points[np.isfinite(points)]
    if type is not ValueType.NUMBER and bool((points != np.rint(points)).any()):
        type = ValueType.NUMBER
    ends = []
    for codes, end_points in ((ranges.lows, ranges.low_points), (ranges.highs, ranges.high_points)):
        # Whole numbers beyond 2^53 are not exact as points, so an end that is a value is taken from the values.
        values = domain.values if len(domain.values) else np.zeros(1, dtype=np.int64)
        at_code = np.clip(codes, 0, len(values) - 1)
        is_value = values[at_code].astype(np.float64) == end_points
        known = np.isfinite(end_points) & ~unprintable
        printed = np.where(known, end_points, 0.0).astype(np.float64 if type is ValueType.NUMBER else np.int64)
        end = type_values(np.where(is_value, values[at_code], printed), type)
        ends.append(pl.select(pl.when(pl.Series(known)).then(end)).to_series())
    return type, _struct(low=ends[0], high=ends[1], missing=ranges.missing)


def _set_entries(domain: Domain, sets: Sets) -> pl.Series:
    _refuse_empty(domain, sets.sizes == 0)
    n_units = len(sets)
    whole = (sets.sizes == domain.n_codes) & (domain.n_codes > 1)
    is_missing = sets.members == domain.missing_code
    unit_of_member = np.repeat(np.arange(n_units, dtype=np.int64), sets.sizes)
    missing = np.zeros(n_units, dtype=bool)
    missing[unit_of_member[is_missing]] = True
    # A cell that may be anything does not list the domain: values that only suppressed records have stay unnamed.
    listed = ~is_missing & ~whole[unit_of_member]
    texts = pl.Series([*domain.texts], dtype=pl.String).gather(sets.members[listed])
    members = pl.DataFrame({"unit": unit_of_member[listed], "values": texts}).group_by("unit", maintain_order=True)
    units = pl.DataFrame({"unit": np.arange(n_units, dtype=np.int64)})
    lists = units.join(members.agg("values"), on="unit", how="left", maintain_order="left")["values"]
    lists = lists.fill_null(pl.Series([[]], dtype=pl.List(pl.String)))
    return _struct(values=lists, missing=missing, any=whole)


def _refuse_empty(domain: Domain, empty: NDArray[np.bool_]) -> None:
    if empty.any():
        raise DataError(f"Column {quoted(domain.name)} has a published cell that holds no value. Nothing is written.")


def _spell_out(ranges: Ranges) -> Sets:
    """Runs as sets (of a taxonomy, where missing is a leaf)."""
    sizes = (ranges.highs - ranges.lows + 1).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = np.arange(starts[-1]) - np.repeat(starts[:-1] - ranges.lows, sizes)
    return Sets(starts, members.astype(np.int32))


def _struct(**fields: Any) -> pl.Series:
    return pl.DataFrame(fields).to_struct()


def print_cells(field: Field, series: pl.Series) -> pl.Series:
    """Typed entries as text; null is an empty cell."""
    if field.is_plain or field.encoding is Encoding.NODE:
        texts = _value_texts(series, field.type)
        return _map_texts(texts, plain_escape) if field.type is ValueType.STRING else texts
    if field.encoding is Encoding.SET:
        return _print_sets(series)
    parts = series.struct
    low, high = (_value_texts(parts.field(end), field.type) for end in ("low", "high"))
    negative = pl.col("low").str.starts_with("-")
    if field.encoding is Encoding.SPAN:
        low, high = _map_texts(low, _escape_end), _map_texts(high, _escape_end)
        joint = pl.lit(" to ")
    elif field.encoding is Encoding.RANGE:
        joint = pl.lit(_UP)
    elif field.type in _TIMES:
        joint = pl.lit("/")
    else:
        joint = pl.when(negative).then(pl.lit(" to ")).otherwise(pl.lit("-"))
    joined = pl.concat_str(pl.col("low"), joint, pl.col("high"))
    if field.encoding is Encoding.RANGE:
        # A spreadsheet computes what begins with a minus.
        joined = pl.when(negative).then(pl.concat_str(pl.lit("["), joined, pl.lit("]"))).otherwise(joined)
    up_to, at_least = (pl.concat_str(pl.lit(sign), pl.col(end)) for sign, end in ((_UP_TO, "high"), (_AT_LEAST, "low")))
    return _with_missing(
        pl.DataFrame({"low": low, "high": high, "missing": parts.field("missing")}),
        pl.when(pl.col("low") == pl.col("high")).then(pl.col("low")).otherwise(pl.coalesce(joined, up_to, at_least)),
    )


def range_pattern(type: ValueType) -> str:
    """A regular expression that every range of values of a type fits, for programs that check the CSV files.

    >>> pattern = range_pattern(ValueType.INTEGER)
    >>> [text for text in ("28..39", "[-5..2]", "28", "<=17", "28-39", "-5..2") if re.fullmatch(pattern, text)]
    ['28..39', '[-5..2]', '28', '<=17']
    """
    plain = {ValueType.DATE: _DAY, ValueType.DATETIME: _DAY + _MOMENT}.get(type, r"[0-9]+(\.[0-9]+)?")
    end = f"-?{plain}"
    missing = r"\(missing\)"
    return rf"(((<=|>=)?{end}|{plain}\.\.{end}|\[-{plain}\.\.{end}\])(\|{missing})?|{missing})"


_DAY, _MOMENT = "[0-9]{4,}-[0-9]{2}-[0-9]{2}", r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?"


def _print_sets(series: pl.Series) -> pl.Series:
    frame = series.struct.unnest()
    members = frame["values"].explode(empty_as_null=False).unique().drop_nulls()
    if len(members):
        escaped = [escape_member(text) for text in members]
        lists = frame["values"].list.eval(pl.element().replace_strict(members, escaped, return_dtype=pl.String))
        frame = frame.with_columns(values=lists)
    joined = pl.when(pl.col("values").list.len() > 0).then(pl.col("values").list.join("|"))
    printed = _with_missing(frame, joined)
    return frame.select(pl.when(pl.col("any")).then(pl.lit(_ANY)).otherwise(printed)).to_series()


def _with_missing(frame: pl.DataFrame, text: pl.Expr) -> pl.Series:
    tail = pl.when(pl.col("missing")).then(pl.lit("|" + MISSING)).otherwise(pl.lit(""))
    return frame.select(pl.concat_str(text, tail)).to_series()


def _value_texts(series: pl.Series, type: ValueType) -> pl.Series:
    """How typed values print, the same way everywhere."""
    if type is ValueType.STRING:
        return series.cast(pl.String)
    return _map_distinct(series, lambda distinct: texts_of(raw_values(distinct, type), type))


def _map_texts(texts: pl.Series, change: Callable[[str], str]) -> pl.Series:
    return _map_distinct(texts, lambda distinct: [change(text) for text in distinct])


def _map_distinct(series: pl.Series, change: Callable[[pl.Series], list[str]]) -> pl.Series:
    distinct = series.unique().drop_nulls()
    if not len(distinct):
        return series.cast(pl.String)
    return series.replace_strict(distinct, change(distinct), default=None, return_dtype=pl.String)


_LOOKS_RESERVED = re.compile(r"\\*\((?:empty|missing)\)")
_WORD_TO = re.compile(r"(?<![^ ])to(?![^ ])")
_MEMBER = re.compile(r"(?:[^\\|]|\\.)+", re.DOTALL)


def plain_escape(text: str) -> str:
    """A single value: as it is, but for the empty text and texts that look like our own words.

    >>> plain_escape("a|b"), plain_escape(""), plain_escape("(missing)")
    ('a|b', '(empty)', '\\\\(missing)')
    """
    if text == "":
        return _EMPTY
    return "\\" + text if _LOOKS_RESERVED.fullmatch(text) else text


def plain_unescape(text: str) -> str:
    if text == _EMPTY:
        return ""
    return text[1:] if text.startswith("\\") and _LOOKS_RESERVED.fullmatch(text) else text


def escape_member(text: str) -> str:
    """A value inside a set: a backslash before | and backslash, before a space at either end, before our own words.

    >>> [escape_member(text) for text in ("a|b", " x", "*", "")]
    ['a\\\\|b', '\\\\ x', '\\\\*', '(empty)']
    """
    if text == "":
        return _EMPTY
    if text in (_ANY, MISSING, _EMPTY):
        return "\\" + text
    escaped = re.sub(r"([\\|])", r"\\\1", text)
    if escaped[0].isspace():
        escaped = "\\" + escaped
    if len(text) > 1 and text[-1].isspace():
        escaped = escaped[:-1] + "\\" + escaped[-1]
    return escaped


def _escape_end(text: str) -> str:
    return _WORD_TO.sub(r"\\to", escape_member(text))


def unescape_member(token: str) -> str:
    if "\\" not in token:
        return "" if token == _EMPTY else token
    return re.sub(r"\\(.)", r"\1", token, flags=re.DOTALL)


def parse_cells(field: Field, index: DomainIndex, text: str | None) -> Holding:
    """What a cell of ours may hide, over an original's domain. Raises ValueError (malformed) or KeyError (unknown)."""
    if text is None or text == MISSING:
        return index.missing()
    if field.encoding is Encoding.NODE:
        return index.node(plain_unescape(text))
    tokens = _tokens(text)
    if field.encoding is Encoding.SET:
        if text == _ANY:
            return index.any()
        codes = [index.missing_code if token == MISSING else index.code(unescape_member(token)) for token in tokens]
        return index.members(codes)
    missing = len(tokens) == 2 and tokens[1] == MISSING
    if len(tokens) > 1 and not missing:
        raise ValueError(text)
    if field.is_range and tokens[0][:2] in (_UP_TO, _AT_LEAST):
        return _one_end(index, tokens[0][:2], tokens[0][2:], missing)
    low, high = _ends(field, tokens[0])
    if field.encoding is Encoding.SPAN:
        return index.run(index.code(unescape_member(low)), index.code(unescape_member(high)), missing)
    return index.interval(low, high, missing=missing)


def _one_end(index: DomainIndex, sign: str, end: str, missing: bool) -> Holding:
    """An interval that is open to one side."""
    if sign == _UP_TO:
        return index.interval(None, end, missing=missing)._replace(low_point=-math.inf)
    return index.interval(end, None, missing=missing)._replace(high_point=math.inf)


def _tokens(text: str) -> list[str]:
    """What is between the bars, still escaped."""
    tokens = _MEMBER.findall(text) if "\\" in text else text.split("|")
    if "|".join(tokens) != text or "" in tokens:
        raise ValueError(text)
    return tokens


def _ends(field: Field, token: str) -> tuple[str, str]:
    if field.encoding is Encoding.RANGE:
        separator = _UP
        token = token[1:-1] if token[:1] + token[-1:] == "[]" else token
    elif field.encoding is Encoding.INTERVAL and field.type in _TIMES:
        separator = "/"
    elif field.encoding is Encoding.SPAN or " to " in token:
        separator = " to "
    else:
        separator = "-" if "-" in token[1:] and not token.startswith("-") else " to "
    low, found, high = token.partition(separator)
    return (low, high) if found else (token, token)
