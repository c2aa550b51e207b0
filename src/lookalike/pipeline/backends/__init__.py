"""Where a table lies and the work on it runs: on this machine (`local`) or on Spark (`spark`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes
from lookalike.data.persons import number_pairs
from lookalike.randomness import Randomness

_LOCAL, SPARK = BACKENDS = ("local", "spark")
THE_TABLE = "the table"


@dataclass(frozen=True, eq=False)
class OwnerCounts:
    """What was counted for each key, in their order."""

    keys: NDArray[np.int64]
    records: NDArray[np.int64]
    owners: NDArray[np.int64]
    """Different ones."""
    most: NDArray[np.int64]
    """The most records that one owner has."""


def draw_keys(codes: Codes, copies: NDArray[np.int64], secret: Randomness) -> NDArray[np.int64]:
    """A number per record by which the records of an owner are ordered at random.

    It is a keyed digest of the record, so that it is the same wherever the record lies. `copies` counts records that
    are equal in everything: each is drawn by itself, and as they are equal, it does not matter which is which.
    """
    key = secret.words(4).tobytes()
    rows = np.column_stack((codes.astype(np.int64), copies))
    digests = b"".join(hashlib.blake2b(row.tobytes(), key=key, digest_size=8).digest() for row in rows)
    return np.frombuffer(digests, dtype="<i8").astype(np.int64)


def tally_pairs(
    keys: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The different pairs of a key and an owner, ordered by key, and how often each occurs."""
    span = int(owners.max(initial=0)) + 1
    pairs, times = np.unique(number_pairs(keys, owners), return_counts=True)
    return pairs // span, pairs % span, times.astype(np.int64)


class Fragments(Protocol):
    """Which part of a table each record belongs to."""

    @property
    def n_parts(self) -> int: ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """About how many records each part has, for anyone who plans the work; empty if that is not known."""

    @property
    def is_ranked(self) -> bool:
        """Whether a record's part depends on its rank among others."""

    def order(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """If it does: the stratum of each record, and the keys by which records of a stratum are ranked.

        Equal keys are ranked by the codes themselves, so records that differ in nothing are the only ties.
        """

    def part_of(self, codes: Codes, ranks: NDArray[np.int64] | None) -> NDArray[np.int32]:
        """The part of each record; `ranks` are those in its stratum, from 0."""


@runtime_checkable
class Backend(Protocol):
    """Where a table lies and the work on it runs: few verbs at the level of the problem.

    All functions given are local code that can be sent elsewhere. After `encode` the table is a matrix of codes, one
    column for each published column; which machine holds which rows is nobody's business, and nothing may depend on it.
    """

    @property
    def names(self) -> list[str]:
        """The columns of the table."""

    @property
    def is_text(self) -> bool:
        """Whether cells are texts of a file without types, to be typed by what they look like."""

    @property
    def missing(self) -> Collection[str]:
        """Texts that mean "nothing" in every column, or as column=text in one."""

    @property
    def date_formats(self) -> Mapping[str, str]:
        """How dates are written in texts and whole numbers, by column."""

    @property
    def source(self) -> str:
        """What messages call the table."""

    def distinct(self, names: Sequence[str]) -> list[tuple[Any, NDArray[np.int64]]]:
        """For each column its different values (a Polars series, missing as null) and how often each occurs."""

    def tally(self, name: str) -> tuple[int, int, int]:
        """Of a column: how many rows have a value, how many different ones there are, and the most rows with one."""

    def some_rows(self, key: str, n_values: int, names: Sequence[str]) -> Any:
        """These columns (a Polars frame) of all rows of some values of a column that are in several rows."""

    def encode(self, names: Sequence[str], coding: Callable[[Sequence[Any]], Codes]) -> None:
        """Turn the table into codes; `coding` takes a Polars series for each of the columns."""

    def sample(self, n_rows: int, rng: Randomness) -> Codes:
        """About so many records at random."""

    def count(self, keys: Callable[[Codes], NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often each key occurs, exactly; `keys` gives one or several for each record."""

    def count_owners(self, keys: Callable[[Codes], tuple[NDArray[np.int64], NDArray[np.int64]]]) -> OwnerCounts:
        """How many records and different owners each key has, exactly; `keys` gives keys and the owner of each."""

    def keep(self, owner: int, most: int, secret: Randomness, n_codes: int) -> None:
        """Keep at most so many records of each owner (a column of codes), drawn by the secret, and the first columns.

        Which are kept depends on the owner's records and the secret alone; all choices are equally likely.
        """

    def map(self, work: Callable[[int, Codes], bytes], fragments: Fragments, watch: Callable[[], None]) -> list[bytes]:
        """What `work` makes of every part that has records: its number and records, in any order.

        It may be called more than once for a part, even at the same time. `watch` is called now and then meanwhile.
        """

    def each(self, work: Callable[[int], bytes], n_numbers: int) -> list[bytes]:
        """What `work` makes of the numbers from 0 on, in their order; it needs no records."""

    def close(self) -> None:
        """Let go of what was kept for the work."""
