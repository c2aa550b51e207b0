"""Whether a release may carry its columns: what someone finds who knows them, and when that is refused.

A promise speaks of quasi-identifiers. A carried column is published exactly beside them, and is safe as far as nobody
outside knows its values. How much hangs on that is measured (`audit.carried`). Where it is much, the release is refused
unless its owner states that nobody outside knows the values (`carry_anyway`), which the release repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lookalike.audit import CarriedRisk
from lookalike.data.carried_columns import join_names
from lookalike.data.microdata import Domains
from lookalike.errors import RecipeError, counted, quoted

_MOST_BROKEN = Fraction(1, 20)
"""A carried column is refused if someone who knows it breaks a promise for more than this share of persons,"""
_MOST_SINGLE = Fraction(1, 100)
"""or finds exactly one row for more than this share,"""
_MOST_CERTAIN = Fraction(1, 20)
"""or is certain of a sensitive value of more than this share for whom it was not certain before."""


def refuse_carried(risks: Sequence[CarriedRisk], domains: Domains) -> tuple[str, ...]:
    """Sentences about carried columns that reveal something; raises `RecipeError` if some reveal much unstated."""
    stated = {domain.name for domain in domains.carried if domain.attribute.carry_anyway}
    base = next((risk for risk in risks if not risk.columns), None)
    said, refused, columns = [], [], dict[str, None]()
    for risk in risks:
        if not risk.columns or not _reveals(risk, base):
            continue
        sentence = describe_risk(risk, base)
        if stated.isdisjoint(risk.columns):
            if is_much(risk, base) and not columns.keys() >= set(risk.columns):
                columns |= dict.fromkeys(risk.columns)
                refused.append(sentence)
        elif len(risk.columns) == 1:
            sentence += " You state that nobody outside knows it, and the release says so."
        said.append(sentence)
    if refused:
        raise RecipeError(f"{' '.join(refused)} {_ways_out(list(columns))}")
    return tuple(said)


def _reveals(risk: CarriedRisk, base: CarriedRisk | None) -> bool:
    """Whether someone who knows the columns achieves more than was promised, finds a row, or becomes certain."""
    return risk.n_broken != 0 or bool(_count_single(risk)) or bool(_count_newly_certain(risk, base))


def is_much(risk: CarriedRisk, base: CarriedRisk | None = None) -> bool:
    """Whether that is for so many persons that the columns are refused; `base`: the same without them."""
    if risk.n_broken is None:
        return True
    return (
        risk.n_broken > _MOST_BROKEN * risk.n_persons
        or _count_single(risk) > _MOST_SINGLE * risk.n_persons
        or _count_newly_certain(risk, base) > _MOST_CERTAIN * risk.n_persons
    )


def _count_newly_certain(risk: CarriedRisk, base: CarriedRisk | None) -> int:
    """Persons of whom a sensitive value is certain only to someone who knows the columns: the most of any column."""
    before = {} if base is None else base.n_certain
    after = risk.n_certain or _certain(risk)
    return max((number - before.get(name, 0) for name, number in after.items()), default=0)


def describe_risk(risk: CarriedRisk, base: CarriedRisk | None = None) -> str:
    """What someone achieves who knows the columns; `base`: the same without them."""
    names = join_names(risk.columns)
    noun = "columns" if len(risk.columns) > 1 else "column"
    parts = [f"finds exactly one row for {_count_single(risk):,} of {counted(risk.n_persons, 'person')}"]
    parts += [f"is certain of {quoted(name)} for {number:,}" for name, number in _certain(risk).items()]
    found = ", and ".join(parts)
    more = []
    if risk.n_broken is None:
        more.append(f"whether {join_names(risk.broken, plain=True)} still holds is not decided")
    elif risk.n_broken:
        listed = [f"{promise} for {counted(number or 0, 'person')}" for promise, number in risk.broken.items()]
        more.append(f"it breaks {join_names(listed, plain=True)}")
    if risk.least is not None and base is not None and base.least is not None and risk.least < base.least:
        more.append(f"smallest group {risk.least} instead of {base.least}")
    tail = f" ({'; '.join(more)})" if more else ""
    return (
        f"The carried {noun} {names}: someone who also knows {'them' if len(risk.columns) > 1 else 'it'} {found}{tail}."
    )


def _count_single(risk: CarriedRisk) -> int:
    """Persons with exactly one candidate row: as a reader finds them, or by classes where these were not counted."""
    return (risk.n_alone if risk.n_single_candidate is None else risk.n_single_candidate) or 0


def _certain(risk: CarriedRisk) -> dict[str, int]:
    return dict(risk.n_certain if risk.n_single_candidate is None else risk.n_certain_candidates)


def _ways_out(names: list[str]) -> str:
    flag = ",".join(name if name.isidentifier() else quoted(name) for name in names)
    one = names[0] if names[0].isidentifier() else quoted(names[0])
    return (
        f"If outsiders may know such values, make them quasi-identifiers (--qi), publish them coarser (--coarsen "
        f"{one}=width:...) or leave them out. If nobody outside can know them, say so: --carry-anyway {flag} "
        "(carry_anyway in Python, carry_anyway: true in a schema), which the release states."
    )
