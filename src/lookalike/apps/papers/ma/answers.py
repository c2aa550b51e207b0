"""What figure 5 of MA claims about errors, group sizes and privacy (MA)."""

from __future__ import annotations

import math
from collections.abc import Callable

from lookalike.apps.papers.claims import Claim, Found, Test, Verdict, every
from lookalike.apps.papers.experiments import Experiment, Figure, Results
from lookalike.apps.papers.ma.comparisons import goes_down, mean_drop, often_half, sizes, under, whole_groups
from lookalike.apps.papers.ma.data import AXES, ELL, POSITIVES, SAFE, TECH, WITHOUT_ADULT
from lookalike.apps.papers.ma.queries import ABOVE, ANATOMY, BASE, BELOW, LARGER_ELL, POINTS, answer_queries, name
from lookalike.apps.papers.ma.readings import at_most, readings

_ATTACKED = ("RGG", "SG", "RGG(Ana)")


def _counts_fall(axis: str) -> Test:
    return goes_down(axis, "count", BASE, slack=0.0)


def _privacy(found: Results) -> Found:
    """Whether RGG and Anatomy keep 1/l and SG 1/(l - 1/2) against someone who knows the method."""
    return every(
        at_most("risk", 1.0, *(name("RGG", value) for value in POSITIVES), ANATOMY),
        at_most("risk", ELL / (ELL - 0.5), *(name("SG", value) for value in POSITIVES)),
    )(found)


def _on_axes(make: Callable[[str], Test]) -> Test:
    return every(*(make(axis) for axis in POINTS))


def _plain(value: str) -> list[str]:
    return [name("RGG", value), name("SG", value), BASE, name("RGG(Ana)", value), name("SG(Ana)", value), ANATOMY]


def _list_correlated(value: str) -> list[str]:
    methods = [name("RGG", value), name("RGG(Ana)", value), BASE, ANATOMY]
    return [f"{one}, {kind}" for kind in (ABOVE, BELOW) for one in methods]


_ALL = "The paper does not say which values figure 5 protects. "
_OURS = "The values that figure 5 protects and those on its axes are ours."
_NOISE = _ALL + "The claim is open where the three readings disagree or errors differ by less than their noise."

