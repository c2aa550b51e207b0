"""Small tables, a census, and the groups that a method makes of them."""

from __future__ import annotations

import numpy as np

from lookalike.algorithms.mondrian import MedianCuts, Mondrian
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.strategies import column_of


def microdata(**columns: list[object]) -> Microdata:
    """Columns of ints are numeric, of texts categorical, `zip` has a taxonomy of prefixes; `s` is sensitive."""
    made, attributes = [], []
    for name, cells in columns.items():
        numeric = all(cell is None or isinstance(cell, int) for cell in cells)
        made.append(column_of(name, cells, ValueType.INTEGER if numeric else ValueType.STRING))
        attributes.append(
            Attribute(
                name=name,
                role=Role.SENSITIVE if name == "s" else Role.QUASI,
                kind=Kind.NUMERIC if numeric else Kind.CATEGORICAL,
                taxonomy={"prefixes": [2, 1]} if name == "zip" else None,
            )
        )
    return Microdata.encode(Table(tuple(made)), Schema(tuple(attributes)))


def groups(data: Microdata, algorithm: Mondrian | MedianCuts, *models: str) -> list[list[int]]:
    promises = settle([Promise(parse_model(model)) for model in models], data)
    requirements = require(promises, data)
    group_of_record, n_groups = algorithm.partition(data, requirements, Randomness(3), silent)
    return sorted(sorted(np.flatnonzero(group_of_record == group).tolist()) for group in range(n_groups))


def census_data(rows: int) -> Microdata:
    table = census(rows, seed=6)
    names = table.names
    return Microdata.encode(table, Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]]))
