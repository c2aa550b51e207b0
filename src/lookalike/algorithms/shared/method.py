"""What all methods have in common; each fits `contracts.Algorithm` once it has a name, a form and `anonymize`."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from itertools import starmap
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Boxes, Cutting, Promise, Undivided
from lookalike.data.guests import name_guest
from lookalike.data.microdata import Domains, Microdata
from lookalike.data.parameters import component_text
from lookalike.data.persons import chance_of_value
from lookalike.data.release import Grouped, Matched, MatchGraph, RecordMap, Release, Withheld, cover
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, RecipeError, Unsupported, counted, quoted
from lookalike.progress import Progress, available_threads
from lookalike.randomness import Randomness

_T = TypeVar("_T")
GROUPS_IN_BOXES = Boxes(
    "A group is in one cell, cells do not overlap, and every group is tested against the distribution of the whole "
    "table. A record fits rows of that cell alone, so the groups of all cells are the groups of the release."
)
BY_SECONDS = "a search by seconds ends differently each time, and a part that is done again must come out the same"


class _Threads(ThreadPoolExecutor):
    """Threads that are started as they are needed: a single piece of work is done where it is asked for."""

    def map(self, fn: Callable[..., _T], *iterables: Iterable[Any], **waiting: Any) -> Iterator[_T]:
        pieces = [*zip(*iterables, strict=False)]
        return super().map(fn, *zip(*pieces, strict=True), **waiting) if len(pieces) > 1 else starmap(fn, pieces)


@contextmanager
def start_threads(stop: Callable[[], None] = lambda: None) -> Iterator[ThreadPoolExecutor]:
    """As many threads as there may be. After an error `stop` ends what runs, and what waits is dropped."""
    with _Threads(max_workers=available_threads()) as pool:
        try:
            yield pool
        except BaseException:
            stop()
            pool.shutdown(cancel_futures=True)
            raise


def least_size(requirements: Sequence[Requirement]) -> int:
    """The least number of records in a group."""
    return max([1, *(requirement.min_size for requirement in requirements)])


def find_column(data: Microdata, requirements: Sequence[Requirement], refusal: str) -> int | None:
    """The sensitive column that promises are about; several are refused, with their names in place of {names}."""
    columns = sorted({requirement.column for requirement in requirements if requirement.column is not None})
    if len(columns) > 1:
        names = " and ".join(quoted(data.domains.sensitive[column].name) for column in columns)
        raise Unsupported(refusal.format(names=names))
    return columns[0] if columns else None


def combine_ceilings(data: Microdata, requirements: Sequence[Requirement], column: int) -> list[Fraction]:
    """The least ceiling of each value of a sensitive column."""
    whole = [Fraction(1)] * data.domains.sensitive[column].n_codes
    given = [one.ceilings for one in requirements if one.column == column and one.ceilings is not None]
    return [min(shares) for shares in zip(whole, *given, strict=True)]


def least_ceilings(
    method: str, data: Microdata, requirements: Sequence[Requirement]
) -> tuple[NDArray[np.int32], list[Fraction], int]:
    """The values that ceilings are on, the least ceiling of each, and the least number of records.

    Without any promise about values all records count as having one value, without a ceiling.
    """
    refusal = f"{method} keeps ceilings on one sensitive column, not on {{names}} together. Use groups."
    column, least = find_column(data, requirements, refusal), least_size(requirements)
    if column is None:
        return np.zeros(data.n_rows, dtype=np.int32), [Fraction(1)], least
    return data.sensitive[:, column], combine_ceilings(data, requirements, column), least


def least_room(data: Microdata, requirements: Sequence[Requirement]) -> int:
    """The least number of records of which one may have some value with a ceiling: l for l-diversity.

    Where only some values have ceilings, a group without them may be as small as a single record; where groups are
    small would then tell who has no such value. Methods that cut or grow ask for this size by itself.
    """
    rooms = [1]
    for requirement in requirements:
        if requirement.column is not None and requirement.ceilings is not None:
            occurs = data.prior(requirement.column) > 0
            held = (
                bound for bound, is_met in zip(requirement.ceilings, occurs, strict=True) if is_met and 0 < bound < 1
            )
            rooms.append(math.ceil(1 / max(held, default=1)))
    return max(rooms)


def through_diversity(counts: NDArray[np.int64], ceilings: Sequence[Fraction], fewest: int) -> int | None:
    """The least l such that l-diversity keeps every ceiling, if the table is eligible for it."""
    least = min(ceilings[value] for value in np.flatnonzero(counts).tolist())
    if least <= 0:
        return None
    ell = max(math.ceil(1 / least), fewest)
    return ell if counts.max() <= int(counts.sum()) // ell else None


class Method:
    """A method with the usual answers: one setting for all adversaries, nothing to warn of, every promise served."""

    suits: ClassVar[Collection[str]] = ()
    kernels: ClassVar[Collection[str]] = ()
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Settings that someone may look for here, and where they are instead."""
    cells_apart: ClassVar[bool] = False

    @property
    def in_parts(self) -> Cutting | Undivided:
        return Undivided("it does not say how")

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, RecordMap]:
        """A release in which every group satisfies every requirement; fails closed.

        Before the method sees the records, they are numbered at random. Methods break ties by record number, and the
        proofs against an attacker who knows the method take these numbers to be independent of the sensitive values.
        The order of the input is not: a file may be sorted by diagnosis.
        """
        record_of_number = rng.child("record numbers").permutation(data.n_rows)
        release, record_map = self.make_release(data.take(record_of_number), requirements, rng, progress)
        return release, record_map.renumber(record_of_number)

    @abstractmethod
    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, RecordMap]:
        """The method itself, on records that come in random order."""
        raise NotImplementedError

    @property
    def adversary(self) -> str:
        return READS_RELEASE

    def facing(self, adversary: str) -> Self:
        return self

    def hurry(self) -> Self:
        return self

    def cautions(self) -> list[str]:
        return []

    def bound_to(self) -> str | None:
        return None

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None

    def refuses_columns(self, domains: Domains) -> str | None:
        return None

    def refuses_persons(self, promises: Sequence[Promise], adversary: str) -> str | None:
        return "it counts rows, not persons; publish one row per person (--rows one), or use groups or mondrian"

    def refuses_linked_rows(self, requirements: Sequence[Requirement]) -> str | None:
        return "it groups rows, not whole persons, so a person number would tell whose row each is; use groups"

    def __str__(self) -> str:
        return component_text(self)


