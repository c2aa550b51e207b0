"""Records with plain values as one file, CSV or Parquet: no release, no folder.

The file appears whole or not at all, and never in the place of another.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from lookalike.data.microdata import Domains, Microdata
from lookalike.data.worlds import World
from lookalike.errors import RecipeError
from lookalike.files.atomic import place_file, refuse_taken
from lookalike.files.releases.cells import value_series
from lookalike.files.releases.write import write_csv, write_parquet

_ENDINGS = (".csv", ".parquet")


def plain_frame(data: Microdata) -> pl.DataFrame:
    """The records as a data frame, columns in the order of the schema."""
    frame = value_frame(data.domains, data)
    return pl.DataFrame([frame.get_column(attribute.name) for attribute in data.schema.published])


def value_frame(domains: Domains, rows: Microdata | World) -> pl.DataFrame:
    """Codes as the values that they stand for: quasi-identifiers, sensitive columns, carried ones."""
    blocks = ((domains.quasi, rows.quasi), (domains.sensitive, rows.sensitive), (domains.carried, rows.carried))
    return pl.DataFrame(
        [value_series(domain, codes[:, place]) for listed, codes in blocks for place, domain in enumerate(listed)]
    )


def write_plain(frame: pl.DataFrame, target: Path, *, safe_csv: bool = False) -> None:
    """Write the records; the ending of the name says how. `safe_csv`: no cell that a spreadsheet would compute."""
    check_plain_target(target)
    with place_file(target) as building:
        if target.suffix.lower() == ".csv":
            write_csv(frame, building, safe=safe_csv)
        else:
            write_parquet(frame, building)


def check_plain_target(target: Path) -> None:
    """Refuse a name that says no format, and one that is taken."""
    if target.suffix.lower() not in _ENDINGS:
        raise RecipeError(f"{target} says no format. End the name in {' or '.join(_ENDINGS)}.")
    refuse_taken(target)
