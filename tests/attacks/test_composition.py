"""Composition: releases that are safe one by one and not together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.composition import combine_beliefs
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Target
from lookalike.errors import Unsupported
from lookalike.models import parse_model
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.targets import attacked, in_groups, promised, table
from tests.audit.making import bucketized, grouped, mixing_matrix, number_table, perturbed

SQUARE = number_table([[1, 1], [1, 2], [2, 1], [2, 2]], [0, 1, 1, 2])


def test_two_groupings_that_cross() -> None:
    """Rows and columns of a square with the values a b / b c: anyone who has b is settled by the crossing."""
    data = SQUARE
    first, other = in_groups(data, [0, 0, 1, 1]), grouped(data, [0, 1, 0, 1], np.arange(4))
    beliefs, n_torn = combine_beliefs(
        [Whereabouts(replace(first, release=release)).beliefs(0) for release in (first.release, other)],
        data.counts(0),
    )
    # Record 0 sees a and b twice: a 1/2 * 1/2 / (1/4) = 1, b 1/2 * 1/2 / (1/2) = 1/2.
    assert beliefs.toarray()[0] == pytest.approx([2 / 3, 1 / 3, 0])
    assert beliefs.toarray()[1] == pytest.approx([0, 1, 0])
    assert beliefs.toarray()[3] == pytest.approx([0, 1 / 3, 2 / 3])
    assert n_torn == 0
    finding = attacked("composition", replace(first, others=(other,)))
    assert finding.figures["records left with one value"] == 2
    assert finding.figures["records left with one value by one release"] == 0
    assert finding.n_affected == 2
    assert finding.score is not None
    assert finding.score.n_right == 4


def test_crossing_releases_succeed_and_equal_ones_do_not() -> None:
    rng = np.random.default_rng(1)
    values = rng.permutation(np.arange(400) % 20)
    groups, across = _diverse(values, rng), _diverse(values, rng)
    data = number_table(np.column_stack((groups, across)), values)
    target = in_groups(data, groups, "l-diversity:4")
    crossing = grouped(data, across, rng.permutation(400))
    equal = grouped(data, groups, rng.permutation(400))
    weak = attacked("composition", replace(target, others=(crossing,)))
    safe = attacked("composition", replace(target, others=(equal,)))
    assert weak.succeeds is True
    assert weak.n_affected is not None
    assert weak.n_affected > 300
    assert weak.exposure is not None
    assert parse_model("l-diversity:4").level(weak.exposure).value < 4
    assert safe.succeeds is False
    assert safe.n_affected == 0


def _diverse(values: Any, rng: np.random.Generator) -> Any:
    """Groups of four different values: five bands of four values each, records of a value in random order."""
    kinds = rng.permutation(20)[values]
    groups = np.empty(len(values), dtype=np.int64)
    for kind in range(20):
        mine = np.flatnonzero(kinds == kind)
        groups[mine] = kind // 4 * len(mine) + rng.permutation(len(mine))
    return groups


def test_forms_mix() -> None:
    data = SQUARE
    rng = np.random.default_rng(2)
    others = (
        bucketized(data, [0, 1, 0, 1], np.arange(4), np.arange(4)),
        perturbed(rng, data, [mixing_matrix(3, 6, 10)], np.arange(4)),
    )
    finding = attacked("composition", replace(in_groups(data, [0, 0, 1, 1]), others=others))
    assert finding.figures["records left with one value"] == 2
    assert "3 releases" in finding.sentence


def test_contradictions_are_said() -> None:
    data = table([1, 2, 3, 4], [0, 0, 1, 1])
    honest = bucketized(data, [0, 0, 1, 1], np.arange(4), np.arange(4))
    lie = replace(honest, sensitive=data.sensitive[::-1].copy())
    finding = attacked("composition", replace(in_groups(data, [0, 0, 1, 1], "l-diversity:1"), others=(lie,)))
    assert finding.figures["contradicted records"] == 4
    assert "may not be about the same records" in finding.sentence


def test_what_it_refuses() -> None:
    data, other = table([1, 2], [0, 1]), table([1, 2, 3], [0, 1, 2])
    target = in_groups(data, [0, 0])
    with pytest.raises(Unsupported, match="one release only"):
        parse_attack("composition").run(target, Randomness(1), silent)
    foreign = Target(
        release=target.release, original=data, others=(in_groups(other, [0, 0, 0]).release,), promises=promised(None)
    )
    with pytest.raises(Unsupported, match="same columns"):
        parse_attack("composition").run(foreign, Randomness(1), silent)
