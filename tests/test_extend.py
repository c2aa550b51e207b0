"""A guest from a file outside the package, taken through the whole house: nothing raises, nothing leaves it out."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike import extend
from lookalike.apps.samples import hospital, to_csv
from lookalike.data.families import NAMED, known_elsewhere
from lookalike.errors import RecipeError
from lookalike.models import parse_model
from tests.apps.cli.running import lookalike

with warnings.catch_warnings():
    # It recommends another package than the one that everybody has.
    warnings.simplefilter("ignore")
    from tests.apps.studio.asking import ended, promised, studio, upload

COLUMNS: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": "diagnosis"}
ASKED = ["--qi", "age,sex", "--sensitive", "diagnosis"]
REGISTRIES: list[Any] = [
    extend.MODELS,
    extend.ALGORITHMS,
    extend.ATTACKS,
    extend.METRICS,
    extend.FIDELITY,
    extend.FORMATS,
]


@pytest.fixture
def made(guest: None, patients: Path) -> la.Publication:
    return la.publish(patients, **COLUMNS, model="at-most:0.4", algorithm="one-group", seed=1)


def test_publishing_and_checking(made: la.Publication, patients: Path, tmp_path: Path) -> None:
    assert made.audit.passed
    assert Fraction(made.audit.verdicts[0].reached or 1) <= Fraction(2, 5)
    assert made.losses["largest_group"] == made.made.data.n_rows
    assert 0 <= made.losses["even_rows"] <= 1
    made.write(tmp_path / "release")
    assert la.verify(patients, tmp_path / "release").passed
    attacked = la.attack(patients, tmp_path / "release")
    assert "reader" in {one.finding.attack for one in attacked.made}


def test_a_published_figure_that_nobody_here_can_work_out_is_not_taken_on_trust(
    made: la.Publication, patients: Path, tmp_path: Path
) -> None:
    made.write(tmp_path / "release")
    assert "even_rows" not in (tmp_path / "release" / "audit.json").read_text(), "it is about the original"
    del extend.METRICS["even_rows"]
    assert la.verify(patients, tmp_path / "release").passed
    del extend.METRICS["largest_group"]
    found = la.verify(patients, tmp_path / "release")
    assert any("loss.largest_group" in check.detail for check in found.checks if not check.passed)


def test_where_no_method_is_named_a_guest_is_asked_too(guest: None, patients: Path) -> None:
    for name in list(extend.ALGORITHMS):
        if name != "one-group":
            del extend.ALGORITHMS[name]
    assert la.publish(patients, **COLUMNS, model="at-most:0.4").made.algorithm.name == "one-group"


@pytest.mark.slow
def test_publishing_in_parts(guest: None, tmp_path: Path) -> None:
    patients = tmp_path / "patients.csv"
    to_csv(hospital(2_500, seed=3), patients)
    made = la.publish(patients, **COLUMNS, model="at-most:0.6", part_rows=1_000, out=tmp_path / "release", seed=1)
    assert made.audit.passed
    assert made.n_parts > 1
    assert 0 <= made.losses["even_rows"] <= 1
    assert "largest_group" not in made.losses
    assert "Not measured, as no part sees the whole release: largest_group." in made.notes
    by_guest = la.publish(
        patients, **COLUMNS, model="at-most:0.6", algorithm="one-group", part_rows=1_000, out=tmp_path / "other"
    )
    assert by_guest.losses["average_group_size"] == pytest.approx(2_500 / by_guest.n_parts)
    one_group: Any = extend.ALGORITHMS["one-group"]
    extend.register_algorithm(_of(one_group, name="whole", in_parts=extend.Method.in_parts))
    with pytest.raises(la.Unsupported, match="whole cannot publish a table in parts: it does not say how"):
        la.publish(patients, **COLUMNS, model="at-most:0.6", algorithm="whole", part_rows=1_000, out=tmp_path / "third")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_comparing(guest: None, patients: Path, jobs: int) -> None:
    found = la.compare(
        patients,
        **COLUMNS,
        models=["at-most:0.4,0.5"],
        algorithms=["one-group"],
        attacks=["reader"],
        x="largest-group",
        jobs=jobs,
        seed=1,
    )
    assert [run.status for run in found.runs] == ["done", "done"]
    assert all(run.figures["largest_group"] == 400 for run in found.runs)
    assert all(run.attacks[0]["attack"] == "reader" for run in found.runs)
    assert len(found.frontier) == 2
    assert "at-most:0.4" in str(found)


def test_a_guest_that_was_registered_by_hand_keeps_the_work_in_this_process(
    guest: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert known_elsewhere(extend.METRICS.values())
    monkeypatch.delenv(NAMED)
    assert not known_elsewhere(extend.METRICS.values())


@pytest.mark.slow
def test_reports(made: la.Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_REPORT", "full")
    slow = [name for name in extend.ATTACKS if name not in ("reader", "homogeneity")]
    for name in slow:
        del extend.ATTACKS[name]
    made.write(tmp_path / "release")
    page = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert "Rows of the largest group" in page
    assert "at-most:0.4" in page
    assert "reader" in {one.finding.attack for one in made.evaluate().attacks.made}


@pytest.mark.slow
def test_the_studio(guest: None) -> None:
    with studio() as client:
        project = promised(client, models=("at-most:0.5",), algorithm="one-group")
        pages = project.removeprefix("/api")
        for step in ("columns", "promise", "method"):
            answer = client.get(f"{pages}/{step}")
            assert answer.status_code == 200, step
        assert "at-most" in client.get(f"{pages}/promise").text
        assert "one-group" in client.get(f"{pages}/method").text
        started = client.post(f"{project}/runs", json={"title": "Toys"})
        assert started.status_code == 202, started.text
        run = ended(client, f"{project}/runs/{started.json()['number']}")
        assert run["state"] == "done", run
        results = client.get(f"{pages}/results").text
        assert "Rows of the largest group" in results


def test_the_command_line(guest: None, patients: Path, tmp_path: Path) -> None:
    for family, name in (("models", "at-most"), ("algorithms", "one-group"), ("attacks", "reader")):
        listed = json.loads(lookalike(family, "--json").stdout)[family]
        assert name in {row["name"] for row in listed}
    out = tmp_path / "release"
    said = lookalike(
        "publish", patients, *ASKED, "--model", "at-most:0.4", "--algorithm", "one-group", "--out", out, "--json"
    )
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["loss"]["largest_group"] == 400
    assert "reader" in lookalike("attack", out, "--original", patients, "--attack", "reader").stdout
    assert "largest-group" in lookalike("compare", "--help").stdout
    assert "or JSON lines" in " ".join(lookalike("publish", "--help").stdout.split())


@pytest.mark.slow
def test_a_format_is_read_wherever_tables_are(guest: None, patients: Path, tmp_path: Path) -> None:
    path = tmp_path / "patients.jsonl"
    pl.read_csv(patients).write_ndjson(path)
    assert la.publish(path, **COLUMNS, model="at-most:0.4", seed=1).audit.passed
    run = la.compare(path, **COLUMNS, models=["at-most:0.4"], algorithms=["one-group"], attacks=[], seed=1).runs[0]
    assert run.status == "done"
    out = tmp_path / "release"
    said = lookalike("publish", path, *ASKED, "--model", "k-anonymity:5", "--out", out)
    assert said.returncode == 0, said.stderr
    assert lookalike("audit", path, out).returncode == 0
    many = tmp_path / "many.jsonl"
    pl.read_csv(patients).sample(2_000, with_replacement=True, seed=1).write_ndjson(many)
    parts = la.publish(
        many, **COLUMNS, rows_are_persons=True, model="k-anonymity:5", part_rows=1_000, out=tmp_path / "parts"
    )
    assert parts.audit.passed
    with studio() as client:
        assert ".jsonl" in client.get("/").text
        assert upload(client, path.read_bytes(), name="patients.jsonl").status_code == 201


def test_a_guest_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAMED, "no_such_module_anywhere")
    said = lookalike("models")
    assert said.returncode == 2
    assert "LOOKALIKE_EXTEND names no_such_module_anywhere, which cannot be imported" in said.stderr


@dataclass(frozen=True)
class _Metric(extend.WrittenMetric):
    name: ClassVar[str] = "half"

    def measure(self, original: Any, release: Any) -> float:
        return 0.5


@dataclass(frozen=True)
class _Everybody(extend.Grouping):
    name: ClassVar[str] = "everybody"

    def partition(self, data: Any, requirements: Any, rng: Any, progress: Any) -> Any:
        return np.zeros(data.n_rows, dtype=np.int32), 1


def _of(base: Any, **members: Any) -> Any:
    return dataclass(frozen=True)(type("Guest", (base,), {"__module__": __name__, **members}))


def _format(**members: Any) -> Any:
    def scan(self: Any, path: Path, asked: Any) -> Any:
        return pl.read_csv(path, separator="|"), []

    return type("Guest", (extend.Format,), {"name": "Bars", "endings": (".psv",), "scan": scan, **members})


REFUSED = {
    "a taken name": (extend.register_metric, _of(_Metric, name="gcp"), "metric name gcp is already taken"),
    "a name with blanks": (extend.register_metric, _of(_Metric, name="My metric"), "lower-case letters"),
    "no measure": (extend.register_metric, _of(extend.WrittenMetric, name="none"), "metric none lacks measure"),
    "an unknown need": (extend.register_metric, _of(_Metric, name="other", needs="luck"), 'needs "luck"'),
    "no class": (extend.register_attack, _Metric(), "Register the class, not an object"),
    "no run": (extend.register_attack, _of(extend.WrittenAttack, name="idle"), "attack idle lacks run"),
    "parts that cannot be joined": (
        extend.register_metric,
        _of(_Metric, name="joined", joins=True),
        "Define `of_part`",
    ),
    "an unknown form": (extend.register_algorithm, _of(_Everybody, name="odd", form="generalised"), "one of grouped"),
    "no way to cut": (
        extend.register_algorithm,
        _of(_Everybody, name="odd", in_parts="yes"),
        r"has str as `in_parts`. It must be Boxes \| Slices \| Undivided",
    ),
    "a word for several models": (extend.register_algorithm, _of(_Everybody, name="odd", suits="all"), "as `suits`"),
    "a list for a method": (extend.register_algorithm, _of(_Everybody, name="odd", cautions=[]), "must be a method"),
    "no settings at all": (
        extend.register_algorithm,
        _of(_Everybody, name="odd", __post_init__=lambda self: 1 / 0),
        "cannot be created without parameters",
    ),
    "a word for several forms": (extend.register_metric, _of(_Metric, name="odd", forms="grouped"), "has str as `form"),
    "forms that do not exist": (extend.register_metric, _of(_Metric, name="odd", forms=["cut"]), 'has the form "cut"'),
    "first bytes as text": (extend.register_format, _format(magic="PSV"), r"str as `magic`. It must be tuple\[bytes"),
    "an ending of two endings": (extend.register_format, _format(endings=(".psv.x",)), "with one dot each"),
    "a format without a scan": (extend.register_format, _format(scan=extend.Format.scan), "name, endings and scan"),
    "no partition": (extend.register_algorithm, _of(extend.Grouping, name="idle"), "algorithm idle lacks partition"),
    "no methods": (
        extend.register_model,
        _of(extend.WrittenModel, name="idle"),
        "check_eligible, holds, letter, level",
    ),
    "not frozen": (
        extend.register_metric,
        type("Guest", (), {"name": "loose", "measure": _Metric.measure}),
        "must be a frozen dataclass",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_registered_is_refused_in_words(why: str, registries: None) -> None:
    register, kind, said = REFUSED[why]
    before = [dict(registry) for registry in REGISTRIES]
    with pytest.raises(RecipeError, match=said):
        register(kind)
    assert [dict(registry) for registry in REGISTRIES] == before


def test_a_model_says_what_was_asked_and_its_example_can_be_read(guest: None) -> None:
    at_most: Any = extend.MODELS["at-most"]
    silent = _of(at_most, name="silent", scale=extend.WrittenModel.scale)
    with pytest.raises(RecipeError, match="does not say what was asked"):
        extend.register_model(silent)
    with pytest.raises(RecipeError, match="The example wrong:7 of the model wrong cannot be read"):
        extend.register_model(_of(at_most, name="wrong", example="wrong:7"))
    with pytest.raises(
        RecipeError, match=r"Guest\) has tuple\[str, float, int\] as `slider`. It must be Slider | None"
    ):
        extend.register_model(_of(at_most, name="wrong", slider=("Share", 0.1, 1, 0.1, 0.5)))
    extend.register_model(_of(at_most, name="right", slider=extend.Slider("Share", 0.1, 1, 0.1, 0.5)))


def test_parameters_of_a_guest_are_read_as_they_are_written(guest: None) -> None:
    @extend.register_model
    @dataclass(frozen=True)
    class Named(extend.MODELS["at-most"]):  # type: ignore[misc]
        name: ClassVar[str] = "named"
        l: extend.Whole = extend.Whole(low=1, default=2)  # noqa: E741
        among: extend.Values = extend.Values(default=None)
        but: extend.Values = extend.Values(default="flu|cold")
        at: extend.Exact = extend.Exact(default="0.1")
        limit: extend.OptionalExact = extend.OptionalExact(below=1, default="1/2")

    model: Any = Named(share="0.5", l=3, among=["as|thma", "flu, or cold"])
    again: Any = parse_model(str(model))
    assert again == model
    assert (again.l, again.among) == (3, ("as|thma", "flu, or cold"))
    assert str(Named(share="0.5")) == "named:0.5"
    assert (model.but, model.limit) == (("cold", "flu"), Fraction(1, 2))
    with pytest.raises(RecipeError, match="toy: n is 0. It must be a whole number at least 1"):
        _of(_Everybody, name="toy", n=extend.Whole(low=1, default=0), __annotations__={"n": extend.Whole})
    with pytest.raises(RecipeError, match='has no parameter "level"'):
        extend.register_model(_of(Named, name="other", scale="level"))


def test_a_metric_may_return_a_whole_number(guest: None, patients: Path, tmp_path: Path) -> None:
    def measure(self: Any, original: Any, release: Any) -> Any:
        return release.n_rows

    extend.register_metric(_of(_Metric, name="rows", needs="release", measure=measure))
    made = la.publish(patients, **COLUMNS, model="k-anonymity:5", algorithm="mondrian", seed=1)
    assert made.losses["rows"] == 400
    made.write(tmp_path / "release")
    assert la.verify(patients, tmp_path / "release").passed


def test_a_class_may_be_defined_again_and_compared_on_request(registries: None) -> None:
    assert extend.register_metric(_Metric) is extend.register_metric(_Metric) is extend.METRICS["half"]
    late = _of(_Metric, name="late", title="half of it")
    extend.register_metric(late, on_request=True)
    assert "late" in extend.FIDELITY
    assert "late" not in extend.METRICS
    assert [(line.what, line.lost) for line in late().compare(None, None, 0)] == [("half of it", 0.5)]


def test_all_that_is_offered_is_there() -> None:
    assert all(hasattr(extend, name) for name in extend.__all__)


def _publish(patients: Path, **members: Any) -> Any:
    extend.register_algorithm(_of(_Everybody, **members))
    return la.publish(patients, **COLUMNS, model="k-anonymity:5", algorithm="everybody", seed=1)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            lambda n: None,
            r"Guest\) returns NoneType from `partition`. It must return tuple\[NDArray\[np.int32\], int\]",
        ),
        (lambda n: ([0] * n, 1), r"returns tuple\[list\[int, int, int\], int\] from `partition`"),
        (lambda n: (np.zeros(n), 1), r"returns tuple\[array of float64, int\] from `partition`"),
        (lambda n: (np.zeros(n - 1, dtype=np.int32), 1), "groups from `partition` that do not fit the table"),
        (lambda n: (np.zeros(n, dtype=np.int32), 2), "no group may be empty"),
        (lambda n: (np.ones(n, dtype=np.int32), 2), "no group may be empty"),
    ],
)
def test_groups_that_are_none_are_refused(returned: Any, said: str, registries: None, patients: Path) -> None:
    with pytest.raises(RecipeError, match=said):
        _publish(patients, partition=lambda self, data, requirements, rng, progress: returned(data.n_rows))


def test_what_other_guests_return_is_checked_too(made: la.Publication, patients: Path, tmp_path: Path) -> None:
    def finding(score: Any) -> Any:
        return extend.Finding(attack="odd", column="diagnosis", sentence="It fails.", score=score)

    made.write(out := tmp_path / "release", report="brief")
    reader: Any = extend.ATTACKS["reader"]
    for found, said in (
        ({"score": 1}, r"attack odd \(class tests.test_extend.Guest\) returns dict from `run`. It must return list"),
        ([finding(0.5)], r"returns a Finding that has float as `score`. It must be Score \| None"),
    ):
        extend.register_attack(_of(reader, name="odd", run=lambda self, target, rng, progress, found=found: found))
        with pytest.raises(RecipeError, match=said):
            la.attack(patients, out, attacks=["odd"])
    extend.register_model(_of(extend.MODELS["at-most"], name="odd", level=lambda self, exposure: 0.5))
    with pytest.raises(RecipeError, match="returns float from `level`. It must return Level"):
        la.publish(patients, **COLUMNS, model="odd:0.5", seed=1)
    extend.register_metric(_of(_Metric, measure=lambda self, original, release: None))
    with pytest.raises(RecipeError, match="returns NoneType from `measure`. It must return float"):
        la.publish(patients, **COLUMNS, model="at-most:0.5", seed=1)
    extend.register_format(_format(scan=lambda self, path, asked: pl.read_csv(path)))
    shutil.copy(patients, path := tmp_path / "patients.psv")
    with pytest.raises(RecipeError, match=r"returns DataFrame from `scan`. It must return tuple\[polars.LazyFrame"):
        la.read_table(path)


def test_a_guest_that_fails_is_named_with_its_file(registries: None, patients: Path, tmp_path: Path) -> None:
    def partition(self: Any, data: Any, requirements: Any, rng: Any, progress: Any) -> Any:
        raise KeyError("a patient's name")

    line = partition.__code__.co_firstlineno + 1
    said = rf"Guest\) failed in `partition` with KeyError: {__file__}, line {line}. Fix it there"
    with pytest.raises(RecipeError, match=said) as caught:
        _publish(patients, partition=partition)
    assert isinstance(caught.value.__cause__, KeyError)
    assert "patient" not in str(caught.value)
    run = la.compare(patients, **COLUMNS, models=["k-anonymity:5"], algorithms=["everybody"], attacks=[]).runs[0]
    assert "fault of the software" not in run.reason
    assert "with KeyError" in run.reason
    told = lookalike(
        "publish", patients, *ASKED, "--model", "k-anonymity:5", "--algorithm", "everybody", "--out", tmp_path / "o"
    )
    assert told.returncode == 2
    assert "failed in `partition` with KeyError" in told.stderr
    with pytest.raises(RecipeError, match="failed in `partition` with TypeError"):
        _publish(patients, partition=lambda self: None)
    extend.register_format(_format(scan=lambda self, path, asked: 1 / 0))
    (tmp_path / "table.psv").write_text("a|b")
    with pytest.raises(RecipeError, match="The format Bars .* failed in `scan` with ZeroDivisionError"):
        la.read_table(tmp_path / "table.psv")
    extend.register_format(_format(scan=lambda self, path, asked: (pl.read_csv(path, columns=["c"]), [])))
    with pytest.raises(la.DataError, match="Write it again"):
        la.read_table(tmp_path / "table.psv")


def test_a_method_from_outside_that_breaks_a_promise_is_at_fault_itself(registries: None, patients: Path) -> None:
    def partition(self: Any, data: Any, requirements: Any, rng: Any, progress: Any) -> Any:
        return np.arange(data.n_rows, dtype=np.int32), data.n_rows

    with pytest.raises(la.AuditFailed, match="Guest\\) is at fault, and no part of lookalike"):
        _publish(patients, partition=partition)


@pytest.mark.parametrize(("figure", "written"), [(float("inf"), "infinity"), (-np.inf, "-infinity"), (np.nan, None)])
def test_infinite_figures_are_text_in_json(
    figure: float, written: str | None, registries: None, patients: Path, tmp_path: Path
) -> None:
    extend.register_metric(_of(_Metric, needs="release", measure=lambda self, original, release: figure))
    made = la.publish(patients, **COLUMNS, model="k-anonymity:5", algorithm="mondrian", seed=1)
    made.write(tmp_path / "release", report="brief")
    for name, key in (("audit.json", "loss"), ("report.json", "losses")):
        found = json.loads((tmp_path / "release" / name).read_text(), parse_constant=lambda text: pytest.fail(text))
        assert found[key].get("half") == written
    assert made.summary()["loss"].get("half") == written
    assert ("<dd>infinite</dd>" in (tmp_path / "release" / "report.html").read_text()) == (written is not None)
    assert la.verify(patients, tmp_path / "release").passed
