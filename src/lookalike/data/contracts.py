"""The protocols on one page. Read this first.

    table + schema --encode--> Microdata --anonymize--> Release + RecordMap
                                                          |
                         Audit  <--verify--  Exposure <---+   (known quasi-identifiers; never the RecordMap)
                         losses <--measure-- Release, Microdata

A model has two sides. `requirement` tells algorithms what a group must satisfy. `level` and `holds` tell the audit what
level an exposure reaches, and whether that is enough. They are written independently on purpose and tested against each
other, so that a mistake in one cannot hide in the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain, Domains, Microdata
from lookalike.data.release import MatchGraph, RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Level:
    """What a release reaches under a model: the model's own letter, exactly where it is rational."""

    value: Fraction | float
    unit: int | None = None
    """Where: the unit of the exposure that decides it."""
    detail: str = ""
    """More of it in words, without any record's values."""


@dataclass(frozen=True)
class Slider:
    """The one number of a model that a steward moves first."""

    title: str
    """What the number limits, in one line."""
    low: float
    high: float
    step: float
    usual: float
    parameter: str = ""
    """The parameter's name, where it has to be written."""

    def text(self, name: str, number: str | None = None) -> str:
        """The promise with that number, or with the usual one, as one writes it.

        >>> Slider("Ceilings", 0.1, 10, 0.1, 2, "theta").text("f-privacy", "4")
        'f-privacy:theta=4'
        """
        written = f"{self.usual:g}" if number is None else number
        return f"{name}:{self.parameter}={written}" if self.parameter else f"{name}:{written}"


@runtime_checkable
class PrivacyModel(Protocol):
    """A frozen dataclass of parameters, given as numbers or as decimal text and kept as exact fractions."""

    name: ClassVar[str]
    """As on the command line."""
    letter: ClassVar[str]
    """What the achieved level is called: k, l, t, beta, delta ..."""
    about_identity: ClassVar[bool]
    """Whether it speaks of persons alone and needs no sensitive column."""
    by_possible: ClassVar[bool]
    """Whether it counts rows that are possible for a person, likely or not."""
    slider: ClassVar[Slider | None]
    """The number that a steward moves first; None: the model is written by hand."""
    example: ClassVar[str]
    """The model as one might write it, where the slider does not say."""
    whole: ClassVar[bool]
    """Whether people give whole numbers for its first parameter."""

    @property
    def scale(self) -> str | None:
        """The name of the parameter that levels are values of; None: levels name no stronger promise."""

    @property
    def rises(self) -> bool:
        """Whether a larger number on that scale is the stronger promise."""

    @property
    def level_name(self) -> str:
        """What its level is called among the figures of a comparison."""

    @property
    def level_title(self) -> str:
        """That level on the axis of a picture."""

    @property
    def asked(self) -> Fraction | float:
        """The parameter that `level` is held against."""

    @property
    def value_by_value(self) -> bool:
        """Whether all it asks is that the certainty about each value by itself stays within bounds."""

    @property
    def by_distribution(self) -> bool:
        """Whether it looks at a whole distribution: persons with several values then count in parts for each."""

    @property
    def by_share(self) -> bool:
        """Whether what it asks of a group depends on how frequent values are in the whole table."""

    def __str__(self) -> str:
        """The model as one writes it: beta-likeness:3,bound=basic."""

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        """The promise in one plain sentence: `wording.sentence("can be at most 25 % sure of ...")`.

        `wording` says who the attacker is, in which form of release, and what is counted.
        """

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        """Raise `Infeasible`, with the nearest parameter that can be kept, if no release of this table can keep it."""

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        """What every group must satisfy; `index` is the sensitive column's place."""

    def cautions(self, prior: NDArray[np.int64], column: Domain | None) -> list[str]:
        """What a careful colleague would point out about this promise for this table."""

    def level(self, exposure: Exposure) -> Level:
        """The level that an exposure reaches."""

    def holds(self, level: Level) -> bool:
        """Whether that level keeps the promise."""

    def highest_belief(self, share: Fraction) -> Fraction | None:
        """The highest certainty it leaves in a value of that share; None: what the ceilings of its requirement say."""

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        """Settings whose levels every audit measures, asked or not."""

    @classmethod
    def proposals(cls, prior: NDArray[np.int64], column: Domain) -> Sequence[tuple[PrivacyModel, str]]:
        """Settings that a sensitive column can support, each with why it is shown, as "the largest l"."""

    def refuses_form(self, form: str) -> str | None:
        """Why this model says nothing about a release of that form, or None."""


