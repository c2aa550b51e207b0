"""A CSV file as dictionary-encoded columns.

`encoding` gives the bytes, `dialect` says how they are written, `structure` checks every record and hands on whole
records, polars splits them into texts, `inference` settles the types. A block at a time: what is kept of a block is
its distinct texts and a code for each cell, so memory follows the codes and not the file. A guess that a later block
proves wrong (the encoding, or that quotes mean quoting) starts the walk anew with the next guess.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.microdata import Column, Table
from lookalike.data.missing_codes import missing_in
from lookalike.errors import DataError, SchemaError, counted, quoted
from lookalike.files.tables.csv.dialect import SAMPLE_BYTES, Dialect, detect_dialect, split_spelled
from lookalike.files.tables.csv.encoding import NotDecodable, TextFile, check_encoding, detect_encoding
from lookalike.files.tables.csv.inference import MOST_PLACES, finish_column, settle
from lookalike.files.tables.csv.structure import Block, Records, StrayQuote
from lookalike.files.tables.formats import TEXT, Asked, Hints, name_nameless, refuse_bad_names

_Read = TypeVar("_Read")

_FALLBACK = "cp1252"
_BUNCH_BYTES = 8 << 20


class _Cells:
    """One column's cells so far: per block the texts that occur and where (-1: nothing)."""

    def __init__(self) -> None:
        self.texts: list[pl.Series] = []
        self.places: list[NDArray[np.int32]] = []

    def add(self, cells: pl.Series) -> None:
        distinct = cells.unique().drop_nulls()
        if 2 * len(distinct) > len(cells):
            # Mostly different: looking each one up would cost more than it saves.
            self.texts.append(cells.fill_null(""))
            self.places.append(np.arange(len(cells), dtype=np.int32))
            return
        # A fresh series, so that the texts do not hold on to the block they were cut from.
        self.texts.append(pl.Series(distinct.to_list(), dtype=pl.String))
        found = cells.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32)
        self.places.append(found.fill_null(-1).to_numpy())


def read_delimited(path: Path, asked: Asked) -> Table:
    return _try_dialects(path, asked.hints, lambda file, dialect, notes: _read(file, dialect, notes, asked))


@dataclass(frozen=True)
class Spelling:
    """How a CSV file spells its records: quotes, spaces, line ends and blank lines included."""

    cells: Mapping[str, list[str]]
    """By column, one a row."""
    line_ends: frozenset[str]
    n_blank: int


def spelling_of(path: Path) -> Spelling:
    """The cells of a CSV file as they are spelled, row by row as `read_delimited` has them."""
    return _try_dialects(path, Hints(), lambda file, dialect, notes: _read_spelling(file, dialect))


def _try_dialects(path: Path, hints: Hints, read: Callable[[TextFile, Dialect, Sequence[str]], _Read]) -> _Read:
    """What `read` makes of the file as it is most likely written; of the next guess where that proves wrong."""
    notes: list[str] = []
    encoding, settled = (check_encoding(hints.encoding), True) if hints.encoding is not None else detect_encoding(path)
    unquoted = False
    while True:
        file = TextFile(path, encoding, hints.unpack_limit)
        try:
            dialect, said = _dialect_of(file, hints)
            if unquoted:
                dialect = replace(dialect, quote=None)
                said = [*said, "Quotes stand inside fields, so they were read as text."]
            return read(file, dialect, (*notes, *said))
        except NotDecodable as error:
            if settled:
                raise DataError(
                    f"{path.name}: line {error.line} holds bytes that are not {error.encoding}. Name the encoding the "
                    "file was written in (common ones: utf-8, utf-16, windows-1252, iso-8859-1)."
                ) from None
            encoding, settled = _FALLBACK, True
            notes = [f"The file is not UTF-8 (line {error.line}), so it was read as Windows-1252."]
        except StrayQuote:
            unquoted = True


def _read_spelling(file: TextFile, dialect: Dialect) -> Spelling:
    # The walk over the records proves the guess right or wrong, as when they are read.
    records = Records(file.blocks(), dialect, file.path.name)
    n_rows = sum(block.n_records for block in records)
    names, _ = _names(records.first, dialect, file.path.name)
    text = b"".join(file.blocks()).decode()
    if dialect.bare_returns:
        text = text.replace("\r", "\n")
    rows: list[list[str]] = []
    ends: set[str] = set()
    n_blank = 0
    for fields, end in split_spelled(text, dialect.delimiter, dialect.quote):
        if len(fields) == 1 < len(names) and not fields[0].strip():
            n_blank += 1
            continue
        rows.append(fields)
        ends |= {end} - {""}
    rows = rows[dialect.header : dialect.header + n_rows]
    if len(rows) != n_rows or any(len(fields) != len(names) for fields in rows):
        raise DataError(f"{file.path.name}: its fields cannot be told apart. Write the file anew, as CSV or Parquet.")
    cells = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {name: [] for name in names}
    return Spelling(cells, frozenset(ends), n_blank)


