"""HG, figures 2 and 3: what l-diversity loses, by l and by number of columns."""

from __future__ import annotations

from collections.abc import Iterator

from lookalike.apps.papers.claims import Claim, Found, Verdict, describe, every, falls, ratio
from lookalike.apps.papers.datasets import QUASI
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Results
from lookalike.apps.papers.hg.advantages import below_exactly_from, gain_goes, loses_less
from lookalike.apps.papers.hg.methods import (
    DIVERSE,
    DOMAINS,
    FAR_APART,
    L_DEFAULT,
    NAMES,
    NH,
    REBUILT,
    RING,
    THREE,
    UNSAFE,
    WITH_THRESHOLD,
    losses,
    model_of_l,
    on,
    table_of,
)
from lookalike.apps.papers.hg.readings import (
    above_elsewhere,
    higher_ratio,
    more_at,
    no_more_at,
)
from lookalike.apps.papers.journal import Row

NH_OPEN = (
    "NH is our construction. For l = 10 it loses a third less than the authors' NH on CENSUS, as much on Uniform and a "
    "tenth more on Zipf (benchmarks/published.py)."
)
_NH_DECIDES = (
    "One l is enough against it. At l = 2 the authors' own NH loses less than HG, on each of the three tables "
    "(benchmarks/published.py; HG is their program on CENSUS and ours on the others)."
)
GAIN = (
    "minus theirs, and over theirs, rises: its ends, and a rank correlation of 0.5 or more; open where the two disagree"
)


def _repetitions(bench: Bench, letter: str) -> int:
    """Two on CENSUS, one on the others: the draw does not change the ranges, and losses hardly vary."""
    return min(2, bench.size.matched_repetitions) if letter == "a" else 1


def _by_l(bench: Bench) -> Iterator[Row]:
    for letter in NAMES:
        data = table_of(bench, letter)
        settings = [(ell, data, model_of_l(ell)) for ell in range(2, 11)]
        yield from losses(bench, "l", settings, {**DIVERSE, **RING}, _repetitions(bench, letter), letter)
    far = [(ell, table_of(bench, "a"), model_of_l(ell)) for ell in (5, L_DEFAULT)]
    yield from losses(bench, "l", far, WITH_THRESHOLD, _repetitions(bench, "a"), "a")
    beside = [(ell, table_of(bench, "a"), model_of_l(ell)) for ell in (2, 5, L_DEFAULT)]
    yield from losses(bench, "l", beside, {"groups (ours)": "groups:mode=strict"}, 1, "a")


def _by_columns(bench: Bench) -> Iterator[Row]:
    for letter in NAMES:
        settings = [
            (count + 1, table_of(bench, letter, QUASI[:count]), model_of_l(L_DEFAULT))
            for count in range(1, len(QUASI) + 1)
        ]
        yield from losses(bench, "columns", settings, {**DIVERSE, **RING}, _repetitions(bench, letter), letter)


def _largest_part_explains(found: Results) -> Found:
    return Found(None, describe(found, "l", on("a"), NH))


