"""From a table and a recipe to an audited release. The only file that knows the order of the steps.

    settle the promises -> check that they can be kept -> choose an algorithm -> anonymize -> audit -> measure

Nothing is written here; a release that fails its audit never leaves this module (`AuditFailed`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike import memory, metrics, models
from lookalike.algorithms.shared.loss_bound import LossBound, loss_bound
from lookalike.audit import Audit
from lookalike.audit import verify as audit_release
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, PrivacyModel, Promise
from lookalike.data.microdata import Codes, Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Linkage, Matched, MatchGraph, Release
from lookalike.data.schema import Kind, Schema
from lookalike.errors import AuditFailed, counted, quoted
from lookalike.pipeline.recipe import Recipe, choose, required, settle, stronger
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of it. `linkage` is private."""

    recipe: Recipe
    data: Microdata
    promises: tuple[Promise, ...]
    algorithm: Algorithm
    release: Release
    linkage: Linkage
    audit: Audit
    losses: dict[str, float]
    loss_by_column: dict[str, float]
    loss_bound: LossBound | None
    """What no grouping could get below; None for other forms of release."""
    seconds: dict[str, float]
    notes: tuple[str, ...]

    @property
    def adversary(self) -> str:
        """Whom the release was made for: at least the one asked for."""
        return stronger(self.recipe.adversary, self.algorithm.adversary)


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


def run(recipe: Recipe, table: Table, progress: Progress = silent) -> Outcome:
    """Make the release and audit it; raises rather than return one that fails."""
    watch = Stopwatch()
    with watch.step("encode"):
        data = Microdata.encode(table, recipe.schema)
    promises = settle(recipe.promises, data)
    requirements = required(promises, data)
    algorithm, reason = choose(recipe, promises, requirements, data.domains)
    require_memory(data, algorithm)
    rng = Randomness(recipe.seed)
    with watch.step("anonymize"):
        release, linkage = algorithm.anonymize(data, requirements, rng, progress)
    notes = [*table.notes, *reason, *algorithm.cautions(), *cautions(data, promises, recipe), *linkage.remarks]
    made_for = stronger(recipe.adversary, algorithm.adversary)
    with watch.step("audit"):
        found = verify(release, data, promises, graph=linkage.graph, adversary=made_for, progress=progress)
    if not found.passed:
        known = " ".join(algorithm.cautions()) or "This is a fault of the software, please report it."
        raise AuditFailed(
            f"The release made by {algorithm} does not pass its audit; nothing is written. {known}\n{found}"
        )
    with watch.step("measure"):
        losses, by_column = measure(release, data)
        bound = loss_bound(data, requirements, rng) if isinstance(release, Grouped) else None
    notes += [*nothing_left(by_column), *types_of_suppressed(release.withheld.n_suppressed, recipe.schema)]
    return Outcome(
        recipe=recipe,
        data=data,
        promises=promises,
        algorithm=algorithm,
        release=release,
        linkage=linkage,
        audit=found,
        losses=losses,
        loss_by_column=by_column,
        loss_bound=bound,
        seconds=watch.seconds,
        notes=tuple(notes),
    )


def types_of_suppressed(n_suppressed: int, schema: Schema) -> list[str]:
    """Types are published, and were guessed from all records: a single word among numbers is text for all of them."""
    guessed = [quoted(column.name) for column in schema.published if column.type is None and column.kind is None]
    if not n_suppressed or not guessed:
        return []
    return [
        f"Records were suppressed, and the types of {', '.join(guessed)} were guessed from all records. The release "
        "shows these types, which may say something about suppressed values. Declare the columns with --numeric, "
        "--categorical or a schema to rule that out."
    ]


def require_memory(data: Microdata, algorithm: Algorithm) -> None:
    """Raise `DataError` if the machine cannot hold what this method makes of so many records and columns."""
    own_rows = algorithm.form == Matched.form
    n_columns = len(data.schema.published)
    otherwise = " A method whose rows share their cells needs less (--algorithm mondrian)." if own_rows else ""
    memory.require(
        memory.needed(data.n_rows, n_columns, own_rows=own_rows),
        f"{algorithm.name} on {counted(data.n_rows, 'record')} with {counted(n_columns, 'column')}",
        f"Name fewer columns, or publish in parts on Spark (--backend spark).{otherwise}",
    )


def verify(
    release: Release,
    data: Microdata,
    promises: Sequence[Promise],
    *,
    graph: MatchGraph | None = None,
    adversary: str = READS_RELEASE,
    unpublished: Mapping[str, Codes] | None = None,
    parts: Mapping[str, NDArray[np.int64]] | None = None,
    progress: Progress = silent,
) -> Audit:
    """The independent audit, with the standard measures next to what was promised."""
    return audit_release(
        release,
        data,
        promises,
        graph=graph,
        adversary=adversary,
        unpublished=unpublished,
        parts=parts,
        measures=standard_measures(),
        progress=progress,
    )


def standard_measures() -> list[PrivacyModel]:
    """What every audit reports, asked or not: achieved k, l, t, beta and delta."""
    return [model for kind in models.MODELS.values() for model in kind.measures()]


def measure(release: Release, data: Microdata) -> tuple[dict[str, float], dict[str, float]]:
    """Every metric that applies to the release, and the loss of each column."""
    losses = {name: kind().measure(release, data) for name, kind in metrics.METRICS.items()}
    return {name: value for name, value in losses.items() if not math.isnan(value)}, metrics.loss_by_column(release)


def loss_text(form: str, losses: Mapping[str, float]) -> str:
    """What a release of this form lost, in one phrase."""
    lost = f"loss {losses['gcp']:.4f} (GCP)"
    if form == Bucketized.form:
        lost = f"exact quasi-identifiers, buckets of {losses['average_group_size']:.1f} records on average"
    changed = losses.get("values_changed")
    return lost if changed is None else f"{lost}, {100 * changed:.0f} % of the sensitive values changed"


def nothing_left(losses: dict[str, float]) -> list[str]:
    """What to say where columns lost next to everything."""
    gone = [quoted(name) for name, loss in losses.items() if loss > 0.99]
    if not gone:
        return []
    return [
        f"Next to nothing is left of {', '.join(gone)}. Promise less, or name fewer quasi-identifiers; lookalike "
        "compare shows what each promise costs."
    ]


def cautions(data: Microdata, promises: Sequence[Promise], recipe: Recipe) -> list[str]:
    """What a careful colleague would point out."""
    said = []
    covered = {promise.column for promise in promises}
    for domain in data.domains.sensitive:
        for promise in promises:
            if promise.column == domain.name:
                prior = data.prior(data.domains.sensitive_index(domain.name))
                said += promise.model.cautions(prior, domain)
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
        distinct = len(np.unique(codes))
        if distinct > data.n_rows * Fraction(9, 10) and data.n_rows > 20:
            said.append(
                f"The carried column {quoted(domain.name)} has a value of its own for nearly every record: whoever "
                "knows it finds the record. Drop it unless nobody outside can know it."
            )
    if recipe.seed is not None:
        said.append("A seed was given: whoever knows it can undo the shuffling. Leave it out for a real release.")
    return said
