"""What each column costs and what a change would save, by trial runs on the table or on a sample of it.

A change is judged by the other columns: how much of their domains a cell spans (NCP), and how far counts over them and
the sensitive column are off. The changed column's own loss is beside it, since a coarser column loses by itself.
The unchanged recipe runs twice; what is not clearly more than the difference of the two is called chance.
Nothing made here is published or kept: only figures leave.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike.algorithms.groups import Groups
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Column, Domain, Domains, Microdata, Table
from lookalike.data.release import Grouped, Matched
from lookalike.data.schema import NUMBER_LIKE, Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import Unsupported, counted, quoted
from lookalike.evaluation.inspect.suggestions import taxonomy_hint
from lookalike.metrics.query_error import MedianQueryError
from lookalike.metrics.shared.cells import loss_by_column
from lookalike.pipeline.recipe import Recipe, prepare, settle
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

SAMPLE = 1000
_ERROR = MedianQueryError(columns=2, n_queries=400, seed=0)
_WORTH = 0.05
"""A saving of less than this share of what is lost is not worth a change."""
_MOST_CHANGED = 3
"""So many columns, the costliest, and dates are tried with other taxonomies."""
_MOST_LEFT_OUT = 12
"""So many columns, the costliest, are left out once."""
_DATES = (ValueType.DATE, ValueType.DATETIME)
_STEP = "trial runs"


@dataclass(frozen=True)
class ColumnCost:
    """What one quasi-identifier loses."""

    column: str
    loss: float
    """The mean share of its domain that a published cell spans (NCP)."""
    share: float
    """Of the loss of all columns."""

    @property
    def sentence(self) -> str:
        return f"{quoted(self.column)} loses {self.loss:.3f}, which is {self.share:.0%} of all that is lost."


def rank_costs(losses: Mapping[str, float]) -> list[ColumnCost]:
    """The costliest first."""
    total = sum(losses.values()) or 1.0
    return sorted((ColumnCost(name, loss, loss / total) for name, loss in losses.items()), key=lambda cost: -cost.loss)


@dataclass(frozen=True, kw_only=True)
class Saving:
    """One change, before and after. Losses are means of NCP; errors are medians of |estimate - count| / count."""

    column: str
    what: str
    snippet: str
    """The column as a schema file would have it."""
    own: tuple[float, float]
    """The column's own loss; 1 when it is left out."""
    others: tuple[float, float]
    """The mean loss of the other quasi-identifiers."""
    gcp: tuple[float, float]
    """The mean over all of them, one that is left out counted as lost entirely."""
    error: tuple[float, float] | None
    """Counts over the other columns and the first sensitive one; None if there is nothing to count."""
    chance: float
    """How far losses differed between two runs without any change."""
    chance_of_error: float
    """The same for the error of counts."""
    leaves_out: bool

    @property
    def helps(self) -> bool:
        """Whether it clearly saves something and counts get no worse by it.

        Without a column the others must lose less. If it stays, they must too and not at its cost; or all together
        must lose less.
        """
        if self.makes_counts_worse:
            return False
        if self.leaves_out:
            return self._is_clear(self.others)
        return self._is_clear(self.gcp) or (self._is_clear(self.others) and self.gcp[1] <= self.gcp[0])

    @property
    def makes_counts_worse(self) -> bool:
        return self.error is not None and self.error[1] > self.error[0] + self.chance_of_error

    @property
    def verdict(self) -> str:
        if self.helps:
            return "Worth a look if nobody needs it." if self.leaves_out else "Worth a look."
        if not self._is_clear(self.others):
            return "No clear saving."
        return "Counts get worse by it." if self.makes_counts_worse else "The others gain less than it loses."

    def repeats(self, other: Saving) -> bool:
        """Whether another change of the column came to the same."""
        changed = (self.column, self.leaves_out, self.own, self.others)
        return changed == (other.column, other.leaves_out, other.own, other.others)

    def _is_clear(self, figures: tuple[float, float]) -> bool:
        return figures[0] - figures[1] > max(self.chance, _WORTH * figures[0])

    @property
    def sentence(self) -> str:
        own = "it is gone" if self.leaves_out else f"it loses {self.own[1]:.3f} itself instead of {self.own[0]:.3f}"
        said = (
            f"{quoted(self.column)} {self.what}: the other columns lose {self.others[1]:.3f} instead of "
            f"{self.others[0]:.3f}, {own}"
        )
        if self.error is not None:
            said += f"; counts over the others are off by {self.error[1]:.1%} instead of {self.error[0]:.1%} (median)"
        return f"{said}. {self.verdict}"


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What the columns cost under a promise, and what changes would save."""

    promises: tuple[Promise, ...]
    algorithm: str
    n_records: int
    n_tried: int
    """Records in the trial runs."""
    columns: tuple[ColumnCost, ...]
    """The costliest first."""
    savings: tuple[Saving, ...]
    """Those that help first, and of them those that keep the column."""

    @property
    def sentence(self) -> str:
        where = f"on all {counted(self.n_tried, 'record')}"
        if self.n_tried < self.n_records:
            part = f"{self.n_tried:,} of {counted(self.n_records, 'record')}"
            where = f"on a sample of {part} (more records usually lose less)"
        return f"Tried with {', '.join(str(promise) for promise in self.promises)} by {self.algorithm}, {where}."


@dataclass(frozen=True)
class _Trial:
    release: Grouped | Matched
    losses: dict[str, float]

    @property
    def gcp(self) -> float:
        return float(np.mean(list(self.losses.values())))

    def of_others(self, name: str) -> float:
        return float(np.mean([loss for column, loss in self.losses.items() if column != name]))


def try_costs(
    table: Table,
    schema: Schema,
    promises: Sequence[Promise],
    *,
    algorithm: Algorithm | None = None,
    sample: int = SAMPLE,
    progress: Progress = silent,
) -> Costs:
    """Run the recipe on a sample of the table, then with each change of each column.

    Raises `Infeasible`, as publishing does, if the sample cannot keep a promise.
    """
    part = sample_rows(table, sample, seed=0)
    data = Microdata.encode(part, schema)
    method = Groups(effort="fast") if algorithm is None else algorithm

    def run(changed: Schema, attempt: int = 0) -> _Trial:
        prepared = prepare(Recipe(schema=changed, promises=tuple(promises), algorithm=method), part)
        release, _ = prepared.anonymize(Randomness(attempt))
        if not isinstance(release, Grouped | Matched):
            raise Unsupported(
                f"{prepared.algorithm} publishes exact quasi-identifiers: no column costs anything there."
            )
        return _Trial(release, loss_by_column(release))

    first, again = run(data.schema), run(data.schema, attempt=1)
    columns = rank_costs(first.losses)
    savings: list[Saving] = []
    if len(columns) > 1:
        changes = [
            change
            for rank, cost in enumerate(columns[:_MOST_LEFT_OUT])
            for change in possible_changes(data.schema[cost.column], part[cost.column])
            if change.leaves_out or rank < _MOST_CHANGED or part[cost.column].type in _DATES
        ]
        for done, change in enumerate(changes):
            progress(_STEP, (done + 2) / (len(changes) + 2), change.attribute.name)
            after = run(data.schema.replace_attribute(change.attribute))
            saving = _saving(change, data, (first, again), after)
            # A coarser taxonomy that leads to the same release is no news.
            if not any(saving.repeats(known) for known in savings):
                savings.append(saving)
    progress(_STEP, 1.0)
    savings.sort(key=lambda saving: (not saving.helps, saving.leaves_out, saving.others[1] - saving.others[0]))
    return Costs(
        promises=settle(promises, data),
        algorithm=str(method),
        n_records=table.n_rows,
        n_tried=part.n_rows,
        columns=tuple(columns),
        savings=tuple(savings),
    )


def _saving(change: Change, data: Microdata, before: tuple[_Trial, _Trial], after: _Trial) -> Saving:
    name = change.attribute.name
    own, others, n_quasi = before[0].losses[name], before[0].of_others(name), len(before[0].losses)
    errors = _errors(name, data, (*before, after))
    own_after, others_after = after.losses.get(name, 1.0), after.of_others(name)
    return Saving(
        column=name,
        what=change.what,
        snippet=change.snippet,
        own=(own, own_after),
        others=(others, others_after),
        gcp=((own + (n_quasi - 1) * others) / n_quasi, (own_after + (n_quasi - 1) * others_after) / n_quasi),
        error=None if errors is None else (errors[0], errors[2]),
        chance=max(abs(before[1].of_others(name) - others), abs(before[1].gcp - before[0].gcp)),
        chance_of_error=0.0 if errors is None else abs(errors[1] - errors[0]),
        leaves_out=change.leaves_out,
    )


def _errors(name: str, data: Microdata, trials: Sequence[_Trial]) -> list[float] | None:
    """The median error of the same queries over the other columns, answered by each release."""
    kept, domains = _leave_out(data.domains, name)
    known = replace(data, domains=domains, quasi=np.ascontiguousarray(data.quasi[:, kept]))
    if not known.domains.sensitive:
        return None
    found = [_ERROR.measure(known, _release_without(trial.release, name)) for trial in trials]
    return None if math.isnan(found[0]) else found


def _release_without(release: Grouped | Matched, name: str) -> Grouped | Matched:
    """The same without one quasi-identifier, where it is there at all."""
    kept, domains = _leave_out(release.domains, name)
    return replace(release, domains=domains, extents=tuple(release.extents[index] for index in kept))


def _leave_out(domains: Domains, name: str) -> tuple[list[int], Domains]:
    kept = [index for index, domain in enumerate(domains.quasi) if domain.name != name]
    return kept, replace(domains, quasi=tuple(domains.quasi[index] for index in kept))


def sample_rows(table: Table, n_rows: int, seed: int) -> Table:
    """So many rows at random, or all. Columns keep their distinct values: loss is measured on the whole domain."""
    if table.n_rows <= n_rows:
        return table
    rows = np.sort(np.random.default_rng(seed).permutation(table.n_rows)[:n_rows])
    columns = (Column(column.name, column.type, column.codes[rows], column.values) for column in table.columns)
    return Table(tuple(columns), source=table.source, notes=table.notes)


_LIGHTER = 4
_BY_LEVELS = ("intervals", "prefixes", "dates")


@dataclass(frozen=True)
class Change:
    """One column, described otherwise."""

    attribute: Attribute
    what: str
    """In words that follow the column's name."""

    @property
    def leaves_out(self) -> bool:
        return self.attribute.role is Role.IDENTIFIER

    @property
    def snippet(self) -> str:
        """The column as a schema file writes it."""
        return Schema((self.attribute,)).to_yaml()


