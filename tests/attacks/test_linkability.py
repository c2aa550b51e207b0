"""Linkability: which rows of two files are joined, and how often rightly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.linkability import split_columns
from lookalike.data.contracts import Target
from lookalike.data.microdata import Microdata
from tests.attacks.people import RELEASES, people, target, unchanged
from tests.attacks.targets import attacked
from tests.audit.making import grouped, number_table


def in_two_groups() -> Target:
    """Four people known by age in one file and by zip code in the other, in two groups."""
    data = number_table([[22, 1], [27, 1], [31, 2], [38, 2]], [0, 1, 0, 1])
    return Target(release=grouped(data, [0, 0, 1, 1], np.arange(4)), original=data)


def test_two_candidates_each() -> None:
    found = attacked("linkability:first=q0,second=q1", in_two_groups()).residual
    assert found is not None
    assert (found.n, found.right, found.baseline) == (4, 2, 0.25)
    assert (found.share - found.baseline) / (1 - found.baseline) == pytest.approx(1 / 3)


def test_within_one_class_everybody_is_as_likely() -> None:
    data = number_table([[age, age % 3] for age in range(8)], [0, 1] * 4)
    aim = Target(release=grouped(data, [0] * 8, np.arange(8)), original=data)
    found = attacked("linkability:first=q0,second=q1", aim).residual
    assert found is not None
    assert found.share == pytest.approx(1 / 8)


def by_hand(aim: Target, first: list[int], second: list[int]) -> float:
    """The links worked out one by one."""
    release, data = aim.release, aim.original
    cells = [
        [
            range(int(release.extents[place].lows[group]), int(release.extents[place].highs[group]) + 1)
            for place in range(data.quasi.shape[1])
        ]
        for group in range(len(release.extents[0]))
    ]
    sizes = np.bincount(release.group_of_row)

    def weigh(person: int, places: list[int]) -> np.ndarray:
        inside = [all(data.quasi[person, place] in cell[place] for place in places) for cell in cells]
        weights = sizes * np.array(inside, dtype=float)
        return weights / weights.sum() if weights.sum() else weights

    one = np.array([weigh(person, first) for person in range(data.n_rows)])
    other = np.array([weigh(person, second) for person in range(data.n_rows)])
    right = 0.0
    for person, scores in enumerate(one @ other.T):
        ties = np.flatnonzero(scores >= scores.max() * (1 - 1e-9))
        right += float(person in ties) / len(ties)
    return right


@pytest.mark.parametrize("seed", range(5))
def test_links_are_as_worked_out_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = number_table(rng.integers(0, 6, (25, 3)), rng.integers(0, 3, 25))
    groups = np.sort(rng.integers(0, 4, 25))
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    release = grouped(data, groups, np.arange(25))
    aim = Target(release=release, original=data)
    keys = {tuple((int(e.lows[g]), int(e.highs[g])) for e in release.extents) for g in range(groups.max() + 1)}
    if len(keys) == groups.max() + 1:
        found = attacked("linkability:first=q0,second=q1|q2", aim).residual
        assert found is not None
        assert found.right == pytest.approx(by_hand(aim, [0], [1, 2]))


def test_columns_are_dealt_by_falling_number_of_values() -> None:
    domains = people()[0].domains.quasi
    one, other = split_columns(domains, None, None)
    order = sorted(range(len(domains)), key=lambda place: -domains[place].n_codes)
    assert sorted(one) == sorted(order[0::2])
    assert sorted(other) == sorted(order[1::2])
    assert split_columns(domains, (domains[2].name,), None) == ([2], [0, 1, 3])
    assert split_columns(domains, None, (domains[2].name,)) == ([0, 1, 3], [2])


@pytest.mark.parametrize("form", RELEASES)
def test_people_of_the_table_are_linked_more_often_than_others(form: str) -> None:
    found = attacked("linkability", target(form)).residual
    assert found is not None
    assert found.control_share is not None
    assert found.baseline == 1 / found.n
    assert found.share > found.control_share
    assert found.n == found.control_n


@pytest.mark.parametrize("form", RELEASES)
def test_a_control_group_out_of_the_table_is_linked_alike(form: str) -> None:
    aim = target(form)
    half = np.sort(np.random.default_rng(1).permutation(aim.original.n_rows)[: aim.original.n_rows // 2])
    found = attacked("linkability", replace(aim, control=aim.original.take(half))).residual
    assert found is not None
    assert found.low == 0


def test_a_table_published_unchanged_links_who_is_unique() -> None:
    found = attacked("linkability", unchanged()).residual
    assert found is not None
    assert found.control_share is not None
    assert found.share > 2 * found.control_share


def test_so_many_people_are_in_each_file() -> None:
    found = attacked("linkability:people=120", target("grouped")).residual
    assert found is not None
    assert (found.n, found.control_n, found.baseline) == (120, 120, 1 / 120)


def test_files_need_different_columns() -> None:
    aim = in_two_groups()
    assert "no quasi-identifier" in str(parse_attack("linkability:first=job").refuses(aim))
    assert "different columns" in str(parse_attack("linkability:first=q0,second=q0").refuses(aim))
    alone = number_table([[1], [2]], [0, 1])
    single = Target(release=grouped(alone, [0, 0], np.arange(2)), original=alone)
    assert "has one" in str(parse_attack("linkability").refuses(single))


def test_persons_with_several_rows_are_known_by_one() -> None:
    aim = in_two_groups()
    data: Microdata = replace(aim.original, persons=np.array([0, 0, 1, 1], dtype=np.int32))
    found = attacked("linkability:first=q0,second=q1", replace(aim, original=data)).residual
    assert found is not None
    assert (found.n, found.right) == (2, 2), "each of the two is alone in a group"
