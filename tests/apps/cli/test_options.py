"""`publish --backend spark`: what is handed on, what comes back, what is refused and why."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lookalike import spark
from lookalike.apps.samples import sample_table
from lookalike.errors import MissingPart
from lookalike.pipeline.backends import spark_sessions as sessions
from lookalike.pipeline.backends import spark_sources as sources
from lookalike.pipeline.backends.local import LocalBackend
from tests.apps.cli.running import QI, lookalike


@dataclass
class Cluster:
    """Stands for Spark: remembers what it was asked, and does the work on this machine."""

    settings: dict[str, str] = field(default_factory=dict)
    source: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    backend: dict[str, Any] = field(default_factory=dict)

    def session(self, settings: dict[str, str]) -> str:
        self.settings = settings
        return "a session"

    def read_source(self, spark: str, source: str, **reading: Any) -> tuple[pl.DataFrame, bool]:
        assert spark == "a session"
        self.source, self.reading = source, reading
        return pl.read_csv(sample_table(), infer_schema=False), True

    def open(self, frame: pl.DataFrame, **known: Any) -> LocalBackend:
        self.backend = known
        return LocalBackend(frame, **known)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setattr(sessions, "session", made.session)
    monkeypatch.setattr(sources, "read_source", made.read_source)
    monkeypatch.setattr(spark, "SparkBackend", made.open)
    return made


def asked(out: Path, *words: str) -> list[str]:
    return ["publish", "stays/*.csv", *QI, "--model", "k-anonymity:4", "--out", str(out), *words]


def test_what_was_asked_is_handed_on(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = "--backend spark --spark-conf spark.master=local[2] --spark-conf spark.a.b=c=d --part-rows 5000 --seed 7"
    said = lookalike(*asked(out, *words.split(), "--missing", "?", "--delimiter", "tab", "--title", "Stays"))
    assert said.returncode == 0, said.stderr
    assert cluster.settings == {"spark.master": "local[2]", "spark.a.b": "c=d"}
    assert (cluster.source, cluster.reading) == ("stays/*.csv", {"delimiter": "\t"})
    assert cluster.backend == {
        "is_text": True,
        "missing": frozenset({"?"}),
        "date_formats": {},
        "source": "stays/*.csv",
    }
    assert said.stdout.startswith("1,000 rows in 1 part that keep k-anonymity:4;")
    assert said.stdout.endswith(f"\nRelease:  {out}\nReport:   {out / 'report.html'}\n")
    assert "was chosen" in said.stderr
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["title"] == "Stays"
    assert "--backend spark" in report["command"]


@pytest.mark.slow
def test_json_has_the_keys_of_every_release_and_the_parts(cluster: Cluster, tmp_path: Path) -> None:
    said = lookalike(*asked(tmp_path / "out", "--backend", "spark", "--json", "--report", "brief", "--no-pdf"))
    summary = json.loads(said.stdout)
    assert summary["peak_mb"] > 0
    assert (summary["rows"], summary["parts"], summary["model"]) == (1000, 1, ["k-anonymity:4"])
    assert summary["audit"]["passed"]
    assert set(summary["domains"].values()) == {"observed"}
    assert "datapackage.json" in summary["files"]
    whole = lookalike("publish", str(sample_table()), *QI, "--model", "k-anonymity:4", "--json", "--report", "brief",
                      "--no-pdf", "--out", str(tmp_path / "whole"))  # fmt: skip
    assert set(json.loads(whole.stdout)) == set(summary)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--backend spark --private", "made without such a list. Leave it out with --backend spark"),
        ("--backend spark --report full", "in one memory"),
        ("--backend spark --pdf", "--pdf prints the full report"),
        ("--spark-conf spark.master=x", "--spark-conf is for Spark. Add --backend spark"),
        ("--part-rows 5000 --private", "made without such a list. Leave it out with --part-rows"),
        ("--part-rows 5000 --to sqlite:///x.db?table=t", "--to writes tables that are whole"),
        ("--backend spark --part-rows 0", "0 is not in the range"),
        ("--backend spark --spark-conf spark.master", "--spark-conf takes KEY=VALUE"),
        ("--backend spark --spark-conf =x", "and not nothing"),
        ("--backend dask", "'local', 'spark'"),
    ],
)
def test_options_that_make_no_sense_are_refused(cluster: Cluster, tmp_path: Path, words: str, reason: str) -> None:
    said = lookalike(*asked(tmp_path / "out", *words.split()))
    assert said.returncode == 2
    assert reason in " ".join(said.stderr.split())
    assert cluster.source == ""


def test_a_folder_that_is_taken_is_refused_before_spark_starts(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    said = lookalike(*asked(tmp_path, "--backend", "spark"))
    assert said.returncode == 2
    assert cluster.settings == {}
    assert cluster.source == ""


def test_a_part_that_is_missing_ends_with_its_own_code(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(settings: dict[str, str]) -> None:
        raise MissingPart("Spark needs Java, and there is none on the PATH.")

    monkeypatch.setattr(sessions, "session", missing)
    said = lookalike(*asked(tmp_path / "out", "--backend", "spark", "--json"))
    assert said.returncode == 4
    assert "Spark needs Java" in said.stderr
    assert json.loads(said.stdout)["error"]["kind"] == "MissingPart"
    assert not (tmp_path / "out").exists()
