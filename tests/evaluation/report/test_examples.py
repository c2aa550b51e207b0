"""Made-up people: drawn from the release alone, put together at random, and treated like the table."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from lookalike.apps.samples import hospital, sample_schema
from lookalike.data.schema import Role, Schema
from lookalike.evaluation.report.examples import make_up_examples, make_up_people
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.read import ReleaseFolder
from lookalike.randomness import Randomness
from tests.evaluation.report.conftest import Reported


def test_nobody_of_the_original_is_shown(reported: Reported) -> None:
    data = reported.publication.made.data
    domains = (*data.domains.quasi, *data.domains.sensitive)
    people = {
        tuple(domain.texts[code] for domain, code in zip(domains, codes, strict=True))
        for codes in np.column_stack((data.quasi, data.sensitive)).tolist()
    }
    assert reported.examples.before
    assert not people & set(reported.examples.before)
    assert "original" not in inspect.signature(make_up_examples).parameters


def test_columns_are_put_together_at_random(reported: Reported) -> None:
    """Values as in a plain table drawn from the release; which goes with which is drawn anew."""
    people = make_up_people(ReleaseFolder(reported.folder), Randomness(1))
    alone = read_alone(ReleaseFolder(reported.folder))
    assert [domain.texts for domain in people.domains.quasi] == [domain.texts for domain in alone.domains.quasi]
    ages, jobs = people.quasi[:, 0], people.quasi[:, 4]
    children = people.domains.quasi[0].values[ages] < 15
    retired = np.array([people.domains.quasi[4].texts[code] == "retired" for code in jobs])
    assert (children & retired).any()


def test_rows_after_hold_the_rows_before(reported: Reported) -> None:
    columns = reported.examples.columns
    assert columns == ("age", "sex", "zip code", "admission_date", "occupation", "diagnosis")
    assert len(reported.examples.before) == len(reported.examples.after) >= 3
    for before, after in zip(reported.examples.before, reported.examples.after, strict=True):
        low, _, high = after[0].partition("-")
        assert int(low) <= int(before[0]) <= int(high or low)
        assert before[1] in after[1].split("|")
        assert "*" not in before[2]
        assert before[2].startswith(after[2].rstrip("*"))
        assert before[5] == after[5]
    assert len({after[:5] for after in reported.examples.after}) == 1


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [("anatomy", "l-diversity:3"), ("perturbation", "beta-likeness:2"), ("ring", "l-diversity:3")],
)
def test_every_form_has_examples(algorithm: str, model: str, tmp_path: Path) -> None:
    whole = Schema.load(sample_schema())
    schema = Schema(tuple(one for one in whole.attributes if one.role is not Role.CARRIED))
    made = la.publish(hospital(200, seed=2), schema=schema, model=model, algorithm=algorithm)
    made.write(tmp_path / "out", report="brief")
    found = make_up_examples(ReleaseFolder(tmp_path / "out"), made.made.promises, made.made.algorithm, "reads-release")
    assert found is not None
    assert len(found.before) == len(found.after) > 0
    if algorithm == "anatomy":
        for before, after in zip(found.before, found.after, strict=True):
            assert after[5].startswith("one of: ")
            assert before[5] in after[5].removeprefix("one of: ").split(", ")


def test_a_promise_that_so_few_cannot_keep_has_no_examples(reported: Reported) -> None:
    (promise,) = la.publish(
        hospital(300, seed=3), schema=sample_schema(), model="k-anonymity:300", algorithm="mondrian"
    ).made.promises
    algorithm = reported.publication.made.algorithm
    impossible = la.Promise(la.KAnonymity(301), promise.column)
    assert make_up_examples(ReleaseFolder(reported.folder), [impossible], algorithm, "reads-release") is None
