"""From a prepared recipe to an audited release.

    prepared = prepare(recipe, table)     promises, requirements, algorithm (`recipe`)
    made = run(prepared)                  release, record map, audit with its exposures, losses

This module writes nothing, and a release that fails its audit never leaves it (`AuditFailed`).
"""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import audit, memory
from lookalike.algorithms.shared.fixed_cells import FixedCells
from lookalike.algorithms.shared.loss_bound import LossBound, loss_bound
from lookalike.audit import Audit, CarriedRisk, Conditioned, Examined, condition, measure_carried
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.coarsening import suggest_rounding
from lookalike.data.contracts import Algorithm, PrivacyModel, Promise
from lookalike.data.ends import Step, find_exact
from lookalike.data.exposure import Exposure
from lookalike.data.guests import explain_fault
from lookalike.data.knowledge import sort_into_kinds
from lookalike.data.long_tails import describe_wide_cells
from lookalike.data.microdata import Domain, Domains, Microdata
from lookalike.data.person_settings import APART
from lookalike.data.persons import number_pairs
from lookalike.data.release import Grouped, Matched, RecordMap, Release, Withheld
from lookalike.data.schema import Kind, Schema, ValueType
from lookalike.errors import AuditFailed, counted, quoted
from lookalike.metrics import METRICS
from lookalike.metrics.shared.cells import loss_by_column
from lookalike.metrics.shared.group_sizes import OfGroups
from lookalike.metrics.shared.losses import ShownRanges
from lookalike.models import MODELS
from lookalike.pipeline.recipe import Prepared, Recipe
from lookalike.progress import Progress, available_cores, silent
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.files.releases.parts import WrittenPart


@dataclass(frozen=True, eq=False, kw_only=True)
class Made:
    """What is known about a release that was made and audited, without its rows."""

    recipe: Recipe
    promises: tuple[Promise, ...]
    algorithm: Algorithm
    domains: Domains
    audit: Audit
    withheld: Withheld
    seen: Mapping[int, Exposure]
    """What the audit's adversary can infer about each sensitive column, by its place."""
    crowds: Mapping[int, int]
    """How many units there are of each size; empty where sizes are no numbers of rows."""
    losses: dict[str, float]
    loss_by_column: dict[str, float]
    ranges: Mapping[str, ShownRanges]
    """What the release shows of columns of ranges whose domain is not declared."""
    notes: tuple[str, ...]
    seconds: dict[str, float]
    ends: Mapping[str, RoundedEnds] = field(default_factory=dict)
    """By column, to what the ends of its ranges were rounded."""
    carried: tuple[CarriedRisk, ...] = ()
    """What someone achieves who knows no carried column, one, or all; empty where it was not asked for."""
    conditioned: tuple[Conditioned, ...] = ()
    """The promises held against someone who uses the rules of common knowledge; empty where there are none."""
    held_out: Fraction | None = None
    """The share of the persons who were held out to be a control group."""

    @property
    def adversary(self) -> str:
        """Whom the release was made for: at least the one asked for."""
        return self.audit.adversary

    @property
    def form(self) -> str:
        return self.audit.form


