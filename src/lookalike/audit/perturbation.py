"""Perturbed releases: is the matrix a matrix, and was it really used?

The matrix holds whole numbers whose columns sum to a common total, so both tests of it are exact. Whether it was
used is a matter of chance and fails only where an honest draw would look like this less than once in 10^9:
the published counts against the expected ones (chi-square, small cells pooled; draws from a fixed table spread less
than the chi-square law, which errs on the lenient side), and, for rows whose quasi-identifiers are unique, how many
values stayed as they were (Chernoff's bound for a sum of independent draws).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.audit.cells import Ints
from lookalike.audit.reading import Reading
from lookalike.audit.verdicts import Check
from lookalike.errors import counted, quoted
from lookalike.release import Perturbed, Randomizer

SELDOM = 1e-9
_POOLED_BELOW = 5.0


@dataclass(frozen=True, eq=False)
class Redrawn:
    """A redrawn column, counted: enough to tell whether its matrix was used, and counts of parts can be added."""

    column: str
    randomizer: Randomizer
    records: Ints
    """How often records have each value."""
    rows: Ints
    """How often each value is published."""
    n_known: int
    """Rows whose quasi-identifiers are unique, so that anybody with the original knows whose they are."""
    n_kept: int
    """How many of these show the value that their record has."""
    n_expected: float
    """How many of them the matrix lets one expect."""


def redrawings(reading: Reading) -> Iterator[Redrawn]:
    """Of every sensitive column."""
    release = reading.release
    assert isinstance(release, Perturbed)
    mine, theirs = _unique_rows(reading)
    for index, (randomizer, domain) in enumerate(
        zip(release.randomizers, reading.original.domains.sensitive, strict=True)
    ):
        before, published = reading.original.sensitive[mine, index], release.sensitive[:, index]
        stays = np.diag(randomizer.weights).astype(np.float64) / max(float(randomizer.total), 1.0)
        yield Redrawn(
            column=domain.name,
            randomizer=randomizer,
            records=reading.original.counts(index),
            rows=np.bincount(published, minlength=domain.n_codes),
            n_known=len(mine),
            n_kept=int(np.count_nonzero(before == published[theirs])),
            n_expected=float(stays[before].sum()),
        )


def pooled(parts: Sequence[Redrawn]) -> Redrawn:
    """Parts of a column that were redrawn by one matrix, as one."""
    return Redrawn(
        column=parts[0].column,
        randomizer=parts[0].randomizer,
        records=np.sum([part.records for part in parts], axis=0),
        rows=np.sum([part.rows for part in parts], axis=0),
        n_known=sum(part.n_known for part in parts),
        n_kept=sum(part.n_kept for part in parts),
        n_expected=sum(part.n_expected for part in parts),
    )


def matrix_checks(redrawn: Redrawn) -> Iterator[Check]:
    where = quoted(redrawn.column)
    problem = matrix_problem(redrawn.randomizer)
    yield Check(f"matrix of {where}", problem is None, problem or "no entry below 0, every column sums to one")
    if problem is not None:
        return
    chance, detail = _plausible(redrawn.randomizer, redrawn.records, redrawn.rows)
    yield Check(f"matrix used on {where}", chance >= SELDOM, detail)
    if redrawn.n_known:
        chance, detail = _kept_as_often(redrawn)
        yield Check(f"values of {where} redrawn", chance >= SELDOM, detail)


def carried_kept(reading: Reading) -> Check:
    """Carried columns are published as they were."""
    from lookalike.audit.cells import joint_ids_of_two

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

    shares = randomizer.weights.astype(np.float64) / float(randomizer.total)
    expected = shares @ prior.astype(np.float64)
    n_never = int(observed[expected == 0].sum())
    if n_never:
        return 0.0, f"{counted(n_never, 'row')} hold a value that the matrix never draws"
    large = expected >= _POOLED_BELOW
    seen, wanted = observed[large].astype(np.float64), expected[large]
    if not large.all() and expected[~large].sum() >= _POOLED_BELOW:
        seen, wanted = np.append(seen, observed[~large].sum()), np.append(wanted, expected[~large].sum())
    if len(wanted) < 2:
        return 1.0, "too few rows to tell"
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    chance = float(gammaincc((len(wanted) - 1) / 2, statistic / 2))
    return chance, f"chi-square {statistic:.1f} over {len(wanted)} cells, chance {chance:.2g}"


def _unique_rows(reading: Reading) -> tuple[Ints, Ints]:
    """Records and their rows, where no other record or row shares the quasi-identifiers."""
    records, rows = reading.point_of_record, reading.point_of_row
    n_points = reading.n_points
    alone = (np.bincount(records, minlength=n_points) == 1) & (np.bincount(rows, minlength=n_points) == 1)
    mine, theirs = np.flatnonzero(alone[records]), np.flatnonzero(alone[rows])
    return mine[np.argsort(records[mine])], theirs[np.argsort(rows[theirs])]


def _kept_as_often(redrawn: Redrawn) -> tuple[float, str]:
    n_rows, n_kept, wanted = redrawn.n_known, redrawn.n_kept, redrawn.n_expected
    chance = 2 * math.exp(-n_rows * _divergence(n_kept / n_rows, wanted / n_rows))
    return chance, f"{n_kept:,} of {counted(n_rows, 'unique row')} kept their value, {wanted:,.1f} expected"


def _divergence(seen: float, wanted: float) -> float:
    """Kullback-Leibler divergence of two coins, in nats."""
    total = 0.0
    for one, two in ((seen, wanted), (1 - seen, 1 - wanted)):
        if one > 1e-12:
            total += one * math.log(one / two) if two > 1e-12 else math.inf
    return max(total, 0.0)
