"""Exact Bayes for persons with several rows: all worlds, and all orders in which records are numbered.

The attacker knows the method, all quasi-identifiers, which rows are whose, the order of the file and every other random
choice, and sees what is published without the order of rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from lookalike.algorithms.groups import Groups
from lookalike.attacks.minimality.exact import as_published
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import ONE, PersonSettings
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Attribute, Role
from lookalike.errors import Infeasible, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline.person_rows import keep_rows
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.progress import silent
from tests.algorithms.test_record_numbers import RENUMBERED, ell, releases_of
from tests.oracles.persons import share_of_draws
from tests.worlds import Tape, all_orders, tiny_table, worlds

Beliefs = dict[tuple[Hashable, int, str], Fraction]
STRICT = Groups(mode="strict", effort="fast")


def table_of(world: str, points: Sequence[int], owners: Sequence[int]) -> Microdata:
    data = tiny_table(world, list(points))
    schema = replace(data.schema, attributes=(*data.schema.attributes, Attribute(name="person", role=Role.PERSON)))
    return replace(data, schema=schema, persons=np.array(owners, dtype=np.int32))


def believe(
    method: Groups,
    requirement: Requirement,
    values: str,
    points: Sequence[int],
    owners: Sequence[int],
    *,
    numbered: bool,
) -> tuple[Beliefs, dict[Hashable, tuple[int, ...]]]:
    """P(person has value in some row | release), and the group of each record, if a release has but one way."""
    weight: dict[Hashable, Fraction] = defaultdict(Fraction)
    joint: dict[tuple[Hashable, int, str], Fraction] = defaultdict(Fraction)
    ways: dict[Hashable, set[tuple[int, ...]]] = defaultdict(set)
    orders = [*all_orders(len(values))] if numbered else [np.arange(len(values))]
    for world in worlds(values):
        data = table_of(world, points, owners)
        for numbers in orders:
            try:
                release, record_map = method.anonymize(data, [requirement], Tape({RENUMBERED: numbers}, {}), silent)  # type: ignore[arg-type]
            except Infeasible:
                continue
            seen = as_published(release)
            weight[seen] += 1
            group_of_record = np.empty(len(values), dtype=np.int64)
            group_of_record[record_map.record_of_row] = release.group_of_row  # type: ignore[union-attr]
            ways[seen].add(tuple(group_of_record.tolist()))
            for person in set(owners):
                own = {value for value, owner in zip(world, owners, strict=True) if owner == person}
                for value in own:
                    joint[seen, person, value] += 1
    only = {seen: next(iter(found)) for seen, found in ways.items() if len(found) == 1}
    return {key: part / weight[key[0]] for key, part in joint.items()}, only


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "points", "owners"),
    [
        ("aabc", [0, 0, 5, 6], [0, 0, 1, 2]),
        ("abbbc", [0, 0, 0, 9, 9], [0, 0, 1, 2, 3]),
        ("aabcc", [0, 9, 1, 8, 9], [0, 0, 1, 2, 3]),
        ("aabbb", [0, 0, 0, 1, 2], [0, 0, 0, 1, 2]),
    ],
)
def test_strict_groups_by_size_tell_nothing_about_values(values: str, points: list[int], owners: list[int]) -> None:
    """Exactly what taking the person's number of rows from each group says: 1 - C(w - n, c) / C(w, c) in each."""
    beliefs, only = believe(STRICT, Requirement(min_size=2), values, points, owners, numbered=True)
    assert beliefs
    n_compared = 0
    for (release, person, value), belief in beliefs.items():
        if release not in only:
            continue
        groups = np.array(only[release])
        # The values of each group, from what is published: rows are sorted by cells, then by value.
        none = Fraction(1)
        for group in set(groups[np.array(owners) == person].tolist()):
            held = values_of(release, points, groups == group)
            own = int(((groups == group) & (np.array(owners) == person)).sum())
            none *= 1 - share_of_draws(held, "abcde".index(value), own)
        assert belief == 1 - none
        n_compared += 1
    assert n_compared


def values_of(release: Hashable, points: Sequence[int], inside: np.ndarray) -> list[int]:
    """The published values of the group that covers these records."""
    places = np.unique(np.array(points), return_inverse=True)[1]
    low, high = int(places[inside].min()), int(places[inside].max())
    rows = release  # type: ignore[assignment]
    return [int(row[1][0]) for row in rows if row[0][0][:2] == (low, high)]  # type: ignore[attr-defined,index]


