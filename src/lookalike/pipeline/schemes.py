"""Makes a scheme of a release's groups: the cuts that part them, over the whole domain.

What a scheme says more than its release, and why that is safe. Groups of a method that cuts values apart
(`cells_apart`) can be separated by cuts again, and these are searched for here. Cuts and ends of undeclared domains are
worked out from the ends of ranges as the release shows them, which are rounded so that they are nobody's value: between
the published end of one side and the published beginning of the other, at the roundest number there is. So cells follow
groups only as far as the release shows these. Groups that rounding leaves no cut between become one cell. All promises
are tests of the rows of one group, and hold whatever is known of the quasi-identifiers of its members.

Named are declared values, values that the release names, and values that at least k persons (rows) have. Others are not
in the scheme: in a later table they are "(other)". Numbers of records are rounded down to multiples of k.

Cost O(d m log^2 m) for m groups over d columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from lookalike.data.axis import Start
from lookalike.data.microdata import Domain, Microdata, texts_of
from lookalike.data.persons import count_persons_by_value
from lookalike.data.release import Grouped, Ranges, Sets
from lookalike.data.schema import Attribute, Kind, Schema, ValueType
from lookalike.data.scheme import Cell, Cut, Scheme
from lookalike.data.taxonomy import MISSING, Taxonomy
from lookalike.errors import SchemaError
from lookalike.pipeline.recipe import refuse_scheme
from lookalike.pipeline.run import MadeWhole

Ints = NDArray[np.int64]
Points = NDArray[np.float64]
Bound = tuple[float, float]

_LEAST_STEP = 5
"""Numbers of records are rounded to multiples of the least size that the promises ask for, and of this if it is 1."""
_STEPPED = (ValueType.INTEGER, ValueType.DATE)
_DECIMALS = 9


def make_scheme(made: MadeWhole) -> Scheme:
    """The scheme of a release that was made here."""
    release, data = made.release, made.data
    refuse_scheme(made.algorithm)
    assert isinstance(release, Grouped), "Cells are parted of groups alone."
    step = max([1, *(_least_size(made, index) for index in range(len(made.promises)))])
    step = step if step > 1 else _LEAST_STEP
    records, groups = made.record_map.record_of_row, release.group_of_row
    sizes = np.bincount(groups)
    columns = [
        _Column.of(data, release, column, data.quasi[records, column].astype(np.int64), groups, len(sizes), step)
        for column in range(len(data.domains.quasi))
    ]
    return Scheme(
        schema=_describe_columns(made, columns),
        promises=tuple(str(promise) for promise in made.promises),
        adversary=made.recipe.adversary,
        parts=tuple(_part_groups(columns, sizes, step)),
        made_by=str(made.algorithm),
    )


def _least_size(made: MadeWhole, index: int) -> int:
    """The least size that a promise asks of a group."""
    promise, data = made.promises[index], made.data
    column = None if promise.column is None else data.domains.sensitive_index(promise.column)
    domain = None if column is None else data.domains.sensitive[column]
    return promise.model.requirement(data.prior(column), domain, column).min_size


class _Column:
    """A quasi-identifier: which codes each group has, and how cuts between codes are written."""

    def __init__(
        self, domain: Domain, lows: Ints, highs: Ints, listed: Ints, shown: tuple[Points, Points], ends: Bound
    ) -> None:
        self.domain = domain
        self.lows = lows
        """The least code of each group; missing is the largest code."""
        self.highs = highs
        self.listed = listed
        """Codes of the values that the scheme names (not of numbers)."""
        self.begins, self.stops = shown
        """Of numbers, the ends of each group's range as the release shows them."""
        self.ends = ends
        self.attribute = self._describe()
        # Of a tree the order of leaves may change when some of them are left out.
        self._names = [domain.texts[code] for code in listed.tolist()]

    @classmethod
    def of(
        cls,
        data: Microdata,
        release: Grouped,
        column: int,
        codes: Ints,
        groups: NDArray[np.int32],
        n_groups: int,
        step: int,
    ) -> _Column:
        domain, extents = data.domains.quasi[column], release.extents[column]
        lows, highs = np.full(n_groups, domain.n_codes), np.full(n_groups, -1)
        np.minimum.at(lows, groups, codes)
        np.maximum.at(highs, groups, codes)
        listed = np.arange(len(domain.values))
        if not _is_numeric(domain) and not _is_declared(domain):
            persons = np.arange(data.n_rows) if data.persons is None else data.persons
            named = count_persons_by_value(persons, data.quasi[:, column], domain.n_codes) >= step
            if isinstance(extents, Sets):
                whole = extents.sizes == domain.n_codes
                named[extents.members[~np.repeat(whole, extents.sizes)]] = True
            listed = np.flatnonzero(named[: len(domain.values)])
        shown = np.full(n_groups, np.nan), np.full(n_groups, np.nan)
        if _is_numeric(domain):
            assert isinstance(extents, Ranges), "Numbers are published in ranges."
            shown = extents.low_points, extents.high_points
        known = [float(point) for points in shown for point in points[np.isfinite(points)]]
        attribute = domain.attribute
        low = domain.low if attribute.low is not None else min(known, default=0.0)
        high = domain.high if attribute.high is not None else max(known, default=0.0)
        return cls(domain, lows.astype(np.int64), highs.astype(np.int64), listed, shown, (low, high))

    @property
    def whole(self) -> Bound:
        """All that can be cut: slots, or numbers from the lower end and below the second one."""
        if _is_numeric(self.domain):
            return self.ends[0], float(np.nextafter(self.ends[1], np.inf))
        return 0, len(self.listed) + self.domain.has_missing

    def _describe(self) -> Attribute:
        domain, attribute = self.domain, self.domain.attribute
        known = replace(attribute, size=None, others=True, missing=domain.has_missing)
        if _is_numeric(domain):
            low, high = (_write_point(domain, end) for end in self.ends)
            return replace(known, low=low, high=high, type=domain.type)
        texts = tuple(domain.texts[code] for code in self.listed.tolist())
        if domain.taxonomy is not None and not texts:
            known = replace(known, taxonomy=None, values=())
        elif domain.taxonomy is not None:
            known = replace(known, taxonomy=_named_tree(domain.taxonomy, self.listed))
        elif domain.kind is Kind.ORDERED:
            known = replace(known, order=texts)
        else:
            known = replace(known, values=texts)
        return replace(known, type=ValueType.STRING if attribute.type is ValueType.STRING else None)

    def write_cut(self, first: Ints, second: Ints) -> tuple[float | None, Start]:
        """A cut between groups: the slot or the number that its second part begins at (None: missing numbers), and how
        it is written."""
        domain = self.domain
        below, start = int(self.highs[first].max()), int(self.lows[second].min())
        if start == domain.missing_code:
            return (None if _is_numeric(domain) else len(self.listed)), MISSING
        if _is_numeric(domain):
            point = _find_round(domain.type, float(np.nanmax(self.stops[first])), float(np.nanmin(self.begins[second])))
            return float(point), _write_point(domain, point)
        between = np.searchsorted(self.listed, [below + 1, start + 1]).tolist()
        slots = np.arange(*between)
        if not len(slots):
            slot = int(np.searchsorted(self.listed, start))
            return slot, self._names[slot] if slot < len(self._names) else MISSING
        if domain.taxonomy is not None:
            # The cut at which the highest nodes end, so that cells are nodes where they can be.
            heights = [_depth_of_start(domain.taxonomy, int(self.listed[slot])) for slot in slots.tolist()]
            slots = slots[[int(np.argmin(heights))]]
        return int(slots[-1]), self._names[int(slots[-1])]