CLAIMS = (
    Claim(
        "5.3, figures 5a, 5b",
        "RGG has smaller errors than SG in all experiments.",
        readings(lambda value: under(name("RGG", value), name("SG", value))),
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3, figures 5a, 5b",
        "RGG has smaller errors than Base in all experiments.",
        readings(lambda value: under(name("RGG", value), BASE)),
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3, figures 5a, 5b",
        "RGG(Ana) has smaller errors than SG(Ana).",
        readings(lambda value: under(name("RGG(Ana)", value), name("SG(Ana)", value))),
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3, figures 5a, 5b",
        "RGG(Ana) has smaller errors than Base(Ana).",
        readings(lambda value: under(name("RGG(Ana)", value), ANATOMY)),
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3, figure 5a",
        "Errors fall as more quasi-identifiers are asked about, for every method.",
        readings(lambda value: goes_down("qd", "error", *_plain(value))),
        judged="falls at every step, 5 % being noise",
        limits=_OURS,
        why="True counts shrink with each condition, and relative errors grow as they do. The paper does not say "
        "what it did with queries that nobody satisfies.",
    ),
    Claim(
        "5.3, figure 5b",
        "Errors fall as the selectivity grows, for every method.",
        readings(lambda value: goes_down("sel", "error", *_plain(value))),
        judged="falls at every step, 5 % being noise",
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3",
        "Errors fall because more quasi-identifiers and a larger selectivity leave fewer records.",
        every(_counts_fall("qd"), _counts_fall("sel")),
        judged="mean true counts fall along both axes",
        why="Larger subsets of values are satisfied by more records on any table, not by fewer.",
    ),
    Claim(
        "5.3, figures 5a, 5b",
        "Dividing groups by Anatomy lowers the errors of RGG, SG and Base.",
        readings(
            lambda value: every(
                under(name("RGG(Ana)", value), name("RGG", value)),
                under(name("SG(Ana)", value), name("SG", value)),
                under(ANATOMY, BASE),
            )
        ),
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3",
        "The improvement by dividing is substantial.",
        readings(
            lambda value: every(
                mean_drop(name("RGG(Ana)", value), name("RGG", value), 0.1),
                mean_drop(name("SG(Ana)", value), name("SG", value), 0.1),
                mean_drop(ANATOMY, BASE, 0.1),
            )
        ),
        judged="errors fall by at least 10 % on average, for each of the three",
        limits=_OURS,
        fails=Verdict.OPEN,
        why=_ALL + "What counts as substantial is our reading.",
    ),
    Claim(
        "5.3",
        "Undivided groups of SG are somewhat larger than those of RGG.",
        readings(
            lambda value: sizes(lambda halved, grown: 1 < halved / grown <= 1.5, name("SG", value), name("RGG", value))
        ),
        judged="larger, and by at most half",
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3",
        "Undivided groups of RGG are somewhat larger than l.",
        readings(lambda value: sizes(lambda grown: ELL < grown <= 2 * ELL, name("RGG", value))),
        judged="at most 2 l records on average",
        limits=_OURS,
        why="At p = 0.65 a group grows on by 1.86 buckets of l records on average, on any table.",
    ),
    Claim(
        "5.3",
        "Divided, groups of SG are slightly larger than those of Base and RGG.",
        readings(
            lambda value: sizes(
                lambda halved, grown: 1 < halved / grown <= 1.5, name("SG(Ana)", value), name("RGG(Ana)", value)
            )
        ),
        judged="larger, and by at most half",
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3",
        "Divided, groups of SG have fewer than 2 l records.",
        readings(lambda value: sizes(lambda halved: halved < 2 * ELL, name("SG(Ana)", value))),
        judged="on average",
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "5.3",
        "RGG with a safe p always has smaller errors than GG with groups for e l.",
        under(name("RGG", TECH), name("GG(el)", TECH)),
        limits=f"For Tech-Support only: Craft-Repair is too frequent for l = {LARGER_ELL}. RGG is not safe at this p "
        "(ma-4b), "
        "so the two do not offer the same privacy.",
        why=_NOISE,
    ),
    Claim(
        "5.3, figure 5c",
        "Errors of both kinds of correlated queries fall as more quasi-identifiers are asked about.",
        readings(lambda value: goes_down("qd", "correlated_error", *_list_correlated(value))),
        judged="falls at every step, 5 % being noise",
        limits=_OURS,
        why="True counts shrink with each condition, and relative errors grow as they do.",
    ),
    Claim(
        "5.3, figure 5d",
        "Errors of both kinds of correlated queries fall as the selectivity grows.",
        readings(lambda value: goes_down("sel", "correlated_error", *_list_correlated(value))),
        judged="falls at every step, 5 % being noise",
        limits=_OURS,
        fails=Verdict.OPEN,
        why=_ALL + "A tenth of 1,000 queries leaves much noise.",
    ),
    Claim(
        "5.3, figures 5c, 5d",
        "On correlated queries RGG often has half of the baseline's error.",
        readings(often_half),
        judged="at most 0.6 of it at half of the points, undivided and divided",
        limits=_OURS,
        fails=Verdict.OPEN,
        why=_ALL + "What counts as often is our reading.",
    ),
    Claim(
        "introduction; 5.3",
        "Grouping similar people is tangibly more useful than Anatomy alone, at equal privacy.",
        readings(
            lambda value: every(
                mean_drop(name("SG(Ana)", value), ANATOMY, 0.1), mean_drop(name("RGG(Ana)", value), ANATOMY, 0.1)
            )
        ),
        judged="errors of SG(Ana) and RGG(Ana) at least 10 % below those of Base(Ana) on average",
        limits=_OURS + " Privacy is about equal for SG only: RGG can be attacked (next claim).",
        why=_NOISE,
    ),
    Claim(
        "5.3",
        "All methods compared offer the same privacy, l-diversity against someone who knows the method.",
        _privacy,
        judged="probabilities at most 1/l, for SG 1/(l - 1/2)",
        why="Groups of RGG that are as full as they may be stay above 1/l at any p (ma-exact).",
    ),
    Claim(
        "5",
        "Publishing two tables answers counts better than generalisation does.",
        every(
            *(
                under(name(method, value), name(f"{method} generalised", value))
                for value in POSITIVES
                for method in ("RGG", "SG")
            )
        ),
        limits="For the groups of RGG and SG, with all values inside a generalised cell taken as equally likely.",
        why=_NOISE,
    ),
    Claim(
        "3.1, 5.3",
        "Queries take whole groups, or none of a group, more often with groups of similar people than with Anatomy.",
        readings(whole_groups),
        judged="a larger share of groups at every point, RGG(Ana) against Base(Ana)",
        limits=_OURS,
        why=_NOISE,
    ),
    Claim(
        "abstract; 6",
        "The certainty about any person stays low in practice.",
        at_most("risk", math.e, *(name(method, value) for value in POSITIVES for method in _ATTACKED), ANATOMY),
        judged="no probability above e/l in any release of figure 5",
        limits="Of divided groups those of up to 5 buckets are attacked. Divided groups of GG, which figure 5 does not "
        "have, reveal values with certainty (ma-divided).",
        why="A probability exceeds e/l.",
    ),
)

ANSWERS = Experiment(
    title="errors of counts",
    setting=f"Binary 6-diversity of Tech-Support, of Craft-Repair or of both; RGG with p = {SAFE}; counts of random "
    "subsets of "
    "up to sel of the values of qd quasi-identifiers and of occupation, 1,000 each; sel = 0.3 and qd = 3 where not "
    "varied.",
    figures=(
        Figure("ma-5a", "qd", "error", "quasi-identifiers asked about", "mean relative error, %"),
        Figure("ma-5b", "sel", "error", "selectivity", "mean relative error, %"),
        Figure("ma-5c", "qd", "correlated_error", "quasi-identifiers asked about", "mean relative error, %"),
        Figure("ma-5d", "sel", "correlated_error", "selectivity", "mean relative error, %"),
    ),
    measure=answer_queries,
    claims=CLAIMS,
    differs=f"{AXES}{WITHOUT_ADULT}{_ALL}Only binary diversity gives the group sizes that the text reports, so the "
    "paper's two values are protected one at a time and together. Base(Ana) is Anatomy for simple 6-diversity. "
    "RGG(Ana) is made for this study only: the method refuses to divide its groups. GG(el) is GG with l = "
    f"{LARGER_ELL}, which Craft-Repair does not allow. Predicates of no value at all are not drawn, and queries that "
    "nobody satisfies are drawn again. Correlated queries are the tenth of the same queries with the highest and the "
    "tenth with the lowest true count over what independence would give; the paper calls the former negative and the "
    "latter positive, against usage, so ours are named by their counts. Gaps between methods are means over the same "
    "queries; two standard errors of them are noise. Three repetitions at most.",
)
