"""Small targets for attacks: tables and releases whose probabilities can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.attacks import parse_attack
from lookalike.data.contracts import Finding, Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.models import parse_model
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.audit.making import grouped, number_table


def attacked(text: str, target: Target, seed: int = 1) -> Finding:
    """The only finding of an attack."""
    (finding,) = parse_attack(text).run(target, Randomness(seed), silent)
    return finding


def table(ages: Any, values: Any) -> Microdata:
    """One numeric quasi-identifier, one sensitive column."""
    return number_table(np.asarray(ages).reshape(-1, 1), values)


def in_groups(data: Microdata, groups: Any, promise: str | None = None, seed: int = 0) -> Target:
    """The release of a partition, rows shuffled."""
    order = np.random.default_rng(seed).permutation(data.n_rows)
    return Target(release=grouped(data, groups, order), original=data, promises=promised(promise))


def promised(text: str | None) -> tuple[Promise, ...]:
    return () if text is None else (Promise(parse_model(text), "s"),)