@dataclass(frozen=True)
class Promise:
    """A model held to one sensitive column (None: a model about identity alone)."""

    model: PrivacyModel
    column: str | None = None

    def __str__(self) -> str:
        return str(self.model) if self.column is None else f"{self.column}={self.model}"

    def sentence(self, wording: Wording = ANY_RELEASE) -> str:
        """The promise in one plain sentence."""
        return self.model.promise(self.column, wording)


@dataclass(frozen=True)
class Slices:
    """A table may be cut into slices that each have its sensitive values in the same proportion."""

    why: str
    """Why the promise then holds for the whole table."""
    at_random: bool = False
    """Whether records are dealt out at random rather than along a curve."""


@dataclass(frozen=True)
class Boxes:
    """A table may be cut into boxes of its quasi-identifiers."""

    why: str
    """Why the promise then holds for the whole table."""
    blind: bool = False
    """Whether cuts look at no sensitive value; against an adversary who knows the method they never do."""
    keep_promises: bool = True
    """Whether each part must be able to keep the promises by itself."""
    otherwise: Slices | None = None
    """What to do where blind cuts leave parts that cannot keep the promises by themselves."""


@dataclass(frozen=True)
class Undivided:
    """A table may not be cut."""

    why: str


Cutting = Boxes | Slices

EVERY_MODEL = "every model"


@runtime_checkable
class Algorithm(Protocol):
    """A frozen dataclass of parameters that turns microdata into a release."""

    name: ClassVar[str]
    suits: ClassVar[Collection[str]]
    """The models that it was made for, by name, or `EVERY_MODEL`: where these are compared, it takes part by itself."""
    kernels: ClassVar[Collection[str]]
    """Kernels that nearly every run calls, as module.name: where they are not compiled yet, all cores compile them."""

    @property
    def in_parts(self) -> Boxes | Slices | Undivided:
        """How a table may be cut so that it publishes each part by itself, with these settings.

        Every promise is about units of a release: groups, buckets, the rows behind a record, a redrawn value. A table
        may be cut if each unit lies inside one part, and if what is decided from the whole table can be decided from
        counts. Then every unit of the whole release is a unit of some part, and each was made and audited against the
        distribution of the whole table.
        """

    @property
    def cells_apart(self) -> bool:
        """Whether its groups can be separated by cuts of single columns, so that a scheme can be made of them."""

    def hurry(self) -> Algorithm:
        """The same without a long search, and without a limit that depends on the machine."""

    @property
    def form(self) -> str:
        """The form of its releases with these settings."""

    @property
    def adversary(self) -> str:
        """The strongest adversary that its releases, with these settings, are made for."""

    def facing(self, adversary: str) -> Algorithm:
        """The method with the settings that it needs against that adversary, where they were left open."""

    def __str__(self) -> str:
        """The algorithm as one writes it: mondrian:cuts=9."""

    def cautions(self) -> list[str]:
        """What a careful user should know about these settings."""

    def bound_to(self) -> str | None:
        """Why, as it is set up, it serves the records of one table alone; None: it serves any table."""

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        """Why it cannot serve this promise, or None."""

    def refuses_columns(self, domains: Domains) -> str | None:
        """Why it cannot publish a table with these columns, or None."""

    def refuses_persons(self, promises: Sequence[Promise], adversary: str) -> str | None:
        """Why it cannot keep these promises for persons who have several rows, against that adversary, or None."""

    def refuses_linked_rows(self, requirements: Sequence[Requirement]) -> str | None:
        """Why it cannot publish the rows of a person linked by a number, or None."""

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, RecordMap]:
        """A release in which every group satisfies every requirement; fails closed."""


