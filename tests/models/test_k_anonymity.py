from __future__ import annotations

import pytest

from lookalike.models import parse_model
from lookalike.models.k_anonymity import KAnonymity
from tests.models.building import identities


def test_k_is_the_smallest_unit() -> None:
    level = KAnonymity(3).level(identities([5, 3, 4]))
    assert (level.value, level.unit) == (3, 1)
    assert KAnonymity(3).holds(level)
    assert not KAnonymity(4).holds(level)


def test_nothing_published_betrays_nobody() -> None:
    nothing = identities([])
    assert KAnonymity(9).holds(KAnonymity(9).level(nothing))


@pytest.mark.parametrize("text", ["k-anonymity:2", "k-concealment:2", "alpha-k:alpha=0.5,k=2"])
def test_sizes_say_nothing_about_perturbed_releases(text: str) -> None:
    model = parse_model(text)
    assert model.refuses_form("perturbed") == "not applicable: quasi-identifiers are published exactly"
    assert model.refuses_form("bucketized") is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "k-anonymity:10",
            "which of at least 10 records holds that person's sensitive values (1 chance in 10 at most).",
        ),
        ("k-concealment:3", "cannot rule out any of at least 3 rows that may be that person's"),
        ("alpha-k:alpha=0.5,k=5", "in 5 at most), and can be at most 50 % sure of any value of diagnosis."),
        ("alpha-k:alpha=0.5,k=5,subset=HIV", "at most 50 % sure of the listed value of diagnosis."),
        ("l-diversity:3", "can be at most 33.34 % sure of any value of diagnosis."),
        ("l-diversity:3,kind=distinct", "at least 3 possible values of diagnosis"),
        ("l-diversity:3,kind=entropy", "as among 3 equally likely values"),
        (
            "l-diversity:3,kind=recursive,c=2",
            "less than 2 times as likely as all values from rank 3 on together",
        ),
        ("l-diversity:4,kind=binary,subset=HIV", "at most 25 % sure that diagnosis holds a listed value."),
        ("t-closeness:0.2", "by at most 0.2 (earth mover's distance, all values equally far apart)."),
        ("beta-likeness:3", "at most 4 times its share in the whole table, and never 100 %."),
        ("beta-likeness:3,bound=basic", "at most 4 times its share in the whole table."),
        ("beta-likeness:3,negative=1", "and at least 50 % of that share."),
        ("delta-disclosure:1", "by less than a factor of e^1 (about 2.72)"),
        ("f-privacy:theta=8", "a probability of at most 8 times its share in the whole table plus 2 %."),
        ("f-privacy:ceilings=HIV:0.1", "can give the listed value of diagnosis a probability of at most the ceiling"),
        ("rho-privacy:rho1=0.1,rho2=0.5", "can be at most 50 % sure of anything about"),
    ],
)
def test_promises_carry_their_number(text: str, part: str) -> None:
    assert part in parse_model(text).promise("diagnosis")