class Grouping(Method):
    """A method that divides the records into groups; fits `contracts.Algorithm` once it has a name and `partition`."""

    form: ClassVar[str] = Grouped.form

    @abstractmethod
    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        """The group of each record, and the number of groups."""
        raise NotImplementedError

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, RecordMap]:
        group_of_record, n_groups = self.partition(data, requirements, rng, progress)
        check_single_group(data, requirements, n_groups)
        fits = group_of_record.shape == (data.n_rows,) and group_of_record.max(initial=-1) == n_groups - 1
        if not fits or not np.bincount(group_of_record[group_of_record >= 0]).all():
            raise RecipeError(
                f"{name_guest(type(self), 'algorithm')} returns groups from `partition` that do not fit the table. It "
                "must return one group per record (-1: left out) and the number of groups; no group may be empty."
            )
        return publish_groups(data, group_of_record, n_groups, rng)


def publish_groups(
    data: Microdata, group_of_record: NDArray[np.int32], n_groups: int, rng: Randomness
) -> tuple[Grouped, RecordMap]:
    """Publish each group's least extents; records of group -1 are left out, and counted.

    The row order is its own permutation, so it says nothing.
    """
    record_of_row = rng.child("row order").permutation(data.n_rows)
    record_of_row = record_of_row[group_of_record[record_of_row] >= 0]
    group_of_row = group_of_record[record_of_row]
    extents = tuple(
        cover(domain, data.quasi[record_of_row, index], group_of_row, n_groups)
        for index, domain in enumerate(data.domains.quasi)
    )
    release = Grouped(
        domains=data.domains,
        extents=extents,
        group_of_row=group_of_row,
        sensitive=data.sensitive[record_of_row],
        carried=data.carried[record_of_row],
        withheld=left_out(data, group_of_record < 0),
    )
    return release, RecordMap(record_of_row)


def left_out(data: Microdata, is_left_out: NDArray[np.bool_]) -> Withheld:
    """The records that are not published, counted by sensitive value."""
    if not is_left_out.any():
        return Withheld()
    counts = tuple(
        np.bincount(data.sensitive[is_left_out, column], minlength=domain.n_codes).astype(np.int64)
        for column, domain in enumerate(data.domains.sensitive)
    )
    return Withheld(suppressed=counts, n_suppressed=int(is_left_out.sum()))


