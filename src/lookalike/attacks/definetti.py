"""The deFinetti attack: guess who in a group has which of its values, learn from that, and guess again.

    start: the values of each unit are dealt to its records at random
    until nothing changes:
        learn naive Bayes from the records with the values they were dealt
        deal the values of each unit again, as the classifier finds likeliest: exactly in small units, by swaps in large

Cost: rounds times records times the number of values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import OnValues, score_known
from lookalike.attacks.shared.bayes import NaiveBayes, counts_of_records
from lookalike.attacks.shared.judging import add_control, finding, judge_records
from lookalike.attacks.shared.persons import refuse_linked
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Finding, Target
from lookalike.data.microdata import Codes, rank_within
from lookalike.data.parameters import Whole
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_SMOOTHING = 1.0
EXACT_UP_TO = 32
"""Units with more records than this are dealt by swaps."""
_SWEEPS = 8
"""How often in a round every record of a large unit is offered a swap."""
_BLOCK = 4_000_000
_NOBODY = -1
_LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class DeFinettiAttack(OnValues):
    """Learns who in a group has which of its values from all groups together."""

    name: ClassVar[str] = "definetti"
    remedy: ClassVar[str] = "It learns across groups; beta-likeness or t-closeness leave it less to learn."
    forms: ClassVar[frozenset[str] | None] = frozenset({Grouped.form, Bucketized.form})
    kernels: ClassVar[Collection[str]] = ("assignment.assign_cheapest_in_each",)

    rounds: Whole = Whole(low=1, default=50)
    """Most rounds of learning and dealing again."""

    def refuses(self, target: Target) -> str | None:
        if isinstance(target.release, Matched):
            return "Rows of a matched release lie in no groups whose values could be dealt to their records."
        if isinstance(target.release, Perturbed):
            return "A perturbed release has no groups: its values are redrawn, not mixed among records."
        return super().refuses(target)

    def refuses_persons(self, target: Target) -> str | None:
        return refuse_linked(target)

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        dealing, learnt, n_rounds, settled = self._settle_dealing(where, column, rng.child(column), progress)
        found = judge_records(where, column, learnt, within="unit", progress=progress)
        guesses = _guesses_about_people(where, dealing, found.guesses)
        score = score_known(where.target.original, column, guesses)
        said = "The deFinetti attack, which learns from all groups who in a group has which of its values,"
        figures = {"rounds": float(n_rounds), "settled": float(settled)}
        made = finding(self, where.target, column, found, score, said, figures)
        return add_control(made, where.target, column, learnt, "unit", rng.child(column))

    def fit(self, where: Whereabouts, column: int, rng: Randomness) -> NaiveBayes:
        """What it learns from the release about a sensitive column."""
        return self._settle_dealing(where, column, rng.child(column), silent)[1]

    def _settle_dealing(
        self, where: Whereabouts, column: int, rng: Randomness, progress: Progress
    ) -> tuple[Dealing, NaiveBayes, int, bool]:
        dealing = _deal_at_random(where, column, rng.child("deal"))
        for turn in range(self.rounds):
            progress("dealing", turn / self.rounds)
            if not dealing.deal_again(dealing.learn(), rng.child("swaps", turn)):
                return dealing, dealing.learn(), turn + 1, True
        return dealing, dealing.learn(), self.rounds, False


@dataclass(eq=False)
class Dealing:
    """Seats, unit after unit: a record on each, and the value that it was dealt.

    A unit has as many seats as records or values, whichever are more; what is left over is nobody's.
    """

    where: Whereabouts
    column: int
    quasi: Codes
    """Of the records."""
    starts: Ints
    """Unit u has the seats starts[u]:starts[u + 1]."""
    record_of_seat: Ints
    value_of_seat: Ints

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    @cached_property
    def is_real(self) -> NDArray[np.bool_]:
        return np.not_equal(self.record_of_seat, _NOBODY)

    def learn(self) -> NaiveBayes:
        used = self.is_real & (self.value_of_seat != _NOBODY)
        domains = self.where.target.original.domains
        counts = counts_of_records(
            self.quasi[self.record_of_seat[used]],
            self.value_of_seat[used],
            domains.quasi,
            domains.sensitive[self.column].n_codes,
        )
        return NaiveBayes.learn(counts, _SMOOTHING)

    def deal_again(self, learnt: NaiveBayes, rng: Randomness) -> int:
        """The likeliest values for the records of each unit; returns how many seats changed theirs."""
        before = self.value_of_seat.copy()
        n_values = len(learnt.frequencies)
        for place, units in enumerate(self._blocks(n_values)):
            seats = slice(int(self.starts[units[0]]), int(self.starts[units[-1] + 1]))
            # The last column, where nobody's value (-1) points, and the rows of nobody stay 0.
            scores = np.zeros((seats.stop - seats.start, n_values + 1))
            real = self.is_real[seats]
            scores[real, :-1] = learnt.log_likelihood(self.quasi[self.record_of_seat[seats][real]])
            values = self.value_of_seat[seats]
            starts = self.starts[units] - seats.start
            _assign(scores, values, starts, self.sizes[units])
            _swap(scores, values, self.sizes[units], rng.child(place))
        return int(np.count_nonzero(self.value_of_seat != before))

    def _blocks(self, n_values: int) -> Iterator[Ints]:
        """Runs of units with not too many seats together."""
        first, n_units = 0, len(self.starts) - 1
        while first < n_units:
            last = int(np.searchsorted(self.starts, self.starts[first] + _BLOCK // (n_values + 1), side="right")) - 1
            last = min(max(last, first + 1), n_units)
            yield np.arange(first, last)
            first = last


def _assign(scores: NDArray[np.float64], values: Ints, starts: Ints, sizes: Ints) -> None:
    """The best assignment in every small unit; changes `values`."""
    from lookalike.kernels.assignment import assign_cheapest_in_each

    for size in np.unique(sizes[(sizes > 1) & (sizes <= EXACT_UP_TO)]):
        units = np.flatnonzero(sizes == size)
        step = max(_BLOCK // int(size) ** 2, 1)
        for first in range(0, len(units), step):
            seats = starts[units[first : first + step], None] + np.arange(size)
            costs = -scores[seats[:, :, None], values[seats][:, None, :]]
            values[seats] = np.take_along_axis(values[seats], assign_cheapest_in_each(costs), axis=1)


def _swap(scores: NDArray[np.float64], values: Ints, sizes: Ints, rng: Randomness) -> None:
    """Pair the seats of each large unit at random, again and again; pairs swap values if that is likelier."""
    unit_of_seat = np.repeat(np.arange(len(sizes)), sizes)
    large = np.flatnonzero(sizes[unit_of_seat] > EXACT_UP_TO)
    for sweep in range(_SWEEPS if len(large) else 0):
        seats = large[np.lexsort((rng.child(sweep).words(len(large)), unit_of_seat[large]))]
        units = unit_of_seat[seats]
        first = np.flatnonzero((rank_within(units)[:-1] % 2 == 0) & (units[1:] == units[:-1]))
        one, other = seats[first], seats[first + 1]
        mine, yours = values[one], values[other]
        gain = scores[one, yours] + scores[other, mine] - scores[one, mine] - scores[other, yours]
        likelier = gain > _LEAST_GAIN
        values[one[likelier]], values[other[likelier]] = yours[likelier], mine[likelier]


def _deal_at_random(where: Whereabouts, column: int, rng: Randomness) -> Dealing:
    release = where.target.release
    told = np.flatnonzero(~where.reading.is_told_dummy)
    values, unit_of_value = release.sensitive[told, column].astype(np.int64), where.unit_of_row[told]
    if isinstance(release, Bucketized):
        records, quasi, unit_of_record = np.arange(release.n_rows), release.quasi, where.buckets[1]
    else:
        places = where.places
        records = np.flatnonzero(np.diff(places.indptr))
        quasi, unit_of_record = where.target.original.quasi, places.indices[places.indptr[records]]
    n_units = where.n_units
    sizes = np.maximum(np.bincount(unit_of_record, minlength=n_units), np.bincount(unit_of_value, minlength=n_units))
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    shuffled = rng.permutation(len(values))
    return Dealing(
        where,
        column,
        quasi,
        starts,
        _seat_things(records, unit_of_record.astype(np.int64), starts),
        _seat_things(values[shuffled], unit_of_value[shuffled], starts),
    )


def _seat_things(things: Ints, units: Ints, starts: Ints) -> Ints:
    """Things on the first seats of their units, in the order given."""
    seats = np.full(int(starts[-1]), _NOBODY, dtype=np.int64)
    seats[starts[units] + rank_within(units)] = things
    return seats


def _guesses_about_people(where: Whereabouts, dealing: Dealing, otherwise: Ints) -> Ints:
    """The value dealt to each person of the original; `otherwise` for those whom no seat is for.

    Rows of a bucketized release with the same quasi-identifiers cannot be told apart: people with these take them in
    any order.
    """
    used = dealing.is_real & (dealing.value_of_seat != _NOBODY)
    records, values = dealing.record_of_seat[used], dealing.value_of_seat[used]
    guesses = otherwise.copy()
    if not isinstance(where.target.release, Bucketized):
        guesses[records] = values
        return guesses
    value_of_row = np.full(len(dealing.quasi), _NOBODY, dtype=np.int64)
    value_of_row[records] = values
    people, rows = _in_turn(where.reading.point_of_record, where.reading.point_of_row)
    dealt = value_of_row[rows] != _NOBODY
    guesses[people[dealt]] = value_of_row[rows[dealt]]
    return guesses


def _in_turn(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Pairs of places with equal numbers: the first with the first, the second with the second, and so on."""
    width = 1 + max(len(first), len(second))
    one, other = rank_within(first) + first * width, rank_within(second) + second * width
    _, ones, others = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return ones.astype(np.int64), others.astype(np.int64)
