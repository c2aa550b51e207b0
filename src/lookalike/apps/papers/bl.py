"""Beta-likeness, BUREL and perturbation (BL): what a promise costs, by beta, quasi-identifiers and records.

Methods as the paper names them: BUREL is `burel` along a Hilbert curve; by cuts it is ours, beside it. LMondrian,
DMondrian and tMondrian are `lmondrian`, `dmondrian` and `tmondrian`. The model is enhanced beta-likeness throughout.
The comparison with t-closeness is in `bl_closeness`, queries are in `bl_queries`, attacks in `bl_resistance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lookalike.apps.papers.bench import Bench, Made
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.data.microdata import Microdata

NAMES = ("age", "gender", "education", "marital", "workclass")
"""The paper's quasi-identifiers in its order; the first three are its default."""
DEFAULT = NAMES[:3]
BETAS = (1, 2, 3, 4, 5)
BETA = 4
GENERALIZED = {
    "BUREL": "burel:retrieve=curve",
    "LMondrian": "lmondrian",
    "DMondrian": "dmondrian",
    "BUREL by cuts": "burel",
}
_BRIMFUL = {"BUREL, full buckets": "burel:retrieve=curve,fill=1"}
"""As printed: a bucket holds as many values as its least ceiling allows in the whole table, without room to spare."""
_PARTS = (1, 2, 3, 4, 5)
"""Fifths of the largest table: the paper has 100,000 to 500,000 records."""

DATA = (
    "Salary classes are not at hand: the sensitive column is occupation, which depends on gender and education much "
    "more. There are no hierarchies: a published category is a set of values. The first records are taken, fewer than "
    "the paper's 500,000. "
)
BUCKETS = (
    "BUREL leaves its buckets the room that makes for the most groups, where the paper fills them to the brim; that "
    "mostly loses less. "
)


def likeness(beta: object) -> str:
    return f"beta-likeness:{beta}"


def default_table(bench: Bench) -> Microdata:
    return bench.datasets.census(bench.size.most_rows, DEFAULT)


def list_reached(made: Made) -> Row:
    """What a release keeps, next to whatever else is measured of it."""
    return {"reached_beta": made.beta, "reached_t": made.t, "reached_l": made.diversity}


def lowest(x: str, y: str, one: str, *others: str, slack: float = 0.0) -> Callable[[Results], bool]:
    """The test that a series lies below others everywhere."""
    return lambda found: all(found.below(x, y, one, other, slack) for other in others)


def falling(what: str, x: str, y: str, *series: str, slack: float = 0.0) -> tuple[Shape, ...]:
    """The claim that a figure falls along an axis, for each series by itself."""
    return tuple(Shape(f"{what}: {one}", partial(Results.falls, x=x, y=y, series=one, slack=slack)) for one in series)


def rising(what: str, x: str, y: str, *series: str, slack: float = 0.0) -> tuple[Shape, ...]:
    """The claim that a figure rises along an axis, for each series by itself."""
    return tuple(Shape(f"{what}: {one}", partial(Results.rises, x=x, y=y, series=one, slack=slack)) for one in series)


def _losses(
    bench: Bench,
    x: str,
    points: Sequence[int],
    methods: dict[str, str],
    make: Callable[[int], Microdata],
    beta: Callable[[int], int],
) -> Iterator[Row]:
    """AIL and seconds of each method at each point of an axis."""
    for point in points:
        data = make(point)
        for series, algorithm in methods.items():
            for repetition in bench.repetitions:
                made = bench.publish(data, likeness(beta(point)), algorithm, seed=repetition)
                yield {
                    x: point,
                    "series": series,
                    "repetition": repetition,
                    "ail": made.metric("ail"),
                    "seconds": made.seconds,
                    **list_reached(made),
                }


def _by_beta(bench: Bench) -> Iterator[Row]:
    data = default_table(bench)
    yield from _losses(bench, "beta", BETAS, {**GENERALIZED, **_BRIMFUL}, lambda _: data, lambda beta: beta)


def _by_columns(bench: Bench) -> Iterator[Row]:
    rows, census = bench.size.most_rows, bench.datasets.census
    sizes = range(1, len(NAMES) + 1)
    yield from _losses(bench, "columns", sizes, GENERALIZED, lambda size: census(rows, NAMES[:size]), lambda _: BETA)