@dataclass(frozen=True, eq=False, kw_only=True)
class MadeWhole(Made):
    """The same with the release in memory. `record_map` is private."""

    data: Microdata
    release: Release
    record_map: RecordMap
    loss_bound: LossBound | None
    """What no grouping could get below; None for other forms of release."""
    table: Microdata
    """`data` with the rows that are left out because a person has more than are published."""
    control: Microdata | None = None
    """People of the same kind who are not in the table, for attacks (`data.control`)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MadeInParts(Made):
    """A release that was made in parts, whose files lie beside the folder that will hold them."""

    parts: tuple[WrittenPart, ...]
    bare: Release
    """The release without its rows."""
    options: tuple[str, ...]
    """What the command needs besides to make such a release again."""


@dataclass(frozen=True)
class RoundedEnds:
    """The step that the ends of a column were rounded outwards to, and the loss of the column without and with it."""

    step: str
    exact_loss: float
    loss: float


def _compare_ends(exact: Release, steps: Mapping[str, Step], losses: Mapping[str, float]) -> dict[str, RoundedEnds]:
    """What rounding the ends costs, by column."""
    before = loss_by_column(exact) if steps else {}
    types = {domain.name: domain.type for domain in exact.domains.quasi}
    return {name: RoundedEnds(step.describe(types[name]), before[name], losses[name]) for name, step in steps.items()}


def describe_ends(ends: Mapping[str, RoundedEnds]) -> list[str]:
    """What to say of rounded ends."""
    if not ends:
        return []
    steps = ", ".join(f"{quoted(name)} to multiples of {found.step}" for name, found in ends.items())
    before, after = (sum(getattr(found, which) for found in ends.values()) for which in ("exact_loss", "loss"))
    rise = f"{100 * (after - before) / before:.1f} %" if before else "nothing"
    which = "these columns" if len(ends) > 1 else "this column"
    return [
        f"The ends of ranges were rounded outwards, so that they are nobody's values: {steps}. The loss of {which} "
        f"rose by {rise}. --ends exact keeps them as they are."
    ]


class Stopwatch:
    """Seconds by step, in the order of the steps."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def _describe_exact_ends(prepared: Prepared, release: Release) -> list[str]:
    """What to say of ends that nobody asked to keep exact, and that are values of few people."""
    kept = [] if isinstance(prepared.algorithm, FixedCells) else find_exact(release, prepared.recipe.ends)
    if not kept:
        return []
    names = [quoted(domain.name) for domain in kept]
    listed = " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])
    step = {ValueType.DATE: "7d", ValueType.DATETIME: "1h", ValueType.INTEGER: "5"}.get(kept[0].type, "0.5")
    return [
        f"The ends of the ranges of {listed} are exact: each is the value of someone. Rounding them would raise the "
        f"loss by more than 2 %. Round them all the same with --ends {shlex.quote(f'{kept[0].name}={step}')}."
    ]


def run(prepared: Prepared, progress: Progress = silent, *, with_carried: bool = False) -> MadeWhole:
    """Make the release and audit it; raises rather than return one that fails.

    `with_carried`: also what carried columns reveal to someone who knows them.
    """
    watch, recipe, data, algorithm = Stopwatch(), prepared.recipe, prepared.data, prepared.algorithm
    _require_memory(data, algorithm)
    rng = Randomness(recipe.seed)
    kinds = None if recipe.knowledge is None else sort_into_kinds(recipe.knowledge, data)
    with watch.step("compile"):
        compile_kernels([algorithm], data.n_rows, progress)
    with watch.step("anonymize"):
        exact, record_map = prepared.anonymize_exactly(rng, progress)
        release, steps = prepared.round_ends(exact)

    def look_at(made: Release) -> Examined:
        return examine(
            data,
            made,
            prepared.promises,
            graph=record_map.graph,
            adversary=prepared.adversary,
            record_of_row=None if data.persons is None else record_map.record_of_row,
            number_known=data.number_known,
            progress=progress,
        )

    remarks, exact_ends = record_map.remarks, _describe_exact_ends(prepared, exact)
    with watch.step("audit"):
        examined = look_at(release)
        # Against someone who knows the method nothing but the release may decide how ends are published.
        if steps and not examined.audit.passed and prepared.adversary == READS_RELEASE:
            examined, release, steps, exact_ends = look_at(exact), exact, {}, []
            remarks = (*remarks, "Ends of ranges are exact: with rounded ends the release does not pass its audit.")
    found = examined.audit
    refuse_failed(found, algorithm)
    seen = {index: examined.exposure(index) for index in range(len(data.domains.sensitive))}
    crowds = (seen[0] if seen else examined.exposure(None)).crowds
    risks: tuple[CarriedRisk, ...] = ()
    if with_carried and data.domains.carried:
        with watch.step("carried"):
            risks = measure_carried(examined)
    conditioned: tuple[Conditioned, ...] = ()
    if kinds is not None:
        with watch.step("rules"):
            conditioned = condition(examined, kinds, record_map.record_of_row)
        remarks = (*remarks, *kinds.notes)
    with watch.step("measure"):
        losses, by_column = measure(data, release, crowds)
        ends = _compare_ends(exact, steps, by_column)
        # The bound is a mean over all records; rows that are left out or made up would not count in the loss alike.
        whole = isinstance(release, Grouped) and not release.withheld.n_suppressed and not release.withheld.n_dummies
        bound = loss_bound(data, prepared.requirements, rng) if whole else None
    return MadeWhole(
        recipe=recipe,
        promises=prepared.promises,
        algorithm=algorithm,
        domains=data.domains,
        audit=found,
        withheld=release.withheld,
        seen=seen,
        crowds=crowds,
        losses=losses,
        loss_by_column=by_column,
        ranges=ShownRanges.of(release),
        ends=ends,
        carried=risks,
        conditioned=conditioned,
        notes=notes_on(
            prepared,
            (*remarks, *describe_ends(ends), *exact_ends, *describe_wide_cells(release)),
            by_column,
            release.withheld.n_suppressed,
        ),
        seconds=watch.seconds,
        data=data,
        release=release,
        record_map=record_map,
        loss_bound=bound,
        table=prepared.table,
    )


