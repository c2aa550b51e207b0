"""Perturbed releases, class by class: do the published values follow the matrix, given the values that were there?

A class holds the records with the same quasi-identifiers and carried values, all of which are published, and the rows
that show them. Nobody can tell the rows of a class apart, but their values are independent draws from known values:

    kept    how many values of a class are published again, with repeats: the sum over its values v of
            min(records with v, rows with v). The counts of rows are negatively associated (each row shows one value),
            and so are monotone functions of them: the moments of the sum are at most the product of theirs
            (Joag-Dev, Proschan 1983), which are exact. Publishing the original keeps every value.
    by rule as kept, after the published values were renamed in the way that fits best: sees any one-to-one exchange of
            values. The bound is multiplied by the number of ways to rename them.
    moved   for each pair of values, rows that show v, weighted by the share of their class that has u: a sum of
            independent terms in [0, 1].
    chosen  kept, in parts of the table: whether it depends on another column who keeps a value (`selecting`)

For rows whose class is their own these are the plain numbers of values kept and of each transition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lookalike.audit.reading import Ints
from lookalike.audit.selecting import RATES as CHOICE_RATES
from lookalike.audit.selecting import Choices, Counted, chance_of, evidence
from lookalike.audit.tails import RATES, Chance, Floats, bound_sum_tail, cap_counts, count_moments

_MOST = 500
"""Values kept are not counted in classes with more rows, where the original could hardly be told from a draw."""
_AT_ONCE = 200_000
_NO_CHOICES = Choices()


@dataclass(frozen=True, eq=False)
class Movement:
    """What became of the values of a column. Parts of a column are added up."""

    n_rows: int
    kept: Chance
    unchanged: Chance
    """As if the published values were the original's, and were published unchanged."""
    by_rule: float
    """The chance of as many values kept after a renaming; 1 where parts were added up, each of which was tested."""
    moved: Floats
    """By published and original value."""
    expected: Floats
    n_terms: Floats
    """Rows of the classes where each original value occurs."""
    chosen: Floats
    """By how much values kept depend on other columns (`selecting.evidence`)."""

    def __add__(self, other: Movement) -> Movement:
        return Movement(
            self.n_rows + other.n_rows,
            self.kept + other.kept,
            self.unchanged + other.unchanged,
            1.0,
            self.moved + other.moved,
            self.expected + other.expected,
            self.n_terms + other.n_terms,
            self.chosen + other.chosen,
        )

    @property
    def chance(self) -> float:
        """How often, at most, draws from the matrix look as little like it as this."""
        tails = bound_sum_tail(self.moved, self.expected, np.broadcast_to(self.n_terms, self.moved.shape))
        by_pair = 2 * tails.size * float(tails.min(initial=1.0))
        tests = self.kept.at_least, self.kept.at_most, self.by_rule, by_pair, chance_of(self.chosen)
        return min(1.0, len(tests) * min(tests))

    @property
    def least(self) -> float:
        """What `chance` would be for the original itself, if it looked like the release."""
        return min(1.0, 5 * self.unchanged.at_least)


def movement(
    class_of_record: Ints,
    class_of_row: Ints,
    before: Ints,
    after: Ints,
    shares: Floats,
    choices: Choices = _NO_CHOICES,
) -> Movement:
    """`shares[v, u]` is the probability that v is published of a record with u; `choices`: who may have been chosen.

    Classes with other numbers of rows than of records are left out: other checks fail on them.
    """
    from scipy.sparse import csr_array

    n_codes = len(shares)
    n_classes = 1 + int(max(class_of_record.max(initial=-1), class_of_row.max(initial=-1)))
    sizes = np.bincount(class_of_record, minlength=n_classes)
    whole = sizes == np.bincount(class_of_row, minlength=n_classes)
    records, rows = whole[class_of_record], whole[class_of_row]
    class_of_record, before = class_of_record[records], before[records]
    choices = Choices(*([ranks[records] for ranks in some] for some in (choices.published, choices.others)))
    class_of_row, after = class_of_row[rows], after[rows]
    owned, shown = (
        csr_array((np.ones(len(codes)), (classes, codes)), shape=(n_classes, n_codes))
        for classes, codes in ((class_of_record, before), (class_of_row, after))
    )
    weights = csr_array((1.0 / np.maximum(sizes, 1)[class_of_record], (class_of_record, before)), owned.shape)
    occurs = owned > 0
    moved, expected = (shown.T @ weights).toarray(), shares @ (owned.T @ weights).toarray()
    n_kept = _n_common(class_of_record, before, class_of_row, after, sizes, n_codes)
    n_same = int(np.count_nonzero(sizes[class_of_row] <= _MOST))
    return Movement(
        n_rows=len(after),
        kept=_sum_kept(n_kept, class_of_record, before, sizes, shares),
        unchanged=_sum_kept(n_same, class_of_row, after, sizes, shares),
        by_rule=_by_rule(class_of_record, before, class_of_row, after, sizes, shares, moved - expected),
        moved=moved,
        expected=expected,
        chosen=_measure_choices(class_of_record, before, class_of_row, after, sizes, shares, choices),
        n_terms=np.asarray(occurs.T @ np.where(whole, sizes, 0).astype(np.float64)),
    )