def _by_rows(bench: Bench) -> Iterator[Row]:
    most = min(bench.size.most_rows, bench.datasets.n_census)
    sizes = [most * part // _PARTS[-1] for part in _PARTS]
    yield from _losses(
        bench, "rows", sizes, GENERALIZED, lambda rows: bench.datasets.census(rows, DEFAULT), lambda _: BETA
    )


PAPERS = ("BUREL", "LMondrian", "DMondrian")
_UNEVEN = 0.05
_NO_EFFECT = 0.2


def _stays_steady(x: str, y: str, series: str) -> Callable[[Results], bool]:
    """The test that a figure is about the same at both ends of an axis: within a fifth."""

    def test(found: Results) -> bool:
        means = found.means(x, y, series)
        return len(means) > 1 and abs(means[max(means)] - means[min(means)]) <= _NO_EFFECT * means[min(means)]

    return test


def _order(x: str) -> tuple[Shape, ...]:
    return (
        Shape("BUREL loses less than LMondrian", lowest(x, "ail", "BUREL", "LMondrian")),
        Shape("LMondrian loses less than DMondrian", lowest(x, "ail", "LMondrian", "DMondrian")),
        Shape(
            "BUREL takes less time than LMondrian and DMondrian",
            lowest(x, "seconds", "BUREL", "LMondrian", "DMondrian"),
        ),
    )


_TIMES = (
    "Seconds are of the processor. Here all methods are compiled, and LMondrian is several times as fast as BUREL, "
    "most of whose time goes into trying how much room to leave in its buckets. "
)
_LOSSES = (
    "On the census extract LMondrian loses less than BUREL from beta = 2 on. BUREL makes more and smaller groups, but "
    "wider ones: each takes records of every bucket of values, and where values depend on quasi-identifiers these lie "
    "apart. So more groups, as at beta = 3, need not lose less. DMondrian hardly cuts at all: bounds below and above "
    "each of the fifty values forbid it. "
)

EXPERIMENTS = (
    Experiment(
        paper="BL",
        title="loss and time by beta",
        setting="CENSUS, three quasi-identifiers, beta = 1 to 5",
        reports="AIL falls with beta; BUREL < LMondrian < DMondrian; about half the loss in about half the time.",
        figures=(
            Figure("bl-5a", "beta", "ail", "beta", "AIL"),
            Figure("bl-5b", "beta", "seconds", "beta", "CPU seconds"),
        ),
        measure=_by_beta,
        shapes=(
            *falling("loss falls as beta grows", "beta", "ail", *PAPERS, slack=_UNEVEN),
            *_order("beta"),
        ),
        differs=DATA + BUCKETS + _LOSSES + _TIMES,
    ),
    Experiment(
        paper="BL",
        title="loss and time by the number of quasi-identifiers",
        setting="CENSUS, one to five quasi-identifiers, beta = 4",
        reports="AIL rises with the number of quasi-identifiers; BUREL lowest and fastest.",
        figures=(
            Figure("bl-6a", "columns", "ail", "quasi-identifiers", "AIL"),
            Figure("bl-6b", "columns", "seconds", "quasi-identifiers", "CPU seconds"),
        ),
        measure=_by_columns,
        shapes=(
            *rising("loss rises with quasi-identifiers", "columns", "ail", *PAPERS, slack=_UNEVEN),
            *_order("columns"),
        ),
        differs=DATA + BUCKETS + _LOSSES + _TIMES,
    ),
    Experiment(
        paper="BL",
        title="loss and time by the number of records",
        setting="CENSUS, three quasi-identifiers, beta = 4, one to five fifths of the largest table",
        reports="The number of records has no clear effect on AIL; time grows with it; BUREL better in both.",
        figures=(
            Figure("bl-7a", "rows", "ail", "records", "AIL"),
            Figure("bl-7b", "rows", "seconds", "records", "CPU seconds"),
        ),
        measure=_by_rows,
        shapes=(
            *(
                Shape(f"a fifth of the records loses about the same: {one}", _stays_steady("rows", "ail", one))
                for one in PAPERS
            ),
            *rising("time grows with the number of records", "rows", "seconds", *PAPERS, slack=0.25),
            *_order("rows"),
        ),
        differs=DATA + BUCKETS + _LOSSES + _TIMES,
    ),
)