def compile_kernels(algorithms: Iterable[Algorithm], n_rows: int, progress: Progress) -> None:
    """On a first run, compile what methods and the audit need."""
    compile_named(
        {name for one in algorithms for name in (*one.kernels, *audit.name_kernels(one.form, n_rows))}, progress
    )


def compile_named(kernels: Collection[str], progress: Progress) -> None:
    """Compile those of these kernels that are not compiled yet; one core alone compiles as it goes."""
    if kernels and available_cores() > 1:
        from lookalike.pipeline.warm_up import warm_up

        warm_up(kernels, progress)


def refuse_failed(found: Audit, algorithm: Algorithm) -> None:
    """Raise `AuditFailed` for a release that does not keep its promises."""
    if not found.passed:
        known = " ".join(algorithm.cautions()) or explain_fault(type(algorithm), "algorithm")
        raise AuditFailed(
            f"The release made by {algorithm} does not pass its audit; nothing is written. {known}\n{found}"
        )


def notes_on(
    prepared: Prepared, remarks: Iterable[str], loss_by_column: Mapping[str, float], n_suppressed: int
) -> tuple[str, ...]:
    """What to say about a release: what was guessed and chosen, what a careful colleague would point out."""
    return (
        *prepared.notes,
        *prepared.algorithm.cautions(),
        *_cautions(prepared.data, prepared.promises, prepared.recipe),
        *remarks,
        *_nothing_left(loss_by_column),
        *_types_of_suppressed(n_suppressed, prepared.recipe.schema),
    )


def _types_of_suppressed(n_suppressed: int, schema: Schema) -> list[str]:
    """Types are published, and were guessed from all records: a single word among numbers is text for all of them."""
    guessed = [quoted(column.name) for column in schema.published if column.type is None and column.kind is None]
    if not n_suppressed or not guessed:
        return []
    return [
        f"Records were suppressed, and the types of {', '.join(guessed)} were guessed from all records. The release "
        "shows these types, which may say something about suppressed values. Declare the columns with --numeric, "
        "--categorical or a schema to rule that out."
    ]


def _require_memory(data: Microdata, algorithm: Algorithm) -> None:
    """Raise `DataError` if the machine cannot hold what this method makes of so many records and columns."""
    own_rows = algorithm.form == Matched.form
    n_columns = len(data.schema.published)
    otherwise = " A method whose rows share their cells needs less (--algorithm mondrian)." if own_rows else ""
    memory.require(
        memory.estimate_bytes(data.n_rows, n_columns, own_rows=own_rows),
        f"{algorithm.name} on {counted(data.n_rows, 'record')} with {counted(n_columns, 'column')}",
        f"Name fewer columns, or publish in parts on Spark (--backend spark).{otherwise}",
    )


def examine(data: Microdata, release: Release, promises: Sequence[Promise], **known: Any) -> Examined:
    """The independent audit, with the standard measures next to what was promised, and what it was read from."""
    return audit.examine(data, release, promises, measures=standard_measures(), **known)


def verify(data: Microdata, release: Release, promises: Sequence[Promise], **known: Any) -> Audit:
    """The independent audit alone."""
    return examine(data, release, promises, **known).audit


def standard_measures() -> list[PrivacyModel]:
    """What every audit reports, asked or not: achieved k, l, t, beta and delta."""
    return [model for kind in MODELS.values() for model in kind.measures()]


def measure(
    data: Microdata, release: Release, crowds: Mapping[int, int] | None = None
) -> tuple[dict[str, float], dict[str, float]]:
    """Every metric that applies to the release, and the loss of each column.

    `crowds`: how many units the audit found of each size. Without it, sizes by persons are left out.
    """
    losses = {name: float(kind().measure(data, release)) for name, kind in METRICS.items()}
    if data.persons is not None and crowds:
        losses |= measure_sizes(crowds)
    return {name: value for name, value in losses.items() if not math.isnan(value)}, loss_by_column(release)


def measure_sizes(crowds: Mapping[int, int]) -> dict[str, float]:
    """Metrics of the sizes of groups, from how many there are of each size."""
    metrics: dict[str, object] = {name: kind() for name, kind in METRICS.items()}
    return {name: metric.of_sizes(crowds) for name, metric in metrics.items() if isinstance(metric, OfGroups)}