def _by_rule(
    class_of_record: Ints, before: Ints, class_of_row: Ints, after: Ints, sizes: Ints, shares: Floats, excess: Floats
) -> float:
    """The chance that so many values are kept once each value u is looked for under the name that it mostly became."""
    from scipy.optimize import linear_sum_assignment

    published, was = linear_sum_assignment(excess, maximize=True)
    name_of = np.empty(len(shares), dtype=np.int64)
    name_of[was] = published
    if (name_of == np.arange(len(shares))).all():
        return 1.0
    renamed = np.argsort(name_of)[after]
    n_kept = _n_common(class_of_record, before, class_of_row, renamed, sizes, len(shares))
    chance = _sum_kept(n_kept, class_of_record, before, sizes, shares[name_of]).at_least
    n_ways = math.exp(min(math.lgamma(len(shares) + 1), 700.0))
    return min(1.0, chance * n_ways)


def _n_common(class_of_record: Ints, before: Ints, class_of_row: Ints, after: Ints, sizes: Ints, n_codes: int) -> int:
    """How many values the rows of each class have in common with its records, in classes that are small enough."""
    keys, counts = np.unique(class_of_record * n_codes + before, return_counts=True)
    others, other_counts = np.unique(class_of_row * n_codes + after, return_counts=True)
    _, mine, theirs = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    small = sizes[keys[mine] // n_codes] <= _MOST
    return int(np.minimum(counts[mine], other_counts[theirs])[small].sum())


def _sum_kept(seen: int, classes: Ints, values: Ints, sizes: Ints, shares: Floats) -> Chance:
    """How many values draws from the matrix keep, class by class and value by value."""
    total = Chance(float(seen), np.zeros(len(RATES)))
    for _, chances in _counts_kept(classes, values, sizes, shares):
        total = total + cap_counts(0.0, chances)
    return total


def _measure_choices(
    class_of_record: Ints, before: Ints, class_of_row: Ints, after: Ints, sizes: Ints, shares: Floats, choices: Choices
) -> Floats:
    n_codes = len(shares)
    keys, counts = np.unique(class_of_record * n_codes + before, return_counts=True)
    others, other_counts = np.unique(class_of_row * n_codes + after, return_counts=True)
    kept = np.zeros(len(keys), dtype=np.int64)
    _, mine, theirs = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    kept[mine] = np.minimum(counts[mine], other_counts[theirs])
    moments = np.zeros((len(keys), len(CHOICE_RATES)))
    for places, chances in _counts_kept(class_of_record, before, sizes, shares):
        moments[places] = count_moments(chances, CHOICE_RATES)
    small = sizes[keys // n_codes] <= _MOST
    counted = Counted(keys[small] // n_codes, keys[small] % n_codes, kept[small], moments[small])
    return evidence(counted, class_of_record, choices, n_codes)


def _counts_kept(classes: Ints, values: Ints, sizes: Ints, shares: Floats) -> Iterator[tuple[Ints, Floats]]:
    """For each class and value, in the order of both: how likely it is that 0, 1, 2 ... of its records' are kept."""
    order = np.lexsort((values, classes))
    classes, values = classes[order], values[order]
    starts = np.searchsorted(classes, np.arange(len(sizes)))
    keys, counts = np.unique(classes * len(shares) + values, return_counts=True)
    class_of_key, value_of_key = keys // len(shares), keys % len(shares)
    size_of_key = sizes[class_of_key]
    combinations = np.unique(np.column_stack((size_of_key, counts)), axis=0)
    for size, count in combinations[combinations[:, 0] <= _MOST].tolist():
        found = np.flatnonzero((size_of_key == size) & (counts == count))
        for begin in range(0, len(found), _AT_ONCE):
            some = found[begin : begin + _AT_ONCE]
            first, published = starts[class_of_key[some]], value_of_key[some]
            chances = np.zeros((len(some), count + 1))
            chances[:, 0] = 1.0
            for place in range(size):
                share = shares[published, values[first + place]][:, None]
                gained = chances[:, :-1] * share
                chances[:, :-1] -= gained
                chances[:, 1:] += gained
            yield some, np.maximum(chances, 0.0)
