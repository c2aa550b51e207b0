"""Is a series in frozen cells what it promises: does every set of rows with one history keep every promise?

A reader of all releases parts the rows by where they are in each of them: the group that shows a row in release 1, in
release 2 and so on, or none. Rows with one history are told apart by nothing else, so each such set is what the reader
knows of a person whose history is known, and each must keep every promise as a group by itself. Histories come from the
private ledger; nothing is taken from the rule that chose the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.reading import Ints
from lookalike.data.contracts import Promise
from lookalike.data.exposure import counted_exposure
from lookalike.data.microdata import Codes, Domain
from lookalike.data.release import Grouped
from lookalike.errors import counted

ABSENT = -1


def audit_histories(
    groups: Ints, codes: Codes, promises: Sequence[Promise], domains: Sequence[Domain], adversary: str
) -> list[str]:
    """What is wrong, in sentences.

    groups [persons, releases]: the group that shows the person's row, ABSENT if none does; codes [persons, sensitive
    columns].
    """
    ever = (groups != ABSENT).any(axis=1)
    histories = np.unique(groups[ever], axis=0, return_inverse=True)[1].reshape(-1)
    n_blocks, problems = int(histories.max(initial=-1)) + 1, []
    for promise in promises if n_blocks else ():
        column = next((place for place, domain in enumerate(domains) if domain.name == promise.column), None)
        domain = None if column is None else domains[column]
        own = None if column is None else codes[ever, column].astype(np.int32)
        exposure = counted_exposure(
            histories,
            own,
            n_blocks,
            adversary=adversary,
            form=Grouped.form,
            column=domain,
            prior=_count(own, domain, int(ever.sum())),
        )
        level = promise.model.level(exposure)
        if not promise.model.holds(level):
            size = "" if level.unit is None else f", in a set of {counted(int(exposure.sizes[level.unit]), 'row')}"
            problems.append(
                f"rows that appeared and left together reach {promise} only up to {level.value}{size}: what changes "
                "from release to release gives people away"
            )
    return problems


def _count(codes: Codes | None, domain: Domain | None, n_rows: int) -> NDArray[np.int64]:
    if codes is None or domain is None:
        return np.array([n_rows], dtype=np.int64)
    return np.bincount(codes, minlength=domain.n_codes).astype(np.int64)
