"""How many random examples a property test draws: its own number times one factor for all of them.

`make test-fast` draws fewer, `make test-long` many more: LOOKALIKE_EXAMPLES is the factor.
"""

from __future__ import annotations

import os

_FACTOR = float(os.environ.get("LOOKALIKE_EXAMPLES", "1"))


def examples(number: int) -> int:
    return max(1, round(number * _FACTOR))
