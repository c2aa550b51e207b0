"""What a report is made from: what is known about a release, and none of its rows.

The owner of the original sees all of it. A release folder gets the `public` part: what follows from the release itself
(decision 17).

So one report serves a release in memory and one that was made in parts and that no machine ever held. Of the latter all
exposures are thinned to the units that decide (`audit.parts`), among them those with the highest certainty in each
value,
which are the ones a report shows.

Shares of sensitive values are those of the published values. In a report that goes with its release, ceilings are left
out where records were suppressed: they follow from the original's shares, which would reveal what the suppressed had.
Where rows were made up, probabilities and shares are left out altogether.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit import Audit, CarriedRisk, Conditioned, Examined, measure_carried, public_audit, shows_beliefs
from lookalike.data.cell_kinds import describe_cells
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain, Domains
from lookalike.data.parameters import number_text
from lookalike.data.person_settings import StatedPersons, Unit
from lookalike.data.persons import total_of
from lookalike.data.release import Perturbed, Release, Withheld
from lookalike.data.wording import Wording
from lookalike.evaluation.advise import review
from lookalike.evaluation.report.columns import may_be_named
from lookalike.evaluation.report.persons import describe_numbers
from lookalike.evaluation.report.risk import Before, Chance, certainty_of, list_points
from lookalike.metrics.shared.losses import ShownRanges, public_losses
from lookalike.pipeline.recipe import state_persons
from lookalike.pipeline.run import Made, MadeInParts, MadeWhole, describe_ends

MOST_SIZES = 12


@dataclass(frozen=True)
class SizeLine:
    """How many people are hidden among so many rows."""

    rows: str
    share: float


def size_lines(crowds: Mapping[int, int], form: str) -> tuple[SizeLine, ...]:
    """Among how many rows people are hidden; sizes put together if there are many."""
    if not crowds:
        return ()
    sizes, units = np.array(sorted(crowds.items()), dtype=np.int64).T
    people = units if form == "matched" else sizes * units
    total = max(int(people.sum()), 1)
    shares = people / total
    edges = np.arange(len(sizes)) if len(sizes) <= MOST_SIZES else _even_parts(shares)
    lines = []
    for start, stop in zip(edges, [*edges[1:], len(sizes)], strict=True):
        low, high = int(sizes[start]), int(sizes[stop - 1])
        lines.append(SizeLine(f"{low}" if low == high else f"{low} to {high}", int(people[start:stop].sum()) / total))
    return tuple(lines)


def _even_parts(shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where parts of about as many people begin."""
    before = np.concatenate(([0.0], np.cumsum(shares)[:-1]))
    return np.flatnonzero(np.diff(np.floor(before * MOST_SIZES), prepend=-1.0))


