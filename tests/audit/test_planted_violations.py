"""Releases with one thing wrong: every one is caught, by the check that is there for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.data.release import MatchGraph, Randomizer, Ranges, Withheld
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from tests.audit.making import (
    bucketized,
    check,
    grouped,
    mixed_table,
    mixing_matrix,
    moved,
    number_table,
    perturbed,
    ring,
)

N_ROWS = 300


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def data(rng):
    return mixed_table(rng, N_ROWS, carried=False)


@pytest.fixture
def cells(rng, data):
    """Groups of neighbours by age, so that most records fit one group only."""
    ranked = np.argsort(data.quasi[:, 0], kind="stable")
    groups = np.empty(N_ROWS, dtype=np.int64)
    groups[ranked] = np.arange(N_ROWS) // 10
    release = grouped(data, groups, rng.permutation(N_ROWS))
    assert verify(data, release, [Promise(KAnonymity(10))]).passed
    return release


def failed(release, data, name, **more):
    audit = verify(data, release, [], **more)
    assert not audit.passed
    found = check(audit, name)
    assert not found.passed
    return found


def with_value(release, row, value):
    sensitive = release.sensitive.copy()
    sensitive[row, 0] = value
    return replace(release, sensitive=sensitive)


class TestGrouped:
    def test_dropped_row(self, cells, data):
        assert "299 rows for 300 records" in failed(moved(cells, np.arange(1, N_ROWS)), data, "number of rows").detail

    def test_doubled_row(self, cells, data):
        failed(moved(cells, [*range(N_ROWS), 0]), data, "number of rows")

    def test_doubled_row_in_place_of_another(self, cells, data):
        first = int(cells.sensitive[0, 0])
        other = int(np.flatnonzero(cells.sensitive[:, 0] != first)[0])
        rows = np.arange(N_ROWS)
        rows[other] = 0
        failed(moved(cells, rows), data, "values kept")

    def test_doubled_row_in_place_of_another_with_the_same_value(self, cells, data):
        mates = np.flatnonzero((cells.sensitive == cells.sensitive[0]).all(axis=1))
        far = max(mates, key=lambda row: abs(int(cells.group_of_row[row]) - int(cells.group_of_row[0])))
        rows = np.arange(N_ROWS)
        rows[far] = 0
        assert "1 record of 300" in failed(moved(cells, rows), data, "a row for every record").detail

    def test_values_swapped_between_groups(self, cells, data):
        groups, values = cells.group_of_row, cells.sensitive[:, 0]
        other = next(row for row in range(N_ROWS) if abs(groups[row] - groups[0]) > 10 and values[row] != values[0])
        sensitive = cells.sensitive.copy()
        sensitive[[0, other]] = sensitive[[other, 0]]
        swapped = replace(cells, sensitive=sensitive)
        assert check(verify(data, swapped, []), "values kept").passed
        assert "of 300" in failed(swapped, data, "a row for every record").detail

    def test_changed_value(self, cells, data):
        failed(with_value(cells, 0, (cells.sensitive[0, 0] + 1) % 4), data, "values kept")

    def test_narrowed_range(self, cells, data):
        ages = cells.extents[0]
        highs = ages.highs.copy()
        wide = int(np.flatnonzero(ages.highs > ages.lows)[0])
        highs[wide] -= 1
        narrow = replace(cells, extents=(replace(ages, highs=highs), *cells.extents[1:]))
        failed(narrow, data, "a row for every record")

    def test_moved_range(self, cells, data):
        ages = cells.extents[0]
        shifted = replace(ages, lows=ages.lows + 1, highs=ages.highs + 1)
        failed(replace(cells, extents=(shifted, *cells.extents[1:])), data, "a row for every record")

    def test_missing_value_left_out_of_its_cell(self, cells, data):
        ages = cells.extents[0]
        assert ages.missing.any()
        silent = replace(ages, missing=np.zeros_like(ages.missing))
        found = failed(replace(cells, extents=(silent, *cells.extents[1:])), data, "a row for every record")
        n_missing = int((data.quasi[:, 0] == data.domains.quasi[0].missing_code).sum())
        assert f"{n_missing} record" in found.detail

    def test_value_left_out_of_a_set(self, cells, data):
        jobs = cells.extents[1]
        group = int(np.flatnonzero(jobs.sizes > 1)[0])
        members = np.delete(jobs.members, jobs.starts[group])
        starts = jobs.starts - (np.arange(len(jobs.starts)) > group)
        lacking = replace(
            cells, extents=(cells.extents[0], replace(jobs, starts=starts, members=members), cells.extents[2])
        )
        failed(lacking, data, "a row for every record")

    def test_taxonomy_node_too_low(self, cells, data):
        colours = cells.extents[2]
        wide = colours.lows == 0
        assert wide.any()
        lowered = replace(colours, highs=np.where(wide, 1, colours.highs).astype(np.int32))
        failed(replace(cells, extents=(*cells.extents[:2], lowered)), data, "a row for every record")

    def test_record_moved_to_another_group(self, cells, data):
        groups = cells.group_of_row.copy()
        groups[0] = (groups[0] + 15) % 30
        failed(replace(cells, group_of_row=groups), data, "a row for every record")

    def test_carried_values_swapped(self, rng):
        data = mixed_table(rng, 200)
        ranked = np.argsort(data.quasi[:, 0], kind="stable")
        groups = np.empty(200, dtype=np.int64)
        groups[ranked] = np.arange(200) // 5
        release = grouped(data, groups, rng.permutation(200))
        assert verify(data, release, []).passed
        carried = release.carried.copy()
        other = next(row for row in range(200) if carried[row, 0] != carried[0, 0])
        carried[[0, other]] = carried[[other, 0]]
        assert not verify(data, replace(release, carried=carried), []).passed

    def test_code_outside_the_domain(self, cells, data):
        audit = verify(data, with_value(cells, 0, 99), [Promise(KAnonymity(1))])
        assert not check(audit, "well formed").passed
        assert audit.verdicts[0].passed is False
        assert len(audit.checks) == 1

    def test_other_columns(self, cells, data):
        domains = replace(data.domains, quasi=data.domains.quasi[::-1])
        failed(replace(cells, domains=domains), data, "well formed")

    def test_group_numbers_cannot_hide_a_small_class(self, rng):
        data = number_table([[0], [0], [5], [5], [5], [5]], [0, 1, 0, 1, 0, 1])
        release = grouped(data, [0, 0, 1, 1, 1, 1], rng.permutation(6))
        split = replace(
            release,
            extents=tuple(Ranges(*(getattr(cell, name)[[0, 1, 1]] for name in vars(cell))) for cell in release.extents),
            group_of_row=np.where(
                np.cumsum(release.group_of_row) > 2, release.group_of_row * 2, release.group_of_row
            ).astype(np.int32),
        )
        for stored in (release, split):
            verdict = verify(data, stored, [Promise(KAnonymity(3))]).verdicts[0]
            assert (verdict.reached, verdict.passed, verdict.failing_units) == (2, False, 1)

    def test_withheld_counts_that_do_not_add_up(self, cells, data):
        zeros = np.zeros(4, dtype=np.int64)
        short = replace(moved(cells, np.arange(1, N_ROWS)), withheld=Withheld((zeros,), (zeros,), 1, 0))
        assert check(verify(data, short, []), "number of rows").passed
        failed(short, data, "values kept")


class TestMatched:
    @pytest.fixture
    def ringed(self, rng, data):
        release, graph = ring(rng, data, 4)
        assert verify(data, release, [Promise(KAnonymity(4))], graph=graph).passed
        return release, graph

    def test_graph_not_regular(self, ringed, data):
        release, graph = ringed
        starts = graph.starts.copy()
        starts[1:] -= 1
        failed(release, data, "graph regular", graph=MatchGraph(starts, graph.rows[1:]))

    def test_edge_outside_the_ranges(self, ringed, data):
        release, graph = ringed
        rows = graph.rows.copy()
        far = int(np.argmax(np.abs(release.extents[0].lows - data.quasi[0, 0])))
        rows[0] = far
        failed(release, data, "graph within the ranges", graph=MatchGraph(graph.starts, rows))

    def test_doubled_edge(self, ringed, data):
        release, graph = ringed
        rows = graph.rows.copy()
        rows[0] = rows[1]
        failed(release, data, "graph well formed", graph=MatchGraph(graph.starts, rows))

    def test_graph_of_another_table(self, ringed, data):
        release, graph = ringed
        failed(release, data, "graph well formed", graph=MatchGraph(graph.starts[:-1], graph.rows))
        failed(release, data, "graph well formed", graph=MatchGraph(graph.starts, graph.rows + 1))

    def test_values_swapped(self, ringed, data):
        release, graph = ringed
        ages, values = release.extents[0].lows, release.sensitive[:, 0]
        other = next(row for row in range(N_ROWS) if abs(ages[row] - ages[0]) > 8 and values[row] != values[0])
        sensitive = release.sensitive.copy()
        sensitive[[0, other]] = sensitive[[other, 0]]
        swapped = replace(release, sensitive=sensitive)
        failed(swapped, data, "graph carries the truth", graph=graph)
        failed(swapped, data, "a row for every record")

    def test_too_few_lookalikes(self, ringed, data):
        release, graph = ringed
        audit = verify(data, release, [Promise(KAnonymity(5))], graph=graph)
        assert not audit.passed
        verdict = audit.verdicts[0]
        assert (verdict.reached, verdict.failing_units, verdict.failing_records) == (4, 300, 300)

    def test_repeated_values_at_the_matches_are_seen(self, rng):
        # Two neighbours share a value: their slots show it twice although the originals behind each slot differ.
        data = number_table([[number] for number in range(12)], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
        release, graph = ring(rng, data, 2)
        audit = verify(data, release, [Promise(LDiversity(2), "s")], graph=graph)
        assert not audit.passed
        assert audit.verdicts[0].reached == 1

    def test_parts_of_different_degree_are_regular(self, rng):
        from tests.audit.making import matched

        data = number_table([[0], [1], [2], [3], [4]], [0, 1, 0, 1, 2])
        slots = [[0, 1], [0, 1], [2, 3, 4], [2, 3, 4], [2, 3, 4]]
        release, graph = matched(data, slots, range(5), rng.permutation(5))
        audit = verify(data, release, [Promise(KAnonymity(2))], graph=graph)
        assert audit.passed, str(audit)
        assert "2 or 3 edges" in check(audit, "graph regular").detail


class TestBucketized:
    @pytest.fixture
    def buckets(self, rng, data):
        groups = rng.permutation(N_ROWS) // 6
        release = bucketized(data, groups, rng.permutation(N_ROWS), rng.permutation(N_ROWS))
        assert verify(data, release, [Promise(KAnonymity(6))]).passed
        return release

    def test_merged_bucket_numbers_on_one_side(self, buckets, data):
        merged = np.where(buckets.bucket_of_sensitive == 1, 0, buckets.bucket_of_sensitive).astype(np.int32)
        failed(replace(buckets, bucket_of_sensitive=merged), data, "buckets match")

    def test_shifted_bucket_numbers(self, buckets, data):
        shifted = ((buckets.bucket_of_sensitive + 1) % 50).astype(np.int32)
        release = replace(buckets, bucket_of_sensitive=shifted)
        assert check(verify(data, release, []), "buckets match").passed
        failed(release, data, "a bucket for every record")

    def test_changed_quasi_identifier(self, buckets, data):
        quasi = buckets.quasi.copy()
        quasi[0, 0] = (quasi[0, 0] + 1) % 20
        failed(replace(buckets, quasi=quasi), data, "quasi-identifiers kept")

    def test_changed_sensitive_value(self, buckets, data):
        failed(with_value(buckets, 0, (buckets.sensitive[0, 0] + 1) % 4), data, "values kept")

    def test_values_swapped_between_buckets(self, buckets, data):
        numbers, values = buckets.bucket_of_sensitive, buckets.sensitive[:, 0]
        other = next(row for row in range(N_ROWS) if numbers[row] != numbers[0] and values[row] != values[0])
        sensitive = buckets.sensitive.copy()
        sensitive[[0, other]] = sensitive[[other, 0]]
        failed(replace(buckets, sensitive=sensitive), data, "a bucket for every record")

    def test_dropped_row_on_one_side(self, buckets, data):
        short = replace(
            buckets,
            sensitive=buckets.sensitive[1:],
            carried=buckets.carried[1:],
            bucket_of_sensitive=buckets.bucket_of_sensitive[1:],
        )
        failed(short, data, "number of rows")
        failed(short, data, "buckets match")


class TestPerturbed:
    @pytest.fixture
    def noisy(self, rng):
        data = mixed_table(rng, 1500, n_ages=400)
        release = perturbed(rng, data, [mixing_matrix(4, 4, 10)], rng.permutation(1500))
        assert verify(data, release, []).passed
        return release, data

    def test_changed_matrix_entry(self, noisy):
        release, data = noisy
        weights = release.randomizers[0].weights.copy()
        weights[0, 1] += 1
        failed(replace(release, randomizers=(Randomizer(weights, 10),)), data, 'matrix of "illness"')

    def test_negative_matrix_entry(self, noisy):
        release, data = noisy
        weights = release.randomizers[0].weights.copy()
        weights[0, 1] -= 3
        weights[1, 1] += 3
        assert "below 0" in failed(replace(release, randomizers=(Randomizer(weights, 10),)), data, "matrix of").detail

    def test_matrix_that_was_not_used(self, noisy):
        release, data = noisy
        n_rows = data.n_rows
        order = np.random.default_rng(1).permutation(n_rows)
        bare = replace(release, quasi=data.quasi[order], sensitive=data.sensitive[order], carried=data.carried[order])
        found = failed(bare, data, 'values of "illness" redrawn')
        assert "draws from the matrix" in found.detail

    def test_other_counts_than_the_matrix_gives(self, noisy):
        release, data = noisy
        few = release.sensitive.copy()
        few[few == 3] = 0
        failed(replace(release, sensitive=few), data, "matrix used")

    def test_value_that_is_never_drawn(self, noisy):
        release, data = noisy
        weights = np.array([[10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 10, 10], [0, 0, 0, 0]])
        assert (
            "never draws"
            in failed(replace(release, randomizers=(Randomizer(weights, 10),)), data, "matrix used").detail
        )

    def test_changed_quasi_and_carried_columns(self, noisy):
        release, data = noisy
        for part, name in (("quasi", "quasi-identifiers kept"), ("carried", "carried values kept")):
            codes = getattr(release, part).copy()
            codes[0, 0] = (codes[0, 0] + 1) % 3
            failed(replace(release, **{part: codes}), data, name)

    def test_matrix_of_the_wrong_size(self, noisy):
        release, data = noisy
        failed(replace(release, randomizers=(mixing_matrix(3, 4, 10),)), data, "well formed")

    def test_a_posterior_above_the_bound(self, noisy):
        release, data = noisy
        audit = verify(data, release, [Promise(BetaLikeness("0.1"), "illness")])
        assert not audit.passed
        # For each of the three bills that a row may carry, each of the four values.
        assert audit.verdicts[0].failing_units == 12

    def test_what_a_row_carries_gives_its_value_away(self):
        """Anyone who finds the row reads the carried column; here it is a copy of what is to be hidden."""
        rng = np.random.default_rng(8)
        data = mixed_table(rng, 300)
        copied = replace(data, carried=data.sensitive % 3)
        releases = {}
        for table in (data, copied):
            made = perturbed(rng, table, [mixing_matrix(4, 4, 10)], rng.permutation(300))
            releases[table is copied] = verify(table, made, [Promise(BetaLikeness(2), "illness")])
        assert releases[False].passed
        assert not releases[True].verdicts[0].passed
