"""A Mondrian that cuts its narrowest attribute, to compare with BUREL: an experiment, in no registry.

BL reports that BUREL loses less than LMondrian. LMondrian as it is printed (the widest attribute, at its median) loses
less than BUREL from beta = 2 on. The paper's order appears with the Mondrian below. It follows the only class in the
authors' program that resembles one: that class cuts the narrowest attribute into even halves and tries nothing else.
LMondrian itself was not released, so that the paper measured this is inferred, not known.

Every group keeps the promise: a half that does not is not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import Grouping
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class NarrowestMondrian(Grouping):
    """Even halves along the narrowest attribute that can still be cut, while both keep beta-likeness."""

    name: ClassVar[str] = "narrowest-mondrian"

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if promise.model.name == "beta-likeness" else "it serves beta-likeness only"

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        from lookalike.algorithms.shared.axes import axes_of, cutting_of, rule_of
        from lookalike.kernels.grouptest import is_group_allowed, tally_for
        from lookalike.kernels.partition import width

        rule, axes = rule_of(data, requirements), axes_of(data)
        tally = tally_for(rule)
        scratch = cutting_of(data, strict=False, by_gain=False, shares=np.array([0.5]))
        group_of_record, n_groups = np.empty(data.n_rows, dtype=np.int32), 0
        # Records of equal value are divided at random.
        stack = [rng.child("ties").permutation(data.n_rows)]
        while stack:
            members = stack.pop()
            size = len(members)
            widths = [width(axes, attr, scratch, members, 0, size) for attr in range(data.quasi.shape[1])]
            open_ones = [attr for attr in range(len(widths)) if widths[attr] > 0]
            if open_ones:
                narrowest = min(open_ones, key=lambda attr: widths[attr])
                members = members[np.argsort(data.quasi[members, narrowest], kind="stable")]
                half = size // 2
                if is_group_allowed(rule, data.sensitive, members, 0, half, tally) and is_group_allowed(
                    rule, data.sensitive, members, half, size, tally
                ):
                    stack += [members[half:], members[:half]]
                    continue
            group_of_record[members] = n_groups
            n_groups += 1
        return group_of_record, n_groups
