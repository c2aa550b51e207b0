"""What the result of an attack means to the person who signs a release: a word and a sentence.

    as promised     a promise is about this, and the result lies within it
    no gain         the attacker learns no more than someone who simply reads the table
    permitted       the attacker learns more, and no promise rules that out
    promise fails   a promise rules this out, and it does not hold
    undecided       too few guesses, or nothing to compare with

Each attack explains its own results (`WrittenAttack.explain`); `explain_guesses` says what holds for any attack that
guesses values. Sentences have whole per cents, none below 100 guesses, and no values, so that a report may print them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lookalike.data.contracts import LEAST_GUESSES, Finding, Promise, Residual, Target
from lookalike.errors import quoted

AS_PROMISED, NO_GAIN, PERMITTED, FAILED, UNDECIDED = _WORDS = (
    "as promised",
    "no gain",
    "permitted",
    "promise fails",
    "undecided",
)
_LEAD = "What this means for signing:"
TOO_FEW = f"Fewer than {LEAST_GUESSES} guesses were made, so this attack shows nothing either way."
NEEDS_CONTROL = (
    "Without a control group (--control) this does not tell general knowledge about people from a leak about those in "
    "the table."
)


@dataclass(frozen=True)
class Consequence:
    """What a result means for signing."""

    word: str
    """One of the five words."""
    sentence: str

    def __post_init__(self) -> None:
        if self.word not in _WORDS:
            raise ValueError(f"{self.word!r} is no word for a consequence. Use one of {', '.join(_WORDS)}.")

    def __str__(self) -> str:
        return f"{_LEAD} {self.sentence}"

    @property
    def is_failure(self) -> bool:
        return self.word == FAILED


@dataclass(frozen=True, eq=False)
class Result:
    """What an attack found on a target, in the words that sentences about it use."""

    finding: Finding
    target: Target
    kept: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    """For each promise about the column: the level that the attacker's probabilities reach, and whether it is
    still kept.
    """

    @property
    def people(self) -> str:
        """What is counted, as a plural."""
        noun = self.target.original.schema.unit_name
        return "people" if noun in ("person", "record") else f"{noun}s"

    @property
    def person(self) -> str:
        noun = self.target.original.schema.unit_name
        return "person" if noun == "record" else noun

    @property
    def column(self) -> str:
        return "identity" if self.finding.column is None else quoted(self.finding.column)

    @property
    def known(self) -> str:
        """The quasi-identifiers by name."""
        return join_names([domain.name for domain in self.target.original.domains.quasi])

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        """The promises about the column, or about identity."""
        return tuple(promise for promise in self.target.promises if promise.column == self.finding.column)

    @property
    def limits(self) -> str:
        """These promises as one writes them."""
        return join_names([str(promise.model) for promise in self.promises])

    @property
    def surer(self) -> str:
        """Promises about the column whose limits the attacker's probabilities exceed; empty: none."""
        broken = {name for name, (_, is_kept) in self.kept.items() if not is_kept}
        return join_names([str(promise.model) for promise in self.promises if str(promise) in broken])

    @property
    def baseline(self) -> tuple[str, float]:
        """The best baseline: its name and its share of right guesses."""
        return best_baseline(self.finding)

    @property
    def is_large_enough(self) -> bool:
        score = self.finding.score
        return score is not None and score.n_guesses >= LEAST_GUESSES

    def share_of_people(self, number: float | None = None) -> str:
        """So many people (those affected, if no number is given) as a share of all, with a verb in the plural after.

        Of fewer than 100 no share is given.
        """
        number = float(self.finding.n_affected or 0) if number is None else number
        n_people = self.target.original.n_persons
        if not number:
            return "none"
        if n_people < LEAST_GUESSES:
            return f"some {self.people}"
        return f"{percent(number / n_people)} of {self.people}"

    def compare(self) -> str:
        """How often guesses are right, beside the baseline."""
        assert self.finding.score is not None
        name, share = self.baseline
        return (
            f"{percent(self.finding.score.share)} of guesses are right, and {percent(share)} by the baseline ({name})"
        )


