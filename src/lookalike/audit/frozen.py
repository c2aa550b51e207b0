"""Is a series in frozen cells what it promises: does every set of rows with one history keep every promise?

A reader of all releases parts the rows by where they are in each of them: the group that shows a row in release 1, in
release 2 and so on, or none. Rows with one history are told apart by nothing else, so each such set is what the reader
knows of a person whose history is known, and each must keep every promise as a group by itself. Histories come from the
private ledger; nothing is taken from the rule that chose the rows.

What such a set tells is what the reader knows only if its values can be worked out from the releases. Where rows come
and go at once they cannot always, and a reader who weighs all tables that fit the releases may be surer than the set
itself tells. `audit_bounds` takes what the releases say about the number of each value in a set: the most that it can
be must keep the promise, and then all tables keep it, however they are weighed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.paths import ABSENT, Paths, bound_values, check_sizes
from lookalike.audit.reading import Ints
from lookalike.audit.series import SeriesRelease
from lookalike.audit.verdicts import format_number
from lookalike.data.contracts import Promise
from lookalike.data.exposure import Exposure, counted_exposure
from lookalike.data.microdata import Codes, Domain
from lookalike.data.release import Grouped
from lookalike.errors import counted


def audit_histories(
    groups: Ints, codes: Codes, promises: Sequence[Sequence[Promise]], domains: Sequence[Domain], adversary: str
) -> list[str]:
    """What is wrong, in sentences.

    groups [persons, releases]: the group that shows the person's row, ABSENT if none does; codes [persons, sensitive
    columns]; promises: those of each release.
    """
    problems = []
    for promise, made_in in _list_promises(promises):
        ever = (groups[:, made_in] != ABSENT).any(axis=1)
        if not ever.any():
            continue
        histories = np.unique(groups[ever], axis=0, return_inverse=True)[1].reshape(-1)
        n_blocks = int(histories.max()) + 1
        column = next((place for place, domain in enumerate(domains) if domain.name == promise.column), None)
        domain = None if column is None else domains[column]
        own = None if column is None else codes[ever, column].astype(np.int32)
        exposure = counted_exposure(
            histories,
            own,
            n_blocks,
            adversary=adversary,
            form=Grouped.form,
            column=domain,
            prior=_count(own, domain, int(ever.sum())),
        )
        level = promise.model.level(exposure)
        if not promise.model.holds(level):
            size = "" if level.unit is None else f", in a set of {counted(int(exposure.sizes[level.unit]), 'row')}"
            problems.append(
                f"rows that appeared and left together reach {promise} only up to "
                f"{format_number(level.value)}{size}: what changes from release to release gives people away"
            )
    return problems


def _list_promises(promises: Sequence[Sequence[Promise]]) -> list[tuple[Promise, list[int]]]:
    """Each different promise, and the releases that made it."""
    found: dict[tuple[str, str | None], tuple[Promise, list[int]]] = {}
    for release, made in enumerate(promises):
        for promise in made:
            found.setdefault((str(promise.model), promise.column), (promise, []))[1].append(release)
    return list(found.values())


def audit_bounds(
    releases: Sequence[SeriesRelease],
    columns: Sequence[Domain],
    code_of_value: Sequence[Ints],
    adversary: str,
) -> list[str]:
    """What is wrong, in sentences: promises on values that some table which fits all releases breaks.

    `columns` are the sensitive columns with the values of all releases; `code_of_value` has for each of them the code
    of every joint value.
    """
    made = _list_promises([each.promises for each in releases])
    about_values = [(promise, made_in) for promise, made_in in made if promise.column is not None]
    if not about_values:
        return []
    paths = Paths.of([each.class_of_person for each in releases], [each.made_up for each in releases])
    published = [each.values for each in releases]
    check_sizes(paths, published)
    bounds = bound_values(paths, published)
    if len(bounds.contradicted):
        return ["the releases contradict each other about the values of people"]
    problems = []
    for promise, made_in in about_values:
        through = (paths.classes[:, made_in] != ABSENT).any(axis=1)
        place = next(place for place, domain in enumerate(columns) if domain.name == promise.column)
        domain = columns[place]
        keys, entry = np.unique(
            bounds.paths * domain.n_codes + code_of_value[place][bounds.values], return_inverse=True
        )
        most = np.zeros(len(keys), dtype=np.int64)
        np.add.at(most, entry.reshape(-1), bounds.most)
        most = np.minimum(most, paths.sizes[keys // domain.n_codes])
        prior = np.bincount(keys % domain.n_codes, weights=most, minlength=domain.n_codes).astype(np.int64)
        kept = through[keys // domain.n_codes]
        keys, most = keys[kept], most[kept]
        starts = np.searchsorted(keys, np.arange(len(paths.sizes) + 1) * domain.n_codes)
        of_promise = np.flatnonzero(through)
        exposure = Exposure(
            adversary=adversary,
            form=Grouped.form,
            column=domain,
            prior=prior,
            starts=np.append(starts[of_promise], len(keys)).astype(np.int64),
            values=(keys % domain.n_codes).astype(np.int32),
            weights=most,
            sizes=paths.sizes[of_promise],
        )
        if not bounds.known[of_promise].all() and not promise.model.requirement(prior, domain, place).only_ceilings:
            # More of a value may be better then, so the most that it can be decides nothing.
            problems.append(f"whether {promise} holds of rows that came, stayed or left together cannot be worked out")
        elif not promise.model.holds(level := promise.model.level(exposure)):
            problems.append(
                f"the releases leave tables possible in which rows that came, stayed or left together reach {promise} "
                f"only up to {format_number(level.value)}, since rows of one cell come and go at the same time"
            )
    return problems


def _count(codes: Codes | None, domain: Domain | None, n_rows: int) -> NDArray[np.int64]:
    if codes is None or domain is None:
        return np.array([n_rows], dtype=np.int64)
    return np.bincount(codes, minlength=domain.n_codes).astype(np.int64)
