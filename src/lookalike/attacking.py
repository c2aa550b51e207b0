"""What known attacks achieve on a release: every attack that applies, and what the promises say about its beliefs.

import lookalike as la
print(la.attack("patients.csv", "release"))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.algorithms import parse_algorithm
from lookalike.attacks import ATTACKS, parse_attack
from lookalike.audit import verify as audit_release
from lookalike.contracts import Algorithm, Attack, Finding, Target
from lookalike.errors import DataError, RecipeError
from lookalike.pipeline import settle
from lookalike.progress import Progress, silent
from lookalike.publication import Reopened, reopen
from lookalike.randomness import Randomness
from lookalike.schema import Schema


@dataclass(frozen=True)
class Attacked:
    """What one attack achieved, and how far the promises hold against its beliefs."""

    finding: Finding
    kept: dict[str, tuple[str, bool]]
    """For each promise about the column: the level that the attacker's beliefs reach, and whether it is still kept."""

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
            "promises": {name: {"reached": level, "kept": kept} for name, (level, kept) in self.kept.items()},
        }


@dataclass(frozen=True)
class Attacks:
    """The attacks made on a release, and those that could not be made, with the reason."""

    made: tuple[Attacked, ...]
    not_made: dict[str, str]

    def to_plain(self) -> dict[str, Any]:
        return {"attacks": [attacked.to_plain() for attacked in self.made], "not_made": self.not_made}

    def __str__(self) -> str:
        lines = []
        for attacked in self.made:
            finding = attacked.finding
            verdict = {True: "succeeds", False: "no gain", None: "measured"}[finding.succeeds]
            lines.append(f"{finding.attack} ({verdict}): {finding.sentence}")
            broken = [f"{name} (reached {level})" for name, (level, kept) in attacked.kept.items() if not kept]
            if broken:
                lines.append(f"  Against these beliefs the release does not keep {', '.join(broken)}.")
        lines += [f"{name}: not made. {reason}" for name, reason in self.not_made.items()]
        return "\n".join(lines)


def attack(
    original: Any,
    release: str | Path,
    *,
    attacks: Iterable[Attack | str] = (),
    others: Sequence[str | Path] = (),
    private: str | Path | None = None,
    schema: Schema | str | Path | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Attacks:
    """Make attacks on a release folder, or on a table of another tool; all that apply if none is named.

    `others` are further releases of the same original, for attacks that combine them; `private` is the PRIVATE folder
    of a matched release, for attacks that assume a leak of it.
    """
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    reopened = reopen(original, release, loaded, progress=progress, **reading)
    target = target_of(reopened, release, others=others, private=private, original=original, schema=loaded)
    chosen = [parse_attack(one) if isinstance(one, str) else one for one in attacks]
    return attack_target(target, chosen, Randomness(seed), progress)


def target_of(
    reopened: Reopened,
    release: str | Path,
    *,
    others: Sequence[str | Path] = (),
    private: str | Path | None = None,
    original: Any = None,
    schema: Schema | None = None,
) -> Target:
    """A release that was read back as a target, once it is certain that it belongs to the original."""
    checks = audit_release(reopened.release, reopened.data, ()).checks
    failed = [check for check in checks if check.blocks and check.name != "row order"]
    if failed:
        raise DataError(
            f"{release} does not belong to this original, or was changed: {failed[0].name}, {failed[0].detail}. Name "
            "the table that the release was made from."
        )
    graph = None
    if private is not None:
        from lookalike.packages.private import read_graph

        graph = read_graph(Path(private))
    return Target(
        release=reopened.release,
        original=reopened.data,
        promises=settle(reopened.promises, reopened.data) if reopened.promises else (),
        algorithm=_algorithm(release),
        graph=graph,
        others=tuple(reopen(original, other, schema).release for other in others),
    )


def attack_target(target: Target, attacks: Sequence[Attack], rng: Randomness, progress: Progress = silent) -> Attacks:
    """Every attack that applies. One that was asked for by name and does not apply is an error."""
    asked = bool(attacks)
    made: list[Attacked] = []
    not_made: dict[str, str] = {}
    chosen = list(attacks) or [kind() for kind in ATTACKS.values()]
    for place, one in enumerate(chosen):
        reason = one.refuses(target)
        if reason is not None:
            if asked and len(chosen) == 1:
                raise RecipeError(f"{one} cannot be made on this release: {reason}")
            not_made[str(one)] = reason
            continue
        progress("attack", place / len(chosen), str(one))
        made += [Attacked(finding, _kept(target, finding)) for finding in one.run(target, rng.child(str(one)), silent)]
    progress("attack", 1.0)
    return Attacks(tuple(made), not_made)


def _kept(target: Target, finding: Finding) -> dict[str, tuple[str, bool]]:
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


def _algorithm(release: str | Path) -> Algorithm | None:
    """The method that a release folder names; None for tables of other tools and methods of other versions."""
    from lookalike.packages.folder import read_manifest
    from lookalike.packages.reading import release_folder

    folder = release_folder(Path(release))
    if folder is None:
        return None
    try:
        return parse_algorithm(read_manifest(folder).algorithm)
    except RecipeError:
        return None
