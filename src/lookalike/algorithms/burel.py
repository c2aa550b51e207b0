"""BUREL: groups drawn from buckets of similar frequency, for beta-likeness and other ceilings on values.

Cao, Karras, "Publishing microdata with a robust privacy guarantee" (PVLDB 2012). Three steps: values with similar
ceilings share a bucket, as few buckets as possible (dynamic program); how many records a group takes of each bucket is
settled by halving the table again and again while the halves keep every bucket within its least ceiling; then groups
are taken out of the buckets by quasi-identifiers: along a Hilbert curve in the paper, here by cuts, which lose less.

A bucket's draw is held to the *least* ceiling of its values, because all records drawn may have that value. So any
records of the buckets will do, and the last step looks at no sensitive value. It is still not safe against somebody who
knows the method: who was passed over, though nearer, is in another bucket (docs/algorithms/burel.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.grouped import Grouping
from lookalike.contracts import Promise
from lookalike.errors import RecipeError, Unsupported, quoted
from lookalike.microdata import Microdata
from lookalike.parameters import Choice, ChoiceOrNumber, Whole
from lookalike.progress import Progress
from lookalike.randomness import Randomness
from lookalike.requirement import Requirement

if TYPE_CHECKING:
    from lookalike.kernels.axes import Axes

Counts = NDArray[np.int64]
Records = NDArray[np.int64]
_KEY_BITS, _MOST_BITS = 62, 10
_CLOSE = 1e-9
_FILLS = [Fraction(twentieths, 20) for twentieths in (20, 19, 18, 17, 16, 14, 12, 10, 8)]


@dataclass(frozen=True)
class Burel(Grouping):
    """Groups drawn from buckets of values: the fast way to beta-likeness.

    >>> str(Burel(retrieve="window"))
    'burel:retrieve=window'
    """

    name: ClassVar[str] = "burel"

    retrieve: Choice = Choice("cuts", "curve", "window", "neighbours", default="cuts")
    """cuts: halves by quasi-identifiers; curve: on a Hilbert curve; window: in a window of it; neighbours: of all."""
    window: Whole = Whole(low=2, high=64, default=4)
    """With retrieve=window: how many times as many records are looked at as are taken."""
    seeds: Whole = Whole(low=1, high=64, default=1)
    """How many records are tried as the middle of a group."""

    fill: ChoiceOrNumber = ChoiceOrNumber("auto", default="auto")
    """How much of its least ceiling a bucket may fill, up to 1 (as published); auto: what makes for small groups."""

    def __post_init__(self) -> None:
        if self.retrieve != "window" and self.window != type(self).window:
            raise RecipeError(f"{self.name}: window is heard with retrieve=window only.")
        if self.fill != "auto" and Fraction(self.fill) > 1:
            raise RecipeError(f"{self.name}: fill is {self.fill}. It must be auto, or a number above 0 and up to 1.")
        if self.retrieve == "cuts" and self.seeds > 1:
            raise RecipeError(f"{self.name}: with retrieve=cuts there are no seeds. Add retrieve=curve.")

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if requirement.only_ceilings else "it keeps the number of records and ceilings on values, no more"

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        from lookalike.algorithms.axes import axes_of

        values, ceilings, least = _asked(data, requirements)
        counts = np.bincount(values, minlength=len(ceilings))
        fills = _FILLS if self.fill == "auto" else [Fraction(self.fill)]
        buckets, drawing = _chosen_buckets(counts, ceilings, least, fills)
        bucket_of_value = np.zeros(len(ceilings), dtype=np.int64)
        for number, bucket in enumerate(buckets):
            bucket_of_value[bucket] = number
        # Records that are alike come in random order, whatever their order in the table.
        order = rng.child("ties").permutation(data.n_rows)
        bucket_of_record = bucket_of_value[values]
        if self.retrieve == "cuts":
            groups = _by_cuts(axes_of(data), order, bucket_of_record, drawing, progress)
        else:
            groups = self._along_curve(data, order, bucket_of_record, drawing, rng)
        group_of_record = np.empty(data.n_rows, dtype=np.int32)
        for number, members in enumerate(groups):
            group_of_record[members] = number
        return group_of_record, len(groups)

    def _along_curve(
        self, data: Microdata, order: Records, bucket_of_record: Records, drawing: Drawing, rng: Randomness
    ) -> list[Records]:
        from lookalike.algorithms.axes import axes_of
        from lookalike.kernels.hilbert import retrieve

        sizes = np.bincount(bucket_of_record, minlength=len(drawing.bounds))
        draws = drawing.halved(sizes)
        keys = curve_keys(data)
        order = order[np.lexsort((keys[order], bucket_of_record[order]))]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        words = rng.child("seeds").words(len(draws) * self.seeds * 2).reshape(len(draws), self.seeds, 2)
        turns = np.ascontiguousarray(draws[rng.child("groups").permutation(len(draws))])
        group_of_record = np.empty(data.n_rows, dtype=np.int32)
        window = {"curve": 1, "window": int(self.window), "neighbours": 0}[self.retrieve]
        retrieve(axes_of(data), keys[order], order, starts, turns, words, window, group_of_record)
        by_group = np.argsort(group_of_record, kind="stable")
        return np.split(by_group, np.cumsum(np.bincount(group_of_record, minlength=len(draws)))[:-1])


@dataclass(frozen=True, eq=False)
class Drawing:
    """How many records a group may take of each bucket."""

    bounds: Sequence[Fraction]
    """The least ceiling of each bucket's values."""
    least: int
    """Records of a group."""
    _known: dict[bytes, bool] = field(default_factory=dict)
    _counted: dict[bytes, int] = field(default_factory=dict)

    def halves(self, draws: Counts) -> tuple[Counts, Counts] | None:
        """Both halves of a draw, if each keeps every bound."""
        left = draws // 2
        key = draws.tobytes()
        # There are only few different draws.
        if key not in self._known:
            self._known[key] = self._is_fine(left) and self._is_fine(draws - left)
        return (left, draws - left) if self._known[key] else None

    def n_groups(self, draws: Counts) -> int:
        """How many groups `halved` gives."""
        key = draws.tobytes()
        if key not in self._counted:
            halves = self.halves(draws)
            self._counted[key] = 1 if halves is None else sum(map(self.n_groups, halves))
        return self._counted[key]

    def halved(self, draws: Counts) -> Counts:
        """[groups, buckets] a draw halved again and again, as long as halves keep every bound."""
        leaves, stack = [], [draws]
        while stack:
            draws = stack.pop()
            halves = self.halves(draws)
            if halves is None:
                leaves.append(draws)
            else:
                stack += halves[::-1]
        return np.array(leaves, dtype=np.int64)

    def _is_fine(self, draws: Counts) -> bool:
        total = int(draws.sum())
        if total < max(self.least, 1):
            return False
        # Nearly all is decided by plain numbers; what is close, exactly.
        room = self._plain_bounds * total - draws
        if (room < -_CLOSE * total).any():
            return False
        close = np.flatnonzero(room <= _CLOSE * total).tolist()
        return all(int(draws[bucket]) <= self.bounds[bucket] * total for bucket in close)

    @cached_property
    def _plain_bounds(self) -> NDArray[np.float64]:
        return np.array([float(bound) for bound in self.bounds])


