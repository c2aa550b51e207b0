"""A table and a control group from the same source, and releases of the table in every form."""

from __future__ import annotations

from functools import cache

import numpy as np

from lookalike.algorithms import parse_algorithm
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise, Target
from lookalike.data.control import as_plain_release, encode_control, take_rows
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Schema
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

RELEASES = {
    "grouped": ("mondrian", "k-anonymity:3"),
    "matched": ("heterogeneous", "l-diversity:3"),
    "bucketized": ("two-size", "l-diversity:3"),
    "perturbed": ("perturbation:mode=free", "beta-likeness:3"),
}
N_ROWS = 240


@cache
def tables() -> tuple[Table, Table]:
    """People in the table, and others."""
    whole = census(2 * N_ROWS, seed=3)
    return take_rows(whole, np.arange(N_ROWS)), take_rows(whole, np.arange(N_ROWS, 2 * N_ROWS))


@cache
def schema() -> Schema:
    names = tables()[0].names
    return Schema.of(qi=names[:4], sensitive=names[-1:], categorical=[names[1], names[3], names[-1]])


@cache
def people() -> tuple[Microdata, Microdata]:
    """The same, as codes."""
    data = Microdata.encode(tables()[0], schema())
    return data, encode_control(tables()[1], data)[0]


@cache
def target(form: str) -> Target:
    """A release with its control group."""
    data, control = people()
    algorithm, model = RELEASES[form]
    promises = settle([Promise(parse_model(model))], data)
    method = parse_algorithm(algorithm).facing("reads-release")
    release, _ = method.anonymize(data, require(promises, data), Randomness(5), silent)
    return Target(release=release, original=data, promises=promises, algorithm=method, control=control)


@cache
def unchanged() -> Target:
    """The table published as it is, as another tool or a synthesizer might."""
    data, release, _ = as_plain_release(tables()[0], people()[0])
    return Target(release=release, original=data, control=people()[1], synthetic=True)
