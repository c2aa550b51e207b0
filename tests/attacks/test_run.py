"""Running attacks on a target: those that apply, the reasons for the others, and what the promises say."""

from __future__ import annotations

import pytest

from lookalike.attacks import ATTACKS, parse_attack
from lookalike.attacks.run import attack_target
from lookalike.data.contracts import Target
from lookalike.errors import RecipeError
from lookalike.randomness import Randomness
from tests.attacks.targets import in_groups, table


@pytest.fixture
def target() -> Target:
    """The first group has one value only, so everybody in it is known."""
    return in_groups(table([0, 1, 2, 3], [1, 1, 1, 2]), [0, 0, 1, 1], "l-diversity:2")


def test_the_beliefs_of_an_attacker_are_compared_with_the_promise(target: Target) -> None:
    found = attack_target(target, [parse_attack("corruption")], Randomness(1))
    (attacked,) = found.made
    assert attacked.finding.attack.startswith("corruption")
    assert attacked.kept == {"s=l-diversity:2": ("l 1", False)}
    assert "Against these probabilities the release does not keep s=l-diversity:2 (reached l 1)." in str(found)
    (plain,) = found.to_plain()["attacks"]
    assert plain["promises"] == {"s=l-diversity:2": {"reached": "l 1", "kept": False}}


@pytest.mark.slow
def test_without_names_every_attack_is_made_or_has_its_reason(target: Target) -> None:
    steps: list[float] = []

    def listen(step: str, share: float, note: str = "") -> None:
        steps.append(share)

    found = attack_target(target, [], Randomness(1), listen)
    made = {attacked.finding.attack.partition(":")[0] for attacked in found.made}
    assert made | {name.partition(":")[0] for name in found.not_made} == set(ATTACKS)
    assert "homogeneity" in made
    assert "possible-worlds" in found.not_made
    assert all(found.not_made.values())
    assert steps == sorted(steps)
    assert steps[-1] == 1.0


def test_the_only_attack_asked_for_must_apply(target: Target) -> None:
    worlds, homogeneity = parse_attack("possible-worlds"), parse_attack("homogeneity")
    with pytest.raises(RecipeError, match="possible-worlds cannot be made on this release"):
        attack_target(target, [worlds], Randomness(1))
    both = attack_target(target, [worlds, homogeneity], Randomness(1))
    assert [attacked.finding.attack for attacked in both.made] == ["homogeneity"]
    assert [*both.not_made] == ["possible-worlds"]
