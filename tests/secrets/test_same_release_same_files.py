"""The folder says only what follows from the release: originals with the same release have the same files.

Tiny tables are published in every way their values can be given to their records, by every method. Where two of them
lead to the same published rows, every file of the two folders must be the same, byte by byte. The order of the rows is
drawn apart from everything else, so it is set to a fixed one here, which makes such tables frequent.

What is scored on the original is replaced by figures that differ from original to original: whichever of them finds its
way into a folder makes the files differ.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike import audit
from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.algorithms.perturbation import Bounds, Perturbation, matrix, strict_alphas
from lookalike.algorithms.shared.method import Method
from lookalike.attacks.minimality.exact import as_published, box_key
from lookalike.attacks.run import Attacked, Attacks
from lookalike.attacks.shared.consequence import Consequence
from lookalike.data.contracts import Algorithm, Finding, Promise, Score
from lookalike.data.microdata import Table
from lookalike.data.release import Bucketized, Grouped, Matched, MatchGraph, Perturbed, RecordMap, Release, take
from lookalike.data.schema import Schema
from lookalike.data.statement import Statement
from lookalike.evaluation import evaluate as evaluation
from lookalike.evaluation.evaluate import BOUNDS, Answered, Evaluation
from lookalike.evaluation.fidelity import Compared, Fidelity
from lookalike.evaluation.report import Basis
from lookalike.evaluation.report import page as documents
from lookalike.evaluation.tradeoff import Setting, Tradeoff
from lookalike.files.releases.private import private_folder
from lookalike.files.tables import read_columns
from lookalike.models import parse_promise
from lookalike.models.l_diversity import LDiversity
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.recipe import Prepared, Recipe, prepare
from lookalike.pipeline.run import MadeWhole
from lookalike.publication import in_parts as publishing
from lookalike.randomness import Randomness
from tests.worlds import tiny_table, worlds

X, Y = [1, 2, 2, 5, 7, 9], ["u", "u", "v", "v", "v", "w"]
VALUES, SIX = "aabbc", "aabbcc"
SCHEMA = Schema.of(qi=["x", "y"], sensitive=["s"])
PROMISES = ("l-diversity:2", "k-anonymity:2", "beta-likeness:1", "t-closeness:0.5")
"""A method is tried with the first that it serves."""
SETTINGS = [
    *ALGORITHMS,
    "groups:mode=strict",
    "perturbation:mode=strict",
    "greedy-grouping:tail=suppress",
    "heterogeneous:remainder=suppress",
]
MOST_GROUPS, MOST_ORIGINALS = 2, 2


# -- the same release from several originals -------------------------------------------------------------------------


def in_fixed_order(release: Release, linkage: RecordMap) -> tuple[Release, RecordMap]:
    """The release with its rows, and its buckets, in an order that follows from what is published."""
    values = _rows(release.sensitive, release.carried)
    if isinstance(release, Bucketized):
        return _buckets_in_fixed_order(release, linkage, [_rows(release.quasi), values])
    if isinstance(release, Grouped | Matched):
        boxes = [box_key(release.extents, unit) for unit in range(len(release.extents[0]))]
        cells: list[Any] = [boxes[unit] for unit in release.unit_of_row.tolist()]
    else:
        cells = _rows(release.quasi)
    order = _ranked([*zip(cells, values, strict=True)])
    graph, moved = linkage.graph, replace(linkage, record_of_row=linkage.record_of_row[order])
    if isinstance(release, Matched) and graph is not None:
        place_of_row = np.argsort(order).astype(np.int32)
        moved = replace(moved, graph=MatchGraph(graph.starts, place_of_row[graph.rows]))
    ordered: dict[str, Any] = {"sensitive": release.sensitive[order], "carried": release.carried[order]}
    if isinstance(release, Grouped):
        ordered["group_of_row"] = release.group_of_row[order]
    elif isinstance(release, Matched):
        ordered["extents"] = tuple(take(extents, order) for extents in release.extents)
    else:
        ordered["quasi"] = release.quasi[order]
    return replace(release, **ordered), moved


def _buckets_in_fixed_order(
    release: Bucketized, linkage: RecordMap, rows: list[list[Any]]
) -> tuple[Bucketized, RecordMap]:
    sides = [release.bucket_of_quasi, release.bucket_of_sensitive]
    contents: dict[int, list[list[Any]]] = defaultdict(lambda: [[], []])
    for side, (buckets, listed) in enumerate(zip(sides, rows, strict=True)):
        for bucket, row in zip(buckets.tolist(), listed, strict=True):
            contents[bucket][side].append(row)
    ranked = sorted(contents, key=lambda bucket: [sorted(side) for side in contents[bucket]])
    number = {bucket: place for place, bucket in enumerate(ranked)}
    numbered = [np.array([number[bucket] for bucket in side.tolist()], dtype=np.int32) for side in sides]
    quasi, sensitive = (
        _ranked([*zip(buckets.tolist(), listed, strict=True)]) for buckets, listed in zip(numbered, rows, strict=True)
    )
    assert linkage.record_of_quasi_row is not None
    return (
        replace(
            release,
            quasi=release.quasi[quasi],
            bucket_of_quasi=numbered[0][quasi],
            sensitive=release.sensitive[sensitive],
            carried=release.carried[sensitive],
            bucket_of_sensitive=numbered[1][sensitive],
        ),
        replace(
            linkage,
            record_of_row=linkage.record_of_row[sensitive],
            record_of_quasi_row=linkage.record_of_quasi_row[quasi],
        ),
    )


def _rows(*codes: np.ndarray) -> list[tuple[int, ...]]:
    return [*map(tuple, np.concatenate(codes, axis=1).tolist())]


def _ranked(rows: list[Any]) -> np.ndarray:
    return np.array(sorted(range(len(rows)), key=rows.__getitem__))


def key_of(release: Release) -> tuple[Any, ...]:
    """What is published: rows, matrices, and how many records were left out or made up, by value."""
    withheld = release.withheld
    randomizers = release.randomizers if isinstance(release, Perturbed) else ()
    return (
        as_published(release),
        *(part for one in randomizers for part in (one.total, one.weights.tobytes())),
        withheld.n_suppressed,
        tuple(counts.tobytes() for counts in withheld.dummies),
    )


@dataclass(frozen=True, eq=False)
class Original:
    """A table with one way to give the values to its records, about to be published."""

    world: str
    prepared: Prepared

    def release(self) -> Release:
        """As in its publication, which adds the audit and the figures."""
        return self.prepared.anonymize(Randomness(self.prepared.recipe.seed))[0]

    @cached_property
    def made(self) -> la.Publication:
        return la.Publication(pipeline.run(self.prepared), Statement(title="Tiny"))


@pytest.fixture
def fixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    random_order = Method.anonymize
    monkeypatch.setattr(Method, "anonymize", lambda self, *given: in_fixed_order(*random_order(self, *given)))


@cache
def table_of(world: str, seed: int) -> Table:
    """The table in one of its orders."""
    n_rows = len(world)
    order = np.random.default_rng(seed).permutation(n_rows)
    frame = pl.DataFrame({"x": X[:n_rows], "y": Y[:n_rows], "s": list(world)})[order.tolist()]
    return read_columns(frame, SCHEMA)


def originals(method: Algorithm, promise: str, values: str, seeds: range) -> Iterator[Original]:
    """Every way to give the values, in any order of the input, with several seeds."""
    for world, seed in itertools.product(worlds(values), seeds):
        recipe = Recipe(schema=SCHEMA, promises=(parse_promise(promise),), algorithm=method, seed=seed)
        with contextlib.suppress(la.LookalikeError):
            yield Original(world, prepare(recipe, table_of(world, seed)))


def alike(setting: str, values: str = VALUES) -> list[list[Original]]:
    """Different originals that lead to the same release; those whose audits, bounds and losses differ come first."""
    method = parse_algorithm(setting)
    # Redrawn values are seldom the same twice.
    seeds = range(24 if method.form == Perturbed.form else 4)
    found: dict[tuple[Any, ...], dict[str, Original]] = defaultdict(dict)
    for promise in PROMISES:
        for original in originals(method, promise, values, seeds):
            with contextlib.suppress(la.LookalikeError):
                found[key_of(original.release())].setdefault(original.world, original)
        if found:
            break
    telling, others = [], []
    for group in found.values():
        if len(group) > 1:
            first = _with_other_figures([*group.values()])
            (telling if len(first) == MOST_ORIGINALS else others).append(
                [*first, *(original for original in group.values() if original not in first)][:MOST_ORIGINALS]
            )
        if len(telling) == MOST_GROUPS:
            break
    return [*telling, *others][:MOST_GROUPS]


def _with_other_figures(group: list[Original]) -> list[Original]:
    """The first whose figures differ; only as many are audited as it takes to find them."""
    found: dict[str, Original] = {}
    for original in group:
        found.setdefault(owners_figures(original.made.made), original)
        if len(found) == MOST_ORIGINALS:
            break
    return [*found.values()]


def owners_figures(outcome: MadeWhole) -> str:
    return json.dumps([outcome.audit.to_plain(), outcome.losses, str(outcome.loss_bound)])


# -- figures that differ from original to original -------------------------------------------------------------------


@pytest.fixture
def telling_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluation whose figures tell the original: `world` as a number below 1."""

    def evaluate(outcome: MadeWhole, progress: Any = None, watch: Any = None) -> Evaluation:
        data = outcome.data
        code = int("".join(map(str, data.sensitive[np.lexsort(data.quasi.T), 0].tolist())), 3) + 1
        share = code / 3**data.n_rows
        finding = Finding(
            attack="naive-bayes", column="s", sentence=f"{code}", score=Score(code, 3**data.n_rows),
            baselines={"most frequent value": share / 2},
        )  # fmt: skip
        settings = tuple(Setting(f"l-diversity:{ell}", share, share / ell, ell == 2) for ell in (2, 3))
        return Evaluation(
            attacks=Attacks(
                (Attacked(finding, {}, Consequence("permitted", f"means {code}")),), {"homogeneity": f"reason {code}"}
            ),
            answers=(Answered(1, 0.1, 300, share, share, (share,) * (len(BOUNDS) + 1)),),
            fidelity=Fidelity((Compared("correlation_difference", f"figure {code}", share, 0.5),)),
            tradeoff=Tradeoff(settings, "highest certainty", "loss", code),
            left_out=(f"left out {code}",),
        )

    monkeypatch.setattr(evaluation, "evaluate", evaluate)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.usefixtures("fixed_order", "telling_scores")
