"""Several promises and algorithms on one table, side by side, for whoever must choose.

    models x algorithms --plan--> tasks --processes--> runs --frontier--> a table and a picture
                                    |                   ^
                                    +--- folder: what is finished is not made again

`comparing` is the way through; every other file does one step of it.
"""

from __future__ import annotations

from lookalike.evaluation.compare.comparing import Comparison, compare
from lookalike.evaluation.compare.results import Run

__all__ = ["Comparison", "Run", "compare"]
