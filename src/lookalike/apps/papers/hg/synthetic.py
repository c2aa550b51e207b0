"""PrivBayes beside HG: synthetic records with epsilon = ln(1 + beta), and what naive Bayes learns from them.

It makes another promise: that no record changes what is published by much, not that nobody's value is believed too
much. The program that the authors ran is not at hand; ours is an implementation of its paper.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms import parse_synthesizer
from lookalike.algorithms.shared.mechanisms import epsilon_of_beta
from lookalike.analysis.counts import true_counts
from lookalike.analysis.intervals import Answers
from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.metrics.query_error import Drawn, QueryError, judge_answers
from lookalike.randomness import Randomness

PRIVBAYES, LACKING = "PrivBayes", "PrivBayes (authors' domain file)"
OMITTED = (0, *range(21, 31))
"""Occupations that the authors' domain file for PrivBayes lacks."""


@lru_cache(maxsize=64)
def synthesize(
    data: Microdata, beta: float, seed: int, is_lacking: bool = False, method: str = "privbayes"
) -> Microdata:
    """Synthetic records with epsilon = ln(1 + beta), coded as the original is; as many as it has.

    `is_lacking`: with the authors' domain file. Records with a value that it omits are not read, and none is drawn.
    """
    learnt = data
    if is_lacking:
        values = data.domains.sensitive[0].values
        learnt = data.take(np.flatnonzero(~np.isin(values[data.sensitive[:, 0]], OMITTED)))
    synthesizer = parse_synthesizer(method, {"epsilon": str(epsilon_of_beta(beta))})
    made = synthesizer.synthesize(learnt, Randomness(seed)).data
    if is_lacking:
        known = made.domains.sensitive[0].values[made.sensitive[:, 0]]
        made = made.take(np.flatnonzero(~np.isin(known, OMITTED)))
    quasi, sensitive = (
        np.stack([recode(mine, column, theirs) for mine, column, theirs in zip(own, codes.T, known, strict=True)], 1)
        for own, codes, known in (
            (made.domains.quasi, made.quasi, data.domains.quasi),
            (made.domains.sensitive, made.sensitive, data.domains.sensitive),
        )
    )
    return Microdata(data.schema, data.domains, quasi, sensitive, np.zeros((len(quasi), 0), dtype=np.int32))


def answer(asked: Drawn, synthetic: Microdata) -> QueryError:
    """How synthetic records answer queries: by counting."""
    counts = true_counts(asked.queries, synthetic)
    return judge_answers(asked, Answers.of_another(np.asarray(counts, dtype=np.float64)))


def recode(mine: Domain, codes: Codes, theirs: Domain) -> Codes:
    """Codes of one domain as codes of another: of the same value, or of the nearest where the other has no such."""
    if mine is theirs:
        return codes
    own, other = mine.values.astype(np.float64), theirs.values.astype(np.float64)
    after = np.clip(np.searchsorted(other, own), 1, max(len(other) - 1, 1))
    nearest = np.where(own - other[after - 1] <= other[np.minimum(after, len(other) - 1)] - own, after - 1, after)
    return nearest[np.minimum(codes, len(own) - 1)].astype(np.int32)


def naive_bayes(learnt: Microdata, known: Microdata, *, smoothing: float, reach: float) -> float:
    """How often the likeliest value is right. A synthetic value counts if it lies within `reach` of the known one, as a
    share of its domain; of categories, if it is the same.
    """
    values = recode(learnt.domains.sensitive[0], learnt.sensitive[:, 0], known.domains.sensitive[0])
    n_values = known.domains.sensitive[0].n_codes
    prior = np.bincount(values, minlength=n_values).astype(np.float64)
    with np.errstate(divide="ignore"):
        scores = np.tile(np.log(prior), (known.n_rows, 1))
        for column, domain in enumerate(known.domains.quasi):
            codes = recode(learnt.domains.quasi[column], learnt.quasi[:, column], domain)
            joint = np.zeros((domain.n_codes, n_values))
            np.add.at(joint, (codes, values), 1.0)
            if domain.in_ranges:
                near = np.abs(domain.points[:, None] - domain.points) <= reach * max(domain.high - domain.low, 1.0)
                joint = near.astype(np.float64) @ joint[: len(near)]
            likely = (joint + smoothing) / np.maximum(prior + smoothing * domain.n_codes, 1e-300)
            scores += np.log(likely)[known.quasi[:, column]]
    best = int(np.argmax(known.counts(0)))
    order = np.argsort(-known.counts(0), kind="stable")
    found: NDArray[np.int64] = order[np.argmax(scores[:, order], axis=1)]
    found = np.where(np.isneginf(scores).all(axis=1), best, found)
    return float((found == known.sensitive[:, 0]).mean())
