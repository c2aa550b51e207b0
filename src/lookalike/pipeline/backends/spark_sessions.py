"""A Spark session: the one that is active, or one made as the surroundings say.

What spark-submit, a notebook, SPARK_REMOTE, SPARK_CONF_DIR or the caller set is respected. Where nobody names a master,
Spark runs on this machine alone, bound to loopback, so that no table is offered to the network. A session that is made
here keeps its log to itself, since Java's log could quote records; anyone who sets `spark.log.level` gets it on
standard
error. Whatever is missing is said before Java starts, or instead of its stack trace; a Java that is missing or too old
is found by one `java -version`, a tenth of a second, of the Java that Spark would start.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from lookalike.errors import LookalikeError, MissingPart, RecipeError, quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOG_LEVEL, _MASTER, _REMOTE = "spark.log.level", "spark.master", "spark.remote"
_INSTALL = "pip install 'lookalike[spark]'"
_NEEDS_MORE = "needs more packages. Install them: pip install 'pyspark[connect]'"
_CONNECT_PORT, _STANDALONE_PORT = 15002, 7077
_PATIENCE = 10
"""Seconds in which a cluster must take a call."""
_ALONE = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_QUIET = {_LOG_LEVEL: "ERROR", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


def session(options: Mapping[str, str] | None = None) -> SparkSession:
    """The active session with these settings, or a new one; raises `MissingPart` where Spark cannot be had."""
    options = dict(options or {})
    _require_packages()
    from pyspark.sql import SparkSession

    with without_pandas_warning():
        active = SparkSession.getActiveSession()
        if active is not None:
            return _with_settings(active, options)
        remote = options.get(_REMOTE) or os.environ.get("SPARK_REMOTE")
        if remote is not None and not remote.startswith("local"):
            return _connect(remote, options)
        return _start(options)


def read_settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Settings that are in the surroundings: spark-defaults.conf, then PYSPARK_SUBMIT_ARGS, which wins."""
    found: dict[str, str] = {}
    folder = environment.get("SPARK_CONF_DIR")
    if folder is None and (home := environment.get("SPARK_HOME")):
        folder = str(Path(home) / "conf")
    if folder is not None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            for line in (Path(folder) / "spark-defaults.conf").read_text(encoding="utf-8").splitlines():
                if setting := re.match(r"\s*(spark\.[^\s=:]+)\s*[\s=:]\s*(.*?)\s*$", line):
                    found[setting.group(1)] = setting.group(2)
    words = iter(shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "")))
    for word in words:
        flag, joined, value = word.partition("=")
        if flag in ("--master", "--conf", "-c"):
            value = value if joined else next(words, "")
            key, _, value = ("", "", value) if flag == "--master" else value.partition("=")
            found[key or _MASTER] = value
    return found


@contextlib.contextmanager
def without_pandas_warning() -> Iterator[None]:
    """PySpark warns of new releases of pandas, at every call; this back end does not use it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        yield


def _require_packages() -> None:
    for package in ("pyspark", "pyarrow"):
        if find_spec(package) is None:
            raise MissingPart(f"The Spark back end needs {package}, which is not installed. Install it: {_INSTALL}")
    import pyspark

    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise MissingPart(f"The Spark back end needs PySpark 4, and {pyspark.__version__} is here. Install: {_INSTALL}")


def _with_settings(active: SparkSession, options: Mapping[str, str]) -> SparkSession:
    from pyspark.errors import PySparkException

    for key, value in options.items():
        if active.conf.get(key, None) == value:
            continue
        try:
            active.conf.set(key, value)
        except PySparkException:
            raise RecipeError(
                f"The setting {quoted(key)} cannot be changed in a Spark session that runs already. Set it where the "
                "session is made, or stop that session first."
            ) from None
    return active


def _connect(remote: str, options: Mapping[str, str]) -> SparkSession:
    """A session on a server that speaks Spark Connect: no Java is needed here."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    address = _address(remote, "sc", _CONNECT_PORT)
    if address is None:
        raise RecipeError("A Spark Connect server is written as sc://host:port. Fix spark.remote or SPARK_REMOTE.")
    if find_spec("grpc") is None:
        raise MissingPart(f"Spark Connect {_NEEDS_MORE}")
    _require_answer([address])
    try:
        builder = SparkSession.builder.remote(remote)
        return builder.config(map={key: value for key, value in options.items() if key != _REMOTE}).getOrCreate()
    except ImportError:
        raise MissingPart(f"Spark Connect {_NEEDS_MORE}") from None
    except PySparkException as error:
        raise _explain_start(str(error)) from None


