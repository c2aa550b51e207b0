"""Freeform: k-anonymity in which every published row has its own extents.

Doka, Xue, Tsoumakos, Karras, "k-Anonymization by freeform generalization" (ASIACCS 2015): every row is a slot that
covers k records, every record is in k slots, and the sensitive values go from records to slots by one of k disjoint
assignments, drawn at random. So each row of a record is the true one with chance exactly 1/k, and the groups that
others need are only a special case. The paper's construction is not in its public part; the rounds here follow what
is said of it: in each round every slot takes one more record, by one of three matchers. For small tables the optimum is
found by an integer program.

The graph depends on quasi-identifiers alone, so it tells nothing to anyone who knows the method. Large tables are cut
into
parts by quasi-identifiers, each its own graph.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import Method, SlotGraph, draw_assignment, least_size, publish_matched, slots_of
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise, Undivided
from lookalike.data.microdata import Domain, Microdata, read_only
from lookalike.data.parameters import Choice, Whole
from lookalike.data.release import Matched, Ranges, RecordMap, cover
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, RecipeError
from lookalike.progress import Progress
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.kernels.axes import Axes

Records = NDArray[np.int64]

# Records that are matched together; "auto" is hungarian in small parts.
_PARTS = {"auto": 400, "hungarian": 1500, "sorted": 3000, "greedy": 20_000}
_MOST_ROWS = 16


@dataclass(frozen=True)
class Freeform(Method):
    """Every row has its own extents; k-anonymity with each match equally likely.

    >>> str(Freeform(matcher="greedy"))
    'freeform:matcher=greedy'
    """

    name: ClassVar[str] = "freeform"
    suits: ClassVar[Collection[str]] = ("k-anonymity", "k-concealment")
    kernels: ClassVar[Collection[str]] = ("assignment.assign_cheapest", "matching.growth_costs", "regular.take_apart")
    in_parts: ClassVar[Undivided] = Undivided(
        "its cycles through the whole table would be cut; groups keeps k-anonymity on Spark"
    )
    form: ClassVar[str] = Matched.form

    matcher: Choice = Choice("auto", "greedy", "sorted", "hungarian", "exact", default="auto")
    """greedy, sorted, hungarian; exact: the optimum of tables of up to 16 rows; auto: hungarian in small parts."""
    reciprocal: Choice = Choice("no", "yes", default="no")
    """yes: whenever a record may be behind another's row, the other may be behind its row."""
    part: Whole = Whole(low=0, default=0)
    """Most records that are matched together; 0: as many as suits the matcher."""

    def __post_init__(self) -> None:
        if self.reciprocal == "yes" and self.matcher not in ("auto", "exact"):
            raise RecipeError(
                f"{self.name}: reciprocal=yes pairs records up in its own way, so matcher={self.matcher} "
                "has no effect. Leave matcher out, or use matcher=exact for a small table."
            )

    @property
    def adversary(self) -> str:
        return KNOWS_METHOD

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        """It looks at quasi-identifiers alone."""
        return None if requirement.column is None else "it serves k-anonymity only, not promises about values"

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Matched, RecordMap]:
        size = least_size(requirements)
        givers = np.empty(data.n_rows, dtype=np.int64)
        mutual = self.reciprocal == "yes"
        if self.matcher == "exact":
            tables = [least_graph(data, size, mutual=mutual)]
        else:
            tables = graphs_of_parts(data, size, self.matcher, self.part, rng, progress, mutual=mutual)
        for number, table in enumerate(tables):
            # A slot is named after its own record, which is first; parts come sorted by it.
            own = table[:, 0]
            assigned = draw_assignment(slots_of(table), rng.child("draw", number))
            givers[own[assigned]] = own
        records = np.concatenate([table.ravel() for table in tables])
        slots = np.concatenate([np.repeat(table[:, 0], table.shape[1]) for table in tables])
        return publish_matched(data, SlotGraph(records, slots, givers), rng)


