"""Minimality: anyone who knows the method rules out the worlds in which it would have made another release.

Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing" (VLDB 2007); Cormode et al. (PVLDB 2010).
The attacker knows the method with its settings, what was promised, and everybody's quasi-identifiers. Tiny tables are
gone through world by world, whatever the method (`exact`); methods that can be played again group by group are
(`replay`), exactly where there is a formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.minimality.exact import enumerate_posteriors, n_worlds
from lookalike.attacks.minimality.replay import by_place, recut, replay_method
from lookalike.attacks.shared.attack import Shares, WrittenAttack, exposure_of, find_ceilings, majority, score_guesses
from lookalike.attacks.shared.consequence import AS_PROMISED, FAILED, PERMITTED, Consequence, Result, explain_guesses
from lookalike.attacks.shared.whereabouts import Whereabouts, honest_guesses
from lookalike.audit.reading import joint_ids
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Finding, Recuttable, Replay, Replayable, Target
from lookalike.data.ends import Ends
from lookalike.data.parameters import Whole
from lookalike.data.release import Bucketized, Grouped, Matched
from lookalike.data.requirement import Distance, Requirement
from lookalike.errors import Unsupported, counted, quoted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_NO_METHOD = "the method that made the release is not known; name it with its settings"
_SURE = 3.0
"""So many standard errors above what is allowed a certainty counts as above it."""
_HAIR = 1e-9
_TINY = 9
"""No table of more records is gone through world by world."""
_Told = tuple[Shares, Shares, dict[str, float]]
"""Beliefs [records, values] about a column, their standard errors, and how they were come by."""


@dataclass(frozen=True)
class Minimality(WrittenAttack):
    """What the method gives away: worlds in which it would have made another release are ruled out.

    >>> str(Minimality(accepted=500))
    'minimality:accepted=500'
    """

    name: ClassVar[str] = "minimality"
    remedy: ClassVar[str] = "A release for the adversary knows-method resists it."

    accepted: Whole = Whole(low=50, default=1000)
    """How many dealings of a group's values are to be accepted."""
    tries: Whole = Whole(low=50, default=20_000)
    """How many dealings of a group's values are tried at most."""
    worlds: Whole = Whole(low=0, default=1000)
    """Tables of up to 9 records with at most so many worlds are gone through exactly."""
    seeds: Whole = Whole(low=1, default=20)
    """With how many seeds the method is run in each of these worlds; few make probabilities too sharp."""

    def lacks(self, target: Target) -> str | None:
        return _NO_METHOD if target.algorithm is None else None

    def explain(self, result: Result) -> Consequence:
        affected, withstands = result.finding.n_affected, result.target.adversary == KNOWS_METHOD
        if affected is None:
            return explain_guesses(result, self.remedy)
        who = "Someone who also knows the method and its settings"
        if not affected:
            return Consequence(AS_PROMISED, f"{who} is not more certain about anybody than {result.limits} allows.")
        said = f"{who} is more certain about {result.share_of_people()} than the limit of {result.limits}."
        if withstands:
            return Consequence(
                FAILED, f"{said} The release promises to withstand this attacker ({KNOWS_METHOD}). Do not sign."
            )
        return Consequence(
            PERMITTED,
            f"{said} The promise is for an attacker who reads the release alone, and the report names the method. If "
            f"that matters, publish with --adversary {KNOWS_METHOD}.",
        )

    def refuses(self, target: Target) -> str | None:
        release, original, algorithm = target.release, target.original, target.algorithm
        if algorithm is None:
            return _NO_METHOD
        if not target.promises:
            return "where groups end depends on what was promised; say what"
        if not original.domains.sensitive:
            return "there is no sensitive column"
        if release.form != algorithm.form:
            return f"{algorithm} makes {algorithm.form} releases, and this one is {release.form}"
        if release.n_rows + release.withheld.n_suppressed - release.withheld.n_dummies != original.n_rows:
            return "the release does not have as many records as the original; it is of another table"
        if (reason := super().refuses(target)) is not None:
            return reason
        if self._is_tiny(target):
            return None
        played_again = isinstance(release, Grouped | Bucketized) and self._replay(target, Randomness(0)) is not None
        if not played_again and not isinstance(algorithm, Recuttable):
            return (
                f"{algorithm.name} cannot be played again group by group, and the table is too large to go through all "
                "worlds"
            )
        return None

    def refuses_persons(self, target: Target) -> str | None:
        return (
            "it deals the values of a group to its rows, and does not say what follows about persons who have several "
            "rows. Publish one row per person (--rows one) to have it made."
        )

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        told = self._enumerate(target, progress) if self._is_tiny(target) else None
        if told is None:
            told = self._replay_method(target, rng, progress)
        return [self._finding(target, column, *one) for column, one in enumerate(told)]

    def _is_tiny(self, target: Target) -> bool:
        return target.original.n_rows <= _TINY and n_worlds(target.original) <= self.worlds

    def _replay(self, target: Target, rng: Randomness) -> Replay | None:
        method: object = target.algorithm
        if not isinstance(method, Replayable):
            return None
        return method.replay(target.original, _requirements_of(target), rng)

    def _enumerate(self, target: Target, progress: Progress) -> list[_Told] | None:
        # The release does not say how its ends were rounded: as by default, or not at all.
        ways = (None,) if target.release.form not in (Grouped.form, Matched.form) else (Ends(), None)
        return next((told for ends in ways if (told := self._enumerate_with(target, ends, progress)) is not None), None)

    def _enumerate_with(self, target: Target, ends: Ends | None, progress: Progress) -> list[_Told] | None:
        assert target.algorithm is not None
        found = enumerate_posteriors(
            target.algorithm, target.original, _requirements_of(target), range(self.seeds), progress, ends
        )
        told = []
        for column in range(len(target.original.domains.sensitive)):
            beliefs = found.of(target.release, column)
            if beliefs is None:
                return None
            exact = np.array([[float(share) for share in row] for row in beliefs])
            told.append((exact, np.zeros_like(exact), {"worlds": float(n_worlds(target.original))}))
        return told

    def _replay_method(self, target: Target, rng: Randomness, progress: Progress) -> list[_Told]:
        where = Whereabouts.of(target)
        generator = np.random.default_rng(rng.child("dealings").words(4))
        requirements = _requirements_of(target)
        method: object = target.algorithm
        progress("replaying", 0.0)
        replay = self._replay(target, rng.child("order"))
        if replay is not None:
            order = replay.order
            done = replay_method(target, requirements, replay, generator, self.accepted, self.tries)
        elif isinstance(method, Recuttable):
            leaf = method.recut(target.original, requirements, rng.child("ties"))
            done, order = recut(where, leaf, generator, self.accepted, self.tries, progress)
        else:
            raise Unsupported(
                f"None of {counted(self.seeds, 'run')} of {method} in each world gave this release. Try more "
                "seeds, or check that this is the method, the promise and the table."
            )
        if not done.runs:
            raise Unsupported(
                f"No group of the release is one that {method} makes of these records. Check that this is "
                "the method, and the table."
            )
        progress("replaying", 1.0)
        figures = {
            "groups": float(len(done.runs)),
            "groups_sampled": float(done.n_sampled),
            "groups_left": float(done.n_left),
        }
        kind_of_record = joint_ids(tuple(target.original.quasi.T), target.original.n_rows)
        kinds = kind_of_record[order]
        told = []
        for column in range(len(target.original.domains.sensitive)):
            beliefs, errors = by_place(done, where.beliefs(column), order, column)
            missing = beliefs.sum(axis=1) < 0.5
            beliefs[missing] = _left_out(target, column)
            told.append((_by_kind(beliefs, kinds)[kind_of_record], _by_kind(errors, kinds)[kind_of_record], figures))
        return told

    def _finding(
        self, target: Target, column: int, beliefs: Shares, errors: Shares, figures: dict[str, float]
    ) -> Finding:
        original, name = target.original, target.original.domains.sensitive[column].name
        prior, truth = original.counts(column), original.sensitive[:, column]
        score = score_guesses(honest_guesses(sparse.csr_array(beliefs), prior), truth)
        honest = score_guesses(honest_guesses(Whereabouts.of(target).beliefs(column), prior), truth)
        baselines = {"most frequent value": majority(original, column), "values of the group": honest.share}
        figures = {**figures, "largest_belief": float(beliefs.max(initial=0.0))}
        ceilings = find_ceilings(target, column)
        affected = np.zeros(original.n_rows, dtype=bool)
        is_bounded = False
        if ceilings is not None and ((ceilings < 1) & (prior > 0)).any():
            is_bounded = True
            held = (ceilings < 1) & (ceilings > 0)
            affected |= (beliefs > ceilings + _SURE * errors + _HAIR).any(axis=1)
            figures["risk_times_l"] = float((beliefs[:, held] / ceilings[held]).max())
            figures["standard_error"] = float((errors[:, held] / ceilings[held]).max())
        for requirement in _requirements_of(target):
            if requirement.column == column and requirement.distance in (Distance.EQUAL, Distance.ORDERED):
                is_bounded = True
                bound = float(requirement.bound)
                distances = _distances(beliefs, prior, requirement.distance)
                # Noise moves mass too, so that much is taken off first.
                noise = _SURE * errors.sum(axis=1) / 2
                affected |= distances > bound + noise + _HAIR
                if bound > 0:
                    figures["risk_times_t"] = float(distances.max() / bound)
        n_affected = int(affected.sum()) if is_bounded else None
        if n_affected is not None:
            figures["vulnerable_share"] = n_affected / original.n_rows
        above = (
            ""
            if n_affected is None
            else f", and of {n_affected:,} of {original.n_rows:,} records more certain than promised"
        )
        return Finding(
            attack=str(self),
            column=name,
            sentence=(
                f"An attacker who knows that {target.algorithm} made the release is up to "
                f"{figures['largest_belief']:.1%} certain of a value of {quoted(name)}{above}. Guesses by that are "
                f"right for {score.share:.1%} of records; by the release alone for {honest.share:.1%}."
            ),
            score=score,
            baselines=baselines,
            n_affected=n_affected,
            exposure=exposure_of(target, column, beliefs, KNOWS_METHOD),
            figures=figures,
        )


