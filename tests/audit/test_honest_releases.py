"""Honest releases of random tables pass every check, in all four forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.audit import verify
from lookalike.audit.reading import Reading
from lookalike.data.contracts import Promise
from lookalike.data.release import Withheld
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from tests.audit.making import (
    bucketized,
    check,
    grouped,
    mixed_table,
    mixing_matrix,
    moved,
    perturbed,
    random_groups,
    ring,
)
from tests.examples import examples

seeds = st.integers(0, 2**32 - 1)
K1 = [Promise(KAnonymity(1))]


@given(seeds, st.integers(1, 60), st.integers(1, 8), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_grouped(seed, n_rows, size, missing):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows, missing=missing)
    size = min(size, n_rows)
    release = grouped(data, random_groups(rng, n_rows, size), rng.permutation(n_rows))
    audit = verify(data, release, [Promise(KAnonymity(size))])
    assert audit.passed, str(audit)
    assert audit.level == "group"


@given(seeds, st.integers(4, 40), st.integers(1, 4))
@settings(max_examples=examples(40), deadline=None)
def test_matched(seed, n_rows, degree):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows)
    release, graph = ring(rng, data, degree)
    audit = verify(data, release, [Promise(KAnonymity(degree))], graph=graph)
    assert audit.passed, str(audit)
    assert audit.level == "A"
    assert check(audit, "level B").passed
    without = verify(data, release, [Promise(KAnonymity(degree))])
    assert without.level == "B"
    # Where ranges leave no choice of a graph, at least as many rows look alike as the graph has at a record.
    assert without.passed or without.verdicts[0].is_open, str(without)
    assert without.passed == (Reading(release, data).blocks is not None)
    assert "did NOT PASS" in str(without) or without.passed


@given(seeds, st.integers(1, 60), st.integers(1, 8))
@settings(max_examples=examples(60), deadline=None)
def test_bucketized(seed, n_rows, size):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows, n_ages=int(rng.integers(1, 30)))
    buckets = random_groups(rng, n_rows, size)
    release = bucketized(data, buckets, rng.permutation(n_rows), rng.permutation(n_rows))
    audit = verify(data, release, K1)
    assert audit.passed, str(audit)


@given(seeds, st.integers(1, 200))
@settings(max_examples=examples(40), deadline=None)
def test_perturbed(seed, n_rows):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows)
    n_codes = data.domains.sensitive[0].n_codes
    if n_codes < 2:
        return
    matrix = mixing_matrix(n_codes, 12 + 6 * int(rng.integers(0, 5)), 12 + 6 * 6 * (n_codes - 1) + 6 * 4)
    audit = verify(data, perturbed(rng, data, [matrix], rng.permutation(n_rows)), [])
    assert audit.passed, str(audit)


@given(seeds, st.integers(6, 40))
@settings(max_examples=examples(40), deadline=None)
def test_declared_suppression(seed, n_rows):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows)
    release = grouped(data, random_groups(rng, n_rows, 3), rng.permutation(n_rows))
    gone = rng.choice(n_rows, 2, replace=False)
    kept = np.setdiff1d(np.arange(n_rows), gone)
    n_codes = data.domains.sensitive[0].n_codes
    counts = np.bincount(release.sensitive[gone, 0], minlength=n_codes)
    short = moved(release, kept)
    declared = replace(short, withheld=Withheld((counts,), (np.zeros(n_codes, dtype=np.int64),), 2, 0))
    assert verify(data, declared, K1).passed
    undeclared = verify(data, short, K1)
    assert not undeclared.passed
    assert not check(undeclared, "number of rows").passed
    misdeclared = replace(declared, withheld=replace(declared.withheld, suppressed=(np.roll(counts, 1),)))
    assert verify(data, misdeclared, K1).passed == bool((np.roll(counts, 1) == counts).all())


def test_declared_dummies_count_if_they_look_like_any_row():
    rng = np.random.default_rng(8)
    data = mixed_table(rng, 30)
    release = grouped(data, random_groups(rng, 30, 3), rng.permutation(30))
    n_codes = data.domains.sensitive[0].n_codes
    longer = moved(release, [*range(30), 0])
    counts = np.bincount(release.sensitive[:1, 0], minlength=n_codes)
    withheld = Withheld(n_dummies=1, indistinguishable=True)
    assert verify(data, replace(longer, withheld=withheld), K1).passed
    told = verify(data, replace(longer, withheld=Withheld((), (counts,), 0, 1)), K1)
    assert not told.passed
    assert not check(told, "rows made up").passed
    by_value = verify(data, replace(longer, withheld=replace(withheld, dummies=(counts,))), K1)
    assert not check(by_value, "rows made up").passed
    assert "a reader takes them away" in check(by_value, "rows made up").detail
    by_everybody = verify(data, replace(longer, withheld=withheld), K1, adversary="knows-method")
    assert not check(by_everybody, "rows made up").passed


def test_dummies_with_a_value_of_their_own_are_set_aside():
    from tests.audit.making import number_table

    # The domain has value 9 through a record that is then declared the only one suppressed: prior 0 is what matters.
    data = number_table([[0], [0], [1], [1]], [0, 1, 0, 1])
    domain = data.domains.sensitive[0]
    wider = replace(domain, values=np.append(domain.values, 9))
    data = replace(data, domains=replace(data.domains, sensitive=(wider,)))
    release = grouped(data, [0, 0, 1, 1], [2, 0, 3, 1])
    fake = moved(release, [0, 1, 2, 3, 0])
    sensitive = fake.sensitive.copy()
    sensitive[4, 0] = 2
    withheld = Withheld((np.zeros(3, dtype=np.int64),), (np.array([0, 0, 1]),), 0, 1)
    audit = verify(data, replace(fake, sensitive=sensitive, withheld=withheld), [Promise(KAnonymity(3))])
    assert check(audit, "rows made up").passed
    assert audit.verdicts[0].reached == 2
    assert audit.verdicts[0].failing_units == 2
    assert audit.verdicts[0].failing_records == 4


def test_verdicts_say_what_is_reached_and_where():
    from tests.audit.making import number_table

    data = number_table([[0], [0], [0], [1], [1]], [0, 1, 2, 0, 0])
    release = grouped(data, [0, 0, 0, 1, 1], [4, 2, 0, 3, 1])
    audit = verify(
        data, release, [Promise(KAnonymity(2)), Promise(LDiversity(2), "s")], measures=[LDiversity(2, kind="distinct")]
    )
    first, second = audit.verdicts
    assert first.passed
    assert (first.reached, first.unit_size) == (2, 2)
    assert not second.passed
    assert (second.reached, second.failing_units, second.failing_records) == (1, 1, 2)
    assert [(entry.reached, entry.passed, entry.column) for entry in audit.measured] == [(1, None, "s")]
    assert not audit.passed


def exact_cells_with_made_up_rows(rng, n_made, value_of):
    """Everybody's exact cells, and rows made up beside each person."""
    from tests.audit.making import number_table

    n_rows = 120
    data = number_table(np.arange(n_rows)[:, None], np.arange(n_rows) % 5)
    release = moved(grouped(data, np.arange(n_rows), np.arange(n_rows)), np.repeat(np.arange(n_rows), 1 + n_made))
    sensitive = release.sensitive.copy()
    for row in range(len(sensitive)):
        if row % (1 + n_made):
            sensitive[row, 0] = value_of(int(sensitive[row, 0]))
    withheld = Withheld(n_dummies=n_made * n_rows, indistinguishable=True)
    return moved(replace(release, sensitive=sensitive, withheld=withheld), rng.permutation(len(sensitive))), data


