"""Made-up people before and after: what the method does to rows, without showing a single real one.

The people are drawn from the release alone, as any reader could: a plain table that the release may come from, its
columns shuffled one by one so that no combination of it is anybody's. That table is treated by the same method under
the same promise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.data.release import Bucketized, Grouped, Release
from lookalike.data.schema import Schema
from lookalike.data.worlds import draw_world
from lookalike.errors import LookalikeError
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.tablefiles import digest_of, table_paths
from lookalike.files.releases.write import frames
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.randomness import Randomness

_MOST_RECORDS = 300
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Examples:
    """Rows of made-up people, cell by cell as text."""

    columns: tuple[str, ...]
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]


def make_up_examples(
    folder: ReleaseFolder, promises: Sequence[Promise], algorithm: Algorithm, adversary: str
) -> Examples | None:
    """A few rows before and after; None if the promise cannot be kept for so few made-up people.

    They depend on the published tables alone, so that an audit can make them again.
    """
    manifest = folder.manifest
    paths = [path for name in manifest.tables for path in table_paths(name, manifest.parts.get(name, ()))]
    digests = "".join(digest_of(folder.path / path) for path in sorted(paths))
    rng = Randomness(int(hashlib.sha256(digests.encode()).hexdigest(), 16))
    data = make_up_people(folder, rng)
    try:
        recipe = Recipe(schema=data.schema, promises=tuple(promises), algorithm=algorithm.hurry(), adversary=adversary)
        release, record_map = prepare(recipe, data).anonymize(rng.child("method"))
    except LookalikeError:
        return None
    domains = (*data.domains.quasi, *data.domains.sensitive)
    codes = np.column_stack((data.quasi, data.sensitive))
    rows = _pick_rows(release, rng)
    record_of_row = record_map.record_of_row
    if isinstance(release, Bucketized) and record_map.record_of_quasi_row is not None:
        record_of_row = record_map.record_of_quasi_row
    records = record_of_row[rows]
    tables = list(frames(release).values())
    return Examples(
        tuple(domain.name for domain in domains),
        tuple(_before(domains, codes[record], data.schema, rng.child("before", record)) for record in records.tolist()),
        tuple(_after(release, tables, row) for row in rows.tolist()),
    )


def make_up_people(folder: ReleaseFolder, rng: Randomness) -> Microdata:
    """A table about nobody: values as the release makes them likely, put together at random."""
    release = read_alone(folder)
    world = draw_world(release, rng.child("world"))
    chosen = rng.child("chosen").permutation(len(world))[:_MOST_RECORDS]
    quasi = world.quasi[chosen].copy()
    for place in range(quasi.shape[1]):
        quasi[:, place] = quasi[rng.child("column", place).permutation(len(quasi)), place]
    # What is carried is not shown, and some methods refuse rows that carry anything.
    domains = replace(release.domains, carried=())
    return Microdata(folder.schema, domains, quasi, world.sensitive[chosen], np.zeros((len(quasi), 0), dtype=np.int32))


def _pick_rows(release: Release, rng: Randomness) -> NDArray[np.int64]:
    """Rows of one group or bucket, which look alike; of other forms any."""
    if isinstance(release, Grouped):
        unit_of_row: Codes = release.group_of_row
    elif isinstance(release, Bucketized):
        unit_of_row = release.bucket_of_quasi
    else:
        return rng.child("rows").permutation(release.n_rows)[:_MOST_SHOWN]
    sizes = np.bincount(unit_of_row)
    unit = int(np.argmin(np.where(sizes > 1, sizes, len(unit_of_row) + 1)))
    return np.flatnonzero(unit_of_row == unit)[:_MOST_SHOWN].astype(np.int64)


def _before(domains: Sequence[Domain], codes: Codes, schema: Schema, rng: Randomness) -> tuple[str, ...]:
    texts = []
    for domain, code in zip(domains, codes.tolist(), strict=True):
        text = "" if code >= len(domain.texts) else domain.texts[code]
        if "prefixes" in (schema[domain.name].taxonomy or {}):
            # Which values begin like this, the release does not tell: any digits will do.
            digits = iter(rng.integers(10, len(text)).tolist() if text else ())
            text = "".join(str(next(digits)) if letter == "*" else letter for letter in text)
        texts.append(text)
    return tuple(texts)


def _after(release: Release, tables: Sequence[Any], row: int) -> tuple[str, ...]:
    if not isinstance(release, Bucketized):
        names = [domain.name for domain in (*release.domains.quasi, *release.domains.sensitive)]
        return tuple(_text(tables[0][name][row]) for name in names)
    known = [_text(tables[0][domain.name][row]) for domain in release.domains.quasi]
    same = np.flatnonzero(release.bucket_of_sensitive == release.bucket_of_quasi[row])
    values = [
        "one of: " + ", ".join(sorted(_text(tables[1][domain.name][int(entry)]) for entry in same))
        for domain in release.domains.sensitive
    ]
    return (*known, *values)


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)