def possible_changes(attribute: Attribute, column: Column) -> list[Change]:
    """Every change that the schema format can say and the values allow; leaving it out is the first."""
    left_out = Attribute(name=attribute.name, role=Role.IDENTIFIER, type=attribute.type)
    changes = [Change(left_out, "left out")]
    if attribute.weight > 0:
        lighter = replace(attribute, weight=attribute.weight / _LIGHTER)
        changes.append(Change(lighter, f"with a weight of {lighter.weight:g}"))
    written = attribute.taxonomy
    if written is None and attribute.order is None and attribute.values is None:
        codes = attribute.kind is Kind.CATEGORICAL and column.type in NUMBER_LIKE
        written = None if codes else taxonomy_hint(column)
        changes += [] if written is None else [_with(attribute, written)]
    elif written is not None:
        changes.append(Change(replace(attribute, taxonomy=None, kind=None), "without its taxonomy"))
    coarsest = _coarsest(written or {})
    return changes if coarsest is None else [*changes, _with(attribute, coarsest)]


def column_of(domain: Domain) -> Column:
    """A domain's values as a column that has each of them, for what looks at values alone."""
    return Column(domain.name, domain.type, domain.values[:0].astype("int32"), domain.values)


def _with(attribute: Attribute, taxonomy: Mapping[str, Any]) -> Change:
    form, levels = next((form, taxonomy[form]) for form in _BY_LEVELS if form in taxonomy)
    listed = ", ".join(str(level) for level in levels)
    words = {"intervals": "in intervals of", "prefixes": "by its first characters:", "dates": "by"}[form]
    # A taxonomy brings its own domain: bounds that were declared for intervals do not belong to it.
    changed = replace(attribute, taxonomy=dict(taxonomy), kind=None, low=None, high=None, size=None)
    return Change(changed, f"{words} {listed}")


def _coarsest(taxonomy: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The taxonomy with its last level only."""
    form = next((form for form in _BY_LEVELS if form in taxonomy), None)
    if form is None or not isinstance(taxonomy[form], list | tuple) or len(taxonomy[form]) < 2:
        return None
    return {**taxonomy, form: [taxonomy[form][-1]]}
