"""The report that goes with a release, as plain data first and as a self-contained page second.

It is published with the release, so it holds nothing that the release does not show: no seed, no path, no record, no
timing. Every text that comes from a table is escaped by the template engine.
"""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import jinja2
import numpy as np

from lookalike.adversary import ADVERSARIES
from lookalike.audit import expose
from lookalike.microdata import Domain, Microdata
from lookalike.pipeline import Outcome
from lookalike.schema import Role
from lookalike.version import __version__

_MOST_VALUES = 40


@dataclass(frozen=True)
class ColumnLine:
    """One published column."""

    name: str
    role: str
    kind: str
    domain: str
    loss: float | None


@dataclass(frozen=True)
class BeliefLine:
    """One sensitive value: its share of the table, the highest belief a reader can reach, what the promises allow."""

    value: str
    share: float
    belief: float
    ceiling: float | None


@dataclass(frozen=True)
class BeliefTable:
    column: str
    lines: tuple[BeliefLine, ...]
    n_values: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything the page shows."""

    title: str
    date: str
    version: str
    n_rows: int
    n_suppressed: int
    form: str
    form_sentence: str
    algorithm: str
    adversary: str
    adversary_sentence: str
    promises: tuple[dict[str, str], ...]
    audit: dict[str, Any]
    columns: tuple[ColumnLine, ...]
    losses: dict[str, float]
    bound_sentence: str | None
    beliefs: tuple[BeliefTable, ...]
    cautions: tuple[str, ...]
    settings: tuple[str, ...]
    """What a careful reader should know about the settings."""

    @classmethod
    def of(cls, outcome: Outcome, title: str) -> Report:
        bound = outcome.loss_bound
        return cls(
            title=title,
            date=datetime.date.today().isoformat(),
            version=__version__,
            n_rows=outcome.release.n_rows,
            n_suppressed=outcome.release.withheld.n_suppressed,
            form=outcome.release.form,
            form_sentence=_FORMS[outcome.release.form],
            algorithm=str(outcome.algorithm),
            adversary=outcome.adversary,
            adversary_sentence=ADVERSARIES[outcome.adversary],
            promises=tuple(
                {"text": str(promise), "sentence": promise.model.promise(promise.column)}
                for promise in outcome.promises
            ),
            audit=outcome.audit.to_plain(),
            columns=tuple(_column_lines(outcome)),
            losses=outcome.losses,
            bound_sentence=None if bound is None else bound.sentence(outcome.losses["gcp"]),
            beliefs=tuple(
                _beliefs(outcome, index, domain) for index, domain in enumerate(outcome.data.domains.sensitive)
            ),
            cautions=_NOT_PROMISED,
            settings=tuple(outcome.algorithm.cautions()),
        )

    def to_plain(self) -> dict[str, Any]:
        return asdict(self)

    def to_html(self) -> str:
        return _template().render(report=self)


_FORMS = {
    "grouped": "Records were put into groups; all records of a group show the same generalised quasi-identifiers. "
    "Sensitive values are unchanged, and rows are in random order.",
    "matched": "Every row has generalised quasi-identifiers of its own and fits several people. Sensitive values are "
    "unchanged, and rows are in random order.",
    "bucketized": "Quasi-identifiers and sensitive values are published exactly, in two tables that share only a "
    "bucket number.",
    "perturbed": "Quasi-identifiers are published exactly; every sensitive value was redrawn at random by the "
    "published matrix.",
}

_NOT_PROMISED = (
    "The promise is about this release alone. A second release of overlapping data can break both.",
    "It holds against the adversary named above. Somebody who knows more, such as the sensitive values of others in "
    "the table, can infer more.",
    "It bounds what can be learned about a person's sensitive value. It does not hide that a person is in the table.",
    "What is true of whole groups (smokers fall ill more often) can still be learned, and is what the data are for.",
)

_LOSS_NAMES = {
    "gcp": "Mean loss over all quasi-identifier cells (GCP, 0 to 1)",
    "ail": "Average information loss (AIL, 0 to 1)",
    "discernibility": "Discernibility (sum of squared group sizes)",
    "average_group_size": "Average group size",
    "msbs": "Mean squared bucket size (MSBS)",
    "values_changed": "Share of sensitive values changed (0 to 1)",
}


def _column_lines(outcome: Outcome) -> list[ColumnLine]:
    roles = {
        **dict.fromkeys(outcome.data.domains.quasi, Role.QUASI),
        **dict.fromkeys(outcome.data.domains.sensitive, Role.SENSITIVE),
        **dict.fromkeys(outcome.data.domains.carried, Role.CARRIED),
    }
    return [
        ColumnLine(
            domain.name,
            str(role),
            "taxonomy" if domain.taxonomy is not None else str(domain.kind),
            "declared" if domain.declared else "as observed in the table",
            outcome.loss_by_column.get(domain.name),
        )
        for domain, role in roles.items()
    ]


def highest_beliefs(outcome: Outcome, index: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """For each value of a sensitive column its share and the highest belief that any unit of the release allows."""
    seen = expose(outcome.release, outcome.data, index, graph=outcome.linkage.graph, adversary=outcome.adversary)
    highest = np.zeros(len(seen.prior))
    np.maximum.at(highest, seen.values, (seen.weights / seen.sizes[seen.unit_of_entry]).astype(float))
    return seen.prior / seen.prior.sum(), highest


def _ceilings(data: Microdata, outcome: Outcome, index: int, domain: Domain) -> list[Fraction] | None:
    """The least ceiling that the promises set for each value."""
    prior = data.counts(index)
    found = [
        requirement.ceilings
        for promise in outcome.promises
        if promise.column == domain.name
        and (requirement := promise.model.requirement(prior, domain, index)).ceilings is not None
    ]
    return [min(shares) for shares in zip(*found, strict=True)] if found else None


def _beliefs(outcome: Outcome, index: int, domain: Domain) -> BeliefTable:
    shares, highest = highest_beliefs(outcome, index)
    ceilings = _ceilings(outcome.data, outcome, index, domain)
    present = np.flatnonzero(shares > 0)
    growth = highest[present] / shares[present]
    shown = present[np.argsort(-growth, kind="stable")][:_MOST_VALUES]
    lines = tuple(
        BeliefLine(
            domain.texts[code],
            float(shares[code]),
            float(highest[code]),
            None if ceilings is None else min(1.0, float(ceilings[code])),
        )
        for code in shown
    )
    return BeliefTable(domain.name, lines, len(present))


def _short(number: str | None) -> str:
    """The audit's exact decimal text, rounded for reading."""
    if number is None:
        return "not measured"
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lookalike"), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters["percent"] = lambda share: f"{100 * share:.3g} %"
    environment.filters["figure"] = lambda number: f"{number:,.4g}" if number < 1e6 else f"{number:,.0f}"
    environment.filters["reached"] = _short
    environment.globals["loss_names"] = _LOSS_NAMES
    return environment.get_template("report.html")