def _dialect_of(file: TextFile, hints: Hints) -> tuple[Dialect, list[str]]:
    blocks = file.blocks(SAMPLE_BYTES)
    sample = next(blocks, b"").decode("utf-8", errors="ignore")
    cut_off = next(blocks, None) is not None
    return detect_dialect(
        sample,
        cut_off=cut_off,
        delimiter=hints.delimiter,
        quote=hints.quote,
        header=hints.header,
        tabs_expected=not {*TEXT.tabbed}.isdisjoint(file.path.suffixes),
    )


def _read(file: TextFile, dialect: Dialect, notes: Sequence[str], asked: Asked) -> Table:
    source, progress = file.path.name, asked.progress
    records = Records(file.blocks(), dialect, source)
    if not records.first:
        raise DataError(f"{source} is empty. Give a file with a header and rows.")
    names, renamed = _names(records.first, dialect, source)
    wanted = asked.choose(names, source)
    cells = {name: _Cells() for name in wanted}
    n_rows = 0
    for blocks in _gather_blocks(records):
        progress("reading", 0.8 * file.share_read, counted(n_rows, "row"))
        n_rows += sum(block.n_records for block in blocks)
        if wanted:
            _split(blocks, dialect, names, cells, source)
    settled: list[Column] = []
    said = [*notes, *renamed]
    for attr, name in enumerate(wanted):
        progress("reading", 0.8 + 0.2 * attr / len(wanted), f"column {quoted(name)}")
        with suppress(DataError) if asked.is_extra(name) else nullcontext():
            column, more = _column(name, cells.pop(name), asked, file, dialect)
            settled.append(column)
            said += () if asked.is_extra(name) else more
    progress("reading", 1.0, counted(n_rows, "row"))
    return Table(tuple(settled), source, tuple(said), tuple(names))


def _names(first: Sequence[str], dialect: Dialect, source: str) -> tuple[list[str], list[str]]:
    """The names of the columns, and what is to be said about them."""
    if not dialect.header:
        return [f"column_{attr + 1}" for attr in range(len(first))], []
    names, said = name_nameless([cell.replace("\ufeff", "").strip() for cell in first])
    refuse_bad_names(names, source)
    return names, said


def _gather_blocks(records: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks in bunches that are worth a call of the reader."""
    bunch: list[Block] = []
    n_bytes = 0
    for block in records:
        if block.n_records:
            bunch.append(block)
            n_bytes += len(block.data)
        if n_bytes >= _BUNCH_BYTES:
            yield bunch
            bunch, n_bytes = [], 0
    if bunch:
        yield bunch


def _split(
    blocks: Sequence[Block], dialect: Dialect, names: Sequence[str], cells: Mapping[str, _Cells], source: str
) -> None:
    """The texts of some blocks, added to each column's."""
    # Own names, so that whatever the header says means nothing to the reader.
    places = {name: f"c{attr}" for attr, name in enumerate(names)}
    head = dialect.delimiter.join(places.values()).encode() + b"\n"
    n_records, frame = sum(block.n_records for block in blocks), None
    with suppress(pl.exceptions.PolarsError):
        frame = pl.read_csv(
            io.BytesIO(b"".join((head, *(block.data for block in blocks)))),
            schema=dict.fromkeys(places.values(), pl.String),
            columns=[places[name] for name in cells],
            separator=dialect.delimiter,
            quote_char=dialect.quote,
            infer_schema=False,
        )
    if frame is None or frame.height != n_records:
        raise DataError(
            f"{source}: the {counted(n_records, 'record')} from line {blocks[0].line_of(0)} on could not be split into "
            "fields. Look for quotes and carriage returns inside fields there."
        )
    for name, column in cells.items():
        column.add(frame.get_column(places[name]))


def _column(name: str, cells: _Cells, asked: Asked, file: TextFile, dialect: Dialect) -> tuple[Column, tuple[str, ...]]:
    texts = pl.concat(cells.texts) if cells.texts else pl.Series([], dtype=pl.String)
    type = asked.types.get(name)
    settled = settle(name, texts, type, missing_in(asked.missing, name), asked.date_formats.get(name))
    starts = itertools.accumulate(map(len, cells.texts), initial=0)
    # The place after all texts: nothing.
    shifted = (
        np.where(found < 0, len(texts), found + start) for found, start in zip(cells.places, starts, strict=False)
    )
    places = np.concatenate([np.empty(0, dtype=np.int32), *shifted])
    rows = np.flatnonzero(np.append(settled.misfits, False)[places]) if settled.misfits.any() else places[:0]
    lines = _lines_of(file, dialect, rows[:MOST_PLACES].tolist())
    return finish_column(name, settled, type, places, lines, "line", file.path.name, len(rows))


def _lines_of(file: TextFile, dialect: Dialect, rows: list[int]) -> list[int]:
    """The lines that rows (in ascending order) begin on, found by walking the file again."""
    lines: list[int] = []
    first = 0
    for block in Records(file.blocks(), dialect, file.path.name) if rows else ():
        while len(lines) < len(rows) and rows[len(lines)] < first + block.n_records:
            lines.append(block.line_of(rows[len(lines)] - first))
        first += block.n_records
        if len(lines) == len(rows):
            break
    if len(lines) < len(rows):
        raise SchemaError(f"{file.path.name} changed while it was read. Read it again.")
    return lines
