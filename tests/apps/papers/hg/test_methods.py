"""What is measured of the releases of HG's methods."""

from __future__ import annotations

import pytest

from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Size
from lookalike.apps.papers.hg.methods import BUREL, DIVERSE, LIKE, NH, TABLE_10, in_parts, losses, measure
from lookalike.apps.papers.journal import Journal

TINY = Size("tiny", rows=300, most_rows=1000, repetitions=1, queries=40)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(Datasets(), TINY)


def test_studied_releases_are_measured_without_an_audit_and_others_with_one(bench: Bench) -> None:
    data = bench.datasets.census(300, sizes=TABLE_10)
    bench.journal = Journal()
    rows = list(losses(bench, "l", [(5, data, "l-diversity:5")], {**DIVERSE, NH: "ring"}))
    assert {row["series"]: row["audited"] for row in rows} == {"GR": False, "SG": False, "HG": False, NH: True}
    certainty = {row["series"]: row["certainty"] for row in rows}
    assert certainty[NH] == pytest.approx(20)
    assert min(certainty[series] for series in DIVERSE) > 20
    impossible = list(losses(bench, "l", [(60, data, "l-diversity:60")], {NH: "ring"}))
    assert [bool(row.get("infeasible")) for row in impossible] == [True]


def test_the_beta_that_groups_reach_is_the_audits(bench: Bench) -> None:
    data = bench.datasets.census(300, sizes=TABLE_10)
    made = bench.publish(data, "beta-likeness:3,bound=basic", BUREL, 0)
    assert measure(made)["reached_beta"] == pytest.approx(made.beta)
    published = measure(bench.publish(data, "beta-likeness:3,bound=basic", LIKE["GR"], 0))
    assert published["matches"] > 1


def test_parts_lose_no_record(bench: Bench) -> None:
    data = bench.datasets.census(300, sizes=TABLE_10)
    made = bench.publish(data, "l-diversity:5", in_parts(DIVERSE, 7)["HGp"], 0)
    assert made.release.n_rows == 300
    assert measure(made)["matches"] == 5


def test_the_printed_domains_are_declared(bench: Bench) -> None:
    domains = bench.datasets.census(300, sizes=TABLE_10).domains.quasi
    assert [domain.name for domain in domains] == list(TABLE_10)
    age, education = (next(domain for domain in domains if domain.name == name) for name in ("age", "education"))
    assert age.high - age.low == 78
    assert education.high - education.low == 16
