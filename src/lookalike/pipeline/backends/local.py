"""The same verbs on one machine, over a table in memory: what the distributed way is held against."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes
from lookalike.data.persons import rank_rows
from lookalike.pipeline.backends import THE_TABLE, Fragments, OwnerCounts, draw_keys, tally_pairs
from lookalike.randomness import Randomness


class LocalBackend:
    """A data frame of Polars, or what Polars makes one of. Fits `backends.Backend`."""

    def __init__(
        self,
        frame: Any,
        *,
        is_text: bool = False,
        missing: Collection[str] = (),
        date_formats: Mapping[str, str] | None = None,
        source: str = THE_TABLE,
    ) -> None:
        import polars as pl

        self._frame = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
        self.is_text, self.missing, self.source = is_text, missing, source
        self.date_formats = dict(date_formats or {})
        self._codes: Codes = np.zeros((0, 0), dtype=np.int32)

    @property
    def names(self) -> list[str]:
        return list(self._frame.columns)

    def distinct(self, names: Sequence[str]) -> list[tuple[Any, NDArray[np.int64]]]:
        found = []
        for name in names:
            tallied = self._frame[name].alias("value").value_counts(sort=False, name="times")
            found.append((tallied["value"], tallied["times"].to_numpy().astype(np.int64)))
        return found

    def tally(self, name: str) -> tuple[int, int, int]:
        present = self._frame[name].drop_nulls()
        times = present.unique_counts().to_numpy().astype(np.int64)
        return len(present), len(times), int(times.max(initial=0))

    def some_rows(self, key: str, n_values: int, names: Sequence[str]) -> Any:
        import polars as pl

        times = self._frame[key].drop_nulls().alias("value").value_counts(name="times")
        values = times.filter(pl.col("times") > 1)["value"].sort()
        drawn = values.gather(np.sort(np.random.default_rng(0).permutation(len(values))[:n_values]))
        return self._frame.filter(pl.col(key).is_in(drawn.implode())).select(names)

    def encode(self, names: Sequence[str], coding: Callable[[Sequence[Any]], Codes]) -> None:
        self._codes = coding([self._frame[name] for name in names])

    def sample(self, n_rows: int, rng: Randomness) -> Codes:
        return self._codes[rng.permutation(len(self._codes))[:n_rows]]

    def count(self, keys: Callable[[Codes], NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found, times = np.unique(keys(self._codes), return_counts=True)
        return found, times.astype(np.int64)

    def count_owners(self, keys: Callable[[Codes], tuple[NDArray[np.int64], NDArray[np.int64]]]) -> OwnerCounts:
        return _tally_owners(*keys(self._codes))

    def keep(self, owner: int, most: int, secret: Randomness, n_codes: int) -> None:
        codes = self._codes
        order = np.lexsort(codes.T[::-1])
        differs = np.append(True, (codes[order[1:]] != codes[order[:-1]]).any(axis=1))
        copies = np.empty(len(codes), dtype=np.int64)
        copies[order] = np.arange(len(codes)) - np.flatnonzero(differs)[np.cumsum(differs) - 1]
        drawn = np.lexsort((copies, *codes.T[::-1], draw_keys(codes, copies, secret.child("keys"))))
        self._codes = np.ascontiguousarray(codes[rank_rows(codes[:, owner], drawn) < most][:, :n_codes])

    def map(self, work: Callable[[int, Codes], bytes], fragments: Fragments, watch: Callable[[], None]) -> list[bytes]:
        codes = self._codes
        parts = fragments.part_of(codes, _ranks(codes, fragments) if fragments.is_ranked else None)
        order = np.argsort(parts, kind="stable")
        starts = np.searchsorted(parts[order], np.arange(fragments.n_parts + 1))
        results = []
        for number in range(fragments.n_parts):
            if starts[number] < starts[number + 1]:
                results.append(work(number, codes[order[starts[number] : starts[number + 1]]]))
                watch()
        return results

    def each(self, work: Callable[[int], bytes], n_numbers: int) -> list[bytes]:
        return [work(number) for number in range(n_numbers)]

    def close(self) -> None:
        self._codes = self._codes[:0]


def _tally_owners(keys: NDArray[np.int64], owners: NDArray[np.int64]) -> OwnerCounts:
    """Records and different owners of each key."""
    key_of_pair, _, times = tally_pairs(keys, owners)
    found, firsts, n_owners = np.unique(key_of_pair, return_index=True, return_counts=True)
    if not len(found):
        return OwnerCounts(found, n_owners, n_owners, n_owners)
    return OwnerCounts(found, np.add.reduceat(times, firsts), n_owners, np.maximum.reduceat(times, firsts))


def _ranks(codes: Codes, fragments: Fragments) -> NDArray[np.int64]:
    """The rank of each record in its stratum."""
    strata, keys = fragments.order(codes)
    order = np.lexsort((*codes.T[::-1], keys, strata))
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes)) - np.searchsorted(strata[order], strata[order])
    return ranks
