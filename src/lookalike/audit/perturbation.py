"""Perturbed releases: is the matrix a matrix, and was it really used?

The matrix holds whole numbers whose columns sum to a common total, so both tests of it are exact. Whether it was
used is a matter of chance and fails only where an honest draw would look like this less than once in 10^9:
the published counts against the expected ones (chi-square, small cells pooled; draws from a fixed table spread less
than the chi-square law, which errs on the lenient side), and all rows against the original values of the records with
the same quasi-identifiers (`redrawing`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from lookalike.audit.reading import Ints, Reading, joint_ids_of_two
from lookalike.audit.redrawing import Movement, movement
from lookalike.audit.selecting import Choices
from lookalike.audit.tails import SELDOM, Floats
from lookalike.audit.verdicts import Check
from lookalike.data.release import Perturbed, Randomizer
from lookalike.errors import counted, quoted

_POOLED_BELOW = 5.0
_TOO_FEW = "too few rows to tell"


@dataclass(frozen=True, eq=False)
class Redrawn:
    """A redrawn column, counted: enough to tell whether its matrix was used, and counts of parts can be added."""

    column: str
    randomizer: Randomizer
    records: Ints
    """How often records have each value."""
    rows: Ints
    """How often each value is published."""
    movement: Movement | None
    """What became of the values, class by class; None where the matrix holds no probabilities."""


def redrawings(reading: Reading) -> Iterator[Redrawn]:
    """Of every sensitive column."""
    release, original = reading.release, reading.original
    assert isinstance(release, Perturbed)
    of_records, of_rows = joint_ids_of_two((original.quasi, original.carried), (release.quasi, release.carried))
    choices = Choices(
        [codes[:, at] for codes in (original.quasi, original.carried) for at in range(codes.shape[1])],
        [*original.sensitive.T, *reading.unpublished.values(), np.arange(original.n_rows)],
    )
    for index, (randomizer, domain) in enumerate(zip(release.randomizers, original.domains.sensitive, strict=True)):
        before, published = (codes[:, index].astype(np.int64) for codes in (original.sensitive, release.sensitive))
        usable = matrix_problem(randomizer) is None
        yield Redrawn(
            column=domain.name,
            randomizer=randomizer,
            records=original.counts(index),
            rows=np.bincount(published, minlength=domain.n_codes),
            movement=movement(of_records, of_rows, before, published, _shares(randomizer), choices) if usable else None,
        )


def _shares(randomizer: Randomizer) -> Floats:
    shares: Floats = randomizer.weights.astype(np.float64) / float(randomizer.total)
    return shares


def pool_redrawn(parts: Sequence[Redrawn]) -> Redrawn:
    """Parts of a column that were redrawn by one matrix, as one."""
    movements = [part.movement for part in parts if part.movement is not None]
    return Redrawn(
        column=parts[0].column,
        randomizer=parts[0].randomizer,
        records=np.sum([part.records for part in parts], axis=0),
        rows=np.sum([part.rows for part in parts], axis=0),
        movement=reduce(operator.add, movements) if len(movements) == len(parts) else None,
    )


def matrix_checks(redrawn: Redrawn) -> Iterator[Check]:
    where = quoted(redrawn.column)
    problem = matrix_problem(redrawn.randomizer)
    yield Check(f"matrix of {where}", problem is None, problem or "no entry below 0, every column sums to one")
    if problem is not None:
        return
    chance, detail = _plausible(redrawn.randomizer, redrawn.records, redrawn.rows)
    name = f"matrix used on {where}"
    yield Check(name, chance >= SELDOM, detail) if detail != _TOO_FEW else Check.undecided(name, detail)
    if redrawn.movement is not None:
        yield _check_redrawn(f"values of {where} redrawn", redrawn.movement)


def _check_redrawn(name: str, found: Movement) -> Check:
    """Without figures: how many rows kept their value is what the release promises to hide."""
    if found.chance < SELDOM:
        detail = (
            "given the original values of the rows with the same quasi-identifiers, draws from the matrix look like "
            "the published values with probability below 1e-9. Redraw the values with the matrix that you publish"
        )
        return Check(name, False, detail)
    if found.least >= SELDOM:
        return Check.undecided(
            name, f"too few rows to tell: {counted(found.n_rows, 'row')} do not show the original from a draw"
        )
    return Check(name, True, "rows with the same quasi-identifiers show what draws from the matrix give")


def check_carried(reading: Reading) -> Check:
    """Carried columns are published as they were."""
    records, rows = joint_ids_of_two((reading.original.carried,), (reading.release.carried,))
    size = 1 + int(max(records.max(initial=0), rows.max(initial=0)))
    change = np.bincount(records, minlength=size) - np.bincount(rows, minlength=size)
    n_changed = int(np.abs(change).sum())
    detail = f"{n_changed:,} carried combinations lost or new" if n_changed else "each as often as in the original"
    return Check("carried values kept", n_changed == 0, detail)


def matrix_problem(randomizer: Randomizer) -> str | None:
    """Why these numbers are no probabilities, so that no belief can be worked out from them, or None."""
    weights = randomizer.weights.astype(object)
    n_negative = int(np.count_nonzero(randomizer.weights < 0))
    if n_negative:
        return f"{counted(n_negative, 'entry', 'entries')} below 0"
    if randomizer.total <= 0:
        return "its total is not positive"
    n_wrong = sum(int(total) != randomizer.total for total in weights.sum(axis=0))
    return f"{counted(n_wrong, 'column')} do not sum to one" if n_wrong else None


def _plausible(randomizer: Randomizer, prior: Ints, observed: Ints) -> tuple[float, str]:
    from scipy.special import gammaincc

    expected = _shares(randomizer) @ prior.astype(np.float64)
    n_never = int(observed[expected == 0].sum())
    if n_never:
        return 0.0, f"{counted(n_never, 'row')} hold a value that the matrix never draws"
    large = expected >= _POOLED_BELOW
    seen, wanted = observed[large].astype(np.float64), expected[large]
    if not large.all() and expected[~large].sum() >= _POOLED_BELOW:
        seen, wanted = np.append(seen, observed[~large].sum()), np.append(wanted, expected[~large].sum())
    if len(wanted) < 2:
        return 1.0, _TOO_FEW
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    chance = float(gammaincc((len(wanted) - 1) / 2, statistic / 2))
    return chance, f"chi-square {statistic:.1f} over {len(wanted)} cells, chance {chance:.2g}"
