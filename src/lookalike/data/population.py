"""The population that a table was drawn from: everybody whom an attacker may have in mind, one record per person.

Someone who does not know that the target is in the table has to choose among all people of the population who fit what
is published. A population table has their quasi-identifiers; it needs no other column. It includes the people of the
table: where it lacks one of them it is another population, or an older one, and is refused.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.data.control import encode_control
from lookalike.data.microdata import Domains, Microdata, Table
from lookalike.errors import DataError, SchemaError, counted, unknown_name


def encode_population(table: Table, data: Microdata) -> tuple[Microdata, tuple[str, ...]]:
    """The quasi-identifiers of a population over the domains of a table, and sentences about values that it lacks.

    Domains of numbers and dates become wider, as for a control group (`data.control`).
    """
    for domain in data.domains.quasi:
        if domain.name not in table.names:
            raise SchemaError(f"{unknown_name('column', domain.name, table.names)} (in the population {table.source})")
    nothing = np.empty((data.n_rows, 0), dtype=np.int32)
    quasi_only = replace(data, domains=Domains(data.domains.quasi, (), ()), sensitive=nothing, carried=nothing)
    people, notes = encode_control(table, quasi_only)
    if people.persons is not None:
        raise DataError(
            f"{counted(people.n_rows, 'row')} of the population {table.source} belong to "
            f"{counted(people.n_persons, 'person')}. A population table has one row per person: remove the others."
        )
    return people, tuple(note.replace("the control group", "the population") for note in notes)


def refuse_lacking(original: NDArray[np.int64], population: NDArray[np.int64]) -> None:
    """Raise `DataError` where the population has fewer people than the table at some combination of
    quasi-identifiers; both are counts of the same combinations.
    """
    lacking = int(np.maximum(original - population, 0).sum())
    if lacking:
        raise DataError(
            f"The population lacks {counted(lacking, 'record')} of the table: it has fewer people with the same "
            "quasi-identifiers than the table has. Give a population that includes the people of the table, with the "
            "values as the table writes them."
        )
