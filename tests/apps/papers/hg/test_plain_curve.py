"""BUREL on a curve of another scale: the same buckets and as many groups, other records in them, the promise kept."""

from __future__ import annotations

import numpy as np

from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.apps.papers.hg.methods import BY_CURVES, CURVES
from lookalike.apps.papers.hg.plain_curve import BurelOnPlainCurve
from lookalike.data.contracts import Promise
from lookalike.data.release import Grouped
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.tables import census_data


def test_only_the_curve_differs_and_the_promise_is_kept() -> None:
    data = census_data(2000)
    promises = settle([Promise(parse_model("beta-likeness:3"))], data)
    requirements = require(promises, data)
    groups = []
    for method in (parse_algorithm("burel:retrieve=curve,fill=1,split=no"), BurelOnPlainCurve(split="no")):
        release, record_map = method.anonymize(data, requirements, Randomness(1), silent)
        assert isinstance(release, Grouped)
        assert pipeline.verify(data, release, promises, graph=record_map.graph).passed
        members = zip(release.group_of_row.tolist(), record_map.record_of_row.tolist(), strict=True)
        by_group: dict[int, set[int]] = {}
        for group, record in members:
            by_group.setdefault(group, set()).add(record)
        groups.append(by_group.values())
    assert sorted(map(len, groups[0])) == sorted(map(len, groups[1]))
    assert set(map(frozenset, groups[0])) != set(map(frozenset, groups[1]))


def test_columns_with_more_codes_count_more() -> None:
    """On codes as they are the widest column has the highest bits, so neighbours on the curve are close in it."""
    data = census_data(2000)
    keys = BurelOnPlainCurve().place_on_curve(data)
    order = np.argsort(keys, kind="stable")
    steps = []
    for column, domain in enumerate(data.domains.quasi):
        values = domain.values.astype(np.float64)[data.quasi[order, column]]
        steps.append(float(np.abs(np.diff(values)).mean() / max(np.ptp(values), 1.0)))
    widths = [np.ptp(domain.values.astype(np.float64)) for domain in data.domains.quasi]
    assert steps[int(np.argmax(widths))] < steps[int(np.argmin(widths))]


def test_no_registry_has_it_and_both_scales_are_compared() -> None:
    assert BurelOnPlainCurve.name not in ALGORITHMS
    assert set(CURVES.values()) == set(BY_CURVES)