class Dealt(Protocol):
    """How a method judges the ways to deal a group's values to its records."""

    def part_of_place(self, size: int) -> NDArray[np.int64]:
        """Parts of a group of so many records, in order: the method treats the places of a part alike."""

    def weights(self, rows: NDArray[np.int32], dealings: NDArray[np.int64]) -> NDArray[np.float64]:
        """How likely the method makes this group of each dealing, up to a factor, at most 1.

        rows [size, sensitive columns] are the group's values; dealings [worlds, size] say which of them the records of
        the group, in order, get.
        """


class Replay(Dealt, Protocol):
    """A method played again by someone who knows it, for one table's quasi-identifiers and requirements."""

    @property
    def order(self) -> NDArray[np.int64]:
        """Records in the order that the method takes them in; equal ones in any order."""

    @property
    def least(self) -> int:
        """No group has fewer records."""

    @property
    def step(self) -> int:
        """Groups grow by so many records; 0: they do not grow."""

    @property
    def again(self) -> Fraction:
        """The probability that a group grows on although it need not."""

    @property
    def tail_is_merged(self) -> bool:
        """Whether what was left at the end of the order went into the last group."""


@runtime_checkable
class Replayable(Protocol):
    """A method whose groups are runs of an order by quasi-identifiers, each made regardless of the others' values."""

    def replay(self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness) -> Replay | None:
        """How it would make groups of these records. It looks at no record's value; None if it cannot be said."""


@runtime_checkable
class Recuttable(Protocol):
    """A method that cuts groups as long as it may, so that a published group is one it could not cut."""

    def recut(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness
    ) -> Callable[[NDArray[np.int64]], Dealt | None]:
        """How a group of these records would be cut; None for one that is too small to be cut whatever its values."""


RELEASE, DOMAINS, ORIGINAL = NEEDS = ("release", "domains", "original")
"""The release alone; the release and how far each quasi-identifier's domain reaches; the original's records."""


@dataclass(frozen=True)
class Compared:
    """One figure of the original and of the release."""

    metric: str
    what: str
    """In words."""
    original: float
    release: float
    signed: bool = False
    """Whether more in the release than in the original is no loss, but a gain."""

    @property
    def lost(self) -> float:
        """How far apart they are; of a prediction, how much less often it is right."""
        gap = self.original - self.release
        return gap if self.signed else abs(gap)


