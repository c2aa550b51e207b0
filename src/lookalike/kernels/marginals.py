"""How likely each pair is if all assignments that give every owner a row, and no row twice, are equally likely.

Belief propagation: what an owner asks of a row and what a row offers an owner, both against all their other pairs, in
turns until they change no more. Cost O(pairs) a round; exact where pairs form no cycle, else close.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner

_LARGEST = 1e12


@inner
def _against_others(messages, ends, sums, idle, found):  # type: ignore[no-untyped-def]
    sums[:] = idle
    for pair in range(len(ends)):
        sums[ends[pair]] += messages[pair]
    for pair in range(len(ends)):
        others = sums[ends[pair]] - messages[pair]
        found[pair] = 1.0 / min(max(others, 1.0 / _LARGEST), _LARGEST)


@entry
def propagate(owners, rows, n_owners, n_rows, row_idle, owner_idle, asked, offered, n_rounds):  # type: ignore[no-untyped-def]
    """Rounds until no message moves, or `n_rounds`. `asked` [pairs] is where to start, and is carried on."""
    sums_of_row, sums_of_owner = np.empty(n_rows), np.empty(n_owners)
    before = np.empty_like(asked)
    for _ in range(n_rounds):
        before[:] = asked
        _against_others(asked, rows, sums_of_row, row_idle, offered)
        _against_others(offered, owners, sums_of_owner, owner_idle, asked)
        change = 0.0
        for pair in range(len(asked)):
            change = max(change, abs(asked[pair] / (1 + asked[pair]) - before[pair] / (1 + before[pair])))
        if change < 1e-8:
            break
