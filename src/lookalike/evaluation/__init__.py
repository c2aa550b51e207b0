"""How good a release is and what it withstands, held against its original.

    attacked    what known attacks achieve
    answering   how near it answers queries
    fidelity    what distributions, and machines that learn, have left of the original
    tradeoff    what a stronger or a weaker promise would cost

`evaluate` does all of it within limits: what would take minutes on a large table is left out, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.attacks import ATTACKS, FAST
from lookalike.contracts import Target
from lookalike.evaluation.answering import Answered, answered
from lookalike.evaluation.attacked import Attacks, attack_target
from lookalike.evaluation.fidelity import Fidelity, compare
from lookalike.evaluation.tradeoff import Tradeoff, tradeoff
from lookalike.pipeline import Outcome
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

__all__ = ["Evaluation", "evaluate"]

MOST_RECORDS = 20_000
"""Of more records only the attacks that are fast are made, and fidelity is left out."""


@dataclass(frozen=True)
class Evaluation:
    """What was found. All of it is about the original as well: see `report` for how much of that is published."""

    attacks: Attacks
    answers: tuple[Answered, ...]
    fidelity: Fidelity | None
    tradeoff: Tradeoff | None
    left_out: tuple[str, ...]
    """What was not done, and what to do about it."""


def evaluate(outcome: Outcome, progress: Progress = silent) -> Evaluation:
    """Attacks, queries, fidelity and trade-off of a release in memory.

    Its randomness is the operating system's whatever the recipe's seed: nothing here can help to find that seed.
    """
    data, release, rng = outcome.data, outcome.release, Randomness()
    target = Target(release=release, original=data, promises=outcome.promises, algorithm=outcome.algorithm)
    left_out = []
    chosen = [kind() for name, kind in ATTACKS.items() if data.n_rows <= MOST_RECORDS or name in FAST]
    if len(chosen) < len(ATTACKS):
        names = ", ".join(name for name in ATTACKS if name not in FAST)
        left_out.append(
            f"The table has more than {MOST_RECORDS:,} records, so attacks that take minutes were not made for this "
            f"report ({names}); lookalike attack makes them."
        )
    attacks = attack_target(target, chosen, rng.child("attacks"), progress)
    answers = answered(release, data, np.random.default_rng(int(rng.child("queries").words(1)[0])), progress)
    compared = None
    if data.n_rows <= MOST_RECORDS:
        compared = compare(release, data, progress=progress)
        left_out += compared.notes
    else:
        left_out.append(
            "Predictions and distributions were not compared, for the same reason; lookalike fidelity does."
        )
    around = tradeoff(data, outcome.promises, outcome.algorithm, outcome.adversary, rng.child("tradeoff"), progress)
    if len(around.settings) < 2:
        left_out.append("No stronger or weaker promise could be made to compare with.")
    return Evaluation(
        attacks=attacks,
        answers=tuple(answers),
        fidelity=compared,
        tradeoff=around if len(around.settings) > 1 else None,
        left_out=tuple(left_out),
    )
