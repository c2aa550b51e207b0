"""fixed-cells: publishes records in the cells of a scheme that was fixed before the table was seen.

A cell whose records do not keep every promise by themselves is left out as a whole, if so many records may be left out;
otherwise nothing is published. Promises are tests of one group, so the cells that pass are the most that can be
published in these cells.

What leaving out says. Someone who reads the release learns nothing from it about a person whose cell is published: the
decision looks at the cell as a whole, so all ways to deal its values to its records stay equally likely. Of a person
whose cell is left out a reader who knows the rule learns that the cell failed. Where the promise is about sizes alone,
that follows from the quasi-identifiers, which this reader knows. Where it is about values, it says something about
values. So against someone who knows the method, promises about values are kept with nothing left out, or refused.

Assumed: the scheme was not made from the sensitive values of the same people. The paths of records in the tree of cuts
cost O(n * depth), the tests O(n).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import Method, left_out
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Promise, Undivided
from lookalike.data.microdata import Domains, Microdata
from lookalike.data.parameters import Exact
from lookalike.data.release import Grouped, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.data.scheme import Scheme
from lookalike.errors import Infeasible, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

GroupTest = Callable[[NDArray[np.int64]], bool]


@dataclass(frozen=True)
class FixedCells(Method):
    """The cells of a scheme, as `lookalike apply` publishes them.

    >>> str(FixedCells()), str(FixedCells("0.05"))
    ('fixed-cells', 'fixed-cells:suppress=0.05')
    """

    name: ClassVar[str] = "fixed-cells"
    form: ClassVar[str] = Grouped.form
    kernels: ClassVar[Collection[str]] = ("grouptest.is_group_allowed",)
    in_parts: ClassVar[Undivided] = Undivided("a cell of the scheme is tested as a whole")

    suppress: Exact = Exact(low=0, high=1, default=0)
    """The largest share of records that may be left out because their cells do not keep the promise."""
    scheme: Scheme | None = field(default=None, init=False, repr=False, compare=False)
    """Where the cells come from. The text of the method does not name it, so a method that was read has none."""
    against: str = field(default=READS_RELEASE, init=False, repr=False, compare=False)

    def over(self, scheme: Scheme) -> Self:
        """The same with the cells of a scheme."""
        return self._with(scheme=scheme)

    def _with(self, **settings: object) -> Self:
        made = replace(self)
        for name, value in {"scheme": self.scheme, "against": self.against, **settings}.items():
            object.__setattr__(made, name, value)
        return made

    @property
    def adversary(self) -> str:
        return self.against

    def facing(self, adversary: str) -> Self:
        return self._with(against=adversary)

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        if self.scheme is None:
            return "its cells come from a scheme; run lookalike apply SCHEME DATA"
        if self.against == KNOWS_METHOD and self.suppress > 0 and requirement.column is not None:
            return (
                f"which cells are left out would depend on values, and someone who knows the method could tell that "
                f"{promise} failed there. Promise k-anonymity alone, leave nothing out (--suppress 0), or protect "
                "against someone who reads the release"
            )
        return None

    def refuses_columns(self, domains: Domains) -> str | None:
        known = [axis.name for axis in self.scheme.axes] if self.scheme else []
        found = [domain.name for domain in domains.quasi]
        return None if found == known else f"the scheme cuts {', '.join(known)}, and the table has {', '.join(found)}"

    def refuses_persons(self, promises: Sequence[Promise], adversary: str) -> str | None:
        if adversary == KNOWS_METHOD and any(not promise.model.about_identity for promise in promises):
            return "against someone who knows the method it keeps promises about values for one row per person only"
        return None

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, RecordMap]:
        assert self.scheme is not None, "A method without a scheme refuses every promise."
        located = self.scheme.locate(data)
        members = np.argsort(located.cell_of_record, kind="stable")
        ends = np.cumsum(np.bincount(located.cell_of_record, minlength=located.n_cells))
        keeps = group_test(data, requirements)
        passes = np.array([keeps(records) for records in np.split(members, ends[:-1])], dtype=bool)
        published = passes[located.cell_of_record]
        self._check_share(published, passes)
        group_of_cell = np.cumsum(passes, dtype=np.int32) - 1
        record_of_row = rng.child("row order").permutation(data.n_rows)
        record_of_row = record_of_row[published[record_of_row]]
        shown = replace(
            located,
            names=tuple(np.array(located.names, dtype=object)[passes].tolist()),
            lows=located.lows[passes],
            highs=located.highs[passes],
            places=located.places[passes],
        )
        release = Grouped(
            domains=data.domains,
            extents=self.scheme.extents(data.domains.quasi, shown),
            group_of_row=group_of_cell[located.cell_of_record[record_of_row]],
            sensitive=data.sensitive[record_of_row],
            carried=data.carried[record_of_row],
            withheld=left_out(data, ~published),
        )
        remarks = list(self.scheme.describe_outside(located))
        if not passes.all():
            cells = counted(int((~passes).sum()), "cell")
            records = counted(int((~published).sum()), "record")
            remarks.append(f"{records} in {cells} left out, because these cells do not keep the promise by themselves.")
        return release, RecordMap(record_of_row, remarks=tuple(remarks))

    def _check_share(self, published: NDArray[np.bool_], passes: NDArray[np.bool_]) -> None:
        n_rows, n_lost = len(published), int((~published).sum())
        if not published.any():
            raise Infeasible(
                f"None of the {counted(len(passes), 'cell')} of the scheme that this table has records in keeps the "
                "promise. Make a scheme with larger cells, or promise less."
            )
        if n_lost > self.suppress * n_rows:
            needed = Fraction(ceil(Fraction(n_lost * 10_000, n_rows)), 10_000)
            raise Infeasible(
                f"{counted(int((~passes).sum()), 'cell')} of {len(passes):,} with {counted(n_lost, 'record')} of "
                f"{n_rows:,} do not keep the promise in the cells of this scheme. Leave them out "
                f"(--suppress {float(needed):g}), or use a scheme with larger cells."
            )


def group_test(data: Microdata, requirements: Sequence[Requirement]) -> GroupTest:
    """Whether records of a table, as a group by themselves, satisfy every requirement; by persons if declared."""
    from lookalike.algorithms.shared.axes import codes_for, rule_of
    from lookalike.kernels.grouptest import is_group_allowed, tally_for

    rule = rule_of(data, requirements)
    codes = codes_for(data, rule)
    tally = tally_for(rule, codes)
    return lambda records: bool(is_group_allowed(rule, codes, records.astype(np.int64), 0, len(records), tally))
