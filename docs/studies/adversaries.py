"""What adversaries learn from releases of `groups`, in both modes.

    python docs/studies/adversaries.py                    both parts, on a generated census-shaped table
    python docs/studies/adversaries.py --data folder      the second part on the CSV files of a folder
    python docs/studies/adversaries.py --part exact       only the first part

The first part is exact Bayes on tiny tables: every way to give the values to the records is gone through. The second is
an attacker who learns from a release of usual size how values go with quasi-identifiers. Tables are printed as Markdown
and shown in docs/studies/adversaries.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from exact_bayes import show_exact
from learning import show_learning


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of coded columns, the last one sensitive")
    parser.add_argument("--rows", type=int, default=10_000, help="of the generated table")
    parser.add_argument("--part", choices=("exact", "learning", "both"), default="both")
    parser.add_argument("--seeds", type=int, default=8, help="that the engine may run with, in the exact part")
    parser.add_argument("--large", action="store_true", help="also an exact case of seven records; takes minutes")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the exact part")
    parser.add_argument("--ell", type=int, nargs="+", default=[5, 10], help="of the learning part")
    parser.add_argument("--cell", type=int, default=0, help="least records in a cell of strict, in the learning part")
    parser.add_argument("--releases", type=int, default=3, help="that the learning part averages over")
    options = parser.parse_args()
    if options.part != "learning":
        show_exact(options)
    if options.part != "exact":
        show_learning(options)


if __name__ == "__main__":
    main()
