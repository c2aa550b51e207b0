"""HG, figures 4 and 5: what l-diversity loses and how long it takes, by records, by size of parts and by skew."""

from __future__ import annotations

from collections.abc import Iterator

from lookalike.apps.papers.claims import Claim, Verdict, every, falls, quicker, ratio, rises, steady, takes_longer
from lookalike.apps.papers.experiments import Bench, Experiment, Figure
from lookalike.apps.papers.hg.advantages import gain_goes, loses_less, takes_at_most
from lookalike.apps.papers.hg.diversity import GAIN, NH_OPEN
from lookalike.apps.papers.hg.methods import (
    DIVERSE,
    DOMAINS,
    IN_PARTS,
    L_DEFAULT,
    NH,
    REBUILT,
    RING,
    TABLE_10,
    THREE,
    UNSAFE,
    WITH_THRESHOLD,
    in_parts,
    losses,
    model_of_l,
)
from lookalike.apps.papers.hg.readings import (
    better_in_equal_time,
    largest,
    no_more_at,
    ratio_of_ends,
    reaches_time,
    steady_times,
)
from lookalike.apps.papers.journal import Row

ZIPF = (0.5, 0.6, 0.7, 0.8, 0.9)
L_OF_SKEW = 5
_WHOLE, _PARTED = (1_000, 2_000, 5_000, 10_000, 20_000), (50_000, 100_000)
_LARGE_WHOLE = _WHOLE[-2:]
_PART, _PARTS = 100, (10, 20, 50, 100, 200, 500)
_LARGE_PARTS = (100, 200, 500)
_TIMED = 3
_TIMES = "Times are CPU seconds of one compiled language; the paper's are wall seconds of C++ and Java on 24 cores. "
_OF_PARTS = (
    "A part is so many slots of each bucket, as in the authors' program: l times as many records. The text speaks of "
    "parts that are run alone. "
)


def _by_rows(bench: Bench) -> Iterator[Row]:
    model = model_of_l(L_DEFAULT)
    most = bench.most_rows
    whole = [(size, bench.datasets.census(size, sizes=TABLE_10), model) for size in _WHOLE if size <= most]
    yield from losses(bench, "rows", whole, {**DIVERSE, **RING}, _TIMED)
    parted = [
        (size, bench.datasets.census(size, sizes=TABLE_10), model)
        for size in (*_WHOLE[2:], *_PARTED)
        if size <= min(most, bench.datasets.n_census)
    ]
    yield from losses(bench, "rows", parted, in_parts(DIVERSE, _PART), _TIMED)
    yield from losses(bench, "rows", [one for one in parted if one[0] in _PARTED], RING, _TIMED)
    threshold = [one for one in whole if one[0] == bench.size.rows] or whole[-1:]
    yield from losses(bench, "rows", threshold, WITH_THRESHOLD, _TIMED)


def _by_part(bench: Bench) -> Iterator[Row]:
    data = bench.datasets.census(min(bench.most_rows, bench.datasets.n_census), sizes=TABLE_10)
    for part in _PARTS:
        yield from losses(bench, "part", [(part, data, model_of_l(L_DEFAULT))], in_parts(DIVERSE, part), _TIMED)
    # NH has no parts of this kind: the same release at both ends of the axis.
    ends = [(part, data, model_of_l(L_DEFAULT)) for part in (_PARTS[0], _PARTS[-1])]
    yield from losses(bench, "part", ends, RING, _TIMED)


def _by_skew(bench: Bench) -> Iterator[Row]:
    rows = bench.size.rows
    settings = [(skew, bench.datasets.zipf(skew, rows, sizes=TABLE_10), model_of_l(L_OF_SKEW)) for skew in ZIPF]
    yield from losses(bench, "zipf", settings, {**DIVERSE, **RING}, _TIMED)


