"""Tiny releases on disk, made by hand, and what buckets say when every assignment is gone through."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized
from lookalike.data.schema import Schema, ValueType
from lookalike.files.releases.write import write_release
from tests.files.releases.release_forms import MANIFEST, column, make_release

Cells = Mapping[str, Sequence[Any]]
_TYPES = {
    bool: ValueType.BOOLEAN,
    int: ValueType.INTEGER,
    float: ValueType.NUMBER,
    str: ValueType.STRING,
    datetime.date: ValueType.DATE,
}


def bucketized(
    folder: Path,
    buckets: Sequence[int],
    known: Cells,
    sensitive: Cells,
    carried: Cells | None = None,
    form: str = Bucketized.form,
) -> Path:
    """A release of the records given by columns, in these buckets; or of another form, where buckets mean nothing."""
    carried = carried or {}
    columns = []
    for name, cells in {**known, **sensitive, **carried}.items():
        type = next((_TYPES[cell.__class__] for cell in cells if cell is not None), ValueType.STRING)
        columns.append(column(name, type, list(cells)))
    schema = Schema.of(qi=list(known), sensitive=list(sensitive), carry=list(carried))
    data = Microdata.encode(Table(tuple(columns)), schema)
    order = np.arange(len(buckets))[::-1]
    release = make_release(form, data, np.array(buckets), order)
    write_release(folder, release, documents={}, manifest=MANIFEST)
    return folder


def enumerated(
    buckets: Sequence[int], known: Sequence[Any], values: Sequence[Any], matches: Callable[[Any, Any], bool]
) -> tuple[Fraction, Fraction]:
    """Mean and variance of how many match, over every way to hand out the values within buckets."""
    of_bucket = [[row for row, bucket in enumerate(buckets) if bucket == one] for one in sorted(set(buckets))]
    totals = [
        sum(
            matches(known[row], values[other])
            for rows, others in zip(of_bucket, orders, strict=True)
            for row, other in zip(rows, others, strict=True)
        )
        for orders in itertools.product(*map(itertools.permutations, of_bucket))
    ]
    mean = Fraction(sum(totals), len(totals))
    return mean, Fraction(sum(total**2 for total in totals), len(totals)) - mean**2


records = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.one_of(st.none(), st.integers(0, 3)),
        st.sampled_from("FM"),
        st.one_of(st.none(), st.sampled_from("abc")),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
).map(lambda rows: tuple(zip(*rows, strict=True)))
"""Columns bucket, age, sex, illness, smokes of a few records in up to three buckets."""
