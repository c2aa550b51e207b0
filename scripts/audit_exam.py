"""The audit examined on thousands of releases: `make audit-exam` (CASES=300 of each form by default).

    python scripts/audit_exam.py [cases of each form]

Prints what was tried and caught, by kind, and fails if audit and oracle ever disagree.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from lookalike.algorithms import ALGORITHMS
from tests.audit.planting.cases import FORMS
from tests.audit.planting.exam import Marks, sit
from tests.audit.planting.parts import FORMS_IN_PARTS
from tests.audit.planting.rooms import (
    sit_boxes,
    sit_chance,
    sit_folder,
    sit_forced,
    sit_foreign,
    sit_messages,
    sit_method,
    sit_parts,
    sit_parts_on_disk,
    sit_ties,
    sit_told_by_parts,
)

QUICK = {"optimal-buckets": "optimal-buckets:seconds=2"}


def main(arguments: list[str]) -> int:
    n_cases = int(arguments[0]) if arguments else 300
    warnings.simplefilter("error")
    marks = Marks()
    started = time.perf_counter()

    def said(room: str) -> None:
        print(f"{time.perf_counter() - started:6.0f} s  {room}: {len(marks.wrong)} disagreements so far", flush=True)

    for seed in range(n_cases):
        for form in FORMS:
            sit(marks, form, seed)
    said("by hand")
    for seed in range(n_cases // 2):
        for form in FORMS_IN_PARTS:
            sit_parts(marks, form, seed)
            sit_told_by_parts(marks, form, seed)
    said("in parts")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n_cases // 6):
            for form in FORMS:
                sit_folder(marks, form, seed, Path(folder))
            for form in ("grouped", "perturbed"):
                sit_parts_on_disk(marks, form, seed, Path(folder))
    said("on disk")
    for seed in range(n_cases // 6):
        for form in FORMS:
            with tempfile.TemporaryDirectory() as folder:
                sit_messages(marks, form, seed, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n_cases):
            sit_foreign(marks, seed, Path(folder))
        for seed in range(n_cases // 6):
            sit_boxes(marks, seed, Path(folder))
    said("with messages")
    sit_ties(marks)
    sit_forced(marks)
    for seed in range(max(n_cases // 30, 1)):
        sit_chance(marks, seed)
    said("by chance")
    for seed in range(n_cases // 6):
        for name in ALGORITHMS:
            sit_method(marks, QUICK.get(name, name), seed)
    said("by the methods")
    print(f"\n{marks}\n\n{time.perf_counter() - started:.0f} seconds")
    return 1 if marks.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
