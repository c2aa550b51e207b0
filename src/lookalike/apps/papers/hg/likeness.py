"""HG, figures 6 and 7: what beta-likeness loses and how long it takes; and the abstract's figure for utility."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from lookalike.apps.papers.claims import (
    Claim,
    Found,
    Test,
    Verdict,
    all_hold,
    below,
    every,
    falls,
    on_each,
    quicker,
    rises,
)
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Results
from lookalike.apps.papers.hg.advantages import gain_goes, takes_at_most
from lookalike.apps.papers.hg.diversity import GAIN
from lookalike.apps.papers.hg.methods import (
    AS_PROGRAMMED,
    BETAS,
    BUREL,
    BY_BUREL,
    BY_CURVES,
    CURVES,
    DIVERSE,
    DOMAINS,
    IN_ORDER,
    L_DEFAULT,
    LIKE,
    NAMES,
    NH,
    OURS,
    REBUILT,
    RING,
    SCALE,
    SPLIT,
    TABLE_10,
    THREE,
    UNSAFE,
    in_parts,
    losses,
    model_of_beta,
    model_of_l,
    on,
    table_of,
)
from lookalike.apps.papers.hg.readings import falls_by, gains, grows_no_faster, largest, more_at, whichever
from lookalike.apps.papers.hg.scaling import L_OF_SKEW, ZIPF
from lookalike.apps.papers.journal import Row

_SIZES, _PARTED = (1_000, 2_000, 5_000, 10_000, 20_000), (50_000, 100_000)
_BETA, _PART, _TIMED = 3, 70, 3
_SAME = (
    "The three methods are as their paper says and BuReL as its authors' program has it, on the authors' own records."
)
_SLIGHT = (
    "What counts as slight is our reading, and the gap here is hardly above it. At beta = 3 the authors' own GR loses "
    "34 % more than HG on Uniform and 21 % more on Zipf (benchmarks/published.py)."
)
_FILLED = {"at random": "HG", "in order": IN_ORDER}
_THEIRS = (
    "The authors' own HG loses 22 % less than their BuReL, which keeps the enhanced bound (benchmarks/published.py)."
)
_UNKNOWN_SCALE = "It depends on the scale of BuReL's curve, which is not printed."
_GAINS_OF_THEIRS = (
    " By the losses of the authors' own programs the ratio goes up and down: 1.28 1.37 1.21 1.38 1.20 "
    "(benchmarks/published.py)."
)
_BOUND = (
    "All keep the basic bound, as the paper defines it; BuReL was built for the stricter enhanced one, which is drawn "
    "beside it. " + SPLIT + SCALE
)


def _on_each_curve(build: Callable[[str], Test]) -> Test:
    """What holds with either scale of BuReL's curve."""
    return on_each({scale: build(burel) for scale, burel in CURVES.items()})


def _all_fall(y: str, burel: str) -> Test:
    return falls("beta", y, *THREE, burel, slack=0.03)


def _gain_falls(y: str, burel: str) -> Test:
    return gain_goes(-1, "beta", y, burel, "HG")


def _by_beta(bench: Bench) -> Iterator[Row]:
    repetitions = min(2, bench.size.matched_repetitions)
    for letter in NAMES:
        data = table_of(bench, letter)
        settings = [(beta, data, model_of_beta(beta)) for beta in BETAS]
        yield from losses(bench, "beta", settings, {**LIKE, **BY_CURVES}, repetitions, letter)
        strict = [(beta, data, f"beta-likeness:{beta}") for beta in BETAS]
        yield from losses(bench, "beta", strict, {"BuReL (enhanced bound)": BUREL}, repetitions, letter)
        yield from losses(bench, "beta", settings, AS_PROGRAMMED, 1, letter)
    beside = [(beta, table_of(bench, "a"), model_of_beta(beta)) for beta in (3, 5)]
    yield from losses(bench, "beta", beside, OURS, 1, "a")