def name_domains(domains: Domains) -> dict[str, str]:
    """Whether the domain of each quasi-identifier was declared or observed."""
    return {domain.name: "declared" if domain.declared else "observed" for domain in domains.quasi}


def _nothing_left(losses: Mapping[str, float]) -> list[str]:
    """What to say where columns lost next to everything."""
    gone = [quoted(name) for name, loss in losses.items() if loss > 0.99]
    if not gone:
        return []
    return [
        f"Next to nothing is left of {', '.join(gone)}. Promise less, or name fewer quasi-identifiers; lookalike "
        "compare shows what each promise costs."
    ]


def caution_of_numbers(domain: Domain, counts: NDArray[np.int64]) -> list[str]:
    """What to say of a sensitive column of numbers that hardly repeat."""
    occur = counts[: len(domain.values)] > 0
    n_distinct, n_rows = int(np.count_nonzero(occur)), int(counts.sum())
    if domain.kind is not Kind.NUMERIC or n_rows <= 20 or 2 * n_distinct < n_rows:
        return []
    are_dates = domain.type in (ValueType.DATE, ValueType.DATETIME)
    return [
        f"{quoted(domain.name)} has {counted(n_distinct, 'different value')} in {counted(n_rows, 'row')}: someone who "
        "learns one from elsewhere finds the row by it. Consider publishing ranges "
        f"({suggest_rounding(domain.name, domain.values[occur], are_dates=are_dates)}); promises are then about them."
    ]


def caution_of_distinct(name: str, n_distinct: int, n_rows: int) -> list[str]:
    """What to say of a carried column with another value for nearly every record."""
    if n_rows <= 20 or 10 * n_distinct <= 9 * n_rows:
        return []
    return [
        f"The carried column {quoted(name)} has its own value for nearly every record: anyone who knows it finds the "
        "record. Drop it unless nobody outside can know it."
    ]


def _cautions_of_links(data: Microdata, persons: NDArray[np.int32]) -> list[str]:
    """What to say of columns that say which rows are one person's: constant for each, different for nearly all."""
    several = np.flatnonzero(np.bincount(persons)[persons] > 1)
    n_persons = len(np.unique(persons[several]))
    said = []
    columns = zip((*data.domains.carried, *data.domains.sensitive), (*data.carried.T, *data.sensitive.T), strict=True)
    for domain, codes in columns:
        n_values = len(np.unique(codes[several]))
        n_pairs = len(np.unique(number_pairs(persons[several], codes[several])))
        if n_persons > 10 and 10 * n_pairs <= 11 * n_persons and 10 * n_values > 9 * n_persons:
            said.append(
                f"The column {quoted(domain.name)} is nearly constant for each person and different for nearly all: it "
                "shows which rows belong together, also in different groups. Drop it, or publish one row per person."
            )
    return said


def _cautions(data: Microdata, promises: Sequence[Promise], recipe: Recipe) -> list[str]:
    """What a careful colleague would point out."""
    said = []
    covered = {promise.column for promise in promises}
    for domain in data.domains.sensitive:
        for promise in promises:
            if promise.column == domain.name:
                prior = data.prior(data.domains.sensitive_index(domain.name))
                said += promise.model.cautions(prior, domain)
        said += caution_of_numbers(domain, data.counts(data.domains.sensitive_index(domain.name)))
        if domain.name not in covered:
            said.append(
                f"No promise protects the values of {quoted(domain.name)}: a group may share one value. "
                "Consider l-diversity or beta-likeness."
            )
    for domain, codes in zip(data.domains.quasi, data.quasi.T, strict=True):
        if domain.kind is Kind.CATEGORICAL and data.n_rows > 20 and len(np.unique(codes)) == data.n_rows:
            said.append(
                f"The quasi-identifier {quoted(domain.name)} has another value for every record. If it names persons "
                "(a number, a name, an address), leave it out: its values are published, in sets."
            )
    for domain, codes in zip(data.domains.carried, data.carried.T, strict=True):
        said += caution_of_distinct(domain.name, len(np.unique(codes)), data.n_rows)
    if data.persons is not None and recipe.persons.rows == APART:
        said += _cautions_of_links(data, data.persons)
    if recipe.seed is not None:
        said.append("A seed was given: anyone who knows it can undo the shuffling. Leave it out for a real release.")
    return said
