"""What attacks share: how they print, which targets they take, how guesses are scored, and an attacker's probabilities
as an
exposure that models can read.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.consequence import Consequence, Result, explain_guesses
from lookalike.attacks.shared.persons import PersonClasses, are_right, lack_classes, list_known, refuse_classes
from lookalike.attacks.shared.whereabouts import SLACK, Whereabouts, honest_guesses, owners_of
from lookalike.data.contracts import Finding, Score, Target
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import component_text
from lookalike.errors import Unsupported
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Shares = NDArray[np.float64]
_FINE = 1 << 30
"""Beliefs of an attacker are whole numbers over about this."""
_TINY = 1e-6
"""Beliefs below are dropped: an attacker's figures are no finer."""
_MOST_RECORDS = 200_000
"""Beliefs about more records than this are not kept as an exposure."""
_MOST_CELLS = 20_000_000


COUNTS_ROWS = (
    "it counts rows, and persons of this table have several. Publish one row per person (--rows one) to have it made."
)


SYNTHETIC_ROWS = "it looks for the row of a person, and synthetic records are nobody's."


class WrittenAttack:
    """The base of attacks."""

    name: ClassVar[str]
    remedy: ClassVar[str] = ""
    most_records: ClassVar[int | None] = 20_000
    most_cells: ClassVar[int | None] = 2_000_000
    """Records times values of a sensitive column up to which a report makes it; None: it takes no longer with many.

    Learners hold some twenty tables of this size: 10 million took 2 GB and most of the time of `publish`.
    """
    forms: ClassVar[frozenset[str] | None] = None
    looks_for_no_row: ClassVar[bool] = False
    """Whether it can be made on synthetic records, where nobody has a row."""
    kernels: ClassVar[Collection[str]] = ()
    """What it runs compiled, so that a first run can compile it beforehand."""
    headline: ClassVar[str | None] = None
    """The figure that reports show where no guesses are scored."""

    def __str__(self) -> str:
        return component_text(self)

    def refuses(self, target: Target) -> str | None:
        form = target.release.form
        if self.forms is not None and form not in self.forms:
            return f"it is about {' and '.join(sorted(self.forms))} releases, and this one is {form}."
        return None if target.original.persons is None else self.refuses_persons(target)

    def refuses_persons(self, target: Target) -> str | None:
        """Why it cannot be made where persons have several rows, or None."""
        return COUNTS_ROWS

    def lacks(self, target: Target) -> str | None:
        """What is not given, so that the attack is not run although it applies to such a release; else None."""
        return None

    def explain(self, result: Result) -> Consequence:
        """What a finding of this attack means to the person who signs the release."""
        return explain_guesses(result, self.remedy)

    def check(self, target: Target) -> None:
        """Raise `Unsupported`, with the reason, if the attack cannot be made."""
        reason = self.refuses(target)
        if reason is not None:
            raise Unsupported(f"{self.name}: {reason}")


class OnValues(WrittenAttack):
    """An attack on the values of each sensitive column by itself."""

    def refuses(self, target: Target) -> str | None:
        return super().refuses(target) or needs_sensitive(target)

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        where, n_columns = Whereabouts.of(target), len(target.original.domains.sensitive)
        return [self.on_column(where, column, rng, progress) for column in range(n_columns)]

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        raise NotImplementedError


class OnClasses(OnValues):
    """An attack on values that reads classes: by rows, or by persons where these have several rows."""

    def refuses_persons(self, target: Target) -> str | None:
        return refuse_classes(target)

    def lacks(self, target: Target) -> str | None:
        return lack_classes(target)

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        if target.original.persons is None:
            return super().run(target, rng, progress)
        self.check(target)
        classes = PersonClasses.of(target)
        assert classes is not None
        n_columns = len(target.original.domains.sensitive)
        return [self.on_persons(target, classes, column, rng) for column in range(n_columns)]

    def on_persons(self, target: Target, classes: PersonClasses, column: int, rng: Randomness) -> Finding:
        raise NotImplementedError


