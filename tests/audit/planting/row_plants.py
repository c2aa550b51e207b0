"""Plants in rows and in what they carry: dropped, doubled, changed, exchanged, moved to another group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.data.release import Bucketized, Grouped, Perturbed
from tests.audit.making import moved
from tests.audit.planting.cases import Case, rebuilt
from tests.audit.planting.catalogue import plant, with_release


def _unbucketed(case: Case, rows: Any) -> Case | None:
    return None if isinstance(case.release, Bucketized) else replace(case, release=moved(case.release, rows))


@plant("row dropped")
def _dropped(rng: np.random.Generator, case: Case) -> Case | None:
    return _unbucketed(case, np.delete(np.arange(case.release.n_rows), rng.integers(case.release.n_rows)))


@plant("row doubled")
def _doubled(rng: np.random.Generator, case: Case) -> Case | None:
    return _unbucketed(case, [*range(case.release.n_rows), rng.integers(case.release.n_rows)])


@plant("row replaced by another")
def _replaced(rng: np.random.Generator, case: Case) -> Case | None:
    rows = np.arange(case.release.n_rows)
    rows[rng.integers(len(rows))] = rng.integers(len(rows))
    return _unbucketed(case, rows)


@plant("bucket row dropped on one side")
def _one_side(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Bucketized):
        return None
    kept = np.delete(np.arange(case.release.n_rows), rng.integers(case.release.n_rows))
    return with_release(
        case,
        sensitive=case.release.sensitive[kept],
        carried=case.release.carried[kept],
        bucket_of_sensitive=case.release.bucket_of_sensitive[kept],
    )


@plant("sensitive value changed")
def _changed(rng: np.random.Generator, case: Case) -> Case | None:
    if isinstance(case.release, Perturbed):
        return None
    sensitive = case.release.sensitive.copy()
    column = int(rng.integers(sensitive.shape[1]))
    n_codes = case.data.domains.sensitive[column].n_codes
    sensitive[rng.integers(len(sensitive)), column] = rng.integers(n_codes)
    return with_release(case, sensitive=sensitive)


@plant("value outside the domain")
def _outside(rng: np.random.Generator, case: Case) -> Case | None:
    sensitive = case.release.sensitive.copy()
    sensitive[rng.integers(len(sensitive)), 0] = case.data.domains.sensitive[0].n_codes
    return with_release(case, sensitive=sensitive)


@plant("sensitive values exchanged")
def _exchanged(rng: np.random.Generator, case: Case) -> Case | None:
    if isinstance(case.release, Perturbed):
        return None
    sensitive = case.release.sensitive.copy()
    one, other = rng.choice(len(sensitive), 2, replace=False)
    sensitive[[one, other]] = sensitive[[other, one]]
    return with_release(case, sensitive=sensitive)


@plant("one of two sensitive columns exchanged")
def _exchanged_in_part(rng: np.random.Generator, case: Case) -> Case | None:
    if isinstance(case.release, Perturbed) or case.release.sensitive.shape[1] < 2:
        return None
    sensitive = case.release.sensitive.copy()
    one, other = rng.choice(len(sensitive), 2, replace=False)
    sensitive[[one, other], 1] = sensitive[[other, one], 1]
    return with_release(case, sensitive=sensitive)


@plant("carried value changed")
def _carried(rng: np.random.Generator, case: Case) -> Case | None:
    n_codes = case.data.domains.carried[0].n_codes if case.release.carried.shape[1] else 0
    if n_codes < 2:
        return None
    carried = case.release.carried.copy()
    row = rng.integers(len(carried))
    carried[row, 0] = (carried[row, 0] + rng.integers(1, n_codes)) % n_codes
    return with_release(case, carried=carried)


@plant("carried values exchanged")
def _carried_exchanged(rng: np.random.Generator, case: Case) -> Case | None:
    # A perturbed row has no value of its own: there, what it carries is found by the counts alone.
    if not case.release.carried.shape[1] or isinstance(case.release, Perturbed):
        return None
    carried = case.release.carried.copy()
    one, other = rng.choice(len(carried), 2, replace=False)
    carried[[one, other]] = carried[[other, one]]
    return with_release(case, carried=carried)


@plant("row moved to another group")
def _row_moved(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Grouped):
        return None
    groups = case.release.group_of_row.copy()
    groups[rng.integers(len(groups))] = rng.choice(groups)
    return with_release(case, group_of_row=groups)


@plant("record moved to another group, truly")
def _record_moved(rng: np.random.Generator, case: Case) -> Case | None:
    if case.unit_of_record is None or case.release.withheld.n_suppressed or case.release.withheld.n_dummies:
        return None
    groups = np.array(case.unit_of_record)
    groups[rng.integers(len(groups))] = rng.choice(groups)
    return replace(case, release=rebuilt(case, groups, rng))


@plant("records of two groups exchanged, truly")
def _records_exchanged(rng: np.random.Generator, case: Case) -> Case | None:
    if case.unit_of_record is None or case.release.withheld.n_suppressed or case.release.withheld.n_dummies:
        return None
    groups = np.array(case.unit_of_record)
    one, other = rng.choice(len(groups), 2, replace=False)
    groups[[one, other]] = groups[[other, one]]
    return replace(case, release=rebuilt(case, groups, rng))
