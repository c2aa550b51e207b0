"""Risks by arithmetic, on tiny tables, of divided groups and under simple diversity (MA)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.algorithms.shared.buckets import publish_buckets
from lookalike.algorithms.shared.order_runs import Grown, Rules, divide_by_values
from lookalike.apps.papers.claims import Claim, Found, Verdict, all_hold, every, format_figure
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Made, Results
from lookalike.apps.papers.journal import Row
from lookalike.apps.papers.ma.data import (
    ELL,
    POSITIVES,
    QUASI,
    SAFE,
    WITHOUT_ADULT,
    binary,
    positive,
    repetitions,
    table,
)
from lookalike.apps.papers.ma.readings import at_most, some_rows
from lookalike.apps.papers.ma.worlds import divided_beliefs, risk_by_sampling
from lookalike.attacks.minimality.exact import bucket_shares, enumerate_posteriors, first_bucket_limit
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import AuditFailed
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

LONG, FULL_PAIR, HALF_PAIR = "GG, longest groups", "RGG, two buckets, two positives", "RGG, two buckets, one positive"
ONE, TWO, STRICT, GREEDY = "relaxed, one column", "relaxed, two columns", "strict", "GG"
_MOST_BUCKETS = 5
"""Divided groups of up to so many buckets are attacked."""


def _limits(bench: Bench) -> Iterator[Row]:
    """l times the probability in the first bucket, by arithmetic."""
    coin = Fraction(SAFE)

    def measure(series: str, ell: int) -> Row:
        if series == LONG:
            return {"risk": float(first_bucket_limit(ell))}
        shares = bucket_shares(ell, 2, 2 if series == FULL_PAIR else 1, coin)
        assert shares is not None
        return {"risk": float(ell * shares[0])}

    for ell in range(2, 11):
        for series in (LONG, FULL_PAIR, HALF_PAIR):
            yield bench.row({"l": ell, "series": series, "repetition": 0}, partial(measure, series, ell))


def _near_e(found: Results) -> Found:
    limits = found.means("l", "risk", LONG)
    if not limits:
        return Found(None, "not measured")
    told = ", ".join(f"{limit:.3f} at l = {ell}" for ell, limit in sorted(limits.items()))
    return Found(any(limit >= 0.99 * math.e for limit in limits.values()), f"{told}; e is {math.e:.3f}")


def _tiny_table(columns: list[list[int]], positives: int) -> Microdata:
    """Records with these numbers; the first so many have the value 1."""
    values = [*columns, [1] * positives + [0] * (len(columns[0]) - positives)]
    made, attributes = [], []
    for index, numbers in enumerate(values):
        is_last = index == len(columns)
        found, codes = np.unique(np.array(numbers, dtype=np.int64), return_inverse=True)
        name = "value" if is_last else f"number{index}"
        made.append(Column(name, ValueType.INTEGER, codes.astype(np.int32), found))
        attributes.append(
            Attribute(
                name=name,
                role=Role.SENSITIVE if is_last else Role.QUASI,
                kind=Kind.CATEGORICAL if is_last else Kind.NUMERIC,
                type=ValueType.INTEGER,
            )
        )
    return Microdata.encode(Table(tuple(made), "tiny"), Schema(tuple(attributes)))


def _largest_belief(algorithm: str, data: Microdata, ell: int, seeds: int) -> float:
    """The largest probability of the positive value over all releases of all worlds; equal records share theirs."""
    method = parse_algorithm(algorithm).facing(READS_RELEASE)
    model = f"l-diversity:{ell},kind=binary,subset=1"
    requirements = require(settle([Promise(parse_model(model))], data), data)
    found = enumerate_posteriors(method, data, requirements, range(seeds))
    is_positive = found.rows[:, 0] == data.domains.sensitive[0].texts.index("1")
    kinds = np.unique(data.quasi, axis=0, return_inverse=True)[1].reshape(-1)
    largest = 0.0
    for counts in found.found.values():
        together = np.zeros((kinds.max() + 1, counts.shape[1]))
        np.add.at(together, kinds, counts)
        largest = max(largest, float((together[:, is_positive].sum(axis=1) / together.sum(axis=1)).max()))
    return largest


def _mirror(n_rows: int, ell: int) -> list[int]:
    """A second column whose smaller half shares only two records with the first column's, on either side."""
    half = n_rows // 2
    low, high = list(range(half)), list(range(n_rows - half, n_rows))
    order = list(range(n_rows))
    # The two outermost records stay, the others of each end change places with the middle.
    middle = [place for place in order if place not in (*low, *high)]
    del low[2:], high[:-2]
    rest = [place for place in order if place not in (*low, *high, *middle)]
    left, right = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    turned = [*low, *right, *middle, *left, *high]
    ranks = [0] * n_rows
    for rank, place in enumerate(turned):
        ranks[place] = rank
    return ranks