MADE_IN_PARTS = (
    "This release was made in parts. So for this report no attack was made, no query answered, no other promise tried, "
    "and no advice worked out. lookalike attack and lookalike fidelity do it on a machine that holds the release and "
    "its original. For a table too large for that, make a release of a random sample by the same command, attack that "
    "one, and do not publish it."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Basis:
    """Promises, audit, probabilities, sizes and losses of a release."""

    promises: tuple[Promise, ...]
    algorithm: Algorithm
    asked_adversary: str
    domains: Domains
    audit: Audit
    withheld: Withheld
    seen: Mapping[int, Exposure]
    """Beliefs about each sensitive column, by its place: all units, or at least those with the highest
    probabilities.
    """
    crowds: Mapping[int, int]
    """How many units there are of each size; empty where sizes are no numbers of rows."""
    losses: dict[str, float]
    loss_by_column: dict[str, float]
    ranges: Mapping[str, ShownRanges]
    """What the release shows of columns of ranges whose domain is not declared."""
    bound_sentence: str | None = None
    advice: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """What was not evaluated, and what to do about it."""
    persons: StatedPersons | None = None
    """What the release says about whose rows it has."""
    numbers: tuple[str, ...] = ()
    """How many persons and rows the original has, in sentences."""
    options: tuple[str, ...] = ()
    """Further options of the command that makes such a release."""
    ends_sentence: str = ""
    """What rounding the ends of ranges cost."""
    ends: tuple[str, ...] = ()
    """What the command says about the ends of ranges."""
    series: str | None = None
    """How it was held against other releases of the same people (`describe_mode`); None: not at all."""
    carried: tuple[CarriedRisk, ...] = ()
    """What someone achieves who knows no carried column, one, or all."""
    rules: tuple[str, ...] = ()
    """Rules of common knowledge that promises were held against, in words."""
    conditioned: tuple[Conditioned, ...] = ()
    """The promises held against someone who uses them."""
    control: tuple[str, ...] = ()
    """What the command says about a control group."""
    removed: tuple[str, ...] | None = None
    """Columns of the original that are not published; None: not known."""
    n_removed_unnamed: int = 0
    """Further ones that are not named."""
    before: Before | None = None
    """What an attacker would achieve on the original; for its owner."""
    certain: Mapping[int, Chance] = field(default_factory=dict)
    """How sure a reader can be of each sensitive column, by its place."""
    points: Mapping[int, int] = field(default_factory=dict)
    """Where quasi-identifiers are published exactly: how many rows share them with so many."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """How the cells of each quasi-identifier are published (`data.cell_kinds`); empty where rows are not at hand."""
    internal: bool = True
    """Whether this is for the owner of the original alone."""

    @property
    def form(self) -> str:
        return self.audit.form

    @property
    def unit(self) -> Unit | None:
        """What promises count in place of rows; None: every row is a person."""
        return None if self.persons is None else self.persons.counted

    @property
    def wording(self) -> Wording:
        """Who its promises are about, and against which attacker they hold."""
        known = tuple(domain.name for domain in self.domains.quasi)
        return Wording(form=self.form, adversary=self.adversary, known=known, unit=self.unit)

    @property
    def adversary(self) -> str:
        """Whom the release was made for and held against."""
        return self.audit.adversary

    def public(self, *, with_scores: bool = False) -> Basis:
        """What anybody with the release can work out, for the report that is in its folder.

        `with_scores` adds the lower bound on the loss, which looks at the sensitive values of the original.
        """
        # Probabilities by persons follow from whose row it is, which the release does not show.
        shown = shows_beliefs(self.audit) and self.audit.n_persons is None
        losses, by_column = public_losses(
            self.losses,
            self.loss_by_column,
            self.domains,
            self.form,
            self.withheld.n_suppressed,
            self.ranges,
            by_persons=self.audit.n_persons is not None,
        )
        named = self.removed if may_be_named(self.removed or ()) else ()
        return replace(
            self,
            removed=named,
            n_removed_unnamed=len(self.removed or ()) - len(named or ()) + self.n_removed_unnamed,
            before=self.before.round() if with_scores and self.before is not None else None,
            certain=self.certain if shown else {},
            points={} if self.audit.n_persons is not None else self.points,
            asked_adversary=self.adversary,
            audit=public_audit(self.audit),
            # How frequent values are among records would tell which values were made up.
            seen=self.seen if shown and not self.audit.n_dummies else {},
            crowds=self.crowds if shown else {},
            losses=losses,
            loss_by_column=by_column,
            bound_sentence=self.bound_sentence if with_scores else None,
            advice=(),
            numbers=(),
            ends_sentence="",
            ends=(),
            # What rules exclude depends on the quasi-identifiers of all records.
            rules=(),
            conditioned=(),
            carried=self._public_carried(by_classes=shown and not self.audit.n_dummies),
            control=(),
            internal=False,
        )

    def _public_carried(self, *, by_classes: bool) -> tuple[CarriedRisk, ...]:
        """What the published rows show of carried columns: how many are alone with their value in a class."""
        found = (risk.public(by_classes=by_classes) for risk in self.carried)
        return tuple(risk for risk in found if risk is not None)

    @classmethod
    def of(cls, made: Made, series: str | None = None, *, removed: tuple[str, ...] | None = None) -> Basis:
        """Of a release that was made here. `removed`: the columns of the table that are not published."""
        known: dict[str, Any] = {
            "series": series,
            "ends_sentence": " ".join(describe_ends(made.ends)),
            "ends": made.recipe.ends.flags(),
        }
        if isinstance(made, MadeWhole):
            bound = made.loss_bound
            known["bound_sentence"] = None if bound is None else bound.sentence(made.losses["gcp"])
            known["advice"] = review(made).sentences
            known["numbers"] = describe_numbers(made)
            known["cells"] = describe_cells(made.release)
            known |= {"before": Before.of(made.data), "points": list_points(made.release)}
            if made.control is not None:
                known["control"] = ("--control", "FILE" if made.held_out is None else number_text(made.held_out))
        elif isinstance(made, MadeInParts):
            known |= {"left_out": (MADE_IN_PARTS,), "options": made.options}
        whole = isinstance(made, MadeWhole)
        return cls(
            removed=removed,
            certain={index: certainty_of(seen, complete=whole) for index, seen in made.seen.items()},
            promises=made.promises,
            algorithm=made.algorithm,
            asked_adversary=made.recipe.adversary,
            domains=made.domains,
            audit=made.audit,
            withheld=made.withheld,
            seen=made.seen,
            crowds=made.crowds,
            losses=made.losses,
            loss_by_column=made.loss_by_column,
            ranges=made.ranges,
            persons=state_persons(made.recipe),
            carried=made.carried,
            rules=() if made.recipe.knowledge is None else tuple(map(str, made.recipe.knowledge.rules)),
            conditioned=made.conditioned,
            **known,
        )

    @classmethod
    def of_reading(
        cls,
        release: Release,
        examined: Examined,
        *,
        promises: Sequence[Promise],
        algorithm: Algorithm,
        losses: dict[str, float],
        loss_by_column: dict[str, float],
        series: str | None = None,
        persons: StatedPersons | None = None,
        removed: tuple[str, ...] | None = None,
        n_removed_unnamed: int = 0,
        before: Before | None = None,
    ) -> Basis:
        """Of a release that was read back over its original."""
        audit, domains = examined.audit, release.domains
        shown = shows_beliefs(audit) and audit.n_persons is None
        seen = {index: examined.exposure(index) for index in range(len(domains.sensitive) if shown else 0)}
        return cls(
            promises=tuple(promises),
            algorithm=algorithm,
            asked_adversary=audit.adversary,
            domains=domains,
            audit=audit,
            withheld=release.withheld,
            seen=seen,
            crowds=(seen[0] if seen else examined.exposure(None)).crowds if shown else {},
            losses=losses,
            loss_by_column=loss_by_column,
            ranges=ShownRanges.of(release),
            series=series,
            persons=persons,
            carried=measure_carried(examined, candidates=False) if shown else (),
            cells=describe_cells(release),
            removed=removed,
            n_removed_unnamed=n_removed_unnamed,
            before=before,
            certain={index: certainty_of(exposure, complete=True) for index, exposure in seen.items()},
            points=list_points(release),
        )


_MOST_VALUES = 40


@dataclass(frozen=True)
class BeliefLine:
    """One sensitive value: its share of the table, the highest certainty a reader can reach, what the promises
    allow.
    """

    value: str
    share: float
    belief: float
    ceiling: float | None


@dataclass(frozen=True)
class BeliefTable:
    """Values of a column, the most frequent first: all, or those whose certainty grows most."""

    column: str
    lines: tuple[BeliefLine, ...]
    n_values: int

    @property
    def sentence(self) -> str:
        """The rarest and the most frequent of the lines in words."""
        rare, common = (pick(self.lines, key=lambda line: line.share) for pick in (min, max))
        said = [f'belief in "{line.value}" {_rise(line)}' for line in dict.fromkeys((rare, common))]
        return f"Of the values shown, {' and '.join(said)}."


def belief_table(basis: Basis, index: int) -> BeliefTable:
    """The table of one sensitive column."""
    domain, seen = basis.domains.sensitive[index], basis.seen[index]
    # How often each value is published, made-up records set aside: what the audit found, all less the suppressed.
    counts = seen.prior
    if basis.form != Perturbed.form and basis.withheld.suppressed and not seen.counts_persons:
        counts = counts - basis.withheld.suppressed[index]
    shares = np.asarray(counts / max(total_of(counts), 1))
    highest = np.zeros(len(seen.prior))
    np.maximum.at(highest, seen.values, (seen.weights / seen.sizes[seen.unit_of_entry]).astype(float))
    ceilings = _ceilings(basis, index, domain, seen.prior)
    present = np.flatnonzero(shares > 0)
    growth = highest[present] / shares[present]
    shown = present[np.argsort(-growth, kind="stable")][:_MOST_VALUES]
    shown = shown[np.argsort(-shares[shown], kind="stable")]
    lines = tuple(
        BeliefLine(
            domain.texts[code],
            float(shares[code]),
            float(highest[code]),
            None if ceilings is None else min(1.0, float(ceilings[code])),
        )
        for code in shown
    )
    return BeliefTable(domain.name, lines, len(present))


def _ceilings(basis: Basis, index: int, domain: Domain, prior: NDArray[np.int64]) -> list[Fraction] | None:
    """The least ceiling that the promises set for each value."""
    found = [
        requirement.ceilings
        for promise in basis.promises
        if promise.column == domain.name
        and (requirement := promise.model.requirement(prior, domain, index)).ceilings is not None
    ]
    if not found or (basis.withheld.n_suppressed and not basis.internal):
        return None
    return [min(shares) for shares in zip(*found, strict=True)]


def _rise(line: BeliefLine) -> str:
    allowed = "" if line.ceiling is None else f" ({100 * line.ceiling:.3g} % would be allowed)"
    return f"may rise from {100 * line.share:.3g} % to at most {100 * line.belief:.3g} %{allowed}"