def check_single_group(data: Microdata, requirements: Sequence[Requirement], n_groups: int) -> None:
    """Refuse one group of all rows if it breaks a bound for an attacker who knows how many rows a person has."""
    if data.persons is None or not data.number_known or n_groups > 1:
        return
    most = int(np.bincount(data.persons).max())
    for requirement in requirements:
        if requirement.column is None:
            continue
        counts = data.counts(requirement.column).tolist()
        ceilings = requirement.ceilings or [Fraction(1)] * len(counts)
        floors = requirement.floors or [Fraction(0)] * len(counts)
        name, unit = quoted(data.domains.sensitive[requirement.column].name), data.schema.unit_name
        for count, ceiling, floor in zip(counts, ceilings, floors, strict=True):
            too_likely = bool(count) and chance_of_value(data.n_rows, count, most) > ceiling
            if too_likely or count < floor * data.n_rows:
                why = (
                    f"one {unit} has {counted(most, 'row')}, and so many rows drawn from the table contain some value "
                    f"of {name} with a higher probability than the promise allows"
                    if too_likely
                    else f"a value of {name} is in fewer rows of the table than the promise asks for"
                )
                raise Infeasible(
                    f"The promise about {name} cannot be kept against an attacker who knows how many rows a {unit} "
                    f"has, not even with the whole table as one group: {why}. Publish fewer rows per {unit} "
                    f"(--contribution C, or --rows one), promise less, or state that outsiders do not know how many "
                    f"rows a {unit} has (--number-of-rows unknown).",
                    None,
                )


class SlotGraph(NamedTuple):
    """Which records may be behind which slots, and which one's values each slot shows."""

    records: NDArray[np.int64]
    """[edges]"""
    slots: NDArray[np.int64]
    """[edges]"""
    givers: NDArray[np.int64]
    """[slots] a record with an edge to the slot"""


def publish_matched(
    data: Microdata, graph: SlotGraph, rng: Randomness, withheld: Withheld | None = None
) -> tuple[Matched, RecordMap]:
    """Publish every slot's least extents. The row order is its own permutation, so it says nothing."""
    n_slots = len(graph.givers)
    slot_of_row = rng.child("row order").permutation(n_slots)
    row_of_slot = np.empty(n_slots, dtype=np.int64)
    row_of_slot[slot_of_row] = np.arange(n_slots)
    rows = row_of_slot[graph.slots]
    extents = tuple(
        cover(domain, data.quasi[graph.records, index], rows, n_slots)
        for index, domain in enumerate(data.domains.quasi)
    )
    record_of_row = graph.givers[slot_of_row]
    release = Matched(
        domains=data.domains,
        extents=extents,
        sensitive=data.sensitive[record_of_row],
        carried=data.carried[record_of_row],
        withheld=Withheld() if withheld is None else withheld,
    )
    order = np.lexsort((rows, graph.records))
    starts = np.searchsorted(graph.records[order], np.arange(data.n_rows + 1))
    return release, RecordMap(record_of_row, graph=MatchGraph(starts, rows[order].astype(np.int32)))


def slots_of(table: NDArray[np.int64]) -> NDArray[np.int32]:
    """[records, k] the rows of a table [slots, k] in which each of its records stands; records by number."""
    order = np.argsort(table, axis=None, kind="stable")
    return np.asarray((order // table.shape[1]).reshape(table.shape), dtype=np.int32)


def draw_assignment(edges: NDArray[np.int32], rng: Randomness) -> NDArray[np.int64]:
    """One of the disjoint assignments of a regular graph [vertices, degree], each edge in it with chance 1/degree.

    The graph is taken apart at random and one part is drawn: a perfect matching drawn uniformly from all of them would
    not have every edge equally often.
    """
    drawn = int(rng.child("which").integers(edges.shape[1], 1)[0])
    return np.asarray(disjoint_assignments(edges, rng, drawn + 1)[drawn], dtype=np.int64)


def disjoint_assignments(edges: NDArray[np.int32], rng: Randomness, number: int) -> NDArray[np.int32]:
    """[number, vertices] disjoint random perfect matchings of a regular graph."""
    from lookalike.kernels.regular import take_apart

    matchings = np.empty((number, len(edges)), dtype=np.int32)
    order = rng.child("walks").permutation(len(edges))
    take_apart(edges.copy(), order, rng.child("steps").words(1).copy(), matchings)
    return matchings
