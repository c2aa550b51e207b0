"""The methods of HG's experiments, its tables, and what is measured of every release.

GR, SG and HG are the method as published (`HeterogeneousAsPublished`): the paper's buckets, dummies and random draw, by
the greedy, the sorted and the Hungarian matcher. Its releases break their own promise, so they are measured without an
audit and never written. GRp, SGp and HGp match parts; GRt, SGt and HGt have the paper's threshold. NH is `ring`, our
construction of a method of which only a description is public. BuReL is `burel` as its authors' program has it. What is
ours is marked so in its name, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.apps.papers.datasets import QUASI
from lookalike.apps.papers.experiments import Bench, Made, Named
from lookalike.apps.papers.hg.plain_curve import BurelOnPlainCurve
from lookalike.apps.papers.hg.published_heterogeneous import HeterogeneousAsPublished
from lookalike.apps.papers.journal import Row
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped

BUREL = "burel:retrieve=curve,fill=1,split=yes"
NH = "NH (rebuilt)"
THREE = ("GR", "SG", "HG")
IN_PARTS = ("GRp", "SGp", "HGp")
FAR_APART = ("GRt", "SGt", "HGt")
_MATCHERS = dict(zip(THREE, ("greedy", "sorted", "hungarian"), strict=True))
DIVERSE: dict[str, Named] = {
    series: HeterogeneousAsPublished(matcher=matcher, dummies="yes") for series, matcher in _MATCHERS.items()
}
LIKE: dict[str, Named] = {
    series: HeterogeneousAsPublished(matcher=matcher, dummies="yes", buckets="ascending")
    for series, matcher in _MATCHERS.items()
}
IN_ORDER = "HG, buckets filled in order"
AS_PROGRAMMED: dict[str, Named] = {
    IN_ORDER: HeterogeneousAsPublished(matcher="hungarian", dummies="yes", buckets="ascending", fill="sorted")
}
THROUGH_L: dict[str, Named] = {
    series: HeterogeneousAsPublished(matcher=matcher, dummies="yes", buckets="through-l")
    for series, matcher in _MATCHERS.items()
}
WITH_THRESHOLD: dict[str, Named] = {
    f"{series}t": HeterogeneousAsPublished(matcher=matcher, dummies="yes", tau="0.3")
    for series, matcher in _MATCHERS.items()
}
OURS: dict[str, Named] = {
    "HG, columns exchanged (ours)": "heterogeneous:buckets=ascending",
    "groups (ours)": "groups:mode=strict",
}
RING: dict[str, Named] = {NH: "ring:parts=merged"}
_BUREL, _PLAIN = "BuReL", "BuReL, plain curve"
BY_BUREL: dict[str, Named] = {_BUREL: BUREL}
BY_CURVES: dict[str, Named] = {**BY_BUREL, _PLAIN: BurelOnPlainCurve()}
CURVES = {"all columns equally wide": _BUREL, "codes as they are": _PLAIN}
"""The scale of the curve on which BuReL looks for close records, which no paper prints."""
BETAS = (1, 2, 3, 4, 5)
L_DEFAULT = 10
NAMES = {"a": "CENSUS", "b": "Uniform", "c": "Zipf 0.5"}
TABLE_10 = {"age": 79, "gender": 2, "education": 17, "marital": 6, "race": 9, "workclass": 10, "country": 83}
"""How many values the paper says each column has."""

UNSAFE = (
    "GR, SG and HG are the published method. Its releases break their own promise (figures hg-theorem3 and "
    "hg-theorem7), so they are measured without an audit. "
)
SPLIT = "BuReL splits finished groups further, as its authors' program does and its paper does not print. "
SCALE = (
    "How wide each column is on the curve of BuReL is not printed. It is drawn with all columns equally wide and "
    "with the codes as they are (plain curve); a claim about BuReL is open where these two disagree. "
)
REBUILT = "NH is rebuilt from its description; the original is not printed in full."
DOMAINS = "Losses divide by the domains of the paper's table 10. "


def in_parts(methods: Mapping[str, Named], part: int) -> dict[str, Named]:
    """The same methods, at most so many slots of a bucket matched together."""
    return {f"{series}p": replace(method, part=part) for series, method in methods.items()}  # type: ignore[type-var]


def on(letter: str, figure: str = "gcp") -> str:
    """A figure of one of the three tables, where an experiment measures all of them."""
    return f"{figure} on {NAMES[letter]}"


def model_of_l(ell: float) -> str:
    return f"l-diversity:{ell:g}"


def model_of_beta(beta: float) -> str:
    return f"beta-likeness:{beta:g},bound=basic"


def table_of(bench: Bench, letter: str, qi: Sequence[str] = QUASI, rows: int | None = None) -> Microdata:
    """CENSUS (a), Uniform (b) or Zipf 0.5 (c)."""
    datasets, rows = bench.datasets, rows or bench.size.rows
    if letter == "a":
        return datasets.census(rows, qi, sizes=TABLE_10)
    if letter == "b":
        return datasets.uniform(rows, qi, sizes=TABLE_10)
    return datasets.zipf(0.5, rows, qi, sizes=TABLE_10)


def losses(
    bench: Bench,
    x: str,
    settings: Iterable[tuple[float, Microdata, str]],
    methods: Mapping[str, Named],
    repetitions: int | None = None,
    letter: str = "",
) -> Iterator[Row]:
    """Loss, time and what persons see, of each method at each point of an axis; `letter` is one of several tables."""

    def look(made: Made, _: int) -> Row:
        return {on(letter, name) if letter else name: value for name, value in measure(made).items()}

    for point, data, model in settings:
        at: Row = {x: point, "table": NAMES[letter]} if letter else {x: point}
        yield from bench.rows_of(at, data, model, methods, look, repetitions)


def measure(made: Made) -> Row:
    """Loss and time of a release, how sure it makes somebody of a value, and the beta that it reaches."""
    seen = _count_seen(made)
    shares = seen / seen.sum(axis=1, keepdims=True)
    n_values = made.data.domains.sensitive[0].n_codes
    prior = made.data.counts(0)[:n_values] / made.data.n_rows
    occurs = prior > 0
    is_real = np.arange(seen.shape[1]) < n_values
    return {
        "gcp": made.metric("gcp"),
        "seconds": made.seconds,
        "matches": int(seen.sum(axis=1).max()),
        "certainty": 100 * float(shares.max()),
        "repeats": 100 * float((seen.max(axis=1) > 1).mean()),
        "real_values": int(np.count_nonzero(seen[:, is_real], axis=1).min()),
        "reached_beta": float((shares[:, :n_values][:, occurs] / prior[occurs]).max() - 1),
        "audited": made.audit is not None,
    }


def _count_seen(made: Made) -> NDArray[np.int64]:
    """[records, values] how often each value is in the rows that a record may be behind, as the method matched them."""
    published = made.release.sensitive[:, 0]
    n_codes = int(published.max()) + 1
    n_codes = max(n_codes, made.data.domains.sensitive[0].n_codes)
    if made.graph is not None:
        person = np.repeat(np.arange(made.data.n_rows), np.diff(made.graph.starts))
        rows = made.graph.rows
        return np.bincount(person * n_codes + published[rows], minlength=made.data.n_rows * n_codes).reshape(
            -1, n_codes
        )
    assert isinstance(made.release, Grouped)
    groups = made.release.group_of_row.astype(np.int64)
    # All persons of a group see the same.
    return np.bincount(groups * n_codes + published, minlength=(int(groups.max()) + 1) * n_codes).reshape(-1, n_codes)