def test_promises_about_values_cannot_be_served_by_the_same_groups() -> None:
    """Whether a cut is made depends on values by persons, so against someone who knows the method they are refused.

    With the groups that are good enough for who reads the release, some releases leave a value with 3/5, although each
    group says 1/2 at most.
    """
    values, points, owners = "abbcdd", [1, 1, 0, 2, 0, 3], [0, 0, 1, 2, 3, 4]
    free = Groups(mode="free", effort="fast")
    beliefs, _ = believe(free, ell(2, 4), values, points, owners, numbered=False)
    assert max(beliefs.values()) == Fraction(3, 5)
    recipe = Recipe(
        schema=table_of(values, points, owners).schema,
        promises=(Promise(parse_model("l-diversity:2")),),
        algorithm=Groups(),
        adversary="knows-method",
    )
    with pytest.raises(Unsupported, match="--rows one"):
        prepare(recipe, table_of(values, points, owners))


FILE_ORDERS = {"by value": True, "by person": False}


@pytest.mark.slow
@pytest.mark.parametrize("by_value", FILE_ORDERS.values(), ids=FILE_ORDERS)
@pytest.mark.parametrize(
    ("values", "points", "owners"),
    [("aacdd", [3, 3, 1, 0, 3], [0, 0, 1, 2, 3]), ("aabdd", [1, 3, 3, 1, 2], [0, 0, 1, 2, 3])],
)
def test_one_row_per_person_drawn_at_random(values: str, points: list[int], owners: list[int], by_value: bool) -> None:
    """Promises about values against someone who knows the method, also in a file sorted by value: any row may be
    the one.
    """
    beliefs = believe_of_kept(values, points, owners, by_value=by_value, keep="random")
    assert beliefs
    assert max(beliefs.values()) <= Fraction(1, 2)


def test_the_first_row_of_a_file_sorted_by_value_tells_something() -> None:
    values, points, owners = "aacdd", [3, 3, 1, 0, 3], [0, 0, 1, 2, 3]
    assert max(believe_of_kept(values, points, owners, by_value=True, keep="first").values()) > Fraction(1, 2)
    data = table_of(values, points, owners)
    for keep in ("first", "last"):
        recipe = Recipe(
            schema=data.schema,
            promises=(Promise(parse_model("l-diversity:1.2")),),
            algorithm=Groups(mode="strict"),
            adversary="knows-method",
            persons=PersonSettings(rows=ONE, keep=keep),
        )
        with pytest.raises(Unsupported, match="--keep random"):
            prepare(recipe, data)
        assert prepare(replace(recipe, adversary="reads-release"), data).adversary == "reads-release"
        drawn = replace(recipe, persons=PersonSettings(rows=ONE))
        assert prepare(drawn, data).adversary == "knows-method"


def believe_of_kept(values: str, points: list[int], owners: list[int], *, by_value: bool, keep: str) -> Beliefs:
    """P(the published row of a person has the value | release), over all ways to draw the rows."""
    weight: dict[Hashable, Fraction] = defaultdict(Fraction)
    joint: dict[tuple[Hashable, int, str], Fraction] = defaultdict(Fraction)
    known: dict[tuple[int, ...], dict[Hashable, Fraction]] = {}
    for world in worlds(values):
        order = sorted(range(len(world)), key=lambda row: world[row]) if by_value else list(range(len(world)))
        file = table_of(world, points, owners).take(np.array(order))
        assert file.persons is not None
        n_codes = file.domains.sensitive[0].n_codes
        own = [np.flatnonzero(file.persons == person).tolist() for person in sorted(set(owners))]
        choices = [*product(*own)] if keep == "random" else [tuple(rows[0] for rows in own)]
        for rows in choices:
            kept = replace(file.take(np.sort(rows)), persons=None)
            if np.bincount(kept.sensitive[:, 0]).max() * 2 > kept.n_rows:
                continue
            for release, chance in releases_of(STRICT, ell(2, n_codes), kept, known).items():
                weight[release] += chance / len(choices)
                for row in rows:
                    value = world[order[row]]
                    joint[release, int(file.persons[row]), value] += chance / len(choices)
    return {key: part / weight[key[0]] for key, part in joint.items()}


def test_every_row_of_a_person_is_drawn_equally_often() -> None:
    data = table_of("abcdef", range(6), [0, 0, 0, 1, 1, 2])
    drawn = np.zeros(6, dtype=np.int64)
    for salt in range(600):
        kept = keep_rows(data, PersonSettings(rows=ONE, salt=f"{salt:x}"))
        assert kept.n_rows == 3
        drawn[kept.quasi[:, 0]] += 1
    assert drawn[5] == 600
    assert (abs(drawn[:3] - 200) < 60).all()
    assert (abs(drawn[3:5] - 300) < 60).all()
