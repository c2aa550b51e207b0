"""Tables as other tools write them, in one notation a column, and single cells spelled so that they say more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.errors import LookalikeError
from lookalike.files.releases.other_tools import read_foreign_table
from lookalike.files.tables.read import read_table
from lookalike.models.k_anonymity import KAnonymity
from lookalike.pipeline.hidden_data.other_tools import examine_table

JOBS = ("clerk", "cook", "nurse", "smith", "tailor")
_INTERVALS: tuple[Callable[[int, int], str], ...] = (
    lambda low, high: f"{low}-{high}",
    lambda low, high: f"[{low}, {high}]",
    lambda low, high: f"[{low}, {high + 1})",
    lambda low, high: f"]{low - 1}, {high}]",
    lambda low, high: f"{low} to {high}",
    lambda low, high: f"{low}..{high}",
)
_SETS: tuple[Callable[[list[str]], str], ...] = (
    "|".join,
    ";".join,
    lambda jobs: "{" + ", ".join(jobs) + "}",
    lambda jobs: "[" + ", ".join(reversed(jobs)) + "]",
)
Row = dict[str, str]


def honest_table(rng: np.random.Generator) -> tuple[Microdata, pl.DataFrame, list[Row]]:
    """A random table, and a shuffled generalisation of it; each column keeps to one notation."""
    n_rows = int(rng.integers(8, 40))
    ages, jobs = rng.integers(20, 60, n_rows), rng.integers(0, len(JOBS), n_rows)
    frame = pl.DataFrame(
        {
            "age": ages,
            "job": [JOBS[job] for job in jobs],
            "illness": [("flu", "gout", "asthma")[place] for place in rng.integers(0, 3, n_rows)],
        }
    )
    schema = Schema.of(qi=["age", "job"], sensitive=["illness"], numeric=["age"])
    data = Microdata.encode(read_table(frame), schema)
    interval, listed = (choices[int(rng.integers(len(choices)))] for choices in (_INTERVALS, _SETS))
    groups = np.sort(rng.integers(0, max(n_rows // 4, 1), n_rows))[np.argsort(np.argsort(ages, kind="stable"))]
    any_job = rng.random() < 0.3
    rows: list[Row] = []
    for place in rng.permutation(n_rows).tolist():
        of_group = np.flatnonzero(groups == groups[place])
        low, high = int(ages[of_group].min()), int(ages[of_group].max())
        held = sorted({JOBS[job] for job in jobs[of_group]})
        rows.append(
            {
                "age": interval(low, high) if low < high else str(low),
                "job": "*" if any_job else listed(held) if len(held) > 1 else held[0],
                "illness": frame["illness"][place],
            }
        )
    return data, frame, rows


def write(path: Path, rows: list[Row]) -> None:
    """Cells as they are, quoted only where a comma or a quote is in them."""
    lines = [",".join(rows[0]), *(",".join(map(_field, row.values())) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def _field(cell: str) -> str:
    return f'"{cell}"' if "," in cell and not cell.endswith('"') else cell


def passes(path: Path, data: Microdata) -> bool:
    try:
        release, table = read_foreign_table(path, data, suppressed=0, note=[].append)
        found = examine_table(path, table, data)
    except LookalikeError:
        return False
    return all(check.passed for check in found.checks) and verify(data, release, [Promise(KAnonymity(1))]).passed


Respell = Callable[[np.random.Generator, list[Row]], bool]
RESPELLINGS: dict[str, Respell] = {}


def respelling(name: str) -> Callable[[Respell], Respell]:
    def register(function: Respell) -> Respell:
        RESPELLINGS[name] = function
        return function

    return register


def _shared(rng: np.random.Generator, rows: list[Row], column: str, usable: Callable[[str], bool]) -> Row | None:
    """A row whose cell others have too."""
    often = Counter(row[column] for row in rows)
    such = [row for row in rows if often[row[column]] > 1 and usable(row[column])]
    return such[int(rng.integers(len(such)))] if such else None


def _respelled(column: str, usable: Callable[[str], bool], change: Callable[[str], str]) -> Respell:
    def respell(rng: np.random.Generator, rows: list[Row]) -> bool:
        row = _shared(rng, rows, column, usable)
        if row is not None:
            row[column] = change(row[column])
        return row is not None

    return respell


RESPELLINGS |= {
    "a space before a cell": _respelled("illness", bool, lambda cell: f" {cell}"),
    "spaces behind a cell": _respelled("illness", bool, lambda cell: f"{cell}  "),
    "quotes around a cell": _respelled("illness", bool, lambda cell: f'"{cell}"'),
    "one star more": _respelled("job", lambda cell: cell == "*", lambda cell: "**"),
    "an interval with a space": _respelled("age", lambda cell: "-" in cell, lambda cell: cell.replace("-", " - ")),
    "an interval in brackets": _respelled("age", lambda cell: ".." in cell or " to " in cell, lambda cell: f"[{cell}]"),
    "an end with decimals": _respelled("age", lambda cell: cell[:1] in "[]", lambda cell: cell.replace(",", ".0,", 1)),
    "a set in braces": _respelled("job", lambda cell: "|" in cell or ";" in cell, lambda cell: "{" + cell + "}"),
    "a set in another order": _respelled(
        "job", lambda cell: "|" in cell, lambda cell: "|".join([*cell.split("|")[1:], cell.split("|")[0]])
    ),
}


@respelling("a value named twice")
def _named_twice(rng: np.random.Generator, rows: list[Row]) -> bool:
    """In all rows with the same cell alike."""
    row = _shared(rng, rows, "job", lambda cell: "|" in cell)
    if row is None:
        return False
    cell = row["job"]
    for one in rows:
        one["job"] = f"{cell.split('|')[0]}|{cell}" if one["job"] == cell else one["job"]
    return True


@respelling("row numbers")
def _index(rng: np.random.Generator, rows: list[Row]) -> bool:
    for place, row in enumerate(rows):
        row["index"] = str(place)
    return True


@respelling("e-mail addresses")
def _mail(rng: np.random.Generator, rows: list[Row]) -> bool:
    for place, row in enumerate(rows):
        row["e-mail"] = f"person{place}@example.org"
    return True


@respelling("a note that is the same in all rows")
def _note(rng: np.random.Generator, rows: list[Row]) -> bool:
    for row in rows:
        row["note"] = "the third row is Anna"
    return True
