"""The three questions of the regulators about an anonymised table, answered for a release in one sentence each.

Opinion 05/2014 of the Article 29 Working Party (WP216) asks whether one can still single out a person, link the records
of a person, or infer something about a person. Each answer has a verdict word:

    bounded    a promise that was checked sets a limit
    measured   no promise sets a limit; an attack says how far one gets, in the owner's report
    open       nothing is in the way: exact quasi-identifiers, a number per person, no promise about values

The words follow from what is published. What the attacks found is scored on the original, so it is added for the owner
alone. k-anonymity does not stop predicates that single someone out (Cohen and Nissim, PNAS 2020), and no verdict says
so: it says how many people a row can be given to. Whether a table is anonymous is the reader's decision.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lookalike.data.cell_kinds import ENDS, EXACT, LISTED, ROUNDED
from lookalike.data.contracts import Finding, Residual
from lookalike.data.person_settings import LINKED
from lookalike.data.release import Bucketized, Perturbed
from lookalike.errors import counted

if TYPE_CHECKING:
    from lookalike.attacks.run import Attacks
    from lookalike.evaluation.report.basis import Basis

_SINGLING_OUT, _LINKABILITY, _INFERENCE = RISKS = ("singling out", "linkability", "inference")
_BOUNDED, _MEASURED, _OPEN = VERDICTS = ("bounded", "measured", "open")
_ATTACKS = {_SINGLING_OUT: "singling-out", _LINKABILITY: "linkability", _INFERENCE: "inference"}
_VALUE_MODELS = frozenset(
    ("l-diversity", "beta-likeness", "t-closeness", "delta-disclosure", "f-privacy", "rho-privacy", "alpha-k")
)
NO_FIGURE = "not measured"


@dataclass(frozen=True)
class Risk:
    """One of the three risks of a release."""

    name: str
    """One of `RISKS`."""
    verdict: str
    """One of `VERDICTS`."""
    sentence: str
    """Why, naming the columns."""
    figure: str
    """The one number to show beside it."""
    residual: Residual | None = None
    """What the attack of this name found, for the owner alone."""


def three_risks(basis: Basis, attacks: Attacks | None = None) -> tuple[Risk, Risk, Risk]:
    """Singling out, linkability and inference, in that order.

    `attacks`: what was found on this release. It is scored on the original: leave it out of what others read.
    """
    found = {} if attacks is None else _find_worst(attacks)
    return _judge_singling_out(basis, found), _judge_linkability(basis, found), _judge_inference(basis, found)


def _find_worst(attacks: Attacks) -> dict[str, Finding]:
    """The finding of each attack that says most: that with the largest residual, or the most right guesses."""
    worst: dict[str, Finding] = {}
    for attacked in attacks.made:
        finding = attacked.finding
        name = finding.attack.partition(":")[0]
        if name in _ATTACKS.values() and finding.residual is not None:
            rival = worst.get(name)
            if rival is None or _rank(finding) > _rank(rival):
                worst[name] = finding
    return worst


def _rank(finding: Finding) -> tuple[float, float]:
    found = finding.residual
    assert found is not None
    return (-1.0 if found.uncut is None else found.uncut, found.share)


def _join(names: Sequence[str]) -> str:
    """
    >>> _join(["age", "sex", "zip code"])
    'age, sex and zip code'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _quasi(basis: Basis) -> str:
    """The quasi-identifiers by name; of many, the first few."""
    return basis.wording.describe_known()


def _people(basis: Basis) -> tuple[str, str]:
    """What is counted: the noun and its plural."""
    noun = "person" if basis.unit is None else basis.unit.noun
    return noun, "people" if noun == "person" else f"{noun}s"


def _least_k(basis: Basis) -> int:
    """How many people at least each row can be given to, as the audit shows; 0: it shows nothing of the kind."""
    shown = []
    for verdict in (*basis.audit.verdicts, *basis.audit.measured):
        if verdict.letter == "k" and verdict.column is None and verdict.passed is not False:
            level = verdict.reached if verdict.reached is not None else verdict.asked
            shown.append(0 if level is None else int(level))
    return max(shown, default=0)


def _figure_of(finding: Finding | None) -> tuple[str, Residual | None]:
    found = None if finding is None else finding.residual
    if found is None or not found.is_large_enough:
        return NO_FIGURE, found
    if found.residual is None:
        return f"{100 * found.share:.0f} % right", found
    return f"{100 * found.residual:.0f} %", found


def _measured_tail(basis: Basis, finding: Finding | None) -> str:
    """What the attack found, in a sentence that follows; who reads the public report learns that it is measured."""
    if finding is not None and finding.residual is not None:
        return f" {finding.residual.sentence()}"
    return " No attack was made for this report." if basis.internal else ""