def _by_cuts(
    axes: Axes, records: Records, bucket_of_record: Records, drawing: Drawing, progress: Progress
) -> list[Records]:
    """The halves of every draw taken along one attribute, again and again."""
    from lookalike.kernels.halving import cut_in_two

    groups, stack, done = [], [records], 0
    while stack:
        members = stack.pop()
        draws = np.bincount(bucket_of_record[members], minlength=len(drawing.bounds))
        halves = drawing.halves(draws)
        if halves is None:
            groups.append(members)
            done += len(members)
            progress("dividing", done / len(records), f"{len(groups):,} groups")
            continue
        stack += cut_in_two(axes, members, bucket_of_record[members], halves[0])
    return groups


def _asked(data: Microdata, requirements: Sequence[Requirement]) -> tuple[NDArray[np.int32], list[Fraction], int]:
    """The values that ceilings are on, the least ceiling of each, and the least number of records."""
    about_values = [requirement for requirement in requirements if requirement.column is not None]
    columns = sorted({requirement.column or 0 for requirement in about_values})
    least = max([1, *(requirement.min_size for requirement in requirements)])
    if len(columns) > 1:
        names = " and ".join(quoted(data.domains.sensitive[column].name) for column in columns)
        raise Unsupported(f"burel keeps ceilings on one sensitive column, not on {names} together. Use groups.")
    if not columns:
        return np.zeros(data.n_rows, dtype=np.int32), [Fraction(1)], least
    whole = [Fraction(1)] * data.domains.sensitive[columns[0]].n_codes
    given = [requirement.ceilings for requirement in about_values if requirement.ceilings is not None]
    return data.sensitive[:, columns[0]], [min(shares) for shares in zip(whole, *given, strict=True)], least


