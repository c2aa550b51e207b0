"""Similarity: kinds of values instead of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.similarity import ancestors_on
from lookalike.data.contracts import Promise, Target
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.data.taxonomy import Taxonomy
from lookalike.errors import Unsupported
from lookalike.models import parse_model
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.targets import attacked, in_groups, table
from tests.audit.making import grouped, whole_numbers

DISEASES = {
    "tree": {
        "any": {
            "nervous": ["headache", "epilepsy", "brain tumors"],
            "circulatory": ["anemia", "angina", "heart murmur"],
        }
    }
}
NERVOUS, CIRCULATORY = DISEASES["tree"]["any"]["nervous"], DISEASES["tree"]["any"]["circulatory"]


def patients(diseases: list[str], tree: Any = DISEASES) -> Microdata:
    names = np.array(sorted(set(diseases)), dtype=object)
    codes = np.searchsorted(names, diseases).astype(np.int32)
    columns = (
        whole_numbers("age", np.arange(len(diseases))),
        Column("disease", ValueType.STRING, codes, names),
    )
    attributes = (Attribute(name="age", role=Role.QUASI), Attribute(name="disease", role=Role.SENSITIVE, taxonomy=tree))
    return Microdata.encode(Table(columns), Schema(attributes))


def released(data: Microdata, groups: Any, promise: str | None = None) -> Target:
    promises = () if promise is None else (Promise(parse_model(promise), "disease"),)
    return Target(release=grouped(data, groups, np.arange(data.n_rows)), original=data, promises=promises)


def test_three_diseases_of_the_nerves() -> None:
    """Three different values, one kind: the kind is certain."""
    finding = attacked("similarity", released(patients(NERVOUS + CIRCULATORY), [0, 0, 0, 1, 1, 1], "l-diversity:3"))
    assert finding.figures["highest certainty in a value"] == pytest.approx(1 / 3)
    assert finding.figures["highest certainty, level 1"] == pytest.approx(1)
    assert finding.figures["highest gain (beta), level 1"] == pytest.approx(1)
    assert finding.n_affected == 6
    assert finding.score is not None
    assert finding.score.n_right == 6
    assert "certain for 6 of 6 persons, the value for 0" in finding.sentence


def test_it_succeeds_on_a_weak_release_and_not_on_a_safe_one() -> None:
    data = patients((NERVOUS + CIRCULATORY) * 20)
    places = np.arange(120)
    weak = attacked("similarity", released(data, places // 6 * 2 + places % 6 // 3))
    safe = attacked("similarity", released(data, places // 6))
    assert (weak.succeeds, weak.n_affected) == (True, 120)
    assert (safe.succeeds, safe.n_affected) == (False, 0)
    assert safe.figures["highest gain (beta), level 1"] == pytest.approx(0)


def test_levels_of_an_uneven_tree_are_partitions() -> None:
    tree = Taxonomy.from_paths(
        [("a", "low", "mid", "top"), ("b", "low", "mid", "top"), ("c", "mid", "top"), ("d", "top")]
    )
    named = [[tree.labels[node] for node in ancestors_on(tree, level)] for level in (0, 1, 2, 3)]
    assert named == [["a", "b", "c", "d"], ["low", "low", "c", "d"], ["mid", "mid", "mid", "d"], ["top"] * 4]


def test_the_worst_level_is_reported_and_one_can_be_asked_for() -> None:
    tree = {"tree": {"any": {"head": {"ache": ["migraine", "tension"], "tumor": ["glioma"]}, "heart": ["angina"]}}}
    data = patients(["migraine", "glioma", "tension", "angina"], tree)
    target = released(data, [0, 0, 1, 1])
    finding = attacked("similarity", target)
    assert finding.figures["highest certainty, level 1"] == pytest.approx(0.5)
    assert finding.figures["highest certainty, level 2"] == pytest.approx(1)
    assert "On level 2" in finding.sentence
    asked = attacked("similarity:1", target)
    assert "On level 1" in asked.sentence
    assert "highest certainty, level 2" not in asked.figures


@pytest.mark.parametrize(
    ("target", "text", "reason"),
    [
        (in_groups(table([1, 2], [0, 1]), [0, 0]), "similarity", "taxonomy"),
        (released(patients(NERVOUS), [0, 0, 0]), "similarity:2", "no such level"),
        (released(patients(NERVOUS), [0, 0, 0]), "similarity:1.5", "whole number"),
    ],
)
def test_what_it_refuses(target: Target, text: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        parse_attack(text).run(target, Randomness(1), silent)