_EXPERIMENT_2 = Experiment(
    title="loss by l",
    setting="CENSUS (its first 10,000 records), Uniform and Zipf 0.5, seven quasi-identifiers, l = 2 to 10.",
    figures=tuple(Figure(f"hg-2{letter}", "l", on(letter), "l", f"GCP, {name}") for letter, name in NAMES.items()),
    measure=_by_l,
    claims=(
        *(
            Claim(
                where=f"5.1, figure 2{letter}",
                says=f"On {name} the gain over NH grows as l goes from 2 to 10.",
                test=gain_goes(1, "l", on(letter), NH, *THREE),
                judged=f"for each of the three, the loss of NH {GAIN}",
                limits=REBUILT,
                fails=Verdict.OPEN,
                why=NH_OPEN,
            )
            for letter, name in NAMES.items()
        ),
        *(
            Claim(
                where=f"1, 5.1 and 7, figure 2{letter}",
                says=f"On {name} all three methods lose less than NH.",
                test=loses_less("l", on(letter), THREE, NH),
                limits=REBUILT,
                why=_NH_DECIDES,
            )
            for letter, name in NAMES.items()
        ),
        Claim(
            where="5.1, figure 2",
            says="The gain is more visible on CENSUS and Zipf than on Uniform.",
            test=more_at("l", L_DEFAULT, NH, "HG", (on("a"), on("c")), on("b")),
            judged="by the ratio of losses at l = 10",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
        Claim(
            where="5.1, figure 2",
            says="NH loses up to 3.5 times as much as HG at l = 10 on CENSUS and Zipf.",
            test=higher_ratio("l", L_DEFAULT, NH, "HG", (on("a"), on("c")), 3.0, 4.0),
            judged="the larger of the two ratios is between 3.0 and 4.0",
            limits=REBUILT,
            fails=Verdict.AGAINST,
            why="The authors' own programs reach less than 3 on these two files (benchmarks/published.py).",
        ),
        Claim(
            where="5.1",
            says="NH's loss comes from the large parts that it merges.",
            test=_largest_part_explains,
            why="The paper measures no part, and our construction of NH has its own rules for merging, so the sizes of "
            "its parts would not decide.",
        ),
        Claim(
            where="3.1 and 5.1, figure 2",
            says="The threshold (tau) brings hardly any utility.",
            test=every(*(ratio("l", on("a"), t, one, 0.95, 1.05) for t, one in zip(FAR_APART, THREE, strict=True))),
            judged="within 5 % of the same method without it, on both sides",
            limits="The paper does not print its formula: ours takes the farthest bucket, if 0.3 away on average.",
            why="The paper does not print the formula of its threshold. With ours, and with that of the authors' own "
            "program at l = 10 (benchmarks/published.py), the loss falls by about a fifth or more.",
        ),
    ),
    differs=UNSAFE
    + DOMAINS
    + "`groups` is ours, beside them. Two repetitions on CENSUS, one on the others; the paper names no number.",
)

_EXPERIMENT_3 = Experiment(
    title="loss by number of columns",
    setting="The same tables, l = 10; d counts the quasi-identifiers and the sensitive column.",
    figures=tuple(
        Figure(f"hg-3{letter}", "columns", on(letter), "columns (d)", f"GCP, {name}") for letter, name in NAMES.items()
    ),
    measure=_by_columns,
    claims=(
        Claim(
            where="5.1, figure 3a",
            says="On CENSUS all three methods lose less than NH for all d.",
            test=loses_less("columns", on("a"), THREE, NH),
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN + " The paper's axis is not legible: d may start at more than 2.",
        ),
        Claim(
            where="5.1, figure 3c",
            says="On Zipf the three methods lose less than NH for d > 3, and only there.",
            test=below_exactly_from("columns", on("c"), THREE, NH, 4),
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
        Claim(
            where="5.1, figure 3b",
            says="On Uniform the three methods lose less than NH for d > 6, and only there.",
            test=below_exactly_from("columns", on("b"), THREE, NH, 7),
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
        Claim(
            where="5.1, figure 3a",
            says="On CENSUS the loss falls as d grows.",
            test=falls("columns", on("a"), *THREE, slack=0.05),
            judged="for the three methods, at every d; steps of up to 5 % the other way are allowed",
            limits="The order of the columns is ours.",
            fails=Verdict.OPEN,
            why="It falls from d = 4 on and rises before. At which d the paper's axis starts is not legible, and the "
            "order of the columns is ours.",
        ),
        *(
            Claim(
                where="5.1, figure 3",
                says=f"The methods resist the curse of dimensionality on {name}.",
                test=every(
                    *(no_more_at("columns", on(letter), one, 8, 4, 1.1) for one in THREE),
                ),
                judged="the loss at d = 8 is at most 1.1 times that at d = 4",
                fails=Verdict.OPEN,
                why="What counts as resisting is our reading. The loss grows, by less than a third from d = 4 to 8.",
            )
            for letter, name in NAMES.items()
        ),
        Claim(
            where="5.1, figure 3",
            says="NH suffers more and more as d grows.",
            test=every(*(gain_goes(1, "columns", on(letter), NH, "HG") for letter in NAMES)),
            judged=f"on each of the three tables, compared with HG: the loss of NH {GAIN}",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
        Claim(
            where="5.1, figure 3",
            says="NH cannot handle CENSUS, which is more complex than drawn values.",
            test=every(
                *(above_elsewhere("columns", NH, on("a"), on(letter), 4) for letter in "bc"),
            ),
            judged="a larger loss of NH on CENSUS than on Uniform and Zipf at every d from 4 on",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
    ),
    differs=UNSAFE + DOMAINS,
)

EXPERIMENTS = (_EXPERIMENT_2, _EXPERIMENT_3)