def _judge_singling_out(basis: Basis, found: Mapping[str, Finding]) -> Risk:
    columns, (_, people), least = _quasi(basis), _people(basis), _least_k(basis)
    finding = found.get(_ATTACKS[_SINGLING_OUT])
    figure, residual = _figure_of(finding)
    exact = [name for name, kind in basis.cells.items() if kind == EXACT]
    if basis.form in (Bucketized.form, Perturbed.form) or (exact and len(exact) == len(basis.domains.quasi)):
        said = f"The release shows {columns} exactly, so someone who knows these of a person can find the person's row."
        return Risk(_SINGLING_OUT, _OPEN, said, "exact", residual)
    if least < 2:
        said = f"No promise that was checked hides a row among several {people} for someone who knows {columns}."
        return Risk(_SINGLING_OUT, _MEASURED, said + _measured_tail(basis, finding), figure, residual)
    hidden = f"no row can be given to fewer than {least} {people} by {columns}"
    data_of_people = exact + [name for name, kind in basis.cells.items() if kind in (ENDS, LISTED)]
    carried = [domain.name for domain in basis.domains.carried]
    if not basis.cells or any(kind in (EXACT, ENDS) for kind in basis.cells.values()) or carried:
        why = _explain_unbounded(basis, data_of_people, carried)
        said = f"{hidden[0].upper()}{hidden[1:]}, {why}."
        return Risk(_SINGLING_OUT, _MEASURED, said + _measured_tail(basis, finding), figure, residual)
    said = f"{hidden[0].upper()}{hidden[1:]}, and the ends of intervals are rounded, so they are nobody's values."
    if not any(kind == ROUNDED for kind in basis.cells.values()):
        said = f"{hidden[0].upper()}{hidden[1:]}."
    return Risk(_SINGLING_OUT, _BOUNDED, said, f"1 in {least}", residual)


def _explain_unbounded(basis: Basis, data_of_people: Sequence[str], carried: Sequence[str]) -> str:
    if carried:
        return f"but someone who knows {_join(carried)}, which the release carries along, may find the row"
    if not basis.cells:
        return "but whether the ends of intervals are rounded was not looked at"
    return f"but the cells of {_join(data_of_people)} show values that people in the group have"


def _judge_linkability(basis: Basis, found: Mapping[str, Finding]) -> Risk:
    columns, (noun, people), least = _quasi(basis), _people(basis), _least_k(basis)
    finding = found.get(_ATTACKS[_LINKABILITY])
    figure, residual = _figure_of(finding)
    if basis.persons is not None and basis.persons.settings.rows == LINKED:
        said = f"The release numbers its {noun}s, so the rows of a {noun} are linked by design."
        return Risk(_LINKABILITY, _OPEN, said, "linked", residual)
    if least >= 2:
        said = f"Within a group, someone who links files by {columns} is right about 1 of {least} {people} at best"
        said += ", and no promise speaks of links across groups."
        figure = f"1 in {least}" if figure == NO_FIGURE else figure
    else:
        said = f"No promise limits how well files about the same {people} can be linked by {columns}."
    if basis.series is not None:
        said += " The release was held against earlier ones of the same people."
    return Risk(_LINKABILITY, _MEASURED, said + _measured_tail(basis, finding), figure, residual)


def _judge_inference(basis: Basis, found: Mapping[str, Finding]) -> Risk:
    finding = found.get(_ATTACKS[_INFERENCE])
    figure, residual = _figure_of(finding)
    sensitive = [domain.name for domain in basis.domains.sensitive]
    columns = _quasi(basis)
    if not sensitive:
        said = f"No column is declared sensitive, so nothing limits what {columns} say about a person."
        return Risk(_INFERENCE, _OPEN, said, "no limit", residual)
    kept = _kept_promises(basis)
    guests = {column for column, model in kept if model not in _VALUE_MODELS}
    bounded = {column for column, model in kept if model in _VALUE_MODELS}
    bare = [name for name in sensitive if name not in bounded | guests]
    if bare:
        said = f"No promise limits what {columns} say about {_join(bare)}."
        shown = figure if figure != NO_FIGURE else "no limit"
        return Risk(_INFERENCE, _OPEN, said + _measured_tail(basis, finding), shown, residual)
    if guests - bounded:
        named = [name for name in sensitive if name in guests - bounded]
        said = f"A promise about {_join(named)} was checked, and it names no highest certainty."
        return Risk(_INFERENCE, _MEASURED, said + _measured_tail(basis, finding), figure, residual)
    about_values = [
        promise for promise in basis.promises if promise.column is not None and promise.model.name in _VALUE_MODELS
    ]
    said = " ".join(basis.wording.tell(about_values))
    return Risk(_INFERENCE, _BOUNDED, said, _ceiling(basis), residual)


def _kept_promises(basis: Basis) -> Collection[tuple[str, str]]:
    """Columns with models about their values that the audit found kept."""
    passed = {(verdict.column, verdict.model) for verdict in basis.audit.verdicts if verdict.passed}
    return [
        (promise.column, promise.model.name)
        for promise in basis.promises
        if promise.column is not None and (promise.column, str(promise.model)) in passed
    ]


def _ceiling(basis: Basis) -> str:
    """The highest certainty that the release leaves, where it shows one, or the promise by its letter."""
    highest = [
        float((seen.weights / seen.sizes[seen.unit_of_entry]).max(initial=0.0))
        for seen in basis.seen.values()
        if len(seen.weights)
    ]
    if highest and len(basis.seen) == len(basis.domains.sensitive):
        return f"{100 * max(highest):.0f} % at most"
    models = dict.fromkeys(str(promise.model) for promise in basis.promises if promise.column is not None)
    return ", ".join(models) or counted(len(basis.promises), "promise")
