"""Persons with several rows in a table that lies elsewhere: which rows are published, and how many persons there are.

The rows of each person that are published are chosen before the table is cut, by a keyed digest of each row, so the
choice does not depend on where rows lie. The key is kept by nobody: as the digest is of the whole row, a reader who
had it could try values. Then distinct persons are counted over all rows that are left, exactly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Algorithm, Boxes
from lookalike.data.microdata import Codes, Whole
from lookalike.data.person_settings import LINKED, RANDOM, PersonSettings
from lookalike.data.persons import PersonCounts
from lookalike.errors import RecipeError, Unsupported, counted
from lookalike.pipeline.backends import Backend
from lookalike.pipeline.parts.survey import Survey
from lookalike.randomness import Randomness


def refuse_settings(settings: PersonSettings) -> None:
    """Raise for settings that parts do not serve."""
    refuse_folding(settings)
    if settings.rows == LINKED:
        raise Unsupported(
            "Parts are cut by the quasi-identifiers of rows, so linked rows of one person would lie in several parts. "
            "Publish linked rows in one piece (without --part-rows and --backend spark), or use --rows apart."
        )
    if settings.most_rows is not None and settings.keep != RANDOM:
        raise RecipeError(
            f"--keep {settings.keep} needs the order of the table's rows, which parts do not have. Use --keep "
            "random, or keep these rows yourself beforehand."
        )


def refuse_folding(settings: PersonSettings) -> None:
    """Raise for settings that need all rows of a person at once, in their order."""
    for name, flag in (("fold", "--fold"), ("order", "--order")):
        if getattr(settings, name) is not None:
            raise Unsupported(
                f"{flag} needs all rows of a person together, and a table that is published in parts is read part by "
                f"part. Publish it in one piece (without --part-rows and --backend spark), or leave out {flag}."
            )


def refuse_cutting(algorithm: Algorithm) -> None:
    """Raise unless this method's parts are boxes: only there all rows of a group are rows of its part."""
    if not isinstance(algorithm.in_parts, Boxes):
        raise Unsupported(
            f"{algorithm.name} deals records out to parts, and the rows of one person would come to lie in several. "
            "Publish one row per person (--rows one), or use groups or mondrian."
        )


def select_persons(
    backend: Backend, seen: Survey, settings: PersonSettings, rng: Randomness
) -> tuple[Survey, tuple[str, ...]]:
    """The survey of the rows that are published, with persons counted; and a sentence about rows left out."""
    if not seen.counts_persons:
        return seen, ()
    most = settings.most_rows
    seen = replace(seen, data=replace(seen.data, number_known=settings.number_known))
    n_before = seen.n_rows
    if most is not None:
        n_codes = seen.n_published if most == 1 else len(seen.names)
        backend.keep(seen.n_published, most, rng, n_codes)
        if most == 1:
            data = replace(seen.data, persons=None, individuals=None)
            seen = replace(seen, data=data, names=seen.names[:n_codes])
    seen = _count_whole(backend, seen)
    n_left = n_before - seen.n_rows
    if not n_left:
        return seen, ()
    return seen, (f"{counted(n_left, 'row')} left out: at most {counted(most or 1, 'row')} per person is published.",)


def _count_whole(backend: Backend, seen: Survey) -> Survey:
    """The survey with the counts of the rows that are there now: of each value, and of distinct persons with it."""
    domains, owner = seen.data.domains, seen.n_published
    starts = np.cumsum([1, *(domain.n_codes for domain in domains.sensitive)])
    n_quasi = len(domains.quasi)

    def keys(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        values = codes[:, n_quasi : n_quasi + len(domains.sensitive)].astype(np.int64) + starts[:-1]
        all_keys = np.column_stack((np.zeros(len(codes), dtype=np.int64), values))
        owners = codes[:, owner] if codes.shape[1] > owner else np.zeros(len(codes), dtype=np.int64)
        return all_keys.ravel(), np.repeat(owners.astype(np.int64), all_keys.shape[1])

    found = backend.count_owners(keys)
    records, owners = (np.zeros(int(starts[-1]), dtype=np.int64) for _ in range(2))
    records[found.keys], owners[found.keys] = found.records, found.owners
    slices = [slice(first, last) for first, last in zip(starts[:-1], starts[1:], strict=True)]
    n_rows, by_rows = int(records[0]), tuple(records[here] for here in slices)
    whole = Whole(n_rows, by_rows)
    if seen.counts_persons:
        noun = seen.data.schema.unit_name
        by_persons = tuple(PersonCounts.of(owners[here], int(owners[0]), noun) for here in slices)
        whole = Whole(n_rows, by_persons, int(owners[0]), by_rows)
    return replace(seen, data=replace(seen.data, whole=whole))