def _is_numeric(domain: Domain) -> bool:
    return domain.kind is Kind.NUMERIC and domain.taxonomy is None


def _is_declared(domain: Domain) -> bool:
    """Whether a schema names the values of a column that is no number."""
    attribute = domain.attribute
    if attribute.taxonomy is not None:
        return "tree" in attribute.taxonomy or "file" in attribute.taxonomy
    return (attribute.order if domain.kind is Kind.ORDERED else attribute.values) is not None


def _named_tree(tree: Taxonomy, listed: Ints) -> dict[str, object]:
    """The tree above these leaves, as a schema writes it."""
    paths = []
    for code in listed.tolist():
        node, path = int(tree.leaf_nodes[code]), []
        while node >= 0:
            path.append(tree.labels[node])
            node = int(tree.parents[node])
        paths.append(tuple(path) if len(path) > 1 else (path[0], "*"))
    return dict(Taxonomy.from_paths(paths).to_plain())


def _depth_of_start(tree: Taxonomy, code: int) -> int:
    """How deep the highest node lies that begins at a leaf."""
    node, depth = int(tree.leaf_nodes[code]), 0
    while (above := int(tree.parents[node])) >= 0 and int(tree.firsts[above]) == code:
        node = above
    while (node := int(tree.parents[node])) >= 0:
        depth += 1
    return depth


