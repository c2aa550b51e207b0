"""How near plain tables drawn from a release are to its original: `sample`, and even draws inside cells for comparison.

    python benchmarks/worlds.py                       hospital and census samples, 5,000 people each
    python benchmarks/worlds.py --data FOLDER         and census10k.csv of a folder
    python benchmarks/worlds.py --rows 2000 --worlds 3

`one world` and `pooled`: the mean over pairs of columns of the total variation distance from the original's table of a
pair, of each world, and of the mean over all worlds. Columns are cut into at most 8 bins or 20 frequent values.
`held`: of the means of the numeric columns in each frequent sensitive value, how many lie in their pooled 95 %
interval. `births` and `winter flu` (hospital): mean age at childbirth, share of influenza in December to February.
`CPU` in seconds: opening the release, fitting and drawing all worlds.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import lookalike as la
from lookalike.data.microdata import Table
from lookalike.data.release import Release
from lookalike.data.schema import Role, Schema
from lookalike.data.worlds import draw_world
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.cells import type_values
from lookalike.files.releases.plain import value_frame
from lookalike.files.releases.read import find_release
from lookalike.randomness import Randomness
from lookalike.samples import census, hospital, sample_schema

METHODS = (
    ("k-anonymity:5", "mondrian"),
    ("l-diversity:4", "groups"),
    ("l-diversity:4", "heterogeneous"),
    ("l-diversity:4", "anatomy"),
    ("l-diversity:4", "anatomy:assign=similar"),
    ("beta-likeness:4", "perturbation"),
)
_MOST_BINS, _MOST_VALUES, _LEAST_ROWS = 8, 20, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--worlds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="folder with census10k.csv")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'table':9} {'promise':16} {'algorithm':22} {'draws':7} one world  pooled  held  births  winter flu   CPU")
    schema = Schema.load(sample_schema())
    exact = replace(schema, attributes=tuple(each for each in schema.attributes if each.role is not Role.CARRIED))
    stays = to_frame(hospital(options.rows, seed=3)).drop("patient_id", "length_of_stay")
    compare("hospital", stays, {"schema": exact}, "diagnosis", options)
    people = as_categories(to_frame(census(options.rows, seed=3)), ("Age", "Education"))
    compare("census", people, {"qi": people.columns[:7], "sensitive": "Occupation"}, "Occupation", options)
    if options.data is not None:
        people = as_categories(pl.read_csv(options.data / "census10k.csv"), ("age", "education"))
        qi = [name for name in people.columns if name != "occupation"]
        compare("census10k", people, {"qi": qi, "sensitive": "occupation"}, "occupation", options)


def compare(table: str, original: pl.DataFrame, roles: dict[str, Any], sensitive: str, options: Any) -> None:
    for model, algorithm in METHODS:
        made = la.publish(original, **roles, model=model, algorithm=algorithm, seed=options.seed)
        started = time.process_time()
        worlds = la.sample(made, worlds=options.worlds, seed=options.seed, frames="polars")
        spent = time.process_time() - started
        release = read_alone(find_release(made))
        for name, frames, seconds in (
            ("even", draw_evenly(release, options.worlds), None),
            ("sample", worlds, spent),
        ):
            figures = describe(original, [level(frame) for frame in frames], sensitive)
            cpu = "" if seconds is None else f"{seconds:5.1f}"
            print(f"{table:9} {model:16} {algorithm:22} {name:7} {figures} {cpu}", flush=True)


def draw_evenly(release: Release, worlds: int) -> list[pl.DataFrame]:
    """Worlds in which all values of a cell are alike."""
    rng = Randomness(1)
    return [value_frame(release.domains, draw_world(release, rng.child(world))) for world in range(worlds)]


def level(frame: pl.DataFrame) -> pl.DataFrame:
    """Zip codes by their first three characters, which is what most cells show."""
    if "zip code" not in frame.columns:
        return frame
    return frame.with_columns(pl.col("zip code").str.head(3))


def describe(original: pl.DataFrame, worlds: list[pl.DataFrame], sensitive: str) -> str:
    original = level(original)
    codes = [
        bin_column(original[name], [original[name], *(world[name] for world in worlds)]) for name in original.columns
    ]
    singles, pooled = [], []
    for (one, n_one), (other, n_other) in itertools.combinations(codes, 2):
        tables = [
            np.bincount(first * n_other + second, minlength=n_one * n_other) / len(first)
            for first, second in zip(one, other, strict=True)
        ]
        singles += [np.abs(table - tables[0]).sum() / 2 for table in tables[1:]]
        pooled.append(np.abs(np.mean(tables[1:], axis=0) - tables[0]).sum() / 2)
    hospital_only = ""
    if "diagnosis" in original.columns:
        every = pl.concat(worlds)
        hospital_only = f"{birth_age(every):7.1f} {winter_flu(every):10.0%}"
    return f"{np.mean(singles):9.4f} {np.mean(pooled):7.4f} {hold(original, worlds, sensitive):5.0%} {hospital_only:19}"


def birth_age(frame: pl.DataFrame) -> float:
    return float(frame.filter(pl.col("diagnosis") == "childbirth")["age"].to_numpy().mean())


def winter_flu(frame: pl.DataFrame) -> float:
    months = frame.filter(pl.col("diagnosis") == "influenza")["admission_date"].dt.month()
    return float(months.is_in([12, 1, 2]).to_numpy().mean())


def hold(original: pl.DataFrame, worlds: list[pl.DataFrame], sensitive: str) -> float:
    """How many means lie in their intervals."""
    counts = original[sensitive].value_counts().filter(pl.col("count") >= _LEAST_ROWS)
    numeric = [name for name in original.columns if original[name].dtype.is_numeric()]
    held = []
    for value, name in itertools.product(counts[sensitive], numeric):
        drawn = [world.filter(pl.col(sensitive) == value)[name].drop_nulls().to_numpy() for world in worlds]
        if min(map(len, drawn)) < 2:
            continue
        pooled = la.pool([each.mean() for each in drawn], [each.var() / len(each) for each in drawn])
        low, high = pooled.interval()
        held.append(low <= original.filter(pl.col(sensitive) == value)[name].drop_nulls().to_numpy().mean() <= high)
    return float(np.mean(held)) if held else float("nan")


def bin_column(original: pl.Series, tables: list[pl.Series]) -> tuple[list[NDArray[np.int64]], int]:
    """The bins of the rows of each table, missing values the last one."""
    if original.dtype.is_numeric() or original.dtype.is_temporal():
        numbers = original.to_physical().cast(pl.Float64).drop_nulls().to_numpy()
        edges = np.unique(np.quantile(numbers, np.arange(1, _MOST_BINS) / _MOST_BINS))
        found = []
        for table in tables:
            column = table.to_physical().cast(pl.Float64)
            bins = np.searchsorted(edges, column.fill_null(0.0).to_numpy(), side="right")
            found.append(np.where(column.is_null().to_numpy(), len(edges) + 1, bins))
        return found, len(edges) + 2
    frequent = original.drop_nulls().value_counts(sort=True)[original.name].head(_MOST_VALUES).to_list()
    place = {value: number for number, value in enumerate(frequent)}
    last = len(frequent) + 1
    return [
        np.array([last if value is None else place.get(value, last - 1) for value in table.to_list()])
        for table in tables
    ], last + 1


def as_categories(frame: pl.DataFrame, numeric: tuple[str, ...]) -> pl.DataFrame:
    return frame.with_columns(pl.col(name).cast(pl.String) for name in frame.columns if name not in numeric)


def to_frame(table: Table) -> pl.DataFrame:
    columns = []
    for column in table.columns:
        values = type_values(column.values, column.type)
        known = pl.concat([values, pl.Series([None], dtype=values.dtype)])
        columns.append(known.gather(column.codes.astype(np.uint32)).alias(column.name))
    return pl.DataFrame(columns)


if __name__ == "__main__":
    main()