def graphs_of_parts(
    data: Microdata, size: int, matcher: str, part: int, rng: Randomness, progress: Progress, *, mutual: bool
) -> list[Records]:
    """For each part a table [slots, k] of the records in each slot, the slot's own first; slots by its number."""
    from lookalike.algorithms.shared.axes import axes_of
    from lookalike.algorithms.shared.matchers import MATCHERS, chunks_of

    axes = axes_of(data)
    # Halves of what is larger than this have at least k records, even if they are rounded to an even number.
    most = max(part or _PARTS[matcher], 2 * size + 2)
    order = rng.child("parts").permutation(data.n_rows)
    parts = [np.sort(order[places]) for places in chunks_of(axes, order, most, unit=2)]
    matched = MATCHERS["hungarian" if matcher == "auto" else matcher]
    numbers = np.arange(data.n_rows)
    tables, done = [], 0
    for number, rows in enumerate(parts):
        part_rng = rng.child("part", number)
        if mutual:
            tables.append(_mutual(axes, rows, size, part_rng))
        else:
            table = np.empty((len(rows), size), dtype=np.int64)
            table[:, 0] = rows
            for turn in range(1, size):
                table[:, turn] = matched(axes, numbers, table, turn, rows, part_rng.child("round", turn))
                progress("matching", (done + len(rows) * turn / size) / data.n_rows)
            tables.append(table)
        done += len(rows)
        progress("matching", done / data.n_rows)
    return tables


def _mutual(axes: Axes, rows: Records, size: int, rng: Randomness) -> Records:
    """A symmetric graph: slot i holds record j if and only if slot j holds record i.

    In each round all records are paired up, the cheapest pairs first, and partners exchanged where that pays. Where
    that cannot be (an odd number, or hardly more records than k) the records are on a ring.
    """
    from lookalike.algorithms.shared.matchers import growth_of
    from lookalike.kernels.pairing import pair_up

    if len(rows) % 2 or 2 * size > len(rows):
        return _ring(axes, rows, size)
    table = np.empty((len(rows), size), dtype=np.int64)
    table[:, 0] = rows
    for turn in range(1, size):
        costs, held = growth_of(axes, np.arange(len(axes.codes)), table, turn, rows)
        both = costs + costs.T
        both[held] = np.inf
        partner = np.full(len(rows), -1, dtype=np.int64)
        shuffled = rng.child("round", turn).permutation(len(rows))
        if not pair_up(both, shuffled, partner):
            return _ring(axes, rows, size)
        table[:, turn] = rows[partner]
    return table