def test_originals_with_the_same_release_have_the_same_folder(setting: str, tmp_path: Path) -> None:
    groups = alike(setting)
    assert groups, "no two originals lead to the same release: the test looks at nothing"
    for number, group in enumerate(groups):
        written, kept = [], []
        for original in group:
            folder = tmp_path / f"{number}-{original.world}"
            original.made.write(folder, report="full")
            written.append(contents(folder))
            kept.append(json.loads((private_folder(folder) / "report.json").read_text(encoding="utf-8")))
        for name, content in written[0].items():
            assert all(other[name] == content for other in written), f"{name} tells originals apart"
        # The owner's reports do, or equal files would prove nothing.
        assert len({json.dumps(report) for report in kept}) == len(group)
        assert all(report["internal"] for report in kept)


@pytest.mark.usefixtures("fixed_order", "telling_scores")
def test_scores_are_published_only_on_request(tmp_path: Path) -> None:
    (first, second, *_), *_ = alike("mondrian")
    for place, original in enumerate((first, second)):
        original.made.write(tmp_path / f"{place}", report="full", publish_scores=True)
    one, other = contents(tmp_path / "0"), contents(tmp_path / "1")
    differing = {name for name in one if one[name] != other[name]}
    assert differing == {"report.html", "report.json"}
    said = json.loads(one["report.json"])
    assert all(said[name] for name in ("attacks", "answers", "uses", "tradeoff"))
    assert not any(said[name] for name in ("advice", "internal"))
    with pytest.raises(la.RecipeError, match="brief"):
        first.made.write(tmp_path / "2", report="brief", publish_scores=True)