_EXPERIMENT_A = Experiment(
    title="loss and time by number of records, l = 10",
    setting="CENSUS, seven quasi-identifiers, l = 10; whole tables to 20,000 records, parts of 100 slots above.",
    figures=(
        Figure("hg-4a", "rows", "gcp", "records", "GCP", log_x=True),
        Figure("hg-5a", "rows", "seconds", "records", "CPU seconds", log_x=True, log_y=True),
    ),
    measure=_by_rows,
    claims=(
        Claim(
            where="5.1, figure 4a",
            says="From 1,000 to 500,000 records all three methods lose less than NH.",
            test=loses_less("rows", "gcp", (*THREE, *IN_PARTS), NH),
            limits=REBUILT + " Measured to 100,000 records.",
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
        Claim(
            where="5.1, figure 4a",
            says="The three methods are up to 3.5 times better than NH.",
            test=largest("rows", "gcp", (*THREE, *IN_PARTS), (NH,), 3.0, 4.0, gain=False),
            judged="the largest ratio is between 3.0 and 4.0",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN + " It lost .356 of 10,000 records; compared with that, HG would reach the printed factor on "
            "20,000.",
        ),
        Claim(
            where="5.1, figure 4a",
            says="The three methods lose more in parts than on the whole table.",
            test=every(*(loses_less("rows", "gcp", (one,), f"{one}p") for one in THREE)),
            why="The published method on the authors' own records.",
        ),
        Claim(
            where="5.1, figure 5a",
            says="In parts, the time of the three methods comes near NH's.",
            test=takes_at_most("rows", IN_PARTS, NH, 2),
            judged="at most twice NH's time at every size",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why="CPU seconds of our programs; the paper has wall seconds on 24 cores.",
        ),
        Claim(
            where="abstract, 1 and 5.1",
            says="Matching in parts takes less time than matching the whole table.",
            test=every(*(quicker("rows", f"{one}p", one, at=_LARGE_WHOLE) for one in THREE)),
            judged="for each of the three, with 10,000 and with 20,000 records, by intervals",
            fails=Verdict.OPEN,
            why="Times of our programs; the paper does not say from which number of records on.",
        ),
        Claim(
            where="abstract and 1",
            says="The time that the methods take on top is small.",
            test=takes_at_most("rows", THREE, NH, 2),
            judged="at most twice NH's time at every size",
            limits=REBUILT,
            why="The matching grows with the square of the records at least, NH's cuts do not, whatever the data. The "
            "authors' own programs differ by a factor of a thousand (benchmarks/published.py).",
        ),
        Claim(
            where="5.1",
            says="With the threshold (tau) the methods take prohibitively long.",
            test=every(*(takes_at_most("rows", (one,), f"{one}t", 0.1) for one in THREE)),
            judged="at least ten times the time without it",
            limits="Measured on 10,000 records, with our reading of the threshold.",
            fails=Verdict.OPEN,
            why="The paper speaks of up to 500,000 records and does not print the formula of its threshold.",
        ),
    ),
    differs=UNSAFE + DOMAINS + _TIMES + _OF_PARTS + "More than 100,000 records are left out: the audit of NH there "
    "takes longer than everything else.",
)

_EXPERIMENT_B = Experiment(
    title="loss and time by size of parts",
    setting="CENSUS, 100,000 records, l = 10; parts are slots of a bucket matched together.",
    figures=(
        Figure("hg-4b", "part", "gcp", "slots matched together", "GCP", log_x=True),
        Figure("hg-5b", "part", "seconds", "slots matched together", "CPU seconds", log_x=True, log_y=True),
    ),
    measure=_by_part,
    claims=(
        Claim(
            where="5.1, figure 4b",
            says="Smaller parts cost a modest amount of information.",
            test=every(
                falls("part", "gcp", *IN_PARTS, slack=0.02),
                *(no_more_at("part", "gcp", one, 100, 500, 1.5) for one in IN_PARTS),
            ),
            judged="the loss rises as parts shrink, by a factor of 1.5 at most from 500 slots (5,000 records) to 100",
            fails=Verdict.OPEN,
            why="Which sizes the paper drew is not legible, and what counts as modest is our reading.",
        ),
        Claim(
            where="abstract and 5.1, figure 5b",
            says="The time falls as parts shrink.",
            test=takes_longer("part", *IN_PARTS, at=_LARGE_PARTS),
            judged="from 500 slots (5,000 records) to 100",
            limits="Smaller parts take longer again, because each has its own overhead.",
            fails=Verdict.OPEN,
            why="Which sizes the paper drew is not legible. In small parts the overhead of each outweighs the "
            "matching.",
        ),
        Claim(
            where="5.1, figure 5b",
            says="The time falls to that of NH.",
            test=every(*(reaches_time("part", one, NH) for one in IN_PARTS)),
            judged="at some size of parts it is within the interval of NH's times",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why="CPU seconds of our programs, and NH is our construction; the paper has wall seconds on 24 cores.",
        ),
        Claim(
            where="5.1, figures 4b and 5b",
            says="In the same time as NH the methods lose less.",
            test=every(*(better_in_equal_time("part", one, NH) for one in IN_PARTS)),
            limits=REBUILT,
            fails=Verdict.OPEN,
            why="No size of parts is as quick as NH here.",
        ),
    ),
    differs=UNSAFE + DOMAINS + _TIMES + _OF_PARTS + "Which sizes the paper drew is not legible.",
)

_EXPERIMENT_C = Experiment(
    title="loss and time by skew, l = 5",
    setting="Zipf 0.5 to 0.9, 10,000 records, seven quasi-identifiers, l = 5.",
    figures=(
        Figure("hg-4c", "zipf", "gcp", "exponent", "GCP"),
        Figure("hg-5c", "zipf", "seconds", "exponent", "CPU seconds", log_y=True),
    ),
    measure=_by_skew,
    limits="l is 5, not 10.",
    claims=(
        Claim(
            where="5.1, figure 4c",
            says="The methods are resilient to skew.",
            test=steady("zipf", "gcp", *THREE, factor=1.25),
            judged="the largest loss is at most 1.25 times the least",
            why="The published method; the exponents' records are the authors' own or drawn as theirs.",
        ),
        Claim(
            where="5.1, figure 4c",
            says="NH loses more as the skew grows.",
            test=every(rises("zipf", "gcp", NH, slack=0.05), ratio_of_ends("zipf", "gcp", NH, 1.25)),
            judged="it rises, 5 % back allowed, and at 0.9 is at least 1.25 times what it is at 0.5",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
        Claim(
            where="5.1, figure 4c",
            says="At 0.9 HG is 4 times better than NH.",
            test=ratio("zipf", "gcp", NH, "HG", 3.2, 5.0, at=(0.9,)),
            judged="between 3.2 and 5 times",
            limits=REBUILT,
            fails=Verdict.AGAINST,
            why="With l = 10, as in the paper, no release of this table exists: its most frequent value has 18.7 % of "
            "the records, more than the 10 % that l = 10 allows.",
        ),
        Claim(
            where="5.1, figure 4c",
            says="SG and GR gain more over NH as the skew grows, as HG does.",
            test=gain_goes(1, "zipf", "gcp", NH, "SG", "GR"),
            judged=f"the loss of NH {GAIN}",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why=NH_OPEN,
        ),
        Claim(
            where="5.1, figure 5c",
            says="Run times do not change with the skew.",
            test=steady_times("zipf", *THREE, NH, factor=1.5),
            judged="the largest time is at most 1.5 times the least; intervals that overlap decide nothing",
            limits=REBUILT,
            fails=Verdict.OPEN,
            why="Times of our programs.",
        ),
    ),
    differs=UNSAFE + DOMAINS + _TIMES + "With l = 10, the paper's default, the most frequent value is too frequent "
    "from 0.7 on: no release could keep the promise, so l is 5, the largest that 0.9 allows.",
)

EXPERIMENTS = (_EXPERIMENT_A, _EXPERIMENT_B, _EXPERIMENT_C)
