"""What memory there is, what a table needs, and what is said when the one is less than the other."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from lookalike import memory
from lookalike.apps.samples import hospital
from lookalike.data.schema import Schema
from lookalike.errors import DataError, RecipeError
from lookalike.files.tables import read_table
from lookalike.files.tables.read import check_text_size
from lookalike.pipeline.recipe import Recipe, parse_promises, prepare
from lookalike.pipeline.run import run


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The files by which a machine with 8 GB to spare tells of itself."""
    return _machine(tmp_path, {"proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n"})


def _machine(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def test_the_machine_and_control_groups_of_both_versions(machine: Path) -> None:
    assert memory.available(machine) == 8 << 30
    _machine(
        machine,
        {
            "proc/self/cgroup": "0::/jobs/one\n",
            "sys/fs/cgroup/jobs/memory.max": f"{3 << 30}\n",
            "sys/fs/cgroup/jobs/memory.current": f"{2 << 30}\n",
            "sys/fs/cgroup/jobs/memory.stat": f"anon 5\ninactive_file {1 << 29}\n",
            "sys/fs/cgroup/jobs/one/memory.max": "max\n",
        },
    )
    assert memory.available(machine) == (1 << 30) + (1 << 29)
    _machine(
        machine,
        {
            "proc/self/cgroup": "4:cpu,memory:/a\n3:pids:/b\n",
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes": f"{2 << 30}\n",
            "sys/fs/cgroup/memory/a/memory.usage_in_bytes": f"{1 << 29}\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    assert memory.available(machine) == (2 << 30) - (1 << 29)


def test_a_container_that_sees_the_path_of_its_host(machine: Path) -> None:
    _machine(machine, {"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/memory.max": f"{1 << 30}\n"})
    assert memory.available(machine) == 1 << 30


def test_a_limit_on_the_process(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(machine, {"proc/self/status": "Name: python\nVmSize: 1048576 kB\n"})
    monkeypatch.setattr(resource, "getrlimit", lambda which: (3 << 30, 3 << 30))
    assert memory.available(machine) == 2 << 30


def test_a_machine_that_says_nothing_refuses_nothing(tmp_path: Path) -> None:
    assert memory.available(tmp_path) is None
    memory.require(1 << 50, "Everything", "", tmp_path)


def test_the_refusal_says_need_stock_and_what_to_do(machine: Path) -> None:
    memory.require(8 << 30, "mondrian", "", machine)
    with pytest.raises(DataError, match=r"mondrian needs about 9\.0 GB of memory, and 8\.0 GB can be had\. Name fewer"):
        memory.require(9 << 30, "mondrian", "Name fewer columns.", machine)


@pytest.mark.parametrize(("said", "bytes_"), [("8G", 8 << 30), ("500 MB", 500 << 20), ("1.5GiB", 3 << 29), ("64", 64)])
def test_what_a_user_says_counts(monkeypatch: pytest.MonkeyPatch, said: str, bytes_: int) -> None:
    monkeypatch.setenv(memory.VARIABLE, said)
    assert memory.available() == bytes_


def test_a_user_may_go_ahead_or_be_misunderstood(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "any")
    memory.require(1 << 60, "mondrian", "", machine)
    monkeypatch.setenv(memory.VARIABLE, "plenty")
    with pytest.raises(RecipeError, match='Write a size, as in "8G"'):
        memory.available(machine)


def test_a_run_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema.of(qi=["age", "sex"], sensitive=["diagnosis"])
    recipe = Recipe(schema=schema, promises=parse_promises("k-anonymity:3"))
    monkeypatch.setenv(memory.VARIABLE, "10K")
    with pytest.raises(DataError, match=r"on 300 records with 3 columns needs about .*--backend spark"):
        run(prepare(recipe, hospital(300, seed=1)))


def test_a_small_file_of_endless_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "people.parquet"
    pl.select(age=pl.repeat(40, 3_000_000), sex=pl.repeat("f", 3_000_000)).write_parquet(path)
    assert path.stat().st_size < 100_000
    monkeypatch.setenv(memory.VARIABLE, "20M")
    with pytest.raises(DataError, match=r"people\.parquet has 3,000,000 records; to read 2 of its columns needs"):
        read_table(path)
    assert read_table(path, columns=["age"]).n_rows == 3_000_000


def test_a_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "40,f\n" * 100_000)
    monkeypatch.setenv(memory.VARIABLE, "600K")
    check_text_size(path, 1)
    with pytest.raises(DataError, match=r"people\.csv has about 100,\d\d\d records; to read 2 of its columns needs"):
        read_table(path, columns=["age", "sex"])


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only: ulimit -v")
@pytest.mark.parametrize("megabytes", [1_000, 40_000])
def test_a_limit_on_addresses_is_no_crash(tmp_path: Path, megabytes: int) -> None:
    """Found by the faults: libraries that get no addresses abort, or wait for ever."""
    (tmp_path / "people.csv").write_text("age,ill\n" + "40,flu\n41,cold\n" * 20)
    limit = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2); "
        "from lookalike.apps.cli import main; main(prog_name='lookalike')"
    )
    asked = ["--qi", "age", "--sensitive", "ill", "--model", "k-anonymity:3", "--report", "brief", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-c", limit, "publish", "people.csv", *asked], cwd=tmp_path, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    if megabytes < 3_000:
        assert done.returncode == 2, done.stderr
        assert "ulimit -v" in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    else:
        assert done.returncode == 0, done.stderr
        assert "<svg" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
