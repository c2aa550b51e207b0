"""Releases in buckets: audits, remarks, and what buckets tell anyone who knows the method."""

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
from lookalike.data.contracts import Promise
from lookalike.data.release import Bucketized
from lookalike.data.requirement import Requirement
from lookalike.errors import Unsupported
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.tables import census_data
from tests.worlds import tiny_table, worlds

# -- releases -------------------------------------------------------------------------------------------------------


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
    """Many runs in every world: after each release the certainty about a value is its share of the bucket, within
    chance.

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
