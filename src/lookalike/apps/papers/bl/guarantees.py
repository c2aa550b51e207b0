"""What BL says about guarantees, followed exactly on small examples.

Similar values in its own table 1, an attacker who knows BUREL on tiny tables, posteriors of the printed perturbation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from lookalike.algorithms import parse_algorithm
from lookalike.apps.papers.bl.methods import AS_PRINTED, BETAS, BUREL, GENERALIZED, PRINTED, likeness
from lookalike.apps.papers.claims import Claim, between, every
from lookalike.apps.papers.experiments import Bench, Experiment, Figure
from lookalike.apps.papers.journal import Row
from lookalike.attacks.minimality.exact import enumerate_posteriors
from lookalike.audit.exposures import expose
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.release import Grouped, cover
from lookalike.data.schema import Schema, ValueType
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle

_TINY = "aaaabb"
"""Values of the tables on which an attacker who knows BUREL is followed through every world."""
_TABLES = 5
_RUNS = 60
"""Seeds in each of 15 worlds."""
_DISEASES = ("headache", "epilepsy", "brain tumors", "heart murmur", "anemia", "angina")
"""Of the paper's table 1; the first three are nervous diseases."""
_HAIR = 1e-9
_TOP_SHARES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of the most frequent of three values."""


def _tiny_table(number: int, seed: int) -> Microdata:
    """Six people at random places, with the values of `_TINY`."""
    rng = np.random.default_rng([77, seed, number])
    places = np.sort(rng.choice(100, len(_TINY), replace=False))
    values, codes = np.unique(list(_TINY), return_inverse=True)
    columns = (
        Column("place", ValueType.INTEGER, np.arange(len(_TINY), dtype=np.int32), places),
        Column("value", ValueType.STRING, codes.astype(np.int32), values.astype(object)),
    )
    return Microdata.encode(Table(columns), Schema.of(qi=["place"], sensitive=["value"]))


def _minimality(bench: Bench) -> Iterator[Row]:
    """How certain of a value an attacker who knows BUREL becomes, over the value's share in the group."""
    for number in range(1, _TABLES + 1):
        for series, algorithm in {**GENERALIZED, **AS_PRINTED}.items():
            if series in (BUREL, PRINTED):
                at = {"table": number, "series": series, "repetition": 0}
                yield bench.row(at, partial(_find_certainty, str(algorithm), number, bench.seed_of(0)))


def _find_certainty(algorithm: str, number: int, seed: int) -> Row:
    data = _tiny_table(number, seed)
    promises = settle([Promise(parse_model(likeness(1)))], data)
    method = parse_algorithm(algorithm).facing(READS_RELEASE)
    seeds = range(_RUNS * seed, _RUNS * (seed + 1))
    known = enumerate_posteriors(method, data, require(promises, data), seeds)
    total = sum(int(counts.sum()) for counts in known.found.values())
    worst, above = 0.0, 0.0
    share = _TINY.count("b") / len(_TINY)
    for counts in known.found.values():
        # Both groups have the values of half the table, so either way a reader expects the table's share of b.
        beliefs = counts[:, -1] / counts.sum(axis=1)
        weight = counts.sum() / total
        if weight >= 0.01:
            worst = max(worst, float(beliefs.max()) / share)
        above += weight * float(np.mean(beliefs > 1.1 * share))
    return {"certainty": worst, "above": 100 * above}


def find_nervous_certainty(beta: float) -> float:
    """How certain a nervous disease is in the worst group of the paper's table 1, if beta-likeness allows that group.

    Three people with three nervous diseases form one group, three others the other. If the promise refuses this, all
    six form one group.
    """
    groups = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    ages, codes = np.unique([40, 60, 50, 50, 50, 70], return_inverse=True)
    columns = (
        Column("age", ValueType.INTEGER, codes.astype(np.int32), ages),
        Column("disease", ValueType.STRING, np.arange(6, dtype=np.int32), np.array(_DISEASES, dtype=object)),
    )
    data = Microdata.encode(Table(columns), Schema.of(qi=["age"], sensitive=["disease"]))
    release = Grouped(
        domains=data.domains,
        extents=(cover(data.domains.quasi[0], data.quasi[:, 0], groups, 2),),
        group_of_row=groups,
        sensitive=data.sensitive,
        carried=data.carried,
    )
    model = parse_model(likeness(beta))
    return 1.0 if model.holds(model.level(expose(data, release, 0))) else 0.5


