"""BL's figures 5 to 7: information loss and time of BUREL and two Mondrians by beta, quasi-identifiers and records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lookalike.apps.papers.bl.methods import (
    BESIDE,
    BETA,
    BETAS,
    BUREL,
    DATA,
    DEFAULT,
    DMONDRIAN,
    GENERALIZED,
    LMONDRIAN,
    NAMES,
    NOT_PUBLIC,
    OTHER_RECORDS,
    PAPERS,
    PRINTED,
    RIVALS,
    SPLIT,
    default_table,
    likeness,
    list_reached,
    repeat_thrice,
    repeat_twice,
)
from lookalike.apps.papers.claims import (
    Claim,
    Verdict,
    below,
    between,
    every,
    falls,
    quicker,
    ratio,
    rises,
    steady,
    takes_longer,
)
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Made
from lookalike.apps.papers.journal import Row
from lookalike.data.microdata import Microdata

_PARTS = (1, 2, 3, 4, 5)
"""Fifths of the largest table: the paper has 100,000 to 500,000 records."""
_SLACK = 0.02
_HALF = (0.4, 0.65)
"""Almost half."""
_NO_EFFECT = 1.2
_UNACCEPTABLE = 0.5


def _look(made: Made, _: int) -> Row:
    return {"ail": made.metric("ail"), "seconds": made.seconds, **list_reached(made)}


def _losses(bench: Bench, x: str, settings: Iterable[tuple[int, Microdata, int]]) -> Iterator[Row]:
    """AIL and seconds of each method at each point of an axis, with its table and beta."""
    for point, data, beta in settings:
        yield from bench.rows_of({x: point}, data, likeness(beta), GENERALIZED, _look, repeat_thrice(bench))


def _by_beta(bench: Bench) -> Iterator[Row]:
    data = default_table(bench)
    yield from _losses(bench, "beta", ((beta, data, beta) for beta in BETAS))
    for beta in BETAS:
        yield from bench.rows_of({"beta": beta}, data, likeness(beta), BESIDE, _look, repeat_twice(bench))


def _by_columns(bench: Bench) -> Iterator[Row]:
    sizes = range(1, len(NAMES) + 1)
    return _losses(
        bench, "columns", ((size, bench.datasets.census(bench.most_rows, NAMES[:size]), BETA) for size in sizes)
    )


def _by_rows(bench: Bench) -> Iterator[Row]:
    sizes = [bench.most_rows * part // _PARTS[-1] for part in _PARTS]
    return _losses(bench, "rows", ((rows, bench.datasets.census(rows, DEFAULT), BETA) for rows in sizes))


_WIDE_GROUPS = (
    "LMondrian cuts the widest column at its median while both halves keep beta-likeness, so its groups are narrow. "
    "Each group of BUREL must take records from every bucket of values, wherever these lie, so its groups are wide. "
    "The order is the same for values that depend on quasi-identifiers weakly or strongly (bl-dependence)"
)
_OTHER_PROGRAMS = (
    "BUREL sorts all records along a curve and then searches every bucket for every group; the Mondrians pass over the "
    "records once per level of cuts. All three are our programs, compiled, and their times differ by a factor of 1.5 "
    "to 2, which is less than two programs for the same method may differ. The authors' Mondrians are not public"
)
_ONLY_SPLIT = "Only with the further split, which the paper does not print."


def _claim_losses(x: str, where: str) -> tuple[Claim, ...]:
    """BUREL loses less than each Mondrian."""
    return tuple(
        Claim(
            f"{where}; abstract" if x == "beta" else where,
            f"BUREL loses less information than {other}.",
            below(x, "ail", BUREL, other),
            fails=Verdict.AGAINST if other == LMONDRIAN else Verdict.NO_DATA,
            why=_WIDE_GROUPS if other == LMONDRIAN else NOT_PUBLIC,
        )
        for other in RIVALS
    )


def _claim_times(x: str, where: str) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            where,
            f"BUREL takes less time than {other}.",
            quicker(x, BUREL, other),
            fails=Verdict.OPEN,
            why=_OTHER_PROGRAMS,
        )
        for other in RIVALS
    )


def _describe(
    number: int,
    x: str,
    axis: str,
    measure: Callable[[Bench], Iterator[Row]],
    title: str,
    setting: str,
    *claims: Claim,
    differs: str = "",
) -> Experiment:
    return Experiment(
        title=f"loss and time by {title}",
        setting=f"CENSUS, {setting}",
        figures=(
            Figure(f"bl-{number}a", x, "ail", axis, "AIL"),
            Figure(f"bl-{number}b", x, "seconds", axis, "CPU seconds"),
        ),
        measure=measure,
        claims=claims,
        limits=OTHER_RECORDS + SPLIT,
        differs=DATA
        + differs
        + "Times are CPU seconds of compiled programs; the paper has clock times of Java programs.",
    )


_5A, _5B, _6A, _6B, _7A, _7B = (f"6.2, figure {name}" for name in ("5a", "5b", "6a", "6b", "7a", "7b"))
_FALL = "falls from the first to the last beta, and no step rises by more than 2 %"
_BETA = _describe(
    5,
    "beta",
    "beta",
    _by_beta,
    "beta",
    "three quasi-identifiers, beta = 1 to 5.",
    *(
        Claim(
            _5A,
            f"The loss of {method} falls as beta grows.",
            falls("beta", "ail", method, slack=_SLACK),
            judged=_FALL,
            limits=_ONLY_SPLIT if method == BUREL else "",
            fails=Verdict.NO_DATA,
            why=NOT_PUBLIC,
        )
        for method in PAPERS
    ),
    Claim(
        "4 and 6.2, figure 5a",
        "The loss of BUREL as the paper prints it, without the further split, falls as beta grows.",
        falls("beta", "ail", PRINTED, slack=_SLACK),
        judged=_FALL,
        why="How often the printed method can halve the table depends on how full its buckets are, and these change by "
        "leaps with beta: a larger beta may leave fewer and larger groups. It does so on random tables with shares "
        "like the paper's too (bl-groups)",
    ),
    *_claim_losses("beta", _5A),
    Claim(
        _5A,
        "LMondrian loses less information than DMondrian.",
        below("beta", "ail", LMONDRIAN, DMONDRIAN),
        fails=Verdict.NO_DATA,
        why=NOT_PUBLIC,
    ),
    Claim(
        _5A,
        "The loss of DMondrian is unacceptably high.",
        between("beta", "ail", DMONDRIAN, _UNACCEPTABLE, 1.0),
        judged="an AIL of at least 0.5 at every beta",
        fails=Verdict.NO_DATA,
        why=NOT_PUBLIC,
    ),
    *(
        Claim(
            "6.2, figure 5",
            f"BUREL loses almost half as much information as {other}.",
            ratio("beta", "ail", BUREL, other, *_HALF),
            judged="between 0.4 and 0.65 of it, on average over beta",
            fails=Verdict.AGAINST if other == LMONDRIAN else Verdict.NO_DATA,
            why=_WIDE_GROUPS if other == LMONDRIAN else NOT_PUBLIC,
        )
        for other in RIVALS
    ),
    *_claim_times("beta", f"{_5B}; abstract"),
    Claim(
        "6.2, figure 5",
        "BUREL takes about half the time of both Mondrians.",
        every(
            quicker("beta", BUREL, *RIVALS, factor=0.75),
            *(quicker("beta", other, BUREL, factor=3.0) for other in RIVALS),
        ),
        judged="between a third and three quarters of the time of each, at every beta",
        fails=Verdict.OPEN,
        why=_OTHER_PROGRAMS,
    ),
    differs="'Mondrian, narrowest' is a Mondrian that cuts its narrowest column into even halves and tries nothing "
    "else. It follows the only similar class in the authors' program; LMondrian itself was not released. It is shown "
    "beside the others because the paper's order may come from such a Mondrian; no claim is judged by it. ",
)
_COLUMNS = _describe(
    6,
    "columns",
    "quasi-identifiers",
    _by_columns,
    "the number of quasi-identifiers",
    "one to five quasi-identifiers, beta = 4.",
    *(
        Claim(
            _6A,
            f"The loss of {method} rises with the number of quasi-identifiers.",
            rises("columns", "ail", method, slack=_SLACK),
            judged="rises from one to five, and no step falls by more than 2 %",
            fails=Verdict.NO_DATA,
            why="AIL is a mean over columns, and a column added last may be narrow in all groups. " + NOT_PUBLIC,
        )
        for method in PAPERS
    ),
    *_claim_losses("columns", _6A),
    *_claim_times("columns", _6B),
)
_ROWS = _describe(
    7,
    "rows",
    "records",
    _by_rows,
    "the number of records",
    "three quasi-identifiers, beta = 4, one to five fifths of the largest table.",
    *(
        Claim(
            _7A,
            f"The number of records has no clear effect on the loss of {method}.",
            steady("rows", "ail", method, factor=_NO_EFFECT),
            judged="the largest mean is at most 20 % above the least",
            fails=Verdict.NO_DATA,
            why="The larger tables repeat records of the public ones. " + NOT_PUBLIC,
        )
        for method in PAPERS
    ),
    *(
        Claim(
            _7B,
            f"The time of {method} grows with the number of records.",
            takes_longer("rows", method),
            why="Measured on one machine, by intervals over repetitions",
        )
        for method in PAPERS
    ),
    *_claim_losses("rows", _7A),
    *_claim_times("rows", _7B),
)
EXPERIMENTS = (_BETA, _COLUMNS, _ROWS)
