"""What a recipient of a release can do with it, offered on the publication itself: nothing is written for it.

Every answer comes from what the folder would say, not from the original: it is the answer that a recipient gets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

# What reads and estimates takes longer to load than a small table to publish: it is loaded when it is first needed.
if TYPE_CHECKING:
    import polars

    from lookalike.analysis.conditions import Where
    from lookalike.analysis.counts import Estimate
    from lookalike.analysis.release import PublishedRelease
    from lookalike.files.releases.read import ReleaseFolder


class Received:
    """The base of a publication: what its recipient can ask."""

    library: str
    _kept: dict[str, Any]

    def read_folder(self) -> ReleaseFolder:
        """The release as a reader of its folder has it."""
        raise NotImplementedError

    def _read_tables(self) -> dict[str, polars.DataFrame]:
        """The published tables, cells as text: without an idea of what they may hide."""
        raise NotImplementedError

    def open(self) -> PublishedRelease:
        """The release as its recipient opens it (`open_release`). Done once, then remembered."""
        from lookalike.analysis.release import open_release

        if "opened" not in self._kept:
            self._kept["opened"] = open_release(self)
        opened: PublishedRelease = self._kept["opened"]
        return opened

    def frame(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The published table as a data frame of the library that the table came in: pandas, Arrow, else Polars.

        Generalised cells are text. A mapping of frames if there are several tables. `bounds` adds `age_low` and
        `age_high` (lists of values for categories), `midpoints` `age_mid`, `groups` the number of the group.
        """
        return self._frames(self.library, bounds=bounds, midpoints=midpoints, groups=groups)

    def to_polars(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The published table as a Polars data frame (`frame`)."""
        return self._frames("polars", bounds=bounds, midpoints=midpoints, groups=groups)

    def to_pandas(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The published table as a data frame of pandas (`frame`)."""
        return self._frames("pandas", bounds=bounds, midpoints=midpoints, groups=groups)

    def to_arrow(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The published table as an Arrow table (`frame`)."""
        return self._frames("arrow", bounds=bounds, midpoints=midpoints, groups=groups)

    def _frames(self, library: str, *, bounds: bool, midpoints: bool, groups: bool) -> Any:
        from lookalike.analysis.columns import hand_back_tables, list_columns

        asked = {"bounds": bounds, "midpoints": midpoints, "groups": groups}
        if any(asked.values()):
            opened = self.open()
            made = list_columns(opened.manifest.tables, opened.tables, opened.release, **asked)
        else:
            made = self._read_tables()
        return hand_back_tables(made, library)

    def count(self, where: Where, *, method: str | None = None) -> Estimate:
        """How many people satisfy every condition, estimated from the release (`PublishedRelease.count`)."""
        return self.open().count(where, method=method)

    def counts(self, column: str, where: Where | None = None, **settings: Any) -> Any:
        """How many people have each value of a column (`PublishedRelease.counts`)."""
        return self.open().counts(column, where, **settings)

    def crosstab(self, rows: str | Iterable[str], column: str, where: Where | None = None, **settings: Any) -> Any:
        """How many people have each combination of values (`PublishedRelease.crosstab`)."""
        return self.open().crosstab(rows, column, where, **settings)

    def total(self, column: str, where: Where | None = None, **settings: Any) -> Any:
        """The sum of a column's values (`PublishedRelease.total`)."""
        return self.open().total(column, where, **settings)

    def mean(self, column: str, where: Where | None = None, **settings: Any) -> Any:
        """The mean of a column's values (`PublishedRelease.mean`)."""
        return self.open().mean(column, where, **settings)

    def quantile(self, column: str, share: float = 0.5, where: Where | None = None, **settings: Any) -> Any:
        """The value at or below which that share of the people lies (`PublishedRelease.quantile`)."""
        return self.open().quantile(column, share, where, **settings)

    def query(self, sql: str, **settings: Any) -> Any:
        """Counts, totals, means and quantiles in SQL (`PublishedRelease.query`)."""
        return self.open().query(sql, **settings)

    def sample(self, worlds: int = 5, seed: int | None = None) -> list[Any]:
        """Plain tables that the release may come from (`sample`)."""
        return self.open().sample(worlds, seed)
