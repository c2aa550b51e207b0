"""Perturbed releases: is the matrix a matrix, and was it really used?

The matrix holds whole numbers whose columns sum to a common total, so both tests of it are exact. Whether it was
used is a matter of chance and fails only where an honest draw would look like this less than once in 10^9:
the published counts against the expected ones (chi-square, small cells pooled; draws from a fixed table spread less
than the chi-square law, which errs on the lenient side), and, for rows whose quasi-identifiers are unique, how many
values stayed as they were (Chernoff's bound for a sum of independent draws).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lookalike.audit.cells import Ints
from lookalike.audit.reading import Reading
from lookalike.audit.verdicts import Check
from lookalike.errors import counted, quoted
from lookalike.microdata import Codes
from lookalike.release import Perturbed, Randomizer

SELDOM = 1e-9
_POOLED_BELOW = 5.0


def matrix_checks(reading: Reading) -> Iterator[Check]:
    release = reading.release
    assert isinstance(release, Perturbed)
    known = _unique_rows(reading)
    for index, (randomizer, domain) in enumerate(
        zip(release.randomizers, reading.original.domains.sensitive, strict=True)
    ):
        where = quoted(domain.name)
        problem = _matrix_problem(randomizer)
        yield Check(f"matrix of {where}", problem is None, problem or "no entry below 0, every column sums to one")
        if problem is not None:
            continue
        prior = reading.original.counts(index)
        published = release.sensitive[:, index]
        chance, detail = _plausible(randomizer, prior, np.bincount(published, minlength=domain.n_codes))
        yield Check(f"matrix used on {where}", chance >= SELDOM, detail)
        if len(known[0]):
            before, after = reading.original.sensitive[known[0], index], published[known[1]]
            chance, detail = _kept_as_often(randomizer, before, after)
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


def _matrix_problem(randomizer: Randomizer) -> str | None:
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


def _kept_as_often(randomizer: Randomizer, before: Codes, after: Codes) -> tuple[float, str]:
    stays = np.diag(randomizer.weights).astype(np.float64) / float(randomizer.total)
    n_rows, share = len(before), float(stays[before].mean())
    n_kept = int(np.count_nonzero(before == after))
    chance = 2 * math.exp(-n_rows * _divergence(n_kept / n_rows, share))
    detail = f"{n_kept:,} of {counted(n_rows, 'unique row')} kept their value, {n_rows * share:,.1f} expected"
    return chance, detail


def _divergence(seen: float, wanted: float) -> float:
    """Kullback-Leibler divergence of two coins, in nats."""
    total = 0.0
    for one, two in ((seen, wanted), (1 - seen, 1 - wanted)):
        if one > 1e-12:
            total += one * math.log(one / two) if two > 1e-12 else math.inf
    return max(total, 0.0)
