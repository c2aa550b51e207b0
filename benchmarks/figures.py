"""How often intervals of totals, means and quantiles hold the truth, and how wide they are, on draws of two tables.

    python benchmarks/figures.py --data FOLDER           on census1k.csv and census10k.csv in a folder
    python benchmarks/figures.py                         on generated census-shaped tables
    python benchmarks/figures.py --seed 7 --queries 100  other questions, and more of them

Each question asks for the total, the mean, the median and the 90 % quantile of a number (age; of the hospital stays
also the length of stay where it is published) among records that lie in ranges of up to two other random columns, the
sensitive one in every second question. Questions that fewer than 20 records satisfy are left out, and so are figures
that the release gives exactly. `error` and `width` are medians: of totals divided by the total, of the others by the
standard deviation of the column.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from foundation import schema_for
from intervals import CENSUS, set_apart
from runs import tables_in

import lookalike as la
from lookalike.analysis.measuring import MEAN, QUANTILE, TOTAL, Asked, measure
from lookalike.data.schema import Kind, Role, Schema
from lookalike.metrics.query_error import RangeWorkload
from lookalike.pipeline.run import MadeWhole
from lookalike.samples import sample_schema, sample_table

STAYS = (
    ("l-diversity:4", "groups", "carried"),
    ("k-anonymity:5", "mondrian", "carried"),
    ("beta-likeness:3", "burel", "carried"),
    ("l-diversity:4", "heterogeneous", "carried"),
    ("l-diversity:4", "anatomy", ""),
    ("l-diversity:4", "anatomy", "sensitive"),
    ("beta-likeness:3", "perturbation", ""),
    ("beta-likeness:3", "perturbation", "sensitive"),
)
_STAY = "length_of_stay"
_FEWEST = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--queries", type=int, default=60, help="per line and selectivity, 60 by default")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(
        f"{'table':10} {'promise':16} {'algorithm':24} {'column':14}", *(f"{name:>22}" for name in _FIGURES), flush=True
    )
    total: dict[str, list[bool]] = defaultdict(list)
    whole = Schema.load(sample_schema())
    for model, algorithm, stay in STAYS:
        made = la.publish(
            pl.read_csv(sample_table(), try_parse_dates=True),
            schema=place_stay(whole, stay),
            model=model,
            algorithm=algorithm,
            seed=1,
        ).made
        for column in ("age", _STAY) if stay else ("age",):
            report("stays", model, algorithm, made, column, options, total)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = tables_in(options.data, folder, options.sizes)
        tables = [table for table in found if table.stem in {f"census{size // 1000}k" for size in options.sizes}]
        schema = schema_for(max(found, key=lambda table: table.stat().st_size), folder)
        for table in tables or found:
            for model, algorithm in CENSUS:
                made = la.publish(pl.read_csv(table), schema=schema, model=model, algorithm=algorithm, seed=1).made
                report(table.stem, model, algorithm, made, "age", options, total)
    for name, held in total.items():
        print(f"{name}: {np.mean(held):.1%} of {len(held):,} intervals held")


def place_stay(schema: Schema, role: str) -> Schema:
    """The hospital sample with its length of stay carried, as the only sensitive column, or left out."""
    if role == "sensitive":
        others = tuple(one for one in schema.attributes if one.role is not Role.SENSITIVE)
        stay = {"role": Role.SENSITIVE, "kind": Kind.CATEGORICAL}
        return replace(schema, attributes=tuple(replace(one, **stay) if one.name == _STAY else one for one in others))
    return schema if role else replace(schema, attributes=tuple(set_apart(schema)))


_FIGURES = {
    "total": (TOTAL, 0.5),
    "mean": (MEAN, 0.5),
    "median": (QUANTILE, 0.5),
    "90 %": (QUANTILE, 0.9),
}


def report(
    table: str,
    model: str,
    algorithm: str,
    made: MadeWhole,
    column: str,
    options: argparse.Namespace,
    total: dict[str, list[bool]],
) -> None:
    """One line: per figure the share of intervals that hold the truth, the median error and the median width."""
    data, release = made.data, made.release
    if column in {domain.name for domain in data.domains.carried}:
        domains = replace(data.domains, sensitive=data.domains.sensitive + data.domains.carried)
        release = replace(release, domains=domains, sensitive=np.hstack((release.sensitive, release.carried)))
    codes = dict(
        zip(
            [one.name for one in data.domains.all], np.hstack((data.quasi, data.sensitive, data.carried)).T, strict=True
        )
    )
    domain = next(domain for domain in data.domains.all if domain.name == column)
    numbers = np.append(domain.values.astype(np.float64), np.nan)[codes[column]]
    n_asked = len(made.data.domains.quasi)
    found: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    for selectivity in (0.3, 0.1):
        for columns, with_sensitive in ((1, False), (2, False), (1, True), (2, True)):
            rng = np.random.default_rng([options.seed, columns, with_sensitive, round(1000 * selectivity), n_asked])
            asked = RangeWorkload(columns, selectivity).draw(made.data.domains, options.queries // 4, rng)
            sides = (
                (data.domains.quasi, asked.quasi),
                (data.domains.sensitive, asked.sensitive if with_sensitive else ()),
            )
            wanted = {one.name: mask for side, masks in sides for one, mask in zip(side, masks, strict=False)}
            wanted.pop(column, None)
            wanted = {name: mask for name, mask in wanted.items() if not mask.all()}
            lines = len(asked)
            matching = np.ones((lines, len(data.quasi)), dtype=bool)
            for name, mask in wanted.items():
                matching &= mask[:, codes[name]]
            matching &= ~np.isnan(numbers)
            for name, (what, share) in _FIGURES.items():
                figures = measure(Asked(what, column, share), release, wanted, lines, {}, 0.95)
                for line in range(lines):
                    values = np.sort(numbers[matching[line]])
                    if len(values) < _FEWEST or not figures.errors[line] > 0:
                        continue
                    reached = int(np.ceil(share * len(values) - 1e-9)) - 1
                    truth = {TOTAL: values.sum(), MEAN: values.mean(), QUANTILE: values[reached]}[what]
                    hair = 1e-6 * max(abs(truth), 1.0)
                    assert figures.least[line] - hair <= truth <= figures.most[line] + hair, (name, line)
                    assert (
                        figures.least[line] - hair
                        <= figures.low[line]
                        <= figures.high[line]
                        <= figures.most[line] + hair
                    )
                    held = bool(figures.low[line] - hair <= truth <= figures.high[line] + hair)
                    scale = truth if what == TOTAL else np.nanstd(numbers)
                    width = figures.high[line] - figures.low[line]
                    found[name].append((held, abs(figures.values[line] - truth) / scale, width / scale))
    parts = []
    for name in _FIGURES:
        total[name] += [held for held, _, _ in found[name]]
        held, error, width = np.array(found[name]).T if found[name] else (np.zeros(0),) * 3
        parts.append(
            f"{held.mean():7.1%}{np.median(error):7.1%}{np.median(width):8.1%}" if len(held) else f"{'exact':>22}"
        )
    print(f"{table:10} {model:16} {algorithm:24} {column:14}", *parts, flush=True)


if __name__ == "__main__":
    main()
