"""Several promises and algorithms on one table, side by side, for anyone who must choose.

    models x algorithms --runs--> tasks --processes--> runs --frontier--> a table and a picture
                                    |                   ^
                                    +--- folder: what is finished is not made again

`comparison` is the way through; every other file does one step of it.
"""

from __future__ import annotations

from lookalike.evaluation.compare.comparison import Comparison, compare
from lookalike.evaluation.compare.runs import Run

__all__ = ["Comparison", "Run", "compare"]
