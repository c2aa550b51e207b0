"""A matched release without its graph: nothing passes that the rows do not show by themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.models import parse_model
from lookalike.models.k_anonymity import KAnonymity
from tests.audit.making import as_matched, grouped, matched, number_table, random_groups
from tests.oracles.containment import fit_table

DIVERSE = Promise(parse_model("l-diversity:2"), "s")


def beliefs(release, data):
    """For each record the highest share of a value over all ways to give every record a row that it fits."""
    fitting = fit_table(release, data)
    n_records = data.n_rows
    found = np.zeros((n_records, 1 + int(release.sensitive.max())), dtype=np.int64)
    for rows in permutations(range(n_records)):
        if all(fitting[record, row] for record, row in enumerate(rows)):
            for record, row in enumerate(rows):
                found[record, release.sensitive[row, 0]] += 1
    return [Fraction(int(counts.max()), int(counts.sum())) for counts in found]


def test_rows_that_fail_as_groups_do_not_pass_as_matched():
    """Two groups, one of them with one illness only: the same level by either name."""
    data = number_table([[0], [1], [5], [6]], [0, 0, 1, 2])
    release = grouped(data, [0, 0, 1, 1], [2, 0, 3, 1])
    assert not verify(data, release, [DIVERSE]).passed
    renamed = verify(data, as_matched(release), [DIVERSE])
    assert not renamed.passed
    assert renamed.verdicts[0].reached == verify(data, release, [DIVERSE]).verdicts[0].reached


def test_existence_of_a_graph_is_no_pass():
    """A ring keeps 2-anonymity by its graph; without it, nobody can say how its rows were drawn."""
    data = number_table([[age] for age in range(6)], [0, 1, 2, 0, 1, 2])
    slots = [[slot, (slot + 1) % 6] for slot in range(6)]
    release, graph = matched(data, slots, range(6), [3, 1, 5, 0, 4, 2])
    assert verify(data, release, [Promise(KAnonymity(2)), DIVERSE], graph=graph).passed
    without = verify(data, release, [Promise(KAnonymity(2)), DIVERSE])
    assert not without.passed
    assert all(verdict.is_open for verdict in without.verdicts)
    assert "--private" in without.verdicts[0].detail
    assert str(without).startswith("The audit did NOT PASS, because what is promised is not shown")


def test_what_no_graph_could_keep_is_said_to_be_broken():
    data = number_table([[age] for age in range(4)], [0, 1, 2, 3])
    release, _ = matched(data, [[slot] for slot in range(4)], range(4), [2, 0, 3, 1])
    found = verify(data, release, [Promise(KAnonymity(2))])
    assert not found.passed
    assert found.verdicts[0].reached == 1


@pytest.mark.parametrize("seed", range(40))
def test_what_passes_is_true_over_all_assignments(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(4, 7))
    data = number_table(rng.integers(0, 4, (n_rows, 1)), rng.integers(0, 3, n_rows))
    release = as_matched(grouped(data, random_groups(rng, n_rows, 2), rng.permutation(n_rows)))
    worst = max(beliefs(release, data))
    for number in range(2, 5):
        promise = Promise(parse_model(f"l-diversity:{number}"), "s")
        if verify(data, release, [promise]).passed:
            assert worst <= Fraction(1, number)


def test_an_audit_of_files_says_what_the_graph_does_not_show(tmp_path):
    """With the private folder the audit passes and names what it takes on trust; without it the audit does not pass."""
    import lookalike as la
    from lookalike.apps.samples import sample_table
    from lookalike.files.releases.private import private_folder

    made = la.publish(
        sample_table(), qi=["age", "sex"], sensitive="diagnosis", model="k-anonymity:3", algorithm="freeform", seed=1
    )
    made.write(tmp_path / "release", private=True, report="brief")
    audit = la.verify(sample_table(), tmp_path / "release", private=private_folder(tmp_path / "release"))
    assert audit.passed, str(audit)
    assert "that the release was drawn from the private graph" in str(audit)
    without = la.verify(sample_table(), tmp_path / "release")
    assert not without.passed
    assert without.verdicts[0].is_open
