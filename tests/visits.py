"""Tables in which persons have several rows, as text: patients with visits."""

from __future__ import annotations

import csv
import random
from pathlib import Path

DIAGNOSES = ("flu", "HIV", "cold", "asthma", "cancer", "angina", "migraine", "gout", "anaemia", "fracture")
QI = ("--qi", "age,sex,zip", "--sensitive", "diagnosis")


def twenty_by_five() -> list[dict[str, str]]:
    """20 persons with 5 rows each, alike in all quasi-identifiers and with 5 different diagnoses."""
    rng = random.Random(5)
    rows = []
    for number in range(20):
        person = {"age": str(rng.randint(20, 80)), "sex": rng.choice("mf"), "zip": f"{rng.randint(1000, 1010):05d}"}
        rows += [{"patient_id": f"{number:04d}", **person, "diagnosis": diagnosis} for diagnosis in DIAGNOSES[:5]]
    rng.shuffle(rows)
    return rows


def longitudinal(n_persons: int = 120, seed: int = 7) -> list[dict[str, str]]:
    """Patients with 1 to 12 visits: ids with leading zeros, households, dates of birth and of visits."""
    rng = random.Random(seed)
    rows = []
    for number in range(n_persons):
        born, sex, place = rng.randint(1935, 2005), rng.choice(("female", "male")), f"{rng.randint(1, 12) * 7:05d}"
        birth = f"{born}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 6, 12))):
            year = rng.randint(2022, 2024)
            rows.append(
                {
                    "patient_id": f"{number:05d}",
                    "household_id": f"H{number // 2:03d}",
                    "age": str(year - born),
                    "sex": sex,
                    "zip": place,
                    "birth date": birth,
                    "visit date": f"{year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
                    "diagnosis": rng.choice(DIAGNOSES),
                }
            )
    rng.shuffle(rows)
    return rows


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path
