"""Schemes as files: YAML that people read and edit, and mappings of values for other tools (CSV).

    lookalike scheme: 1
    promises: ['k-anonymity:5']
    made by: mondrian-strict
    columns:                              # as in schema.yaml; every quasi-identifier with its domain
      - {name: age, role: quasi-identifier, kind: numeric, type: integer, domain: {low: 18, high: 90, others: true}}
      - {name: sex, role: quasi-identifier, kind: categorical, domain: {values: [F, M], others: true}}
    cells:                                # a cut, all of its first part, all of its second part
      - {cut: age, from: 40}
      - {records: 10}
      - {cut: sex, from: M}
      - {records: 5}
      - {records: 15}

A full-domain scheme has, in place of cells, where each column is cut:

    cuts: {age: [30, 40, 50], sex: [M]}

A file that is read may come from anybody: it is small, runs nothing and names no other file. Faults are refused with
their place and what to do.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from lookalike.data.adversary import ADVERSARIES, READS_RELEASE
from lookalike.data.axis import Axis, Start
from lookalike.data.microdata import Column, Domain, encode_column
from lookalike.data.release import ExtentCells
from lookalike.data.schema import Schema, ValueType
from lookalike.data.scheme import MOST_CELLS, Cell, Cut, Scheme
from lookalike.errors import DataError, SchemaError, Unsupported, quoted, unknown_name, unread_format
from lookalike.files.atomic import cannot_write, place_file, refuse_taken
from lookalike.files.releases.cells import lay_out, print_cells
from lookalike.untrusted import BadYaml, load_yaml, read_text

_FORMAT = 1
_VERSION = "lookalike scheme"
_KEYS = (_VERSION, "promises", "adversary", "made by", "columns", "cells", "cuts")
_MAPPING_HEAD = "column,from,to"
_MOST_LISTED = 1_000
"""Whole numbers and days of a domain are listed one by one in a mapping, up to so many."""


def scheme_text(scheme: Scheme) -> str:
    """The scheme as YAML."""
    head: dict[str, Any] = {_VERSION: _FORMAT, "promises": list(scheme.promises)}
    if scheme.adversary != READS_RELEASE:
        head["adversary"] = scheme.adversary
    if scheme.made_by:
        head["made by"] = scheme.made_by
    columns = yaml.safe_load(scheme.schema.to_yaml())["columns"]
    text: str = yaml.safe_dump(head, sort_keys=False) + yaml.safe_dump({"columns": columns}, sort_keys=False, width=100)
    if scheme.starts is not None:
        cuts = {name: list(starts) for name, starts in scheme.starts.items()}
        return text + yaml.safe_dump({"cuts": cuts}, sort_keys=False, width=100)
    flow: dict[str, Any] = {"default_flow_style": True, "sort_keys": False, "width": 10_000}
    lines = [yaml.safe_dump(_part_to_plain(part), **flow) for part in scheme.parts]
    return text + "cells:\n" + "".join(f"- {line}" for line in lines)


def _part_to_plain(part: Cut | Cell) -> dict[str, Any]:
    if isinstance(part, Cut):
        return {"cut": part.column, "from": part.start}
    return {} if part.records is None else {"records": part.records}


def check_scheme_target(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse a name that is taken; with `overwrite`, one that is taken by anything but a scheme or a mapping."""
    path = Path(path)
    if not overwrite or not path.is_file() or not _is_ours(path):
        refuse_taken(path)


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).startswith((f"{_VERSION}:".encode(), _MAPPING_HEAD.encode()))


def render_scheme(path: str | Path, scheme: Scheme) -> str:
    """What a file of that name says: YAML, or a mapping where it ends in .csv; `Unsupported` if there is none."""
    return _map_values(scheme) if Path(path).suffix.casefold() == ".csv" else scheme_text(scheme)


def write_scheme(path: str | Path, scheme: Scheme, *, overwrite: bool = False) -> None:
    """Write a scheme: as YAML, or as a mapping of values where the name ends in .csv (full-domain schemes only)."""
    path, content = Path(path), render_scheme(path, scheme)
    check_scheme_target(path, overwrite=overwrite)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path.parent, error) from None
    with place_file(path) as building:
        building.write_text(content, encoding="utf-8", newline="\n")