def _by_rows(bench: Bench) -> Iterator[Row]:
    most, model = min(bench.most_rows, bench.datasets.n_census), model_of_beta(_BETA)
    tables = {size: bench.datasets.census_subset(size, sizes=TABLE_10) for size in (*_SIZES, *_PARTED) if size <= most}
    whole = [(size, data, model) for size, data in tables.items() if size in _SIZES]
    yield from losses(bench, "rows", whole, LIKE, _TIMED)
    every_size = [(size, data, model) for size, data in tables.items()]
    yield from losses(bench, "rows", every_size, BY_CURVES, _TIMED)
    yield from losses(bench, "rows", every_size[3:], in_parts({"HG": LIKE["HG"]}, _PART), _TIMED)


def _by_skew(bench: Bench) -> Iterator[Row]:
    rows = bench.size.rows
    settings = [(skew, bench.datasets.zipf(skew, rows, sizes=TABLE_10), model_of_beta(_BETA)) for skew in ZIPF]
    yield from losses(bench, "zipf", settings, {**LIKE, **BY_CURVES}, min(2, bench.size.matched_repetitions))
    yield from losses(bench, "zipf", settings[:1], AS_PROGRAMMED, 1)


def _headline(bench: Bench) -> Iterator[Row]:
    """The losses behind the abstract's figure: every table with the printed defaults, and the most skewed one, on which
    figure 4c has its largest gain; HG beside the older method."""
    place = 0
    repetitions = min(2, bench.size.matched_repetitions)
    for letter in NAMES:
        data = table_of(bench, letter)
        place += 1
        yield from losses(
            bench, "setting", [(place, data, model_of_l(L_DEFAULT))], {"HG": DIVERSE["HG"], **RING}, repetitions
        )
        for beta in (1, _BETA, 5):
            place += 1
            settings = [(place, data, model_of_beta(beta))]
            yield from losses(bench, "setting", settings, {"HG": LIKE["HG"], **BY_BUREL}, repetitions)
    skewed = [(place + 1, bench.datasets.zipf(ZIPF[-1], bench.size.rows, sizes=TABLE_10), model_of_l(L_OF_SKEW))]
    yield from losses(bench, "setting", skewed, {"HG": DIVERSE["HG"], **RING}, repetitions)


def _less_loss_with_fewer_matches(*series: str) -> Test:
    """Over all beta of a table, a release with fewer matches per row loses no more; 1 % back is allowed."""

    def test(found: Results) -> Found:
        verdicts, said = [], []
        for one in series:
            matches, gcp = found.means("beta", on("a", "matches"), one), found.means("beta", on("a"), one)
            pairs = sorted((matches[at], gcp[at]) for at in gcp)
            goes = [low <= 1.01 * high for (_, low), (_, high) in pairwise(pairs)]
            verdicts.append(all_hold(goes))
            said.append(f"{one} {', '.join(f'{loss:.3g} ({number:g})' for number, loss in pairs)}")
        return Found(all_hold(verdicts), "loss (matches): " + "; ".join(said))

    return test