def needs_sensitive(target: Target) -> str | None:
    """Why an attack on values cannot be made on this target, or None."""
    if target.original.domains.sensitive:
        return None
    return "the table has no sensitive column, so there is no value to guess. Name one in the schema."


def score_guesses(guesses: NDArray[np.int64] | NDArray[np.int32], truth: NDArray[np.int32]) -> Score:
    """Guesses of codes against the true ones; a guess of -1 is none, and counts as wrong."""
    return Score(int(np.count_nonzero(guesses == truth)), len(truth))


def score_known(original: Microdata, column: int, guesses: NDArray[np.int64]) -> Score:
    """Guesses about every record, counted for those that attackers know: all, or one of each person."""
    known = list_known(original)
    return Score(int(np.count_nonzero(are_right(original, column, guesses[known], known))), len(known))


def majority(original: Microdata, column: int) -> float:
    """How often the most frequent value is right."""
    return float(original.prior(column).max() / original.n_persons)


def exposure_of(target: Target, column: int, beliefs: Shares, adversary: str) -> Exposure:
    """Beliefs [records, values] of an attacker as an exposure: one unit a record. Rows need not sum to exactly 1."""
    weights = np.rint(np.where(beliefs < _TINY, 0.0, beliefs) * _FINE).astype(np.int64)
    units, values = np.nonzero(weights)
    return Exposure(
        adversary=adversary,
        form=target.release.form,
        column=target.original.domains.sensitive[column],
        prior=target.original.counts(column).astype(np.int64),
        starts=np.searchsorted(units, np.arange(len(weights) + 1)).astype(np.int64),
        values=values.astype(np.int32),
        weights=weights[units, values],
        sizes=weights.sum(axis=1),
    )


def find_ceilings(target: Target, column: int) -> Shares | None:
    """The least ceiling that the promises set for each value of a column; None if they set none."""
    domain, prior = target.original.domains.sensitive[column], target.original.prior(column)
    required = [
        promise.model.requirement(prior, domain, column) for promise in target.promises if promise.column == domain.name
    ]
    found = [[float(share) for share in one.ceilings] for one in required if one.ceilings is not None]
    return np.min(found, axis=0) if found else None


def row_max(beliefs: Any) -> Shares:
    """The highest certainty about each record; 0 where nothing is believed."""
    if not beliefs.shape[1]:
        return np.zeros(beliefs.shape[0])
    return np.asarray(beliefs.max(axis=1).todense()).reshape(-1).astype(np.float64)


def n_rows_above(beliefs: Any, ceilings: Shares | None) -> int | None:
    """Records about which some value is believed more than its ceiling allows; None without ceilings."""
    return None if ceilings is None else int(rows_above(beliefs, ceilings).sum())


def rows_above(beliefs: Any, ceilings: Shares) -> NDArray[np.bool_]:
    """Which lines believe some value more than its ceiling allows."""
    above = beliefs.data > ceilings[beliefs.indices] * (1 + SLACK) + SLACK
    found = np.zeros(beliefs.shape[0], dtype=bool)
    found[owners_of(beliefs)[above]] = True
    return found


def n_certain(highest: Shares) -> int:
    """Records about which one value is left, from the highest certainty about each."""
    return int(np.count_nonzero(highest >= 1 - SLACK))


def best_guess_share(beliefs: Any, prior: NDArray[np.int64], truth: NDArray[np.int32]) -> float:
    """How often a reader is right who guesses the likeliest value of each record."""
    return score_guesses(honest_guesses(beliefs, prior), truth).share


def build_exposure(target: Target, column: int, beliefs: Any, adversary: str) -> Exposure | None:
    """The probabilities as an exposure unless they are too many. Records that nothing is believed of are left out."""
    beliefs = beliefs[np.flatnonzero(row_max(beliefs) > 0)]
    n_records, n_values = beliefs.shape
    if n_records > _MOST_RECORDS or n_records * n_values > _MOST_CELLS:
        return None
    return exposure_of(target, column, beliefs.toarray(), adversary)
