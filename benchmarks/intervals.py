"""How often intervals of count queries hold the truth, and how wide they are: form by form, on tables of several kinds.

    python benchmarks/intervals.py --data FOLDER            on census1k.csv and census10k.csv in a folder
    python benchmarks/intervals.py                          on generated census-shaped tables
    python benchmarks/intervals.py --seed 7 --queries 500   other queries, and more of them

Each table is published by each method. Queries are ranges over one, two and three random quasi-identifiers, with and
without the sensitive column, of selectivity 10, 3 and 1 % in equal parts. None is dropped: a query that nobody
satisfies counts as well. `error` and `width` are medians over the queries that somebody satisfies, divided by the true
count. Queries that a release answers exactly are left out; a line without any others has none.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from foundation import schema_for
from runs import tables_in

import lookalike as la
from lookalike.analysis.counts import Queries, estimate_counts, true_counts
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.metrics.query_error import RangeWorkload
from lookalike.pipeline.run import MadeWhole
from lookalike.samples import sample_schema, sample_table

CENSUS = (
    ("l-diversity:5", "groups"),
    ("k-anonymity:5", "mondrian"),
    ("k-anonymity:50", "mondrian"),
    ("beta-likeness:3", "burel"),
    ("l-diversity:5", "heterogeneous"),
    ("k-anonymity:10", "freeform"),
    ("l-diversity:5", "anatomy"),
    ("l-diversity:5", "two-size:assign=similar"),
    ("beta-likeness:3", "perturbation"),
)
STAYS = (
    ("l-diversity:4", "groups"),
    ("k-anonymity:5", "mondrian"),
    ("k-anonymity:20", "mondrian"),
    ("beta-likeness:3", "burel"),
    ("l-diversity:4", "heterogeneous"),
    ("k-anonymity:5", "freeform"),
    ("l-diversity:4", "anatomy"),
    ("l-diversity:4", "two-size:assign=similar"),
    ("beta-likeness:3", "perturbation"),
)
SELECTIVITIES = (0.1, 0.03, 0.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--queries", type=int, default=200, help="per selectivity, 200 by default")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    heads = " ".join(
        f"{columns} {'with' if asked else 'without':>7}" for columns in (1, 2, 3) for asked in (False, True)
    )
    print(f"{'table':10} {'promise':16} {'algorithm':24} {heads}   error  width")
    total: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = tables_in(options.data, folder, options.sizes)
        tables = [table for table in found if table.stem in {f"census{size // 1000}k" for size in options.sizes}]
        schema = schema_for(max(found, key=lambda table: table.stat().st_size), folder)
        for table in tables or found:
            for model, algorithm in CENSUS:
                made = la.publish(pl.read_csv(table), schema=schema, model=model, algorithm=algorithm, seed=1).made
                total += report(table.stem, model, algorithm, made, options)
        stays = sample_table()
        # A carried column would forbid exact quasi-identifiers, and no query asks about it.
        whole = Schema.load(sample_schema())
        schema_of_stays = replace(whole, attributes=tuple(set_apart(whole)))
        for model, algorithm in STAYS:
            made = la.publish(stays, schema=schema_of_stays, model=model, algorithm=algorithm, seed=1).made
            total += report("stays", model, algorithm, made, options)
    held = np.concatenate(total)
    print(f"all {len(held):,} queries: {held.mean():.1%} held")


def set_apart(schema: Schema) -> list[Attribute]:
    """All columns but the carried ones."""
    return [attribute for attribute in schema.attributes if attribute.role is not Role.CARRIED]


def report(table: str, model: str, algorithm: str, made: MadeWhole, options: argparse.Namespace) -> list[np.ndarray]:
    """One line: the share of intervals that hold the truth, by columns, without and with the sensitive one."""
    parts, errors, widths, every = [], [], [], []
    for columns in (1, 2, 3):
        for with_sensitive in (False, True):
            held = []
            for selectivity in SELECTIVITIES:
                rng = np.random.default_rng([options.seed, columns, with_sensitive, round(1000 * selectivity)])
                asked = RangeWorkload(columns, selectivity).draw(made.data.domains, options.queries, rng)
                if not with_sensitive:
                    asked = Queries(asked.quasi, tuple(np.ones_like(mask) for mask in asked.sensitive))
                truth, answers = true_counts(asked, made.data), estimate_counts(asked, made.release)
                low, high = answers.intervals()
                assert ((answers.least - 1e-6 <= truth) & (truth <= answers.most + 1e-6)).all()
                estimated, somebody = answers.errors > 0, truth > 0
                held.append(((low <= truth) & (truth <= high))[estimated])
                shown = estimated & somebody
                errors.append(np.abs(answers.counts - truth)[shown] / truth[shown])
                widths.append((high - low)[shown] / truth[shown])
            found = np.concatenate(held)
            every.append(found)
            parts.append(f"{found.mean():9.1%}" if len(found) else f"{'exact':>9}")
    error, width = (float(np.median(np.concatenate(figures))) for figures in (errors, widths))
    print(f"{table:10} {model:16} {algorithm:24} {' '.join(parts)} {error:7.1%} {width:6.1%}", flush=True)
    return every


if __name__ == "__main__":
    main()
