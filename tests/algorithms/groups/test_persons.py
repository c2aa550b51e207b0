"""Promises by persons: every method that serves them keeps them, by a brute-force count of distinct persons."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.algorithms import ALGORITHMS
from lookalike.algorithms.groups import Groups
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.persons import chance_of_value
from lookalike.data.release import Bucketized
from lookalike.errors import Infeasible, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.pipeline.run import MadeWhole
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.oracles.persons import is_split
from tests.strategies import microdatas

SERVING = ("groups", "mondrian", "mondrian-strict", "anatomy")
_VALUES = 12


@st.composite
def visits(draw: st.DrawFn) -> Microdata:
    """Tables in which persons have several rows, at random, in runs, or most of them one person's."""
    data = draw(microdatas(min_rows=6, max_rows=60, n_sensitive=st.just(1)))
    n_persons = draw(st.integers(2, data.n_rows - 1))
    seed = draw(st.integers(0, 1000))
    # Values in many different rows: otherwise hardly any promise about persons can be kept.
    domain = data.domains.sensitive[0]
    spread = replace(domain, values=np.arange(_VALUES), has_missing=False, size=_VALUES, taxonomy=None)
    values = np.random.default_rng([seed, 1]).integers(0, _VALUES, (data.n_rows, 1)).astype(np.int32)
    data = replace(data, domains=replace(data.domains, sensitive=(spread,)), sensitive=values)
    owners = np.random.default_rng(seed).integers(0, n_persons, data.n_rows).astype(np.int32)
    shape = draw(st.sampled_from(("any", "sorted", "heavy", "constant")))
    if shape == "sorted":
        owners = np.sort(owners)
    if shape == "heavy":
        owners[: data.n_rows // 3] = 0
    persons = np.unique(owners, return_inverse=True)[1].reshape(-1).astype(np.int32)
    assume(len(np.unique(persons)) < data.n_rows)
    if shape == "constant":
        # Each person's rows have the quasi-identifiers of the first.
        data = replace(data, quasi=data.quasi[np.unique(persons, return_index=True)[1]][persons])
    return replace(data, persons=persons, number_known=draw(st.booleans()))


def classes_of(made: MadeWhole) -> list[list[int]]:
    """The records that a reader cannot tell apart: identical published cells, or one bucket."""
    release, record_of_row = made.release, made.record_map.record_of_row
    held = defaultdict[object, list[int]](list)
    if isinstance(release, Bucketized):
        for row, record in enumerate(record_of_row.tolist()):
            held[int(release.bucket_of_sensitive[row])].append(record)
        return list(held.values())
    from lookalike.files.releases.write import frames

    table = next(iter(frames(release).values()))
    names = [domain.name for domain in release.domains.quasi]
    for row, record in enumerate(record_of_row.tolist()):
        held[tuple(repr(table[name][row]) for name in names)].append(record)
    return list(held.values())


def check_by_hand(data: Microdata, made: MadeWhole, k: int, ceilings: dict[int, Fraction]) -> None:
    assert data.persons is not None
    assert not is_split(data, classes_of(made))
    for records in classes_of(made):
        owners = data.persons[records].tolist()
        assert len(set(owners)) >= k
        codes = data.sensitive[records, 0].tolist()
        most = max(owners.count(owner) for owner in owners)
        for code, ceiling in ceilings.items():
            having = {owner for owner, own in zip(owners, codes, strict=True) if own == code}
            assert Fraction(len(having), len(set(owners))) <= ceiling
            if data.number_known and code in codes:
                assert chance_of_value(len(codes), codes.count(code), most) <= ceiling


def publish(data: Microdata, algorithm: str, *models: str) -> MadeWhole:
    from lookalike.pipeline.recipe import Recipe, prepare
    from lookalike.pipeline.run import run

    recipe = Recipe(
        schema=data.schema,
        promises=tuple(Promise(parse_model(model)) for model in models),
        algorithm=ALGORITHMS[algorithm](),
        seed=3,
    )
    return run(replace_persons(prepare(recipe, data), data))


def replace_persons(prepared: object, data: Microdata) -> object:
    """Settings of a recipe decide whether numbers of rows are known; here the table does."""
    return replace(prepared, data=replace(prepared.data, number_known=data.number_known))  # type: ignore[attr-defined,type-var]


@pytest.mark.parametrize("algorithm", SERVING)
@settings(max_examples=examples(60))
@given(data=visits(), k=st.integers(2, 4))
def test_enough_persons_in_every_class(algorithm: str, data: Microdata, k: int) -> None:
    assume(data.n_persons >= k)
    try:
        made = publish(data, algorithm, f"k-anonymity:{k}")
    except Unsupported:
        # A person with more rows than buckets.
        assert algorithm == "anatomy"
        return
    check_by_hand(data, made, k, {})


@pytest.mark.parametrize("algorithm", SERVING)
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.filter_too_much])
@given(data=visits(), model=st.sampled_from(("l-diversity:2", "beta-likeness:4", "l-diversity:1.5")))
def test_beliefs_by_persons_stay_below_their_ceilings(algorithm: str, data: Microdata, model: str) -> None:
    try:
        made = publish(data, algorithm, model)
    except (Infeasible, Unsupported):
        assume(False)
    requirements = require(settle((Promise(parse_model(model)),), data), data)
    bounds = requirements[0].ceilings
    assert bounds is not None
    check_by_hand(data, made, 1, dict(enumerate(bounds)))


