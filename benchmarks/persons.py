"""What protecting persons costs against protecting rows: loss, CPU seconds and memory, by number of rows per person.

python benchmarks/persons.py                     20,000 persons, five rows each
python benchmarks/persons.py --persons 200000    a million rows

Visits of invented patients: age, sex and place are a person's; with `--vary` age and year differ by visit. Each run has
a process of its own. Compiling is not counted: a small table is published first.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from typing import NamedTuple

import numpy as np
import polars as pl

import lookalike as la


def draw_visits(n_persons: int, per_person: float, vary: bool, heavy: float, seed: int) -> pl.DataFrame:
    """Visits; `heavy` is the share of all rows that one person has."""
    rng = np.random.default_rng(seed)
    numbers = rng.poisson(per_person - 1, n_persons) + 1
    numbers[0] = max(numbers[0], int(heavy * numbers.sum()))
    person = np.repeat(np.arange(n_persons), numbers)
    age, sex = rng.integers(18, 90, n_persons)[person], rng.integers(0, 2, n_persons)[person]
    place, diagnosis = rng.integers(0, 900, n_persons)[person], rng.zipf(1.6, len(person)).clip(max=30)
    columns = {"person": person, "age": age, "sex": sex, "place": place}
    if vary:
        columns |= {"age": age + rng.integers(0, 6, len(person)), "year": rng.integers(2000, 2020, len(person))}
    return pl.DataFrame(columns | {"diagnosis": diagnosis})


class Cost(NamedTuple):
    loss: float
    seconds: float
    """CPU time of method and audit."""
    megabytes: float
    """The most memory that the process ever had, the table included."""


def measure_apart(asked: argparse.Namespace, person: str | None, seed: int) -> Cost:
    """What one run costs, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure_here, (asked, person, seed))


def _measure_here(asked: argparse.Namespace, person: str | None, seed: int) -> Cost:
    measure(draw_visits(400, 3, asked.vary, 0.0, 2), person, asked.model, asked.algorithm)
    table = draw_visits(asked.persons, asked.per_person, asked.vary, asked.heavy, seed)
    loss, seconds = measure(table, person, asked.model, asked.algorithm)
    return Cost(loss, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure(table: pl.DataFrame, person: str | None, model: str, algorithm: str) -> tuple[float, float]:
    """Loss, and CPU seconds of method and audit."""
    known = [name for name in table.columns if name not in ("person", "diagnosis")]
    begin = time.process_time()
    made = la.publish(
        table,
        qi=known,
        sensitive="diagnosis",
        categorical=["sex", "diagnosis"],
        person=person,
        number_known=person is None,
        rows_are_persons=person is None,
        model=model,
        algorithm=algorithm,
        seed=1,
    )
    return made.losses["gcp"], time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=20_000)
    parser.add_argument("--per-person", type=float, default=5.0)
    parser.add_argument("--vary", action="store_true", help="quasi-identifiers differ between visits of a person")
    parser.add_argument("--heavy", type=float, default=0.0, help="share of all rows that one person has")
    parser.add_argument("--model", default="k-anonymity:10")
    parser.add_argument("--algorithm", default="groups")
    parser.add_argument("--seeds", type=int, default=1, help="so many tables, each drawn anew")
    asked = parser.parse_args()
    for seed in range(1, asked.seeds + 1):
        n_rows = draw_visits(asked.persons, asked.per_person, asked.vary, asked.heavy, seed).height
        print(f"{n_rows:,} rows of {asked.persons:,} persons, {asked.model}, {asked.algorithm}, seed {seed}")
        rows, persons = (measure_apart(asked, person, seed) for person in (None, "person"))
        for name, cost in (("rows", rows), ("persons", persons)):
            print(
                f"{name:8} loss {cost.loss:.4f} {cost.seconds:9.1f} CPU seconds {cost.megabytes:9,.0f} MB", flush=True
            )
        ratios = [one / max(other, 1e-12) for one, other in zip(persons, rows, strict=True)]
        print(f"ratio    loss {ratios[0]:.2f}   {ratios[1]:9.2f}             {ratios[2]:9.2f}", flush=True)


if __name__ == "__main__":
    main()
