"""Singling out: which predicates are written, who satisfies them, and what a control group tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.data.contracts import Target
from lookalike.data.control import encode_control
from lookalike.data.ends import Ends, round_ends
from lookalike.data.microdata import Table
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.people import RELEASES, people, target, unchanged
from tests.attacks.targets import attacked, in_groups, table
from tests.audit.making import bucketized, number_table, whole_numbers


def isolating(kind: str, aim: Target) -> tuple[int, int]:
    """Predicates of a kind, and how many isolate someone."""
    found = attacked(f"singling-out:kind={kind}", aim).residual
    assert found is not None
    return found.n, int(found.right)


def by_hand(ages: list[int], values: list[int], groups: list[int]) -> dict[str, tuple[int, int]]:
    """The same counted in the open, for one numeric quasi-identifier and one group per interval."""
    held = {group: [age for age, mine in zip(ages, groups, strict=True) if mine == group] for group in set(groups)}
    found = {"row": [0, 0], "ends": [0, 0], "value": [0, 0]}
    for group, mine in held.items():
        inside = [i for i, age in enumerate(ages) if min(mine) <= age <= max(mine)]
        found["row"][0] += 1
        found["row"][1] += len(inside) == 1
        for end in (min(mine), max(mine)) if min(mine) < max(mine) else ():
            found["ends"][0] += 1
            found["ends"][1] += sum(ages[i] == end for i in inside) == 1
        shown = [values[i] for i, other in enumerate(groups) if other == group]
        for value in set(shown):
            if shown.count(value) == 1:
                found["value"][0] += 1
                found["value"][1] += sum(values[i] == value for i in inside) == 1
    return {kind: (n, right) for kind, (n, right) in found.items()}


@pytest.mark.parametrize("seed", range(6))
def test_predicates_are_counted_as_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ages, values = rng.integers(0, 12, 30).tolist(), rng.integers(0, 4, 30).tolist()
    groups = rng.integers(0, 5, 30).tolist()
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1).tolist()
    # Groups with the same interval are one class to a reader.
    intervals = [
        (
            min(a for a, g in zip(ages, groups, strict=True) if g == group),
            max(a for a, g in zip(ages, groups, strict=True) if g == group),
        )
        for group in range(max(groups) + 1)
    ]
    groups = [sorted(set(intervals)).index(intervals[group]) for group in groups]
    aim = in_groups(table(ages, values), groups)
    for kind, expected in by_hand(ages, values, groups).items():
        if expected[0]:
            assert isolating(kind, aim) == expected, kind


def test_a_member_of_a_set_isolates_who_alone_has_it() -> None:
    data, _ = people()
    aim = target("matched")
    n, right = isolating("members", aim)
    assert 0 < right < n
    assert data.domains.quasi[1].kind.value == "categorical"


def test_values_of_a_bucket_are_held_against_the_people_whom_it_lists() -> None:
    data = number_table([[1], [2], [3], [4]], [0, 1, 0, 2])
    aim = Target(release=bucketized(data, [0, 0, 1, 1], np.arange(4), np.arange(4)), original=data)
    # Both values of both buckets are shown once, and each belongs to one of the two people listed.
    assert isolating("value", aim) == (4, 4)
    assert isolating("exact", aim) == (4, 4)


def test_a_table_published_unchanged_isolates_its_unique_records() -> None:
    aim = unchanged()
    n, right = isolating("exact", aim)
    _, times = np.unique(aim.original.quasi, axis=0, return_counts=True)
    assert (n, right) == (aim.original.n_rows, int((times == 1).sum()))


@pytest.mark.parametrize("form", RELEASES)
def test_people_of_the_table_are_no_worse_a_control_than_others(form: str) -> None:
    """Where control group and targets are both drawn from the table, nothing is left of the difference."""
    aim = target(form)
    half = np.sort(np.random.default_rng(1).permutation(aim.original.n_rows)[: aim.original.n_rows // 2])
    drawn = replace(aim, control=aim.original.take(half))
    kinds = {"bucketized": "exact", "perturbed": "exact", "grouped": "ends", "matched": "ends"}
    found = attacked(f"singling-out:kind={kinds[form]}", drawn).residual
    assert found is not None
    assert found.uncut is not None
    assert found.low == 0
    assert abs(found.uncut) < 0.15


@pytest.mark.parametrize("form", RELEASES)
def test_people_in_the_table_are_isolated_more_often_than_others(form: str) -> None:
    found = attacked("singling-out", target(form)).residual
    assert found is not None
    assert found.kind in ("ends", "members", "value", "exact", "rare")
    assert found.control_share is not None
    assert found.share > found.control_share
    assert found.baseline is not None
    assert found.baseline < found.share


def test_rounded_ends_are_nobodys_values() -> None:
    aim = target("grouped")
    names = [domain.name for domain in aim.release.domains.quasi]
    rounded = replace(aim, release=round_ends(aim.release, Ends.read({names[0]: 10, names[2]: 4}))[0])
    exact, grid = (attacked("singling-out:kind=ends", one).residual for one in (aim, rounded))
    assert exact is not None
    assert grid is not None
    assert grid.share < exact.share / 1.5


def test_the_kind_is_chosen_on_other_predicates_than_it_is_scored_on() -> None:
    aim = target("matched")
    best = attacked("singling-out", aim).residual
    assert best is not None
    assert best.kind is not None
    alone = attacked(f"singling-out:kind={best.kind}", aim).residual
    assert alone is not None
    assert best.n in (alone.n // 2, alone.n - alone.n // 2, alone.n)


def test_no_more_predicates_are_made_than_wanted() -> None:
    found = attacked("singling-out:kind=value,predicates=50", target("matched"))
    assert found.residual is not None
    assert found.residual.n == 50
    assert "Fewer than 100 guesses" in found.sentence
    assert "isolated by value" not in found.figures


def test_facts_need_no_attacker() -> None:
    aim = in_groups(table([1, 2, 3, 9], [0, 1, 0, 1]), [0, 0, 0, 1])
    figures = attacked("singling-out", aim).figures
    assert figures["smallest class"] == 1
    assert figures["unique on their published quasi-identifiers"] == 0.25


def test_persons_with_several_rows_are_counted_once() -> None:
    ages, values = [1, 1, 5, 9], [0, 0, 1, 1]
    rows = in_groups(table(ages, values), [0, 0, 0, 0])
    assert isolating("ends", rows) == (2, 1), "two rows have the lowest age"
    data = replace(rows.original, persons=np.array([0, 0, 1, 2], dtype=np.int32))
    assert isolating("ends", replace(rows, original=data)) == (2, 2), "and they are one person's"


def test_a_form_without_such_predicates_is_refused() -> None:
    assert "no predicates of kind ends" in str(parse_attack("singling-out:kind=ends").refuses(target("perturbed")))
    assert parse_attack("singling-out").refuses(target("grouped")) is None


def test_numbers_that_only_the_control_group_has_lie_between_those_of_the_table() -> None:
    """An age of 15 is in the interval from 10 to 20 although nobody in the table is 15."""
    aim = in_groups(table([10, 20, 30, 40], [0, 1, 0, 1]), [0, 0, 1, 1])
    asked = Table((whole_numbers("q0", [15, 25, 35, 99]), whole_numbers("s", [0, 0, 1, 1])))
    control, _ = encode_control(asked, aim.original)
    found = attacked("singling-out:kind=row", replace(aim, control=control)).residual
    assert found is not None
    assert (found.n, found.right, found.control_right) == (2, 0, 2), "one of them is in each interval"


def test_the_same_seed_writes_the_same_predicates() -> None:
    first, second = (parse_attack("singling-out").run(target("grouped"), Randomness(4), silent) for _ in range(2))
    assert first[0].sentence == second[0].sentence


def test_a_small_control_group_is_held_against_as_many_of_the_table() -> None:
    aim = target("matched")
    assert aim.control is not None
    few = replace(aim, control=aim.control.take(np.arange(60)))
    found = attacked("singling-out:kind=ends", few)
    alone = attacked("singling-out:kind=ends", replace(aim, control=None))
    assert alone.residual is not None
    assert found.figures["isolated in the whole table"] == pytest.approx(alone.residual.share)
    assert "guesses about 60 people of each" in found.sentence
    assert "isolated in the whole table" not in alone.figures