def test_people_do_not_hide_among_made_up_rows_that_outnumber_them():
    rng = np.random.default_rng(1)
    release, data = exact_cells_with_made_up_rows(rng, 4, lambda value: value)
    found = check(verify(data, release, [Promise(KAnonymity(5))]), "rows made up")
    assert not found.passed
    assert "480 rows made up for 120 records" in found.detail


def test_made_up_rows_with_values_of_their_own_kind_are_noticed():
    rng = np.random.default_rng(2)
    release, data = exact_cells_with_made_up_rows(rng, 1, lambda value: 0)
    assert "differ from those of records" in check(verify(data, release, K1), "rows made up").detail
    release, data = exact_cells_with_made_up_rows(rng, 1, lambda value: int(rng.integers(5)))
    assert check(verify(data, release, K1), "rows made up").passed


def test_a_made_up_record_may_lack_a_value_where_every_record_has_one():
    from tests.audit.making import number_table

    data = number_table([[0], [0], [1], [1]], [0, 1, 0, 1])
    lacking = replace(data.domains.sensitive[0], has_missing=True)
    release = moved(grouped(data, [0, 0, 1, 1], [2, 0, 3, 1]), [0, 1, 2, 3, 0])
    sensitive = release.sensitive.copy()
    sensitive[4, 0] = lacking.missing_code
    made = replace(
        release,
        domains=replace(data.domains, sensitive=(lacking,)),
        sensitive=sensitive,
        withheld=Withheld((), (np.array([0, 0, 1]),), 0, 1),
    )
    audit = verify(data, made, [Promise(KAnonymity(2))])
    assert audit.passed, str(audit)
    assert "1 row made up with values that no record has" in check(audit, "rows made up").detail
    assert not verify(data, replace(made, withheld=Withheld()), K1).passed
