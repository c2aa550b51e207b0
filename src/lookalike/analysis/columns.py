"""The published tables as columns to work with: cells as text, and on request what they say as numbers and lists.

    age       age_low  age_high  age_mid  age_missing    bounds=True, midpoints=True
    28..39    28       39        33.5     false
    work      work_values                                bounds=True: of columns that are no numbers
    *         ["clerk", "cook", "nurse"]
    group                                                groups=True

Ends that are open, or that nobody knows (a node "*" of a taxonomy), are missing. `_missing` says that a cell may also
hide a missing value, and is there where some cell may; of a taxonomy "*" may, since missing is a leaf below it. A
list has the values that a cell allows, as far as the release names them. A group is what a reader can tell apart:
rows whose cells are all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from lookalike.data.microdata import Domain
from lookalike.data.release import Bucketized, Grouped, Matched, Ranges, Release
from lookalike.data.schema import NUMBER_LIKE, ValueType
from lookalike.data.taxonomy import ROOT
from lookalike.errors import RecipeError
from lookalike.files.releases.cells import Encoding, Field, print_cells, type_values
from lookalike.files.releases.describe import Tables
from lookalike.files.tables.handing_back import hand_back

_HALF_OPEN = re.compile(r"\[(.+), (.+)\)")
_GROUP = "group"
_LOW, _HIGH, _MID, _MISSING, _VALUES = "low", "high", "mid", "missing", "values"


def list_columns(
    fields: Tables,
    typed: Mapping[str, pl.DataFrame],
    release: Release | None,
    *,
    bounds: bool = False,
    midpoints: bool = False,
    groups: bool = False,
) -> dict[str, pl.DataFrame]:
    """The published tables by name; what is asked for stands right after its column, groups first.

    `typed`: the tables as Parquet has them. `release`: the same over what the folder itself says, row by row; only
    needed for what is asked for besides.
    """
    if release is not None and groups and not isinstance(release, Grouped | Bucketized):
        why = "every row has cells of its own" if isinstance(release, Matched) else "its quasi-identifiers are exact"
        raise RecipeError(f"A {release.form} release has no groups: {why}. Leave groups out.")
    made: dict[str, pl.DataFrame] = {}
    for name, listed in fields.items():
        taken = {field.name for field in listed}
        columns: list[pl.Series] = []
        numbered = any(field.encoding is Encoding.BUCKET for field in listed)
        if groups and isinstance(release, Grouped) and not numbered:
            columns.append(pl.Series(_free_name(_GROUP, taken), release.group_of_row.astype(np.int64)))
        for field in listed:
            cells = typed[name][field.name]
            if field.is_plain:
                columns.append(cells)
                continue
            columns.append(print_cells(field, cells).alias(field.name))
            if release is not None and (bounds or midpoints):
                for ending, column in _explain_cells(field, cells, release, bounds=bounds, midpoints=midpoints):
                    columns.append(column.alias(_free_name(f"{field.name}_{ending}", taken)))
        made[name] = pl.DataFrame(columns)
    return made


def hand_back_tables(tables: Mapping[str, pl.DataFrame], library: str) -> Any:
    """The table in frames of that library, or a mapping of tables where there are several."""
    made = {name: hand_back(frame, library) for name, frame in tables.items()}
    return next(iter(made.values())) if len(made) == 1 else made


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with a line below it for as long as another column has it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _explain_cells(
    field: Field, cells: pl.Series, release: Release, *, bounds: bool, midpoints: bool
) -> Iterator[tuple[str, pl.Series]]:
    """What the cells of a generalised column say, each with the ending of its name."""
    place, domain = next(
        (place, domain) for place, domain in enumerate(release.domains.quasi) if domain.name == field.name
    )
    parts = _read_nodes(cells, domain, release, place) if field.encoding is Encoding.NODE else cells.struct.unnest()
    if field.encoding is Encoding.SET:
        parts = _spell_out(parts, domain)
    if bounds:
        yield from ((ending, parts[ending]) for ending in (_LOW, _HIGH, _VALUES) if ending in parts.columns)
    if midpoints and _LOW in parts.columns and parts[_LOW].dtype != pl.String:
        yield _MID, _find_middle(parts[_LOW], parts[_HIGH])
    if (bounds or midpoints) and parts[_MISSING].any():
        yield _MISSING, parts[_MISSING]


def _find_middle(low: pl.Series, high: pl.Series) -> pl.Series:
    """Halfway from end to end; of dates the moment."""
    if low.dtype.is_numeric():
        return low.cast(pl.Float64) / 2 + high.cast(pl.Float64) / 2
    ends = [end.cast(pl.Datetime("us")).cast(pl.Int64) for end in (low, high)]
    return (ends[0] + (ends[1] - ends[0]) // 2).cast(pl.Datetime("us"))


def _spell_out(parts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """Sets as lists; a cell that may be anything allows every value that the release names."""
    everything = pl.Series([list(domain.texts[: len(domain.values)])], dtype=pl.List(pl.String))
    values = pl.when(pl.col("any")).then(pl.lit(everything)).otherwise(pl.col(_VALUES))
    return parts.select(values.alias(_VALUES), pl.col(_MISSING))


def _read_nodes(cells: pl.Series, domain: Domain, release: Release, place: int) -> pl.DataFrame:
    """Nodes of a taxonomy as ends (of numbers and dates) or as lists of the values below them."""
    assert isinstance(release, Grouped | Matched)
    extents, unit_of_row = release.extents[place], release.unit_of_row
    assert isinstance(extents, Ranges)
    n_values = len(domain.values)
    missing = (extents.highs >= n_values) if domain.has_missing else np.zeros(len(extents), dtype=bool)
    highs = np.minimum(extents.highs, n_values - 1)
    # Missing is a leaf below the root, also where no cell of the release shows it alone.
    may_lack = missing[unit_of_row] | (cells == ROOT).fill_null(False).to_numpy()
    if domain.type not in NUMBER_LIKE:
        pairs, pair_of_unit = np.unique(np.column_stack((extents.lows, highs)), axis=0, return_inverse=True)
        texts = domain.texts
        lists = pl.Series([list(texts[low : high + 1]) for low, high in pairs], dtype=pl.List(pl.String))
        rows = pair_of_unit.reshape(-1)[unit_of_row]
        return pl.DataFrame({_VALUES: lists.gather(rows), _MISSING: may_lack})
    values = type_values(domain.values, domain.type)
    known = highs >= extents.lows
    ends = {
        name: pl.select(pl.when(pl.Series(known)).then(values.gather(np.where(known, codes, 0)))).to_series()
        for name, codes in ((_LOW, extents.lows), (_HIGH, highs))
    }
    frame = pl.DataFrame({name: end.gather(unit_of_row) for name, end in ends.items()})
    labels = {label: _ends_of(label, domain.type) for label in cells.drop_nulls().unique() if label}
    said = {label: found for label, found in labels.items() if found is not None}
    if said:
        frame = frame.with_columns(cells.alias("label"))
        for name, end in ((_LOW, 0), (_HIGH, 1)):
            of_label = {label: found[end] for label, found in said.items()}
            frame = frame.with_columns(
                pl.when(pl.col("label").is_in(list(said)))
                .then(pl.col("label").replace_strict(of_label, default=None, return_dtype=frame[name].dtype))
                .otherwise(pl.col(name))
                .alias(name)
            )
    return frame.select(_LOW, _HIGH).with_columns(pl.Series(_MISSING, may_lack))


def _ends_of(label: str, type: ValueType) -> tuple[float | None, float | None] | None:
    """Ends that a label tells better than the values below it: none of "*", and both of an interval of fractions."""
    if label == ROOT:
        return None, None
    inside = _HALF_OPEN.fullmatch(label) if type is ValueType.NUMBER else None
    return None if inside is None else (float(inside[1]), float(inside[2]))
