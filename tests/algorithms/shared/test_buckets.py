"""Releases in buckets: audits, remarks, and what buckets tell whoever knows the method."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.anatomy import Anatomy
from lookalike.algorithms.multi_size import MultiSize
from lookalike.algorithms.shared.bucket_sizes import Part, sizes_text
from lookalike.algorithms.two_size import TwoSize
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema
from lookalike.errors import Unsupported
from lookalike.models import parse_model
from lookalike.models.f_privacy import FPrivacy
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.worlds import tiny_table, worlds

# -- releases -------------------------------------------------------------------------------------------------------


def census_data(rows: int) -> Microdata:
    table = census(rows, seed=6)
    names = table.names
    return Microdata.encode(table, Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]]))


@pytest.mark.slow
@pytest.mark.parametrize("assign", ["random", "similar"])
@pytest.mark.parametrize("method", ["anatomy", "two-size", "multi-size", "optimal-buckets:nodes=20"])
@pytest.mark.parametrize("model", ["l-diversity:4", "beta-likeness:6", "f-privacy:theta=8"])
def test_releases_pass_their_audit(method: str, assign: str, model: str) -> None:
    data = census_data(1200)
    settled = settle([Promise(parse_model(model))], data)
    requirements = require(settled, data)
    algorithm = parse_algorithm(f"{method}{',' if ':' in method else ':'}assign={assign}")
    if method == "anatomy" and model != "l-diversity:4":
        with pytest.raises(Unsupported, match="same ceiling"):
            algorithm.anonymize(data, requirements, Randomness(1), silent)
        return
    release, linkage = algorithm.anonymize(data, requirements, Randomness(1), silent)
    assert isinstance(release, Bucketized)
    found = pipeline.verify(data, release, settled, adversary=algorithm.adversary)
    assert found.passed, str(found)
    assert algorithm.adversary == ("knows-method" if assign == "random" else "reads-release")
    assert bool(algorithm.cautions()) == (assign == "similar")


def different_within(release: Bucketized) -> float:
    """How many different quasi-identifiers a bucket has, on average over buckets and columns."""
    pairs = [
        len(np.unique(release.bucket_of_quasi.astype(np.int64) * 1000 + column))
        for column in release.quasi.T.astype(int)
    ]
    return float(np.mean(pairs)) / len(np.unique(release.bucket_of_quasi))


@pytest.mark.parametrize("model", ["l-diversity:5", "f-privacy:theta=8", "k-anonymity:4"])
def test_similar_records_share_buckets_of_the_same_sizes(model: str) -> None:
    data = census_data(1000)
    requirements = require(settle([Promise(parse_model(model))], data), data)
    apart, close = (
        TwoSize(assign=assign).anonymize(data, requirements, Randomness(1), silent)[0]
        for assign in ("random", "similar")
    )
    assert different_within(close) < 0.8 * different_within(apart)
    sizes = [np.sort(np.bincount(release.bucket_of_quasi)).tolist() for release in (apart, close)]
    assert sizes[0] == sizes[1]


def test_sizes_and_single_records_are_remarked() -> None:
    table = census(300, seed=4)
    names = table.names
    recipe = Recipe(
        schema=Schema.of(qi=names[:1], sensitive=names[-1:]),
        promises=(Promise(FPrivacy(theta=60)),),
        algorithm=TwoSize(),
    )
    notes = pipeline.run(prepare(recipe, table)).notes
    assert any(note.startswith("Bucket sizes: ") for note in notes)
    assert any("in a bucket of their own" in note and "k-anonymity:2" in note for note in notes)
    together = pipeline.run(
        prepare(
            Recipe(
                schema=recipe.schema,
                promises=(*recipe.promises, Promise(parse_model("k-anonymity:2"))),
                algorithm=TwoSize(),
            ),
            table,
        ),
    )
    assert not any("in a bucket of their own" in note for note in together.notes)


def test_sizes_are_listed_once() -> None:
    parts = (Part(2, 1, np.array([2])), Part(3, 4, np.array([12])), Part(2, 2, np.array([4])))
    assert sizes_text(parts) == "3 buckets of 2, 4 buckets of 3"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "values", "ceilings"),
    [
        (Anatomy(), "aabbc", (Fraction(1, 2),) * 3),
        (TwoSize(), "aaabb", (Fraction(2, 3), Fraction(1, 2))),
        (TwoSize(), "aaabcc", (Fraction(1), Fraction(1, 3), Fraction(1, 2))),
        (MultiSize(), "aabbc", (Fraction(1, 2),) * 3),
    ],
    ids=str,
)
def test_whoever_knows_the_method_learns_what_the_bucket_says(method, values: str, ceilings: tuple) -> None:  # type: ignore[no-untyped-def,type-arg]
    """Many runs in every world: after each release the belief in a value is its share of the bucket, within chance.

    Who is in which bucket with which values is all that a release says; worlds are equally likely beforehand.
    """
    requirement = Requirement(column=0, ceilings=ceilings)
    runs = 100
    seen: Counter[frozenset[tuple[frozenset[int], str]]] = Counter()
    joint: Counter[tuple[frozenset[tuple[frozenset[int], str]], int, str]] = Counter()
    for number, world in enumerate(worlds(values)):
        data = tiny_table(world, list(range(len(world))))
        for run in range(runs):
            release, linkage = method.anonymize(data, [requirement], Randomness(1000 * number + run), silent)
            members = defaultdict(list)
            for record, bucket in zip(linkage.record_of_quasi_row, release.bucket_of_quasi, strict=True):
                members[int(bucket)].append(int(record))
            told = frozenset(
                (frozenset(inside), "".join(sorted(world[record] for record in inside))) for inside in members.values()
            )
            seen[told] += 1
            for record, value in enumerate(world):
                joint[told, record, value] += 1
    for told, times in seen.items():
        if times < 60:
            continue
        for inside, stock in told:
            for record in inside:
                for value in set(stock):
                    share = stock.count(value) / len(stock)
                    belief = joint[told, record, value] / times
                    assert abs(belief - share) < 5 * math.sqrt(max(share * (1 - share), 0.02) / times)