def _similarity(bench: Bench) -> Iterator[Row]:
    for beta in (0.5, *BETAS):
        at = {"beta": beta, "series": "a nervous disease", "repetition": 0}
        yield bench.row(at, partial(_judge_nervous, beta))


def _judge_nervous(beta: float) -> Row:
    return {"certainty": 100 * find_nervous_certainty(beta)}


def find_worst_posterior(shares: Sequence[float], beta: float) -> float:
    """The largest posterior over its bound, of any value after any published one, with the printed matrix."""
    p = np.array(shares)
    m, bound = len(p), p * (1 + np.minimum(beta, -np.log(p)))
    gamma = bound / p * (1 - p) / (1 - bound)
    stays = gamma / (gamma.max() + m - 1)
    matrix = np.tile((1 - stays) / (m - 1), (m, 1))
    np.fill_diagonal(matrix, stays)
    joint = matrix * p
    return float((joint / joint.sum(axis=1, keepdims=True) / bound).max())


def _posteriors(bench: Bench) -> Iterator[Row]:
    for beta in (1, 2):
        for top in _TOP_SHARES:
            shares = (top, (1 - top) / 2, (1 - top) / 2)
            at = {"share": top, "series": f"as printed, beta = {beta}", "repetition": 0}
            yield bench.row(at, partial(_judge_posterior, shares, beta))


def _judge_posterior(shares: Sequence[float], beta: float) -> Row:
    return {"over_bound": find_worst_posterior(shares, beta)}


EXPERIMENTS = (
    Experiment(
        title="values of similar meaning",
        setting="The six patients of the paper's table 1 in two groups, one with the three nervous diseases; beta = "
        "0.5 to 5.",
        figures=(Figure("bl-similarity", "beta", "certainty", "beta", "certainty of a nervous disease, %"),),
        measure=_similarity,
        claims=(
            Claim(
                "3",
                "Beta-likeness by its nature guards against attacks by similar values.",
                between("beta", "certainty", "a nervous disease", 0.0, 99.9),
                judged="no group that it allows makes a kind of disease certain",
                why="It bounds each value by itself. From beta = 1 on it allows the group of three nervous diseases, "
                "in which a nervous disease is certain, against one half in the table. Section 7 itself offers bounds "
                "on kinds of values as an extension",
            ),
        ),
    ),
    Experiment(
        title="an attacker who knows BUREL",
        setting="Five made-up tables of six people, four with one value and two with another, beta = 1; the method is "
        "run in every world with 60 seeds.",
        figures=(Figure("bl-minimality", "table", "certainty", "table", "certainty over the share in the group"),),
        measure=_minimality,
        claims=(
            Claim(
                "7",
                "BUREL is immune to an attacker who knows the method (minimality attack).",
                between("table", "certainty", PRINTED, 0.0, 1.1),
                judged="certainty at most 10 % above the share in the group, after any release that comes out at "
                "least once in a hundred runs",
                why="BUREL takes the nearest records of each bucket of values. A record that was passed over, though "
                "nearer, must be in another bucket; this holds for every table",
            ),
        ),
        differs="The paper argues and measures nothing. The test judges BUREL as printed, which the argument is about; "
        "with "
        "the further split it is the same.",
    ),
    Experiment(
        title="the theorem about perturbation",
        setting="Three values, the most frequent with a share of 0.4 to 0.9, the others alike; beta = 1 and 2; exact "
        "posteriors of the printed matrix.",
        figures=(
            Figure("bl-theorem3", "share", "over_bound", "share of the most frequent value", "posterior over bound"),
        ),
        measure=_posteriors,
        claims=(
            Claim(
                "5, theorem 3",
                "The printed perturbation always keeps beta-likeness.",
                every(
                    *(between("share", "over_bound", f"as printed, beta = {beta}", 0.0, 1 + _HAIR) for beta in (1, 2))
                ),
                why="The proof needs every probability to keep a value to be at least 0. A frequent value makes those "
                "of rare values negative, and then a posterior exceeds its bound. This is arithmetic",
            ),
        ),
        differs="With 50 values of which none is frequent, as in the paper's table, no probability is negative and "
        "the theorem holds. `perturbation` here corrects the matrix.",
    ),
)
