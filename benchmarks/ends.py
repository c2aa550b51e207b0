"""What rounding the ends of ranges costs: loss by column, CPU seconds, and ends that are one person's value.

    python benchmarks/ends.py                        on a generated table of measured numbers
    python benchmarks/ends.py --data census10k.csv   also on a table with the columns age, gender, education, ...
    python benchmarks/ends.py --rows 100000          with so many rows generated

CPU seconds are those of the rounding alone: the least of five turns on one finished release, so that loading and
compiling do not count. An end is counted as one person's value if exactly one record of the original has it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

import lookalike as la
from lookalike.data.ends import Ends, round_ends
from lookalike.data.microdata import Microdata
from lookalike.data.release import Ranges, Release, is_numeric_cell
from lookalike.metrics.shared.cells import loss_by_column, mean_loss

METHODS = (
    ("mondrian", "k-anonymity:5"),
    ("mondrian", "k-anonymity:50"),
    ("groups", "l-diversity:3"),
    ("freeform", "k-anonymity:5"),
)


def measured(n_rows: int) -> tuple[pl.DataFrame, list[str], str]:
    """Nobody's laboratory values, with as many digits as a computer gives."""
    rng = np.random.default_rng(1)
    columns = {
        "blood pressure": rng.normal(125, 18, n_rows),
        "creatinine": rng.lognormal(0, 0.4, n_rows),
        "age": rng.integers(18, 91, n_rows),
        "diagnosis": rng.choice(["flu", "cold", "cough", "gout", "rash"], n_rows),
    }
    return pl.DataFrame(columns), ["blood pressure", "creatinine", "age"], "diagnosis"


def census(path: Path) -> tuple[pl.DataFrame, list[str], str]:
    """All columns but the last are quasi-identifiers."""
    frame = pl.read_csv(path)
    return frame, frame.columns[:-1], frame.columns[-1]


def ends_of_one(data: Microdata, release: Release) -> Iterator[tuple[str, float]]:
    """By column of ranges, the share of different ends that exactly one record has."""
    for index, (domain, extents) in enumerate(zip(release.domains.quasi, release.extents, strict=True)):
        if not isinstance(extents, Ranges) or not is_numeric_cell(domain):
            continue
        wide = np.flatnonzero(extents.low_points < extents.high_points)
        ends = np.unique(np.concatenate([extents.low_points[wide], extents.high_points[wide]]))
        codes, counts = np.unique(data.quasi[:, index], return_counts=True)
        alone = domain.points[codes[(counts == 1) & (codes < domain.missing_code)]]
        yield domain.name, float(np.isin(ends, alone).mean()) if len(ends) else 0.0


def shown(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:.1%}" for name, share in shares.items())


def benchmark(name: str, frame: pl.DataFrame, qi: list[str], sensitive: str) -> None:
    for algorithm, model in METHODS:
        made = la.publish(
            frame,
            qi=qi,
            sensitive=sensitive,
            model=model,
            algorithm=algorithm,
            ends="exact",
            rows_are_persons=True,
            seed=1,
        )
        spent = []
        for _ in range(5):
            begin = time.process_time()
            rounded, steps = round_ends(made.release, Ends())
            spent.append(time.process_time() - begin)
        before, after = loss_by_column(made.release), loss_by_column(rounded)
        data = made.made.data  # type: ignore[union-attr]
        rise = mean_loss(after) / mean_loss(before) - 1
        print(f"{name}, {algorithm}, {model}: GCP {mean_loss(before):.4f} -> {mean_loss(after):.4f} ({rise:+.2%})")
        numbers = f"groups or rows {len(made.release.extents[0]):,} -> {len(rounded.extents[0]):,}"
        print(f"    CPU seconds {min(spent):.4f}; {numbers}")
        types = {domain.name: domain.type for domain in data.domains.quasi}
        print(
            "    steps:",
            ", ".join(f"{column} {step.describe(types[column])}" for column, step in steps.items()) or "none",
        )
        print("    ends of one person, exact:  ", shown(dict(ends_of_one(data, made.release))))
        print("    ends of one person, rounded:", shown(dict(ends_of_one(data, rounded))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a CSV file; its last column is the sensitive one")
    parser.add_argument("--rows", type=int, default=10_000, help="of the generated table")
    asked = parser.parse_args()
    benchmark("measured numbers", *measured(asked.rows))
    if asked.data is not None:
        benchmark(asked.data.stem, *census(asked.data))


if __name__ == "__main__":
    main()
