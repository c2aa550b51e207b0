"""The exam that every algorithm sits, with every model it accepts. A new line in `ALGORITHMS` is examined at once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.apps.samples import census
from lookalike.data.adversary import ADVERSARIES
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Ranges
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Role, Schema
from lookalike.data.wording import Wording
from lookalike.errors import Infeasible, Unsupported
from lookalike.files.releases.describe import Manifest, state_promise
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.hidden_data.folder import examine_folder
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.reading import read_release
from tests.strategies import microdatas

MODELS = [
    "k-anonymity:3",
    "alpha-k:alpha=0.6,k=2",
    "l-diversity:2,kind=distinct",
    "l-diversity:2",
    "l-diversity:1.7,kind=entropy",
    "l-diversity:2,kind=recursive,c=3",
    "t-closeness:0.3",
    "t-closeness:0.25,distance=ordered",
    "t-closeness:0.4,distance=js",
    "t-closeness:1,distance=kl",
    "delta-disclosure:1.5",
    "beta-likeness:1,bound=basic",
    "beta-likeness:2",
    "beta-likeness:2,negative=0.9,negative_form=relative",
    "f-privacy:theta=2,base=0.1",
    "rho-privacy:rho1=0.3,rho2=0.8",
    "k-concealment:3",
]
WEAKER_TO_STRICTER = [
    ("k-anonymity:2", "k-anonymity:7"),
    ("l-diversity:2", "l-diversity:4"),
    ("t-closeness:0.5", "t-closeness:0.2"),
    ("beta-likeness:4,bound=basic", "beta-likeness:1,bound=basic"),
]

USUAL = ("k-anonymity:5", "beta-likeness:3", "t-closeness:0.3")
BEYOND = {(name, "beta-likeness:1,bound=basic") for name in ("ring", "anatomy")}
"""Methods that find no release of the census for a promise that they serve elsewhere, and say so."""

# Every method, with the settings that it takes against each adversary.
# A method that may search for a minute gets two seconds here.
QUICK = {"optimal-buckets": "optimal-buckets:nodes=20"}
SET = {
    str(method): method
    for name in ALGORITHMS
    for method in map(parse_algorithm(QUICK.get(name, name)).facing, ADVERSARIES)
}


def census_data(rows: int, seed: int = 3) -> Microdata:
    table = census(rows, seed=seed)
    names = table.names
    return Microdata.encode(
        table, Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:-1], names[1], names[-1]])
    )


@cache
def asked_of_census(text: str) -> tuple[tuple[Promise, ...], tuple[Requirement, ...]]:
    data = census_data(600)
    promises = settle([Promise(parse_model(text))], data)
    return promises, require(promises, data)


def serves(algorithm: Algorithm, *texts: str) -> bool:
    """Whether the method serves these promises for an ordinary table. What it does not serve is no part of its exam."""
    return not any(refusal_of(algorithm, *asked_of_census(text)) for text in texts)


def refusal_of(
    algorithm: Algorithm, promises: tuple[Promise, ...], requirements: tuple[Requirement, ...]
) -> str | None:
    for promise, requirement in zip(promises, requirements, strict=True):
        reason = promise.model.refuses_form(algorithm.form) or algorithm.refuses(promise, requirement)
        if reason:
            return reason
    return None


def usual(algorithm: Algorithm, *texts: str) -> str:
    """The first of these promises that the method serves."""
    return next(text for text in texts or USUAL if serves(algorithm, text))


def served(*texts: str) -> pytest.MarkDecorator:
    """Every method that serves these promises."""
    return pytest.mark.parametrize("algorithm", [each for each in SET.values() if serves(each, *texts)], ids=str)


def served_each(names: str, cases: Iterable[str | tuple[str, ...]]) -> pytest.MarkDecorator:
    """Every method with every one of these cases that it serves. A case is a promise or several."""
    several = [(case,) if isinstance(case, str) else case for case in cases]
    pairs = [(each, *case) for case in several for each in SET.values() if serves(each, *case)]
    return pytest.mark.parametrize(
        f"algorithm,{names}", pairs, ids=["-".join((*case, str(each))) for each, *case in pairs]
    )


every_algorithm = served()


def publish(data: Microdata, algorithm: Algorithm, *texts: str, seed: int | None = 5):  # type: ignore[no-untyped-def]
    promises = settle([Promise(parse_model(text)) for text in texts], data)
    requirements = require(promises, data)
    reason = refusal_of(algorithm, promises, requirements)
    if reason:
        raise Unsupported(reason)
    return (*algorithm.anonymize(data, requirements, Randomness(seed), silent), promises)


def bytes_of(release) -> list[bytes]:  # type: ignore[no-untyped-def]
    """Everything that would be printed."""
    found = []
    for table in release.tables():
        for cells in table.columns:
            for name in ("codes", "numbers", "unit_of_row"):
                if hasattr(cells, name):
                    found.append(getattr(cells, name).tobytes())
            extents = getattr(cells, "extents", None)
            if extents is not None:
                found.extend(part.tobytes() for part in vars(extents).values())
    return found


@served_each("model", MODELS)
@settings(max_examples=examples(5), deadline=None)
@given(data=microdatas())
def test_the_audit_passes_or_nothing_is_made(algorithm: Algorithm, model: str, data: Microdata) -> None:
    try:
        release, linkage, promises = publish(data, algorithm, model)
    except (Infeasible, Unsupported):
        return
    found = pipeline.verify(data, release, promises, graph=linkage.graph, adversary=algorithm.adversary)
    assert found.passed, str(found)
    assert release.n_rows == data.n_rows - release.withheld.n_suppressed


@every_algorithm
@settings(max_examples=examples(3), deadline=None)
@given(data=microdatas(), safe_csv=st.booleans())
def test_what_is_written_says_no_more_than_the_release(algorithm: Algorithm, data: Microdata, safe_csv: bool) -> None:
    try:
        release, _, promises = publish(data, algorithm, usual(algorithm))
    except (Infeasible, Unsupported):
        return
    known = tuple(domain.name for domain in release.domains.quasi)
    wording = Wording(form=release.form, adversary=algorithm.adversary, known=known)
    stated = tuple(state_promise(promise, wording) for promise in promises)
    manifest = Manifest(
        title="x", promises=stated, algorithm=str(algorithm), adversary=algorithm.adversary, safe_csv=safe_csv
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "out"
        write_release(folder, release, documents={}, manifest=manifest)
        read, published = read_release(folder, data)
        assert published is not None
        found = examine_folder(ReleaseFolder(folder), read)
    assert all(check.passed for check in found.checks), found.checks
    assert found.not_checked == ("audit.json (the folder has none)",)


@every_algorithm
@settings(max_examples=examples(6), deadline=None)
@given(data=microdatas(), drawn=st.data())
def test_several_promises_hold_together(algorithm: Algorithm, data: Microdata, drawn: st.DataObject) -> None:
    known = [text for text in MODELS if serves(algorithm, text)]
    texts = drawn.draw(st.lists(st.sampled_from(known), min_size=2, max_size=3, unique=True))
    try:
        release, linkage, promises = publish(data, algorithm, *texts)
    except (Infeasible, Unsupported):
        return
    found = pipeline.verify(data, release, promises, graph=linkage.graph, adversary=algorithm.adversary)
    assert found.passed, str(found)


@every_algorithm
@settings(max_examples=examples(12), deadline=None)
@given(data=microdatas())
def test_true_values_lie_inside_and_none_is_lost(algorithm: Algorithm, data: Microdata) -> None:
    try:
        release, linkage, _ = publish(data, algorithm, usual(algorithm, "k-anonymity:1", *USUAL))
    except (Infeasible, Unsupported):
        return
    assert sorted(linkage.record_of_row.tolist()) == list(range(data.n_rows))
    assert (release.carried == data.carried[linkage.record_of_row]).all()
    if isinstance(release, Perturbed):
        assert (release.quasi == data.quasi[linkage.record_of_row]).all()
        return
    assert (release.sensitive == data.sensitive[linkage.record_of_row]).all()
    if isinstance(release, Bucketized):
        assert linkage.record_of_quasi_row is not None
        assert (release.quasi == data.quasi[linkage.record_of_quasi_row]).all()
        sides = np.empty((2, data.n_rows), dtype=np.int32)
        sides[0, linkage.record_of_quasi_row] = release.bucket_of_quasi
        sides[1, linkage.record_of_row] = release.bucket_of_sensitive
        assert (sides[0] == sides[1]).all()
    if isinstance(release, Grouped | Matched):
        units = release.unit_of_row
        for attr, extents in enumerate(release.extents):
            codes = data.quasi[linkage.record_of_row, attr]
            missing = codes == release.domains.quasi[attr].missing_code
            if isinstance(extents, Ranges):
                tree = release.domains.quasi[attr].taxonomy is not None
                inside = (extents.lows[units] <= codes) & (codes <= extents.highs[units])
                assert np.where(missing & (not tree), extents.missing[units], inside).all()
            else:
                bounds = zip(extents.starts[units], extents.starts[units + 1], codes, strict=True)
                assert all(code in extents.members[start:stop] for start, stop, code in bounds)


@every_algorithm
def test_same_seed_same_bytes_and_no_seed_other_order(algorithm: Algorithm) -> None:
    data = census_data(400)
    first, second, other = (publish(data, algorithm, usual(algorithm), seed=seed)[0] for seed in (1, 1, None))
    assert bytes_of(first) == bytes_of(second)
    assert bytes_of(first) != bytes_of(other)


@served("k-anonymity:5")
def test_under_k_anonymity_alone_cells_do_not_depend_on_sensitive_values(algorithm: Algorithm) -> None:
    """No promise about values is a reason to look at them; what does not depend on them cannot tell about them."""
    data = census_data(400)
    order = np.random.default_rng(4).permutation(data.n_rows)
    releases = [
        publish(table, algorithm, "k-anonymity:5")[0]
        for table in (data, replace(data, sensitive=data.sensitive[order]))
    ]
    if algorithm.form == Bucketized.form:
        first, second = ([release.quasi.tobytes(), release.bucket_of_quasi.tobytes()] for release in releases)
    else:
        first, second = (
            [part.tobytes() for extents in release.extents for part in vars(extents).values()] for release in releases
        )
    assert first == second
    assert (releases[0].sensitive != releases[1].sensitive).any()


@every_algorithm
def test_row_order_says_nothing(algorithm: Algorithm) -> None:
    """The rank correlation of input and output positions stays within what a shuffle gives."""
    data = census_data(2000)
    _, linkage, _ = publish(data, algorithm, usual(algorithm), seed=None)
    correlation = np.corrcoef(np.arange(data.n_rows), linkage.record_of_row)[0, 1]
    assert abs(correlation) < 6 / np.sqrt(data.n_rows)


@every_algorithm
def test_identifiers_never_get_in(algorithm: Algorithm) -> None:
    data = census_data(200)
    release, _, _ = publish(data, algorithm, usual(algorithm))
    published = {getattr(cells, "domain", None) for table in release.tables() for cells in table.columns} - {None}
    assert {domain.name for domain in published} == {domain.name for domain in data.domains.all}
    assert all(domain.attribute.role is not Role.IDENTIFIER for domain in published)


@served("k-anonymity:8")
def test_shuffled_input_gives_as_good_a_release(algorithm: Algorithm) -> None:
    data = census_data(1500)
    order = np.random.default_rng(8).permutation(data.n_rows)
    shuffled = replace(data, quasi=data.quasi[order], sensitive=data.sensitive[order], carried=data.carried[order])
    losses = [
        pipeline.measure(table, publish(table, algorithm, "k-anonymity:8")[0])[0]["gcp"] for table in (data, shuffled)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.1, abs=1e-9)


@served_each("weaker,stricter", WEAKER_TO_STRICTER)
def test_a_stricter_promise_reaches_a_stricter_level(algorithm: Algorithm, weaker: str, stricter: str) -> None:
    data = census_data(600)
    if (algorithm.name, stricter) in BEYOND:
        with pytest.raises(Unsupported, match="most f"):
            publish(data, algorithm, stricter)
        return
    reached = []
    for text in (weaker, stricter):
        release, linkage, promises = publish(data, algorithm, text)
        found = pipeline.verify(data, release, promises, graph=linkage.graph, adversary=algorithm.adversary)
        reached.append(found.verdicts[0].reached)
    if weaker.startswith(("k-", "l-")):
        assert reached[0] < reached[1]
    else:
        # A single group keeps the weaker promise as strictly as can be.
        assert reached[0] > reached[1] or reached == [0, 0]


@served_each("model", ["k-anonymity:1", "l-diversity:1", "t-closeness:0", "beta-likeness:1"])
def test_one_row(algorithm: Algorithm, model: str) -> None:
    data = census_data(1)
    if algorithm.form == Perturbed.form:
        with pytest.raises(Unsupported, match="two sensitive values"):
            publish(data, algorithm, model)
        return
    release, linkage, promises = publish(data, algorithm, model)
    assert release.n_rows == 1
    assert pipeline.verify(data, release, promises, graph=linkage.graph).passed


@every_algorithm
def test_all_rows_equal(algorithm: Algorithm) -> None:
    data = census_data(30)
    same = replace(data, quasi=data.quasi[[0] * 30], sensitive=data.sensitive[[0] * 30])
    if serves(algorithm, "k-anonymity:7"):
        assert publish(same, algorithm, "k-anonymity:7")[0].n_rows == 30
    with pytest.raises(Infeasible) as refused:
        publish(same, algorithm, "l-diversity:2")
    assert refused.value.nearest is not None


@every_algorithm
def test_k_above_n_is_refused_with_the_nearest(algorithm: Algorithm) -> None:
    # Whatever the method: the table decides, before any method is asked.
    with pytest.raises(Infeasible, match="k-anonymity:20"):
        publish(census_data(20), algorithm, "k-anonymity:21")


@pytest.mark.parametrize("algorithm", [each for each in SET.values() if each.adversary != "knows-method"], ids=str)
def test_an_adversary_it_is_not_made_for_is_refused(algorithm: Algorithm) -> None:
    data, model = census_data(50), parse_model(usual(algorithm))
    recipe = Recipe(schema=data.schema, promises=(Promise(model),), algorithm=algorithm, adversary="knows-method")
    with pytest.raises(Unsupported, match="adversary"):
        pipeline.run(prepare(recipe, Table(census(50, seed=3).columns)))


def test_bucketized_and_matched_forms_are_known_to_the_exam() -> None:
    """The exam reads all forms; a form it does not know would pass the containment test unseen."""
    assert {kind().form for kind in ALGORITHMS.values()} <= {
        Grouped.form,
        Matched.form,
        Bucketized.form,
        Perturbed.form,
    }
