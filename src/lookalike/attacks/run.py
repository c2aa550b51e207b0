"""What known attacks achieve on a target: every attack that applies, and what the promises say about its
probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from lookalike.attacks import ATTACKS
from lookalike.attacks.shared.attack import COUNTS_ROWS, SYNTHETIC_ROWS
from lookalike.attacks.shared.consequence import Consequence, Result, explain_guesses
from lookalike.data.contracts import Attack, Finding, Residual, Target
from lookalike.errors import MissingPart, RecipeError
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Attacked:
    """What one attack achieved, and how far the promises hold against its probabilities."""

    finding: Finding
    kept: dict[str, tuple[str, bool]]
    """For each promise about the column: the level that the attacker's probabilities reach, and whether it is
    still kept.
    """
    consequence: Consequence
    """What this means to the person who signs the release."""

    def to_plain(self) -> dict[str, Any]:
        finding, score = self.finding, self.finding.score
        return {
            "attack": finding.attack,
            "column": finding.column,
            "sentence": finding.sentence,
            "accuracy": None if score is None else score.share,
            "interval": None if score is None else list(score.interval),
            "guesses": None if score is None else score.n_guesses,
            "baselines": finding.baselines,
            "succeeds": finding.succeeds,
            "affected": finding.n_affected,
            "figures": finding.figures,
            **_plain_control(finding),
            "means_for_signing": {"word": self.consequence.word, "sentence": self.consequence.sentence},
            "promises": {name: {"reached": level, "kept": kept} for name, (level, kept) in self.kept.items()},
        }


def _plain_control(finding: Finding) -> dict[str, Any]:
    """The guesses beside those about a control group; without such a run, what was guessed of people in the table."""
    found, score = finding.residual, finding.score
    if found is None and score is not None:
        baseline = max(finding.baselines.values(), default=None)
        found = Residual(n=score.n_guesses, right=score.n_right, baseline=baseline)
    return dict.fromkeys(Residual(n=0, right=0).to_plain()) if found is None else found.to_plain()


@dataclass(frozen=True)
class Attacks:
    """The attacks made on a release, and the others: each with its reason."""

    made: tuple[Attacked, ...]
    not_run: dict[str, str] = field(default_factory=dict)
    """Attacks that apply to such a release and were not made: too large a table, or something that is not given."""
    not_applicable: dict[str, str] = field(default_factory=dict)
    """Attacks that say nothing about such a release: its form, its columns or its promises."""
    not_asked: tuple[str, ...] = ()
    """Attacks that were not asked for."""
    notes: tuple[str, ...] = ()
    """What to say about the control group, and about the protocol."""

    @property
    def not_made(self) -> dict[str, str]:
        """All that were asked for and could not be made, with the reason."""
        return {**self.not_run, **self.not_applicable}

    def to_plain(self) -> dict[str, Any]:
        return {
            "attacks": [attacked.to_plain() for attacked in self.made],
            "not_run": self.not_run,
            "not_applicable": self.not_applicable,
            "not_asked": list(self.not_asked),
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def list_not_made(self) -> list[str]:
        """What was not made, and why, one line each."""
        return [
            *(f"Not run: {name}. {as_sentence(reason)}" for name, reason in self.not_run.items()),
            *(f"Not applicable: {name}. {as_sentence(reason)}" for name, reason in self.not_applicable.items()),
            *([f"Not run, because not asked for: {', '.join(self.not_asked)}."] if self.not_asked else []),
        ]

    def __str__(self) -> str:
        lines = []
        for attacked in self.made:
            finding = attacked.finding
            verdict = {True: "succeeds", False: "no gain", None: "measured"}[finding.succeeds]
            lines.append(f"{finding.attack} ({verdict}): {finding.sentence}")
            broken = [f"{name} (reached {level})" for name, (level, kept) in attacked.kept.items() if not kept]
            if broken:
                lines.append(f"  Against these probabilities the release does not keep {', '.join(broken)}.")
            lines.append(f"  {attacked.consequence}")
        lines += self.list_not_made()
        lines += self.notes
        return "\n".join(lines)


def attack_target(
    target: Target,
    attacks: Sequence[Attack],
    rng: Randomness,
    progress: Progress = silent,
    too_slow: Mapping[str, str] = MappingProxyType({}),
) -> Attacks:
    """Every attack that applies. One that was asked for by name and does not apply is an error.

    `too_slow`: attacks that are not made by default, by name, with the reason.
    """
    asked = bool(attacks)
    made: list[Attacked] = []
    not_run: dict[str, str] = {}
    not_applicable: dict[str, str] = {}
    chosen = list(attacks) or [kind() for kind in ATTACKS.values()]
    for place, one in enumerate(chosen):
        reason = _refuse_rows(one, target) or one.refuses(target)
        if reason is not None:
            if asked and len(chosen) == 1:
                raise RecipeError(f"{one} cannot be made on this release: {reason}")
            lacking = getattr(one, "lacks", None)
            kind = not_applicable if lacking is None or lacking(target) != reason else not_run
            kind[str(one)] = reason
            continue
        if not asked and one.name in too_slow:
            not_run[str(one)] = too_slow[one.name]
            continue
        progress("attack", place / len(chosen), str(one))
        try:
            findings = one.run(target, rng.child(str(one)), silent)
        except MissingPart as missing:
            if asked and len(chosen) == 1:
                raise
            not_run[str(one)] = str(missing)
            continue
        made += [_judge(one, target, finding) for finding in findings]
    progress("attack", 1.0)
    named = {one.name for one in chosen}
    return Attacks(tuple(made), not_run, not_applicable, tuple(name for name in ATTACKS if name not in named))


def as_sentence(reason: str) -> str:
    """
    >>> as_sentence("the table has no sensitive column")
    'The table has no sensitive column.'
    """
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"


def _judge(attack: Attack, target: Target, finding: Finding) -> Attacked:
    kept = _judge_promises(target, finding)
    result = Result(finding, target, kept)
    # An attack of another's own need not have the base of ours.
    explain = getattr(attack, "explain", None)
    return Attacked(finding, kept, explain_guesses(result, attack.remedy) if explain is None else explain(result))


def _refuse_rows(attack: Attack, target: Target) -> str | None:
    """Why an attack that says nothing about persons cannot be made where they have several rows, or None."""
    if target.synthetic and not getattr(attack, "looks_for_no_row", False):
        return SYNTHETIC_ROWS
    knows_persons = hasattr(attack, "refuses_persons")
    return None if target.original.persons is None or knows_persons else COUNTS_ROWS


def _judge_promises(target: Target, finding: Finding) -> dict[str, tuple[str, bool]]:
    if finding.exposure is None or finding.column is None:
        return {}
    found = {}
    for promise in target.promises:
        if promise.column == finding.column:
            level = promise.model.level(finding.exposure)
            number = float(level.value)
            shown = f"{promise.model.letter} {'infinite' if math.isinf(number) else f'{number:.4g}'}"
            found[str(promise)] = (shown, promise.model.holds(level))
    return found
