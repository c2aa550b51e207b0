"""Tables of people who come and go, for tests of series."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lookalike.randomness import Randomness

DIAGNOSES = ("HIV", "asthma", "cold", "flu", "measles", "stroke")
QI = ["age", "sex"]


class Patient(NamedTuple):
    patient: str
    age: int
    sex: str
    diagnosis: str


def draw_patients(count: int, rng: Randomness, first: int = 0) -> list[Patient]:
    ages, sexes, values = (rng.child(name).integers(bound, count) for name, bound in (("age", 60), ("s", 2), ("d", 6)))
    return [
        Patient(f"p{first + place}", 20 + int(ages[place]), "fm"[sexes[place]], DIAGNOSES[values[place]])
        for place in range(count)
    ]


def write(path: Path, patients: Sequence[Patient]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(Patient._fields)
        lines.writerows(patients)
    return path


def change(patients: Sequence[Patient], leave: int, come: int, rng: Randomness, first: int) -> list[Patient]:
    """Some leave, others come."""
    staying = rng.child("who leaves").permutation(len(patients))[leave:]
    return [*(patients[place] for place in sorted(staying.tolist())), *draw_patients(come, rng.child("new"), first)]
