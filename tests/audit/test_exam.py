"""The audit against an oracle: promises at the very edge, and releases with one thing changed (`make audit-exam`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.audit import audit_part, join_audits, verify
from lookalike.data.contracts import Promise
from lookalike.data.release import Randomizer
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.t_closeness import TCloseness
from tests.audit.making import check, matched, number_table, perturbed
from tests.audit.planting.cases import FORMS
from tests.audit.planting.exam import Marks, sit
from tests.audit.planting.folders import EDITS
from tests.audit.planting.parts import FORMS_IN_PARTS
from tests.audit.planting.plants import PLANTS
from tests.audit.planting.rooms import (
    sit_chance,
    sit_folder,
    sit_forced,
    sit_parts,
    sit_parts_on_disk,
    sit_ties,
    sit_told_by_parts,
)

N_CASES = 2


@pytest.mark.parametrize("form", FORMS)
def test_the_audit_says_what_the_oracle_says(form):
    marks = Marks()
    for seed in range(N_CASES):
        sit(marks, form, seed)
    assert not marks.wrong, str(marks)
    assert marks.honest.total() == N_CASES
    assert marks.kept.total() > N_CASES * 8
    assert marks.broken.total() > N_CASES * 8
    assert marks.planted.total() > N_CASES


@pytest.mark.parametrize("form", ["grouped", "matched", "perturbed"])
def test_parts_joined_say_what_the_oracle_says(form):
    marks = Marks()
    sit_parts(marks, form, 1)
    assert not marks.wrong, str(marks)
    assert marks.planted["part missing"] == marks.planted["part doubled"] == 1


@pytest.mark.parametrize(("form", "seed"), [("grouped", 1), ("bucketized", 3), ("perturbed", 2)])
def test_folders_that_were_changed_are_noticed(tmp_path, form, seed):
    marks = Marks()
    sit_folder(marks, form, seed, tmp_path)
    assert not marks.wrong, str(marks)
    assert sum(marks.planted[kind] for kind in EDITS) >= 3


@pytest.mark.parametrize("form", ["grouped", "perturbed"])
def test_folders_of_parts_say_what_the_oracle_says(tmp_path, form):
    marks = Marks()
    for seed in range(2):
        sit_parts_on_disk(marks, form, seed, tmp_path)
    assert not marks.wrong, str(marks)
    assert marks.honest.total() == 2
    assert marks.planted


@pytest.mark.parametrize("form", FORMS_IN_PARTS)
def test_parts_that_tell_more_than_their_rows_are_noticed(form):
    marks = Marks()
    for seed in range(5):
        sit_told_by_parts(marks, form, seed)
    assert not marks.wrong, str(marks)
    assert marks.planted.total() >= 5


def test_rows_in_order_and_values_not_redrawn_are_noticed():
    marks = Marks()
    sit_chance(marks, 5)
    sit_ties(marks)
    sit_forced(marks)
    assert not marks.wrong, str(marks)
    assert marks.planted.total() == 40


def test_a_case_in_the_exam_is_the_same_again():
    one, other = Marks(), Marks()
    for marks in (one, other):
        sit(marks, "grouped", 7)
    assert str(one) == str(other)


def test_an_exam_that_finds_something_says_where(monkeypatch):
    marks = Marks()
    monkeypatch.setattr("tests.audit.planting.exam.verify", lambda *given, **more: _lenient(verify(*given, **more)))
    sit(marks, "bucketized", 0)
    assert marks.wrong
    assert all("bucketized, seed 0" in line for line in marks.wrong)


def _lenient(audit):
    """An audit that lets everything pass."""
    return replace(
        audit,
        checks=tuple(replace(entry, passed=True, status="passed") for entry in audit.checks),
        verdicts=tuple(replace(verdict, passed=True) for verdict in audit.verdicts),
    )


def test_the_catalogue_has_plants_for_every_form():
    assert len(PLANTS) >= 35


@pytest.mark.parametrize("model", [RhoPrivacy(rho1="3/7", rho2="2/3"), LDiversity("1.5", kind="binary", subset="0|2")])
def test_caps_that_are_stricter_than_the_promise_refuse_no_honest_graph(model):
    """Found by the exam: level B held a graph to what is enough for the promise, not to the promise."""
    data = number_table([[0]] * 7, [3, 1, 2, 0, 1, 1, 1])
    slots = [[(slot + step) % 7 for step in range(3)] for slot in range(7)]
    release, graph = matched(data, slots, range(7), [4, 2, 6, 0, 5, 1, 3])
    audit = verify(data, release, [Promise(model, "s")], graph=graph)
    assert audit.verdicts[0].passed
    assert audit.passed, str(audit)
    confirmation = check(audit, "level B")
    assert confirmation.passed or "stricter than the promise" in confirmation.detail


@pytest.mark.parametrize("model", [LDiversity(1, kind="entropy"), TCloseness("0.5", distance="js"), LDiversity(2)])
def test_numbers_that_are_no_matrix_leave_no_belief(model):
    """Found by the exam: entries below 0 made an audit stop with an error instead of failing."""
    rng = np.random.default_rng(3)
    data = number_table([[number] for number in range(6)], [0, 1, 0, 1, 1, 0])
    honest = perturbed(rng, data, [Randomizer(np.array([[2, 1], [1, 2]]), 3)], rng.permutation(6))
    release = replace(honest, randomizers=(Randomizer(np.array([[-1, 1], [4, 2]]), 3),))
    for audit in (
        verify(data, release, [Promise(model, "s")]),
        join_audits([audit_part(data, release, [Promise(model, "s")])]).audit,
    ):
        assert not audit.passed
        assert "below 0" in check(audit, 'matrix of "s"').detail
        assert not audit.verdicts[0].passed
        assert "the matrix is none" in audit.verdicts[0].detail