@pytest.mark.usefixtures("fixed_order")
def test_the_true_evaluation_of_originals_with_the_same_release(tmp_path: Path) -> None:
    """As above with attacks, queries and predictions as they are; a brief report has no private folder."""
    (first, second, *_), *_ = alike("mondrian", SIX)
    for place, original in enumerate((first, second)):
        original.made.write(tmp_path / f"{place}", report="full")
        original.made.write(tmp_path / f"brief-{place}", report="brief")
        assert not private_folder(tmp_path / f"brief-{place}").exists()
    assert contents(tmp_path / "0") == contents(tmp_path / "1")
    assert contents(tmp_path / "brief-0") == contents(tmp_path / "brief-1")


@pytest.mark.parametrize("part_rows", [None, 20])
@pytest.mark.parametrize("algorithm", ["mondrian", "mondrian-strict"])
def test_losses_do_not_tell_where_rounded_ranges_began(
    part_rows: int | None, algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least and the greatest value of one table are a little farther out, and are rounded to the same ends."""
    monkeypatch.setattr(publishing, "LEAST_PART", 2)
    drawn = np.random.default_rng(0)
    numbers = np.round(drawn.normal(50, 15, 60), 3)
    frame = pl.DataFrame({"x": numbers, "s": drawn.choice(list("abcdef"), 60)})
    promises = ["k-anonymity:5", "l-diversity:2"]
    folders = []
    for least, greatest in ((0.001, 120.09), (0.009, 120.02)):
        changed = frame.with_columns(x=np.concatenate([numbers[:58], [least, greatest]]))
        folders.append(tmp_path / str(least))
        made = la.publish(
            changed, qi="x", sensitive="s", model=promises, algorithm=algorithm, seed=4, ends={"x": 0.1},
            part_rows=part_rows, out=folders[-1],
        )  # fmt: skip
        assert made.losses["gcp"] > 0
    first, second = (
        {str(path.relative_to(one)): path.read_bytes() for path in one.rglob("*") if path.is_file()} for one in folders
    )
    assert first == second
    losses = json.loads(first["audit.json"])["loss_by_column"]
    shown = la.open_release(folders[0]).frame(bounds=True)
    span = shown["x_high"].max() - shown["x_low"].min()
    assert span == pytest.approx(120.1)
    assert losses["x"] == pytest.approx((shown["x_high"] - shown["x_low"]).mean() / span, rel=1e-5)


@pytest.mark.parametrize("setting", ["mondrian", "anatomy"])
@pytest.mark.usefixtures("fixed_order")
def test_releases_in_parts(setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a table that is published in two parts, which has no owner's report."""
    monkeypatch.setattr(publishing, "LEAST_PART", 2)
    # Pictures take most of the time, and show what the report says.
    monkeypatch.setattr(documents, "to_html", repr)
    method, promise = parse_algorithm(setting), parse_promise("l-diversity:2")
    found: dict[tuple[Any, ...], dict[str, dict[str, bytes]]] = defaultdict(dict)
    n_parts = []
    for world, seed in itertools.product(worlds(SIX)[::3], range(2)):
        frame = pl.DataFrame({"x": [1, 2, 3, 11, 12, 13], "s": list(world)})
        recipe = Recipe(schema=Schema.of(qi=["x"], sensitive=["s"]), promises=(promise,), algorithm=method, seed=seed)
        folder = tmp_path / f"{world}-{seed}"
        try:
            made = publishing.publish_in_parts(LocalBackend(frame), recipe, folder, part_rows=3)
        except la.LookalikeError:
            continue
        n_parts.append(made.n_parts)
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        tables = tuple(sorted((name, content) for name, content in files.items() if name.endswith(".csv")))
        found[tables].setdefault(world, files)
        assert not private_folder(folder).exists()
    assert max(n_parts) > 1
    several = [list(group.values()) for group in found.values() if len(group) > 1]
    assert several, "no two originals lead to the same release: the test looks at nothing"
    for first, *others in several:
        for name, content in first.items():
            assert all(other[name] == content for other in others), f"{name} tells originals apart"


# -- by Bayes --------------------------------------------------------------------------------------------------------


def worst_certainty(said: dict[Any, dict[tuple[int, str], Fraction]]) -> Fraction:
    """The highest probability of a value of a person, over everything that may be read."""
    worst = Fraction(0)
    for joint in said.values():
        total = sum(share for (record, _), share in joint.items() if record == 0)
        worst = max(worst, *(share / total for share in joint.values()))
    return worst


def test_certainty_about_redrawn_values_with_all_figures_of_the_folder() -> None:
    """Strict mode, five records: what the folder says makes nobody surer; how many rows kept their value would."""
    values, promise = "aabbc", Promise(LDiversity(2), "s")
    prior = np.array([2, 2, 1])
    bounds = Bounds.of(prior, [promise.model.requirement(prior, None, 0)])
    randomizer = matrix(bounds, bounds.find_keeps(strict_alphas(bounds), "strict"))
    folder: dict[Any, dict[tuple[int, str], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    with_count: dict[Any, dict[tuple[int, str], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    # Which persons are behind the points does not matter: published values in rising order stand for all.
    for published in itertools.combinations_with_replacement(range(3), 5):
        for world in worlds(values):
            data = tiny_table(world, [1, 2, 3, 4, 5])
            release = Perturbed(
                domains=data.domains,
                quasi=data.quasi,
                sensitive=np.array(published, dtype=np.int32)[:, np.newaxis],
                carried=data.carried,
                randomizers=(randomizer,),
            )
            examined = pipeline.examine(data, release, [promise], adversary="knows-method")
            losses, by_column = pipeline.measure(data, release)
            basis = Basis.of(
                MadeWhole(
                    recipe=Recipe(schema=data.schema, promises=(promise,), adversary="knows-method"),
                    data=data, promises=(promise,), algorithm=Perturbation(mode="strict"), release=release,
                    record_map=RecordMap(np.arange(5)), audit=examined.audit, losses=losses, loss_by_column=by_column,
                    ranges={}, loss_bound=None, seconds={}, notes=(), domains=data.domains, withheld=release.withheld,
                    seen={0: examined.exposure(0)}, crowds={}, table=data,
                )
            )  # fmt: skip
            chance = Fraction(1)
            for was, became in zip(data.sensitive[:, 0].tolist(), published, strict=True):
                chance *= Fraction(int(randomizer.weights[became, was]), int(randomizer.total))
            public = basis.public()
            figures = json.dumps([public.audit.to_plain(), public.losses, public.loss_by_column])
            n_kept = int((data.sensitive[:, 0] == np.array(published)).sum())
            for record, value in enumerate(world):
                folder[published, figures][record, value] += chance
                with_count[published, n_kept][record, value] += chance
    assert worst_certainty(folder) <= Fraction(1, 2)
    assert worst_certainty(with_count) == 1


@pytest.mark.usefixtures("fixed_order")
def test_the_lower_bound_on_the_loss_would_make_readers_certain() -> None:
    """Six records: the bound tells originals with the same release apart, and the folder does not have it."""
    folder, with_bound = (defaultdict[Any, set[str]](set) for _ in range(2))
    for original in originals(parse_algorithm("mondrian"), "l-diversity:2", SIX, range(2)):
        basis, release = Basis.of(original.made.made), key_of(original.made.release)
        public = basis.public()
        assert basis.bound_sentence is not None
        assert public.bound_sentence is None
        folder[release, json.dumps([public.audit.to_plain(), public.losses])].add(original.world)
        with_bound[release, basis.bound_sentence].add(original.world)
    assert len(folder) == len({release for release, _ in folder})

    def n_certain(said: dict[Any, set[str]]) -> int:
        return sum(len(set(values)) == 1 for possible in said.values() for values in zip(*possible, strict=True))

    assert n_certain(with_bound) > n_certain(folder)


# -- what is public ---------------------------------------------------------------------------------------------------


def test_public_verdicts_have_levels_where_the_release_shows_them() -> None:
    frame = pl.DataFrame({"x": [*range(12)], "s": list("abcd" * 3)})
    for algorithm, promise, shown in (
        ("mondrian", "l-diversity:2", True),
        ("anatomy", "l-diversity:2", True),
        ("heterogeneous", "l-diversity:2", False),
        ("perturbation", "beta-likeness:1", False),
    ):
        found = la.publish(frame, qi=["x"], sensitive="s", model=promise, algorithm=algorithm).audit
        public = audit.public_audit(found)
        assert found.verdicts[0].reached is not None
        assert public.passed
        assert public.verdicts[0].passed
        assert (public.verdicts[0].reached is not None) == shown
        assert any(verdict.column == "s" for verdict in public.measured) == shown
        assert any(check.detail for check in public.checks)