_EXPERIMENT_6 = Experiment(
    title="loss by beta",
    setting="CENSUS, Uniform and Zipf 0.5, 10,000 records, seven quasi-identifiers, beta = 1 to 5, basic bound.",
    figures=tuple(
        Figure(f"hg-6{letter}", "beta", on(letter), "beta", f"GCP, {name}") for letter, name in NAMES.items()
    ),
    measure=_by_beta,
    claims=(
        *(
            Claim(
                where=f"5.2, figure 6{letter}",
                says=f"On {name} all methods lose less as beta grows.",
                test=_on_each_curve(partial(_all_fall, on(letter))),
                judged="each of GR, SG, HG and BuReL by itself; steps of up to 3 % the other way are allowed",
                fails=Verdict.OPEN,
                why=_UNKNOWN_SCALE,
            )
            for letter, name in NAMES.items()
        ),
        *(
            Claim(
                where=f"1, 5.2 and 7, figure 6{letter}",
                says=f"On {name} HG loses less than BuReL for every beta.",
                test=_on_each_curve(partial(below, "beta", on(letter), "HG")),
                fails=Verdict.OPEN,
                why=_UNKNOWN_SCALE,
            )
            for letter, name in NAMES.items()
        ),
        *(
            Claim(
                where=f"5.2, figure 6{letter}",
                says=f"On {name} SG and GR follow HG with a slight gap.",
                test=every(*(gains("beta", on(letter), one, "HG", 1.0, 1.15) for one in ("SG", "GR"))),
                judged="each loses between 1 and 1.15 times what HG loses, at every beta",
                fails=Verdict.OPEN,
                why=_SLIGHT,
            )
            for letter, name in NAMES.items()
        ),
        *(
            Claim(
                where=f"5.2, figure 6{letter}",
                says=f"On {name} HG gains more over BuReL for smaller beta.",
                test=_on_each_curve(partial(_gain_falls, on(letter))),
                judged="the loss of BuReL minus HG's, and over HG's, falls with beta: its ends, and a rank correlation "
                "of -0.5 or less; open where the two disagree",
                fails=Verdict.OPEN,
                why=_UNKNOWN_SCALE + (_GAINS_OF_THEIRS if letter == "a" else ""),
            )
            for letter, name in NAMES.items()
        ),
        Claim(
            where="5.2, figure 6",
            says="The gain is more evident on CENSUS and Zipf than on Uniform.",
            test=_on_each_curve(
                lambda burel: every(
                    more_at("beta", _BETA, burel, "HG", (on("a"), on("c")), on("b")),
                    more_at("beta", _BETA, burel, "HG", (on("a"), on("c")), on("b"), relative=False),
                )
            ),
            judged="as a ratio and as a difference of losses at beta = 3",
            fails=Verdict.OPEN,
            why=_UNKNOWN_SCALE + " By the losses of the authors' own programs at beta = 3 the ratio is largest on "
            "Uniform: 1.41, against 1.21 on CENSUS and 1.29 on Zipf (benchmarks/published.py).",
        ),
        Claim(
            where="4.2 and 4.3",
            says="Fewer buckets, so fewer matches per row, mean less loss.",
            test=_less_loss_with_fewer_matches(*THREE),
            judged="on CENSUS over the five beta; steps of up to 1 % the other way are allowed",
            why=_SAME,
        ),
    ),
    differs=UNSAFE + DOMAINS + _BOUND + "Buckets are filled in rising order of counts, as the authors' program does; "
    "the text has the falling order. Which records of a value fill a bucket is random, as the text says. The authors' "
    "program takes them in the order of their quasi-identifiers, which loses up to 17 % more: that series comes within "
    "5 % of the program's losses on CENSUS and Uniform, and is 16 % below it on Zipf 0.5 (benchmarks/published.py). "
    "Dummies are copies of random records; the paper does not say what their quasi-identifiers are.",
)

_EXPERIMENT_7A = Experiment(
    title="loss and time by number of records, beta = 3",
    setting="Random subsets of CENSUS, seven quasi-identifiers, beta = 3, basic bound.",
    figures=(
        Figure("hg-7a", "rows", "gcp", "records", "GCP", log_x=True),
        Figure("hg-7b", "rows", "seconds", "records", "CPU seconds", log_x=True, log_y=True),
    ),
    measure=_by_rows,
    claims=(
        Claim(
            where="5.2, figure 7a",
            says="The gap between the three methods and BuReL grows with the number of records.",
            test=_on_each_curve(lambda burel: gain_goes(1, "rows", "gcp", burel, *THREE)),
            judged=f"the loss of BuReL {GAIN}",
            limits="Whole tables to 20,000 records; which sizes the paper drew is not legible.",
            fails=Verdict.OPEN,
            why=f"{_UNKNOWN_SCALE} The paper's sizes are not legible, and above 20,000 records the whole table takes "
            "too long here.",
        ),
        Claim(
            where="5.2, figure 7b",
            says="The three methods take longer than BuReL.",
            test=every(*(quicker("rows", "BuReL", one) for one in THREE)),
            why="Times of our programs.",
        ),
        Claim(
            where="abstract and 1",
            says="The time that the methods take on top is small (beta-likeness).",
            test=takes_at_most("rows", THREE, "BuReL", 2),
            judged="at most twice BuReL's time at every size",
            why="The matching grows with the square of the records at least, BuReL's sorting does not, whatever the "
            "data. The authors' own programs differ by a factor of 30 (benchmarks/published.py).",
        ),
        Claim(
            where="5.2",
            says="In parts the methods scale to large tables with beta-likeness too.",
            test=grows_no_faster("rows", "HGp", 1.1),
            judged="the time of HG in parts grows with at most the power 1.1 of the records",
            limits="Measured to 100,000 records.",
            fails=Verdict.OPEN,
            why="Parts for beta-likeness are in neither the text nor the authors' figures; the sizes are ours.",
        ),
    ),
    differs=UNSAFE + DOMAINS + _BOUND + "Times are CPU seconds; the paper's are wall seconds on 24 cores. Above 20,000 "
    "records only BuReL and HG in parts of 70 slots are measured.",
)