@runtime_checkable
class Metric(Protocol):
    """A number that says how good or how bad a release is."""

    name: ClassVar[str]
    needs: ClassVar[str]
    """What it is worked out from: one of `NEEDS`. A release folder says only what needs no original."""
    title: ClassVar[str]
    """What a report calls it; empty: its name."""
    axis: ClassVar[str | None]
    """What the axis of a comparison calls it; empty: its title; None: releases are not compared by it."""
    forms: ClassVar[frozenset[str] | None]
    """The forms of release that it speaks of; None: all."""
    more_is_better: ClassVar[bool]
    joins: ClassVar[bool]
    """Whether the figure of a release in parts can be joined from its parts."""

    def measure(self, original: Microdata, release: Release) -> float:
        """Not a number where the form of the release has no such figure."""

    def of_part(self, original: Microdata, release: Release) -> Any:
        """What the figure of the whole needs of one part, if it joins: small, and fit to be pickled."""

    def join(self, parts: Sequence[Any]) -> float:
        """The figure of the whole, from what `of_part` says of every part."""

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        """For a comparison of release and original on request: original and release, in one line or several."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Target:
    """What is attacked, and what the attacker or the judge has beside it.

    The original is there to tell the quasi-identifiers that an attacker knows, and to score guesses: no attack may look
    at a sensitive value of it to make one, except those that are said to be known.
    """

    release: Release
    original: Microdata
    promises: tuple[Promise, ...] = ()
    algorithm: Algorithm | None = None
    """The method that made the release, as it says itself."""
    graph: MatchGraph | None = None
    """Of a matched release: private; for attacks that assume a leak of it."""
    others: tuple[Release, ...] = ()
    """Further releases about the same records, over the same domains, for attacks that combine them."""
    record_of_row: NDArray[np.int64] | None = None
    """The private record map, where persons have several rows: it tells which persons a group holds. No attack may find
    a row with it."""
    control: Microdata | None = None
    """People of the same kind who are not in the table, over the domains of the release (`data.control`): the same
    guesses are made about them, so that what is known of people in general is told apart from a leak."""
    adversary: str = READS_RELEASE
    """Whom the promises hold against."""
    synthetic: bool = False
    """Whether rows are made up, so that nobody has a row."""
    worked_out: dict[str, object] = field(default_factory=dict, init=False, repr=False)
    """What one attack has worked out and the next may use."""


_Z = 1.959964
"""Of an interval of 95 %."""
LEAST_GUESSES = 100
"""Of fewer guesses no figure is printed."""


def wilson(n_right: float, n_guesses: int) -> tuple[float, float]:
    """Centre and half width of Wilson's interval of 95 % for a share.

    >>> [round(number, 5) for number in wilson(60, 500)]
    [0.1229, 0.02852]
    """
    z, n = _Z, n_guesses
    reach = z / (n + z * z) * math.sqrt(max(n_right * (n - n_right), 0.0) / n + z * z / 4) if n else 0.5
    return (n_right + z * z / 2) / (n + z * z), reach


@dataclass(frozen=True)
class Score:
    """How many guesses were right, with Wilson's interval of 95 % for the share."""

    n_right: int
    n_guesses: int

    @property
    def share(self) -> float:
        return self.n_right / self.n_guesses if self.n_guesses else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """
        >>> [round(end, 3) for end in Score(10, 100).interval]
        [0.055, 0.174]
        """
        middle, reach = wilson(self.n_right, self.n_guesses)
        return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True, kw_only=True)
