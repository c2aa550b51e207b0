"""Minimality attacks and methods that resist them (MA).

Greedy grouping (GG), random grouping (RGG) and symmetric grouping (SG) of records sorted by quasi-identifiers,
published as two tables. The positive value is one occupation at a time; the stand-ins for Tech-Support and Craft-Repair
are named by their shares. Errors of counts are in `ma_queries`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lookalike.apps.papers.bench import Bench, Made
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.attacks.minimality.exact import first_bucket_limit
from lookalike.data.microdata import Microdata
from lookalike.metrics.query_error import SubsetWorkload

QUASI = ("age", "workclass", "education", "marital", "race", "gender")
_SHARES = {"rare (about 3 %)": 0.031, "most frequent": 1.0}
"""Positive values: those whose shares are nearest to these."""
RARE, FREQUENT = _SHARES
ELL = 6
_ROWS = 45_222
_HAIR = 1e-9


def census(bench: Bench, rows: int | None = None) -> Microdata:
    return bench.datasets.census(min(_ROWS, rows or bench.size.most_rows // 2), QUASI)


def _positives(data: Microdata) -> dict[str, str]:
    """The positive value of each series."""
    shares = data.counts(0) / data.n_rows
    texts = data.domains.sensitive[0].texts
    return {series: texts[int(np.abs(shares - share).argmin())] for series, share in _SHARES.items()}


def _is_full(bench: Bench) -> bool:
    return bench.size.name == "full"


def _risk_by_l(bench: Bench) -> Iterator[Row]:
    """How many records GG leaves vulnerable and how high the risk is, exactly."""
    data = census(bench)
    for ell in range(2, 11) if _is_full(bench) else (2, 4, 6, 8, 10):
        for series, value in _positives(data).items():
            for repetition in bench.repetitions:
                model = f"l-diversity:{ell},kind=binary,subset={value}"
                made = bench.publish(data, model, "greedy-grouping:recode=permute", seed=repetition)
                yield {"l": ell, "series": series, "repetition": repetition, **_risk(made, repetition)}


def _risk(made: Made, seed: int) -> Row:
    figures = made.attack("minimality", seed).figures
    return {
        "vulnerable": 100 * figures["vulnerable_share"],
        "risk": figures["risk_times_l"],
        "standard_error": figures["standard_error"],
        "groups": figures["groups"],
        "groups_sampled": figures["groups_sampled"],
        "groups_left": figures["groups_left"],
        "group_size": made.metric("average_group_size"),
    }


def _risk_by_t(bench: Bench) -> Iterator[Row]:
    """The same under t-closeness, by sampling; distances as multiples of t."""
    data = census(bench, bench.size.rows // 4)
    for t in ("0.1", "0.2", "0.3", "0.4", "0.5") if _is_full(bench) else ("0.3", "0.4", "0.5"):
        for repetition in bench.repetitions:
            made = bench.publish(data, f"t-closeness:{t}", "greedy-grouping:recode=permute", seed=repetition)
            figures = made.attack("minimality", repetition).figures
            yield {
                "t": float(t),
                "series": "GG",
                "repetition": repetition,
                "vulnerable": 100 * figures["vulnerable_share"],
                "risk": figures["risk_times_t"],
                "groups": figures["groups"],
                "groups_left": figures["groups_left"],
                "group_size": made.metric("average_group_size"),
            }


def _by_coin(bench: Bench) -> Iterator[Row]:
    """RGG at l = 6: risk, group sizes and errors by the probability of growing on."""
    data = census(bench)
    asked = [bench.draw_queries(SubsetWorkload(3, 0.3), data, seed, n_queries(bench)) for seed in bench.repetitions]
    for p in ("0", "0.2", "0.4", "0.6", "0.65"):
        for series, value in _positives(data).items():
            for repetition in bench.repetitions:
                model = f"l-diversity:{ELL},kind=binary,subset={value}"
                made = bench.publish(data, model, f"random-grouping:p={p},recode=permute", seed=repetition)
                error = bench.error(asked[repetition], made)
                yield {
                    "p": float(p),
                    "series": series,
                    "repetition": repetition,
                    **_risk(made, repetition),
                    "error": 100 * error.mean,
                    "dropped": error.n_dropped,
                }


def n_queries(bench: Bench) -> int:
    return min(1000, bench.size.queries)


def _within_limits(found: Results) -> bool:
    """2 <= l x risk <= (l / (l - 1))^(l - 1) wherever a record is vulnerable at all; what is sampled may be noisy."""
    told = [row for row in found.rows if row["vulnerable"] > 0]
    return bool(told) and all(
        row["risk"] + _HAIR >= 2
        and row["risk"] <= float(first_bucket_limit(row["l"])) + 3 * row["standard_error"] + _HAIR
        for row in told
    )


def _mostly_below(percent: float) -> Callable[[Results], bool]:
    def test(found: Results) -> bool:
        shares = [share for series in found.series for share in found.means("l", "vulnerable", series).values()]
        return bool(shares) and sum(share < percent for share in shares) > len(shares) / 2

    return test


def _at_most(y: str, most: float) -> Callable[[Results], bool]:
    return lambda found: bool(found.rows) and all(row[y] <= most for row in found.rows)


def in_all(test: Callable[[Results, str], bool], series: Sequence[str]) -> Callable[[Results], bool]:
    return lambda found: all(test(found, one) for one in series)


def _is_safe_at(p: float, series: Sequence[str]) -> Callable[[Results], bool]:
    """No record is vulnerable."""

    def test(found: Results) -> bool:
        shares = [found.means("p", "vulnerable", one).get(p) for one in series]
        return all(share == 0 for share in shares)

    return test


def _grows_little(y: str, factor: float) -> Callable[[Results], bool]:
    def little(found: Results, series: str) -> bool:
        means = found.means("p", y, series)
        return bool(means) and means[max(means)] <= factor * means[min(means)]

    return in_all(little, (RARE, FREQUENT))


DATA = (
    "ADULT is not at hand: CENSUS instead, with the same six quasi-identifiers. Its occupations are 50 and not 14; the "
    "positive values are the one nearest to 3.1 % for Tech-Support and the most frequent, about 7.5 %, for "
    "Craft-Repair, which has 13 %. "
)
_KINDS = "Records with equal quasi-identifiers stand in an order that nobody knows, so they share one belief. "
AXES = "The values on the axes are not in the paper's text; these are ours. "


EXPERIMENTS = (
    Experiment(
        paper="MA",
        title="minimality attack on GG by l",
        setting="binary l-diversity of one positive value, l = 2 to 10, sorted by quasi-identifiers",
        reports="Mostly below 10 % of the records are vulnerable, rising with l; l times the risk lies between 2 and "
        "e; at l = 6 it is 2.52 and 2.70.",
        figures=(
            Figure("ma-3a", "l", "vulnerable", "l", "vulnerable records, %"),
            Figure("ma-3b", "l", "risk", "l", "largest risk times l"),
        ),
        measure=_risk_by_l,
        shapes=(
            Shape("mostly below 10 % of the records are vulnerable", _mostly_below(10)),
            Shape(
                "the vulnerable records rise with l",
                in_all(lambda found, one: found.rises("l", "vulnerable", one, 0.1), (RARE, FREQUENT)),
            ),
            Shape("l times the largest risk lies between 2 and (l/(l-1))^(l-1)", _within_limits),
        ),
        differs=DATA
        + AXES
        + _KINDS
        + "Risks are exact; the paper's 2.52 and 2.70 are sampled and exceed what is possible at l = 6, 2.4883.",
    ),
    Experiment(
        paper="MA",
        title="minimality attack on GG by t",
        setting="t-closeness of occupations by equal distance, t = 0.1 to 0.5 (0.3 to 0.5 in a quick run)",
        reports="About 2 % of the records at most are vulnerable, more as t falls; distances are at most 2 t.",
        figures=(
            Figure("ma-3c", "t", "vulnerable", "t", "vulnerable records, %"),
            Figure("ma-3d", "t", "risk", "t", "largest distance over t"),
        ),
        measure=_risk_by_t,
        shapes=(
            Shape("about 2 % of the records at most are vulnerable", _at_most("vulnerable", 2.5)),
            Shape("vulnerable records rise as t falls", lambda found: found.falls("t", "vulnerable", "GG", 0.1)),
            Shape("distances are at most 2 t", _at_most("risk", 2.0)),
        ),
        differs=DATA
        + AXES
        + "Groups grow by one record. Beliefs are sampled: three standard errors of 50 values are taken off a distance "
        "before a record counts as vulnerable, so that twice as many count with six times the samples. In either case "
        "fewer count as t falls: groups are larger, and only a few places of each stand out. The largest distance is "
        "slightly above 2 t for t = 0.3 however much is sampled; below that noise adds to it. Fewer records than in "
        "the paper, as sampling is slow.",
    ),
    Experiment(
        paper="MA",
        title="RGG by the probability of growing on",
        setting="binary 6-diversity of one positive value; counts of random subsets of up to 0.3 of the values of "
        "three quasi-identifiers",
        reports="Vulnerable records fall quickly, none at p = 0.6 (Tech-Support) and 0.65 (both); the risk at p = 0.6 "
        "is 1.37/l. Group sizes and errors rise little.",
        figures=(
            Figure("ma-4a", "p", "vulnerable", "p", "vulnerable records, %"),
            Figure("ma-4b", "p", "risk", "p", "largest risk times l"),
            Figure("ma-4c", "p", "group_size", "p", "average group size"),
            Figure("ma-4d", "p", "error", "p", "mean relative error, %"),
        ),
        measure=_by_coin,
        shapes=(
            Shape(
                "vulnerable records fall as p grows",
                in_all(lambda found, one: found.falls("p", "vulnerable", one, 0.1), (RARE, FREQUENT)),
            ),
            Shape(
                "the largest risk falls as p grows",
                in_all(lambda found, one: found.falls("p", "risk", one, 0.1), (RARE, FREQUENT)),
            ),
            Shape("nobody is vulnerable at p = 0.6, rare value", _is_safe_at(0.6, (RARE,))),
            Shape("nobody is vulnerable at p = 0.65", _is_safe_at(0.65, (RARE, FREQUENT))),
            Shape("groups at p = 0.65 are at most 3 times as large as at p = 0", _grows_little("group_size", 3)),
            Shape("errors at p = 0.65 are at most half larger than at p = 0", _grows_little("error", 1.5)),
        ),
        differs=DATA
        + _KINDS
        + "Any group with as many positives as it may have keeps a risk of 1.109/l or more at p = 0.65, so that nobody "
        "is safe as a rule; the paper sampled. Extra buckets are p/(1-p) on average, 1.86 at 0.65, and not 1/(1-p). "
        "Rising little is read as up to 3 times for sizes and by half for errors. On CENSUS slightly more records are "
        "vulnerable at p = 0.2 than at 0: growing on joins buckets that were safe by themselves.",
    ),
)
