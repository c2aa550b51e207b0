"""Frozen cells: example E, exact Bayes over all worlds, what waiting tells, deletions, persons who come back."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from lookalike.algorithms.shared.fixed_cells import GroupTest
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.errors import RecipeError
from lookalike.models import parse_model
from lookalike.pipeline.series.frozen import (
    NEVER,
    BatchPlan,
    FrozenRows,
    count_corrections,
    plan_batch,
    refuse_frozen,
)


def at_least(k: int, persons: Sequence[int] | None = None) -> GroupTest:
    """k-anonymity, by persons if they are given."""
    return lambda rows: len(rows if persons is None else {persons[row] for row in rows.tolist()}) >= k


def diverse(ell: int, values: Sequence[object], persons: Sequence[int] | None = None) -> GroupTest:
    """Simple l-diversity by brute force: no value has more than 1/l of the rows (of the persons)."""

    def keeps(rows: np.ndarray) -> bool:
        owners = [row if persons is None else persons[row] for row in rows.tolist()]
        having = Counter({(owner, values[row]) for owner, row in zip(owners, rows.tolist(), strict=True)})
        most = Counter(value for _, value in having)
        return bool(owners) and max(most.values()) * ell <= len(set(owners))

    return keeps


def rows_of(
    cell: Sequence[int],
    block: Sequence[int],
    *,
    gone: Sequence[int] = (),
    left: Sequence[int] = (),
    person: Sequence[int] | None = None,
) -> FrozenRows:
    n_rows = len(cell)
    present, has_left = np.ones(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
    present[[*gone, *left]] = False
    has_left[[*left]] = True
    return FrozenRows(
        cell=np.array(cell, dtype=np.int64),
        block=np.array(block, dtype=np.int64),
        present=present,
        left=has_left,
        person=None if person is None else np.array(person, dtype=np.int64),
    )


def test_example_e() -> None:
    # Release 1: cell A has 5 rows, B has 3. Batch 2: A gets 1, B gets 4. Both cells would be 3-anonymous at once.
    cell = [0] * 5 + [1] * 3 + [0] + [1] * 4
    first = plan_batch(rows_of(cell[:8], [NEVER] * 8), at_least(3))
    assert first.published.all()
    second = plan_batch(rows_of(cell, [*first.block, *[NEVER] * 5]), at_least(3))
    assert second.waits.nonzero()[0].tolist() == [8]
    assert second.enters.nonzero()[0].tolist() == [9, 10, 11, 12]
    assert str(second) == "4 of 5 new rows published, 1 row waiting"
    # The waiting row joins a later batch, with two more.
    third = plan_batch(rows_of([*cell, 0, 0], [*second.block, NEVER, NEVER]), at_least(3))
    assert third.enters.nonzero()[0].tolist() == [8, 13, 14]
    assert len(set(third.block[[8, 13, 14]].tolist())) == 1
    assert not third.waits.any()


def play(
    worlds: Iterator[tuple[int, ...]], cells: Sequence[int], batches: Sequence[int], test: Callable[..., GroupTest]
) -> dict[object, list[tuple[tuple[int, ...], list[BatchPlan]]]]:
    """All worlds by what a reader sees of two releases: the values of each cell in each of them."""
    seen = defaultdict[object, list[tuple[tuple[int, ...], list[BatchPlan]]]](list)
    for values in worlds:
        block = np.full(len(cells), NEVER)
        plans, shown = [], []
        for batch in (1, 2):
            known = [person for person in range(len(cells)) if batches[person] <= batch]
            plan = plan_batch(
                rows_of([cells[p] for p in known], block[known].tolist()), test([values[p] for p in known])
            )
            block[known] = plan.block
            plans.append(plan)
            published = [known[place] for place in np.flatnonzero(plan.published)]
            shown.append(
                tuple(tuple(sorted(values[p] for p in published if cells[p] == cell)) for cell in sorted(set(cells)))
            )
        seen[tuple(shown)].append((values, plans))
    return seen


def test_all_worlds_of_seven_persons_believe_what_the_first_group_of_each_says() -> None:
    # Cell 0 gets persons 0, 1 in batch 1 and 2, 3 in batch 2; cell 1 gets 4, 5, then 6, who waits under k = 2.
    cells, batches, values = [0, 0, 0, 0, 1, 1, 1], [1, 1, 2, 2, 1, 1, 2], 3
    seen = play(itertools.product(range(values), repeat=7), cells, batches, lambda _: at_least(2))
    n_compared = 0
    for worlds in seen.values():
        plans = worlds[0][1]
        assert plans[1].waits.tolist() == [False] * 6 + [True]
        for person in range(7):
            group = [p for p in range(7) if (cells[p], batches[p]) == (cells[person], batches[person])]
            for value in range(values):
                belief = Fraction(sum(world[person] == value for world, _ in worlds), len(worlds))
                # What the group alone says; of a row that waits nothing but the prior.
                some = worlds[0][0]
                alone = (
                    Fraction(sum(some[p] == value for p in group), len(group)) if person < 6 else Fraction(1, values)
                )
                assert belief == alone
                n_compared += 1
    assert n_compared == len(seen) * 7 * values
    assert len(seen) == 6 * 6 * 6


def test_waiting_tells_somebody_who_knows_the_rule() -> None:
    # One cell. x, y wait under l-diversity:2 if they are alike; with two more rows all four are published.
    cells, batches = [0, 0, 0, 0], [1, 1, 2, 2]
    seen = play(itertools.product(range(3), repeat=4), cells, batches, lambda values: diverse(2, values))
    flu, hiv, cold = 0, 1, 2
    worlds = seen[(((),), ((flu, flu, hiv, cold),))]
    assert all(not plans[0].published.any() and plans[1].published.all() for _, plans in worlds)
    for person in (0, 1):
        assert Fraction(sum(world[person] == flu for world, _ in worlds), len(worlds)) == 1
    assert "learns from it" in str(refuse_frozen([promise("l-diversity:2")], KNOWS_METHOD))
    # A reader who takes both releases for what they show believes 1/2, as promised.
    assert Fraction((flu, flu, hiv, cold).count(flu), 4) == Fraction(1, 2)


def promise(text: str) -> Promise:
    model = parse_model(text)
    return Promise(model, None if model.about_identity else "diagnosis")


@pytest.mark.parametrize(
    ("text", "adversary", "word"),
    [
        ("k-anonymity:3", READS_RELEASE, None),
        ("k-anonymity:3", KNOWS_METHOD, None),
        ("l-diversity:2", READS_RELEASE, None),
        ("l-diversity:2,kind=entropy", READS_RELEASE, None),
        ("alpha-k:0.5,k=2", READS_RELEASE, None),
        ("alpha-k:0.5,k=2", KNOWS_METHOD, "rows wait"),
        ("beta-likeness:2", READS_RELEASE, "change with every batch"),
        ("t-closeness:0.2", READS_RELEASE, "change with every batch"),
        ("delta-disclosure:1", READS_RELEASE, "change with every batch"),
        ("f-privacy:theta=8", READS_RELEASE, "change with every batch"),
    ],
)
def test_promises_that_frozen_cells_keep(text: str, adversary: str, word: str | None) -> None:
    reason = refuse_frozen([promise("k-anonymity:2"), promise(text)], adversary)
    assert reason is None if word is None else word in str(reason)


def test_rows_leave_as_groups_only() -> None:
    cell, block = [0] * 6, [0] * 6
    one = plan_batch(rows_of(cell, block, gone=[5]), at_least(2))
    assert one.lingers.nonzero()[0].tolist() == [5]
    assert one.published.all()
    # Two may leave: a group of two, and four stay behind in their own block.
    two = plan_batch(rows_of(cell, block, gone=[4, 5]), at_least(2))
    assert two.leaves.nonzero()[0].tolist() == [4, 5]
    assert two.published.nonzero()[0].tolist() == [0, 1, 2, 3]
    assert len(set(two.block.tolist())) == 2
    # Five may not: the one who stays behind would be alone, although other blocks of the cell are larger.
    five = plan_batch(rows_of([*cell, 0, 0], [*block, 1, 1], gone=[1, 2, 3, 4, 5]), at_least(2))
    assert five.lingers.sum() == 5
    assert not five.leaves.any()


def test_rows_that_left_never_come_back() -> None:
    rows = rows_of([0, 0, 0, 0], [0, 0, 1, 1], left=[2, 3])
    rows.present[2] = True
    plan = plan_batch(rows, at_least(1))
    assert plan.published.tolist() == [True, True, False, False]
    assert not plan.waits.any()
    # By persons, no further row of someone who left is published either.
    again = rows_of([0, 0, 0, 0, 0, 0], [0, 0, 1, 1, NEVER, NEVER], left=[2, 3], person=[0, 1, 2, 3, 2, 4])
    plan = plan_batch(again, at_least(1, [0, 1, 2, 3, 2, 4]))
    assert plan.enters.tolist() == [False] * 5 + [True]
    assert plan.waits.tolist() == [False] * 4 + [True, False]


def test_corrections_are_refused() -> None:
    rows = rows_of([0, 0, 0], [0, 0, NEVER], gone=[1], person=[0, 1, 1])
    assert count_corrections(rows) == 1
    with pytest.raises(RecipeError, match="1 person lost a published row"):
        plan_batch(rows, at_least(1))
    assert count_corrections(rows_of([0, 0, 0], [0, 0, NEVER], gone=[1], person=[0, 1, 2])) == 0


def test_a_new_row_of_an_old_person_is_no_new_person() -> None:
    persons = [0, 1, 2, 0, 0]
    plan = plan_batch(rows_of([0] * 5, [0, 0, 0, NEVER, NEVER], person=persons), at_least(2, persons))
    # Two new rows, one person.
    assert plan.waits.tolist() == [False] * 3 + [True, True]


def test_persons_who_come_back_with_each_others_values_wait() -> None:
    # Each batch by itself has two persons and two values; both together show that both persons have both values.
    persons, values = [0, 1, 0, 1], ["flu", "cold", "cold", "flu"]
    rows = rows_of([0] * 4, [0, 0, NEVER, NEVER], person=persons)
    keeps = diverse(2, values, persons)
    assert keeps(np.array([0, 1]))
    assert keeps(np.array([2, 3]))
    assert not keeps(np.arange(4))
    assert plan_batch(rows, keeps).waits.tolist() == [False, False, True, True]
    # New persons beside them are as safe as ever.
    others = [0, 1, 2, 3]
    assert (
        plan_batch(rows_of([0] * 4, [0, 0, NEVER, NEVER], person=others), diverse(2, values, others)).enters.sum() == 2
    )


def test_new_rows_wait_while_a_part_of_a_block_leaves_their_cell() -> None:
    # Two of four leave, two come: a reader sees the sums alone.
    rows = rows_of([0] * 6, [0, 0, 0, 0, NEVER, NEVER], gone=[2, 3])
    assert plan_batch(rows, at_least(2)).enters.sum() == 2
    waiting = plan_batch(rows, at_least(2), about_values=True)
    assert waiting.waits.tolist() == [False] * 4 + [True] * 2
    assert waiting.leaves.sum() == 2
    # A block that leaves as a whole is known, and so is what comes; other cells do not matter.
    whole = rows_of([0] * 6, [0, 0, 1, 1, NEVER, NEVER], gone=[2, 3])
    assert plan_batch(whole, at_least(2), about_values=True).enters.sum() == 2
    elsewhere = rows_of([0] * 4 + [1] * 2, [0, 0, 0, 0, NEVER, NEVER], gone=[2, 3])
    assert plan_batch(elsewhere, at_least(2), about_values=True).enters.sum() == 2


@pytest.mark.parametrize("seed", range(6))
def test_blocks_of_random_series_keep_the_promise_whatever_happened(seed: int) -> None:
    """Rows with the same history in the same cell keep the promise; histories are read off the releases."""
    draw = np.random.default_rng(seed)
    n_rows, ell = 60, 2
    cells, values = draw.integers(0, 4, n_rows), draw.integers(0, 4, n_rows).tolist()
    keeps = diverse(ell, values)
    arrives, goes = draw.integers(0, 6, n_rows), draw.integers(3, 12, n_rows)
    block, left = np.full(n_rows, NEVER), np.zeros(n_rows, dtype=bool)
    history = [""] * n_rows
    n_lingering = n_waiting = n_left = 0
    for batch in range(12):
        present = (arrives <= batch) & (batch < goes)
        known = np.flatnonzero(present | (block != NEVER))
        rows = FrozenRows(cell=cells[known], block=block[known], present=present[known], left=left[known])
        plan = plan_batch(rows, lambda members, known=known: keeps(known[members]))
        block[known] = plan.block
        left[known[plan.leaves]] = True
        published = np.zeros(n_rows, dtype=bool)
        published[known[plan.published]] = True
        assert not (published & left).any()
        history = [told + str(int(shown)) for told, shown in zip(history, published, strict=True)]
        n_lingering, n_waiting = n_lingering + int(plan.lingers.sum()), n_waiting + int(plan.waits.sum())
        n_left += int(plan.leaves.sum())
        groups = defaultdict(list)
        for row, told in enumerate(history):
            if "1" in told:
                groups[cells[row], told].append(row)
        assert all(keeps(np.array(members)) for members in groups.values())
        # Blocks and histories part the rows alike.
        parted = {(cells[row], block[row]) for row in range(n_rows) if "1" in history[row]}
        assert len(parted) == len(groups)
    assert n_lingering
    assert n_waiting
    assert n_left
