"""What every method makes of the same twelve invented people: the tables on its page, for comparison.

    python docs/twelve.py                  all pages
    python docs/twelve.py burel anatomy    these

A table is on each page between `<!-- generated: twelve -->` and `<!-- end -->`. The same seed gives the same table.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.algorithms import ALGORITHMS
from lookalike.data.release import Perturbed
from lookalike.publication import publish, synthesize

FOLDER = Path(__file__).parent / "algorithms"
BEGIN, END = "<!-- generated: twelve -->\n\n", "\n<!-- end -->\n"
PEOPLE = (
    ("Ana", 23, "F", "flu"),
    ("Ben", 24, "M", "asthma"),
    ("Cleo", 27, "F", "gout"),
    ("Dan", 31, "M", "flu"),
    ("Eve", 35, "F", "asthma"),
    ("Finn", 36, "M", "burn"),
    ("Gus", 44, "M", "flu"),
    ("Hana", 46, "F", "gout"),
    ("Ivo", 52, "M", "asthma"),
    ("Jo", 58, "F", "burn"),
    ("Kim", 63, "F", "flu"),
    ("Leo", 67, "M", "asthma"),
)
"""Name, age, sex and illness; the names are for the reader and not in the table."""
COLUMNS = ("age", "sex", "illness")


ASKED = {
    "freeform": "k-anonymity:3",
    "burel": "beta-likeness:2",
    "sabre": "t-closeness:0.4",
    "lmondrian": "beta-likeness:2",
    "dmondrian": "beta-likeness:2",
    "tmondrian": "t-closeness:0.4",
    "perturbation": "beta-likeness:2",
    "two-size": "f-privacy:theta=2",
    "multi-size": "f-privacy:theta=2",
    "optimal-buckets": "f-privacy:theta=2",
    "greedy-grouping": "l-diversity:2",
    "random-grouping": "l-diversity:2",
    "symmetric-grouping": "l-diversity:2",
}
"""What methods are asked for; `l-diversity:3` if not named."""
SYNTHETIC = {"mst": 10}
"""Synthesizers and their epsilon: twelve people are few for any."""


def tables(name: str) -> str:
    """The paragraph and the table on the page of a method."""
    people = [dict(zip(COLUMNS, person[1:], strict=True)) for person in PEOPLE]
    if name in SYNTHETIC:
        made = synthesize(people, qi=["age", "sex"], sensitive="illness", method=name, epsilon=SYNTHETIC[name], seed=1)
        drawn = [tuple(map(str, row)) for row in made.frame().iter_rows()]
        told = f"Twelve invented people, and as many drawn under epsilon {SYNTHETIC[name]}: no row is about one of them"
        return _table(told, COLUMNS, drawn, "drawn")
    promise = ASKED.get(name, "l-diversity:3")
    sensitive = () if promise.startswith("k-anonymity") else "illness"
    carried = "illness" if not sensitive else ()
    chosen = {"qi": ["age", "sex"], "sensitive": sensitive, "carry": carried, "carry_anyway": carried}
    made = publish(people, model=promise, algorithm=name, seed=1, **chosen)
    frame, records = made.frame(), made.made.record_map
    told = f"Twelve invented people, under `{promise}`"
    if isinstance(frame, dict):
        return _buckets(frame["qit"], frame["sat"], np.argsort(records.record_of_quasi_row), told)
    if isinstance(made.release, Perturbed):
        told += ". Ages and sexes stay; each illness is drawn again by the published matrix"
    else:
        told += f" (GCP {made.losses['gcp']:.2f}). A release shuffles its rows; here each is beside its person"
    rows = [tuple(map(str, row)) for row in frame.iter_rows()]
    return _table(told, frame.columns, [rows[row] for row in np.argsort(records.record_of_row)])


def _buckets(persons: Any, values: Any, order: Sequence[int], told: str) -> str:
    rows = [tuple(map(str, row)) for row in persons.iter_rows()]
    held: dict[str, list[str]] = {}
    for number, value in values.select("bucket", "illness").iter_rows():
        held.setdefault(str(number), []).append(value)
    lists = "; ".join(f"{number}: {', '.join(sorted(found))}" for number, found in sorted(held.items(), key=_number))
    told += ". Ages and sexes stay, with the number of a bucket; a second table lists the illnesses of each bucket"
    return _table(told, persons.columns, [rows[row] for row in order]) + f"\nThe second table: {lists}.\n"


def _number(held: tuple[str, list[str]]) -> int:
    return int(held[0])


def _table(told: str, columns: Sequence[str], rows: Sequence[Sequence[str]], how: str = "published") -> str:
    header = ["person", *COLUMNS, *(f"{how} {name}" for name in columns)]
    lines = [header]
    for person, row in zip(PEOPLE, rows, strict=True):
        lines.append([str(value) for value in person] + [cell.replace("|", "\\|") for cell in row])
    text = "".join("| " + " | ".join(line) + " |\n" for line in lines)
    text = text.replace("\n", f"\n{'|---' * len(header)}|\n", 1)
    return "\n".join(textwrap.wrap(f"{told}.", 120)) + "\n\n" + text


def main() -> None:
    for name in sys.argv[1:] or [*ALGORITHMS, *SYNTHETIC]:
        page = FOLDER / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        if BEGIN not in text:
            text = text.replace("\n## Promise\n", f"\n{BEGIN}{END}\n## Promise\n", 1)
        before, rest = text.split(BEGIN, 1)
        page.write_text(before + BEGIN + tables(name) + END + rest.split(END, 1)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