def _start(options: Mapping[str, str]) -> SparkSession:
    """A session with a Java of its own (or that of spark-submit), wherever its executors are."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    stated = read_settings()
    settings = {**stated, **options}
    here = False
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # which spark-submit sets for the Java that it started
        require_java()
        master = settings.get(_MASTER) or os.environ.get("MASTER") or "local[*]"
        here = master.startswith("local")
        if master.startswith("spark://"):
            _require_answer(_standalone_masters(master))
        defaults = {_MASTER: master, **_QUIET, **(_ALONE if here else {})}
        options = {**{key: value for key, value in defaults.items() if key not in stated}, **options}
    with tempfile.TemporaryFile() as log:  # without a name: gone from the disk with the session
        try:
            with _set_environment(here, settings), _java_writes_to(None if _LOG_LEVEL in settings else log):
                return SparkSession.builder.config(map=dict(options)).getOrCreate()
        except Exception as error:
            if not isinstance(error, PySparkException) and not type(error).__module__.startswith("py4j"):
                raise
            log.seek(0)
            said = log.read(1 << 20).decode("utf-8", errors="replace")
            raise _explain_start(f"{said}\n{error}") from None


@contextlib.contextmanager
def _set_environment(here: bool, settings: Mapping[str, str]) -> Iterator[None]:
    """Which Python executors on this machine run, and that they listen to this machine alone; only while they start."""
    mine = {}
    if here:
        mine = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": settings.get("spark.pyspark.python", sys.executable)}
    mine = {name: value for name, value in mine.items() if name not in os.environ}
    os.environ.update(mine)
    try:
        yield
    finally:
        for name in mine:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _java_writes_to(log: IO[bytes] | None) -> Iterator[None]:
    """What is started meanwhile writes to the log, for all its life; without a log, to standard error."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    kept = os.dup(1), os.dup(2)
    try:
        target = 2 if log is None else log.fileno()
        os.dup2(target, 1)
        os.dup2(target, 2)
        yield
    finally:
        for number, own in enumerate(kept, start=1):
            os.dup2(own, number)
            os.close(own)


def _address(url: str, scheme: str, port: int) -> tuple[str, int] | None:
    try:
        at = urlsplit(url)
        return (at.hostname, at.port or port) if at.scheme == scheme and at.hostname else None
    except ValueError:
        return None


def _standalone_masters(master: str) -> list[tuple[str, int]]:
    urls = [f"spark://{address}" for address in master.removeprefix("spark://").split(",")]
    found = [_address(url, "spark", _STANDALONE_PORT) for url in urls]
    if None in found:
        raise RecipeError("A standalone cluster is written as spark://host:port. Fix spark.master.")
    return [address for address in found if address is not None]


def _require_answer(addresses: list[tuple[str, int]]) -> None:
    """Someone takes the call at one of these addresses. Spark itself would try for a minute, or ten."""
    if any(os.environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy")):
        return
    for address in addresses:
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=_PATIENCE):
            return
    where = " or ".join(f"{host}:{port}" for host, port in addresses)
    raise MissingPart(
        f"No Spark answers at {where}. Start the cluster or fix its address. Without one, Spark runs on this machine: "
        "leave out spark.master and SPARK_REMOTE."
    )


def _explain_start(said: str) -> LookalikeError:
    """What to say where Spark gave up: its reason in one line. No record has been read yet that it could quote."""
    reason = ""
    for pattern in (
        r"^Exception in thread \S+ [\w.$]+: (.+)",
        r"^Error occurred during initialization of VM\n(.+)",
        r"^Error: (.+)",
        r"Caused by: (.+)",
        r"^: (.+)",
        r"^\[\w+\] (.+)",
    ):
        if found := re.search(pattern, said, re.MULTILINE):
            reason = found.group(1).strip().rstrip(".")
            break
    if "Master must" in reason or "Could not parse Master" in reason:
        return RecipeError(f"{reason}. Fix spark.master, or leave it out to run on this machine.")
    told = f" It says: {reason[:300]}." if reason else ""
    return MissingPart(
        f"Spark did not start.{told} Check the settings and the cluster; its whole log: set spark.log.level to INFO."
    )


_OLDEST_JAVA = 17
_INSTALL_JAVA = (
    f"Install Java {_OLDEST_JAVA} or newer (on Debian and Ubuntu: apt-get install default-jre-headless; on macOS: brew "
    "install openjdk), or let JAVA_HOME name the folder of one that is there."
)
_JAVA_PATIENCE = 30
"""Seconds; a Java that is slower to say its version is no help either."""


def require_java(environment: Mapping[str, str] = os.environ) -> int:
    """The major version of the Java that Spark would start; raises `MissingPart` if there is none that can serve."""
    program = _find_java(environment)
    try:
        asked = subprocess.run(
            [program, "-version"], capture_output=True, text=True, errors="replace", timeout=_JAVA_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        raise MissingPart(f"Spark needs Java, and {program} cannot be run. {_INSTALL_JAVA}") from None
    version = java_version(asked.stderr + asked.stdout)
    if asked.returncode or version is None:
        raise MissingPart(f"Spark needs Java, and {program} does not say its version. {_INSTALL_JAVA}")
    if version < _OLDEST_JAVA:
        raise MissingPart(f"Spark needs Java {_OLDEST_JAVA} or newer, and {program} is Java {version}. {_INSTALL_JAVA}")
    return version


def java_version(said: str) -> int | None:
    """The major version in what `java -version` says, or None.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'^\S+ version "(?:1\.)?(\d+)', said, re.MULTILINE)
    return int(found.group(1)) if found else None


def _find_java(environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        if not program.with_suffix(".exe" if os.name == "nt" else "").is_file():
            raise MissingPart(f"Spark needs Java, and JAVA_HOME names {home}, which has no bin/java. {_INSTALL_JAVA}")
        return str(program)
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path is None:
        raise MissingPart(f"Spark needs Java, and there is none on the PATH. {_INSTALL_JAVA}")
    return on_path
