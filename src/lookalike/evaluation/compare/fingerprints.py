"""What tells one run from another: a hash of the table's content, the schema, the recipe and the version.

Whoever reads the hash learns nothing of what went into it. Where the table came from does not enter; a seed does only
if one was given, because runs without one are as good as each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from lookalike.data.microdata import Domain, Microdata
from lookalike.evaluation.compare.planning import Task
from lookalike.version import __version__

_BYTES = 16


def table_fingerprint(data: Microdata) -> str:
    """A hash of every published value in its place, of the domains, and of what the schema says about them."""
    digest = hashlib.blake2b(digest_size=_BYTES, person=b"lookalike table")
    blocks = (
        ("quasi", data.domains.quasi, data.quasi),
        ("sensitive", data.domains.sensitive, data.sensitive),
        ("carried", data.domains.carried, data.carried),
    )
    for role, domains, codes in blocks:
        _add(digest, (role, str(codes.shape)))
        for domain in domains:
            _add(digest, _describe_domain(domain))
        digest.update(codes.astype("<i4").tobytes())
    return digest.hexdigest()


def run_fingerprint(table: str, task: Task) -> str:
    """A hash of one run of a table; `table` is its own fingerprint."""
    digest = hashlib.blake2b(digest_size=_BYTES, person=b"lookalike run")
    parts = [__version__, table, task.adversary, "" if task.seed is None else str(task.seed)]
    for part in (*(promise.model for promise in task.promises), task.algorithm, *task.attacks):
        parts += [f"{type(part).__module__}.{type(part).__qualname__}", str(part)]
    parts += [str(promise.column) for promise in task.promises]
    _add(digest, parts)
    return digest.hexdigest()


def _describe_domain(domain: Domain) -> list[str]:
    attribute, tree = domain.attribute, domain.taxonomy
    parts = [domain.name, str(domain.kind), str(domain.type), repr(float(attribute.weight)), str(domain.declared)]
    parts += [repr(float(domain.low)), repr(float(domain.high)), str(domain.size), str(len(domain.texts))]
    parts += domain.texts
    if tree is not None:
        parts += [*tree.labels, *map(str, tree.parents.tolist())]
    return parts


def _add(digest: hashlib.blake2b, parts: Iterable[str]) -> None:
    listed = list(parts)
    digest.update(len(listed).to_bytes(8, "big"))
    for part in listed:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
