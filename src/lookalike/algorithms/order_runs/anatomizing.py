"""Large groups divided by values: Anatomy inside of each group.

Only where the groups themselves are safe. Which records of a value go to which part is drawn, so within a part every
way to give its values to its records is as likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.bucket_sizes import Anatomy
from lookalike.algorithms.order_runs.runs import Rules
from lookalike.algorithms.shared.buckets import Asked, at_random
from lookalike.algorithms.shared.ceilings import least_ceilings
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.errors import Unsupported
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


def divided_by_values(
    data: Microdata,
    requirements: Sequence[Requirement],
    rules: Rules,
    group_of_record: NDArray[np.int32],
    n_groups: int,
    rng: Randomness,
    progress: Progress,
) -> tuple[NDArray[np.int32], int]:
    """Groups of at least twice the least size, divided; one whose parts would not keep every promise stays whole."""
    from lookalike.kernels.grouptest import allowed, tally_for

    values, ceilings, _ = least_ceilings("anatomize", data, requirements)
    tally = tally_for(rules.rule)
    divided = np.empty_like(group_of_record)
    n_parts = 0
    by_group = np.split(np.argsort(group_of_record, kind="stable"), np.cumsum(np.bincount(group_of_record))[:-1])
    for group, members in enumerate(by_group):
        part_of_member, n_here = np.zeros(len(members), dtype=np.int64), 1
        if len(members) >= 2 * rules.least:
            try:
                found, n_found = _anatomized(values[members], ceilings, rules.least, rng.child(group))
            except Unsupported:
                found, n_found = part_of_member, 1
            ordered = members[np.argsort(found, kind="stable")]
            ends = np.cumsum([0, *np.bincount(found)])
            if all(
                allowed(rules.rule, data.sensitive, ordered, ends[part], ends[part + 1], tally)
                for part in range(n_found)
            ):
                part_of_member, n_here = found, n_found
        divided[members] = n_parts + part_of_member
        n_parts += n_here
        progress("anatomize", (group + 1) / n_groups)
    return divided, n_parts


def _anatomized(
    values: NDArray[np.int32], ceilings: Sequence[Fraction], least: int, rng: Randomness
) -> tuple[NDArray[np.int64], int]:
    # A value without a ceiling may be as frequent as it likes: each record counts as a value of its own.
    is_free = np.array([bound == 1 for bound in ceilings])[values]
    named = np.where(is_free, len(ceilings) + np.arange(len(values)), values)
    _, value_of_member = np.unique(named, return_inverse=True)
    value_of_member = value_of_member.reshape(-1).astype(np.int64)
    asked = Asked(np.bincount(value_of_member), [Fraction(1, least)], least, has_values=True)
    slots, _ = Anatomy().slots(asked, rng.child("sizes"), silent)
    return at_random(value_of_member, slots, rng.child("records")), slots.n_buckets
