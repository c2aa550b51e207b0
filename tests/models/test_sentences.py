"""Sentences taken at their word: what each one says of each form is counted on a small release that keeps it."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.data.person_settings import Unit
from lookalike.data.release import Randomizer
from lookalike.data.wording import Wording
from lookalike.models import MODELS, parse_model
from tests.audit.making import bucketized, grouped, matched, number_table, perturbed
from tests.oracles.containment import classes
from tests.oracles.truthful import possible, prior, units

N_ROWS, N_VALUES = 12, 3
TEXTS = (
    "k-anonymity:3",
    "k-concealment:3",
    "alpha-k:alpha=0.5,k=3",
    "l-diversity:2",
    "l-diversity:3,kind=distinct",
    "t-closeness:0.3",
    "beta-likeness:2",
    "delta-disclosure:1",
    "f-privacy:theta=1,base=0.2",
    "rho-privacy:rho1=0.4,rho2=0.9",
)
FORMS = ("grouped", "matched", "bucketized", "perturbed")


@pytest.fixture(scope="module", params=FORMS)
def published(request):
    """Twelve persons of different ages and three values, in threes (or drawn from threes, or redrawn)."""
    rng = np.random.default_rng(3)
    data = number_table([[age] for age in range(N_ROWS)], np.arange(N_ROWS) % N_VALUES)
    threes, order = np.arange(N_ROWS) // 3, rng.permutation(N_ROWS)
    if request.param == "grouped":
        return grouped(data, threes, order), data, None
    if request.param == "matched":
        slots = [[slot, (slot + 1) % N_ROWS, (slot + 2) % N_ROWS] for slot in range(N_ROWS)]
        return (*_with_data(matched(data, slots, [slot[1] for slot in slots], order), data),)
    if request.param == "bucketized":
        return bucketized(data, threes, order, rng.permutation(N_ROWS)), data, None
    matrix = Randomizer(np.full((N_VALUES, N_VALUES), 3) + np.eye(N_VALUES, dtype=np.int64), 10)
    return perturbed(rng, data, [matrix], order), data, None


def _with_data(made, data):
    return made[0], data, made[1]


def number(pattern, sentence):
    found = re.search(pattern, sentence)
    assert found, f"{pattern!r} is not in {sentence!r}"
    return float(found.group(1))


def unit_beliefs(release, data, graph):
    """The shares that each person's rows, bucket or posterior leave to each value."""
    for unit in units(release, data, 0, graph):
        total = sum(unit.values())
        yield {value: Fraction(unit.get(value, 0), total) for value in range(N_VALUES)}


def holds_one_of(k, sentence, release, data, graph):
    """Of so many records, or rows, that the sentence speaks of."""
    if release.form == "grouped":
        assert "that person's row from at least" in sentence
        assert min(Counter(classes(release)).values()) >= k
    elif release.form == "bucketized":
        assert "row" not in sentence
        assert "exactly, which may be unique to a person" in sentence
        assert min(Counter(release.bucket_of_sensitive.tolist()).values()) >= k
        # Persons themselves are unique here, which is what the sentence must not deny.
        assert set(Counter(map(tuple, release.quasi.tolist())).values()) == {1}
    else:
        assert "which rows the publisher drew" in sentence
        assert "counting all rows that fit a person can give other figures" in sentence
        assert min(np.diff(graph.starts)) >= k


def literally_true(text, sentence, release, data, graph):
    name, _, rest = text.partition(":")
    shares = [Fraction(count, N_ROWS) for count in prior(data, 0)]
    beliefs = [] if name in ("k-anonymity", "k-concealment") else list(unit_beliefs(release, data, graph))
    most = max((max(unit.values()) for unit in beliefs), default=None)
    if name in ("k-anonymity", "alpha-k"):
        k = number(r"1 chance in (\d+) at most", sentence)
        holds_one_of(k, sentence, release, data, graph)
    if name == "k-concealment":
        k = number(r"at least (\d+) r", sentence)
        if release.form == "matched":
            assert min(possible(release, data)) >= k
        elif release.form == "bucketized":
            assert min(Counter(release.bucket_of_sensitive.tolist()).values()) >= k
        else:
            assert min(Counter(classes(release)).values()) >= k
    elif name == "alpha-k" or (name == "l-diversity" and "kind" not in rest):
        assert most <= number(r"at most ([\d.]+) % sure of any value", sentence) / 100
    elif name == "l-diversity":
        different = number(r"at least (\d+) possible values", sentence)
        assert all(sum(share > 0 for share in unit.values()) >= different for unit in beliefs)
    elif name == "t-closeness":
        farthest = max(sum(abs(unit[value] - shares[value]) for value in unit) / 2 for unit in beliefs)
        assert farthest <= number(r"by at most ([\d.]+) \(", sentence)
    elif name == "beta-likeness":
        times = number(r"at most ([\d.]+) times its share", sentence)
        assert all(unit[value] <= shares[value] * Fraction(times) for unit in beliefs for value in unit)
        assert "never 100 %" in sentence
        assert most < 1
    elif name == "delta-disclosure":
        factor = math.exp(number(r"e\^([\d.]+)", sentence))
        assert all(1 / factor < unit[value] / shares[value] < factor for unit in beliefs for value in unit)
    elif name == "f-privacy":
        times, more = number(r"at most ([\d.]+) times", sentence), number(r"plus ([\d.]+) %", sentence) / 100
        assert all(float(unit[value]) <= times * float(shares[value]) + more for unit in beliefs for value in unit)
    elif name == "rho-privacy":
        sure, rare = number(r"at most ([\d.]+) % sure", sentence), number(r"true of at most ([\d.]+) %", sentence)
        rare_values = [value for value, share in enumerate(shares) if share * 100 <= rare]
        assert rare_values
        assert all(unit[value] * 100 <= sure for unit in beliefs for value in rare_values)


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
def test_what_a_sentence_says_is_so(text, published):
    release, data, graph = published
    model = parse_model(text)
    promise = Promise(model, None if model.about_identity else "s")
    refused = model.refuses_form(release.form)
    if refused is not None:
        assert verify(data, release, [promise]).verdicts[0].detail == refused
        return
    audit = verify(data, release, [promise], graph=graph)
    assert audit.passed, str(audit)
    sentence = audit.verdicts[0].promise
    assert sentence == model.promise(promise.column, Wording(form=release.form, known=("q0",)))
    assert sentence.endswith(".")
    literally_true(text, sentence, release, data, graph)


