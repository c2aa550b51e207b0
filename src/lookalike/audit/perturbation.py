"""Perturbed releases: is the matrix a matrix, and was it really used?

The matrix holds whole numbers whose columns sum to a common total, so both tests of it are exact. Whether it was
used is a matter of chance and fails only where a true draw would look like this less than once in 10^9.

The published counts are held against the expected ones (chi-square, small cells pooled; draws from a fixed table spread
less than the chi-square law, which errs on the lenient side). Then all rows are held against the original values, class
by class. A class holds the records with the same quasi-identifiers and carried values, all of which are published, and
the rows that show them. Nobody can tell the rows of a class apart, but their values are independent draws from known
values:

    kept    how many values of a class are published again, with repeats: the sum over its values v of
            min(records with v, rows with v). The counts of rows are negatively associated (each row shows one value),
            and so are monotone functions of them: the moments of the sum are at most the product of theirs
            (Joag-Dev, Proschan 1983), which are exact. Publishing the original keeps every value.
    by rule as kept, after the published values were renamed in the way that fits best: sees any one-to-one exchange of
            values. The bound is multiplied by the number of ways to rename them.
    moved   for each pair of values, rows that show v, weighted by the share of their class that has u: a sum of
            independent terms in [0, 1].
    chosen  kept, in parts of the table: whether it depends on another column who keeps a value

For rows whose class is their own these are the plain numbers of values kept and of each transition.

A draw keeps the values of women as readily as those of men, of the young as of the old. So the values kept are counted
in parts of the table that follow from the original alone: people with each value of a column, or within a run of its
values, from halves to runs of one value; and people with both one value of a column and one of another. How far the
counts of all parts lie from what the matrix gives is summed up in one number, whose mean under true draws is at most
1: the product over the parts of 1/2 + 1/2 mean over rates r of exp(r kept) / E exp(r kept). By Markov's inequality it
exceeds x with probability at most 1/x. Numbers of independent pieces of a table are multiplied.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.preconditions import count_changes
from lookalike.audit.reading import Ints, Reading, count_ids, joint_ids_of_two, means_by_id
from lookalike.audit.tail_bounds import RATES, SELDOM, Chance, Floats, bound_sum_tail, cap_counts, count_moments
from lookalike.audit.verdicts import Check
from lookalike.data.release import Perturbed, Randomizer
from lookalike.errors import counted, quoted

_POOLED_BELOW = 5.0
_TOO_FEW = "too few rows to tell"


@dataclass(frozen=True, eq=False)
class Choices:
    """Columns by which people may have been chosen: the rank of each record."""

    published: Sequence[NDArray[np.integer[Any]]] = ()
    others: Sequence[NDArray[np.integer[Any]]] = ()
    """Of the original alone, and its order."""


@dataclass(frozen=True, eq=False)
class _Counted:
    """How often each value of each class was kept, and log E exp(rate * count) at `_CHOICE_RATES`."""

    classes: Ints
    values: Ints
    kept: Ints
    log_moments: Floats


_NO_CHOICES = Choices()


@dataclass(frozen=True, eq=False)
class Redrawn:
    """A redrawn column, counted: enough to tell whether its matrix was used, and counts of parts can be added."""

    column: str
    randomizer: Randomizer
    records: Ints
    """How often records have each value."""
    rows: Ints
    """How often each value is published."""
    movement: Movement | None
    """What became of the values, class by class; None where the matrix holds no probabilities."""


def redrawings(reading: Reading) -> Iterator[Redrawn]:
    """Of every sensitive column."""
    release, original = reading.release, reading.original
    assert isinstance(release, Perturbed)
    of_records, of_rows = joint_ids_of_two((original.quasi, original.carried), (release.quasi, release.carried))
    choices = Choices(
        [codes[:, at] for codes in (original.quasi, original.carried) for at in range(codes.shape[1])],
        [*original.sensitive.T, *reading.unpublished.values(), np.arange(original.n_rows)],
    )
    for index, (randomizer, domain) in enumerate(zip(release.randomizers, original.domains.sensitive, strict=True)):
        before, published = (codes[:, index].astype(np.int64) for codes in (original.sensitive, release.sensitive))
        usable = matrix_problem(randomizer) is None
        yield Redrawn(
            column=domain.name,
            randomizer=randomizer,
            records=original.counts(index),
            rows=np.bincount(published, minlength=domain.n_codes),
            movement=movement(of_records, of_rows, before, published, _shares(randomizer), choices) if usable else None,
        )


def _shares(randomizer: Randomizer) -> Floats:
    shares: Floats = randomizer.weights.astype(np.float64) / float(randomizer.total)
    return shares


def pool_redrawn(parts: Sequence[Redrawn]) -> Redrawn:
    """Parts of a column that were redrawn by one matrix, as one."""
    movements = [part.movement for part in parts if part.movement is not None]
    return Redrawn(
        column=parts[0].column,
        randomizer=parts[0].randomizer,
        records=np.sum([part.records for part in parts], axis=0),
        rows=np.sum([part.rows for part in parts], axis=0),
        movement=reduce(operator.add, movements) if len(movements) == len(parts) else None,
    )


def matrix_checks(redrawn: Redrawn) -> Iterator[Check]:
    where = quoted(redrawn.column)
    problem = matrix_problem(redrawn.randomizer)
    yield Check(f"matrix of {where}", problem is None, problem or "no entry below 0, every column sums to one")
    if problem is not None:
        return
    chance, detail = _plausible(redrawn.randomizer, redrawn.records, redrawn.rows)
    name = f"matrix used on {where}"
    yield Check(name, chance >= SELDOM, detail) if detail != _TOO_FEW else Check.undecided(name, detail)
    if redrawn.movement is not None:
        yield _check_redrawn(f"values of {where} redrawn", redrawn.movement)


def _check_redrawn(name: str, found: Movement) -> Check:
    """Without figures: how many rows kept their value is what the release promises to hide."""
    if found.chance < SELDOM:
        detail = (
            "given the original values of the rows with the same quasi-identifiers, draws from the matrix look like "
            "the published values with probability below 1e-9. Redraw the values with the matrix that you publish"
        )
        return Check(name, False, detail)
    if found.least >= SELDOM:
        return Check.undecided(
            name, f"too few rows to tell: {counted(found.n_rows, 'row')} do not show the original from a draw"
        )
    return Check(name, True, "rows with the same quasi-identifiers show what draws from the matrix give")


def check_carried(reading: Reading) -> Check:
    """Carried columns are published as they were."""
    records, rows = joint_ids_of_two((reading.original.carried,), (reading.release.carried,))
    n_changed = sum(count_changes(records, rows))
    detail = f"{n_changed:,} carried combinations lost or new" if n_changed else "each as often as in the original"
    return Check("carried values kept", n_changed == 0, detail)


def matrix_problem(randomizer: Randomizer) -> str | None:
    """Why these numbers are no probabilities, so that no certainty can be worked out from them, or None."""
    weights = randomizer.weights.astype(object)
    n_negative = int(np.count_nonzero(randomizer.weights < 0))
    if n_negative:
        return f"{counted(n_negative, 'entry', 'entries')} below 0"
    if randomizer.total <= 0:
        return "its total is not positive"
    n_wrong = sum(int(total) != randomizer.total for total in weights.sum(axis=0))
    return f"{counted(n_wrong, 'column')} do not sum to one" if n_wrong else None


def _plausible(randomizer: Randomizer, prior: Ints, observed: Ints) -> tuple[float, str]:
    from scipy.special import gammaincc

    expected = _shares(randomizer) @ prior.astype(np.float64)
    n_never = int(observed[expected == 0].sum())
    if n_never:
        return 0.0, f"{counted(n_never, 'row')} hold a value that the matrix never draws"
    large = expected >= _POOLED_BELOW
    seen, wanted = observed[large].astype(np.float64), expected[large]
    if not large.all() and expected[~large].sum() >= _POOLED_BELOW:
        seen, wanted = np.append(seen, observed[~large].sum()), np.append(wanted, expected[~large].sum())
    if len(wanted) < 2:
        return 1.0, _TOO_FEW
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    chance = float(gammaincc((len(wanted) - 1) / 2, statistic / 2))
    return chance, f"chi-square {statistic:.1f} over {len(wanted)} cells, chance {chance:.2g}"


_MOST = 500
"""Values kept are not counted in classes with more rows, where the original could hardly be told from a draw."""
_AT_ONCE = 200_000


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
    """By how much values kept depend on other columns (`_measure_choices`)."""

    def __add__(self, other: Movement) -> Movement:
        sums = {name: getattr(self, name) + getattr(other, name) for name in vars(self)}
        return Movement(**sums | {"by_rule": 1.0})

    @property
    def chance(self) -> float:
        """How often, at most, draws from the matrix look as little like it as this."""
        tails = bound_sum_tail(self.moved, self.expected, np.broadcast_to(self.n_terms, self.moved.shape))
        by_pair = 2 * tails.size * float(tails.min(initial=1.0))
        tests = self.kept.at_least, self.kept.at_most, self.by_rule, by_pair, _chance_of(self.chosen)
        return min(1.0, len(tests) * min(tests))

    @property
    def least(self) -> float:
        """What `chance` would be for the original itself, if it looked like the release."""
        return min(1.0, 5 * self.unchanged.at_least)


_Values = tuple[Ints, Ints]
"""Of records, or of rows, the class of each and its value."""


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
    n_classes = count_ids(class_of_record, class_of_row)
    sizes = np.bincount(class_of_record, minlength=n_classes)
    whole = sizes == np.bincount(class_of_row, minlength=n_classes)
    taken, shown = whole[class_of_record], whole[class_of_row]
    choices = Choices(*([ranks[taken] for ranks in some] for some in (choices.published, choices.others)))
    records, rows = (class_of_record[taken], before[taken]), (class_of_row[shown], after[shown])
    owned, published = (
        csr_array((np.ones(len(side[0])), side), shape=(n_classes, n_codes)) for side in (records, rows)
    )
    weights = csr_array((1.0 / np.maximum(sizes, 1)[records[0]], records), owned.shape)
    occurs = owned > 0
    moved, expected = (published.T @ weights).toarray(), shares @ (owned.T @ weights).toarray()
    return Movement(
        n_rows=len(rows[0]),
        kept=_sum_kept(records, rows, sizes, shares),
        unchanged=_sum_kept(rows, rows, sizes, shares),
        by_rule=_by_rule(records, rows, sizes, shares, moved - expected),
        moved=moved,
        expected=expected,
        chosen=_measure_choices(records, rows, sizes, shares, choices),
        n_terms=np.asarray(occurs.T @ np.where(whole, sizes, 0).astype(np.float64)),
    )


def _by_rule(records: _Values, rows: _Values, sizes: Ints, shares: Floats, excess: Floats) -> float:
    """The chance that so many values are kept once each value u is looked for under the name that it mostly became."""
    from scipy.optimize import linear_sum_assignment

    published, was = linear_sum_assignment(excess, maximize=True)
    name_of = np.empty(len(shares), dtype=np.int64)
    name_of[was] = published
    if (name_of == np.arange(len(shares))).all():
        return 1.0
    renamed = rows[0], np.argsort(name_of)[rows[1]]
    chance = _sum_kept(records, renamed, sizes, shares[name_of]).at_least
    n_ways = math.exp(min(math.lgamma(len(shares) + 1), 700.0))
    return min(1.0, chance * n_ways)


def _values_kept(records: _Values, rows: _Values, sizes: Ints, n_codes: int) -> tuple[Ints, Ints]:
    """By class and value of the records (class * n_codes + value), how many rows of the class show it again.

    In classes that are small enough.
    """
    (keys, counts), (others, other_counts) = (
        np.unique(classes * n_codes + values, return_counts=True) for classes, values in (records, rows)
    )
    kept = np.zeros(len(keys), dtype=np.int64)
    _, mine, theirs = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    kept[mine] = np.minimum(counts[mine], other_counts[theirs])
    small = sizes[keys // n_codes] <= _MOST
    return keys[small], kept[small]


def _sum_kept(records: _Values, rows: _Values, sizes: Ints, shares: Floats) -> Chance:
    """How many values are kept, and how many draws from the matrix keep, class by class and value by value."""
    seen = int(_values_kept(records, rows, sizes, len(shares))[1].sum())
    total = Chance(float(seen), np.zeros(len(RATES)))
    for _, chances in _counts_kept(records, sizes, shares):
        total = total + cap_counts(0.0, chances)
    return total


def _counts_kept(records: _Values, sizes: Ints, shares: Floats) -> Iterator[tuple[Ints, Floats]]:
    """How likely it is that 0, 1, 2 ... of the records with a value are kept, with places among `_values_kept`."""
    small = sizes[records[0]] <= _MOST
    classes, values = (side[small] for side in records)
    order = np.lexsort((values, classes))
    classes, values = classes[order], values[order]
    starts = np.searchsorted(classes, np.arange(len(sizes)))
    keys, counts = np.unique(classes * len(shares) + values, return_counts=True)
    class_of_key, value_of_key = keys // len(shares), keys % len(shares)
    size_of_key = sizes[class_of_key]
    for size, count in np.unique(np.column_stack((size_of_key, counts)), axis=0).tolist():
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


_CHOICE_RATES: Floats = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])
_RUNS = (2, 4, 8, 16, 32, 64, 128)
_RUNS_OF_PAIRS = (4, 16)
_MOST_PAIRED = 10
_MOST_VALUES = 200
"""Of columns with more sensitive values, those kept are not counted value by value."""


def _measure_choices(records: _Values, rows: _Values, sizes: Ints, shares: Floats, choices: Choices) -> Floats:
    """The logarithm of each number; as many for every table with these columns."""
    n_values = len(shares)
    keys, kept = _values_kept(records, rows, sizes, n_values)
    moments = np.zeros((len(keys), len(_CHOICE_RATES)))
    for places, chances in _counts_kept(records, sizes, shares):
        moments[places] = count_moments(chances, _CHOICE_RATES)
    counted = _Counted(keys // n_values, keys % n_values, kept, moments)
    own_sizes = np.bincount(records[0], minlength=len(sizes))
    means = [means_by_id(records[0], ranks, len(sizes))[0] for ranks in (*choices.published, *choices.others)]
    found = [_of_runs(counted, runs, n_values) for runs in _all_runs(means, len(choices.published), own_sizes)]
    return np.concatenate(found) if found else np.zeros(0)


def _chance_of(log_numbers: Floats) -> float:
    """How often, at most, true draws reach the largest of these."""
    return float(min(1.0, max(len(log_numbers), 1) * np.exp(-max(log_numbers.max(initial=0.0), 0.0))))


def _all_runs(means: Sequence[Floats], n_published: int, sizes: Ints) -> Iterator[Ints]:
    """The run of each class, for every way to part the table."""
    for mean in means:
        for n_runs in _RUNS:
            yield _runs(mean, sizes, n_runs)
    for n_runs in _RUNS_OF_PAIRS:
        single = [_runs(mean, sizes, n_runs) for mean in means[: min(n_published, _MOST_PAIRED)]]
        for one, other in itertools.combinations(single, 2):
            yield one * n_runs + other


def _runs(mean: Floats, sizes: Ints, n_runs: int) -> Ints:
    """At most so many runs of classes, each of about as many records; those with equal means are together."""
    distinct, place = np.unique(mean[sizes > 0], return_inverse=True)
    runs = np.zeros(len(mean), dtype=np.int64)
    if len(distinct) <= n_runs:
        runs[sizes > 0] = place.reshape(-1)
        return runs
    weights = np.bincount(place.reshape(-1), weights=sizes[sizes > 0])
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    runs[sizes > 0] = np.minimum((middle * n_runs).astype(np.int64), n_runs - 1)[place.reshape(-1)]
    return runs


def _of_runs(counted: _Counted, run_of_class: Ints, n_values: int) -> Floats:
    """Over all values; then value by value, since counts of two values of a class depend on each other."""
    run_of_key = run_of_class[counted.classes]
    n_runs = 1 + int(run_of_class.max(initial=0))
    over_all = _logarithms(counted, run_of_key, n_runs).sum()
    if n_values > _MOST_VALUES:
        return np.array([over_all])
    by_value = _logarithms(counted, counted.values * n_runs + run_of_key, n_values * n_runs)
    return np.append(over_all, by_value.reshape(n_values, n_runs).sum(axis=1))


def _logarithms(counted: _Counted, part_of_key: Ints, n_parts: int) -> Floats:
    """log(1/2 + 1/2 mean over rates) of each part; 0 of one without values."""
    kept = np.bincount(part_of_key, weights=counted.kept, minlength=n_parts)
    moments = np.column_stack(
        [np.bincount(part_of_key, weights=column, minlength=n_parts) for column in counted.log_moments.T]
    )
    logs = np.logaddexp.reduce(kept[:, None] * _CHOICE_RATES - moments, axis=1) - np.log(len(_CHOICE_RATES))
    numbers: Floats = np.logaddexp(logs, 0.0) - np.log(2.0)
    return numbers
