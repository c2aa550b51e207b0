"""Releases made in parts, with the verbs of one machine: every method that distributes, and what can fail."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.algorithms.groups import Groups
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.shared.method import Grouping, Method
from lookalike.apps.samples import hospital
from lookalike.data.contracts import Boxes, Undivided
from lookalike.data.frequent_values import set_cells
from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import PersonSettings
from lookalike.data.release import Grouped, Ranges
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema
from lookalike.errors import AuditFailed, Infeasible, RecipeError, Unsupported
from lookalike.models import parse_promise
from lookalike.pipeline.backends import Fragments
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.parts.boxes import BoxTree
from lookalike.pipeline.parts.cut import cutting_for
from lookalike.pipeline.parts.slices import SlicedBoxes, Slices
from lookalike.pipeline.parts.verify import verify_in_parts
from lookalike.pipeline.recipe import Recipe
from lookalike.progress import Progress
from lookalike.publication import Publication
from lookalike.publication.in_parts import publish_in_parts
from lookalike.randomness import Randomness

QI = ["age", "sex", "zip code"]
PLAIN = Schema.of(qi=QI, sensitive=["diagnosis"])
CARRYING = set_cells(Schema.of(qi=QI, sensitive=["diagnosis"], carry=["length_of_stay"]), carry_anyway="length_of_stay")


@pytest.fixture(scope="module")
def stays() -> pl.DataFrame:
    table = hospital(3000, seed=8)
    columns = {}
    for column in table.columns:
        values = pl.Series([*column.values.tolist(), None])
        columns[column.name] = values.gather(column.codes)
    return pl.DataFrame(columns)


def published(
    frame: pl.DataFrame, out: Path, algorithm: Any, *promises: str, schema: Schema = PLAIN, **more: Any
) -> Publication:
    method = parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
    adversary = more.pop("adversary", "reads-release")
    made = tuple(parse_promise(promise) for promise in promises)
    recipe = Recipe(schema=schema, promises=made, algorithm=method, seed=3, adversary=adversary)
    return publish_in_parts(LocalBackend(frame), recipe, out, **{"part_rows": 1000, **more})


METHODS = [
    ("groups:effort=fast", ("l-diversity:3", "k-anonymity:5"), {"schema": CARRYING}),
    ("groups:effort=fast", ("l-diversity:2",), {"adversary": "knows-method"}),
    ("mondrian", ("t-closeness:0.4,distance=equal",), {"schema": CARRYING}),
    ("mondrian", ("l-diversity:3,kind=entropy",), {}),
    ("mondrian-strict", ("k-anonymity:5", "l-diversity:2"), {}),
    ("lmondrian", ("beta-likeness:3",), {}),
    ("dmondrian", ("beta-likeness:3",), {}),
    ("tmondrian", ("t-closeness:0.4",), {}),
    ("burel", ("beta-likeness:3",), {"schema": CARRYING}),
    ("anatomy", ("l-diversity:3",), {"schema": CARRYING}),
    ("anatomy", ("k-anonymity:4",), {}),
    ("two-size:assign=similar", ("beta-likeness:3",), {}),
    ("multi-size", ("beta-likeness:3",), {"adversary": "knows-method"}),
    ("optimal-buckets:nodes=20", ("l-diversity:3",), {}),
    ("heterogeneous", ("l-diversity:2",), {"adversary": "knows-method"}),
    ("heterogeneous", ("l-diversity:3",), {}),
    ("heterogeneous", ("k-anonymity:3",), {}),
    ("perturbation", ("beta-likeness:3",), {}),
    ("perturbation", ("beta-likeness:3",), {"adversary": "knows-method"}),
]


def assert_not_shown_without_its_graph(whole: la.Audit) -> None:
    """Parts keep no graph, so the files show that the release is about this table, and not what it reveals."""
    assert all(check.passed for check in whole.checks if check.decides), str(whole)
    assert {verdict.is_open for verdict in whole.verdicts} == {True}, str(whole)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "promises", "more"), METHODS)
def test_every_method_keeps_its_promises_for_the_whole_table(
    algorithm: str, promises: tuple[str, ...], more: dict[str, Any], stays: pl.DataFrame, tmp_path: Path
) -> None:
    """The audit of the folder as a whole, which knows nothing of parts, has the last word."""
    made = published(stays, tmp_path / "release", algorithm, *promises, **more)
    assert made.n_parts >= 2
    assert made.audit.passed
    stays.write_parquet(tmp_path / "original.parquet")
    whole = la.verify(tmp_path / "original.parquet", tmp_path / "release")
    if made.form == "matched":
        assert_not_shown_without_its_graph(whole)
    else:
        assert whole.passed, str(whole)
    assert {"report.html", "report.json", "audit.json", "README.txt"} <= set(made.files)
    if made.form == "grouped":
        measured = la.measure(tmp_path / "original.parquet", tmp_path / "release")
        assert made.losses["gcp"] == pytest.approx(measured["gcp"])
        assert [verdict.reached for verdict in whole.verdicts] == [verdict.reached for verdict in made.audit.verdicts]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_method_is_cut_or_refused_with_a_reason(name: str) -> None:
    method = ALGORITHMS[name]()
    assert type(method).in_parts is not Method.in_parts
    if isinstance(method.in_parts, Undivided):
        with pytest.raises(Unsupported, match=method.in_parts.why[:40]):
            cutting_for(method, "reads-release")
    else:
        assert cutting_for(method, "reads-release").why.endswith(".")


def test_cuts_look_at_no_value_against_an_adversary_who_knows_the_method() -> None:
    for text in ("groups:mode=strict", "perturbation:mode=strict", "heterogeneous"):
        cutting = cutting_for(parse_algorithm(text), "knows-method")
        assert isinstance(cutting, Boxes)
        assert cutting.blind
        assert cutting.otherwise is None
    dealt = cutting_for(parse_algorithm("anatomy"), "knows-method")
    assert not isinstance(dealt, Boxes)
    assert dealt.at_random
    with pytest.raises(Unsupported, match="along a curve"):
        cutting_for(parse_algorithm("anatomy:assign=similar"), "knows-method")


@dataclass(frozen=True)
class Guest(Grouping):
    """Written outside of the package: all records of a part are one group."""

    name: ClassVar[str] = "guest"

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[np.ndarray, int]:
        return np.zeros(data.n_rows, dtype=np.int32), 1


@dataclass(frozen=True)
class GuestInBoxes(Guest):
    in_parts: ClassVar[Boxes] = Boxes("A group is in one box.")


def test_a_method_from_outside_is_refused_in_parts_unless_it_says_how(stays: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="guest cannot publish a table in parts: it does not say how"):
        published(stays, tmp_path / "release", Guest(), "k-anonymity:4")
    made = published(stays, tmp_path / "release", GuestInBoxes(), "k-anonymity:4")
    assert made.n_parts >= 2
    assert made.audit.passed
    assert any("A group is in one box." in note for note in made.notes)


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [
        ("freeform", "cycles"),
        ("groups:effort=2.5", "by seconds"),
        ("optimal-buckets:seconds=3", "by seconds"),
        ("heterogeneous:buckets=equal", "decided for the whole table"),
    ],
)
def test_what_cannot_be_done_in_parts_is_refused_with_the_reason(
    algorithm: str, reason: str, stays: pl.DataFrame, tmp_path: Path
) -> None:
    promise = "k-anonymity:4" if algorithm == "freeform" else "l-diversity:2"
    with pytest.raises(Unsupported, match=reason):
        published(stays, tmp_path / "release", algorithm, promise)
    assert list(tmp_path.iterdir()) == []


def digests(folder: Path) -> dict[str, str]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


class Remembering(LocalBackend):
    """Keeps the cuts, to make the same ones again."""

    cuts: Fragments

    def map(self, work: Any, fragments: Fragments, watch: Any) -> list[bytes]:
        self.cuts = fragments
        return super().map(work, fragments, watch)


@pytest.mark.parametrize("algorithm", ["mondrian", "anatomy", "heterogeneous"])
def test_the_order_of_rows_makes_no_difference(algorithm: str, stays: pl.DataFrame, tmp_path: Path) -> None:
    recipe = Recipe(
        schema=PLAIN, promises=(parse_promise("l-diversity:3"),), algorithm=parse_algorithm(algorithm), seed=4
    )
    backend = Remembering(stays)
    publish_in_parts(backend, recipe, tmp_path / "one", part_rows=1000)
    shuffled = stays.sample(fraction=1.0, shuffle=True, seed=2)
    publish_in_parts(LocalBackend(shuffled), recipe, tmp_path / "other", fragments=backend.cuts)
    assert digests(tmp_path / "one") == digests(tmp_path / "other")


@dataclass(frozen=True)
class Watching(Groups):
    """Notes the records as the method gets to see them."""

    came: ClassVar[list[np.ndarray]] = []

    def make_release(self, data: Any, requirements: Any, rng: Any, progress: Any) -> Any:
        self.came.append(np.column_stack([data.quasi, data.sensitive]))
        return super().make_release(data, requirements, rng, progress)


def test_records_of_a_part_come_to_the_method_in_a_random_order(stays: pl.DataFrame, tmp_path: Path) -> None:
    """A part is sorted, so that it can be done again; ties must not be broken by that order: it tells values."""
    method = Watching(mode="strict", effort="fast")
    shuffled = stays.sample(fraction=1.0, shuffle=True, seed=2)
    seeds = (3, 3, 4)
    for number, (frame, seed) in enumerate(zip((stays, shuffled, stays), seeds, strict=True)):
        recipe = Recipe(schema=PLAIN, promises=(parse_promise("l-diversity:2"),), algorithm=method, seed=seed)
        publish_in_parts(LocalBackend(frame), recipe, tmp_path / str(number), part_rows=3000)
    first, again, other = Watching.came
    assert (first == again).all()
    assert not (first == other).all()
    by_code = first[np.lexsort(first.T[::-1])]
    assert sorted(first.tolist()) == sorted(other.tolist()) == by_code.tolist()
    # Of neighbours with equal quasi-identifiers, about as many rise as fall in their sensitive value.
    ties = first[np.lexsort(first[:, :-1].T[::-1])]
    alike = (ties[1:, :-1] == ties[:-1, :-1]).all(axis=1)
    rises, falls = (np.count_nonzero(alike & (side > 0)) for side in (np.diff(ties[:, -1]), -np.diff(ties[:, -1])))
    assert abs(rises - falls) < 5 * np.sqrt(rises + falls)


def test_without_a_seed_no_two_releases_are_alike(stays: pl.DataFrame, tmp_path: Path) -> None:
    recipe = Recipe(schema=PLAIN, promises=(parse_promise("k-anonymity:4"),), algorithm=Mondrian())
    for name in ("one", "other"):
        publish_in_parts(LocalBackend(stays), recipe, tmp_path / name)
    table = "release.csv/part-00000.csv"
    assert digests(tmp_path / "one")[table] != digests(tmp_path / "other")[table]


def test_where_blind_cells_do_not_fit_there_are_slices_or_a_refusal(stays: pl.DataFrame, tmp_path: Path) -> None:
    one_sex = pl.col("sex") == stays["sex"][0]
    ill = pl.when(one_sex & (pl.col("age") > 25)).then(pl.lit("theirs")).otherwise(pl.col("diagnosis"))
    skewed = stays.with_columns(ill.alias("diagnosis"))
    backend = Remembering(skewed)
    recipe = Recipe(
        schema=PLAIN, promises=(parse_promise("l-diversity:2"),), algorithm=parse_algorithm("heterogeneous"), seed=1
    )
    made = publish_in_parts(backend, recipe, tmp_path / "release", part_rows=1000)
    assert isinstance(backend.cuts, Slices)
    assert made.adversary == "reads-release"
    with pytest.raises(Infeasible, match="without a look at the sensitive values"):
        publish_in_parts(backend, replace(recipe, adversary="knows-method"), tmp_path / "again", part_rows=1000)
    assert not (tmp_path / "again").exists()
    backend = Remembering(skewed)
    published_by_groups = replace(recipe, algorithm=Groups(effort="fast"))
    publish_in_parts(backend, published_by_groups, tmp_path / "groups", part_rows=1000)
    assert isinstance(backend.cuts, BoxTree)


def test_a_cell_that_keeps_its_promise_by_a_hair_is_dealt_out(tmp_path: Path) -> None:
    """Two values, exactly as frequent as each other: no cut leaves both sides at one half."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"age": rng.integers(0, 90, 12001), "ill": np.append(rng.permutation(12000) % 2, 2)})
    schema = Schema.of(qi=["age"], sensitive=["ill"])
    backend = Remembering(frame)
    recipe = Recipe(schema=schema, promises=(parse_promise("l-diversity:2"),), algorithm=Mondrian(), seed=2)
    made = publish_in_parts(backend, recipe, tmp_path / "release", part_rows=1000)
    assert isinstance(backend.cuts, SlicedBoxes)
    assert made.n_parts == backend.cuts.n_parts >= 3
    assert sum(backend.cuts.sizes) == 12001
    assert max(backend.cuts.sizes) < 6000
    whole = la.verify(frame, tmp_path / "release")
    assert whole.passed
    again = verify_in_parts(LocalBackend(frame), tmp_path / "release")
    assert again.passed
    assert [verdict.reached for verdict in again.verdicts] == [verdict.reached for verdict in whole.verdicts]
    # Parts do not know of one another's rows, so what they say is never too much.
    assert made.audit.verdicts[0].reached <= whole.verdicts[0].reached


