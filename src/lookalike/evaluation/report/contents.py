"""What a report says, as plain data: one for the owner of the original, and one that is in the release folder.

The public one says what the release itself shows (`Basis.public`). Figures that were scored on the original (right
guesses, errors of queries, predictions) are in the owner's, and in the public one on request. They are rounded to whole
percents, and those of fewer than 100 guesses are left out, since they would vary too much to judge a release by.
"""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from lookalike.algorithms.shared.fixed_cells import FixedCells
from lookalike.attacks import ATTACKS
from lookalike.attacks.run import as_sentence
from lookalike.attacks.shared.consequence import best_baseline
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.carried_columns import state_carried
from lookalike.data.coarsening import Coarsening
from lookalike.data.contracts import LEAST_GUESSES, Finding, Residual
from lookalike.data.microdata import Domain
from lookalike.data.parameters import describe, number_text
from lookalike.data.schema import Role
from lookalike.data.statement import UNTITLED, Statement
from lookalike.evaluation.before_after import BeforeAfter
from lookalike.evaluation.evaluate import Answered, Evaluation
from lookalike.evaluation.report.basis import Basis, BeliefTable, SizeLine, belief_table, size_lines
from lookalike.evaluation.report.carried import CarriedLine, list_carried
from lookalike.evaluation.report.certificate import Certificate, make_certificate
from lookalike.evaluation.report.examples import Examples
from lookalike.evaluation.report.knowledge import RuledLine, list_ruled
from lookalike.evaluation.report.page import draw_pictures, to_html
from lookalike.evaluation.report.remarks import list_cautions, list_withheld
from lookalike.evaluation.tradeoff import Tradeoff
from lookalike.files.identifiers.values import state_kept
from lookalike.version import __version__

_LIBRARIES = ("numpy", "scipy", "numba", "polars")


@dataclass(frozen=True)
class ColumnLine:
    """One published column."""

    name: str
    role: str
    kind: str
    domain: str
    loss: float | None


@dataclass(frozen=True)
class AttackLine:
    """What one attack achieved, to whole percents."""

    attack: str
    what: str
    """What the attacker does, in words."""
    column: str | None
    right: float | None
    """Share of guesses that are right; where none are scored, the highest chance of being right about anybody."""
    at_most: bool
    """Whether it is that chance."""
    honest: float | None
    """The baseline: what someone who simply reads the table gets right."""
    baseline: str
    """How such a reader guesses."""
    control: float | None
    """Share of the same guesses that are right about people who are not in the table; None without a control group."""
    residual: tuple[float, float, float] | None
    """What is learned about people because they are in the table, with the ends of its interval of 95 %."""
    succeeds: bool | None
    guesses: bool
    """Whether there was anybody to guess about."""
    within: bool | None
    """Whether all its probabilities, right or wrong, stay within what was promised of the release; None: it has
    none.
    """
    word: str
    """What this means for signing, in a word (`attacks.shared.consequence`)."""
    means: str
    """The same in a sentence."""


