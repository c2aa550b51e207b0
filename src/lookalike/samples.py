"""Invented tables to try things with: `python -m lookalike.samples hospital --rows 5000 --out patients.csv`."""

from __future__ import annotations

import sys

from lookalike.apps.samples import (
    census,
    census_schema,
    hospital,
    hospital_schema,
    main,
    sample_knowledge,
    sample_schema,
    sample_table,
    to_csv,
)

__all__ = [
    "census",
    "census_schema",
    "hospital",
    "hospital_schema",
    "main",
    "sample_knowledge",
    "sample_schema",
    "sample_table",
    "to_csv",
]

if __name__ == "__main__":
    sys.exit(main())