def read_scheme(path: str | Path) -> Scheme:
    """Read a scheme file; SchemaError or DataError say what is wrong and what to do."""
    path = Path(path)
    if path.suffix.casefold() == ".csv":
        raise DataError(f"{path} is a mapping for other tools. Give the scheme as YAML (--scheme-out scheme.yaml).")
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise DataError(f"Cannot read the scheme {path}: {reason}.") from None
    return parse_scheme(text, str(path))


def parse_scheme(text: str, source: str = "the scheme") -> Scheme:
    try:
        loaded = load_yaml(text)
    except BadYaml as error:
        raise SchemaError(f"{source} is not valid YAML{error.place}: {error}.") from None
    if not isinstance(loaded, dict) or _VERSION not in loaded:
        raise SchemaError(
            f'{source} is no scheme: it does not begin with "{_VERSION}: {_FORMAT}". Write one with lookalike publish '
            "--scheme-out scheme.yaml."
        )
    if loaded[_VERSION] != _FORMAT or isinstance(loaded[_VERSION], bool):
        raise SchemaError(unread_format(source, loaded[_VERSION], (_FORMAT,)))
    for key in loaded:
        if key not in _KEYS:
            raise SchemaError(f"{source}: {unknown_name('entry', str(key), _KEYS)}")
    with _name_source(source):
        return _scheme_from_plain(loaded, source)


@contextmanager
def _name_source(source: str) -> Iterator[None]:
    """Errors of a scheme say which file is at fault."""
    try:
        yield
    except SchemaError as error:
        said = str(error)
        raise SchemaError(said if said.startswith(source) else f"{source}: {said}") from None


def _scheme_from_plain(loaded: Mapping[str, Any], source: str) -> Scheme:
    schema = Schema.from_yaml(yaml.safe_dump({"columns": loaded.get("columns")}, sort_keys=False), source)
    for attribute in schema.attributes:
        if "file" in (attribute.taxonomy or {}):
            raise SchemaError(
                f"the taxonomy of column {quoted(attribute.name)} is in a file. Write it as tree: {{..}}."
            )
    promises, adversary = loaded.get("promises", []), loaded.get("adversary", READS_RELEASE)
    if not isinstance(promises, list) or not all(isinstance(promise, str) for promise in promises):
        raise SchemaError("promises must be a list of texts such as 'k-anonymity:5'.")
    if adversary not in ADVERSARIES:
        raise SchemaError(unknown_name("adversary", str(adversary), ADVERSARIES))
    cells, cuts = loaded.get("cells"), loaded.get("cuts")
    if (cells is None) == (cuts is None):
        raise SchemaError("write either cells (a list) or cuts (for each column where it is cut).")
    known: dict[str, Any] = {
        "schema": schema,
        "promises": tuple(promises),
        "adversary": str(adversary),
        "made_by": str(loaded.get("made by", ""))[:200],
    }
    if cuts is not None:
        if not isinstance(cuts, dict) or not all(isinstance(starts, list) for starts in cuts.values()):
            raise SchemaError("cuts must be a mapping from columns to lists, such as {age: [30, 40]}.")
        return Scheme(**known, starts={str(name): _starts(str(name), starts) for name, starts in cuts.items()})
    if not isinstance(cells, list) or len(cells) > 2 * MOST_CELLS:
        raise SchemaError(f"cells must be a list of at most {2 * MOST_CELLS:,} cuts and cells.")
    return Scheme(**known, parts=tuple(_part_from_plain(entry, place) for place, entry in enumerate(cells, start=1)))


def _part_from_plain(entry: object, place: int) -> Cut | Cell:
    if isinstance(entry, dict) and set(entry) == {"cut", "from"}:
        return Cut(str(entry["cut"]), *_starts(str(entry["cut"]), [entry["from"]]))
    if isinstance(entry, dict) and set(entry) <= {"records"}:
        records = entry.get("records")
        if records is None or (type(records) is int and records >= 0):
            return Cell(records)
    raise SchemaError(f"entry {place} of cells must be a cut such as {{cut: age, from: 40}}, or {{records: 10}}.")