def boxes(frame: pl.DataFrame, out: Path, method: str, **more: Any) -> set[Any]:
    backend = Remembering(frame)
    recipe = Recipe(
        schema=PLAIN, promises=(parse_promise("l-diversity:2"),), algorithm=parse_algorithm(method), seed=1, **more
    )
    made = publish_in_parts(backend, recipe, out, part_rows=1000)
    assert made.adversary == "knows-method"
    assert isinstance(backend.cuts, BoxTree)
    return {(cell.lows, cell.highs) for cell in backend.cuts.root.leaves()}


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("groups:effort=fast", {"adversary": "knows-method"}),
        ("groups:effort=fast,mode=strict", {}),
        ("heterogeneous", {"adversary": "knows-method"}),
    ],
)
def test_cuts_against_who_knows_the_method_look_at_no_sensitive_value(
    method: str, more: dict[str, Any], stays: pl.DataFrame, tmp_path: Path
) -> None:
    """Exchange everybody's diagnoses: the cells stay where they are."""
    exchanged = stays.with_columns(pl.col("diagnosis").shuffle(seed=4))
    assert boxes(stays, tmp_path / "one", method, **more) == boxes(exchanged, tmp_path / "other", method, **more)


@dataclass(frozen=True)
class Careless(Mondrian):
    """Leaves every record in its own group."""

    name: ClassVar[str] = "mondrian"

    def partition(self, data: Any, requirements: Any, rng: Any, progress: Any, rule: Any = None) -> Any:
        return np.arange(data.n_rows, dtype=np.int32), data.n_rows


