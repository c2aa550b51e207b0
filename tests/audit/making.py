"""Small tables and honest releases of them, made without any of the library's algorithms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Matched, MatchGraph, Perturbed, Randomizer, Ranges, Sets, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType

TREE = {"tree": {"Any": {"warm": ["red", "rose"], "cold": {"deep": ["blue", "navy"], "light": ["mint", "sky"]}}}}
COLOURS = ("blue", "mint", "navy", "red", "rose", "sky")


def whole_numbers(name: str, numbers: Any) -> Column:
    """A column of whole numbers; -1 is missing."""
    numbers = np.asarray(numbers, dtype=np.int64)
    values = np.unique(numbers[numbers >= 0])
    codes = np.where(numbers >= 0, np.searchsorted(values, numbers), len(values)).astype(np.int32)
    return Column(name, ValueType.INTEGER, codes, values)


def words(name: str, indices: Any, listed: Any) -> Column:
    """A column of text; -1 is missing. Only words that occur are kept."""
    indices = np.asarray(indices)
    texts = np.array([*sorted(listed), ""], dtype=object)[indices]
    values = np.array(sorted({text for text in texts if text}), dtype=object)
    place = {text: code for code, text in enumerate(values)} | {"": len(values)}
    return Column(name, ValueType.STRING, np.array([place[text] for text in texts], dtype=np.int32), values)


def mixed_table(
    rng: np.random.Generator,
    n_rows: int,
    *,
    missing: bool = True,
    n_values: int = 4,
    n_ages: int = 30,
    carried: bool = True,
) -> Microdata:
    """Numeric, categorical and taxonomised quasi-identifiers, one sensitive column, one carried column."""
    lowest = -1 if missing else 0
    columns = [
        whole_numbers("age", rng.integers(lowest, n_ages, n_rows)),
        words("job", rng.integers(lowest, 5, n_rows), ["clerk", "cook", "nurse", "smith", "tailor"]),
        words("colour", rng.integers(lowest, 6, n_rows), COLOURS),
        words("illness", rng.integers(0, n_values, n_rows), [f"s{number:02d}" for number in range(n_values)]),
    ]
    attributes = [
        Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC),
        Attribute(name="job", role=Role.QUASI, kind=Kind.CATEGORICAL),
        Attribute(name="colour", role=Role.QUASI, taxonomy=TREE),
        Attribute(name="illness", role=Role.SENSITIVE, kind=Kind.CATEGORICAL),
    ]
    if carried:
        columns.append(whole_numbers("bill", rng.integers(0, 3, n_rows)))
        attributes.append(Attribute(name="bill", role=Role.CARRIED))
    return Microdata.encode(Table(tuple(columns)), Schema(tuple(attributes)))


def number_table(quasi: Any, sensitive: Any) -> Microdata:
    """Numeric quasi-identifiers only."""
    quasi, sensitive = np.asarray(quasi), np.asarray(sensitive)
    names = [f"q{attr}" for attr in range(quasi.shape[1])]
    columns = [whole_numbers(name, quasi[:, attr]) for attr, name in enumerate(names)]
    columns.append(whole_numbers("s", sensitive))
    return Microdata.encode(Table(tuple(columns)), Schema.of(qi=names, sensitive=["s"], categorical=["s"]))


def grouped(data: Microdata, group_of_record: Any, order: Any) -> Grouped:
    """The release of a partition; `order[row]` is the record published at that row."""
    group_of_record, order = np.asarray(group_of_record), np.asarray(order)
    n_groups = int(group_of_record.max()) + 1
    return Grouped(
        domains=data.domains,
        extents=tuple(
            cover(domain, data.quasi[:, attr], group_of_record, n_groups)
            for attr, domain in enumerate(data.domains.quasi)
        ),
        group_of_row=group_of_record[order].astype(np.int32),
        sensitive=data.sensitive[order],
        carried=data.carried[order],
    )


def random_groups(rng: np.random.Generator, n_rows: int, size: int) -> Any:
    """Groups of `size` records or a few more, at random."""
    return rng.permutation(np.arange(n_rows) % max(n_rows // size, 1))


def matched(data: Microdata, slots: Any, record_of_slot: Any, order: Any) -> tuple[Matched, MatchGraph]:
    """Slot s covers the records slots[s] and publishes the values of record_of_slot[s]; row r is slot order[r]."""
    slots = [slots[slot] for slot in order]
    carriers = np.asarray(record_of_slot)[np.asarray(order)]
    members = np.concatenate([np.asarray(slot) for slot in slots])
    unit = np.repeat(np.arange(len(slots)), [len(slot) for slot in slots])
    release = Matched(
        domains=data.domains,
        extents=tuple(
            cover(domain, data.quasi[members, attr], unit, len(slots)) for attr, domain in enumerate(data.domains.quasi)
        ),
        sensitive=data.sensitive[carriers],
        carried=data.carried[carriers],
    )
    by_record = np.lexsort((unit, members))
    starts = np.searchsorted(members[by_record], np.arange(data.n_rows + 1)).astype(np.int64)
    return release, MatchGraph(starts, unit[by_record].astype(np.int32))


def ring(rng: np.random.Generator, data: Microdata, degree: int) -> tuple[Matched, MatchGraph]:
    """A regular graph of consecutive records in age order, one of its disjoint assignments drawn."""
    around = np.argsort(data.quasi[:, 0], kind="stable")
    n_rows = data.n_rows
    slots = [[int(around[(slot + step) % n_rows]) for step in range(degree)] for slot in range(n_rows)]
    shift = int(rng.integers(degree))
    return matched(data, slots, [slot[shift] for slot in slots], rng.permutation(n_rows))


def bucketized(data: Microdata, bucket_of_record: Any, quasi_order: Any, sensitive_order: Any) -> Bucketized:
    buckets = np.asarray(bucket_of_record, dtype=np.int32)
    return Bucketized(
        domains=data.domains,
        quasi=data.quasi[quasi_order],
        bucket_of_quasi=buckets[quasi_order],
        sensitive=data.sensitive[sensitive_order],
        carried=data.carried[sensitive_order],
        bucket_of_sensitive=buckets[sensitive_order],
    )


def mixing_matrix(n_codes: int, keep: int, total: int) -> Randomizer:
    """keep / total on the diagonal, the rest spread evenly (n_codes - 1 must divide it)."""
    spread, left = divmod(total - keep, n_codes - 1)
    assert left == 0
    return Randomizer(np.full((n_codes, n_codes), spread) + np.eye(n_codes, dtype=np.int64) * (keep - spread), total)


def perturbed(rng: np.random.Generator, data: Microdata, randomizers: Any, order: Any) -> Perturbed:
    """Every sensitive value redrawn by its matrix; rows in the given order."""
    redrawn = np.empty_like(data.sensitive)
    for index, randomizer in enumerate(randomizers):
        shares = np.cumsum(randomizer.weights / randomizer.total, axis=0)
        draws = rng.random(data.n_rows)
        redrawn[:, index] = (draws[None, :] > shares[:, data.sensitive[:, index]]).sum(axis=0)
    return Perturbed(
        domains=data.domains,
        quasi=data.quasi[order],
        sensitive=redrawn[order],
        carried=data.carried[order],
        randomizers=tuple(randomizers),
    )


def moved(release: Any, rows: Any) -> Any:
    """The same release with its rows taken as listed (repeats and gaps allowed)."""
    rows = np.asarray(rows)
    changed: dict[str, Any] = {"sensitive": release.sensitive[rows], "carried": release.carried[rows]}
    if isinstance(release, Grouped):
        changed["group_of_row"] = release.group_of_row[rows]
    elif isinstance(release, Matched):
        changed["extents"] = tuple(taken(extents, rows) for extents in release.extents)
    elif isinstance(release, Perturbed):
        changed["quasi"] = release.quasi[rows]
    return replace(release, **changed)


def as_matched(release: Grouped) -> Matched:
    """The same rows, said to have their own ranges."""
    return Matched(
        domains=release.domains,
        extents=tuple(taken(extents, release.group_of_row) for extents in release.extents),
        sensitive=release.sensitive,
        carried=release.carried,
        withheld=release.withheld,
    )


def taken(extents: Any, units: Any) -> Any:
    if isinstance(extents, Ranges):
        return Ranges(*(getattr(extents, name)[units] for name in vars(extents)))
    pieces = [extents.members[extents.starts[unit] : extents.starts[unit + 1]] for unit in units]
    starts = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces]))).astype(np.int64)
    return Sets(starts, np.concatenate([*pieces, np.zeros(0, dtype=np.int32)]).astype(np.int32))


def check(audit: Any, name: str) -> Any:
    """The check of that name."""
    found = [entry for entry in audit.checks if entry.name.startswith(name)]
    assert len(found) == 1, [entry.name for entry in audit.checks]
    return found[0]