def _write_point(domain: Domain, point: float) -> float | str:
    """A number or date as schemas have it."""
    if domain.type is ValueType.NUMBER:
        return float(point)
    if domain.type is ValueType.INTEGER:
        return int(point)
    return texts_of(np.array([int(point)], dtype=np.int64), domain.type)[0]


def _find_round(type: ValueType, stop: float, begin: float) -> float:
    """The roundest number between the published ends of two groups, which overlap if they are rounded; of dates the
    later end."""
    if type in _STEPPED:
        stop += 1
    low, high = sorted((Fraction(str(stop)), Fraction(str(begin))))
    if type not in (ValueType.INTEGER, ValueType.NUMBER) or low == high:
        return float(high)
    is_whole, first_out = type is ValueType.INTEGER, low
    if is_whole:
        # A cut at the lower end parts whole numbers, too.
        first_out = low - 1
    for power in range(18, -1 if is_whole else -_DECIMALS - 1, -1):
        ten = Fraction(10) ** power
        for step in (ten, ten / 2):
            found = floor(high / step) * step
            if found > first_out and (found.denominator == 1 or not is_whole):
                return float(found)
    return float(high)


def _describe_columns(made: MadeWhole, columns: list[_Column]) -> Schema:
    """Quasi-identifiers with the domains that the scheme cuts; other columns as they were declared."""
    described = {column.attribute.name: column.attribute for column in columns}
    known = {domain.name: domain.attribute for domain in (*made.domains.sensitive, *made.domains.carried)}
    given = made.recipe.schema
    others = [attribute for attribute in (given.person, given.household) if attribute is not None]
    for attribute in known.values():
        if attribute.taxonomy is not None and "file" in attribute.taxonomy:
            domain = next(one for one in made.domains.sensitive + made.domains.carried if one.name == attribute.name)
            assert domain.taxonomy is not None
            leaves = np.arange(domain.taxonomy.n_leaves - domain.has_missing)
            known[attribute.name] = replace(attribute, taxonomy=_named_tree(domain.taxonomy, leaves))
    return Schema((*described.values(), *known.values(), *others))


def _part_groups(columns: list[_Column], sizes: Ints, step: int) -> list[Cut | Cell]:
    """Cuts that part all groups that can be parted, and their cells."""
    parts: list[Cut | Cell] = []
    open_parts = [(np.arange(len(sizes)), [column.whole for column in columns])]
    while open_parts:
        groups, bounds = open_parts.pop()
        for place, first, second in _list_cuts(columns, groups):
            column, (low, high) = columns[place], bounds[place]
            point, start = column.write_cut(first, second)
            if point is None:
                open_parts += [(second, bounds), (first, bounds)]
            elif not low < point < high:
                # All values of one side are such that the scheme does not name them, or rounded ends leave no room.
                continue
            else:
                after, before = [*bounds], [*bounds]
                after[place], before[place] = (point, high), (low, point)
                open_parts += [(second, after), (first, before)]
            parts.append(Cut(column.domain.name, start))
            break
        else:
            if len(groups) > 1 and not _can_be_parted(columns, groups):
                raise SchemaError(
                    "The groups of this release cannot be separated by cuts. Use --algorithm mondrian-strict."
                )
            parts.append(Cell(int(sizes[groups].sum()) // step * step))
    return parts


def _list_cuts(columns: list[_Column], groups: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """Columns by which these groups fall into two parts, and both parts: those that are most even first."""
    found: list[tuple[int, int, int]] = []
    orders = []
    for place, column in enumerate(columns):
        order = groups[np.argsort(column.lows[groups], kind="stable")]
        reached = np.maximum.accumulate(column.highs[order])
        middles = np.flatnonzero(column.lows[order][1:] > reached[:-1]) + 1
        found += [(abs(2 * middle - len(order)), place, middle) for middle in middles.tolist()]
        orders.append(order)
    for _, place, middle in sorted(found):
        yield place, orders[place][:middle], orders[place][middle:]


def _can_be_parted(columns: list[_Column], groups: Ints) -> bool:
    return next(_list_cuts(columns, groups), None) is not None