@dataclass(frozen=True)
class Boundless(Mondrian):
    """Publishes every age as any age: good groups, but ones that reach into other cells."""

    name: ClassVar[str] = "mondrian"

    def anonymize(self, data: Any, requirements: Any, rng: Any, progress: Any) -> Any:
        release, linkage = super().anonymize(data, requirements, rng, progress)
        assert isinstance(release, Grouped)
        domain, n_groups = data.domains.quasi[0], len(release.extents[0])
        ends = np.zeros(n_groups, dtype=np.int32), np.full(n_groups, len(domain.values) - 1, dtype=np.int32)
        extents = (Ranges.of(domain, *ends, np.full(n_groups, domain.has_missing)), *release.extents[1:])
        return replace(release, extents=extents), linkage


@pytest.mark.parametrize(("method", "said"), [(Careless(), "does not pass its audit"), (Boundless(), "another part")])
def test_a_release_that_does_not_hold_is_not_written(
    method: Any, said: str, stays: pl.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises(AuditFailed, match=said):
        published(stays, tmp_path / "release", method, "l-diversity:3")
    assert list(tmp_path.iterdir()) == []


class Shifting(LocalBackend):
    """A table that loses rows between the survey and the work."""

    def encode(self, names: Any, coding: Any) -> None:
        super().encode(names, coding)
        self._codes = self._codes[:-1]


def test_a_table_that_changes_meanwhile_is_not_published(stays: pl.DataFrame, tmp_path: Path) -> None:
    recipe = Recipe(schema=PLAIN, promises=(parse_promise("k-anonymity:4"),), algorithm=Mondrian(), seed=1)
    with pytest.raises(AuditFailed, match="3,000 records when it was surveyed and 2,999"):
        publish_in_parts(Shifting(stays), recipe, tmp_path / "release", part_rows=1000)
    assert list(tmp_path.iterdir()) == []


def test_mistakes_are_told_before_the_work(stays: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="at least 1,000"):
        published(stays, tmp_path / "release", "mondrian", "k-anonymity:4", part_rows=10)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "mine.txt").write_text("keep")
    with pytest.raises(RecipeError, match="exists already"):
        published(stays, tmp_path / "release", "mondrian", "k-anonymity:4")
    assert (tmp_path / "release" / "mine.txt").read_text() == "keep"


def test_nothing_of_a_record_or_the_secret_is_in_what_travels_back(stays: pl.DataFrame, tmp_path: Path) -> None:
    """Summaries of parts are counts: they do not grow with the records."""

    class Weighing(LocalBackend):
        sizes: ClassVar[list[int]] = []

        def map(self, work: Any, fragments: Fragments, watch: Any) -> list[bytes]:
            results = super().map(work, fragments, watch)
            self.sizes.append(max(len(result) for result in results))
            return results

    for times in (1, 8):
        frame = pl.concat([stays] * times)
        recipe = Recipe(
            schema=PLAIN,
            promises=(parse_promise("l-diversity:3"),),
            algorithm=Mondrian(),
            persons=PersonSettings(rows_are_persons=True),
            seed=1,
        )
        publish_in_parts(Weighing(frame), recipe, tmp_path / f"{times}", part_rows=1000 * times)
    small, large = Weighing.sizes
    assert large < 1.5 * small
