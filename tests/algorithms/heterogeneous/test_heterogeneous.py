"""Heterogeneous generalisation: what a person sees, how values are drawn, and what the published draw breaks."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.freeform import Freeform
from lookalike.algorithms.heterogeneous import Heterogeneous, slots
from lookalike.algorithms.heterogeneous.slots import exchange_columns, slot_graph, slots_by_assignment
from lookalike.algorithms.shared.axes import axes_of
from lookalike.apps.papers.hg.published_heterogeneous import HeterogeneousAsPublished
from lookalike.apps.samples import census
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Matched, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema
from lookalike.errors import Infeasible, RecipeError, Unsupported
from lookalike.kernels.pairing import repair
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import microdatas
from tests.worlds import Path, all_orders, exact_posteriors, orders_within_values, tiny_table


def census_data(rows: int) -> Microdata:
    table = census(rows, seed=6)
    names = table.names
    return Microdata.encode(table, Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]]))


def made(data: Microdata, method: Algorithm, model: str, seed: int = 3) -> tuple[Matched, RecordMap]:
    promises = settle([Promise(parse_model(model))], data)
    release, linkage = method.anonymize(data, require(promises, data), Randomness(seed), silent)
    assert isinstance(release, Matched)
    return release, linkage


def values_seen(release: Matched, linkage: RecordMap) -> list[list[int]]:
    """For each record the sensitive values of the rows that it may be behind."""
    graph = linkage.graph
    assert graph is not None
    values = release.sensitive[graph.rows, 0]
    return [part.tolist() for part in np.split(values, graph.starts[1:-1])]


@pytest.mark.slow
@pytest.mark.parametrize("matcher", ["auto", "greedy", "sorted", "hungarian"])
@pytest.mark.parametrize("n_rows", [400, 403])
def test_everybody_sees_l_different_values_once_each(matcher: str, n_rows: int) -> None:
    release, linkage = made(census_data(n_rows), Heterogeneous(matcher=matcher), "l-diversity:5")
    for seen in values_seen(release, linkage):
        assert len(seen) in (5, 6)
        assert len(set(seen)) == len(seen)


@settings(max_examples=examples(40), deadline=None)
@given(
    data=microdatas(min_rows=4, max_rows=40, n_sensitive=st.just(1)),
    model=st.sampled_from(["l-diversity:2", "beta-likeness:1,bound=basic", "beta-likeness:2", "alpha-k:alpha=0.6,k=3"]),
    seed=st.integers(0, 3),
)
def test_nobody_sees_a_value_above_its_ceiling(data: Microdata, model: str, seed: int) -> None:
    promises = settle([Promise(parse_model(model))], data)
    try:
        requirements = require(promises, data)
        release, linkage = Heterogeneous().anonymize(data, requirements, Randomness(seed), silent)
    except Infeasible:
        return
    (requirement,) = requirements
    assert requirement.ceilings is not None
    for seen in values_seen(release, linkage):
        for value, times in Counter(seen).items():
            assert Fraction(times, len(seen)) <= requirement.ceilings[value]


def test_the_draw_gives_every_edge_the_same_chance() -> None:
    slots = matched_table(4, 3)
    draws = 3000
    times: Counter[tuple[int, int]] = Counter()
    for seed in range(draws):
        given = exchange_columns(slots, Randomness(seed))
        assert sorted(given.ravel().tolist()) == list(range(12))
        times.update((slot, int(record)) for slot, record in enumerate(given.ravel()))
    edges = {(slot, int(record)) for slot, row in enumerate(slots.reshape(12, 3)) for record in row}
    assert set(times) == edges
    assert max(abs(count / draws - 1 / 3) for count in times.values()) < 4.5 * (2 / 9 / draws) ** 0.5


def matched_table(n_rows: int, degree: int) -> np.ndarray:
    from lookalike.algorithms.shared.axes import axes_of

    data = census_data(n_rows * degree)
    table = np.arange(n_rows * degree).reshape(n_rows, degree)
    return slots_by_assignment(axes_of(data), table)


def test_slots_take_one_record_of_each_column() -> None:
    slots = matched_table(6, 4)
    table = np.arange(24).reshape(6, 4)
    for x, y in itertools.product(range(4), repeat=2):
        assert sorted(slots[x, :, y].tolist()) == table[:, y].tolist()
    for x in range(4):
        assert (slots[x, :, x] == table[:, x]).all()


POOL = ThreadPoolExecutor(1)


def drawn(
    data: Microdata, ceilings: tuple[Fraction, ...], method: Heterogeneous, tape: Any, world: str
) -> frozenset[tuple[int, frozenset[int], str]]:
    """What is published, and more: the records that each slot covers, who it is named after, and the value shown."""
    graph = slot_graph(data, [Requirement(column=0, ceilings=ceilings)], method, tape, POOL, silent)
    members: dict[int, list[int]] = defaultdict(list)
    for record, slot in zip(graph.records.tolist(), graph.slots.tolist(), strict=True):
        members[slot].append(record)
    return frozenset((slot, frozenset(covered), world[graph.givers[slot]]) for slot, covered in members.items())


def slot_choices(path: Path, count: int, world: str) -> Iterator[np.ndarray] | None:
    """The order of records within each value, the order of columns, and how columns are exchanged."""
    if path[-1] == "blocks":
        # Two of each value in columns of two: a column is a value, whatever the order.
        return None if world.count("a") == world.count("c") == 2 else orders_within_values(world)
    return all_orders(count) if "block" in path or path[0] == "draw" else None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "ell", "matcher"),
    [
        ("aabbcc", 3, "hungarian"),
        ("aabb", 2, "greedy"),
        ("aabc", 2, "sorted"),
        ("abcd", 2, "hungarian"),
        ("aabbcd", 2, "hungarian"),
    ],
)
def test_exact_bayes_on_six_records(text: str, ell: int, matcher: str) -> None:
    """Over all worlds and random choices, every value that a person may have has chance 1/l: told, nothing learned."""
    posteriors = exact_posteriors(
        text,
        [0, 1, 3, 7, 8, 20][: len(text)],
        lambda data, tape, world: drawn(
            data, (Fraction(1, ell),) * len(set(text)), Heterogeneous(matcher=matcher), tape, world
        ),
        slot_choices,
    )
    assert posteriors
    assert set(posteriors.values()) == {Fraction(1, ell)}


@pytest.mark.parametrize(
    ("text", "ceilings"),
    [
        ("aaab", (Fraction(1), Fraction(1, 2))),
        ("aabb", (Fraction(1), Fraction(1, 2))),
    ],
)
@pytest.mark.parametrize("buckets", ["descending", "packed"])
def test_values_in_several_buckets_are_believed_as_often_as_they_are_seen(
    text: str, ceilings: tuple[Fraction, ...], buckets: str
) -> None:
    method = Heterogeneous(buckets=buckets)
    posteriors = exact_posteriors(
        text,
        [0, 1, 3, 7, 8][: len(text)],
        lambda data, tape, world: drawn(data, ceilings, method, tape, world),
        slot_choices,
    )
    for (release, record, value), posterior in posteriors.items():
        seen = [shown for _, covered, shown in release if record in covered]
        assert posterior == Fraction(seen.count(value), len(seen))


def test_exact_bayes_tells_the_published_draw_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test can fail: with columns that are not exchanged as a whole someone is found out."""

    def each_row_by_itself(slots: np.ndarray, rng: Any) -> np.ndarray:
        givers = [rng.child(row).permutation(len(slots)) for row in range(slots.shape[1])]
        return np.stack([slots[np.arange(len(slots)), row, giver] for row, giver in enumerate(givers)], axis=1)

    monkeypatch.setattr("lookalike.algorithms.heterogeneous.slots.exchange_columns", each_row_by_itself)
    posteriors = exact_posteriors(
        "aabc",
        [0, 1, 3, 7],
        lambda data, tape, world: drawn(data, (Fraction(1, 2),) * 3, Heterogeneous(), tape, world),
        slot_choices,
    )
    assert max(posteriors.values()) > Fraction(1, 2)