def _starts(column: str, values: Sequence[object]) -> tuple[Start, ...]:
    """Where a column is cut. Numbers stay numbers; dates become their ISO text."""
    return tuple(_start(column, value) for value in values)


def _start(column: str, value: object) -> Start:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime.date | str):
        return value.isoformat() if isinstance(value, datetime.date) else value
    raise SchemaError(
        f"column {quoted(column)} is cut at {str(value)[:40]}, which is no number, date or text. Write for each part "
        "but the first the value that it begins at, such as {age: [30, 40], sex: [male]}."
    )


def _map_values(scheme: Scheme) -> str:
    """A full-domain scheme as lines column, from, to: a value (or interval of values), and what is published for it."""
    starts = _find_grid(scheme)
    if starts is None:
        raise Unsupported(
            "A mapping of values column by column says everything only of a full-domain scheme. In this one where a "
            "column is cut depends on the other columns. Write it as YAML (--scheme-out scheme.yaml)."
        )
    lines: dict[str, list[str]] = {"column": [], "from": [], "to": []}
    for axis in scheme.axes:
        slots = sorted({0, *(axis.find_slot(start) for start in starts.get(axis.name, ())), axis.n_all})
        lows, highs = np.array(slots[:-1]), np.array(slots[1:])
        domain = _domain_of(axis)
        to = _print(axis, domain, lows, highs)
        for low, high, cell in zip(slots[:-1], slots[1:], to, strict=True):
            for value in _values_of(axis, domain, low, high):
                for name, text in zip(lines, (axis.name, value, cell), strict=True):
                    lines[name].append(text)
    return pl.DataFrame(lines).write_csv(line_terminator="\n")


def _find_grid(scheme: Scheme) -> Mapping[str, tuple[Start, ...]] | None:
    """Where each column is cut, if the scheme cuts each column by itself; None if a cut depends on other columns.

    Every cell is a union of combinations of the finest parts. So it is one combination each if there are as many.
    """
    if scheme.starts is not None:
        return scheme.starts
    starts: dict[str, list[Start]] = {axis.name: [] for axis in scheme.axes}
    for part in scheme.parts:
        if isinstance(part, Cut) and part.start not in starts[part.column]:
            starts[part.column].append(part.start)
    sizes = [len({axis.find_slot(start) for start in starts[axis.name]}) + 1 for axis in scheme.axes]
    whole = int(np.prod(sizes, dtype=object)) == scheme.n_cells
    return {name: tuple(listed) for name, listed in starts.items()} if whole else None


def _domain_of(axis: Axis) -> Domain:
    """The declared domain as a table's column would have it."""
    type = axis.attribute.type if axis.is_numeric else ValueType.STRING
    assert type is not None
    values: Any = np.array([axis.values[0]], dtype=object) if not axis.is_numeric else np.unique(axis.ends)
    column = Column(axis.name, type, np.zeros(1, dtype=np.int32), values)
    return encode_column(column, axis.attribute)[0]


def _print(axis: Axis, domain: Domain, lows: Any, highs: Any) -> list[str]:
    extents = axis.extents(domain, lows, highs, np.zeros(len(lows), dtype=np.uint8))
    field, entries, _ = lay_out(ExtentCells(domain, extents, np.arange(len(lows), dtype=np.int32)))
    return ["" if text is None else text for text in print_cells(field, entries).to_list()]


def _values_of(axis: Axis, domain: Domain, low: int, high: int) -> Iterator[str]:
    """Each value of a run of slots, as text; of many or endless numbers the interval."""
    real = min(high, axis.n_slots)
    if not axis.is_numeric:
        yield from axis.values[low:real]
    elif low < real:
        first = axis.ends[0] if low == 0 else axis.points[low - 1]
        last = axis.ends[1] if real == axis.n_slots else axis.points[real - 1] - (1 if axis.has_steps else 0)
        if axis.attribute.type is ValueType.INTEGER and axis.ends[1] - axis.ends[0] < _MOST_LISTED:
            yield from map(str, range(int(first), int(last) + 1))
        else:
            yield _print(axis, domain, np.array([low]), np.array([real]))[0]
    if high > axis.n_slots:
        yield ""
