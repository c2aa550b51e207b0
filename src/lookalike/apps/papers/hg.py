"""Heterogeneous l-diversity and beta-likeness by bipartite matching (HG): losses and times.

Methods as the paper names them: GR, SG and HG are `heterogeneous` with the matchers greedy, sorted and hungarian, drawn
as it must be for the promise to hold; NH is `ring`, BuReL is `burel` as published. `groups` is ours, beside them, in
the mode that holds against whoever knows the method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lookalike.apps.papers.bench import Bench
from lookalike.apps.papers.datasets import QUASI
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.data.microdata import Microdata
from lookalike.errors import Infeasible, Unsupported

_FULL_BUCKETS = (
    "BuReL fills buckets to their ceilings, as published; with so few records that leaves it few groups, and its loss "
    "goes up and down (`burel` by itself fills less). "
)
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

Measured = Iterator[Row]


def losses(
    bench: Bench,
    x: str,
    settings: Iterable[tuple[float, Microdata, str]],
    methods: dict[str, str],
    repetitions: int | None = None,
) -> Measured:
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


def _tables(bench: Bench) -> dict[str, Microdata]:
    rows, datasets = bench.size.rows, bench.datasets
    return {"a": datasets.census(rows), "b": datasets.uniform(rows), "c": datasets.zipf(0.5, rows)}


def _by_l(letter: str) -> Callable[[Bench], Measured]:
    def measure(bench: Bench) -> Measured:
        data = _tables(bench)[letter]
        return losses(bench, "l", ((ell, data, f"l-diversity:{ell}") for ell in (2, 4, 6, 8, 10)), _DIVERSE)

    return measure


def _by_columns(letter: str) -> Callable[[Bench], Measured]:
    def measure(bench: Bench) -> Measured:
        rows, datasets = bench.size.rows, bench.datasets

        def make(count: int) -> Microdata:
            qi = QUASI[:count]
            if letter == "a":
                return datasets.census(rows, qi)
            return datasets.uniform(rows, qi) if letter == "b" else datasets.zipf(0.5, rows, qi)

        settings = ((count + 1, make(count), _L_DEFAULT) for count in range(1, len(QUASI) + 1))
        return losses(bench, "columns", settings, _PARTED)

    return measure


def _by_rows(model: str, methods: dict[str, str]) -> Callable[[Bench], Measured]:
    def measure(bench: Bench) -> Measured:
        sizes = bench.sizes_up_to((1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000))
        return losses(bench, "rows", ((size, bench.datasets.census(size), model) for size in sizes), methods)

    return measure


def _by_part(bench: Bench) -> Measured:
    data = bench.datasets.census(min(bench.size.most_rows, bench.datasets.n_census))
    for part in (20, 50, 100, 200, 400):
        yield from losses(bench, "part", [(part, data, _L_DEFAULT)], {"HG": f"heterogeneous:part={part}"})
    yield from losses(bench, "part", [(part, data, _L_DEFAULT) for part in (20, 400)], {"NH": "ring"})


def _by_skew(model: str, methods: dict[str, str]) -> Callable[[Bench], Measured]:
    def measure(bench: Bench) -> Measured:
        rows = bench.size.rows
        settings = ((skew, bench.datasets.zipf(skew, rows), model) for skew in _ZIPF)
        return losses(bench, "zipf", settings, methods, bench.size.matched_repetitions)

    return measure


def _by_beta(letter: str) -> Callable[[Bench], Measured]:
    def measure(bench: Bench) -> Measured:
        data = _tables(bench)[letter]
        settings = ((beta, data, f"beta-likeness:{beta},bound=basic") for beta in BETAS)
        return losses(bench, "beta", settings, LIKENESS, bench.size.matched_repetitions)

    return measure


def _gap_grows(x: str, lower: str, upper: str) -> Callable[[Results], bool]:
    def test(results: Results) -> bool:
        low, high = results.means(x, "gcp", lower), results.means(x, "gcp", upper)
        shared = sorted(at for at in low if at in high)
        return len(shared) > 1 and high[shared[-1]] / low[shared[-1]] > high[shared[0]] / low[shared[0]]

    return test


def _times_worse(x: str, at: float, times: float) -> Callable[[Results], bool]:
    def test(results: Results) -> bool:
        nh, hg = results.means(x, "gcp", "NH"), results.means(x, "gcp", "HG")
        return at in nh and at in hg and nh[at] >= times * hg[at]

    return test


_NAMES = {"a": "CENSUS", "b": "Uniform", "c": "Zipf 0.5"}

_BY_L = [
    Experiment(
        paper="HG",
        title=f"loss by l on {name}",
        setting=f"{name}, seven quasi-identifiers, l = 2 to 10.",
        reports="The gap to NH grows with l; NH loses up to 3.5 times as much as HG at l = 10 on CENSUS and Zipf.",
        figures=(Figure(f"hg-2{letter}", "l", "gcp", "l", "GCP"),),
        measure=_by_l(letter),
        shapes=(
            Shape("the gap between NH and HG grows with l", _gap_grows("l", "HG", "NH")),
            Shape(
                "HG loses no more than GR and SG",
                lambda found: all(found.below("l", "gcp", "HG", other, 0.02) for other in ("GR", "SG")),
            ),
        ),
        differs="In the authors' code GR and SG differ only in ties, and NH beats HG at small l. " + _DRAW,
    )
    for letter, name in _NAMES.items()
]
_BY_COLUMNS = [
    Experiment(
        paper="HG",
        title=f"loss by number of columns on {name}",
        setting=f"{name}, l = 10; columns are the quasi-identifiers and the sensitive one.",
        reports="HG better for all d on CENSUS, for d > 3 on Zipf, for d > 6 on Uniform; on CENSUS loss falls with d.",
        figures=(Figure(f"hg-3{letter}", "columns", "gcp", "columns (d)", "GCP"),),
        measure=_by_columns(letter),
        shapes=(
            Shape(
                "HG loses less than NH with all eight columns",
                lambda found: found.means("columns", "gcp", "HG")[8] < found.means("columns", "gcp", "NH")[8],
            ),
        ),
        differs="HG here is matched in parts. " + _DRAW,
    )
    for letter, name in _NAMES.items()
]
_BY_BETA = [
    Experiment(
        paper="HG",
        title=f"loss by beta on {name}",
        setting=f"{name}, seven quasi-identifiers, beta = 1 to 5, basic bound.",
        reports="Loss falls with beta; HG best, SG and GR close, all below BuReL; the gain is larger for small beta.",
        figures=(Figure(f"hg-6{letter}", "beta", "gcp", "beta", "GCP"),),
        measure=_by_beta(letter),
        shapes=(
            Shape(
                "loss falls as beta grows",
                lambda found: all(found.falls("beta", "gcp", series, 0.05) for series in found.series),
            ),
            Shape("HG loses less than BuReL", lambda found: found.below("beta", "gcp", "HG", "BuReL")),
        ),
        differs="BuReL was built for the enhanced bound; here all have the basic one. HG is matched in parts. "
        + _FULL_BUCKETS
        + _DRAW,
    )
    for letter, name in _NAMES.items()
]

EXPERIMENTS = (
    *_BY_L,
    *_BY_COLUMNS,
    Experiment(
        paper="HG",
        title="loss and time by number of records, l = 10",
        setting="CENSUS, seven quasi-identifiers, l = 10.",
        reports="Up to 3.5 times better than NH; parted versions lose a little and run like NH.",
        figures=(
            Figure("hg-4a", "rows", "gcp", "records", "GCP", log_x=True),
            Figure("hg-5a", "rows", "seconds", "records", "CPU seconds", log_x=True, log_y=True),
        ),
        measure=_by_rows(_L_DEFAULT, _PARTED),
        shapes=(
            Shape("HG loses less than NH at every size", lambda found: found.below("rows", "gcp", "HG", "NH")),
            Shape("time grows with the records", lambda found: found.rises("rows", "seconds", "HG", 0.3)),
        ),
        differs=_DRAW,
    ),
    Experiment(
        paper="HG",
        title="loss and time by size of parts",
        setting="CENSUS, l = 10; parts are slots of a column matched together.",
        reports="Smaller parts are faster and slightly worse.",
        figures=(
            Figure("hg-4b", "part", "gcp", "slots matched together", "GCP"),
            Figure("hg-5b", "part", "seconds", "slots matched together", "CPU seconds"),
        ),
        measure=_by_part,
        shapes=(
            Shape("larger parts lose less", lambda found: found.falls("part", "gcp", "HG", 0.02)),
            Shape("larger parts take longer", lambda found: found.rises("part", "seconds", "HG", 0.3)),
        ),
        differs=_DRAW,
    ),
    Experiment(
        paper="HG",
        title="loss and time by skew, l = 4",
        setting="Zipf 0.5 to 0.9, seven quasi-identifiers, l = 4.",
        reports="HG stable, NH degrades: 4 times at 0.9; times stable.",
        figures=(
            Figure("hg-4c", "zipf", "gcp", "exponent", "GCP"),
            Figure("hg-5c", "zipf", "seconds", "exponent", "CPU seconds"),
        ),
        measure=_by_skew("l-diversity:4", _PARTED),
        shapes=(
            Shape("the gap between NH and HG grows with the skew", _gap_grows("zipf", "HG", "NH")),
            Shape(
                "HG is stable: its loss grows by no more than a half",
                lambda found: (
                    max(found.means("zipf", "gcp", "HG").values())
                    <= 1.5 * min(found.means("zipf", "gcp", "HG").values())
                ),
            ),
        ),
        differs="Exponents that are not in the folder are stand-ins. With l = 10, as in the paper, the most frequent "
        "value is too frequent from 0.6 on: no release could keep the promise, so l is 4 here. " + _DRAW,
    ),
    *_BY_BETA,
    Experiment(
        paper="HG",
        title="loss and time by number of records, beta = 3",
        setting="CENSUS, seven quasi-identifiers, beta = 3, basic bound.",
        reports="The gap grows with the records; ours slower.",
        figures=(
            Figure("hg-7a", "rows", "gcp", "records", "GCP", log_x=True),
            Figure("hg-7b", "rows", "seconds", "records", "CPU seconds", log_x=True, log_y=True),
        ),
        measure=_by_rows(_BETA_DEFAULT, LIKENESS),
        shapes=(
            Shape("the gap between BuReL and HG grows with the records", _gap_grows("rows", "HG", "BuReL")),
            Shape("HG is slower than BuReL", lambda found: found.below("rows", "seconds", "BuReL", "HG")),
        ),
        differs=_FULL_BUCKETS + _DRAW,
    ),
    Experiment(
        paper="HG",
        title="loss by skew, beta = 3",
        setting="Zipf 0.5 to 0.9, seven quasi-identifiers, beta = 3, basic bound.",
        reports="Loss rises with the skew; a third less than BuReL at 0.5.",
        figures=(Figure("hg-7c", "zipf", "gcp", "exponent", "GCP"),),
        measure=_by_skew(_BETA_DEFAULT, LIKENESS),
        shapes=(
            Shape("HG's loss rises with the skew", lambda found: found.rises("zipf", "gcp", "HG", 0.1)),
            Shape(
                "HG loses a fifth less than BuReL at 0.5, or better",
                lambda found: found.means("zipf", "gcp", "HG")[0.5] <= 0.8 * found.means("zipf", "gcp", "BuReL")[0.5],
            ),
        ),
        differs="Exponents that are not in the folder are stand-ins. " + _FULL_BUCKETS + _DRAW,
    ),
)
