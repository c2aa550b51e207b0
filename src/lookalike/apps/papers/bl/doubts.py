"""Whether the paper's own records, which are not public, could turn what BL's figure 5 shows here.

Two things about them are printed: 50 values, and that the rarest has 0.2018 % of the records and the most frequent
4.8402 %. So tables are drawn that agree with this, and the two verdicts "our evidence against the paper" on losses are
checked on them.

bl-groups      how many groups BUREL as printed makes depends on the shares of the values alone
bl-dependence  losses when values depend on quasi-identifiers not at all, more and more, and nearly wholly
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.burel import Bounded, value_buckets
from lookalike.apps.papers.bl.methods import BETAS, BUREL, GENERALIZED, LMONDRIAN, likeness, list_reached, real_table
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Made
from lookalike.apps.papers.journal import Row
from lookalike.data.microdata import Microdata
from lookalike.models import parse_model

_RECORDS, _VALUES = 500_000, 50
_LEAST, _MOST = 0.002018, 0.048402
"""The printed shares of the rarest and the most frequent value."""
_TABLES = 25
_EVENNESS = (1, 2, 5, 20)
"""Parameters of the Dirichlet law that the other shares are drawn from; the larger, the more even they are."""
_STRENGTHS = (0.0, 0.3, 0.5, 0.7, 0.85)
"""Correlation of a record's rank of values with a score of its quasi-identifiers."""
_SOME_BETAS = (2, 4)
_TOP_OF_AGES = 36
"""Codes of age from which on the score no longer grows."""


def draw_counts(evenness: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many records have each of 50 values, the rarest and the most frequent as printed."""
    rest = 1 - _LEAST - _MOST - (_VALUES - 2) * _LEAST
    shares = _LEAST + rest * rng.dirichlet(np.full(_VALUES - 2, evenness))
    while (over := shares > _MOST).any():
        # What exceeds the printed maximum is dealt evenly to those below it.
        spare, below = float((shares[over] - _MOST).sum()), shares < _MOST
        shares[over] = _MOST
        shares[below] += spare / np.count_nonzero(below)
    counts: NDArray[np.int64] = np.rint(_RECORDS * np.concatenate([[_LEAST, _MOST], shares])).astype(np.int64)
    return counts


def count_groups(counts: NDArray[np.int64], beta: int) -> int:
    """How many groups BUREL as printed makes: its buckets and halvings look at nothing but these counts."""
    asked = parse_model(likeness(beta)).requirement(counts, None, 0)
    assert asked.ceilings is not None
    drawing = Bounded(value_buckets(counts, asked.ceilings), asked.ceilings, asked.min_size)
    return drawing.n_groups(drawing.sizes(counts))


def _groups(bench: Bench) -> Iterator[Row]:
    for evenness in _EVENNESS:
        at = {"evenness": evenness, "series": "fewer groups at some larger beta", "repetition": 0}
        yield bench.row(at, partial(_count_falls, evenness, bench.seed_of(0)))


def _count_falls(evenness: int, seed: int) -> Row:
    rng = np.random.default_rng([83, seed, evenness])
    falls = 0
    for _ in range(_TABLES):
        counts = draw_counts(evenness, rng)
        groups = [count_groups(counts, beta) for beta in BETAS]
        falls += any(after < before for before, after in pairwise(groups))
    return {"share": 100 * falls / _TABLES}


def draw_dependent(data: Microdata, strength: float, seed: int) -> Microdata:
    """The same records with values that follow a score of age, gender and education, as strongly as asked.

    Shares rise evenly from 0.2 to 3.8 %, and which value is frequent has nothing to do with its rank.
    """
    rng = np.random.default_rng([89, seed])
    score = np.zeros(data.n_rows)
    for codes in (np.minimum(data.quasi[:, 0], _TOP_OF_AGES), data.quasi[:, 1], data.quasi[:, 2]):
        score += (codes - codes.mean()) / max(float(codes.std()), 1e-9)
    score /= max(float(score.std()), 1e-9)
    mixed = strength * score + math.sqrt(1 - strength**2) * rng.normal(size=data.n_rows)
    ranks = np.argsort(np.argsort(mixed, kind="stable")) / data.n_rows
    n_values = data.domains.sensitive[0].n_codes
    shares = rng.permutation(np.linspace(_LEAST, 2 / n_values - _LEAST, n_values))
    values = np.searchsorted(np.cumsum(shares / shares.sum()), ranks, side="right")
    return replace(data, sensitive=np.minimum(values, n_values - 1).astype(np.int32)[:, None])


def _dependence(bench: Bench) -> Iterator[Row]:
    methods = {name: GENERALIZED[name] for name in (BUREL, LMONDRIAN)}
    for strength in _STRENGTHS:
        data = draw_dependent(real_table(bench), strength, bench.seed_of(0))
        for beta in _SOME_BETAS:
            named = {f"{name}, beta = {beta}": method for name, method in methods.items()}
            yield from bench.rows_of({"strength": strength}, data, likeness(beta), named, _look, 1)


def _look(made: Made, _: int) -> Row:
    return {"ail": made.metric("ail"), **list_reached(made)}


EXPERIMENTS = (
    Experiment(
        title="groups of BUREL as printed on tables like the paper's",
        setting="25 tables per point, drawn at random: 500,000 records with 50 values, the rarest and the most "
        "frequent with the printed shares; beta = 1 to 5.",
        figures=(Figure("bl-groups", "evenness", "share", "evenness of the shares", "% of tables"),),
        measure=_groups,
        claims=(),
        differs="This judges no claim. It checks whether the paper's own shares of salary classes could make the loss "
        "of BUREL as printed fall with beta: how many groups it makes depends on these shares alone, and fewer groups "
        "are wider. They could not: on every table drawn, however even its shares, some larger beta leaves fewer "
        "groups.",
    ),
    Experiment(
        title="losses when values depend on quasi-identifiers more or less",
        setting="CENSUS, three quasi-identifiers, no record drawn twice; values drawn anew, with a given correlation "
        "with age, gender and education; beta = 2 and 4.",
        figures=(Figure("bl-dependence", "strength", "ail", "correlation with the quasi-identifiers", "AIL"),),
        measure=_dependence,
        claims=(),
        differs="This judges no claim. It checks whether BUREL would lose less than LMondrian on records whose values "
        "depend on the quasi-identifiers as salaries do. It would not: whatever the dependence, BUREL loses more, from "
        "1.5 to 7 times as much.",
    ),
)
