from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import PrivacyModel
from lookalike.data.exposure import Exposure, counted_exposure
from lookalike.models import MODELS, AlphaK, KAnonymity, KConcealment, parse_model
from tests.models.building import categories, exposure_of


def identities(sizes: list[int], concealed: list[int] | None = None) -> Exposure:
    return counted_exposure(
        np.repeat(np.arange(len(sizes)), sizes),
        None,
        len(sizes),
        adversary=READS_RELEASE,
        form="matched" if concealed else "grouped",
        column=None,
        prior=np.array([sum(sizes)]),
        concealed=None if concealed is None else np.array(concealed),
    )


def test_k_is_the_smallest_unit() -> None:
    level = KAnonymity(3).level(identities([5, 3, 4]))
    assert (level.value, level.unit) == (3, 1)
    assert KAnonymity(3).holds(level)
    assert not KAnonymity(4).holds(level)


def test_rows_that_no_assignment_gives_are_no_lookalikes() -> None:
    exposure = identities([4, 3, 3], concealed=[4, 1, 3])
    assert KConcealment(1).level(exposure).value == 1
    assert KAnonymity(1).level(exposure).value == 1
    assert KConcealment(3).level(identities([4, 3])).value == 3


def test_nothing_published_betrays_nobody() -> None:
    nothing = identities([])
    assert KAnonymity(9).holds(KAnonymity(9).level(nothing))


def test_alpha_k_needs_both() -> None:
    exposure = exposure_of([[2, 2, 0], [1, 1, 1]])
    level = AlphaK("0.5", 3).level(exposure)
    assert (level.value, level.detail) == (Fraction(1, 2), "smallest group 3")
    assert AlphaK("0.5", 3).holds(level)
    assert not AlphaK("0.49", 3).holds(level)
    small = AlphaK("1", 4).level(exposure)
    assert (small.value, small.unit, small.detail) == (math.inf, 1, "smallest group 3")
    assert not AlphaK("1", 4).holds(small)


def test_alpha_bounds_only_the_designated_values() -> None:
    exposure = exposure_of([[3, 1, 0], [0, 1, 3]])
    assert AlphaK("0.25", 2, subset="b").level(exposure).value == Fraction(1, 4)
    requirement = AlphaK("0.25", 2, subset="b").requirement(exposure.prior, categories(3), 0)
    assert requirement.ceilings == (1, Fraction(1, 4), 1)
    assert requirement.min_size == 2


@pytest.mark.parametrize("text", ["k-anonymity:2", "k-concealment:2", "alpha-k:alpha=0.5,k=2"])
def test_sizes_say_nothing_about_perturbed_releases(text: str) -> None:
    model = parse_model(text)
    assert model.refuses_form("perturbed") == "not applicable: quasi-identifiers are published exactly"
    assert model.refuses_form("bucketized") is None


def test_every_model_keeps_the_protocol() -> None:
    texts = ["k-anonymity:2", "k-concealment:2", "alpha-k:alpha=0.5,k=2", "l-diversity:2", "t-closeness:0.5"]
    texts += ["beta-likeness:1", "delta-disclosure:1", "f-privacy:theta=2", "rho-privacy:rho1=0.2,rho2=0.5"]
    models = [parse_model(text) for text in texts]
    assert [model.name for model in models] == list(MODELS)
    for model in models:
        assert isinstance(model, PrivacyModel)
        assert model.name in MODELS
        sentence = model.promise(None if model.about_identity else "main diagnosis")
        assert sentence.endswith(".")
        assert model.about_identity or '"main diagnosis"' in sentence
        assert model.about_identity or model.refuses_form("grouped") is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "k-anonymity:10",
            "which of at least 10 records holds that person's sensitive values (1 chance in 10 at most).",
        ),
        ("k-concealment:3", "cannot rule out any of at least 3 rows that may be that person's"),
        ("alpha-k:alpha=0.5,k=5", 'in 5 at most), and can be at most 50 % sure of any value of "diagnosis".'),
        ("alpha-k:alpha=0.5,k=5,subset=HIV", 'at most 50 % sure of the designated value of "diagnosis".'),
        ("l-diversity:3", 'can be at most 33.34 % sure of any value of "diagnosis".'),
        ("l-diversity:3,kind=distinct", 'at least 3 different values of "diagnosis"'),
        ("l-diversity:3,kind=entropy", "as among 3 equally likely values"),
        ("l-diversity:3,kind=recursive,c=2", "less than 2 times as likely as all values from the 3rd most likely on"),
        ("l-diversity:4,kind=binary,subset=HIV", 'at most 25 % sure that "diagnosis" holds a designated value.'),
        ("t-closeness:0.2", "by at most 0.2 (earth mover's distance, all values equally far apart)."),
        ("beta-likeness:3", "by at most 300 % of its share in the whole table, and never to certainty."),
        ("beta-likeness:3,bound=basic", "by at most 300 % of its share in the whole table."),
        ("beta-likeness:3,negative=1", "and lowers it to no less than 50 % of that share."),
        ("delta-disclosure:1", "by less than a factor of e^1 (about 2.72)"),
        ("f-privacy:theta=8", "a probability of at most 8 times its share in the whole table plus 2 %."),
        ("f-privacy:ceilings=HIV:0.1", 'gives the listed value of "diagnosis" a probability of at most the ceiling'),
        ("rho-privacy:rho1=0.1,rho2=0.5", "can be at most 50 % sure of anything about"),
    ],
)
def test_promises_carry_their_number(text: str, part: str) -> None:
    assert part in parse_model(text).promise("diagnosis")


def test_copies_for_a_nearest_keep_everything_else() -> None:
    assert str(replace(AlphaK("0.3", 7, subset="a"), k=4)) == "alpha-k:alpha=0.3,k=4,subset=a"
