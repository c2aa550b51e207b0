"""How near the answers of releases are, how often their intervals hold, and what thousands of queries take.

    python benchmarks/queries.py --data folder      on census10k.csv (else the smallest table) in a folder
    python benchmarks/queries.py                    on generated census-shaped tables
    python benchmarks/queries.py --million          10,000 queries on a million rows, by form

The bundled hospital stays come last: there, what people have follows from who they are.

Error is |estimate - truth| / truth, the median over queries; `uniform` is the estimator of the papers, `weighted` ours.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from foundation import schema_for
from runs import resampled, tables_in

import lookalike as la
from lookalike.analysis.counts import estimate_counts
from lookalike.metrics.query_error import RangeWorkload, SetWorkload, draw_queries, judge_answers
from lookalike.pipeline.run import MadeWhole
from lookalike.samples import sample_schema, sample_table

RELEASES = (
    ("l-diversity:10", "groups"),
    ("l-diversity:10", "heterogeneous"),
    ("k-anonymity:5", "mondrian"),
    ("beta-likeness:3", "burel"),
    ("l-diversity:5", "anatomy"),
    ("l-diversity:5", "two-size:assign=similar"),
    ("beta-likeness:3", "perturbation"),
)
STAYS = (
    ("l-diversity:4", "groups"),
    ("l-diversity:4", "heterogeneous"),
    ("k-anonymity:5", "mondrian"),
    ("l-diversity:4", "anatomy"),
    ("l-diversity:4", "two-size:assign=similar"),
)
FORMS = (("l-diversity:5", "mondrian"), ("l-diversity:5", "two-size"), ("beta-likeness:3", "perturbation"))
WORKLOADS = (RangeWorkload(1, 0.1), RangeWorkload(3, 0.1), SetWorkload(3, 0.1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--million", action="store_true", help="time 10,000 queries on a million rows")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = tables_in(options.data, folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        heads = f"{'promise':16} {'algorithm':24} {'workload':16} {'uniform':>8} {'weighted':>9} {'held':>7}"
        usual = next((table for table in tables if table.stem == "census10k"), tables[0])
        print(f"{usual.name}\n{heads} {'stated':>7}")
        for model, algorithm in RELEASES:
            for line in answered(published(usual, schema, model, algorithm), options.queries):
                print(f"{model:16} {algorithm:24} {line}", flush=True)
        print("\nhospital stays")
        for model, algorithm in STAYS:
            outcome = published(sample_table(), sample_schema(), model, algorithm)
            for line in answered(outcome, options.queries):
                print(f"{model:16} {algorithm:24} {line}", flush=True)
        if options.million:
            print(f"\n{'promise':16} {'algorithm':24} {'truth s':>8} {'answers s':>9}  10,000 queries, wall")
            table = resampled(tables[-1], folder)
            for model, algorithm in FORMS:
                print(f"{model:16} {algorithm:24} {timed(published(table, schema, model, algorithm))}", flush=True)


def published(table: Path, schema: Path, model: str, algorithm: str) -> MadeWhole:
    outcome: MadeWhole = la.publish(pl.read_csv(table), schema=schema, model=model, algorithm=algorithm, seed=1).made
    return outcome


def answered(outcome: MadeWhole, n_queries: int) -> list[str]:
    lines = []
    for workload in WORKLOADS:
        asked = draw_queries(workload, outcome.data, n_queries, np.random.default_rng(1))
        uniform = judge_answers(asked, estimate_counts(asked.queries, outcome.release, "uniform"))
        answers = estimate_counts(asked.queries, outcome.release)
        ours = judge_answers(asked, answers)
        name = f"{type(workload).__name__.removesuffix('Workload').casefold()}, {workload.columns} columns"
        stated = float(np.median(answers.errors / asked.truth))
        lines.append(f"{name:16} {uniform.median:8.1%} {ours.median:9.1%} {ours.coverage:7.1%} {stated:7.1%}")
    return lines


def timed(outcome: MadeWhole) -> str:
    warm = draw_queries(RangeWorkload(3, 0.1), outcome.data, 64, np.random.default_rng(1))
    estimate_counts(warm.queries, outcome.release)
    begin = time.perf_counter()
    asked = draw_queries(RangeWorkload(3, 0.1), outcome.data, 10_000, np.random.default_rng(2))
    middle = time.perf_counter()
    estimate_counts(asked.queries, outcome.release)
    return f"{middle - begin:8.1f} {time.perf_counter() - middle:9.1f}"


if __name__ == "__main__":
    main()