def _requirements_of(target: Target) -> list[Requirement]:
    """What the promises ask of every group, as the method was given."""
    original, found = target.original, []
    for promise in target.promises:
        index = None if promise.column is None else original.domains.sensitive_index(promise.column)
        domain = None if index is None else original.domains.sensitive[index]
        found.append(promise.model.requirement(original.prior(index), domain, index))
    return found


def _left_out(target: Target, column: int) -> Shares:
    """What suppressed records have, by counting what is missing from the release."""
    n_codes = target.original.domains.sensitive[column].n_codes
    published = np.bincount(target.release.sensitive[:, column], minlength=n_codes)
    left = np.maximum(target.original.counts(column) - published, 0).astype(np.float64)
    shares: Shares = left / max(left.sum(), 1.0)
    return shares


def _by_kind(beliefs: Shares, kind_of_place: NDArray[np.int64]) -> Shares:
    """Means over records that nobody can tell apart."""
    places = np.arange(len(kind_of_place))
    gather = sparse.csr_array((np.ones(len(places)), (kind_of_place, places)))
    means: Shares = np.asarray(gather @ beliefs) / np.asarray(gather.sum(axis=1)).reshape(-1, 1)
    return means


def _distances(beliefs: Shares, prior: NDArray[np.int64], distance: Distance) -> Shares:
    """The earth mover's distance of each row from the table's distribution."""
    gaps = beliefs - prior / prior.sum()
    if distance is Distance.EQUAL:
        return np.asarray(np.abs(gaps).sum(axis=1) / 2)
    return np.asarray(np.abs(np.cumsum(gaps, axis=1)).sum(axis=1) / max(len(prior) - 1, 1))
