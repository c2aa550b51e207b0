"""A session is the one that is there, or made as the surroundings say; what is in its way is said in words."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lookalike.errors import LookalikeError, MissingPart, RecipeError
from lookalike.pipeline.backends import spark_sessions as sessions
from lookalike.pipeline.backends.spark_sessions import read_settings, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_active_session_is_taken_and_told_what_it_can_be_told(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    assert session({"spark.sql.shuffle.partitions": "3"}) is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    spark.conf.set("spark.sql.shuffle.partitions", str(before))
    with pytest.raises(RecipeError, match=r'"spark\.executor\.memory" cannot be changed in a Spark session that runs'):
        session({"spark.executor.memory": "9g"})


def test_the_cluster_is_one_of_several_processes_on_loopback(spark: SparkSession) -> None:
    import pyarrow

    def where(batches: object) -> object:
        import lookalike

        for _ in batches:  # type: ignore[attr-defined]
            yield pyarrow.RecordBatch.from_pylist(
                [{"parent": os.getppid(), "python": sys.executable, "source": lookalike.__file__}]
            )

    frame = spark.range(8, numPartitions=4).mapInArrow(where, "parent long, python string, source string")  # type: ignore[arg-type]
    found = frame.toArrow().to_pylist()
    assert {row["python"] for row in found} == {sys.executable}
    assert {Path(row["source"]) for row in found} == {Path(sessions.__file__).parents[2] / "__init__.py"}
    assert os.getpid() not in {row["parent"] for row in found}
    assert spark.conf.get("spark.driver.host") == spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.conf.get("spark.log.level") == "ERROR"


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No session runs, whatever other tests have started."""
    pyspark = pytest.importorskip("pyspark.sql")
    monkeypatch.setattr(pyspark.SparkSession, "getActiveSession", classmethod(lambda cls: None))
    for name in ("SPARK_REMOTE", "SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "MASTER", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("package", ["pyspark", "pyarrow"])
def test_packages_that_are_missing_are_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sessions.find_spec
    monkeypatch.setattr(sessions, "find_spec", lambda name: None if name == package else real(name))
    with pytest.raises(MissingPart, match=rf"needs {package}, .*pip install 'lookalike\[spark\]'"):
        session()


@pytest.mark.usefixtures("nobody")
def test_java_that_is_missing_is_said_before_it_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPart, match="Spark needs Java, and there is none on the PATH"):
        session()


@pytest.mark.usefixtures("nobody")
def test_a_cluster_that_does_not_answer_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "require_java", lambda: 17)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(MissingPart, match=rf"No Spark answers at {nobody}\. Start the cluster"):
            session({"spark.master": f"spark://{nobody}"})
        monkeypatch.setenv("SPARK_REMOTE", f"sc://{nobody}")
        with pytest.raises(MissingPart, match=r"No Spark answers|pip install 'pyspark\[connect\]'"):
            session()


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(
    "options", [{"spark.remote": "http://host"}, {"spark.remote": "sc://h:x"}, {"spark.master": "spark://:1:2"}]
)
def test_addresses_that_are_none_are_refused(options: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "require_java", lambda: 17)
    with pytest.raises(RecipeError, match="is written as"):
        session(options)


def test_settings_of_the_surroundings_are_known(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# a comment\nspark.master   yarn\nspark.ui.enabled=true\n  spark.driver.memory:  4g  \n", encoding="utf-8"
    )
    assert read_settings({"SPARK_CONF_DIR": str(tmp_path)}) == {
        "spark.master": "yarn",
        "spark.ui.enabled": "true",
        "spark.driver.memory": "4g",
    }
    submitted = "--master=local[2] --conf spark.ui.enabled=false -c 'spark.a=b=c' --name x pyspark-shell"
    assert read_settings({"SPARK_CONF_DIR": str(tmp_path), "PYSPARK_SUBMIT_ARGS": submitted}) == {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "4g",
        "spark.a": "b=c",
    }
    assert read_settings({"SPARK_CONF_DIR": str(tmp_path / "none")}) == {}


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        (
            'WARN x\nException in thread "main" a.b.SparkException: Master must either be yarn or x\n\tat y',
            RecipeError,
            r"^Master must either be yarn or x\. Fix spark\.master",
        ),
        ("trace\nCaused by: java.net.BindException: no\n\tat z", MissingPart, "It says: java.net.BindException: no"),
        (
            "Error occurred during initialization of VM\nToo small maximum heap\n[JAVA_GATEWAY_EXITED] Java is gone.",
            MissingPart,
            "It says: Too small maximum heap",
        ),
        ("", MissingPart, r"^Spark did not start\. Check the settings"),
    ],
)
def test_a_stack_trace_becomes_one_line(said: str, kind: type[LookalikeError], message: str) -> None:
    error = sessions._explain_start(said)
    assert type(error) is kind
    with pytest.raises(kind, match=message):
        raise error
    assert "\tat" not in str(error)