def _mondrian(bench: Bench) -> Iterator[Row]:
    """The largest probability on tiny tables with two positives, by going through all worlds."""
    once = "mondrian:cuts=1,choose=widest"

    def measure(series: str, ell: int) -> Row:
        n_rows = 4 * ell - 1
        first = list(range(n_rows))
        if series == STRICT:
            ties = _tiny_table([[*range(ell), *[ell] * (2 * ell)]], 2)
            return {"risk": ell * _largest_belief("mondrian-strict:cuts=1,choose=widest", ties, ell, 1)}
        if series == GREEDY:
            return {"risk": ell * _largest_belief("greedy-grouping", _tiny_table([first], 2), ell, 1)}
        columns = [first] if series == ONE else [first, _mirror(n_rows, ell)]
        return {"risk": ell * _largest_belief(once, _tiny_table(columns, 2), ell, 1)}

    for ell in (2, 3, 4, 6):
        for series in (ONE, TWO, STRICT, GREEDY):
            yield bench.row({"l": ell, "series": series, "repetition": 0}, partial(measure, series, ell))


def _even_bound(series: str, found: Results) -> Found:
    """Whether risks stay within 1/(l - 1/2)."""
    risks = found.means("l", "risk", series)
    if not risks:
        return Found(None, f"{series} not measured")
    told = ", ".join(f"{format_figure(risk / ell)} at l = {ell}" for ell, risk in sorted(risks.items()))
    return Found(all(risk <= ell / (ell - 0.5) + 1e-9 for ell, risk in risks.items()), f"{series}: probability {told}")


def _is_above_bound(series: str, found: Results) -> Found:
    within = _even_bound(series, found)
    risks = found.means("l", "risk", series)
    return Found(all_hold([r > ell / (ell - 0.5) for ell, r in risks.items()]), within.evidence)


def _greedy_is_worst(found: Results) -> Found:
    """Whether no other method exceeds what GG can reach at that l on any table."""
    failed, told = False, []
    for series in (ONE, TWO, STRICT):
        risks = found.means("l", "risk", series)
        failed |= any(risk > float(first_bucket_limit(ell)) + 1e-9 for ell, risk in risks.items())
        told.append(f"{series}: l times risk {' '.join(format_figure(risks[ell]) for ell in sorted(risks))}")
    ells = sorted(found.means("l", "risk", TWO))
    told.append("GG on any table at most " + " ".join(f"{float(first_bucket_limit(ell)):.3g}" for ell in ells))
    return Found(None if not ells else not failed, "; ".join(told))


def divide(data: Microdata, model: str, method: RandomGrouping, seed: int) -> tuple[Made, Grown, NDArray[np.int32]]:
    """RGG with its groups divided by values, as the paper has it: for study only, the method itself refuses to."""
    promises = settle([Promise(parse_model(model))], data)
    requirements = require(promises, data)
    rules, rng = Rules.of(data, requirements), Randomness(seed)
    grown = method.grow(data, rules, rng)
    parts, n_parts = divide_by_values(
        data, requirements, rules, grown.group_of_record(), grown.n_groups, rng.child("anatomize"), silent
    )
    release, _ = publish_buckets(data, parts, n_parts, rng)
    audit = pipeline.verify(data, release, promises, graph=None, adversary=READS_RELEASE)
    if not audit.passed:
        raise AuditFailed(f"Divided groups of {method} under {model} do not pass their audit.\n{audit}")
    return Made(data, promises, method, release, audit, float("nan")), grown, parts


