"""What the experiments of BL share: its methods, its tables, and what is said about both.

Methods are named as in the paper. BUREL is the authors' program: along a Hilbert curve, buckets filled as printed, and
finished groups split further, a step that the paper does not print. "BUREL as printed" leaves that step out. LMondrian,
DMondrian and tMondrian are `lmondrian`, `dmondrian` and `tmondrian`. SABRE is our reconstruction. The model is enhanced
beta-likeness throughout.
"""

from __future__ import annotations

from lookalike.apps.papers.bl.narrowest_mondrian import NarrowestMondrian
from lookalike.apps.papers.experiments import Bench, Made, Named
from lookalike.apps.papers.journal import Row
from lookalike.data.microdata import Microdata

NAMES = ("age", "gender", "education", "marital", "workclass")
"""The paper's quasi-identifiers in its order; the first three are its default."""
DEFAULT = NAMES[:3]
BETAS = (1, 2, 3, 4, 5)
BETA = 4
BUREL, PRINTED, LMONDRIAN, DMONDRIAN = "BUREL", "BUREL as printed", "LMondrian", "DMondrian"
SABRE, TMONDRIAN = "SABRE (rebuilt)", "tMondrian"
_NARROWEST = "Mondrian, narrowest"
RIVALS = (LMONDRIAN, DMONDRIAN)
PAPERS = (BUREL, *RIVALS)
"""What figures 5 to 8 compare."""
GENERALIZED: dict[str, Named] = {
    BUREL: "burel:retrieve=curve,fill=1,split=yes",
    LMONDRIAN: "lmondrian",
    DMONDRIAN: "dmondrian",
}
AS_PRINTED: dict[str, Named] = {PRINTED: "burel:retrieve=curve,fill=1,split=no"}
BESIDE: dict[str, Named] = {**AS_PRINTED, _NARROWEST: NarrowestMondrian()}
"""Shown beside them where beta varies; they take part in no comparison."""
CLOSE: dict[str, Named] = {SABRE: "sabre:retrieve=curve", TMONDRIAN: "tmondrian"}

OTHER_RECORDS = (
    "Other records than the paper's: occupations of a public census extract, where the paper has salary classes."
)
REBUILT = "SABRE is our reconstruction from a short description."
NOT_PUBLIC = (
    "The paper's 500,000 records with salary classes are not public, and how values depend on quasi-identifiers "
    "decides this."
)
DATA = (
    "The sensitive column is occupation (50 values), not salary class (50 values). There are no hierarchies: a "
    "published category is a set of values. Tables of more than the 100,000 public records are drawn from these with "
    "replacement. "
)
SPLIT = (
    " BUREL splits finished groups further while their own values allow it, as the authors' program does; the paper "
    "does not print this step ('BUREL as printed' is without it). Where both are measured (figures 4a, 5 and 8b), only "
    "the verdict on its loss by beta depends on it."
)


def likeness(beta: object) -> str:
    return f"beta-likeness:{beta}"


def default_table(bench: Bench) -> Microdata:
    """The paper's default: the largest table, three quasi-identifiers."""
    return bench.datasets.census(bench.most_rows, DEFAULT)


def real_table(bench: Bench) -> Microdata:
    """The same with as many records as there are, none drawn twice."""
    return bench.datasets.census(min(bench.most_rows, bench.datasets.n_census), DEFAULT)


def repeat_twice(bench: Bench) -> int:
    """Repetitions where only means are compared."""
    return bench.repeat(2)


def repeat_thrice(bench: Bench) -> int:
    """Repetitions where times are compared, or where one draw says little; one where the size has only one."""
    return 3 if bench.size.repetitions > 1 else 1


def list_reached(made: Made) -> Row:
    """What a release keeps, next to whatever else is measured of it."""
    return {"reached_beta": made.beta, "reached_t": made.t, "reached_l": made.diversity}
