"""The papers' small examples: a table of eight, the star, five records in three ways, a matrix past its bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lookalike.audit import expose, verify
from lookalike.audit.exposures import concealment
from lookalike.audit.reading import Reading
from lookalike.data.contracts import Promise
from lookalike.data.release import Matched, Perturbed, Randomizer, Sets
from lookalike.data.schema import Kind
from lookalike.errors import RecipeError
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.k_concealment import KConcealment
from lookalike.models.l_diversity import LDiversity
from tests.audit.making import matched, number_table
from tests.oracles import containment as oracle

AGES = (59, 57, 39, 28, 41, 37, 40, 53)
SALARIES = (25, 27, 47, 41, 20, 59, 35, 34)
SLOTS = ([0, 1, 7], [0, 1, 7], [2, 3, 5], [3, 4, 5], [0, 4, 6], [2, 3, 5], [2, 4, 6], [1, 6, 7])


def table_one(order=range(8)):
    data = number_table(np.column_stack((AGES, SALARIES)), np.arange(8))
    return data, *matched(data, SLOTS, np.arange(8), list(order))


def test_table_one_fits_by_containment_but_is_three_regular():
    data, release, graph = table_one()
    starts, _ = Reading(release, data).fits
    assert np.diff(starts).tolist() == [3, 4, 4, 3, 3, 3, 4, 4]
    assert int(oracle.fit_table(release, data)[:, 3].sum()) == 5
    audit = verify(data, release, [Promise(KAnonymity(3)), Promise(LDiversity(3), "s")], graph=graph)
    assert audit.passed, str(audit)
    assert [verdict.reached for verdict in audit.verdicts] == [3, 3]
    assert not verify(data, release, [Promise(KAnonymity(4))], graph=graph).passed
    without = verify(data, release, [Promise(KAnonymity(3)), Promise(LDiversity(3), "s")])
    assert all(verdict.is_open for verdict in without.verdicts)
    assert not verify(data, release, [Promise(KAnonymity(4))]).passed


def test_exposure_of_a_matched_release_needs_its_graph():
    data, release, graph = table_one()
    with pytest.raises(RecipeError, match="private graph"):
        expose(data, release, 0)
    exposure = expose(data, release, 0, graph=graph)
    assert exposure.sizes.tolist() == [3] * 8
    values, weights, size = exposure.unit(0)
    assert (values.tolist(), weights.tolist(), size) == ([0, 1, 4], [1, 1, 1], 3)


def from_edges(edges):
    """A matched release whose containment is exactly these edges (record -> rows): one set of identities a row."""
    n_rows = len(edges)
    data = number_table([[record] for record in range(n_rows)], [0] * n_rows)
    domain = replace(
        data.domains.quasi[0], attribute=replace(data.domains.quasi[0].attribute, kind=Kind.CATEGORICAL, order=None)
    )
    data = replace(data, domains=replace(data.domains, quasi=(domain,)))
    members = [[record for record in range(n_rows) if row in edges[record]] for row in range(n_rows)]
    starts = np.concatenate(([0], np.cumsum([len(entry) for entry in members]))).astype(np.int64)
    extents = (Sets(starts, np.concatenate(members).astype(np.int32)),)
    release = Matched(domains=data.domains, extents=extents, sensitive=data.sensitive, carried=data.carried)
    return data, release


STAR = [{0, 1, 2, 3}, {0, 1}, {0, 2}, {0, 3}]


def test_the_star_conceals_two_but_is_not_two_anonymous():
    data, release = from_edges(STAR)
    table = oracle.fit_table(release, data)
    assert len(oracle.complete_assignments(table)) == 4
    audit = verify(data, release, [Promise(KAnonymity(2)), Promise(KConcealment(2))])
    anonymity, hidden = audit.verdicts
    assert not anonymity.passed
    assert hidden.passed
    assert hidden.reached == 2
    assert not audit.passed


def test_five_records_in_three_ways():
    data, release = from_edges([{0, 1, 2}, {0, 1, 4}, {0, 2, 3}, {1, 3, 4}, {2, 3, 4}])
    audit = verify(data, release, [Promise(KAnonymity(3)), Promise(KConcealment(3))])
    assert [verdict.passed for verdict in audit.verdicts] == [False, True]
    assert audit.verdicts[0].is_open
    assert len(oracle.complete_assignments(oracle.fit_table(release, data))) == 13


def test_rows_that_no_complete_assignment_uses_do_not_conceal():
    edges = [{0, 1}, {0, 1}, {0, 2, 3}, {2, 3}]
    data, release = from_edges(edges)
    assert oracle.concealed(oracle.fit_table(release, data)) == [2, 2, 2, 2]
    exposure = concealment(Reading(release, data), "reads-release")
    assert exposure is not None
    assert exposure.concealed is not None
    assert exposure.concealed.tolist() == [2, 2, 2, 2]
    assert exposure.sizes.tolist() == [2, 2, 3, 2]


def test_concealment_is_that_of_enumeration():
    rng = np.random.default_rng(11)
    for _ in range(60):
        n_rows = int(rng.integers(2, 7))
        edges = [{record, *rng.choice(n_rows, int(rng.integers(0, n_rows)), replace=False)} for record in range(n_rows)]
        data, release = from_edges(edges)
        exposure = concealment(Reading(release, data), "reads-release")
        assert exposure is not None
        assert exposure.concealed is not None
        assert exposure.concealed.tolist() == oracle.concealed(oracle.fit_table(release, data))


def perturbation(weights, counts):
    weights = np.asarray(weights, dtype=np.int64)
    codes = np.repeat(np.arange(len(counts)), counts)
    data = number_table([[0]] * len(codes), codes)
    release = Perturbed(
        domains=data.domains,
        quasi=data.quasi,
        sensitive=data.sensitive,
        carried=data.carried,
        randomizers=(Randomizer(weights, int(weights[:, 0].sum())),),
    )
    return data, release


def test_posteriors_are_those_of_bayes():
    data, release = perturbation([[8, 1, 0], [1, 6, 0], [1, 3, 10]], [20, 30, 50])
    exposure = expose(data, release, 0)
    assert exposure.sizes.tolist() == [190, 200, 610]
    values, weights, size = exposure.unit(0)
    assert (values.tolist(), weights.tolist(), size) == ([0, 1], [160, 30], 190)


def test_a_negative_alpha_breaks_the_likeness_that_the_formula_promises():
    # p = (0.9, 0.05, 0.05), beta = 1: the closed form keeps value 2 and 3 less often than it draws them.
    total = 10**6
    gamma = np.array([21.357, 2.111, 2.111])
    stays = np.rint(gamma / (gamma.max() + 2) * total).astype(np.int64)
    stays += (total - stays) % 2
    weights = np.tile((total - stays) // 2, (3, 1)) + np.diag(stays - (total - stays) // 2)
    data, release = perturbation(weights, [90, 5, 5])
    audit = verify(data, release, [Promise(BetaLikeness(1), "s")])
    assert audit.verdicts[0].passed is False
    assert audit.level == "posterior"
    exposure = expose(data, release, 0)
    values, seen, size = exposure.unit(1)
    assert values.tolist() == [0, 1, 2]
    assert abs(Fraction(int(seen[2]), int(size)) - Fraction(3456, 10000)) < Fraction(1, 1000)


def test_matrices_with_large_totals_stay_exact():
    total = (1 << 62) - 2
    data, release = perturbation([[total - 2, 2], [2, total - 2]], [40, 60])
    exposure = expose(data, release, 0)
    assert int(exposure.sizes[0]) == 40 * (total - 2) + 120
    assert int(exposure.weights[1]) == 120
    assert (
        verify(data, release, [Promise(BetaLikeness(2, bound="basic"), "s")]).verdicts[0].reached
        == Fraction(int(exposure.weights[0]) * 100, int(exposure.sizes[0]) * 40) - 1
    )
