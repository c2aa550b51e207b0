"""The order of the steps, and what each refuses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.groups import Groups
from lookalike.algorithms.mondrian import Mondrian
from lookalike.apps.samples import hospital, hospital_schema
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Table
from lookalike.data.schema import Schema
from lookalike.errors import AuditFailed, Infeasible, RecipeError, SchemaError, Unsupported
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from lookalike.models.t_closeness import TCloseness
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import run

QI = ["age", "sex", "zip code"]


@pytest.fixture(scope="module")
def table() -> Table:
    return hospital(300, seed=4)


def recipe(*promises: Promise, sensitive: tuple[str, ...] = ("diagnosis",), **settings: Any) -> Recipe:
    return Recipe(schema=Schema.of(qi=QI, sensitive=sensitive), promises=promises, **settings)


def test_a_run_gives_an_audited_release(table: Table) -> None:
    outcome = run(prepare(recipe(Promise(KAnonymity(4)), Promise(LDiversity(2))), table))
    assert outcome.audit.passed
    assert [str(promise) for promise in outcome.promises] == ["k-anonymity:4", "diagnosis=l-diversity:2"]
    assert set(outcome.seconds) == {"compile", "anonymize", "audit", "measure"}
    assert any("groups:mode=free was chosen" in note for note in outcome.notes)


def test_a_promise_without_a_column_is_made_for_every_sensitive_column(table: Table) -> None:
    outcome = run(prepare(recipe(Promise(BetaLikeness(4)), sensitive=("diagnosis", "occupation")), table))
    assert [promise.column for promise in outcome.promises] == ["diagnosis", "occupation"]


def test_each_sensitive_column_may_have_its_own_promise(table: Table) -> None:
    promises = (Promise(BetaLikeness(4), "diagnosis"), Promise(LDiversity(2), "occupation"))
    outcome = run(prepare(recipe(*promises, sensitive=("diagnosis", "occupation")), table))
    assert [(verdict.column, verdict.passed) for verdict in outcome.audit.verdicts] == [
        ("diagnosis", True),
        ("occupation", True),
    ]


def test_an_unprotected_sensitive_column_is_pointed_out(table: Table) -> None:
    outcome = run(prepare(recipe(Promise(KAnonymity(4))), table))
    assert any("No promise protects" in note and "diagnosis" in note for note in outcome.notes)


def test_k_anonymity_needs_no_sensitive_column(table: Table) -> None:
    assert run(prepare(recipe(Promise(KAnonymity(4)), sensitive=()), table)).audit.passed


def test_models_of_values_need_a_sensitive_column(table: Table) -> None:
    with pytest.raises(RecipeError, match="none is named"):
        run(prepare(recipe(Promise(LDiversity(2)), sensitive=()), table))


def test_no_promise_is_refused(table: Table) -> None:
    with pytest.raises(RecipeError, match="No promise"):
        run(prepare(recipe(), table))


def test_unknown_columns_name_the_nearest(table: Table) -> None:
    with pytest.raises(SchemaError, match='Did you mean "diagnosis"'):
        run(prepare(recipe(Promise(LDiversity(2)), sensitive=("diagnossis",)), table))
    with pytest.raises(SchemaError, match="sensitive column"):
        run(prepare(recipe(Promise(LDiversity(2), "age")), table))


def test_an_impossible_promise_names_the_nearest_that_can_be_kept(table: Table) -> None:
    with pytest.raises(Infeasible) as refused:
        run(prepare(recipe(Promise(LDiversity(25))), table))
    nearest = refused.value.nearest
    assert nearest is not None
    from lookalike.models import parse_model

    assert run(prepare(recipe(Promise(parse_model(nearest))), table)).audit.passed


def test_an_unknown_adversary_is_refused(table: Table) -> None:
    with pytest.raises(RecipeError, match="adversary must be one of"):
        run(prepare(recipe(Promise(KAnonymity(2)), adversary="aunt"), table))


def test_a_stronger_adversary_than_the_algorithm_serves_is_refused(table: Table) -> None:
    with pytest.raises(Unsupported, match="mondrian"):
        run(prepare(recipe(Promise(KAnonymity(2)), adversary="knows-method", algorithm=Mondrian()), table))


def test_a_release_names_the_strongest_adversary_it_was_made_for(table: Table) -> None:
    for asked, algorithm, named in (
        ("reads-release", None, "reads-release"),
        ("knows-method", None, "knows-method"),
        ("reads-release", Groups(mode="strict"), "knows-method"),
    ):
        outcome = run(prepare(recipe(Promise(KAnonymity(2)), adversary=asked, algorithm=algorithm), table))
        assert outcome.adversary == outcome.audit.adversary == named


@dataclass(frozen=True)
class Careless(Mondrian):
    """Swaps two sensitive values across groups after it has checked them."""

    def anonymize(self, data, requirements, rng, progress):  # type: ignore[no-untyped-def]
        release, linkage = super().anonymize(data, requirements, rng, progress)
        rows = np.arange(release.n_rows)
        first = 0
        other = int(
            rows[
                (release.group_of_row != release.group_of_row[first])
                & (release.sensitive[:, 0] != release.sensitive[first, 0])
            ][0]
        )
        swapped = release.sensitive.copy()
        swapped[[first, other]] = swapped[[other, first]]
        return replace(release, sensitive=swapped), linkage


def test_a_release_that_fails_its_audit_never_comes_out(table: Table) -> None:
    with pytest.raises(AuditFailed, match="nothing is written"):
        run(prepare(recipe(Promise(KAnonymity(2)), algorithm=Careless()), table))


def test_seed_repeats_a_run_and_is_pointed_out(table: Table) -> None:
    first, second = (run(prepare(recipe(Promise(KAnonymity(4)), seed=9), table)) for _ in range(2))
    assert (first.record_map.record_of_row == second.record_map.record_of_row).all()
    assert any("seed" in note for note in first.notes)


def test_settling_drops_repeated_promises(table: Table) -> None:
    outcome = run(prepare(recipe(Promise(KAnonymity(4)), Promise(KAnonymity(4))), table))
    assert len(outcome.promises) == 1


def test_measures_cover_k_l_t_beta_delta(table: Table) -> None:
    outcome = run(prepare(recipe(Promise(KAnonymity(4))), table))
    assert {verdict.letter for verdict in outcome.audit.measured} >= {"k", "l", "t", "beta", "delta"}
    assert pipeline.standard_measures()[0] == KAnonymity(1)


@pytest.mark.parametrize("algorithm", ["groups:effort=fast", "mondrian"])
def test_closeness_over_a_taxonomy(table: Table, algorithm: str) -> None:
    promise = Promise(TCloseness("0.3", distance="hierarchical"))
    schema = hospital_schema()
    outcome = run(prepare(Recipe(schema=schema, promises=(promise,), algorithm=parse_algorithm(algorithm)), table))
    assert outcome.audit.verdicts[0].passed
    assert outcome.losses["average_group_size"] < table.n_rows


def test_columns_that_name_persons_or_of_which_nothing_is_left_are_pointed_out(table: Table) -> None:
    schema = Schema.of(qi=["patient_id", "sex"], sensitive=["diagnosis"])
    outcome = run(prepare(Recipe(schema=schema, promises=(Promise(KAnonymity(300)),)), table))
    assert any('"patient_id" has another value for every record' in note for note in outcome.notes)
    assert any('nothing is left of "patient_id", "sex"' in note for note in outcome.notes)
    assert not any(
        "another value" in note or "nothing is left" in note
        for note in run(prepare(recipe(Promise(KAnonymity(4))), table)).notes
    )


@pytest.mark.parametrize(("declared", "said"), [({}, True), ({"categorical": ["x", "s"]}, False)])
def test_types_that_were_guessed_from_suppressed_records_are_pointed_out(declared: dict[str, Any], said: bool) -> None:
    table = pl.DataFrame({"x": range(1, 8), "s": list("abcabca")})
    made = la.publish(
        table, qi=["x"], sensitive="s", model="l-diversity:2", algorithm="greedy-grouping:tail=suppress", **declared
    )
    assert made.release.withheld.n_suppressed
    assert any("were guessed from all records" in note for note in made.notes) == said


def test_columns_that_link_the_rows_of_a_person_are_named() -> None:
    import polars as pl

    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(30), 3)
    table = pl.DataFrame(
        {
            "patient": who,
            "age": rng.integers(20, 80, 30)[who],
            "case": 1000 + who,
            "ward": rng.integers(0, 4, 90),
            "doctor": rng.integers(0, 5, 30)[who],
            "s": rng.integers(0, 9, 90),
        }
    )
    asked = {"qi": ["age"], "sensitive": "s", "person": "patient", "model": "k-anonymity:3"}

    def notes_with(*carried: str, **known: str) -> list[str]:
        made = la.publish(table, carry=carried, carry_anyway=carried, **asked, **known)
        return [note for note in made.notes if "belong together" in note]

    linking = notes_with("case", "ward", "doctor")
    assert len(linking) == 1
    assert '"case"' in linking[0]
    assert not notes_with("ward", "doctor")
    assert not notes_with("case", rows="one")
