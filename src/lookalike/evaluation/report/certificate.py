"""Page one of a report: everything that someone needs who signs, on one sheet.

What is said at length in the annex is said here in a sentence. Lists are cut after so many letters, with the number of
what is left out, so that the sheet is one sheet whatever the table; the annex has them in full.

It is made from the same `Basis` as the rest of the report. The one that goes with the release says nothing that is
scored on the original: of the risk before it says what any table allows that is published unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lookalike.data.series_modes import describe_mode
from lookalike.data.statement import Statement
from lookalike.evaluation.evaluate import Evaluation
from lookalike.evaluation.report.basis import Basis, belief_table
from lookalike.evaluation.report.columns import NamedColumns, list_columns
from lookalike.evaluation.report.risk import Chance, RiskLine, found_among, people_by_size
from lookalike.evaluation.report.short_lists import clip, clip_sentences, join_some
from lookalike.evaluation.report.uses import Uses, list_uses
from lookalike.evaluation.three_risks import NO_FIGURE, Risk, three_risks

_LONGEST_RISK = 320
_LETTERS_PER_LINE, _FEW_LINES, _MANY_LINES = 60, 70, 95


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What page one says."""

    columns: tuple[NamedColumns, ...]
    """Removed, coarsened, exact, sensitive."""
    promises: tuple[str, ...]
    """In words, with the names of the columns."""
    attacker: str
    risks: tuple[RiskLine, ...]
    """Before and after."""
    risk_notes: tuple[str, ...]
    three: tuple[Risk, ...]
    """Singling out, linkability and inference."""
    three_in_short: tuple[str, ...]
    """Sentences about each that fit."""
    uses: Uses
    not_promised: tuple[str, ...]
    to_decide: tuple[str, ...]
    """What anyone who signs must judge."""
    digests: Mapping[str, str]
    """The SHA-256 of every file that the report goes with."""

    @property
    def density(self) -> str:
        """How small it must be printed to fit on a sheet: `roomy`, `usual` or `dense`."""
        texts = (*(listed.shown for listed in self.columns), *self.promises[:3], *self.three_in_short)
        texts = (*texts, *self.not_promised, *self.to_decide, *self.uses.useful[:5], *self.uses.not_useful[:5])
        lines = sum(len(text) // _LETTERS_PER_LINE + 1 for text in texts)
        lines += 2 * len(self.digests) + 3 * len(self.risks)
        return "roomy" if lines <= _FEW_LINES else "usual" if lines <= _MANY_LINES else "dense"


def make_certificate(
    basis: Basis, stated: Statement, evaluation: Evaluation | None, digests: Mapping[str, str]
) -> Certificate:
    three = three_risks(basis, None if evaluation is None else evaluation.attacks)
    return Certificate(
        columns=list_columns(basis.domains, basis.cells, basis.form, basis.removed, basis.n_removed_unnamed),
        promises=basis.wording.tell(basis.promises),
        attacker=f"someone who {basis.wording.describe_adversary()}",
        risks=(risks := _list_risks(basis, stated, evaluation)),
        risk_notes=_note_risks(basis, risks, stated),
        # What attacks found is in the sentences, to whole percents.
        three=tuple(_publish_risk(risk, basis) for risk in three),
        three_in_short=tuple(_shorten_risk(risk, basis) for risk in three),
        uses=list_uses(basis, evaluation),
        not_promised=_list_not_promised(basis),
        to_decide=_list_to_decide(basis, stated, three) if basis.internal else (),
        digests=dict(digests),
    )


# -- promises ---------------------------------------------------------------------------------------------------------


def _publish_risk(risk: Risk, basis: Basis) -> Risk:
    """The risk in the words of the page; a figure that stays with the publisher is not called unmeasured."""
    figure = "no figure published" if risk.figure == NO_FIGURE and not basis.internal else risk.figure
    return replace(risk, residual=None, figure=figure)


def _shorten_risk(risk: Risk, basis: Basis) -> str:
    """The sentence of a risk; where a promise bounds it, which one, since its words are above."""
    bound = [str(promise) for promise in basis.promises if promise.column is not None]
    if risk.name == "inference" and risk.verdict == "bounded":
        return f"Limited by the promise about {join_some([clip(text, 40) for text in bound])}."
    return clip_sentences(risk.sentence, _LONGEST_RISK)


# -- risk before and after --------------------------------------------------------------------------------------------


def _list_risks(basis: Basis, stated: Statement, evaluation: Evaluation | None) -> tuple[RiskLine, ...]:
    before = basis.before
    unknown = Chance(1.0)
    lines = []
    after = _found_after(basis, evaluation)
    promised = None if after.highest is not None or basis.unit is not None else _promised_chance(basis)
    noun = "person's row" if basis.unit is None else basis.unit.noun
    lines.append(
        RiskLine(f"finding a {noun}, known to be in the table", before.found if before else unknown, after, promised)
    )
    fraction = _find_fraction(basis, stated)
    people = _people(basis)
    if fraction is not None and people:
        without = found_among(before.sizes, fraction) if before else Chance()
        lines.append(
            RiskLine(
                f"finding a {noun}, known to be one of {stated.population:,} people",
                without,
                found_among(people, fraction),
            )
        )
    for place, domain in enumerate(basis.domains.sensitive):
        certain = before.certain[domain.name] if before else unknown
        known = basis.certain.get(place, Chance())
        allowed = None if known.highest is not None else _promised_certainty(basis, domain.name)
        what, blind = f"guessing {clip(domain.name, 40)}", _guess_blindly(basis, place)
        lines.append(RiskLine(what, certain, known, allowed, domain.name, blind))
    return tuple(lines)


def _guess_blindly(basis: Basis, place: int) -> float | None:
    """The share of the most frequent published value: how often a guess is right that looks at nobody's group."""
    if place not in basis.seen:
        return None
    return max((line.share for line in belief_table(basis, place).lines), default=None)


def _people(basis: Basis) -> Mapping[int, int]:
    """How many people share what is known with so many, where each row is a person."""
    if basis.unit is not None:
        return {}
    return people_by_size(basis.crowds, basis.form) if not basis.points else basis.points


def _found_after(basis: Basis, evaluation: Evaluation | None) -> Chance:
    if basis.unit is None:
        return found_among(_people(basis))
    for attacked in () if evaluation is None else evaluation.attacks.made:
        figures = attacked.finding.figures
        if attacked.finding.attack.partition(":")[0] == "linkage" and "mean prosecutor risk" in figures:
            return Chance(figures["highest prosecutor risk"], figures["mean prosecutor risk"]).round()
    return Chance()


def _find_fraction(basis: Basis, stated: Statement) -> float | None:
    """The share of the population that is in the table, where the population is stated."""
    n_people = basis.audit.n_rows + basis.withheld.n_suppressed - basis.withheld.n_dummies
    if stated.population is None or basis.unit is not None or not 0 < n_people <= stated.population:
        return None
    return n_people / stated.population


def _promised_chance(basis: Basis) -> float | None:
    """1 in the k that was promised, where the release does not show more."""
    asked = [
        int(verdict.asked)
        for verdict in basis.audit.verdicts
        if verdict.letter == "k" and verdict.column is None and verdict.passed and verdict.asked
    ]
    return 1 / max(asked) if asked else None


def _promised_certainty(basis: Basis, column: str) -> float | None:
    """The highest certainty that the promises allow about any value, whatever its share."""
    models = (promise.model for promise in basis.promises if promise.column == column)
    found = [float(1 / model.asked) for model in models if model.name == "l-diversity" and _bounds_every_value(model)]
    return min(found, default=None)


def _bounds_every_value(model: object) -> bool:
    return str(model).startswith("l-diversity:") and "," not in str(model)


def _note_risks(basis: Basis, risks: Sequence[RiskLine], stated: Statement) -> tuple[str, ...]:
    said = []
    if basis.before is None:
        said.append(
            "Before: what an unchanged table allows. The figures of this one are scored on the original and stay with "
            "the publisher."
        )
    if any(line.after.highest is None for line in risks):
        said.append(
            "Not published: depends on more than the release shows; where the promise sets a limit, the limit is given."
            if not basis.internal
            else "Not measured for this form of release."
        )
    if stated.population is not None and len(risks) and any("known to be one of" in line.what for line in risks):
        said.append(
            "The size of the population, and that the table is a random sample of it, is stated by the publisher."
        )
    return tuple(said)


# -- what is not promised ---------------------------------------------------------------------------------------------


def _list_not_promised(basis: Basis) -> tuple[str, ...]:
    columns = list(dict.fromkeys(promise.column for promise in basis.promises if promise.column is not None))
    unbound = [domain.name for domain in basis.domains.sensitive if domain.name not in columns]
    said = ["That a person is in the table is not hidden."]
    if unbound:
        said.append(f"Nothing limits what can be learned about {join_some(unbound)}.")
    quasi = join_some([domain.name for domain in basis.domains.quasi])
    said.append(f"Someone who knows more than {quasi}, such as the values of others in the table, can infer more.")
    if basis.unit is not None and basis.unit.known == "one row":
        said.append(f"An attacker who knows several rows of a {basis.unit.noun} can combine them and infer more.")
    said.append(
        "A second release about the same people can break the promise."
        if basis.series is None
        else f"{describe_mode(basis.series)} Releases outside of it can break the promise."
    )
    said.append("What is true of whole groups (smokers fall ill more often) can be learned: the data are for that.")
    said += _describe_carried(basis)
    said.append(_describe_knowledge(basis))
    return tuple(said)


def _describe_carried(basis: Basis) -> list[str]:
    carried = [domain.name for domain in basis.domains.carried]
    if not carried:
        return []
    worst = max(
        (risk for risk in basis.carried if risk.columns),
        key=lambda risk: risk.n_single_candidate if risk.n_single_candidate is not None else risk.n_alone or 0,
        default=None,
    )
    figure = ""
    if worst is not None:
        by_candidates = worst.n_single_candidate is not None
        single = worst.n_single_candidate if by_candidates else worst.n_alone
        known = join_some(list(worst.columns))
        if single is not None:
            where = "finds exactly one row" if by_candidates else "leaves one row of the group"
            figure = f" Someone who also knows {known} {where} for {single:,} of {worst.n_persons:,} persons."
    verb = "is" if len(carried) == 1 else "are"
    stated = [domain.name for domain in basis.domains.carried if domain.attribute.carry_anyway]
    told = " The publisher states that nobody outside knows it." if stated else ""
    if len(stated) > 1:
        told = f" The publisher states that nobody outside knows {join_some(stated)}."
    return [f"{join_some(carried)} {verb} carried: published exactly, and no promise speaks of it.{figure}{told}"]


def _describe_knowledge(basis: Basis) -> str:
    start = "Common knowledge (men do not give birth) can rule values out"
    if not basis.internal:
        return f"{start} and make an attacker surer than the promise says."
    if not basis.conditioned:
        return f"{start}. It was not taken into account: no rules were given (--knowledge FILE)."
    broken = [one.n_broken for one in basis.conditioned if one.verdict.passed is not None and one.n_broken]
    found = f"for up to {max(broken):,} persons a promise does not hold" if broken else "the promises hold"
    rules = "1 rule" if len(basis.rules) == 1 else f"{len(basis.rules)} rules"
    return f"Common knowledge was taken into account by {rules}: against someone who uses them {found}."


def _list_to_decide(basis: Basis, stated: Statement, three: Sequence[Risk]) -> tuple[str, ...]:
    """What no figure decides."""
    said = []
    if not basis.audit.passed:
        return ("The audit failed: do not sign.",)
    by_word = {word: [risk for risk in three if risk.verdict == word] for word in ("open", "measured")}
    if by_word["open"]:
        verb = "are" if len(by_word["open"]) > 1 else "is"
        risky = join_some([risk.name for risk in by_word["open"]])
        said.append(f"{risky.capitalize()} {verb} open. Sign only if the recipient is bound by other means.")
    if by_word["measured"]:
        risky = join_some([f"{risk.name} ({risk.figure})" for risk in by_word["measured"]])
        said.append(f"{risky[0].upper()}{risky[1:]}: measured, not promised. Is that acceptable for this recipient?")
    names = [domain.name for domain in basis.domains.carried if domain.attribute.carry_anyway]
    if names:
        said.append(f"Is it true that nobody outside knows {join_some(names)}?")
    if basis.persons is not None and basis.persons.settings.rows_are_persons:
        said.append("Is it true that every row is a different person, although an identifier repeats?")
    kept = [domain.name for domain in basis.domains.all if domain.attribute.keep_identifiers]
    if kept:
        said.append(f"Is it true that the values of {join_some(kept)} identify nobody?")
    missing = [
        words
        for words, given in (
            ("purpose", stated.purpose),
            ("recipient", stated.recipient),
            ("legal basis", stated.legal_basis),
            ("review date", stated.review_date),
        )
        if given is None
    ]
    if missing:
        said.append(f"Not stated: {join_some(missing)}.")
    said.append(
        "Do people outside know other columns of these people than "
        f"{join_some([domain.name for domain in basis.domains.quasi])}?"
    )
    return tuple(said)
