"""A real cluster of several processes on this machine, made once, for all tests that ask for `spark`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lookalike.errors import MissingPart
from lookalike.pipeline.backends.spark_sessions import require_java, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the cluster comes first and together.

    pytest-xdist hands out tests in runs, the first run to the first worker: so one worker starts the one cluster, at
    once, while the others go on with the rest. (With `--dist loadgroup` the mark has the same effect.) First come
    those that also work on this machine: what it has compiled by then, executors need not compile each by itself.
    """
    on_cluster = [item for item in items if "spark" in getattr(item, "fixturenames", ())]
    on_cluster.sort(key=lambda item: "agree_to_the_byte" not in item.name)
    for item in on_cluster:
        item.add_marker(pytest.mark.xdist_group("spark"))
    items[:] = on_cluster + [item for item in items if item not in on_cluster]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Two executors in their own processes, bound to loopback, with this Python and this source."""
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed (pip install 'lookalike[spark]')")
    try:
        require_java()
    except MissingPart as missing:
        pytest.skip(str(missing))
    scratch = tmp_path_factory.mktemp("spark")
    python_path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
            "SPARK_HOME": str(_home(scratch / "home", Path(pyspark.__file__).parent)),
        }.items():
            patched.setenv(name, value)
        made = session(
            {
                "spark.master": "local-cluster[2,1,1024]",
                "spark.executorEnv.PYTHONPATH": python_path,
                "spark.executorEnv.NUMBA_NUM_THREADS": "1",
                "spark.driver.memory": "512m",
                "spark.executor.memory": "1024m",
                "spark.sql.shuffle.partitions": "2",
                "spark.default.parallelism": "2",
                "spark.sql.codegen.wholeStage": "false",
                "spark.sql.codegen.factoryMode": "NO_CODEGEN",
                "spark.sql.warehouse.dir": str(scratch / "warehouse"),
                "spark.local.dir": str(scratch / "local"),
                # Tests are short: compiling Java less and collecting its garbage by one thread saves half the time.
                "spark.driver.extraJavaOptions": SHORT_LIVED,
                "spark.executor.extraJavaOptions": SHORT_LIVED,
            }
        )
        yield made
        made.stop()


def _home(home: Path, installed: Path) -> Path:
    """Spark as it is installed, in a folder where the cluster's workers may leave their logs."""
    home.mkdir()
    for entry in installed.iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    return home
