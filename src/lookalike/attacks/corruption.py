"""Corruption: the attacker knows the sensitive values of some records and takes them out of what is published.

    Grouped      the known values are taken out of their classes: (c_v - known_v) / (size - known)
    Bucketized   the same in buckets. A known person listed in several buckets is taken out of each in proportion to how
                 likely they are there, given their value, both from the values and from the listed persons.
    Matched      a known person is behind one of the rows that they fit and that carry their values, anybody else behind
                 one that they fit. If all ways to give everybody their own row are equally likely, certainty
                 propagation over these pairs tells how likely each is; exact where pairs form no cycle, else close.
    Perturbed    nothing changes: every value was redrawn by itself, so the values of others say nothing about a row.

By persons, those known are taken out: (persons with v - known with v) / (persons - known), in the class of the row that
is known of the target.

Scored are the records that are not known. For matched releases this is containment only: what known records tell about
a method's hidden columns (the price of exchanging them as a whole) is not used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.attack import (
    OnClasses,
    best_guess_share,
    build_exposure,
    find_ceilings,
    majority,
    n_certain,
    n_rows_above,
    row_max,
    rows_above,
    score_guesses,
)
from lookalike.attacks.shared.consequence import NO_GAIN, PERMITTED, TOO_FEW, UNDECIDED, Consequence, Result, percent
from lookalike.attacks.shared.persons import PersonClasses, are_right, list_known, owners_of_records
from lookalike.attacks.shared.whereabouts import Whereabouts, count_pairs, honest_guesses, normalise
from lookalike.data.contracts import Finding, Score, Target
from lookalike.data.parameters import Exact, Whole
from lookalike.data.release import Bucketized, Matched, Perturbed
from lookalike.errors import counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Records = NDArray[np.int64]
_UNAIDED = "the same, nobody known"
_ROUNDS = 8, 60
"""Least and most rounds of certainty propagation."""
_EFFORT = 2e7
"""Pairs times rounds that are spent if rounds allow."""


@dataclass(frozen=True)
class Corruption(OnClasses):
    """Knows the sensitive values of some records, and reads the rest of the release without them."""

    name: ClassVar[str] = "corruption"
    remedy: ClassVar[str] = "A larger l, or a smaller beta, leaves more doubt when some values are known."

    known: Exact = Exact(above=0, default=Fraction(1, 10))
    """How many records, or persons, are known: a share if below 1, else a number."""
    repeats: Whole = Whole(low=1, default=5)
    """How many times the known records are drawn anew; results are means."""

    def refuses(self, target: Target) -> str | None:
        if self.known >= 1 and self.known.denominator != 1:
            return "known must be a share below 1 or a whole number of records (persons, where these are counted)."
        if self._number(target) >= target.original.n_persons:
            return "everybody would be known, and nobody left to guess. Give a smaller number."
        return super().refuses(target)

    def _number(self, target: Target) -> int:
        n_persons = target.original.n_persons
        return int(self.known) if self.known >= 1 else max(1, int(self.known * n_persons))

    def explain(self, result: Result) -> Consequence:
        score, before = result.finding.score, result.finding.baselines[_UNAIDED]
        if score is None or not result.is_large_enough:
            return Consequence(UNDECIDED, TOO_FEW)
        n_persons = result.target.original.n_persons
        known = f"the {result.column} of {percent(self._number(result.target) / n_persons)} of {result.people}"
        said = (
            f"Someone who already knows {known} guesses {percent(score.share)} of the others right, and "
            f"{percent(before)} without that knowledge."
        )
        if score.interval[0] <= before and not result.surer:
            return Consequence(NO_GAIN, f"{said} Knowing others hardly helps.")
        more = f" This attacker can be more certain than the limit of {result.surer}." if result.surer else ""
        limits = f"{result.limits} does not cover" if result.promises else "No promise covers"
        return Consequence(
            PERMITTED, f"{limits} an attacker who knows other people's values. {said}{more} {self.remedy}"
        )

    def on_persons(self, target: Target, classes: PersonClasses, column: int, rng: Randomness) -> Finding:
        original, noun = target.original, target.original.schema.unit_name
        n_known, n_persons = self._number(target), classes.n_persons
        n_unknown, ceilings = n_persons - n_known, find_ceilings(target, column)
        rows, owners, prior = list_known(original), owners_of_records(original), np.asarray(original.prior(column))
        unaided = classes.guesses(column)
        highest_unaided = classes.highest(row_max(classes.shares(column)))
        figures = []
        for repeat in range(self.repeats):
            unknown = np.ones(n_persons, dtype=bool)
            unknown[rng.child("corruption", repeat).permutation(n_persons)[:n_known]] = False
            beliefs = classes.shares(column, unknown=unknown)
            asked = rows[unknown[owners[rows]]]
            guesses = np.full(original.n_rows, int(np.argmax(prior)), dtype=np.int64)
            guesses[classes.records] = honest_guesses(beliefs, prior)[classes.units]
            highest = classes.highest(row_max(beliefs))
            above = classes.any_of(rows_above(beliefs, ceilings)) if ceilings is not None else np.zeros(n_persons, bool)
            figures.append(
                (
                    int(are_right(original, column, guesses[asked], asked).sum()),
                    float(are_right(original, column, unaided[asked], asked).mean()),
                    int((above & unknown).sum()),
                    n_certain(highest[unknown]),
                    n_certain(highest_unaided[unknown]),
                )
            )
        right, alone, n_above, certain, certain_before = (
            sum(numbers) / self.repeats for numbers in zip(*figures, strict=True)
        )
        score, name = Score(round(right), n_unknown), original.domains.sensitive[column].name
        return Finding(
            attack=str(self),
            column=name,
            sentence=(
                f'An attacker who knows all values of "{name}" of {counted(n_known, noun)} guesses a value of '
                f"{score.share:.1%} of the other {n_unknown:,} right, and of {alone:.1%} without that knowledge; a "
                f"value is certain of {round(certain):,}, and was of {round(certain_before):,} before."
            ),
            score=score,
            baselines={"most frequent value": majority(original, column), _UNAIDED: alone},
            n_affected=None if ceilings is None else round(n_above),
            figures={
                f"known {noun}s": float(n_known),
                f"{noun}s with a certain value": certain,
                f"{noun}s with a certain value before": certain_before,
            },
        )

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        target, original = where.target, where.target.original
        prior, truth = original.counts(column), original.sensitive[:, column]
        honest, sharpened = where.beliefs(column), sharpener(where, column)
        ceilings = find_ceilings(target, column)
        # What the same reading believes if nobody is known.
        nobody, everybody = np.zeros(0, dtype=np.int64), np.arange(original.n_rows)
        unaided = sharpened(nobody, everybody) if isinstance(target.release, Matched) else honest
        n_known = self._number(target)
        n_unknown, figures, exposure = original.n_rows - n_known, [], None
        for repeat in range(self.repeats):
            progress("corruption", repeat / self.repeats)
            order = rng.child("corruption", repeat).permutation(original.n_rows)
            known, unknown = np.sort(order[:n_known]), np.sort(order[n_known:])
            beliefs, before = sharpened(known, unknown), unaided[unknown]
            figures.append(
                (
                    score_guesses(honest_guesses(beliefs, prior), truth[unknown]).n_right,
                    best_guess_share(honest[unknown], prior, truth[unknown]),
                    best_guess_share(before, prior, truth[unknown]),
                    n_rows_above(beliefs, ceilings) or 0,
                    n_certain(row_max(beliefs)),
                    n_certain(row_max(before)),
                )
            )
            if repeat == 0:
                exposure = build_exposure(target, column, beliefs, f"knows the values of {n_known} records")
        right, honestly, alone, above, certain, certain_before = (
            sum(numbers) / self.repeats for numbers in zip(*figures, strict=True)
        )
        score = Score(round(right), n_unknown)
        name = original.domains.sensitive[column].name
        sentence = (
            f'An attacker who knows "{name}" of {n_known:,} records guesses {score.share:.1%} of the other '
            f"{n_unknown:,} right, and {alone:.1%} without that knowledge; {round(certain):,} are left with one "
            f"value, {round(certain_before):,} before."
        )
        if isinstance(target.release, Perturbed):
            sentence += " Known records do not help here: every value was redrawn by itself."
        return Finding(
            attack=str(self),
            column=name,
            sentence=sentence,
            score=score,
            baselines={
                "most frequent value": majority(original, column),
                "values of the group": honestly,
                _UNAIDED: alone,
            },
            n_affected=None if ceilings is None else round(above),
            exposure=exposure,
            figures={
                "known records": float(n_known),
                "records left with one value": certain,
                "records left with one value before": certain_before,
            },
        )


def sharpener(whereabouts: Whereabouts, column: int) -> Callable[[Records, Records], Any]:
    """From known and unknown records to probabilities [unknown, values] about a column (CSR)."""
    release = whereabouts.target.release
    if isinstance(release, Perturbed):
        honest = whereabouts.beliefs(column)
        return lambda known, unknown: honest[unknown]
    if isinstance(release, Matched):
        return _without_rows(whereabouts, column)
    return _without_values(whereabouts, column)


def _without_values(whereabouts: Whereabouts, column: int) -> Callable[[Records, Records], Any]:
    target, reading = whereabouts.target, whereabouts.reading
    original, release = target.original, target.release
    told = ~reading.is_told_dummy
    n_values = original.domains.sensitive[column].n_codes
    rows, values = whereabouts.unit_of_row[told], release.sensitive[told, column]
    stock = count_pairs(rows, values, (whereabouts.n_units, n_values))
    places, honest = whereabouts.places, whereabouts.beliefs(column)
    truth = original.sensitive[:, column]
    listed = np.bincount(reading.point_of_row, minlength=reading.n_points) if isinstance(release, Bucketized) else None

    def sharpened(known: Records, unknown: Records) -> Any:
        # Where each known person is, given their value: places times what each unit has of it.
        where = places[known].tocoo()
        if where.nnz:
            where.data = where.data * np.asarray(stock[where.col, truth[known][where.row]]).reshape(-1)
        at = normalise(where.tocsr()).tocoo()
        taken = sparse.coo_array((at.data, (at.col, truth[known][at.row])), shape=stock.shape).tocsr()
        left = normalise(_keep_positive(stock - taken))
        if listed is None:
            mine = places[unknown]
        else:
            points = reading.point_of_record
            gone = sparse.coo_array((at.data, (points[known][at.row], at.col)), shape=(len(listed), stock.shape[0]))
            rest = sparse.diags_array(listed[points[unknown]].astype(np.float64)) @ places[unknown]
            mine = normalise(_keep_positive(rest - gone.tocsr()[points[unknown]]))
        return _or_else(normalise(mine @ left), honest[unknown])

    return sharpened


def _without_rows(whereabouts: Whereabouts, column: int) -> Callable[[Records, Records], Any]:
    target, reading = whereabouts.target, whereabouts.reading
    original, release = target.original, target.release
    pairs = whereabouts.places.tocoo()
    told = ~reading.is_told_dummy[pairs.col]
    owners, rows = pairs.row[told], pairs.col[told]
    same = (release.sensitive[rows] == original.sensitive[owners]).all(axis=1)
    values, honest = release.sensitive[rows, column], whereabouts.beliefs(column)

    def sharpened(known: Records, unknown: Records) -> Any:
        is_known = np.zeros(original.n_rows, dtype=bool)
        is_known[known] = True
        kept = same | ~is_known[owners]
        likely = likely_pairs(owners[kept], rows[kept], original.n_rows, release.n_rows)
        beliefs = sparse.coo_array((likely, (owners[kept], values[kept])), shape=honest.shape).tocsr()
        return _or_else(normalise(_keep_positive(beliefs[unknown])), honest[unknown])

    return sharpened


def likely_pairs(owners: NDArray[Any], rows: NDArray[Any], n_owners: int, n_rows: int) -> NDArray[np.float64]:
    """How likely each pair is if all assignments that give every owner a row, and no row twice, are equally likely.

    Where there are more rows than owners some stay free, and the other way round.
    """
    from lookalike.kernels.worlds import propagate

    n_active_owners = int(np.count_nonzero(np.bincount(owners, minlength=n_owners)))
    n_active_rows = int(np.count_nonzero(np.bincount(rows, minlength=n_rows)))
    row_may_stay_free = float(n_active_rows > n_active_owners)
    owner_may_go_without = float(n_active_owners > n_active_rows)
    asked, offered = np.ones(len(owners)), np.ones(len(owners))
    n_rounds = int(np.clip(_EFFORT / max(len(owners), 1), *_ROUNDS))
    propagate(owners, rows, n_owners, n_rows, row_may_stay_free, owner_may_go_without, asked, offered, n_rounds)
    together = asked * offered
    likely: NDArray[np.float64] = together / (1 + together)
    return likely


def _keep_positive(matrix: Any) -> Any:
    """What is left after taking away; rounding leaves no crumbs."""
    kept = sparse.csr_array(matrix)
    kept.data[kept.data < 1e-9] = 0.0
    kept.eliminate_zeros()
    return kept


def _or_else(beliefs: Any, otherwise: Any) -> Any:
    """Rows about which nothing is left to believe keep what was believed before."""
    empty = (np.diff(beliefs.indptr) == 0).astype(np.float64)
    return sparse.csr_array(beliefs + sparse.diags_array(empty) @ otherwise) if empty.any() else beliefs
