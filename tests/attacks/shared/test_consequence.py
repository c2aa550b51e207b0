"""What results mean for signing: permitted effects apart from failures, baselines as defined, guests included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from lookalike.attacks import ATTACKS, parse_attack
from lookalike.attacks.run import Attacked, attack_target
from lookalike.attacks.shared.consequence import (
    AS_PROMISED,
    FAILED,
    NEEDS_CONTROL,
    NO_GAIN,
    PERMITTED,
    UNDECIDED,
    Consequence,
    Result,
)
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Finding, Promise, Residual, Score, Target
from lookalike.extend import WrittenAttack, register_attack
from lookalike.models import parse_model
from lookalike.randomness import Randomness
from tests.attacks.targets import in_groups, table
from tests.audit.making import number_table


def attacked(target: Target, name: str) -> Attacked:
    (found,) = attack_target(target, [parse_attack(name)], Randomness(1)).made
    return found


def explained(target: Target, name: str, finding: Finding, **kept: bool) -> Consequence:
    levels = {str(promise): ("level", kept.get("kept", True)) for promise in target.promises}
    attack = parse_attack(name)
    assert isinstance(attack, WrittenAttack)
    return attack.explain(Result(finding, target, levels))


def two_groups(*promises: str, certain: bool = False) -> Target:
    """200 people in two groups; `certain`: the first group has one value only."""
    ages = np.repeat([0, 1], 100)
    values = np.tile(np.arange(5), 40)
    if certain:
        values[:100] = 0
    return promising(in_groups(table(ages.tolist(), values.tolist()), ages.tolist()), *promises)


def promising(target: Target, *promises: str) -> Target:
    """The same release under these promises."""
    identity = ("k-anonymity", "k-concealment")
    made = [Promise(parse_model(text), None if text.startswith(identity) else "s") for text in promises]
    return replace(target, promises=tuple(made))


@pytest.mark.parametrize("name", ["naive-bayes", "learner", "definetti"])
def test_what_a_promise_allows_is_no_baseline(name: str) -> None:
    """Five values of 20 % each in every group: reading gives 20 %, and l-diversity:4 would allow 25 %."""
    found = attacked(two_groups("l-diversity:4"), name).finding
    assert max(found.baselines.values()) == pytest.approx(0.2)
    assert "1/l" not in found.baselines


@pytest.mark.parametrize(
    ("promises", "certain", "word"),
    [
        (("l-diversity:4",), False, AS_PROMISED),
        ((), False, NO_GAIN),
        ((), True, PERMITTED),
        (("t-closeness:0.5",), True, PERMITTED),
        (("l-diversity:4",), True, FAILED),
    ],
)
def test_homogeneity_permitted_or_failed(promises: tuple[str, ...], certain: bool, word: str) -> None:
    found = attacked(two_groups(*promises, certain=certain), "homogeneity").consequence
    assert found.word == word
    assert ("50 % of people" in found.sentence) == certain
    assert found.is_failure == ("Do not sign." in found.sentence)


@pytest.mark.parametrize(
    ("promises", "word", "said"),
    [
        (("k-anonymity:100",), AS_PROMISED, "1 in 100"),
        (("k-anonymity:101",), FAILED, "promises a chance of 1 in 101 at most"),
        (("l-diversity:4",), PERMITTED, "No promise limits this"),
        (("k-concealment:150",), PERMITTED, "No promise limits this"),
    ],
)
def test_linkage_against_what_was_promised(promises: tuple[str, ...], word: str, said: str) -> None:
    found = attacked(two_groups(*promises), "linkage").consequence
    assert found.word == word
    assert said in found.sentence


@pytest.mark.parametrize(
    ("promises", "word"), [(("beta-likeness:4",), FAILED), (("l-diversity:1",), PERMITTED), ((), PERMITTED)]
)
def test_skewness_by_promises_about_shares(promises: tuple[str, ...], word: str) -> None:
    """One of 200 values is rare, and a group of two has it: the certainty rises a hundredfold."""
    ages = [0] * 198 + [1, 1]
    target = promising(in_groups(table(ages, [0] * 199 + [1]), ages), *promises)
    found = attacked(target, "skewness").consequence
    assert found.word == word
    assert "about 100 times" in found.sentence


@pytest.mark.parametrize(("adversary", "word"), [(READS_RELEASE, PERMITTED), (KNOWS_METHOD, FAILED)])
def test_minimality_fails_only_what_withstands_it(adversary: str, word: str) -> None:
    target = replace(two_groups("l-diversity:4"), adversary=adversary)
    finding = Finding(attack="minimality", column="s", sentence="", score=Score(60, 200), n_affected=20)
    assert explained(target, "minimality", finding).word == word
    assert explained(target, "minimality", replace(finding, n_affected=0)).word == AS_PROMISED


def guesses(right: int, control: int | None = None, n: int = 1000) -> Finding:
    residual = None
    if control is not None:
        residual = Residual(n=n, right=right, control_n=n, control_right=control, baseline=0.2)
    return Finding(
        attack="naive-bayes",
        column="s",
        sentence="",
        score=Score(right, n),
        baselines={"most frequent value": 0.2},
        residual=residual,
    )


def test_learning_is_permitted_and_told_from_a_leak() -> None:
    target = two_groups("l-diversity:2")
    none = explained(target, "naive-bayes", guesses(200))
    assert none.word == NO_GAIN
    unfounded = explained(target, "naive-bayes", guesses(200), kept=False)
    assert unfounded.word == PERMITTED
    assert (
        "more certain about some people than the limit of l-diversity:2, but no more often right" in unfounded.sentence
    )
    unknown = explained(target, "naive-bayes", guesses(400))
    assert unknown.word == PERMITTED
    assert NEEDS_CONTROL in unknown.sentence
    general = explained(target, "naive-bayes", guesses(400, 400))
    assert "general knowledge, not a leak" in general.sentence
    leak = explained(target, "naive-bayes", guesses(400, 200))
    assert "25 % of what is not known anyway is learned about people because they are in the table" in leak.sentence
    assert explained(target, "naive-bayes", guesses(4, n=20)).word == UNDECIDED
    assert explained(two_groups(), "naive-bayes", guesses(400)).sentence.startswith('No promise is about "s"')


def test_an_attack_that_ties_with_the_reader_may_still_show_a_leak() -> None:
    found = explained(two_groups("l-diversity:2"), "naive-bayes", guesses(200, 100))
    assert found.word == PERMITTED
    assert "because they are in the table" in found.sentence


@pytest.mark.parametrize("name", ["singling-out", "linkability", "inference"])
def test_the_three_risks_by_their_control_group(name: str) -> None:
    target = two_groups("l-diversity:2")
    if name == "linkability":
        two = number_table(np.column_stack([np.arange(200), np.arange(200) % 7]), np.tile(np.arange(5), 40))
        target = replace(target, original=two)
    word = {
        control: explained(target, name, replace(guesses(400, control), attack=name)).word for control in (200, 400)
    }
    assert word == {200: PERMITTED, 400: NO_GAIN}
    assert explained(target, name, replace(guesses(200, 200), attack=name)).word == NO_GAIN
    assert explained(target, name, replace(guesses(100, 90, n=200), attack=name)).word == NO_GAIN
    assert explained(target, name, replace(guesses(5, 5, n=20), attack=name)).word == UNDECIDED


def test_every_attack_that_is_made_explains_itself() -> None:
    found = attack_target(two_groups("k-anonymity:100", "l-diversity:4"), [], Randomness(1))
    for one in found.made:
        assert one.consequence.word in (AS_PROMISED, NO_GAIN, PERMITTED, UNDECIDED)
        assert one.consequence.sentence.endswith(".")
        assert one.to_plain()["means_for_signing"]["sentence"] == one.consequence.sentence
        assert str(one.consequence) in str(found)


def test_not_run_is_told_from_not_applicable() -> None:
    found = attack_target(
        two_groups("l-diversity:4"), [], Randomness(1), too_slow={"learner": "it takes long.", "possible-worlds": "too"}
    )
    assert found.not_run["learner"] == "it takes long."
    assert "composition" in found.not_run
    assert "matched" in found.not_applicable["possible-worlds"]
    assert not set(found.not_run) & set(found.not_applicable)
    some = attack_target(two_groups(), [parse_attack("linkage"), parse_attack("homogeneity")], Randomness(1))
    assert set(some.not_asked) == set(ATTACKS) - {"linkage", "homogeneity"}
    assert "Not run, because not asked for: " in str(some)


@pytest.fixture
def guests() -> Iterator[None]:
    yield
    for name in ("guesses-well", "speaks", "mute"):
        ATTACKS.pop(name, None)


@pytest.mark.usefixtures("guests")
def test_attacks_of_others_are_explained_or_explain_themselves() -> None:
    @register_attack
    @dataclass(frozen=True)
    class GuessesWell(WrittenAttack):
        """Guesses well."""

        name: ClassVar[str] = "guesses-well"
        remedy: ClassVar[str] = "Ask its author."

        def run(self, target, rng, progress):  # type: ignore[no-untyped-def]
            return [
                Finding(attack=str(self), column="s", sentence="So.", score=Score(90, 100), baselines={"none": 0.1})
            ]

    @register_attack
    @dataclass(frozen=True)
    class Speaks(GuessesWell):
        """Explains itself."""

        name: ClassVar[str] = "speaks"

        def explain(self, result):  # type: ignore[no-untyped-def]
            return Consequence(PERMITTED, f"Look at {result.column}.")

    @register_attack
    @dataclass(frozen=True)
    class Mute:
        """Has no base of ours."""

        name: ClassVar[str] = "mute"
        remedy: ClassVar[str] = ""
        most_records: ClassVar[int | None] = None
        forms: ClassVar[frozenset[str] | None] = None

        def __str__(self) -> str:
            return self.name

        def refuses(self, target):  # type: ignore[no-untyped-def]
            return None

        def run(self, target, rng, progress):  # type: ignore[no-untyped-def]
            return [Finding(attack="mute", column=None, sentence="So.", n_affected=3)]

    target = two_groups("l-diversity:4")
    assert "Ask its author." in attacked(target, "guesses-well").consequence.sentence
    assert attacked(target, "guesses-well").consequence.word == PERMITTED
    assert attacked(target, "speaks").consequence.sentence == 'Look at "s".'
    assert "2 % of people are affected" in attacked(target, "mute").consequence.sentence
