"""Audits in parts: joined, they say of the whole what an audit of the whole says, honest or not."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.audit import audit_part, join_audits, verify
from lookalike.audit.parts import thin_exposure
from lookalike.audit.verdicts import UNDECIDED
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Whole
from lookalike.data.release import Withheld
from lookalike.errors import RecipeError
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.k_concealment import KConcealment
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.t_closeness import TCloseness
from tests.audit.making import (
    bucketized,
    check,
    grouped,
    matched,
    mixed_table,
    mixing_matrix,
    moved,
    number_table,
    perturbed,
    random_groups,
)
from tests.examples import examples

seeds = st.integers(0, 2**32 - 1)
ABOUT_VALUES = [
    AlphaK(alpha="0.5", k=3),
    LDiversity(2),
    LDiversity(2, kind="distinct"),
    LDiversity(2, kind="entropy"),
    LDiversity(3, kind="entropy"),
    LDiversity(2, kind="recursive", c=2),
    TCloseness("0.3"),
    TCloseness("0.3", distance="kl"),
    TCloseness("0.1", distance="js"),
    BetaLikeness(1, bound="basic"),
    BetaLikeness(1),
    BetaLikeness(2, bound="basic", negative=1),
    BetaLikeness(2, bound="basic", negative="0.9", negative_form="relative"),
    DeltaDisclosure(1),
    FPrivacy(theta=2, base="0.1"),
    RhoPrivacy(rho1="0.4", rho2="0.7"),
]
MODELS = [KAnonymity(3), KConcealment(2), *ABOUT_VALUES]


def promised(column, models=MODELS):
    return [Promise(model, None if model.about_identity else column) for model in models]


def cut(rng, n_rows, n_parts):
    """The part of each record; every part has some."""
    return rng.permutation(np.arange(n_rows) % n_parts)


def part_of(data, records):
    """Some records, as a part that knows the whole."""
    counts = tuple(data.counts(index).astype(np.int64) for index in range(len(data.domains.sensitive)))
    whole = data.whole or Whole(data.n_rows, counts)
    return replace(
        data, quasi=data.quasi[records], sensitive=data.sensitive[records], carried=data.carried[records], whole=whole
    )


def assert_alike(found, wanted):
    """Levels, verdicts and numbers of failures; where several units are the worst, any of them may be named."""
    assert found.passed == wanted.passed, f"{found}\n{wanted}"
    assert (found.form, found.level, found.adversary) == (wanted.form, wanted.level, wanted.adversary)
    assert (found.n_records, found.n_rows) == (wanted.n_records, wanted.n_rows)
    for one, other in zip((*found.verdicts, *found.measured), (*wanted.verdicts, *wanted.measured), strict=True):
        if other.failing_units is None:
            one = replace(one, failing_units=None, failing_records=None)
        assert replace(one, unit_size=other.unit_size) == other
        assert (one.unit_size is None) == (other.unit_size is None)
    # Order is looked at in each part, where there may be too few rows to tell.
    told = {entry.name for entry in (*found.checks, *wanted.checks) if entry.status != UNDECIDED}
    told -= {entry.name for entry in found.checks if entry.status == UNDECIDED and entry.name == "row order"}
    statuses = {entry.name: entry.status for entry in found.checks if entry.name in told}
    wanted_statuses = {entry.name: entry.status for entry in wanted.checks if entry.name in told}
    assert statuses == wanted_statuses | {"parts complete": "passed"}


def ages_apart(data, part_of_record):
    """The same table with their own ages for every part, so that no published class is in two of them."""
    ages = data.quasi[:, 0] * (int(part_of_record.max()) + 1) + part_of_record
    columns = np.column_stack((ages, data.quasi[:, 1]))
    return number_table(columns, data.sensitive[:, 0])


@given(seeds, st.integers(8, 60), st.integers(1, 6), st.integers(1, 5))
@settings(max_examples=examples(60), deadline=None)
def test_grouped(seed, n_rows, size, n_parts):
    rng = np.random.default_rng(seed)
    parts = cut(rng, n_rows, n_parts)
    data = ages_apart(mixed_table(rng, n_rows, missing=False, n_values=3), parts)
    groups = parts + n_parts * rng.integers(0, max(n_rows // (size * n_parts), 1), n_rows)
    groups = np.unique(groups, return_inverse=True)[1]
    release = grouped(data, groups, rng.permutation(n_rows))
    promises = promised("s")
    wanted = verify(data, release, promises, measures=MODELS)
    audits = []
    for number in range(n_parts):
        records = np.flatnonzero(parts == number)
        own = part_of(data, records)
        local = np.unique(groups[records], return_inverse=True)[1]
        audits.append(audit_part(own, grouped(own, local, rng.permutation(len(records))), promises, measures=MODELS))
    found = join_audits(pickle.loads(pickle.dumps(audits)))
    assert_alike(found.audit, wanted)
    assert sum(size * number for size, number in found.sizes.items()) == n_rows
    whole = {len(np.flatnonzero(groups == group)) for group in groups}
    assert min(found.sizes) >= min(whole)


@given(seeds, st.integers(8, 40), st.integers(2, 4))
@settings(max_examples=examples(12), deadline=None)
def test_classes_that_recur_in_another_part_are_never_said_to_hide_more_than_they_do(seed, n_rows, n_parts):
    rng = np.random.default_rng(seed)
    data = number_table(rng.integers(0, 2, (n_rows, 2)), rng.integers(0, 3, n_rows))
    parts, promises = cut(rng, n_rows, n_parts), promised("s")
    audits, groups = [], data.quasi[:, 0]
    for number in range(n_parts):
        own = part_of(data, np.flatnonzero(parts == number))
        local = np.unique(groups[parts == number], return_inverse=True)[1]
        audits.append(audit_part(own, grouped(own, local, rng.permutation(own.n_rows)), promises))
    # The same cells in every part: one class each, wherever its rows are.
    wanted = verify(data, grouped(data, groups, rng.permutation(n_rows)), promises)
    for one, other in zip(join_audits(audits).audit.verdicts, wanted.verdicts, strict=True):
        assert other.passed or not one.passed


@given(seeds, st.integers(8, 60), st.integers(1, 6), st.integers(1, 5))
@settings(max_examples=examples(60), deadline=None)
def test_bucketized(seed, n_rows, size, n_parts):
    rng = np.random.default_rng(seed)
    parts = cut(rng, n_rows, n_parts)
    data = mixed_table(rng, n_rows, n_values=3)
    buckets = np.unique(parts + n_parts * random_groups(rng, n_rows, size * n_parts), return_inverse=True)[1]
    promises = promised("illness")
    release = bucketized(data, buckets, rng.permutation(n_rows), rng.permutation(n_rows))
    audits = []
    for number in range(n_parts):
        records = np.flatnonzero(parts == number)
        own = part_of(data, records)
        orders = rng.permutation(len(records)), rng.permutation(len(records))
        audits.append(audit_part(own, bucketized(own, buckets[records], *orders), promises, measures=MODELS))
    assert_alike(join_audits(audits).audit, verify(data, release, promises, measures=MODELS))


@given(seeds, st.integers(2, 4), st.integers(1, 3), st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_matched(seed, degree, n_parts, with_graph):
    """Blocks in which every record fits every row; parts lie apart, so that nobody fits rows of another part."""
    rng = np.random.default_rng(seed)
    n_blocks = int(rng.integers(1, 3)) * n_parts
    n_rows = n_blocks * degree
    block = np.arange(n_rows) // degree
    data = number_table(np.column_stack((block * 10 + rng.integers(0, 3, n_rows), block)), rng.integers(0, 3, n_rows))
    models = MODELS if with_graph else [KAnonymity(2), KConcealment(2)]

    def published(table, blocks):
        slots = [np.flatnonzero(blocks == mine).tolist() for mine in blocks]
        return matched(table, slots, range(len(blocks)), rng.permutation(len(blocks)))

    release, graph = published(data, block)
    promises = promised("s", models)
    wanted = verify(data, release, promises, measures=MODELS, graph=graph if with_graph else None)
    audits = []
    for number in range(n_parts):
        records = np.flatnonzero(block % n_parts == number)
        own = part_of(data, records)
        release, graph = published(own, block[records])
        given_graph = graph if with_graph else None
        audits.append(audit_part(own, release, promises, measures=MODELS, graph=given_graph))
    found = join_audits(audits)
    if with_graph:
        assert_alike(found.audit, wanted)
        assert found.exposures[None, "possible"].concealed is not None
    else:
        assert [verdict.passed for verdict in found.audit.verdicts] == [verdict.passed for verdict in wanted.verdicts]
        assert [entry.reached for entry in found.audit.measured] == [entry.reached for entry in wanted.measured]


@given(seeds, st.integers(2, 4), st.sampled_from([READS_RELEASE, KNOWS_METHOD]))
@settings(max_examples=examples(40), deadline=None)
def test_perturbed(seed, n_parts, adversary):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, 120, n_values=3, carried=False)
    matrix = mixing_matrix(3, 4, 10)
    promises = promised("illness")
    release = perturbed(rng, data, [matrix], rng.permutation(120))
    wanted = verify(data, release, promises, measures=MODELS, adversary=adversary)
    parts = cut(rng, 120, n_parts)
    audits = []
    for number in range(n_parts):
        own = part_of(data, np.flatnonzero(parts == number))
        made = perturbed(rng, own, [matrix], rng.permutation(own.n_rows))
        audits.append(audit_part(own, made, promises, measures=MODELS, adversary=adversary))
    found = join_audits(audits)
    assert_alike(found.audit, wanted)
    assert found.sizes == {}


@given(seeds, st.integers(1, 40))
@settings(max_examples=examples(25), deadline=None)
def test_what_is_kept_gives_every_level_and_is_little(seed, n_units):
    from tests.models.building import exposure_of

    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (n_units, 4))
    counts[:, 0] += counts.sum(axis=1) == 0
    exposure = exposure_of(counts.tolist(), prior=(counts.sum(axis=0) + 1).tolist())
    kept = thin_exposure(exposure, ABOUT_VALUES)
    for model in ABOUT_VALUES:
        wanted, found = model.level(exposure), model.level(kept)
        assert (found.value, found.detail) == (wanted.value, wanted.detail)
    assert kept.n_units <= min(n_units, 4 + 1 + 2 * len(ABOUT_VALUES))


N_PARTS, SIZE = 3, 100
PROMISES = (Promise(KAnonymity(10)), Promise(LDiversity("1.5"), "illness"))


@pytest.fixture(scope="module")
def parts():
    """Three parts in groups of ten neighbours."""
    rng = np.random.default_rng(20)
    data = mixed_table(rng, N_PARTS * SIZE, carried=False)
    ranked = np.argsort(data.quasi[:, 0], kind="stable")
    made = []
    for number in range(N_PARTS):
        own = part_of(data, rng.permutation(ranked[number * SIZE : (number + 1) * SIZE]))
        groups = np.empty(SIZE, dtype=np.int64)
        groups[np.argsort(own.quasi[:, 0], kind="stable")] = np.arange(SIZE) // 10
        made.append((grouped(own, groups, rng.permutation(SIZE)), own))
    return made


@pytest.fixture(scope="module")
def honest(parts):
    return [audit_part(own, release, PROMISES) for release, own in parts]


class TestPlanted:
    """One thing wrong in one of three honest parts."""

    def found(self, honest, parts, change):
        release, own = parts[1]
        return join_audits([honest[0], audit_part(own, change(release), PROMISES), honest[2]]).audit

    def test_honest_parts_pass_and_are_added_up(self, honest):
        audit = join_audits(honest).audit
        assert audit.passed, str(audit)
        assert check(audit, "number of rows").detail == "300 rows for 300 records"
        assert check(audit, "a row for every record").detail.startswith("300 records can each")
        assert check(audit, "parts complete").detail == "3 parts with every record of the table"
        assert audit.n_rows == audit.n_records == 300

    def test_dropped_row(self, honest, parts):
        audit = self.found(honest, parts, lambda release: moved(release, np.arange(1, SIZE)))
        assert not audit.passed
        assert check(audit, "number of rows").detail == "in 1 of 3 parts: 99 rows for 100 records; 100 wanted"

    def test_narrowed_range(self, honest, parts):
        def narrowed(release):
            ages = release.extents[0]
            highs = np.where(ages.highs > ages.lows, ages.highs - 1, ages.highs)
            return replace(release, extents=(replace(ages, highs=highs), *release.extents[1:]))

        audit = self.found(honest, parts, narrowed)
        assert not audit.passed
        assert check(audit, "a row for every record").detail.startswith("in 1 of 3 parts: ")

    def test_rows_in_the_order_of_the_records(self, honest, parts):
        rng = np.random.default_rng(0)
        own = parts[1][1]
        same = audit_part(own, grouped(own, random_groups(rng, SIZE, 20), np.arange(SIZE)), PROMISES)
        audit = join_audits([honest[0], same, honest[2]]).audit
        assert not check(audit, "row order").passed
        assert not audit.passed

    def test_a_group_that_breaks_a_promise(self, honest, parts):
        rng = np.random.default_rng(0)
        own = parts[1][1]
        groups = np.maximum(np.arange(SIZE) // 4, 5)
        small = audit_part(own, grouped(own, groups, rng.permutation(SIZE)), PROMISES)
        audit = join_audits([honest[0], small, honest[2]]).audit
        verdict = audit.verdicts[0]
        assert (verdict.passed, verdict.reached, verdict.unit_size) == (False, 4, 4)
        assert verdict.failing_units == small.audit.verdicts[0].failing_units > 10
        assert verdict.failing_records == 76
        assert not audit.passed

    def test_code_outside_the_domain(self, honest, parts):
        def outside(release):
            sensitive = release.sensitive.copy()
            sensitive[0, 0] = 99
            return replace(release, sensitive=sensitive)

        audit = self.found(honest, parts, outside)
        assert not audit.passed
        assert not check(audit, "well formed").passed
        assert audit.verdicts[0].detail == "in 1 of 3 parts: not run: the release is not well formed"

    def test_a_part_is_missing_or_doubled(self, honest):
        for some in (honest[:2], [*honest, honest[0]], [honest[0], honest[0], honest[1]]):
            assert not join_audits(some).audit.passed
            assert not check(join_audits(some).audit, "parts complete").passed

    def test_parts_of_different_tables(self, honest, parts):
        release, own = parts[1]
        alone = audit_part(replace(own, whole=None), release, PROMISES)
        audit = join_audits([honest[0], alone, honest[2]]).audit
        assert "different counts" in check(audit, "parts complete").detail

    def test_parts_held_to_different_promises_are_refused(self, honest, parts):
        weaker = audit_part(*parts[1][::-1], [Promise(KAnonymity(2))])
        with pytest.raises(RecipeError, match="same promises"):
            join_audits([honest[0], weaker])
        with pytest.raises(RecipeError, match="no part"):
            join_audits([])

    def test_a_part_of_which_nothing_is_published(self, honest, parts):
        def emptied(release):
            nobody = Withheld((np.bincount(release.sensitive[:, 0], minlength=4),), (np.zeros(4, int),), SIZE, 0)
            return replace(moved(release, np.zeros(0, dtype=int)), withheld=nobody)

        audit = self.found(honest, parts, emptied)
        assert audit.passed, str(audit)
        assert (audit.n_rows, audit.n_suppressed, audit.verdicts[0].reached) == (200, 100, 10)


@pytest.fixture(scope="module")
def noisy():
    """Three parts redrawn by one matrix."""
    rng = np.random.default_rng(5)
    data = mixed_table(rng, 900, n_ages=400, carried=False)
    parts = [part_of(data, np.arange(number, 900, 3)) for number in range(3)]
    return [(perturbed(rng, own, [mixing_matrix(4, 4, 10)], rng.permutation(300)), own) for own in parts]


class TestPerturbedInParts:
    def test_a_matrix_that_was_not_used_in_one_part(self, noisy):
        bare = noisy[0][1]
        order = np.random.default_rng(1).permutation(300)
        same = replace(noisy[0][0], quasi=bare.quasi[order], sensitive=bare.sensitive[order])
        audit = join_audits([audit_part(bare, same, []), *(audit_part(*part[::-1], []) for part in noisy[1:])]).audit
        assert check(audit, 'values of "illness" redrawn').detail.startswith("in 1 of 3 parts")

    def test_what_is_too_little_to_tell_in_a_part_is_plain_in_all(self, noisy):
        """A fifth of the changed values put back, in every part."""
        audits, rng = [], np.random.default_rng(2)
        for release, own in noisy:
            made = perturbed(rng, own, [mixing_matrix(4, 52, 100)], rng.permutation(300))
            audits.append(audit_part(own, replace(made, randomizers=release.randomizers), []))
        assert all(part.audit.passed for part in audits)
        audit = join_audits(audits).audit
        assert not check(audit, 'values of "illness" redrawn').passed
        assert not audit.passed

    def test_parts_with_different_matrices(self, noisy):
        rng = np.random.default_rng(3)
        own = noisy[0][1]
        other = perturbed(rng, own, [mixing_matrix(4, 7, 10)], rng.permutation(300))
        audit = join_audits([audit_part(own, other, []), *(audit_part(*part[::-1], []) for part in noisy[1:])]).audit
        assert check(audit, 'matrix of "illness"').detail == "parts differ in it"

    def test_what_a_row_carries_cannot_be_judged_in_a_part(self):
        rng = np.random.default_rng(3)
        own = part_of(mixed_table(rng, 60), np.arange(30))
        made = perturbed(rng, own, [mixing_matrix(4, 4, 10)], rng.permutation(30))
        verdict = audit_part(own, made, promised("illness", [BetaLikeness(9)])).audit.verdicts[0]
        assert not verdict.passed
        assert "not decided" in verdict.detail
