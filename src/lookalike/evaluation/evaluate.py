"""How good a release is and what it withstands, held against its original.

    attacks     what known attacks achieve
    queries     how near it answers them
    fidelity    what distributions, and machines that learn, have left of the original
    columns     each before and after, and which tables of two may be trusted
    tradeoff    what a stronger or a weaker promise would cost
    rows        what the same promise would cost if rows were counted in place of persons

`evaluate` does all of it within limits: what would take minutes on a large table is left out, with the reason.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from lookalike.analysis.counts import QUERY_KERNELS
from lookalike.attacks import ATTACKS
from lookalike.attacks.run import Attacks, attack_target
from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.data.contracts import Attack, Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import Unsupported
from lookalike.evaluation.against_rows import AgainstRows, compare_with_rows
from lookalike.evaluation.before_after import BeforeAfter, compare_before_after
from lookalike.evaluation.fidelity import Fidelity, compare
from lookalike.evaluation.tradeoff import Tradeoff, tradeoff
from lookalike.metrics.query_error import QueryError, RangeWorkload, draw_queries, query_error
from lookalike.pipeline.run import MadeWhole, Stopwatch, compile_named
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Relative errors up to which answers are counted together."""
SELECTIVITIES = (0.1, 0.03, 0.01)
"""Shares of the records that queries are made to match, about."""
_N_QUERIES, _MOST_COLUMNS = 300, 3


@dataclass(frozen=True)
class Answered:
    """Queries over so many columns that match about such a share of the records: how they were answered."""

    columns: int
    selectivity: float
    n_queries: int
    median: float
    """Median of |estimate - truth| / truth."""
    coverage: float
    """Share of the queries whose truth is in the interval of 95 % that comes with the answer."""
    shares: tuple[float, ...]
    """Share of the queries with an error up to each of `BOUNDS` (and above the one before); the last: above all."""

    @classmethod
    def of(cls, columns: int, selectivity: float, error: QueryError) -> Answered:
        places = np.searchsorted(BOUNDS, error.relative)
        counts = np.bincount(places, minlength=len(BOUNDS) + 1)
        shares = tuple((counts / max(len(places), 1)).tolist())
        return cls(columns, selectivity, error.n_queries, error.median, error.coverage, shares)


def answer_queries(
    original: Microdata, release: Release, rng: np.random.Generator, progress: Progress = silent
) -> list[Answered]:
    """A line each for queries of one column, two and three, and each selectivity, as far as there are such queries."""
    found = []
    kinds = list(itertools.product(range(1, min(_MOST_COLUMNS, len(original.domains.quasi)) + 1), SELECTIVITIES))
    for turn, (columns, selectivity) in enumerate(kinds):
        progress("queries", turn / len(kinds))
        try:
            asked = draw_queries(RangeWorkload(columns, selectivity), original, _N_QUERIES, rng)
        except Unsupported:
            continue
        found.append(Answered.of(columns, selectivity, query_error(asked, release)))
    progress("queries", 1.0)
    return found


def bound_names() -> list[str]:
    """What the shares are called.

    >>> bound_names()
    ['up to 5 %', '5 to 10 %', '10 to 25 %', '25 to 50 %', '50 to 100 %', 'more']
    """
    ends = [f"{100 * bound:.0f}" for bound in BOUNDS]
    between = [f"{low} to {high} %" for low, high in zip(ends, ends[1:], strict=False)]
    return [f"up to {ends[0]} %", *between, "more"]


MOST_RECORDS = 20_000
"""Of more records fidelity is left out."""
_MOST_ROWS_BEFORE_AFTER = 300_000
"""Of more, tables of columns are left out, too."""


@dataclass(frozen=True)
class Evaluation:
    """What was found. All of it is about the original as well: see `report` for how much of that is published."""

    attacks: Attacks
    answers: tuple[Answered, ...]
    fidelity: Fidelity | None
    tradeoff: Tradeoff | None
    left_out: tuple[str, ...]
    """What was not done, and what to do about it."""
    against_rows: AgainstRows | None = None
    """The loss beside that of the same promise by rows; None where each row is a person."""
    before_after: BeforeAfter | None = None
    """Each column before and after, and which tables of two columns may be trusted."""


def _takes_long(name: str, kind: type[Attack], n_rows: int, n_values: int) -> str | None:
    """Why a report does not make an attack by default, or None."""
    most_cells = getattr(kind, "most_cells", None)
    if kind.most_records is not None and n_rows > kind.most_records:
        what = f"it takes long on {n_rows:,} records, and reports make it for up to {kind.most_records:,}."
    elif most_cells is not None and n_rows * n_values > most_cells:
        what = f"it takes long on {n_rows:,} records with {n_values:,} values of a sensitive column."
    else:
        return None
    return f"{what} lookalike attack RELEASE --original DATA --attack {name} makes it."


def evaluate(made: MadeWhole, progress: Progress = silent, watch: Stopwatch | None = None) -> Evaluation:
    """Attacks, queries, fidelity and trade-off of a release in memory; `watch` gets the seconds of each.

    Its randomness is the operating system's whatever the recipe's seed: nothing here can help to find that seed.
    """
    data, release, rng, watch = made.data, made.release, Randomness(), watch or Stopwatch()
    target = Target(
        release=release,
        original=data,
        promises=made.promises,
        algorithm=made.algorithm,
        record_of_row=None if data.persons is None else made.record_map.record_of_row,
        control=made.control,
        adversary=made.adversary,
    )
    left_out: list[str] = []
    most_values = max((domain.n_codes for domain in data.domains.sensitive), default=0)
    slow = {
        name: reason
        for name, kind in ATTACKS.items()
        if (reason := _takes_long(name, kind, data.n_rows, most_values)) is not None
    }
    with watch.step("compile for the report"):
        chosen = [kind() for name, kind in ATTACKS.items() if name not in slow]
        used = [kind.kernels for kind in chosen if isinstance(kind, WrittenAttack) and kind.refuses(target) is None]
        compile_named({name for kernels in (*used, QUERY_KERNELS) for name in kernels}, progress)
    with watch.step("attacks"):
        attacks = attack_target(target, (), rng.child("attacks"), progress, slow)
    with watch.step("queries"):
        answers = answer_queries(data, release, np.random.default_rng(int(rng.child("queries").words(1)[0])), progress)
    compared = None
    if data.n_rows <= MOST_RECORDS:
        with watch.step("fidelity"):
            compared = compare(data, release, progress=progress)
        left_out += compared.notes
        before_after = compared.before_after
    else:
        before_after = None
        if data.n_rows <= _MOST_ROWS_BEFORE_AFTER:
            with watch.step("before and after"):
                before_after = compare_before_after(data, release, progress)
        left_out.append(
            "Predictions and distributions were not compared, for the same reason; lookalike fidelity does."
        )
    with watch.step("trade-off"):
        around = tradeoff(data, made.promises, made.algorithm, made.adversary, rng.child("tradeoff"), progress)
    against_rows = None
    if made.table.persons is not None:
        with watch.step("loss by rows"):
            against_rows = compare_with_rows(made, progress)
    if len(around.settings) < 2:
        left_out.append("No stronger or weaker promise could be made to compare with.")
    return Evaluation(
        attacks=attacks,
        answers=tuple(answers),
        fidelity=compared,
        tradeoff=around if len(around.settings) > 1 else None,
        left_out=tuple(left_out),
        against_rows=against_rows,
        before_after=before_after,
    )
