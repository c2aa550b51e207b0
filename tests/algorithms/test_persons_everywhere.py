"""Every algorithm, with every model, against every adversary: persons with several rows are served, or refused.

Served means: the audit by persons passes, and so does a count by brute force. A refusal says why.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.algorithms import ALGORITHMS
from lookalike.data.adversary import ADVERSARIES
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import ONE, PersonSettings
from lookalike.data.schema import Attribute, Role
from lookalike.errors import Infeasible, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import MadeWhole, run
from tests.audit.making import number_table
from tests.oracles.persons import classes_of, is_split, judge, look_at

MODELS = (
    "k-anonymity:3",
    "k-concealment:3",
    "l-diversity:2",
    "l-diversity:2,kind=distinct",
    "l-diversity:2,kind=entropy",
    "l-diversity:2,kind=recursive,c=2",
    "l-diversity:2,kind=binary,subset=0|1",
    "alpha-k:0.6,k=3",
    "beta-likeness:3",
    "delta-disclosure:1.5",
    "f-privacy:theta=2,base=0.3",
    "rho-privacy:0.4,rho2=0.8",
    "t-closeness:0.4",
)
SHAPES = ("constant", "varying", "half", "sorted", "alone", "pairs")
SERVING = {"groups", "mondrian", "mondrian-strict", "anatomy"}


def draw_visits(shape: str, n_persons: int = 30, seed: int = 0) -> Microdata:
    """Visits: quasi-identifiers constant or not; someone with half of the rows; sorted by person; one person."""
    rng = np.random.default_rng([seed, n_persons, *shape.encode()])
    if shape == "alone":
        owners = np.zeros(12, dtype=np.int32)
    elif shape == "pairs":
        owners = np.repeat(np.arange(n_persons // 6), 2)
    else:
        owners = np.concatenate((np.arange(n_persons), rng.integers(0, n_persons, n_persons)))
    if shape == "half":
        owners = np.concatenate((owners, np.zeros(len(owners), dtype=np.int64)))
    if shape == "sorted":
        owners = np.sort(owners)
    quasi = np.column_stack((rng.integers(0, 40, n_persons)[owners], rng.integers(0, 2, n_persons)[owners]))
    if shape in ("varying", "sorted"):
        quasi[:, 0] += rng.integers(0, 6, len(owners))
    # Many values: otherwise no promise about the values of persons with many rows can be kept.
    values = rng.integers(0, 40, len(owners))
    values[:2] = 0, 1
    data = number_table(quasi, values)
    persons = np.unique(owners, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return with_persons(data, persons)


def with_persons(data: Microdata, persons: np.ndarray) -> Microdata:
    schema = replace(data.schema, attributes=(*data.schema.attributes, Attribute(name="person", role=Role.PERSON)))
    return replace(data, schema=schema, persons=persons.astype(np.int32))


def publish(data: Microdata, algorithm: Algorithm, model: str, adversary: str, **settings: object) -> MadeWhole:
    recipe = Recipe(
        schema=data.schema,
        promises=(Promise(parse_model(model)),),
        algorithm=algorithm,
        adversary=adversary,
        seed=11,
        persons=PersonSettings(**settings),  # type: ignore[arg-type]
    )
    return run(prepare(recipe, data))


def check_release(made: MadeWhole, model: str, number_known: bool) -> None:
    data, record_of_row = made.data, made.record_map.record_of_row.tolist()
    assert made.audit.passed
    assert sorted(record_of_row) == list(range(data.n_rows))
    found = classes_of(made.release, record_of_row)
    assert not is_split(data, found)
    parsed = parse_model(model)
    if parsed.about_identity:
        assert data.persons is not None
        assert min(len(set(data.persons[records].tolist())) for records in found) >= parsed.k  # type: ignore[attr-defined]
    elif parsed.name != "l-diversity" or parsed.kind not in ("binary",):  # type: ignore[attr-defined]
        seen = look_at(data, made.release, record_of_row, 0)
        assert judge(parsed, data, seen, 0, number_known=number_known or made.form == "bucketized")


def settings_of(name: str) -> list[Algorithm]:
    kind = ALGORITHMS[name]
    made: list[Algorithm] = [kind()]
    if name == "groups":
        made += [kind(mode="free"), kind(mode="strict")]
    if name == "anatomy":
        made.append(kind(assign="similar"))
    return made


@pytest.mark.parametrize("adversary", list(ADVERSARIES))
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_served_or_refused(name: str, adversary: str) -> None:
    served, reasons = set(), []
    data = draw_visits("varying", 12)
    for algorithm in settings_of(name):
        for model in MODELS:
            for known in (True, False):
                try:
                    made = publish(data, algorithm, model, adversary, number_known=known)
                except (Unsupported, Infeasible) as refused:
                    reasons.append(str(refused))
                    continue
                assert model.split(":")[0] not in ("t-closeness", "rho-privacy")
                check_release(made, model, known)
                served.add((adversary, model))
    assert all(len(reason) > 40 for reason in reasons)
    assert bool(served) == (name in SERVING if adversary == "reads-release" else name == "groups")
    if adversary == "knows-method":
        assert {model for _, model in served} <= {"k-anonymity:3", "k-concealment:3"}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", sorted(SERVING))
def test_every_shape_of_table(name: str, shape: str) -> None:
    for seed in range(4):
        data = draw_visits(shape, 10, seed)
        for model in ("k-anonymity:2", "l-diversity:2", "beta-likeness:4"):
            for known in (True, False):
                try:
                    made = publish(data, ALGORITHMS[name](), model, "reads-release", number_known=known)
                except (Unsupported, Infeasible):
                    # One person alone, or with half of the rows, is hidden by no groups.
                    assert shape in ("alone", "half", "pairs") or model != "k-anonymity:2"
                    continue
                # All of one person's values are all of the table's: beta-likeness has nothing to compare.
                assert shape != "alone" or model == "beta-likeness:4"
                check_release(made, model, known)


@pytest.mark.parametrize("name", sorted(SERVING))
@pytest.mark.parametrize("n_persons", range(1, 7))
def test_tables_of_few_persons(name: str, n_persons: int) -> None:
    rng = np.random.default_rng(n_persons)
    owners = np.concatenate((np.arange(n_persons), rng.integers(0, n_persons, n_persons)))
    data = with_persons(number_table(rng.integers(0, 3, (len(owners), 1)), rng.integers(0, 9, len(owners))), owners)
    for model in ("k-anonymity:1", "k-anonymity:2", "l-diversity:1", "l-diversity:1.2", "alpha-k:0.9,k=2"):
        try:
            made = publish(data, ALGORITHMS[name](), model, "reads-release")
        except (Unsupported, Infeasible):
            assert n_persons < 2 or not model.startswith("k-anonymity")
            continue
        check_release(made, model, number_known=True)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_person_column_without_repeats_changes_no_byte(name: str) -> None:
    import polars as pl

    import lookalike as la
    from lookalike.files.releases.write import frames

    rng = np.random.default_rng(5)
    table = pl.DataFrame(
        {
            "person": rng.permutation(60),
            "home": rng.permutation(60),
            "age": rng.integers(0, 50, 60),
            "sex": rng.integers(0, 2, 60),
            "s": rng.permutation(np.arange(60) % 6),
        }
    )
    made_with = []
    models = ("l-diversity:2", "k-anonymity:3", "beta-likeness:2", "t-closeness:0.4", "k-concealment:3", "f-privacy:2")
    for person in ({}, {"person": "person"}, {"person": "person", "household": "home"}):
        for model in (*models, "delta-disclosure:2"):
            try:
                made = la.publish(
                    table.select("age", "sex", "s", *person.values()),
                    qi=["age", "sex"],
                    sensitive="s",
                    categorical=["sex", "s"],
                    model=model,
                    algorithm=name,
                    seed=4,
                    **person,
                )
            except (Unsupported, Infeasible):
                continue
            tables = frames(made.release)
            made_with.append([tables[one].write_csv() for one in sorted(tables)])
            break
    assert len(made_with) == 3
    assert made_with[0] == made_with[1] == made_with[2]


@pytest.mark.parametrize("keep", ["first", "last", "random"])
def test_one_row_per_person_serves_what_rows_are_served(keep: str) -> None:
    """Promises about values against someone who knows the method, and about distributions."""
    data = draw_visits("varying", 40)
    for name, model in (("groups", "l-diversity:2"), ("anatomy", "l-diversity:2"), ("mondrian", "t-closeness:0.9")):
        adversary = "knows-method" if keep == "random" and name != "mondrian" else "reads-release"
        made = publish(data, ALGORITHMS[name](), model, adversary, rows=ONE, keep=keep)
        assert made.audit.passed
        assert made.data.persons is None
        assert made.data.n_rows == data.n_persons
        assert made.adversary == adversary or keep == "random"


@pytest.mark.parametrize("name", sorted(SERVING))
def test_two_sensitive_columns(name: str) -> None:
    """Each column is protected by itself; buckets keep ceilings on one column, and refuse two."""
    data = draw_visits("varying", 60)
    own = data.domains.sensitive[0]
    other = replace(own, attribute=replace(own.attribute, name="t"))
    values = np.column_stack((data.sensitive[:, 0], np.random.default_rng(1).permutation(data.sensitive[:, 0])))
    schema = replace(data.schema, attributes=(*data.schema.attributes, other.attribute))
    domains = replace(data.domains, sensitive=(own, other))
    data = replace(data, schema=schema, domains=domains, sensitive=values)
    if name == "anatomy":
        with pytest.raises(Unsupported, match="one sensitive column"):
            publish(data, ALGORITHMS[name](), "l-diversity:2", "reads-release")
        return
    made = publish(data, ALGORITHMS[name](), "l-diversity:2", "reads-release")
    record_of_row = made.record_map.record_of_row.tolist()
    for column in range(2):
        seen = look_at(data, made.release, record_of_row, column)
        assert judge(parse_model("l-diversity:2"), data, seen, column, number_known=True)
    assert len(classes_of(made.release, record_of_row)) > 1


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("k-anonymity:5", "groups of at least 5 persons, and the table has 4"),
        ("k-concealment:9", "groups of at least 9 persons, and the table has 4"),
        ("alpha-k:0.5,k=9", "groups of at least 9 persons, and the table has 4"),
        ("l-diversity:2,kind=binary,subset=0|1", "add up to 200 % in the whole table, since one person may have"),
    ],
)
def test_what_the_table_lacks_is_said_in_persons(model: str, said: str) -> None:
    """Four persons with five rows each, which are no lack of records; each has both values."""
    owners = np.repeat(np.arange(4), 5)
    data = with_persons(number_table(owners[:, None] + 20, np.arange(20) % 2), owners)
    with pytest.raises(Infeasible, match=said):
        publish(data, ALGORITHMS["groups"](), model, "reads-release")