def risk_of_parts(data: Microdata, grown: Grown, parts: NDArray[np.int32], code: int, ell: int, again: float) -> Row:
    """The largest probability times l in divided groups of 2 to 5 buckets, exactly; the paper's attacker, who knows
    the order, which records formed a group, and the parts."""
    risk, above, attacked, certain = 0.0, 0, 0, 0
    for group in range(grown.n_groups - 1):
        members = grown.order[grown.starts[group] : grown.starts[group + 1]]
        buckets = len(members) // ell
        if not 2 <= buckets <= _MOST_BUCKETS:
            continue
        part_of_place = parts[members]
        named = np.unique(part_of_place)
        places = [np.flatnonzero(part_of_place == part) for part in named]
        held = [int((data.sensitive[members[some], 0] == code).sum()) for some in places]
        beliefs = divided_beliefs(ell, again, np.arange(len(members)) // ell, places, held)
        if beliefs is None:
            continue
        attacked += len(members)
        risk = max(risk, ell * float(beliefs.max()))
        above += int((ell * beliefs > math.e).sum())
        certain += int((beliefs > 1 - 1e-9).sum())
    return {"risk": risk, "above_e": 100 * above / max(attacked, 1), "certain": certain, "records_attacked": attacked}


def _measure_divided(bench: Bench) -> Iterator[Row]:
    data = table(bench)

    def measure(series: str, p: str, repetition: int) -> Row:
        method = RandomGrouping(p=p, recode="permute")
        _, grown, parts = divide(data, binary(data, series), method, bench.seed_of(repetition))
        return risk_of_parts(data, grown, parts, positive(data, series)[0], ELL, float(p))

    for p in ("0", SAFE):
        for series in POSITIVES:
            for repetition in repetitions(bench)[:2]:
                at = {"p": float(p), "series": series, "repetition": repetition}
                yield bench.row(at, partial(measure, series, p, repetition))


def _simple(bench: Bench) -> Iterator[Row]:
    """GG under simple l-diversity, all values at once: sampled."""
    tables = {"ADULT": table(bench), "CENSUS": bench.datasets.census(min(10_000, bench.size.rows), QUASI)}
    ells = {"ADULT": range(2, 6), "CENSUS": range(2, 11)}

    def measure(name: str, ell: int, repetition: int) -> Row:
        made = bench.publish(tables[name], f"l-diversity:{ell}", "greedy-grouping:recode=permute", repetition)
        return risk_by_sampling(made, ell, bench.seed_of(repetition), 500, 10_000)

    for name, some in ells.items():
        for ell in some if bench.is_full else some[:: 2 if name == "ADULT" else 4]:
            yield bench.row({"l": ell, "series": name, "repetition": 0}, partial(measure, name, ell, 0))


def _test(check: Any, *series: str) -> Any:
    return every(*(partial(check, one) for one in series))


LIMITS = Experiment(
    title="what the first bucket reveals, by arithmetic",
    setting=f"GG in groups of ever more buckets, and RGG with p = {SAFE} in groups of two buckets; l = 2 to 10.",
    figures=(Figure("ma-exact", "l", "risk", "l", "risk in the first bucket times l"),),
    measure=_limits,
    claims=(
        Claim(
            "4.2",
            "The risk in the first bucket approaches e/l as groups get more buckets.",
            _near_e,
            judged="for some l of the experiments the limit is within 1 % of e/l",
            why="The limit for many buckets is (l/(l-1))^(l-1), which approaches e only as l grows too.",
        ),
        Claim(
            "4.3, theorem 7",
            "The probability in the first bucket of RGG is above 1/l for every group.",
            some_rows(lambda risks: min(risks) > 1, "risk", FULL_PAIR, HALF_PAIR),
            why="A group of two buckets with one positive must have grown by the coin, so that its buckets are alike "
            "and hold 1/(2 l).",
        ),
    ),
    differs="All figures are exact.",
)

MONDRIAN = Experiment(
    title="Mondrian on tiny tables",
    setting="Binary l-diversity with two positives; 4 l - 1 records without ties in one or two columns, and for strict "
    "cuts l different records followed by 2 l equal ones. All possible tables are enumerated.",
    figures=(Figure("ma-mondrian", "l", "risk", "l", "largest risk times l"),),
    measure=_mondrian,
    claims=(
        Claim(
            "3.2; contributions; 6",
            "Relaxed Mondrian is effectively immune: no probability above 1/(l - 1/2).",
            _test(_even_bound, ONE, TWO),
            why="The bound is for one refused cut. Where a second column is tried after a refusal, both refusals "
            "together can leave one possibility.",
        ),
        Claim(
            "3.2; 6",
            "Strict or relaxed cuts decide whether Mondrian can be attacked.",
            every(partial(_is_above_bound, STRICT), partial(_even_bound, ONE), partial(_even_bound, TWO)),
            judged="strict cuts exceed 1/(l - 1/2), relaxed cuts never do",
            why="It holds while only one column is cut. Where a second one is tried, relaxed cuts reveal values with "
            "certainty at every l, strict ones at l = 2 only.",
        ),
        Claim(
            "3.2, theorem 5; abstract",
            "An algorithm that only splits groups evenly is not vulnerable, however it looks for its groups.",
            _test(_even_bound, ONE, TWO),
            judged="no probability above 1/(l - 1/2), the bound of theorem 5",
            why="The proof looks at one refused split per group. An algorithm that may split a group in two ways "
            "refuses both, and what both rule out can leave one possibility.",
        ),
        Claim(
            "1",
            "GG is the most vulnerable method known; others are expected to be less so.",
            _greedy_is_worst,
            judged="no other method exceeds what GG can reach at that l",
            why="Two refused cuts of relaxed Mondrian reveal values with certainty at every l, and GG never more than "
            "e/l.",
        ),
    ),
    differs="The paper reports no such measurement. Relaxed Mondrian here cuts the widest column at its median and "
    "tries the other column before it gives up, as the method's authors do.",
)

DIVIDED = Experiment(
    title="risk of groups that Anatomy divides",
    setting=f"Binary 6-diversity of one occupation; GG(Ana) is p = 0, RGG(Ana) p = {SAFE}.",
    figures=(Figure("ma-divided", "p", "risk", "p", "largest risk times l"),),
    measure=_measure_divided,
    claims=(
        Claim(
            "3.1, 4.3, 5.3",
            "Groups of GG and RGG can be divided by Anatomy without harm to privacy.",
            at_most("risk", math.e, *POSITIVES),
            judged="no probability above e/l, the limit for undivided groups",
            why="The first bucket of a group of two holds both positives; a part with a single record of that bucket "
            "and one positive reveals it. Parts are drawn at random, so this happens on every table.",
        ),
    ),
    differs=f"{WITHOUT_ADULT}The paper claims this without a measurement. Groups of 2 to {_MOST_BUCKETS} buckets are "
    "attacked, exactly, for an attacker who knows which records formed a group.",
)

SIMPLE = Experiment(
    title="minimality attack on GG under simple l-diversity",
    setting="All occupations are protected at once; ADULT for l = 2 to 5 and 10,000 records of CENSUS for l = 2 to 10.",
    figures=(Figure("ma-simple", "l", "risk", "l", "largest risk times l"),),
    measure=_simple,
    claims=(
        Claim(
            "4.2",
            "The limit e/l also holds in experiments with simple l-diversity.",
            at_most("risk_for_sure", math.e, "ADULT", "CENSUS"),
            limits="Large groups, for which hardly any random assignment is accepted, are left out.",
            fails=Verdict.AGAINST,
            why="A sampled probability exceeds e/l by more than three standard errors.",
        ),
    ),
    differs=f"{WITHOUT_ADULT}The paper shows no figure for it. Probabilities are sampled from 500 accepted assignments "
    "per group, and three standard errors are taken off before they are compared with e/l. On ADULT larger l leave "
    "almost no groups.",
)