_EXPERIMENT_7C = Experiment(
    title="loss by skew, beta = 3",
    setting="Zipf 0.5 to 0.9, 10,000 records, seven quasi-identifiers, beta = 3, basic bound.",
    figures=(Figure("hg-7c", "zipf", "gcp", "exponent", "GCP"),),
    measure=_by_skew,
    claims=(
        Claim(
            where="5.2, figure 7c",
            says="More skew means more loss.",
            test=_on_each_curve(lambda burel: rises("zipf", "gcp", *THREE, burel, slack=0.05)),
            judged="each of GR, SG, HG and BuReL; steps of up to 5 % the other way are allowed",
            fails=Verdict.OPEN,
            why=_UNKNOWN_SCALE,
        ),
        Claim(
            where="5.2, figure 7c",
            says="HG loses less than BuReL at every skew.",
            test=_on_each_curve(lambda burel: below("zipf", "gcp", "HG", burel)),
            fails=Verdict.OPEN,
            why=_UNKNOWN_SCALE,
        ),
        Claim(
            where="5.2, figure 7c",
            says="At 0.5 HG has 33 % more utility than BuReL.",
            test=whichever(
                {
                    f"buckets filled {filled}, {scale}": falls_by("zipf", "gcp", one, burel, 0.5, 28, 38)
                    for filled, one in _FILLED.items()
                    for scale, burel in CURVES.items()
                }
            ),
            judged="a loss 28 to 38 % below BuReL's",
            limits=_THEIRS,
            why="The text fills buckets with records at random, the authors' program in the order of their "
            f"quasi-identifiers. {_UNKNOWN_SCALE} {_THEIRS}",
        ),
    ),
    differs=UNSAFE + DOMAINS + _BOUND + "Exponents 0.6 to 0.8 are drawn on the same records as the authors' 0.5 and "
    "0.9.",
)

_EXPERIMENT_ABSTRACT = Experiment(
    title="the abstract's figure for utility",
    setting="The three tables with l = 10 and with beta = 1, 3 and 5, and Zipf 0.9 with l = 5; HG beside NH (l) and "
    "beside BuReL (beta).",
    figures=(
        Figure(
            "hg-abstract",
            "setting",
            "gcp",
            "setting: CENSUS 1 to 4, Uniform 5 to 8, Zipf 0.5 9 to 12, Zipf 0.9 13",
            "GCP",
        ),
    ),
    measure=_headline,
    claims=(
        Claim(
            where="abstract",
            says="The methods have up to 77 % more utility than others.",
            test=largest("setting", "gcp", ("HG",), (NH, "BuReL"), 72, 82, gain=True),
            judged="the largest share by which HG loses less is between 72 and 82 %",
            limits=REBUILT + " On Zipf 0.9 l is 5, not 10.",
            fails=Verdict.OPEN,
            why="No sentence of the evaluation gives this figure, and NH is our construction.",
        ),
    ),
    differs=UNSAFE + DOMAINS + SPLIT + "The paper does not say which setting the figure is from.",
)

EXPERIMENTS = (_EXPERIMENT_6, _EXPERIMENT_7A, _EXPERIMENT_7C, _EXPERIMENT_ABSTRACT)