def labels_of(text: str) -> np.ndarray:
    return np.array([ord(letter) for letter in text])


@pytest.mark.parametrize(
    ("rounds", "possible"),
    [
        (["aabbcd", "bbaadc"], False),
        (["aabbcd", "bcadab"], True),
        (["aaabbbcccddeeff", "bbbcccaaaeeffdd", "cccaaabbbffddee"], False),
        (["aaabbbcccddeeff", "bbbcccaaaeeffdd"], True),
    ],
)
def test_dead_ends_of_matching_round_by_round(rounds: list[str], possible: bool) -> None:
    """Whole rounds can leave no further one without a repeated value; repair finds one wherever there is one."""
    first = rounds[0]
    labels = labels_of(first)
    table = np.zeros((len(first), len(rounds) + 1), dtype=np.int64)
    for turn, values in enumerate(rounds):
        free = {letter: [place for place, one in enumerate(first) if one == letter] for letter in set(first)}
        table[:, turn] = [free[letter].pop() for letter in values]
    chosen = np.full(len(first), -1, dtype=np.int64)
    assert repair(labels, table, len(rounds), np.arange(len(first)), chosen) == possible
    if possible:
        assert sorted(chosen.tolist()) == list(range(len(first)))
        for slot, record in enumerate(chosen):
            assert labels[record] not in labels[table[slot, : len(rounds)]]


def test_buckets_in_cyclic_rounds_give_every_position_five_values() -> None:
    """The 15 records in buckets aaa bbb ccc ddf fee: round t gives bucket x the values of bucket x + t."""
    buckets = ["aaa", "bbb", "ccc", "ddf", "fee"]
    seen = Counter(
        "".join(sorted(buckets[(own + turn) % 5][place] for turn in range(5))) for own in range(5) for place in range(3)
    )
    assert seen == {"abcde": 5, "abcdf": 5, "abcef": 5}


