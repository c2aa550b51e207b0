"""A requirement read aloud, in plain Python: does a group with these counts satisfy it?

Fractions everywhere; entropies and divergences are floats and must clear their bound by 1e-9, so that what is accepted
here is truly within the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from lookalike.data.requirement import Distance, Requirement
from lookalike.data.taxonomy import Taxonomy

MARGIN = 1e-9


def accepts(requirement: Requirement, counts: Sequence[int], prior: Sequence[int]) -> bool:
    size, total = sum(counts), sum(prior)
    if size < requirement.min_size:
        return False
    if requirement.column is None:
        return True
    beliefs = [Fraction(count, size) for count in counts]
    shares = [Fraction(number, total) for number in prior]
    if requirement.ceilings is not None and any(
        belief > ceiling for belief, ceiling in zip(beliefs, requirement.ceilings, strict=True)
    ):
        return False
    if requirement.floors is not None and any(
        belief < floor for belief, floor in zip(beliefs, requirement.floors, strict=True)
    ):
        return False
    if sum(count > 0 for count in counts) < requirement.distinct:
        return False
    if requirement.entropy is not None and entropy(beliefs) < math.log(requirement.entropy) + MARGIN:
        return False
    if requirement.recursive is not None:
        factor, ell = requirement.recursive
        falling = sorted(counts, reverse=True)
        if not falling[0] < factor * sum(falling[ell - 1 :]):
            return False
    if requirement.windows is not None:
        ends = requirement.windows.reach.tolist()
        windows = (sum(beliefs[first : last + 1], Fraction(0)) for first, last in enumerate(ends))
        if max(windows) > requirement.windows.share:
            return False
    return within(requirement, shares, beliefs)


def within(requirement: Requirement, shares: Sequence[Fraction], beliefs: Sequence[Fraction]) -> bool:
    if requirement.distance is Distance.NONE:
        return True
    if requirement.distance is Distance.EQUAL:
        return equal_emd(shares, beliefs) <= requirement.bound
    if requirement.distance is Distance.ORDERED:
        return ordered_emd(shares, beliefs) <= requirement.bound
    if requirement.distance is Distance.HIERARCHICAL:
        assert requirement.tree is not None
        return hierarchical_emd(requirement.tree, shares, beliefs) <= requirement.bound
    bits = kl_bits(shares, beliefs) if requirement.distance is Distance.KL else js_bits(shares, beliefs)
    return bits <= float(requirement.bound) - MARGIN


def entropy(beliefs: Sequence[Fraction]) -> float:
    return -sum(float(belief) * math.log(belief) for belief in beliefs if belief)


def equal_emd(shares: Sequence[Fraction], beliefs: Sequence[Fraction]) -> Fraction:
    return sum((abs(share - belief) for share, belief in zip(shares, beliefs, strict=True)), Fraction(0)) / 2


def ordered_emd(shares: Sequence[Fraction], beliefs: Sequence[Fraction]) -> Fraction:
    if len(shares) == 1:
        return Fraction(0)
    gap = moved = Fraction(0)
    for share, belief in zip(shares, beliefs, strict=True):
        gap += share - belief
        moved += abs(gap)
    return moved / (len(shares) - 1)


def hierarchical_emd(tree: Taxonomy, shares: Sequence[Fraction], beliefs: Sequence[Fraction]) -> Fraction:
    """Node by node: what its children have too much meets what they have too little."""

    def extra(node: int) -> Fraction:
        run = range(int(tree.firsts[node]), int(tree.lasts[node]) + 1)
        return sum((shares[code] - beliefs[code] for code in run), Fraction(0))

    cost = Fraction(0)
    for node in range(len(tree.labels)):
        if tree.is_leaf[node]:
            continue
        extras = [extra(int(child)) for child in tree.children(node)]
        too_much = sum((part for part in extras if part > 0), Fraction(0))
        too_little = -sum((part for part in extras if part < 0), Fraction(0))
        cost += Fraction(int(tree.heights[node]), int(tree.heights[0])) * min(too_much, too_little)
    return cost


def kl_bits(shares: Sequence[Fraction], beliefs: Sequence[Fraction]) -> float:
    """KL(shares || probabilities)."""
    if any(share and not belief for share, belief in zip(shares, beliefs, strict=True)):
        return math.inf
    pairs = zip(shares, beliefs, strict=True)
    return sum(float(share) * math.log2(share / belief) for share, belief in pairs if share)


def js_bits(shares: Sequence[Fraction], beliefs: Sequence[Fraction]) -> float:
    middle = [(share + belief) / 2 for share, belief in zip(shares, beliefs, strict=True)]
    return (kl_bits(shares, middle) + kl_bits(beliefs, middle)) / 2
