"""The exam that every attack sits, on a release of every form. A new line in `ATTACKS` is examined at once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.apps.samples import census
from lookalike.attacks import ATTACKS, parse_attack
from lookalike.attacks.run import attack_target
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

RELEASES = {
    "grouped": ("groups:effort=fast,mode=free", "l-diversity:3"),
    "matched": ("heterogeneous", "l-diversity:3"),
    "bucketized": ("two-size", "l-diversity:3"),
    "perturbed": ("perturbation:mode=free", "beta-likeness:3"),
}

every_attack = pytest.mark.parametrize("name", ATTACKS)
every_form = pytest.mark.parametrize("form", RELEASES)


@cache
def target(form: str) -> Target:
    table = census(150, seed=3)
    names = table.names
    data = Microdata.encode(table, Schema.of(qi=names[:3], sensitive=names[-1:], categorical=[names[1], names[-1]]))
    algorithm, model = RELEASES[form]
    promises = settle([Promise(parse_model(model))], data)
    method = parse_algorithm(algorithm).facing("reads-release")
    release, _ = method.anonymize(data, require(promises, data), Randomness(5), silent)
    return Target(release=release, original=data, promises=promises, algorithm=method)


def made_on(*forms: str, without: str = "") -> pytest.MarkDecorator:
    """Every attack with every one of these forms that it can be made on."""
    pairs = [
        (name, form)
        for form in forms
        for name in ATTACKS
        if name != without and parse_attack(name).refuses(target(form)) is None
    ]
    return pytest.mark.parametrize(("name", "form"), pairs, ids=[f"{form}-{name}" for name, form in pairs])


@every_attack
@every_form
def test_it_says_what_it_achieved_or_why_it_was_not_made(name: str, form: str) -> None:
    attack, aim = parse_attack(name), target(form)
    reason = attack.refuses(aim)
    if reason is not None:
        assert len(reason) > 20
        return
    findings = attack.run(aim, Randomness(1), silent)
    assert findings
    texts = {text for domain in aim.original.domains.sensitive for text in domain.texts if len(text) > 3}
    for finding in findings:
        assert finding.attack.startswith(name)
        assert finding.column in (None, *(domain.name for domain in aim.original.domains.sensitive))
        assert finding.sentence.endswith(".")
        assert not any(text in finding.sentence for text in texts)
        if finding.score is not None:
            assert 0 <= finding.score.interval[0] <= finding.score.share <= finding.score.interval[1] <= 1
            assert finding.baselines
        assert all(0 <= share <= 1 for share in finding.baselines.values())
        if finding.exposure is not None:
            assert finding.exposure.n_units <= aim.original.n_rows
            assert (finding.exposure.sizes > 0).all()


@made_on("grouped", "matched")
def test_the_same_seed_finds_the_same(name: str, form: str) -> None:
    attack, aim = parse_attack(name), target(form)
    first, second = (attack.run(aim, Randomness(7), silent) for _ in range(2))
    assert [finding.sentence for finding in first] == [finding.sentence for finding in second]


@made_on(*RELEASES, without="corruption")
def test_beliefs_do_not_come_from_the_values_that_are_guessed(name: str, form: str) -> None:
    """The original tells quasi-identifiers and scores guesses. Anyone who has which value in it must not matter to
    what is
    believed; corruption alone is told some of them."""
    attack, aim = parse_attack(name), target(form)
    order = np.random.default_rng(2).permutation(aim.original.n_rows)
    dealt_anew = replace(aim, original=replace(aim.original, sensitive=aim.original.sensitive[order]))
    for mine, theirs in zip(
        attack.run(aim, Randomness(7), silent), attack.run(dealt_anew, Randomness(7), silent), strict=True
    ):
        if mine.exposure is None:
            continue
        assert theirs.exposure is not None
        assert (mine.exposure.values == theirs.exposure.values).all()
        assert (mine.exposure.weights == theirs.exposure.weights).all()


@every_form
def test_where_a_person_may_be_does_not_depend_on_values(form: str) -> None:
    aim = target(form)
    order = np.random.default_rng(2).permutation(aim.original.n_rows)
    dealt_anew = replace(aim, original=replace(aim.original, sensitive=aim.original.sensitive[order]))
    mine, theirs = Whereabouts(aim), Whereabouts(dealt_anew)
    assert (mine.places != theirs.places).nnz == 0
    assert (mine.stocks(0) != theirs.stocks(0)).nnz == 0


def test_all_attacks_together() -> None:
    found = attack_target(target("grouped"), [], Randomness(1))
    assert len(found.made) + len(found.not_made) >= len(ATTACKS)
    assert all(attacked.to_plain()["sentence"] for attacked in found.made)
    assert str(found)


@made_on(*RELEASES)
def test_a_control_group_out_of_the_table_leaves_no_residual(name: str, form: str) -> None:
    """Targets and control group are both drawn from the table, so whatever is learned is learned about both."""
    aim = target(form)
    half = np.sort(np.random.default_rng(4).permutation(aim.original.n_rows)[: aim.original.n_rows // 2])
    findings = parse_attack(name).run(replace(aim, control=aim.original.take(half)), Randomness(3), silent)
    has_run = name in ("naive-bayes", "learner", "definetti", "singling-out", "linkability", "inference")
    for finding in findings:
        assert (finding.residual is not None) == has_run
        if finding.residual is not None:
            assert finding.residual.control_n == finding.residual.n
            assert finding.residual.low == 0
            assert finding.sentence.count("control") <= 1


@made_on(*RELEASES)
def test_against_values_dealt_anew_nobody_beats_the_baseline(name: str, form: str) -> None:
    """No attack can be right about values that the release says nothing of."""
    if name not in ("naive-bayes", "learner", "definetti", "inference"):
        return
    aim = target(form)
    order = np.random.default_rng(5).permutation(aim.original.n_rows)
    dealt_anew = replace(aim, original=replace(aim.original, sensitive=aim.original.sensitive[order]))
    for finding in parse_attack(name).run(dealt_anew, Randomness(3), silent):
        assert finding.score is not None
        assert finding.score.interval[0] <= finding.baselines["most frequent value"]


@made_on(*RELEASES)
def test_no_promise_that_is_kept_is_said_to_fail(name: str, form: str) -> None:
    found = attack_target(target(form), [parse_attack(name)], Randomness(1))
    assert found.made
    assert not [one.consequence.sentence for one in found.made if one.consequence.is_failure]