def guessed_among_values_seen_once(release: Matched, linkage: RecordMap, data: Microdata) -> float:
    """How often a guess among the values that a person sees exactly once is right."""
    right = 0.0
    for seen, value in zip(values_seen(release, linkage), data.sensitive[:, 0].tolist(), strict=True):
        once = [one for one, times in Counter(seen).items() if times == 1]
        right += once.count(value) / len(once) if once else 0.0
    return right / data.n_rows


def test_guessing_among_values_seen_once_gains_nothing() -> None:
    """Five values of 120 records each: a person's own value is published once among their rows, whatever the draw."""
    data = tiny_table("abcde" * 120, np.random.default_rng(5).integers(0, 1000, 600).tolist())
    assert guessed_among_values_seen_once(*made(data, Heterogeneous(), "l-diversity:5"), data) == pytest.approx(1 / 5)
    published = made(data, HeterogeneousAsPublished(), "l-diversity:5")
    assert guessed_among_values_seen_once(*published, data) > 0.28


@pytest.mark.slow
@pytest.mark.parametrize("buckets", ["equal", "descending", "ascending", "packed", "through-l"])
@pytest.mark.parametrize("remainder", ["blocks", "suppress"])
@settings(max_examples=examples(25), deadline=None)
@given(data=microdatas(min_rows=6, max_rows=40, n_sensitive=st.just(1)), seed=st.integers(0, 3))
def test_other_buckets_keep_the_promise(buckets: str, remainder: str, data: Microdata, seed: int) -> None:
    method = Heterogeneous(buckets=buckets, remainder=remainder)
    for model in ("l-diversity:2", "beta-likeness:2,bound=basic", "beta-likeness:1"):
        promises = settle([Promise(parse_model(model))], data)
        try:
            requirements = require(promises, data)
            release, linkage = method.anonymize(data, requirements, Randomness(seed), silent)
        except Infeasible:
            continue
        found = pipeline.verify(data, release, promises, graph=linkage.graph)
        assert found.passed, str(found)
        assert remainder == "suppress" or release.n_rows == data.n_rows


def test_suppression_leaves_one_size_and_is_declared() -> None:
    data = census_data(403)
    release, linkage = made(data, Heterogeneous(remainder="suppress"), "l-diversity:5")
    assert release.withheld.n_suppressed == 3
    # Those left out had one of the most frequent values: not for someone who can tell who they are.
    assert Heterogeneous(remainder="suppress").adversary == "reads-release"
    assert Heterogeneous().adversary == "knows-method"
    assert [int(counts.sum()) for counts in release.withheld.suppressed] == [3]
    assert release.n_rows == 400
    assert {len(seen) for seen in values_seen(release, linkage)} == {0, 5}


@pytest.mark.parametrize("setting", ["randomization=paper", "dummies=yes", "tau=0.5"])
def test_settings_of_the_method_as_published_say_where_it_is(setting: str) -> None:
    with pytest.raises(RecipeError, match=r"There is no parameter .* see lookalike\.apps\.papers"):
        parse_algorithm(f"heterogeneous:{setting}")


def test_settings_that_have_no_effect_are_refused() -> None:
    with pytest.raises(RecipeError, match="heterogeneous: buckets=equal takes the whole table"):
        Heterogeneous(buckets="equal", cell=50)


def test_k_anonymity_alone_is_freeform() -> None:
    release, linkage = made(census_data(50), Heterogeneous(matcher="sorted"), "k-anonymity:3")
    same, _ = Freeform(matcher="sorted").anonymize(census_data(50), (Requirement(min_size=3),), Randomness(3), silent)
    assert (release.sensitive == same.sensitive).all()
    assert {len(seen) for seen in values_seen(release, linkage)} == {3}


def test_what_would_take_hours_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise under which all rows are one group: 10,000 rows would be matched 10,000 times each."""
    table = census(300, seed=3)
    names = table.names
    schema = Schema.of(qi=names[:2], sensitive=names[-1:], categorical=[names[1], names[-1]])
    promises = (Promise(parse_model("beta-likeness:1/1000")),)
    recipe = Recipe(schema=schema, promises=promises, algorithm=Heterogeneous(), seed=1)
    made = pipeline.run(prepare(recipe, table))
    assert made.record_map.graph is not None
    assert len(made.record_map.graph.rows) == 300**2
    assert any(note.startswith("300 rows form a single group") for note in made.notes)
    monkeypatch.setattr(slots, "_MOST_MATCHES", 300**2 - 1)
    with pytest.raises(Unsupported, match=r"cover 300 records each.*Use --algorithm groups"):
        pipeline.run(prepare(recipe, table))


def test_a_promise_that_would_take_too_long_is_refused_with_the_time_it_would_take() -> None:
    axes = axes_of(tiny_table("ab" * 5_000, [0] * 10_000))
    with pytest.raises(Unsupported, match=r"5,000 records each, which takes heterogeneous about 11 CPU minutes"):
        slots._require_little_work([np.arange(10_000).reshape(2, 5_000)], axes, silent)
