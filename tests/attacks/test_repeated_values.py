"""Repeated values: 1/l on releases drawn column by column, far more on the published draw."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lookalike.algorithms.heterogeneous import Heterogeneous
from lookalike.apps.papers.hg.published_heterogeneous import HeterogeneousAsPublished
from lookalike.attacks import parse_attack
from lookalike.data.contracts import Algorithm, Promise, Target
from lookalike.errors import Unsupported
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.targets import attacked, in_groups, table
from tests.audit.making import matched, mixed_table, number_table, ring
from tests.oracles.containment import fit_table


def heterogeneous(method: Algorithm, n_attributes: int) -> Target:
    rng = np.random.default_rng(5)
    data = number_table(rng.integers(0, 1000, (600, n_attributes)), np.tile(np.arange(5), 120))
    promises = tuple(settle([Promise(parse_model("l-diversity:5"))], data))
    release, linkage = method.anonymize(data, require(promises, data), Randomness(3), silent)
    return Target(release=release, original=data, promises=promises, graph=linkage.graph)


@pytest.mark.parametrize("text", ["repeated-values", "repeated-values:graph"])
def test_the_corrected_draw_gives_one_in_l(text: str) -> None:
    finding = attacked(text, heterogeneous(Heterogeneous(), 7))
    assert finding.figures["expected share right"] == pytest.approx(1 / 5, abs=0.03)
    assert finding.succeeds is False


@pytest.mark.parametrize("text", ["repeated-values", "repeated-values:graph"])
def test_the_published_draw_gives_more(text: str) -> None:
    finding = attacked(text, heterogeneous(HeterogeneousAsPublished(), 7))
    assert finding.figures["expected share right"] > 0.26
    assert finding.succeeds is True
    assert finding.n_affected is not None
    assert finding.n_affected > 100


def test_values_seen_once_by_hand() -> None:
    data = table([1, 2, 3, 4], [0, 1, 1, 2])
    release, _ = matched(data, [[0, 1, 2, 3]] * 4, [0, 1, 2, 3], [0, 1, 2, 3])
    finding = attacked("repeated-values", Target(release=release, original=data))
    assert finding.exposure is not None
    values, weights, size = finding.exposure.unit(0)
    assert values.tolist() == [0, 2]
    assert (weights / size).tolist() == [0.5, 0.5]
    # The two persons with the repeated value are never guessed, the others in half of all cases.
    assert finding.figures["expected share right"] == pytest.approx(1 / 4)
    assert finding.figures["records that see a value repeated"] == 4


def test_it_agrees_with_brute_force() -> None:
    rng = np.random.default_rng(8)
    data = mixed_table(rng, 50, n_values=6)
    release, _ = ring(rng, data, 5)
    finding = attacked("repeated-values", Target(release=release, original=data))
    expected = 0.0
    for fits, value in zip(fit_table(release, data), data.sensitive[:, 0].tolist(), strict=True):
        seen = Counter(release.sensitive[fits, 0].tolist())
        once = [one for one, times in seen.items() if times == 1]
        expected += once.count(value) / len(once) if once else seen[value] / seen.total()
    assert finding.figures["expected share right"] == pytest.approx(expected / data.n_rows)
    assert finding.score is not None
    assert finding.score.share == pytest.approx(expected / data.n_rows, abs=0.2)


def test_what_it_refuses() -> None:
    data = table([1, 2], [0, 1])
    with pytest.raises(Unsupported, match="this one is grouped"):
        parse_attack("repeated-values").run(in_groups(data, [0, 0]), Randomness(1), silent)
    release, _ = matched(data, [[0, 1], [0, 1]], [0, 1], [0, 1])
    with pytest.raises(Unsupported, match="private graph"):
        parse_attack("repeated-values:graph").run(Target(release=release, original=data), Randomness(1), silent)