@settings(max_examples=examples(40))
@given(data=visits(), seed=st.integers(0, 99))
def test_groups_by_size_look_at_no_value(data: Microdata, seed: int) -> None:
    """Exact Bayes for strict groups by persons: any other dealing of values to rows gives the very same groups.

    So each world with these quasi-identifiers and persons makes the published groups equally likely, and an attacker
    who knows the method learns no more than the values of a group in any order.
    """
    assume(data.n_persons >= 2)
    requirements = require(settle((Promise(parse_model("k-anonymity:2")),), data), data)
    shuffled = replace(data, sensitive=np.random.default_rng(seed).permutation(data.sensitive))
    strict = Groups(mode="strict")
    groups = [strict.partition(one, requirements, Randomness(5), silent)[0] for one in (data, shuffled)]
    assert np.array_equal(*groups)


def test_five_rows_of_each_of_twenty_persons() -> None:
    """The table that a promise about rows publishes unchanged, with one person per group."""
    rng = np.random.default_rng(2)
    ages, places = rng.integers(20, 80, 20), rng.integers(0, 50, 20)
    frame = {
        "patient": np.repeat(np.arange(20), 5).tolist(),
        "age": np.repeat(ages, 5).tolist(),
        "place": np.repeat(places, 5).tolist(),
        "diagnosis": ["flu", "cold", "HIV", "asthma", "gastritis"] * 20,
    }
    import polars as pl

    table = pl.DataFrame(frame)
    asked = {"qi": ["age", "place"], "sensitive": "diagnosis", "seed": 1}
    made = la.publish(table, person="patient", model="k-anonymity:5", **asked)
    assert made.losses["gcp"] > 0.1
    data = made.made.data  # type: ignore[attr-defined]
    check_by_hand(data, made.made, 5, {})  # type: ignore[arg-type]
    with pytest.raises(Infeasible, match="100 %"):
        la.publish(table, person="patient", model="l-diversity:3", **asked)


def test_somebody_with_a_tenth_of_all_rows() -> None:
    rng = np.random.default_rng(3)
    owners = np.concatenate([np.zeros(100, dtype=np.int64), 1 + rng.integers(0, 400, 900)])
    import polars as pl

    table = pl.DataFrame(
        {
            "person": owners,
            "age": rng.integers(0, 90, 1000),
            "sex": rng.integers(0, 2, 1000),
            "s": rng.integers(0, 9, 1000),
        }
    )
    for algorithm in ("groups", "mondrian"):
        made = la.publish(
            table,
            qi=["age", "sex"],
            sensitive="s",
            person="person",
            model="k-anonymity:10",
            algorithm=algorithm,
            seed=1,
        )
        check_by_hand(made.made.data, made.made, 10, {})  # type: ignore[attr-defined,arg-type]


def test_methods_that_count_rows_refuse_persons() -> None:
    import polars as pl

    table = pl.DataFrame({"person": [1, 1, 2, 2, 3, 4], "age": [1, 2, 3, 4, 5, 6], "s": ["a", "b", "c", "a", "b", "c"]})
    for name in sorted(set(ALGORITHMS) - set(SERVING)):
        with pytest.raises((Unsupported, Infeasible)):
            la.publish(table, qi=["age"], sensitive="s", person="person", model="k-anonymity:2", algorithm=name)
    with pytest.raises(Unsupported, match="--rows one"):
        la.publish(table, qi=["age"], sensitive="s", person="person", model="t-closeness:0.5", algorithm="groups")
