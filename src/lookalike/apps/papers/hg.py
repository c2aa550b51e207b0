"""Heterogeneous l-diversity and beta-likeness by bipartite matching (HG): losses and times.

Methods as the paper names them: GR, SG and HG are `heterogeneous` with the matchers greedy, sorted and hungarian, drawn
as it must be for the promise to hold; NH is `ring`, BuReL is `burel` as published. `groups` is ours, beside them, in
the mode that holds against whoever knows the method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from lookalike.apps.papers.datasets import QUASI
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Results, Row, Shape, falls, lowest, rises
from lookalike.data.microdata import Microdata
from lookalike.errors import Infeasible, Unsupported

_FULL_BUCKETS = "BuReL fills buckets as published, and splits finished groups further, as the authors' program does. "
_MATCHED = {
    "GR": "heterogeneous:matcher=greedy",
    "SG": "heterogeneous:matcher=sorted",
    "HG": "heterogeneous:matcher=hungarian",
}
_OURS = {"groups": "groups:mode=strict"}
_DIVERSE = {**_MATCHED, "NH": "ring", **_OURS}
_PARTED = {"HG": "heterogeneous", "NH": "ring", **_OURS}
LIKENESS = {"HG": "heterogeneous", "BuReL": "burel:retrieve=curve,fill=1", **_OURS}
BETAS = (1, 2, 3, 4, 5)
_ZIPF = (0.5, 0.6, 0.7, 0.8, 0.9)
_L_DEFAULT, _BETA_DEFAULT = "l-diversity:10", "beta-likeness:3,bound=basic"
_DRAW = (
    "The paper's draw breaks its own promise; ours exchanges columns as a whole. In beta mode that does not change "
    "ranges, so losses compare; with l-diversity the columns are cut into zones, which changes them a little."
)


def losses(
    bench: Bench,
    x: str,
    settings: Iterable[tuple[float, Microdata, str]],
    methods: dict[str, str],
    repetitions: int | None = None,
) -> Iterator[Row]:
    """GCP and seconds of each method at each point of an axis; a method that cannot keep a promise has none there."""
    for point, data, model in settings:
        for series, algorithm in methods.items():
            for repetition in range(repetitions or bench.size.repetitions):
                try:
                    made = bench.publish(data, model, algorithm, seed=repetition)
                except (Infeasible, Unsupported):
                    break
                yield {
                    x: point,
                    "series": series,
                    "repetition": repetition,
                    "gcp": made.metric("gcp"),
                    "seconds": made.seconds,
                    "reached_beta": made.beta,
                    "reached_l": made.diversity,
                }


def _table(bench: Bench, letter: str, qi: Sequence[str] = QUASI) -> Microdata:
    rows, datasets = bench.size.rows, bench.datasets
    if letter == "a":
        return datasets.census(rows, qi)
    return datasets.uniform(rows, qi) if letter == "b" else datasets.zipf(0.5, rows, qi)


def _by_l(letter: str, bench: Bench) -> Iterator[Row]:
    data = _table(bench, letter)
    return losses(bench, "l", ((ell, data, f"l-diversity:{ell}") for ell in (2, 4, 6, 8, 10)), _DIVERSE)


def _by_columns(letter: str, bench: Bench) -> Iterator[Row]:
    counts = range(1, len(QUASI) + 1)
    settings = ((count + 1, _table(bench, letter, QUASI[:count]), _L_DEFAULT) for count in counts)
    return losses(bench, "columns", settings, _PARTED)


def _by_rows(model: str, methods: dict[str, str], bench: Bench) -> Iterator[Row]:
    sizes = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
    settings = ((size, bench.datasets.census(size), model) for size in sizes if size <= bench.most_rows)
    return losses(bench, "rows", settings, methods)


def _by_part(bench: Bench) -> Iterator[Row]:
    data = bench.datasets.census(bench.most_rows)
    for part in (20, 50, 100, 200, 400):
        yield from losses(bench, "part", [(part, data, _L_DEFAULT)], {"HG": f"heterogeneous:part={part}"})
    yield from losses(bench, "part", [(part, data, _L_DEFAULT) for part in (20, 400)], {"NH": "ring"})


def _by_skew(model: str, methods: dict[str, str], bench: Bench) -> Iterator[Row]:
    settings = ((skew, bench.datasets.zipf(skew, bench.size.rows), model) for skew in _ZIPF)
    return losses(bench, "zipf", settings, methods, bench.size.matched_repetitions)


def _by_beta(letter: str, bench: Bench) -> Iterator[Row]:
    data = _table(bench, letter)
    settings = ((beta, data, f"beta-likeness:{beta},bound=basic") for beta in BETAS)
    return losses(bench, "beta", settings, LIKENESS, bench.size.matched_repetitions)


def _gap_grows(x: str, lower: str, upper: str, found: Results) -> bool:
    gaps = [high / low for low, high in found.pairs(x, "gcp", lower, upper)]
    return len(gaps) > 1 and gaps[-1] > gaps[0]


def _is_stable(found: Results) -> bool:
    """Whether HG's loss grows by no more than a half."""
    means = found.means("zipf", "gcp", "HG").values()
    return max(means) <= 1.5 * min(means)


