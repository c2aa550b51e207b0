"""Texts from elsewhere, read within bounds: small files, YAML and JSON.

Anyone who sends a schema or a release may send a device that never ends, a pipe that nobody fills, brackets a million
deep
or a few lines of YAML that unfold to more than any memory holds. Here such things become the errors that callers expect
of a bad file anyway (`OSError`, `UnicodeDecodeError`, `ValueError`), soon and with a short text.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

_MOST_BYTES = 64 << 20
DEEPEST = 50
_MOST_NODES = 1_000_000
"""Of a YAML document with every alias written out."""


class BadYaml(ValueError):
    """Why a text is no YAML that is taken, in a few words, and on which line if that is known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        flat = " ".join(problem.split())
        super().__init__(flat if len(flat) <= 120 else f"{flat[:117]}...")
        self.line = line

    @property
    def place(self) -> str:
        return "" if self.line is None else f" at line {self.line}"


def check_plain_file(path: Path) -> None:
    """OSError unless the path leads to a file with an end: no pipe, no device, no socket."""
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise OSError(errno.EINVAL, "a path cannot hold a NUL or half of a character") from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file. Save it as a file first")


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The text of a small file; OSError or UnicodeDecodeError if there is none."""
    return read_bytes(path).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: Path) -> bytes:
    """What is in a small file; OSError if there is none."""
    check_plain_file(path)
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {_MOST_BYTES >> 20} MB")
    return data


def load_json(text: str) -> Any:
    """What a JSON text says; ValueError if it is none, or goes deeper than anybody writes."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("lists and objects within each other go too deep") from None


def load_yaml(text: str, *, as_text: bool = False) -> Any:
    """What a YAML text says, scalars as text if asked; BadYaml if it is none, unfolds without end, goes too deep
    or says a key twice."""
    import yaml

    class Bounded(yaml.BaseLoader if as_text else yaml.SafeLoader):  # type: ignore[misc]
        """Counts nodes and depth as if every alias were written out."""

        n_nodes = 0
        depth = 0
        deepest = 0
        known: dict[int, tuple[int, int]] = {}
        """By node: nodes and levels from it on down."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            is_alias = self.check_event(yaml.AliasEvent)
            line = self.peek_event().start_mark.line + 1
            n_before, deepest_before = self.n_nodes, self.deepest
            self.depth += 1
            self.deepest = self.depth
            self.check(line)
            node = super().compose_node(parent, index)
            n_below = 1
            if is_alias:
                if id(node) not in self.known:
                    raise BadYaml("a value holds itself", line)
                n_below, n_levels = self.known[id(node)]
                self.deepest += n_levels
            self.n_nodes += n_below
            self.check(line)
            if isinstance(node, yaml.MappingNode) and not is_alias:
                self.refuse_repeated(node)
            if not is_alias:
                self.known[id(node)] = self.n_nodes - n_before, self.deepest - self.depth
            self.depth -= 1
            self.deepest = max(self.deepest, deepest_before)
            return node

        def refuse_repeated(self, node: Any) -> None:
            """The last of two equal keys would win in silence."""
            seen = set()
            for key, _ in node.value:
                name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else None
                if name in seen:
                    raise BadYaml(f'"{key.value}" is written twice in one mapping', key.start_mark.line + 1)
                if name is not None:
                    seen.add(name)

        def check(self, line: int) -> None:
            if self.deepest > DEEPEST:
                raise BadYaml(f"lists and mappings within each other go deeper than {DEEPEST}", line)
            if self.n_nodes > _MOST_NODES:
                raise BadYaml(f"written out it would have more than {_MOST_NODES:,} values", line)

    try:
        return yaml.load(text, Bounded)
    except yaml.MarkedYAMLError as error:
        raise BadYaml(str(error.problem), error.problem_mark.line + 1 if error.problem_mark else None) from None
    except yaml.YAMLError:
        raise BadYaml("it holds a character that YAML does not allow") from None
    except BadYaml:
        raise
    except ValueError as error:  # a date that the calendar lacks, a number without end
        raise BadYaml(str(error)) from None
    except (ArithmeticError, LookupError, AttributeError, TypeError, RecursionError):
        # How PyYAML fails on a value that is not what its tag says.
        raise BadYaml("a value is not what its tag says") from None
