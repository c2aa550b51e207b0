"""What known attacks achieve on a release that was written.

import lookalike as la
print(la.attack("patients.csv", "release"))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lookalike.algorithms import parse_algorithm
from lookalike.attacks import parse_attack
from lookalike.attacks.run import Attacks, attack_target
from lookalike.audit import verify as audit_release
from lookalike.data.contracts import Algorithm, Attack, Target
from lookalike.data.schema import Schema
from lookalike.errors import DataError, RecipeError
from lookalike.pipeline.run import settle
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness
from lookalike.reopening import Reopened, reopen


def attack(
    original: Any,
    release: str | Path,
    *,
    attacks: Iterable[Attack | str] = (),
    others: Sequence[str | Path] = (),
    private: str | Path | None = None,
    schema: Schema | str | Path | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Attacks:
    """Make attacks on a release folder, or on a table of another tool; all that apply if none is named.

    `others` are further releases of the same original, for attacks that combine them; `private` is the PRIVATE folder
    of a matched release, for attacks that assume a leak of it.
    """
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    reopened = reopen(original, release, loaded, progress=progress, **reading)
    target = target_of(reopened, release, others=others, private=private, original=original, schema=loaded)
    chosen = [parse_attack(one) if isinstance(one, str) else one for one in attacks]
    return attack_target(target, chosen, Randomness(seed), progress)


def target_of(
    reopened: Reopened,
    release: str | Path,
    *,
    others: Sequence[str | Path] = (),
    private: str | Path | None = None,
    original: Any = None,
    schema: Schema | None = None,
) -> Target:
    """A release that was read back as a target, once it is certain that it belongs to the original."""
    checks = audit_release(reopened.release, reopened.data, ()).checks
    failed = [check for check in checks if check.blocks and check.name != "row order"]
    if failed:
        raise DataError(
            f"{release} does not belong to this original, or was changed: {failed[0].name}, {failed[0].detail}. Name "
            "the table that the release was made from."
        )
    graph = None
    if private is not None:
        from lookalike.files.releases.private import check_belongs, read_graph

        check_belongs(Path(private), Path(release))
        graph = read_graph(Path(private))
    return Target(
        release=reopened.release,
        original=reopened.data,
        promises=settle(reopened.promises, reopened.data) if reopened.promises else (),
        algorithm=_algorithm(release),
        graph=graph,
        others=tuple(reopen(original, other, schema).release for other in others),
    )


def _algorithm(release: str | Path) -> Algorithm | None:
    """The method that a release folder names; None for tables of other tools and methods of other versions."""
    from lookalike.files.releases.folder import read_manifest
    from lookalike.files.releases.read import release_folder

    folder = release_folder(Path(release))
    if folder is None:
        return None
    try:
        return parse_algorithm(read_manifest(folder).algorithm)
    except RecipeError:
        return None