_NAMES = {"a": "CENSUS", "b": "Uniform", "c": "Zipf 0.5"}

EXPERIMENTS = (
    *(
        Experiment(
            title=f"loss by l on {name}",
            setting=f"{name}, seven quasi-identifiers, l = 2 to 10.",
            reports="The gap to NH grows with l; NH loses up to 3.5 times as much as HG at l = 10 on CENSUS and Zipf.",
            figures=(Figure(f"hg-2{letter}", "l", "gcp", "l", "GCP"),),
            measure=partial(_by_l, letter),
            shapes=(
                Shape("the gap between NH and HG grows with l", partial(_gap_grows, "l", "HG", "NH")),
                Shape("HG loses no more than GR and SG", lowest("l", "gcp", "HG", "GR", "SG", slack=0.02)),
            ),
            differs="In the authors' code GR and SG differ only in ties, and NH beats HG at small l. " + _DRAW,
        )
        for letter, name in _NAMES.items()
    ),
    *(
        Experiment(
            title=f"loss by number of columns on {name}",
            setting=f"{name}, l = 10; columns are the quasi-identifiers and the sensitive one.",
            reports="HG better for all d on CENSUS, for d > 3 on Zipf, for d > 6 on Uniform; on CENSUS loss falls with "
            "d.",
            figures=(Figure(f"hg-3{letter}", "columns", "gcp", "columns (d)", "GCP"),),
            measure=partial(_by_columns, letter),
            shapes=(
                Shape(
                    "HG loses less than NH with all eight columns",
                    lambda found: found.means("columns", "gcp", "HG")[8] < found.means("columns", "gcp", "NH")[8],
                ),
            ),
            differs="HG here is matched in parts. " + _DRAW,
        )
        for letter, name in _NAMES.items()
    ),
    Experiment(
        title="loss and time by number of records, l = 10",
        setting="CENSUS, seven quasi-identifiers, l = 10.",
        reports="Up to 3.5 times better than NH; parted versions lose a little and run like NH.",
        figures=(
            Figure("hg-4a", "rows", "gcp", "records", "GCP", log_x=True),
            Figure("hg-5a", "rows", "seconds", "records", "CPU seconds", log_x=True, log_y=True),
        ),
        measure=partial(_by_rows, _L_DEFAULT, _PARTED),
        shapes=(
            Shape("HG loses less than NH at every size", lowest("rows", "gcp", "HG", "NH")),
            Shape("time grows with the records", rises("rows", "seconds", "HG", slack=0.3)),
        ),
        differs=_DRAW,
    ),
    Experiment(
        title="loss and time by size of parts",
        setting="CENSUS, l = 10; parts are slots of a column matched together.",
        reports="Smaller parts are faster and slightly worse.",
        figures=(
            Figure("hg-4b", "part", "gcp", "slots matched together", "GCP"),
            Figure("hg-5b", "part", "seconds", "slots matched together", "CPU seconds"),
        ),
        measure=_by_part,
        shapes=(
            Shape("larger parts lose less", falls("part", "gcp", "HG", slack=0.02)),
            Shape("larger parts take longer", rises("part", "seconds", "HG", slack=0.3)),
        ),
        differs=_DRAW,
    ),
    Experiment(
        title="loss and time by skew, l = 4",
        setting="Zipf 0.5 to 0.9, seven quasi-identifiers, l = 4.",
        reports="HG stable, NH degrades: 4 times at 0.9; times stable.",
        figures=(
            Figure("hg-4c", "zipf", "gcp", "exponent", "GCP"),
            Figure("hg-5c", "zipf", "seconds", "exponent", "CPU seconds"),
        ),
        measure=partial(_by_skew, "l-diversity:4", _PARTED),
        shapes=(
            Shape("the gap between NH and HG grows with the skew", partial(_gap_grows, "zipf", "HG", "NH")),
            Shape("HG is stable: its loss grows by no more than a half", _is_stable),
        ),
        differs="Exponents that are not in the folder are stand-ins. With l = 10, as in the paper, the most frequent "
        "value is too frequent from 0.6 on: no release could keep the promise, so l is 4 here. " + _DRAW,
    ),
    *(
        Experiment(
            title=f"loss by beta on {name}",
            setting=f"{name}, seven quasi-identifiers, beta = 1 to 5, basic bound.",
            reports="Loss falls with beta; HG best, SG and GR close, all below BuReL; the gain is larger for small "
            "beta.",
            figures=(Figure(f"hg-6{letter}", "beta", "gcp", "beta", "GCP"),),
            measure=partial(_by_beta, letter),
            shapes=(
                Shape(
                    "loss falls as beta grows",
                    lambda found: all(found.goes(-1, "beta", "gcp", series, 0.05) for series in found.series),
                ),
                Shape("HG loses less than BuReL", lowest("beta", "gcp", "HG", "BuReL")),
            ),
            differs=f"BuReL was built for the enhanced bound; here all have the basic one. HG is matched in parts. "
            f"{_FULL_BUCKETS}{_DRAW}",
        )
        for letter, name in _NAMES.items()
    ),
    Experiment(
        title="loss and time by number of records, beta = 3",
        setting="CENSUS, seven quasi-identifiers, beta = 3, basic bound.",
        reports="The gap grows with the records; ours slower.",
        figures=(
            Figure("hg-7a", "rows", "gcp", "records", "GCP", log_x=True),
            Figure("hg-7b", "rows", "seconds", "records", "CPU seconds", log_x=True, log_y=True),
        ),
        measure=partial(_by_rows, _BETA_DEFAULT, LIKENESS),
        shapes=(
            Shape("the gap between BuReL and HG grows with the records", partial(_gap_grows, "rows", "HG", "BuReL")),
            Shape("HG is slower than BuReL", lowest("rows", "seconds", "BuReL", "HG")),
        ),
        differs=_FULL_BUCKETS + _DRAW,
    ),
    Experiment(
        title="loss by skew, beta = 3",
        setting="Zipf 0.5 to 0.9, seven quasi-identifiers, beta = 3, basic bound.",
        reports="Loss rises with the skew; a third less than BuReL at 0.5.",
        figures=(Figure("hg-7c", "zipf", "gcp", "exponent", "GCP"),),
        measure=partial(_by_skew, _BETA_DEFAULT, LIKENESS),
        shapes=(
            Shape("HG's loss rises with the skew", rises("zipf", "gcp", "HG", slack=0.1)),
            Shape(
                "HG loses a fifth less than BuReL at 0.5, or better",
                lambda found: found.means("zipf", "gcp", "HG")[0.5] <= 0.8 * found.means("zipf", "gcp", "BuReL")[0.5],
            ),
        ),
        differs="Exponents that are not in the folder are stand-ins. " + _FULL_BUCKETS + _DRAW,
    ),
)