class Residual:
    """The same guesses about people in the table (targets) and about people who are not in it (control group).

    With a, c and b the shares of right guesses about targets, about the control group and of an attacker who does not
    read the release: c - b is what the release says about people in general, a - c what it gives away about people
    because they are in the table. R = (a - c) / (1 - c), with the centres of Wilson's intervals for a and c.

    >>> found = Residual(n=2000, right=220, control_n=2000, control_right=180, baseline=0.08)
    >>> [round(number, 5) for number in (found.residual, found.low, found.high)]
    [0.02195, 0.0017, 0.04221]
    """

    n: int
    """Guesses about targets."""
    right: float
    """How many of them are right; a guess among ties counts in part."""
    control_n: int | None = None
    """Guesses about the control group; None: there is none."""
    control_right: float | None = None
    baseline: float | None = None
    """The share of right guesses of an attacker who does not read the release."""
    kind: str | None = None
    """Which kind of predicate, or which attacker: residuals of different kinds cannot be compared."""

    @property
    def share(self) -> float:
        """Right guesses about targets."""
        return self.right / self.n if self.n else 0.0

    @property
    def control_share(self) -> float | None:
        """Right guesses about the control group."""
        return self.control_right / self.control_n if self.control_n and self.control_right is not None else None

    @property
    def knows_everything(self) -> bool:
        """Whether every guess about the control group is right, so that being in the table gives nothing away."""
        return self.control_share == 1.0

    def _estimate(self) -> tuple[float, float] | None:
        """The uncut residual and its error; None where it is not defined."""
        if not self.n or not self.control_n or self.control_right is None or self.knows_everything:
            return None
        (a, error_a), (c, error_c) = wilson(self.right, self.n), wilson(self.control_right, self.control_n)
        return (a - c) / (1 - c), math.hypot(error_a / (1 - c), error_c * (1 - a) / (1 - c) ** 2)

    @property
    def uncut(self) -> float | None:
        """The residual as it is worked out, below 0 where the control group is guessed better."""
        found = self._estimate()
        return None if found is None else found[0]

    @property
    def residual(self) -> float | None:
        """Of what is not known anyway, the share that is learned about people because they are in the table."""
        return None if self.uncut is None else _cut(self.uncut)

    @property
    def low(self) -> float | None:
        """The end of its interval of 95 %."""
        found = self._estimate()
        return None if found is None else _cut(found[0] - found[1])

    @property
    def high(self) -> float | None:
        found = self._estimate()
        return None if found is None else _cut(found[0] + found[1])

    @property
    def is_large_enough(self) -> bool:
        """Whether there are enough guesses for figures that are shown to people."""
        return min(self.n, self.n if self.control_n is None else self.control_n) >= LEAST_GUESSES

    def sentence(self) -> str:
        """In plain words and whole per cents."""
        if not self.is_large_enough:
            return f"Fewer than {LEAST_GUESSES} guesses were made, too few for a figure."
        said = f"Of {self.n:,} guesses about people in the table {_percent(self.share)} are right"
        if self.control_share is not None:
            said += f", of {self.control_n:,} about people like them who are not in it {_percent(self.control_share)}"
        if self.baseline is not None:
            said += f", of guesses that ignore the release {_percent(self.baseline)}"
        said += "."
        if self.control_share is None:
            return f"{said} {NO_CONTROL}"
        if self.residual is None or self.low is None or self.high is None:
            return f"{said} Everything is known about everybody anyway."
        return (
            f"{said} So of what is not known anyway {_percent(self.residual)} ({100 * self.low:.0f} to "
            f"{_percent(self.high)}) is learned about people because they are in the table."
        )

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON."""
        names = ("n", "right", "control_n", "control_right", "baseline", "residual", "low", "high", "uncut", "kind")
        return {name: getattr(self, name) for name in names}


NO_CONTROL = "Without a control group, learning about people in general is not told apart from a leak."


def _cut(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


@dataclass(frozen=True, eq=False, kw_only=True)
class Finding:
    """What an attack achieved on one column (None: on identity)."""

    attack: str
    """As one writes it, with its parameters."""
    column: str | None
    sentence: str
    """In plain words, with numbers, without any record's values."""
    score: Score | None = None
    """Guesses of values, or of identities."""
    baselines: dict[str, float] = field(default_factory=dict)
    """What the baseline is right in: a short name (most frequent value, values of the group) and a share. What
    a promise allows is no baseline: nobody is right that often by reading."""
    n_affected: int | None = None
    """Records about which the attacker comes to believe more than the release was to allow."""
    exposure: Exposure | None = None
    """The attacker's probabilities, to be read by the same models as the release itself."""
    residual: Residual | None = None
    """The same guesses about people in the table and about a control group, where there is one."""
    figures: dict[str, float] = field(default_factory=dict)
    """Further numbers, by name."""

    @property
    def succeeds(self) -> bool | None:
        """Whether the attacker clearly does better than every baseline."""
        if self.score is None or not self.baselines:
            return None
        return self.score.interval[0] > max(self.baselines.values())


@runtime_checkable
class Attack(Protocol):
    """A frozen dataclass of parameters: an adversary with more knowledge or more wit than the audit assumes."""

    name: ClassVar[str]
    remedy: ClassVar[str]
    """What to do if it succeeds, in one sentence; empty: nothing in particular."""
    most_records: ClassVar[int | None]
    """Up to how many records a report makes it by default; None: however many, as it takes seconds for a million."""
    forms: ClassVar[frozenset[str] | None]
    """The forms of release that it can be made on; None: all."""

    def __str__(self) -> str:
        """The attack as one writes it: naive-bayes:kind=classic."""

    def refuses(self, target: Target) -> str | None:
        """Why it cannot be made on this target, or None."""

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        """What it achieves: a finding for each sensitive column that it speaks of, or one about identity."""