@dataclass(frozen=True)
class UseLine:
    """One figure of the original and of the release, to two digits."""

    what: str
    original: float
    release: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything the page shows."""

    title: str
    internal: bool
    """Whether this is for the owner of the original alone."""
    recipient: str | None
    stated: dict[str, Any]
    """What else the publisher states: purpose, legal basis, review date, contact, population."""
    certificate: Certificate
    """Page one."""
    date: str
    n_rows: int
    n_suppressed: int
    n_made_up: int
    form: str
    form_sentence: str
    adversary: str
    adversary_sentence: str
    promises: tuple[dict[str, str], ...]
    persons: tuple[str, ...]
    """Whose rows these are, where persons may have several."""
    unit: str | None = None
    """What is counted in place of rows: person or household."""
    known: str | None = None
    """The rows of it that the attacker knows."""
    most_rows: int | None = None
    """The most rows of a person that are published; None: all."""
    states_persons: bool = False
    """Whether it is the publisher alone who says that each row is a different person."""
    states_identifiers: str | None = None
    """What the publisher states of columns whose values hold identifiers."""
    states_carried: str | None = None
    """What the publisher states of carried columns."""
    carried: tuple[CarriedLine, ...] = ()
    """What carried columns reveal to someone who knows them, none first."""
    rules: tuple[str, ...] = ()
    """Rules of common knowledge that promises were held against. For the owner."""
    with_rules: tuple[RuledLine, ...] = ()
    """The promises held against someone who uses the rules. For the owner."""
    numbers: tuple[str, ...] = ()
    """How many persons and rows the original has. For the owner."""
    against_rows: str | None = None
    """What protecting persons costs against rows. For the owner."""
    cautions: tuple[str, ...]
    audit: dict[str, Any]
    beliefs: tuple[BeliefTable, ...]
    sizes: tuple[SizeLine, ...]
    columns: tuple[ColumnLine, ...]
    losses: dict[str, float]
    bound_sentence: str | None
    ends_sentence: str
    attacks: tuple[AttackLine, ...] = ()
    attacks_not_made: dict[str, str] = field(default_factory=dict)
    """Attacks that say nothing about such a release, with the reason."""
    attacks_not_run: dict[str, str] = field(default_factory=dict)
    """Attacks that apply to it and were not made, with the reason."""
    answers: tuple[Answered, ...] = ()
    uses: tuple[UseLine, ...] = ()
    before_after: BeforeAfter | None = None
    tradeoff: Tradeoff | None = None
    left_out: tuple[str, ...]
    """What was not evaluated, and why."""
    examples: Examples | None
    advice: tuple[str, ...]
    """What was reached beyond what was asked, what cost most, what would be worth a trial."""
    settings: tuple[str, ...]
    """What a careful reader should know about the settings."""
    algorithm: str
    command: str
    """What makes such a release from the table and the schema in the folder."""
    versions: dict[str, str]

    @classmethod
    def on(
        cls,
        basis: Basis,
        stated: Statement,
        *,
        evaluation: Evaluation | None = None,
        examples: Examples | None = None,
        digests: Mapping[str, str] = MappingProxyType({}),
    ) -> Report:
        """A report on what is known about a release; nobody needs to hold its rows.

        `stated` has its title and, if it is not of today, its date; `digests` are those of the files beside it.
        """
        return cls(
            title=stated.title or UNTITLED,
            internal=basis.internal,
            recipient=stated.recipient,
            stated={name: given for name, given in stated.to_plain().items() if name in _STATED},
            certificate=make_certificate(basis, stated, evaluation, digests),
            date=stated.day.isoformat(),
            n_rows=basis.audit.n_rows,
            n_suppressed=basis.withheld.n_suppressed,
            n_made_up=basis.withheld.n_dummies,
            form=basis.form,
            form_sentence=_FORMS[basis.form] if basis.unit is None else _describe_rows(basis.form, basis.unit.noun),
            adversary=basis.adversary,
            adversary_sentence=basis.wording.describe_adversary(),
            promises=tuple(
                {"text": str(promise), "sentence": promise.sentence(basis.wording)} for promise in basis.promises
            ),
            persons=() if basis.persons is None else tuple(basis.persons.sentences()),
            unit=None if basis.unit is None else basis.unit.noun,
            known=None if basis.unit is None else basis.unit.known,
            most_rows=None if basis.persons is None else basis.persons.settings.most_rows,
            states_persons=basis.persons is not None and basis.persons.settings.rows_are_persons,
            states_identifiers=state_kept(domain.attribute for domain in basis.domains.all),
            states_carried=state_carried(domain.attribute for domain in basis.domains.carried),
            carried=list_carried(basis),
            rules=basis.rules,
            with_rules=list_ruled(basis),
            numbers=basis.numbers,
            against_rows=_compare_with_rows(basis, evaluation),
            cautions=list_cautions(basis),
            audit=basis.audit.to_plain(),
            beliefs=tuple(belief_table(basis, index) for index in basis.seen),
            sizes=size_lines(basis.crowds, basis.form),
            columns=tuple(_column_lines(basis)),
            losses=basis.losses,
            bound_sentence=basis.bound_sentence,
            ends_sentence=basis.ends_sentence,
            left_out=(
                *list_withheld(basis, evaluation),
                *basis.left_out,
                *(evaluation.left_out if evaluation else ()),
            ),
            examples=examples,
            advice=basis.advice,
            settings=tuple(basis.algorithm.cautions()),
            algorithm=str(basis.algorithm),
            command=_command(basis),
            versions={
                "lookalike": __version__,
                "Python": platform.python_version(),
                **{name: importlib.metadata.version(name) for name in _LIBRARIES},
            },
            **({} if evaluation is None else _round_scores(evaluation)),
        )

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON; what nobody needs to know (repeated persons, identifiers, rounded ends) is left out."""
        plain = asdict(self)
        if self.before_after is not None:
            plain["before_after"] = self.before_after.to_plain()
        return {name: value for name, value in plain.items() if value or name not in _LEFT_OUT_IF_EMPTY}

    @cached_property
    def pictures(self) -> dict[str, str]:
        """Its charts as SVG by name, drawn once."""
        return draw_pictures(self)

    @cached_property
    def page(self) -> str:
        """Itself as HTML, written once."""
        return to_html(self)


_STATED = ("purpose", "legal_basis", "review_date", "contact", "population")
_LEFT_OUT_IF_EMPTY = (
    "stated",
    "persons",
    "unit",
    "known",
    "most_rows",
    "states_persons",
    "states_identifiers",
    "states_carried",
    "carried",
    "rules",
    "with_rules",
    "numbers",
    "against_rows",
    "ends_sentence",
    "before_after",
    "attacks_not_run",
)


def _compare_with_rows(basis: Basis, evaluation: Evaluation | None) -> str | None:
    found = evaluation.against_rows if evaluation is not None and basis.internal else None
    return None if found is None else found.sentence()


_FORMS = {
    "grouped": "Records were put into groups; all records of a group show the same generalised quasi-identifiers. "
    "Sensitive values are unchanged, and rows are in random order.",
    "matched": "Every row has generalised its own quasi-identifiers and fits several people. Sensitive values are "
    "unchanged, and rows are in random order.",
    "bucketized": "Quasi-identifiers and sensitive values are published exactly, in two tables that share only a "
    "bucket number.",
    "perturbed": "Quasi-identifiers are published exactly; every sensitive value was redrawn at random by the "
    "published matrix.",
}


