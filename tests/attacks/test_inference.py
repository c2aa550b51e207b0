"""Inference: the plain reader, the best of several attackers, numbers, and a control group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.inference import READER, _Rule
from lookalike.attacks.shared.control import Seen
from lookalike.attacks.shared.reader import Reader
from lookalike.attacks.shared.whereabouts import honest_guesses
from lookalike.data.contracts import Target
from lookalike.data.control import encode_control
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import LinkedRows
from lookalike.data.schema import Schema
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.people import RELEASES, target, unchanged
from tests.attacks.targets import attacked, in_groups, table
from tests.audit.making import bucketized, grouped, mixing_matrix, number_table, perturbed, whole_numbers

READ = "inference:attacker=reader"


def guesses(aim: Target, ages: list[int]) -> list[int]:
    quasi = np.array(ages, dtype=np.int32).reshape(-1, 1)
    return honest_guesses(Reader.of(aim).beliefs(quasi, 0), aim.original.prior(0)).tolist()


def test_the_reader_sums_over_all_classes_that_hold_the_person() -> None:
    # Ages 0..5 and 3..8: anyone who is 3 to 5 fits both, and the value 1 is most frequent in the two together.
    aim = in_groups(table([0, 1, 5, 3, 4, 8], [0, 0, 1, 1, 1, 2]), [0, 0, 0, 1, 1, 1])
    assert guesses(aim, [0]) == [0]
    codes = {age: code for code, age in enumerate([0, 1, 3, 4, 5, 8])}
    assert guesses(aim, [codes[3], codes[8]]) == [1, 1]


def test_who_fits_no_row_gets_the_most_frequent_value() -> None:
    aim = in_groups(table([0, 1, 8, 9, 20], [1, 1, 0, 0, 1]), [0, 0, 1, 1, 2])
    nobody = aim.original.domains.quasi[0].n_codes
    assert guesses(aim, [nobody]) == [1]


def test_the_reader_of_buckets_and_of_redrawn_values() -> None:
    data = number_table([[1], [2], [3], [4]], [0, 0, 1, 1])
    buckets = Target(release=bucketized(data, [0, 0, 1, 1], np.arange(4), np.arange(4)), original=data)
    assert guesses(buckets, [0, 1, 2, 3]) == [0, 0, 1, 1]
    rows = perturbed(np.random.default_rng(1), data, [mixing_matrix(2, 3, 4)], np.arange(4))
    redrawn = Target(release=rows, original=data)
    beliefs = Reader.of(redrawn).beliefs(np.array([[0], [4]], dtype=np.int32), 0)
    assert beliefs[[0]].sum() == pytest.approx(1)
    assert beliefs[[1]].nnz == 0


def test_a_table_published_unchanged_is_read_rightly_where_records_are_unique() -> None:
    aim = unchanged()
    data = aim.original
    _, places, times = np.unique(data.quasi, axis=0, return_inverse=True, return_counts=True)
    alone = times[places.reshape(-1)] == 1
    read = honest_guesses(Reader.of(aim).beliefs(data.quasi, 0), data.prior(0))
    assert alone.sum() > 50
    assert (read[alone] == data.sensitive[alone, 0]).all()


def test_of_a_plain_table_the_nearest_row_counts() -> None:
    control, aim = unchanged().control, Seen.of(unchanged()).wide
    assert control is not None
    data = aim.original
    beliefs = Reader.of(aim).beliefs(control.quasi[:40], 0)
    domains = data.domains.quasi
    spans = [domains[0].high - domains[0].low, 1, domains[2].high - domains[2].low, 1]
    points = [domain.points for domain in domains]
    for place in range(40):
        mine, distance = control.quasi[place], np.zeros(data.n_rows)
        for column in range(4):
            theirs = data.quasi[:, column]
            if column in (0, 2):
                distance += np.abs(points[column][mine[column]] - points[column][theirs]) / spans[column]
            else:
                distance += theirs != mine[column]
        nearest = np.flatnonzero(distance <= distance.min() + 1e-9)
        expected = np.bincount(data.sensitive[nearest, 0], minlength=beliefs.shape[1])
        assert (beliefs[[place]].toarray()[0] == expected).all()


@pytest.mark.parametrize("form", RELEASES)
@pytest.mark.parametrize("attacker", [READER, "naive-bayes"])
def test_against_values_dealt_anew_nobody_beats_the_baseline(form: str, attacker: str) -> None:
    aim = target(form)
    order = np.random.default_rng(2).permutation(aim.original.n_rows)
    dealt = replace(aim, original=replace(aim.original, sensitive=aim.original.sensitive[order]), control=None)
    found = attacked(f"inference:attacker={attacker}", dealt)
    assert found.score is not None
    assert found.residual is not None
    assert found.residual.baseline is not None
    assert found.score.interval[0] <= found.residual.baseline


@pytest.mark.parametrize("form", RELEASES)
@pytest.mark.parametrize("attack", [READ, "naive-bayes", "naive-bayes:within=unit", "definetti"])
def test_a_control_group_out_of_the_table_is_guessed_alike(form: str, attack: str) -> None:
    aim = target(form)
    if parse_attack(attack).refuses(aim) is not None:
        assert attack == "definetti"
        return
    half = np.sort(np.random.default_rng(1).permutation(aim.original.n_rows)[: aim.original.n_rows // 2])
    found = attacked(attack, replace(aim, control=aim.original.take(half))).residual
    assert found is not None
    assert found.n == found.control_n == len(half)
    assert found.low == 0


@pytest.mark.parametrize("form", ["grouped", "matched", "bucketized"])
def test_who_is_in_the_table_is_guessed_better(form: str) -> None:
    found = attacked(READ, target(form)).residual
    assert found is not None
    assert found.low is not None
    assert found.low > 0
    assert found.kind == READER


def test_everybody_in_the_table_fits_a_row_and_not_everybody_else() -> None:
    figures = attacked(READ, target("grouped")).figures
    assert figures["fits some row"] == 1
    assert figures["fits some row, control group"] < 1


def test_the_best_attacker_is_chosen_on_other_people_than_it_is_scored_on() -> None:
    aim = target("grouped")
    found = attacked("inference", aim).residual
    assert found is not None
    assert found.kind in (READER, "naive-bayes", "learner", "definetti")
    assert found.n == aim.original.n_rows // 2
    few = replace(aim, control=aim.control.take(np.arange(150)) if aim.control else None)
    alone = attacked("inference", few).residual
    assert alone is not None
    assert (alone.kind, alone.n) == (READER, 150), "too few to choose on one half"


def numbers(pay: list[int]) -> Target:
    """A group of all, with a number to guess."""
    columns = (whole_numbers("age", list(range(len(pay)))), whole_numbers("pay", pay))
    data = Microdata.encode(Table(columns), Schema.of(qi=["age"], sensitive=["pay"]))
    return Target(release=grouped(data, np.zeros(len(pay), dtype=int), np.arange(len(pay))), original=data)


def test_a_number_is_right_within_a_share_of_the_spread_never_of_itself() -> None:
    # Quartiles at 0 and 1000: 5 % of the spread is 50. The guess is 20, within 50 of three others.
    aim = numbers([0, 0, 0, 0, 20, 30, 40, 1000, 1000, 1000, 1000, 5000])
    found = attacked(READ, aim)
    assert found.residual is not None
    right = round(found.residual.right)
    assert right == 7, "0, 20, 30 and 40 are within 50 of the best guess"
    assert found.residual.baseline == pytest.approx(7 / 12)
    exact = attacked("inference:attacker=reader,tolerance=0", aim).residual
    assert exact is not None
    assert exact.right == 4
    assert "within 5 % of the interquartile range" in found.sentence
    many = attacked(READ, numbers([0, 0, 0, 0, 20, 30, 40, 1000, 1000, 1000, 1000, 5000] * 10))
    # By rank, 20 has half of its equals and all four zeros below; a fortieth of all to either side reaches nobody else.
    assert many.figures["right by rank"] in (1 / 12, 4 / 12)
    assert "right by rank" not in found.figures, "too few guesses for a figure"


def test_a_negative_guess_is_not_right_by_itself() -> None:
    """A tolerance relative to the guess takes any negative guess for right; this one is relative to the spread."""
    data = numbers([1, 2, 3, 500, 600, 700, 800, 900]).original
    aim = numbers([1, 2, 3, 500, 600, 700, 800, 900])
    rule = _Rule.of(aim, 0, 0.05)
    people = Seen.of(aim).targets
    right = rule.are_right(np.zeros(data.n_rows, dtype=np.int64), people)
    assert right.tolist() == [True, True, True, False, False, False, False, False]


def test_numbers_of_the_control_group_that_the_table_lacks_are_scored_by_size() -> None:
    aim = numbers([0, 0, 0, 0, 20, 30, 40, 1000, 1000, 1000, 1000, 5000])
    asked = Table((whole_numbers("age", [1, 2, 3, 4]), whole_numbers("pay", [25, 60, 200, 7000])))
    control, _ = encode_control(asked, aim.original)
    found = attacked(READ, replace(aim, control=control)).residual
    assert found is not None
    assert (found.control_n, found.control_right) == (4, 1)


def test_persons_are_right_if_some_row_is() -> None:
    aim = in_groups(table([1, 1, 2, 3], [0, 1, 1, 1]), [0, 0, 0, 0])
    data = replace(aim.original, persons=np.array([0, 0, 1, 2], dtype=np.int32))
    found = attacked(READ, replace(aim, original=data)).residual
    assert found is not None
    assert (found.n, found.right) == (3, 3)


def test_linked_rows_are_refused_with_the_reason() -> None:
    aim = in_groups(table([1, 1, 2, 2], [0, 1, 0, 1]), [0, 0, 0, 0])
    linked = LinkedRows(np.array([1, 1, 2, 2]), np.array([1, 2, 1, 2]))
    data = replace(aim.original, persons=np.array([0, 0, 1, 1], dtype=np.int32))
    reason = parse_attack("inference").refuses(replace(aim, release=replace(aim.release, linked=linked), original=data))
    assert "same person's" in str(reason)


def test_what_earlier_attacks_learned_is_used_again() -> None:
    aim = replace(target("grouped"))
    parse_attack("naive-bayes").run(aim, Randomness(1), silent)
    known = [name for name in aim.worked_out if name.startswith("learned by naive-bayes")]
    assert len(known) == 1
    found = attacked("inference:attacker=naive-bayes", aim).residual
    assert found is not None
    assert found.kind == "naive-bayes"


def test_learners_that_weigh_too_many_values_are_tried_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records times values of a salary to the cent would fill the memory of a machine."""
    aim = unchanged()
    fitted: list[str] = []
    for name in ("naive_bayes.NaiveBayesAttack", "learner.LearnerAttack", "definetti.DeFinettiAttack"):
        kind = f"lookalike.attacks.{name}"
        monkeypatch.setattr(f"{kind}.most_cells", aim.original.n_rows)
        monkeypatch.setattr(f"{kind}.fit", lambda self, *_: fitted.append(self.name))
    (found,) = parse_attack("inference").run(aim, Randomness(1), silent)
    assert found.residual is not None
    assert found.residual.kind == READER
    assert fitted == []