def _chosen_buckets(
    counts: Counts, ceilings: Sequence[Fraction], least: int, fills: Sequence[Fraction]
) -> tuple[list[list[int]], Drawing]:
    """The buckets that leave the most groups for their number: small groups lose less, and so do few buckets.

    The power was found on census data of 10,000 to a million records with beta from 1 to 5.
    """
    best: tuple[float, list[list[int]], Drawing] | None = None
    tried: list[list[list[int]]] = []
    for fill in fills:
        buckets = value_buckets(counts, ceilings, fill)
        if buckets in tried:
            continue
        tried.append(buckets)
        drawing = Drawing([min(ceilings[value] for value in bucket) for bucket in buckets], least)
        n_groups = drawing.n_groups(np.array([int(counts[bucket].sum()) for bucket in buckets]))
        score = n_groups / len(buckets) ** 2
        if best is None or score > best[0]:
            best = score, buckets, drawing
    assert best is not None
    return best[1], best[2]


def value_buckets(counts: Counts, ceilings: Sequence[Fraction], fill: Fraction = Fraction(1)) -> list[list[int]]:
    """The fewest buckets of values with neighbouring ceilings whose records all together keep the least of these.

    Values that do not occur are in none.
    """
    n_rows = int(counts.sum())
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda value: (ceilings[value], counts[value], value))
    fewest, begins = [0], [0]
    for end in range(1, len(order) + 1):
        fewest.append(fewest[end - 1] + 1)
        begins.append(end)
        together = int(counts[order[end - 1]])
        for begin in range(end - 1, 0, -1):
            together += int(counts[order[begin - 1]])
            # Further down more records would have to keep a lower ceiling still.
            if together > fill * ceilings[order[begin - 1]] * n_rows:
                break
            if fewest[begin - 1] + 1 < fewest[end]:
                fewest[end], begins[end] = fewest[begin - 1] + 1, begin
    buckets: list[list[int]] = []
    end = len(order)
    while end > 0:
        buckets.append(order[begins[end] - 1 : end])
        end = begins[end] - 1
    return buckets[::-1]


def curve_keys(data: Microdata) -> NDArray[np.int64]:
    """The place of each record on the curve. Values of a taxonomy stand in its order, others by size or name."""
    from lookalike.kernels.hilbert import hilbert_keys

    domains = data.domains.quasi[:_KEY_BITS]
    bits = min(_MOST_BITS, _KEY_BITS // len(domains))
    top = (1 << bits) - 1
    cells = np.empty((data.n_rows, len(domains)), dtype=np.int64)
    for attr, domain in enumerate(domains):
        points = domain.points
        low, high = (float(points.min()), float(points.max())) if len(points) else (0.0, 0.0)
        share = (points - low) / (high - low) if high > low else np.zeros(len(points))
        # A missing value stands at the far end.
        places = np.append(np.round(share * top), top).astype(np.int64)
        cells[:, attr] = places[np.minimum(data.quasi[:, attr], len(points))]
    return np.asarray(hilbert_keys(cells, bits), dtype=np.int64)
