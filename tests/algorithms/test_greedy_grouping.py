"""greedy-grouping: groups close as soon as they may, and what becomes of the end."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.greedy_grouping import GreedyGrouping
from lookalike.errors import Unsupported
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.order_groups import BINARY, groups_of, required
from tests.examples import examples
from tests.worlds import tiny_table


@pytest.mark.parametrize("recode", ["generalise", "permute"])
def test_groups_close_as_soon_as_they_may(recode: str) -> None:
    greedy = GreedyGrouping(recode=recode)
    assert groups_of("ppnn", greedy, BINARY.format(2)) == ["ppnn"]
    assert groups_of("pnnnpp" + "nn" * 2, greedy, BINARY.format(2)) == ["pn", "nn", "ppnn", "nn"]
    assert groups_of("abcaabbccabc", greedy, "l-diversity:3") == ["abc", "aabbcc", "abc"]


def test_what_is_left_at_the_end() -> None:
    world = "pnnnpnpnpp"
    merged = groups_of(world, GreedyGrouping(), BINARY.format(2))
    assert "".join(merged) == world
    assert all(2 * group.count("p") <= len(group) for group in merged)
    assert merged == ["pn", "nnpnpnpp"]
    assert groups_of(world, GreedyGrouping(tail="suppress"), BINARY.format(2)) == ["pn", "nn", "pn", "pn"]
    assert groups_of("pnnnn", GreedyGrouping(), BINARY.format(2)) == ["pn", "nnn"]


def test_suppressed_records_are_declared_by_value() -> None:
    data = tiny_table("pnnnpnpnpp", [*range(10)])
    requirements = required(data, BINARY.format(2))
    release, linkage = GreedyGrouping(tail="suppress").anonymize(data, requirements, Randomness(1), silent)
    assert release.withheld.n_suppressed == 2
    assert [counts.tolist() for counts in release.withheld.suppressed] == [[0, 2]]
    assert "suppressed" in linkage.remarks[0]
    _, linkage = GreedyGrouping().anonymize(data, requirements, Randomness(1), silent)
    assert "merged into the group before" in linkage.remarks[0]


def test_nothing_but_the_end_cannot_all_be_suppressed() -> None:
    data = tiny_table("ppnnn", [*range(5)])
    with pytest.raises(Unsupported, match="all would be suppressed"):
        GreedyGrouping(tail="suppress").anonymize(data, required(data, BINARY.format("2.5")), Randomness(1), silent)
    assert groups_of("ppnnn", GreedyGrouping(), BINARY.format("2.5")) == ["ppnnn"]


@settings(max_examples=examples(60), deadline=None)
@given(world=st.text("pn", min_size=4, max_size=40), ell=st.sampled_from(["2", "3", "2.5"]))
def test_greedy_groups_have_no_shorter_run_that_may_stand(world: str, ell: str) -> None:
    share = Fraction(1) / Fraction(ell)
    if "p" not in world or "n" not in world or world.count("p") > share * len(world):
        return
    groups = groups_of(world, GreedyGrouping(tail="suppress"), BINARY.format(ell)) if _closes(world, share) else []
    step = -int(-Fraction(ell) // 1)
    assert world.startswith("".join(groups))
    for group in groups:
        assert len(group) % step == 0
        stands = [group[:end].count("p") <= share * end for end in range(step, len(group) + 1, step)]
        assert stands == [False] * (len(stands) - 1) + [True]


def _closes(world: str, share: Fraction) -> bool:
    step = -int(-(1 / share) // 1)
    return any(world[:end].count("p") <= share * end for end in range(step, len(world) + 1, step))