def test_every_model_is_taken_at_its_word():
    assert {text.partition(":")[0] for text in TEXTS} == set(MODELS)


@pytest.mark.parametrize("text", ["k-anonymity:5", "alpha-k:alpha=0.5,k=5", "k-concealment:5"])
def test_buckets_hide_values_and_not_persons(text):
    """500 rows with unique quasi-identifiers in buckets of 5: nobody is hidden among 4 others."""
    data = number_table([[age] for age in range(500)], np.arange(500) % 5)
    rng = np.random.default_rng(4)
    release = bucketized(data, np.arange(500) // 5, rng.permutation(500), rng.permutation(500))
    model = parse_model(text)
    promise = Promise(model, None if model.about_identity else "s")
    sentence = verify(data, release, [promise]).verdicts[0].promise
    assert "4 others" not in sentence
    assert "may be unique" in sentence


def test_folders_and_reports_use_the_sentence_of_their_form(tmp_path):
    import json

    import lookalike as la
    from lookalike.apps.samples import sample_table

    made = la.publish(
        sample_table(), qi=["age", "sex"], sensitive="diagnosis", model="k-anonymity:3", algorithm="anatomy"
    )
    made.write(tmp_path / "release", report="brief")
    sentence = parse_model("k-anonymity:3").promise(
        None, Wording(form="bucketized", adversary="knows-method", known=("age", "sex"))
    )
    described = json.loads((tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8"))
    assert described["lookalike"]["promises"][0]["sentence"] == sentence
    assert sentence in (tmp_path / "release" / "README.txt").read_text(encoding="utf-8")
    report = json.loads((tmp_path / "release" / "report.json").read_text(encoding="utf-8"))
    assert report["promises"][0]["sentence"] == sentence
    audit = json.loads((tmp_path / "release" / "audit.json").read_text(encoding="utf-8"))
    assert audit["verdicts"][0]["promise"] == sentence


@pytest.mark.parametrize("form", ["grouped", "bucketized"])
@pytest.mark.parametrize("text", TEXTS)
def test_by_persons_a_sentence_counts_persons_and_never_rows(text: str, form: str) -> None:
    model = parse_model(text)
    promise = Promise(model, None if model.about_identity else "s")
    for noun, nouns in (("person", "people"), ("household", "households")):
        sentence = promise.sentence(Wording(form=form, unit=Unit(noun)))
        known = f"knows quasi-identifiers from one row of a {noun}"
        assert known in sentence
        assert not re.search(r"\b(rows?|records?)\b", sentence.replace(known, ""))
        if "k" in {part.partition("=")[0] for part in text.partition(":")[2].split(",")} or model.about_identity:
            assert f"at least 3 different {nouns}" in sentence
        assert "1 chance in" not in sentence
        if model.about_identity and model.name == "k-anonymity":
            # Persons whose rows are linked each have as many in their class as any other.
            assert "1 chance in 3 at most" in promise.sentence(Wording(form=form, unit=Unit(noun, "all rows")))


def test_shares_by_persons_are_of_persons() -> None:
    sentences = [Promise(parse_model(text), "s").sentence(Wording(form="grouped", unit=Unit())) for text in TEXTS]
    of_shares = [sentence for sentence in sentences if "share" in sentence]
    assert len(of_shares) == 3
    assert all("the share of people in the whole table with it" in sentence for sentence in of_shares)
    rho = Promise(parse_model("rho-privacy:rho1=0.4,rho2=0.9"), "s")
    assert "of all people" in rho.sentence(Wording(form="grouped", unit=Unit()))


def test_an_audit_by_persons_says_so() -> None:
    """Four rows of two persons: by persons the class has 2, and the sentence and what fails say persons."""
    data = number_table([[30]] * 4 + [[40]] * 4, [0, 1, 0, 2, 0, 2, 1, 0])
    data = replace(data, persons=np.array([0, 0, 0, 1, 2, 2, 3, 4], dtype=np.int32))
    release = grouped(data, [0] * 4 + [1] * 4, np.arange(8))
    promises = [Promise(parse_model("k-anonymity:3")), Promise(parse_model("l-diversity:1.5"), "s")]
    found = verify(data, release, promises, record_of_row=np.arange(8))
    size, values = found.verdicts
    assert not found.passed
    assert "at least 3 different people" in size.promise
    assert (size.failing_units, size.failing_records) == (1, 2)
    assert "broken in 1 unit with 2 persons" in str(found)
    assert "5 persons" in str(found)
    # Flu of someone with three rows in the thirties is certain to an attacker who knows that: a unit of no size.
    assert values.reached == 1
    assert values.unit_size is None
    assert values.failing_records is None
