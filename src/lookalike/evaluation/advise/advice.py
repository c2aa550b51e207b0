"""All advice on one table: what costs nothing to know, and what trial runs show on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Column, Domain, Microdata, Table
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.errors import Infeasible, counted, quoted
from lookalike.evaluation.advise.expectations import Expected, expect_losses
from lookalike.evaluation.advise.levels import LevelOrder, find_orders
from lookalike.evaluation.advise.promises import (
    ColumnBearing,
    Counts,
    Start,
    alternatives_to,
    promise_to_start_with,
    to_plain,
    what_it_bears,
)
from lookalike.evaluation.advise.trials import SAMPLE, Costs, try_costs
from lookalike.evaluation.inspect import Inspection, inspect
from lookalike.evaluation.inspect.combinations import Combinations
from lookalike.files.tables import read_table
from lookalike.pipeline.recipe import ModelLike, parse_promises, read_algorithm
from lookalike.progress import Progress, silent


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to know before publishing a table. For anyone who publishes: it names values of sensitive columns."""

    columns: tuple[ColumnAdvice, ...]
    pairs: tuple[Pair, ...]
    """Pairs of quasi-identifiers that single out most records."""
    largest_k: int
    bearing: tuple[ColumnBearing, ...]
    """One a sensitive column."""
    start: Start | None
    """None: nothing can be published yet, for want of quasi-identifiers or rows."""
    expected: tuple[Expected, ...] = ()
    """What the promise to start with would lose, after the one that was given, then others for comparison. Empty: no
    trial runs were made."""
    orders: tuple[LevelOrder, ...] = ()
    """Text columns that hold levels, each with the order that it may have."""
    costs: Costs | None = None
    """None: no trial runs were made."""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text()

    def text(self, leverage: bool = True, most: int | None = None) -> str:
        """All of it in words; `leverage` False leaves out what single quasi-identifiers add.

        `most`: so many columns at most in each part; None: all.
        """
        shown = self.bearing[:most]
        parts = [self._about_columns(leverage, most), *(_about_bearing(column) for column in shown)]
        parts.append(_count_left_out(len(self.bearing) - len(shown), "sensitive column"))
        parts += [order.lines for order in self.orders[:most]]
        if self.start is not None:
            parts.append(
                [self.start.sentence, *(f"  {reason}" for reason in self.start.reasons[: _most_reasons(most)])]
            )
            parts[-1] += _count_left_out(
                len(self.start.reasons) - len(self.start.reasons[: _most_reasons(most)]), "reason"
            )
        if self.expected:
            first, *others = self.expected
            parts.append([f"What it would lose (0: nothing, 1: everything). {first.sentence}"])
            parts[-1] += [f"  For comparison, {other.sentence}" for other in others]
        if self.costs is not None:
            parts.append(_about_costs(self.costs))
        parts.append(list(self.notes))
        return "\n\n".join("\n".join(lines) for lines in parts if lines)

    def _about_columns(self, leverage: bool, most: int | None) -> list[str]:
        told = [
            column.sentence
            for column in sorted(self.columns, key=lambda column: column.n_alone_otherwise or 0)
            if (column.matters and (leverage or column.role is not Role.QUASI)) or column.is_doubted
        ]
        told = [*told[:most], *_count_left_out(len(told) - len(told[:most]), "column")]
        lines = [*(pair.sentence for pair in self.pairs), *told]
        return ["What sets records apart:", *(f"  {line}" for line in lines)] if lines else []

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON: exact numbers as text, sentences beside them."""
        made: dict[str, Any] = to_plain(self)
        if self.start is not None:
            made["start"] = {
                "options": list(self.start.options),
                "models": to_plain(self.start.promises),
                "reasons": list(self.start.reasons),
            }
        return made


def advise(
    table: Any,
    *,
    schema: Schema | str | Path | None = None,
    model: ModelLike | Iterable[ModelLike] = (),
    algorithm: Algorithm | str | None = None,
    trials: bool = True,
    sample: int = SAMPLE,
    progress: Progress = silent,
    **reading: Any,
) -> Advice:
    """Which promises a table can support, what to promise first, which column costs most and what a change would save.

    Trial runs keep `model`, or else what is recommended, on at most `sample` records. Without `trials` nothing is run.
    """
    table, given = read_table(table, progress=progress, **reading), Schema.of(schema) if schema else None
    promises, method = parse_promises(model), read_algorithm(algorithm)
    return advise_on(
        table,
        given,
        inspect(table, schema=given),
        promises,
        algorithm=method,
        trials=trials,
        sample=sample,
        progress=progress,
    )


def advise_on(
    table: Table,
    schema: Schema | None,
    found: Inspection,
    promises: Sequence[Promise],
    *,
    trials: bool,
    algorithm: Algorithm | None = None,
    sample: int = SAMPLE,
    progress: Progress = silent,
) -> Advice:
    """The same of a table that was inspected, under a schema or under the suggested one.

    Where persons have several rows, promises are tried on one row of each: whatever is recommended can then be kept.
    """
    given = found.schema if schema is None else schema
    bearing: tuple[ColumnBearing, ...] = ()
    start, costs, notes = None, None, []
    expected: tuple[Expected, ...] = ()
    orders: tuple[LevelOrder, ...] = ()
    one_each = _take_one_each(table, given)
    options: tuple[str, ...] = ()
    if one_each.n_rows < table.n_rows and given.unit is not None:
        unit = given.unit_name
        named = (one for one in (given.person, given.household) if one is not None)
        options = (*(word for one in named for word in (f"--{one.role}", one.name)), "--rows", "one")
        notes.append(
            f"These promises are for one row of each {unit} ({one_each.n_rows:,} of {table.n_rows:,} rows: --rows "
            f"one). To publish all rows, leave out --rows one: {unit}s are counted all the same. Promises about values "
            f"then cost more, and may be refused where an attacker may know how many rows a {unit} has."
        )
    if given.quasi and table.n_rows:
        sensitive = _sensitive_columns(one_each, given)
        bearing = tuple(what_it_bears(prior, column) for prior, column in sensitive)
        start = promise_to_start_with(one_each.n_rows, sensitive, options)
        orders = find_orders(table, given)
        if trials:
            units = (given.person, given.household)
            by_rows = Schema(tuple(attribute for attribute in given.attributes if attribute not in units))
            candidates = [promises, start.promises] if promises else [start.promises]
            expected = expect_losses(
                one_each,
                by_rows,
                [*candidates, *alternatives_to(start, sensitive)],
                sample=sample,
                algorithm=algorithm,
                progress=progress,
            )
            try:
                costs = try_costs(
                    one_each,
                    by_rows,
                    promises or start.promises,
                    algorithm=algorithm,
                    sample=sample,
                    progress=progress,
                )
            except Infeasible as refused:
                notes.append(f"No trial run was made on {counted(min(sample, one_each.n_rows), 'record')}: {refused}")
    return Advice(
        columns=column_advice(table, found),
        pairs=singling_pairs(table, found),
        largest_k=one_each.n_rows,
        bearing=bearing,
        start=start,
        expected=expected,
        orders=orders,
        costs=costs,
        notes=tuple(notes),
    )


def _take_one_each(table: Table, schema: Schema) -> Table:
    """One row of each person (household), drawn at random; the table itself where no person repeats."""
    if schema.unit is None or schema.unit.name not in table.names:
        return table
    column = table[schema.unit.name]
    order = np.random.default_rng(0).permutation(np.flatnonzero(column.codes < len(column.values)))
    firsts = np.sort(order[np.unique(column.codes[order], return_index=True)[1]])
    columns = (Column(one.name, one.type, one.codes[firsts], one.values) for one in table.columns)
    return table if len(firsts) == table.n_rows else Table(tuple(columns), source=table.source, notes=table.notes)


def _sensitive_columns(table: Table, schema: Schema) -> list[tuple[Counts, Domain]]:
    """Counts and domain of each sensitive column, whatever the schema says about quasi-identifiers."""
    known = Attribute(name=schema.quasi[0].name, role=Role.QUASI)
    data = Microdata.encode(table, Schema((known, *schema.sensitive)))
    return [(data.counts(index), domain) for index, domain in enumerate(data.domains.sensitive)]


def _count_left_out(number: int, what: str) -> list[str]:
    return [f"... and {counted(number, f'more {what}')}."] if number > 0 else []


def _most_reasons(most: int | None) -> int | None:
    """One for the persons, and one per sensitive column."""
    return None if most is None else 1 + most


def _about_bearing(column: ColumnBearing) -> list[str]:
    if column.n_values == 1:
        return [column.sentence]
    return [
        f"Promises that {quoted(column.column)} can support. {column.sentence}",
        *(f"  {one.sentence}" for one in column.models),
    ]


def _about_costs(costs: Costs) -> list[str]:
    lines = [f"What it costs. {costs.sentence}", *(f"  {column.sentence}" for column in costs.columns)]
    for saving in costs.savings:
        lines.append(f"  {saving.sentence}")
        if saving.helps:
            lines += [f"    {line}" for line in saving.snippet.splitlines()[2:]]
    return lines


MOST_PAIRS = 3
_MOST_PAIRED = 12
"""So many columns are paired: those that set most records apart."""


@dataclass(frozen=True)
class ColumnAdvice:
    """What a column should be taken for, and what depends on it."""

    name: str
    role: Role | None
    """What it is taken for; None: it is not published."""
    suggested: Role
    reason: str
    """Why that is suggested."""
    n_alone: int | None
    """Records that stand alone now (quasi-identifiers and carried columns)."""
    n_alone_otherwise: int | None
    """Records that would stand alone if a quasi-identifier were not known, or if a carried column were known too."""

    @property
    def matters(self) -> bool:
        """Whether it decides for any record if it stands alone."""
        return self.n_alone != self.n_alone_otherwise

    @property
    def is_doubted(self) -> bool:
        return self.role not in (None, self.suggested)

    @property
    def sentence(self) -> str:
        said = f"{quoted(self.name)}: {self.role or 'not published'}"
        if self.is_doubted:
            said += f", though {self.suggested} is suggested, as {self.reason}"
        if self.n_alone is None or self.n_alone_otherwise is None or not self.matters:
            return f"{said}."
        if self.role is Role.QUASI:
            fewer = self.n_alone - self.n_alone_otherwise
            return f"{said}; without it {fewer:,} of the {counted(self.n_alone, 'record')} that stand alone would not."
        more = self.n_alone_otherwise - self.n_alone
        return f"{said}; if someone outside knew it, {more:,} more records would stand alone."


@dataclass(frozen=True)
class Pair:
    """Two quasi-identifiers and how many records stand alone by them only."""

    names: tuple[str, str]
    n_alone: int
    n_rows: int

    @property
    def sentence(self) -> str:
        one, other = self.names
        share = self.n_alone / self.n_rows
        return f"{quoted(one)} and {quoted(other)} alone single out {counted(self.n_alone, 'record')} ({share:.1%})."


def column_advice(table: Table, found: Inspection) -> tuple[ColumnAdvice, ...]:
    """Every column that is published or should be looked at again, with what depends on it."""
    alone_without = {leverage.name: leverage.unique_without for leverage in found.worst_columns}
    known = Combinations.of([table[name] for name in found.quasi], table.n_rows)
    advised = []
    for profile in found.columns:
        otherwise = alone_without.get(profile.name)
        if profile.role is Role.CARRIED and found.quasi:
            otherwise = known.n_unique_with(table[profile.name])
        advised.append(
            ColumnAdvice(
                profile.name,
                profile.role,
                profile.suggested_role,
                profile.role_reason,
                None if otherwise is None else found.n_unique,
                otherwise,
            )
        )
    return tuple(advised)


def singling_pairs(table: Table, found: Inspection) -> tuple[Pair, ...]:
    """The pairs of quasi-identifiers that single out most records, the worst first; none that singles out nobody."""
    names: Sequence[str] = [leverage.name for leverage in found.worst_columns[:_MOST_PAIRED]]
    known = Combinations.of([table[name] for name in names], table.n_rows)
    pairs = [
        Pair((names[one], names[other]), known.n_unique_by((one, other)), table.n_rows)
        for one, other in combinations(range(len(names)), 2)
    ]
    return tuple(sorted((pair for pair in pairs if pair.n_alone), key=lambda pair: -pair.n_alone)[:MOST_PAIRS])