def _describe_rows(form: str, noun: str) -> str:
    return f"{_FORMS[form]} A {noun} may have several rows."


def _column_lines(basis: Basis) -> list[ColumnLine]:
    observed = "as observed in the table" if basis.internal else "as the release shows it"
    roles = {
        **dict.fromkeys(basis.domains.quasi, Role.QUASI),
        **dict.fromkeys(basis.domains.sensitive, Role.SENSITIVE),
        **dict.fromkeys(basis.domains.carried, Role.CARRIED),
    }
    return [
        ColumnLine(
            domain.name,
            str(role),
            _describe_kind(domain),
            "declared" if domain.declared else observed,
            basis.loss_by_column.get(domain.name),
        )
        for domain, role in roles.items()
    ]


def _describe_kind(domain: Domain) -> str:
    if domain.attribute.prepare is not None:
        return Coarsening(domain.name, domain.attribute.prepare).describe()
    return "taxonomy" if domain.taxonomy is not None else str(domain.kind)


def _round_scores(evaluation: Evaluation) -> dict[str, Any]:
    """What was scored on the original, to whole percents or two digits."""
    compared, around = evaluation.fidelity, evaluation.tradeoff
    tried = () if around is None else around.settings
    settings = [replace(one, belief=round(one.belief, 2), loss=round(one.loss, 2)) for one in tried]
    return {
        "attacks": tuple(_attack_lines(evaluation)),
        "attacks_not_made": {name: as_sentence(why) for name, why in evaluation.attacks.not_applicable.items()},
        "attacks_not_run": {name: as_sentence(why) for name, why in evaluation.attacks.not_run.items()},
        "answers": tuple(
            Answered(
                line.columns,
                line.selectivity,
                line.n_queries,
                round(line.median, 2),
                round(line.coverage, 2),
                tuple(round(share, 2) for share in line.shares),
            )
            for line in evaluation.answers
        ),
        "before_after": None if evaluation.before_after is None else evaluation.before_after.round(),
        "uses": tuple(
            UseLine(line.what, round(line.original, 2), round(line.release, 2))
            for line in (() if compared is None else compared.lines)
        ),
        "tradeoff": None if around is None else replace(around, settings=tuple(settings)),
    }


def _attack_lines(evaluation: Evaluation) -> list[AttackLine]:
    said = {row["name"]: row["meaning"] for row in describe(ATTACKS)}
    lines = []
    for attacked in evaluation.attacks.made:
        finding, found = attacked.finding, attacked.finding.residual
        name = finding.attack.partition(":")[0]
        right, honest, at_most = _read_scores(finding, getattr(ATTACKS.get(name), "headline", None))
        shown = found if found is not None and found.is_large_enough else None
        lines.append(
            AttackLine(
                attack=finding.attack,
                what=said.get(name, ""),
                column=finding.column,
                right=right,
                at_most=at_most,
                honest=honest,
                baseline="" if honest is None else best_baseline(finding)[0],
                control=None if shown is None or shown.control_share is None else round(shown.control_share, 2),
                residual=_round_residual(shown),
                succeeds=finding.succeeds if right is not None else None,
                guesses=finding.score is None or finding.score.n_guesses > 0,
                within=all(kept for _, kept in attacked.kept.values()) if attacked.kept else None,
                word=attacked.consequence.word,
                means=attacked.consequence.sentence,
            )
        )
    return lines


def _round_residual(found: Residual | None) -> tuple[float, float, float] | None:
    if found is None or found.residual is None or found.low is None or found.high is None:
        return None
    return round(found.residual, 2), round(found.low, 2), round(found.high, 2)


def _read_scores(finding: Finding, headline: str | None) -> tuple[float | None, float | None, bool]:
    """What is right, the baseline, and whether the first is the highest chance instead of a share of guesses."""
    if finding.score is None:
        highest = None if headline is None else finding.figures.get(headline)
        return (None if highest is None else round(highest, 2)), None, True
    if finding.score.n_guesses < LEAST_GUESSES:
        return None, None, False
    return round(finding.score.share, 2), round(best_baseline(finding)[1], 2), False


def _command(basis: Basis) -> str:
    parts, method = ["lookalike", "publish", "YOUR-TABLE", "--schema", "schema.yaml"], basis.algorithm
    how = ["--algorithm", str(method)]
    if isinstance(method, FixedCells):
        parts = ["lookalike", "apply", "SCHEME", "YOUR-TABLE"]
        how = ["--suppress", number_text(method.suppress)] if method.suppress else []
    for promise in basis.promises:
        parts += ["--model", str(promise)]
    parts += how
    if basis.asked_adversary != READS_RELEASE:
        parts += ["--adversary", basis.asked_adversary]
    if basis.persons is not None:
        parts += basis.persons.flags()
    return shlex.join([*parts, *basis.ends, *basis.control, *basis.options, "--out", "FOLDER"])
