"""The regular graph of least loss, for small tables: an integer program over which record is in which slot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.axes import axes_of
from lookalike.data.microdata import Domain, Microdata, read_only
from lookalike.data.release import Ranges, cover
from lookalike.errors import Infeasible, RecipeError
from lookalike.kernels.axes import Axes, pair_distances

Records = NDArray[np.int64]

_MOST_ROWS = 16


def least_graph(data: Microdata, size: int, *, mutual: bool) -> Records:
    """The graph of least loss, by an integer program: x[i, j] record i in slot j, and the extents of every slot."""
    from scipy.optimize import Bounds, LinearConstraint, milp

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
    solved = milp(
        np.array(program.costs),
        integrality=np.array(program.whole),
        bounds=Bounds(np.array(program.least), np.array(program.most)),
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
        self.whole = [1] * n_rows**2
        self.least = [float(cell % (n_rows + 1) == 0) for cell in range(n_rows**2)]
        """A record is in its own slot."""
        self.most = [1.0] * n_rows**2
        self._rows: list[dict[int, float]] = []
        self._bounds: list[tuple[float, float]] = []

    def _variable(self, cost: float, most: float) -> int:
        self.costs.append(cost)
        self.whole.append(0)
        self.least.append(0.0)
        self.most.append(most)
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
            used = [self._variable(cost, 1.0) for cost, _ in extents]
            self._row(dict.fromkeys(used, 1.0), 1.0, 1.0)
            for record in range(self.n_rows):
                # A record in the slot needs an extent that holds it.
                holding = {variable: 1.0 for variable, (_, inside) in zip(used, extents, strict=True) if inside[record]}
                self._row({**holding, record * self.n_rows + slot: -1.0}, 0.0)

    def _add_set(self, codes: NDArray[np.int32], domain: Domain) -> None:
        cost = domain.attribute.weight / (domain.size - 1) if domain.size > 1 else 0.0
        for slot in range(self.n_rows):
            used = {int(code): self._variable(cost, 1.0) for code in np.unique(codes)}
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
