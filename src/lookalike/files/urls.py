"""Places that are not on this machine: s3://bucket/t.csv and the like, through fsspec where it is installed.

A URL is in the list of processes, in the shell's history and in logs, so one that carries a password or a key is
refused, and refused without being shown. Who may read a place is said where its library looks for it: in the
environment, or in its own files. Errors of these libraries may quote what they were given, so none of their words are
repeated.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lookalike.errors import DataError, LookalikeError, MissingPart, RecipeError, quoted, unknown_name

_PROTOCOLS = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "hdfs": "pyarrow",
    "sftp": "paramiko",
    "http": "aiohttp",
    "https": "aiohttp",
    "file": "fsspec",
    "memory": "fsspec",
}
"""What is understood, and the package that fsspec needs for it."""


@dataclass(frozen=True)
class Place:
    """A file or folder behind a URL that holds no secret."""

    url: str
    protocol: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of its path, as messages call it."""
        last = unquote(self.url.rstrip("/").rpartition("/")[2])
        return last.replace("/", "_").replace("\0", "_") or "table"


def is_url(source: object) -> bool:
    """Whether a text is a URL and no path."""
    return isinstance(source, str) and "://" in source


def local_path(source: str | Path) -> Path:
    """A path on this machine; a URL is refused, and not shown if it may hold a secret."""
    if is_url(source):
        place = place_of(str(source))
        raise RecipeError(f"{place} is a URL, and this is read from folders on this machine only. Fetch it first.")
    return Path(source)


def place_of(url: str) -> Place:
    """The place of a URL; RecipeError, without the URL in it, if it may hold a secret or cannot be understood."""
    protocol = url.partition("://")[0].casefold()
    if protocol not in _PROTOCOLS:
        raise RecipeError(unknown_name("kind of URL", protocol if protocol.isalnum() else "", _PROTOCOLS))
    if _may_hold_secret(url, protocol):
        raise RecipeError(
            f"The {protocol} URL holds a user, a password, a port in words or something after a question mark. URLs "
            "are seen by others (lists of processes, logs), so keys are not taken from them: put them into the "
            "environment or the settings of the library that reads the place, and give the plain URL."
        )
    if "::" in url:
        raise RecipeError(f"The {protocol} URL is a chain of several. Give one plain URL.")
    return Place(url, protocol)


def _may_hold_secret(url: str, protocol: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # what follows a colon is no number, as in key:secret
        return True
    if protocol == "file":
        return bool(parts.netloc)
    # abfs://container@account is how such a place is written; with a colon it is a password again.
    rest = url.replace("@", "", 1) if protocol in ("abfs", "abfss") and parts.password is None else url
    return any(sign in rest for sign in "@?#") or "%40" in parts.netloc


@contextlib.contextmanager
def _reach_place(place: Place, doing: str) -> Iterator[tuple[Any, str]]:
    """The file system of a place and the path on it; whatever goes wrong inside is said in our words."""
    try:
        import fsspec
    except ImportError:
        raise _explain_missing(place, "fsspec") from None
    try:
        yield fsspec.core.url_to_fs(place.url)
    except ImportError:
        raise _explain_missing(place, _PROTOCOLS[place.protocol]) from None
    except FileNotFoundError:
        raise DataError(f"There is nothing at {place}. Check the URL.") from None
    except PermissionError:
        raise DataError(
            f"{place}: permission denied. Check who may {doing} there, and the keys you have set."
        ) from None
    except (LookalikeError, MemoryError):
        raise
    except Exception as error:
        raise DataError(
            f"{place} cannot be reached ({type(error).__name__}). Check the URL, the network, and the keys you have "
            f"set, and whether you may {doing} there."
        ) from None


def _explain_missing(place: Place, package: str) -> MissingPart:
    return MissingPart(
        f"URLs that begin with {quoted(place.protocol + '://')} need {package}. Install it: pip install "
        f'"lookalike[urls]" {package}'.removesuffix(" fsspec")
        + ". Or fetch the files by hand."
    )


STANDARD_INPUT = "-"
_PIECE = 1 << 20
_MOST_FILES = 10_000


@contextlib.contextmanager
def at_hand(source: str | Path) -> Iterator[Path]:
    """The path of a table, which is fetched first if it is - (standard input) or a URL."""
    if source != STANDARD_INPUT and not is_url(source):
        yield Path(source)
        return
    with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
        # Errors and notes call a table by the name of its file.
        if source == STANDARD_INPUT:
            _keep_standard_input(path := Path(folder) / "standard input")
        else:
            place = place_of(str(source))
            _fetch(place, path := Path(folder) / place.name)
        yield path


def _keep_standard_input(path: Path) -> None:
    stream = sys.stdin
    if stream is None or stream.closed:
        raise RecipeError("There is no standard input to read the table from. Give the path of a file.")
    if stream.isatty():
        raise RecipeError("Standard input is a terminal. Send a table into it: cat table.csv | lookalike ... -")
    with path.open("wb") as file:
        shutil.copyfileobj(stream.buffer, file, _PIECE)
    if path.stat().st_size == 0:
        raise DataError("Standard input is empty. Did the command before the | fail?")


def _fetch(place: Place, target: Path) -> None:
    with _reach_place(place, "read") as (system, source):
        if not system.isdir(source):
            _copy(system, source, target)
            return
        names = system.find(source)
        if len(names) > _MOST_FILES:
            raise DataError(f"{place} holds more than {_MOST_FILES:,} files. Give a folder of one table.")
        root = source.rstrip("/") + "/"
        for name in names:
            within = name.removeprefix(root)
            if within == name or ".." in within.split("/") or within.startswith("/"):
                raise DataError(f"{place} lists a file outside itself. Fetch the files by hand.")
            _copy(system, name, target / within)


def _copy(system: Any, source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with system.open(source, "rb") as stream, target.open("wb") as file:
        shutil.copyfileobj(stream, file, _PIECE)


_WITH_FOLDERS = ("file", "memory", "hdfs", "sftp")
_READ_ONLY = ("http", "https")


def check_destination(place: Place) -> None:
    """Refuse a place that is taken or cannot be written, before any work is done."""
    if place.protocol in _READ_ONLY:
        raise RecipeError(f"A release cannot be sent to {place.protocol} URLs. Write it to a folder and upload that.")
    with _reach_place(place, "write") as (system, target):
        if system.exists(target) and (system.isfile(target) or system.find(target)):
            raise RecipeError(f"There is something at {place} already. Choose another name, or remove it first.")


def send(folder: Path, place: Place, *, last: str) -> None:
    """Copy every file of a release folder, its descriptor `last`.

    All of it arrives, or nothing that looks like a release: these places know no rename, so a copy that breaks off
    leaves files behind. They are taken away where that can be done; where it cannot, the descriptor is not among
    them, and without it a folder is no release to any reader.
    """
    check_destination(place)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    files.sort(key=lambda path: path == folder / last)
    with _reach_place(place, "write") as (system, target):
        sent: list[str] = []
        try:
            for path in files:
                name = f"{target.rstrip('/')}/{path.relative_to(folder).as_posix()}"
                if place.protocol in _WITH_FOLDERS:
                    system.makedirs(name.rpartition("/")[0], exist_ok=True)
                sent.append(name)
                system.put_file(str(path), name)
                if system.size(name) != path.stat().st_size:
                    raise DataError(f"{path.name} did not arrive whole at {place}. Nothing is published there.")
        except BaseException:
            for name in reversed(sent):
                with contextlib.suppress(Exception):
                    system.rm_file(name)
            raise
