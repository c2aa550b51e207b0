"""What protecting persons costs against protecting rows: loss and CPU seconds, by number of rows per person.

python benchmarks/persons.py                     20,000 persons, five rows each
python benchmarks/persons.py --persons 200000    a million rows

Visits of invented patients: age, sex and place are a person's; with `--vary` age and year differ by visit. Compiling is
not counted: a small table is published first.
"""

from __future__ import annotations

import argparse
import time

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
    asked = parser.parse_args()
    for person in (None, "person"):
        measure(draw_visits(400, 3, asked.vary, 0.0, 2), person, asked.model, asked.algorithm)
    table = draw_visits(asked.persons, asked.per_person, asked.vary, asked.heavy, 1)
    print(f"{table.height:,} rows of {asked.persons:,} persons, {asked.model}, {asked.algorithm}")
    rows = measure(table, None, asked.model, asked.algorithm)
    persons = measure(table, "person", asked.model, asked.algorithm)
    for name, (loss, seconds) in (("rows", rows), ("persons", persons)):
        print(f"{name:8} loss {loss:.4f}   {seconds:7.1f} CPU seconds")
    print(f"ratio    loss {persons[0] / max(rows[0], 1e-12):.2f}     {persons[1] / rows[1]:7.2f}")


if __name__ == "__main__":
    main()