def _ring(axes: Axes, rows: Records, size: int) -> Records:
    """Records on a ring along the quasi-identifiers, each with its neighbours on both sides; one more if need be."""
    from lookalike.algorithms.shared.matchers import chunks_of

    near = np.concatenate(chunks_of(axes, rows, 1))
    steps = [0, *(sign * step for step in range(1, (size - 1) // 2 + 1) for sign in (1, -1))]
    if size % 2 == 0:
        half = len(rows) // 2
        steps += [half] if len(rows) % 2 == 0 else [size // 2, -size // 2]
    around = rows[near[(np.arange(len(rows))[:, None] + np.array(steps)) % len(rows)]]
    return np.asarray(around[np.argsort(around[:, 0])], dtype=np.int64)


def least_graph(data: Microdata, size: int, *, mutual: bool) -> Records:
    """The graph of least loss, by an integer program: x[i, j] record i in slot j, and the extents of every slot."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    from lookalike.algorithms.shared.axes import axes_of

    n_rows = data.n_rows
    if n_rows > _MOST_ROWS:
        raise RecipeError(
            f"matcher=exact is for tables of up to {_MOST_ROWS} rows; this one has {n_rows:,}. Use matcher=hungarian."
        )
    program, axes = _Program(n_rows), axes_of(data)
    for attr, domain in enumerate(data.domains.quasi):
        one = axes._replace(codes=read_only(axes.codes[:, [attr]]), attributes=axes.attributes[[attr]])
        program.add_attribute(data.quasi[:, attr], domain, one)
    program.add_degrees(size, mutual=mutual)
    rows, lows, highs = program.constraints()
    variables = np.arange(len(program.costs))
    is_in = variables < n_rows**2
    solved = milp(
        np.array(program.costs),
        integrality=is_in,
        # A record is in its own slot.
        bounds=Bounds(is_in & (variables % (n_rows + 1) == 0), 1),
        constraints=LinearConstraint(rows, lows, highs),
    )
    if solved.x is None:
        raise Infeasible(f"No symmetric graph in which every record is in {size} slots was found.")
    inside = np.round(solved.x[: n_rows * n_rows]).astype(bool).reshape(n_rows, n_rows)
    table = np.array([[slot, *(i for i in np.flatnonzero(inside[:, slot]) if i != slot)] for slot in range(n_rows)])
    return table.astype(np.int64)


class _Program:
    """Variables and rows of the integer program; the first n * n variables say which record is in which slot."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.costs = [0.0] * n_rows**2
        self._rows: list[dict[int, float]] = []
        self._bounds: list[tuple[float, float]] = []

    def _variable(self, cost: float) -> int:
        self.costs.append(cost)
        return len(self.costs) - 1

    def _row(self, terms: dict[int, float], low: float, high: float = np.inf) -> None:
        self._rows.append(terms)
        self._bounds.append((low, high))

    def add_attribute(self, codes: NDArray[np.int32], domain: Domain, axes: Axes) -> None:
        """The loss of every slot in one attribute: of the set of its values, or of one extent that holds them all."""
        if not domain.in_ranges:
            self._add_set(codes, domain)
            return
        extents = _possible_extents(codes, domain, axes)
        for slot in range(self.n_rows):
            used = [self._variable(cost) for cost, _ in extents]
            self._row(dict.fromkeys(used, 1.0), 1.0, 1.0)
            for record in range(self.n_rows):
                # A record in the slot needs an extent that holds it.
                holding = {variable: 1.0 for variable, (_, inside) in zip(used, extents, strict=True) if inside[record]}
                self._row({**holding, record * self.n_rows + slot: -1.0}, 0.0)

    def _add_set(self, codes: NDArray[np.int32], domain: Domain) -> None:
        cost = domain.attribute.weight / (domain.size - 1) if domain.size > 1 else 0.0
        for slot in range(self.n_rows):
            used = {int(code): self._variable(cost) for code in np.unique(codes)}
            for record in range(self.n_rows):
                self._row({used[int(codes[record])]: 1.0, record * self.n_rows + slot: -1.0}, 0.0)

    def add_degrees(self, size: int, *, mutual: bool) -> None:
        n_rows = self.n_rows
        for one in range(n_rows):
            self._row({one * n_rows + slot: 1.0 for slot in range(n_rows)}, size, size)
            self._row({record * n_rows + one: 1.0 for record in range(n_rows)}, size, size)
            for other in range(one if mutual else 0):
                self._row({one * n_rows + other: 1.0, other * n_rows + one: -1.0}, 0.0, 0.0)

    def constraints(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        from scipy.sparse import csr_array

        places = [(row, column, value) for row, terms in enumerate(self._rows) for column, value in terms.items()]
        row, column, value = (np.array(part) for part in zip(*places, strict=True))
        matrix = csr_array((value, (row, column)), shape=(len(self._rows), len(self.costs)))
        lows, highs = np.array(self._bounds).T
        return matrix, lows, highs


def _possible_extents(codes: NDArray[np.int32], domain: Domain, axes: Axes) -> list[tuple[float, NDArray[np.bool_]]]:
    """The loss of every extent that two records span, and which records it holds."""
    from lookalike.kernels.axes import pair_distances

    _, records = np.unique(codes, return_index=True)
    losses = np.empty((len(codes), len(codes)))
    for record in records:
        pair_distances(axes, record, np.ones(1), losses[record], np.empty(len(codes)))
    first, second = (records[places] for places in np.triu_indices(len(records)))
    units = np.tile(np.arange(len(first)), 2)
    extents = cover(domain, codes[np.concatenate([first, second])], units, len(first))
    assert isinstance(extents, Ranges)
    found = []
    for unit, (one, other) in enumerate(zip(first, second, strict=True)):
        inside = (extents.lows[unit] <= codes) & (codes <= extents.highs[unit])
        if domain.taxonomy is None:
            missing = codes == domain.missing_code
            mixed = bool(extents.missing[unit]) and extents.highs[unit] >= extents.lows[unit]
            # An interval that may also hide a missing value costs as much however long it is.
            inside = np.ones(len(codes), dtype=bool) if mixed else np.where(missing, extents.missing[unit], inside)
        found.append((float(losses[one, other]), inside))
    return found