def explain_guesses(result: Result, remedy: str = "") -> Consequence:
    """What any attack that guesses means: how often it is right, and what promises say about it."""
    finding, score, surer = result.finding, result.finding.score, result.surer
    if score is None:
        return _explain_affected(result, remedy)
    if not score.n_guesses:
        return Consequence(NO_GAIN, "The attacker finds nobody to guess about.")
    if not result.is_large_enough:
        return Consequence(UNDECIDED, TOO_FEW)
    if finding.succeeds is None:
        return Consequence(
            UNDECIDED, f"{percent(score.share)} of guesses are right, and there is no baseline to compare."
        )
    leak = finding.residual if finding.residual is not None and finding.residual.low else None
    if not finding.succeeds and (leak is None or not leak.is_large_enough):
        if not surer:
            return Consequence(
                NO_GAIN, f"The attacker gains nothing over someone who reads the table: {result.compare()}."
            )
        return Consequence(
            PERMITTED,
            f"The attacker is more certain about some {result.people} than the limit of {surer}, but no more often "
            f"right than someone who reads the table: {result.compare()}. The promise limits what the rows show about "
            f"a {result.person}, not what someone makes of them.",
        )
    said = f"{result.compare()}. {_explain_control(finding.residual)}"
    if not result.promises:
        return Consequence(
            PERMITTED, f"No promise is about {result.column}, so nothing limits this: {said} {remedy}".strip()
        )
    if surer:
        said += f" The attacker is also more certain about some {result.people} than the limit of {surer}."
    return Consequence(
        PERMITTED,
        f"{result.limits} limits what the rows show about a {result.person}. What all rows together teach about "
        f"{result.people} is not limited: {said} {remedy}".strip(),
    )


def explain_residual(result: Result, done: str, limits: str, remedy: str = "") -> Consequence:
    """What the three attacks mean that are held against a control group.

    `done` says what was achieved ("of guesses are right"), `limits` what promises have to do with it.
    """
    found = result.finding.residual
    if found is None or not found.is_large_enough:
        return Consequence(UNDECIDED, TOO_FEW)
    said = f"{percent(found.share)} {done}"
    if found.control_share is not None:
        said += f", {percent(found.control_share)} with people who are not in the table"
    if found.baseline is not None:
        said += f", {percent(found.baseline)} without reading the release"
    if not found.low:
        if not result.finding.succeeds:
            return Consequence(NO_GAIN, f"The attacker gains nothing: {said}.")
        if found.control_share is not None:
            return Consequence(NO_GAIN, f"No leak about people in the table shows: {said}.")
    return Consequence(PERMITTED, f"{limits}: {said}. {_explain_control(found)} {remedy}".strip())


def _explain_affected(result: Result, remedy: str) -> Consequence:
    """Of an attack that makes no guesses."""
    if result.finding.n_affected is None:
        return Consequence(UNDECIDED, "This run gives no figure that could be judged.")
    if not result.finding.n_affected:
        return Consequence(NO_GAIN, "The attack affects nobody.")
    about = f"{result.limits} does not rule this out" if result.promises else "No promise is about this"
    return Consequence(PERMITTED, f"{about}: {result.share_of_people()} are affected. {remedy}".strip())


def _explain_control(found: Residual | None) -> str:
    """What a control group says about guesses that are right more often than the baseline."""
    if found is None or found.control_share is None:
        return NEEDS_CONTROL
    if not found.is_large_enough:
        return f"The control group is too small (fewer than {LEAST_GUESSES}) to tell general knowledge from a leak."
    if found.residual is None or found.low is None:
        return "Everything is known about everybody anyway."
    if found.low <= 0:
        return "People who are not in the table are guessed as well, so this is general knowledge, not a leak."
    return (
        f"{percent(found.residual)} of what is not known anyway is learned about people because they are in the table."
    )


def best_baseline(finding: Finding) -> tuple[str, float]:
    """The name of the best baseline, and how often it is right; no name and 0 if there is none."""
    if not finding.baselines:
        return "", 0.0
    name = max(finding.baselines, key=lambda one: finding.baselines[one])
    return name, finding.baselines[name]


def percent(share: float) -> str:
    """
    >>> percent(0.204), percent(0.002), percent(0.999), percent(0)
    ('20 %', 'less than 1 %', 'more than 99 %', '0 %')
    """
    if 0 < share <= 0.005:
        return "less than 1 %"
    if 0.995 <= share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def join_names(names: list[str]) -> str:
    """
    >>> join_names(["age", "sex", "zip code"])
    'age, sex and zip code'
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
