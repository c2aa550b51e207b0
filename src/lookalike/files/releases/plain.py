"""Records with plain values as one file, CSV or Parquet: no release, no folder.

The file appears whole or not at all, and never in the place of another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.errors import RecipeError
from lookalike.files.atomic import cannot_write, hide_beside
from lookalike.files.releases.cells import type_values
from lookalike.files.releases.write import write_csv, write_parquet

_ENDINGS = (".csv", ".parquet")


def plain_frame(data: Microdata) -> pl.DataFrame:
    """The records as a data frame, columns in the order of the schema."""
    series: dict[str, pl.Series] = {}
    blocks = ((data.domains.quasi, data.quasi), (data.domains.sensitive, data.sensitive))
    for domains, codes in (*blocks, (data.domains.carried, data.carried)):
        for place, domain in enumerate(domains):
            series[domain.name] = _plain_series(domain, codes[:, place])
    return pl.DataFrame({attribute.name: series[attribute.name] for attribute in data.schema.published})


def _plain_series(domain: Domain, codes: Codes) -> pl.Series:
    values = type_values(domain.values, domain.type)
    return pl.concat([values, pl.Series([None], dtype=values.dtype)]).gather(codes)


def write_plain(data: Microdata, target: Path, *, safe_csv: bool = False) -> None:
    """Write the records; the ending of the name says how. `safe_csv`: no cell that a spreadsheet would compute."""
    check_plain_target(target)
    with _place_file(target) as building:
        if target.suffix.lower() == ".csv":
            write_csv(plain_frame(data), building, safe=safe_csv)
        else:
            write_parquet(plain_frame(data), building)


def check_plain_target(target: Path) -> None:
    """Refuse a name that says no format, and one that is taken."""
    if target.suffix.lower() not in _ENDINGS:
        raise RecipeError(f"{target} says no format. End the name in {' or '.join(_ENDINGS)}.")
    if os.path.lexists(target):
        raise RecipeError(f"{target} exists already. Choose another name, or remove it first.")


@contextmanager
def _place_file(target: Path) -> Iterator[Path]:
    """A file to write into, which becomes `target` when the block ends without an error."""
    try:
        with hide_beside(target) as hidden:
            building = hidden / target.name
            yield building
            with building.open("rb+") as file:
                os.fsync(file.fileno())
            # Somebody may have taken the name meanwhile.
            check_plain_target(target)
            os.rename(building, target)
    except OSError as error:
        raise cannot_write(target.parent, error) from None
