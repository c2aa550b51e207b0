"""What the owner's report says in numbers about persons who have several rows.

How many persons there are, how many rows each has and who is in which group does not follow from a release whose rows
show no person. So none of this is in the report of the release folder.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike.audit import examine
from lookalike.errors import counted
from lookalike.pipeline.person_rows import describe_left_out
from lookalike.pipeline.run import MadeWhole


def describe_numbers(made: MadeWhole) -> tuple[str, ...]:
    """Persons and rows side by side; nothing where each row is a person."""
    table = made.table
    if table.persons is None:
        return ()
    noun, numbers = table.schema.unit_name, np.bincount(table.persons)
    numbers = numbers[numbers > 0]
    several = int(np.count_nonzero(numbers > 1))
    said = [
        f"The original has {counted(table.n_rows, 'row')} of {counted(len(numbers), noun)}: "
        f"{several:,} {noun}s have several rows, {numbers.mean():.1f} is the mean and {int(numbers.max()):,} the most.",
        *describe_left_out(table, made.recipe.persons.most_rows),
    ]
    if made.crowds and made.data.persons is not None:
        said.append(f"The smallest group has rows of {_count_smallest(made)}.")
    return tuple(said)


def _count_smallest(made: MadeWhole) -> str:
    """The least number of units in a group and, where these are households, the least number of persons."""
    noun, least = made.data.schema.unit_name, min(made.crowds)
    said = counted(least, f"different {noun}")
    if made.data.individuals is None or noun != "household":
        return said
    by_person = replace(made.data, persons=made.data.individuals, individuals=None)
    found = examine(by_person, made.release, (), record_of_row=made.record_map.record_of_row).exposure(None)
    return f"{said}; the group with fewest persons has {counted(min(found.crowds), 'person')}" if found.crowds else said
