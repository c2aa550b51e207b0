"""Who a row is about: distinct persons are counted where a person may have several rows.

Without a person column every row is a person, and nothing here is used. With one, sizes are numbers of distinct
persons, and the share of a value is the number of distinct persons who have it in some row over the number of persons.
Such shares need not add up to 1, so counts carry the number of persons with them (`PersonCounts`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


class PersonCounts(np.ndarray[Any, np.dtype[np.int64]]):
    """How many persons have each value; a person may have several, so `n_persons` is not their sum."""

    n_persons: int
    noun: str
    """What is counted: persons or households."""

    @classmethod
    def of(cls, counts: NDArray[np.int64], n_persons: int, noun: str = "person") -> PersonCounts:
        made = counts.astype(np.int64).view(cls)
        made.n_persons, made.noun = n_persons, noun
        return made

    def __array_finalize__(self, source: object) -> None:
        self.n_persons = getattr(source, "n_persons", 0)
        self.noun = getattr(source, "noun", "person")

    def __reduce__(self) -> tuple[Any, ...]:
        return PersonCounts.of, (np.asarray(self), self.n_persons, self.noun)


def total_of(counts: NDArray[np.int64]) -> int:
    """What counts of values are shares of: the number of persons, or of records where each is a person."""
    return counts.n_persons if isinstance(counts, PersonCounts) else int(counts.sum())


def noun_of(counts: NDArray[np.int64]) -> str:
    """What they count."""
    return counts.noun if isinstance(counts, PersonCounts) else "record"


def renumber(codes: NDArray[Any]) -> NDArray[np.int32]:
    """Codes from 0 on without gaps."""
    return np.asarray(np.unique(codes, return_inverse=True)[1].reshape(-1), dtype=np.int32)


def number_pairs(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    """One number per pair of nonnegative codes, equal exactly where both are."""
    return np.asarray(left.astype(np.int64) * (int(right.max(initial=0)) + 1) + right, dtype=np.int64)


def count_persons_by_value(persons: NDArray[Any], codes: NDArray[Any], n_codes: int) -> NDArray[np.int64]:
    """How many distinct persons have each value."""
    pairs = np.unique(number_pairs(persons, codes))
    return np.bincount(pairs % (int(codes.max(initial=0)) + 1), minlength=n_codes).astype(np.int64)


def rank_rows(persons: NDArray[np.int32], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row the number of rows of the same person that come before it in `order`."""
    ranks = np.empty(len(persons), dtype=np.int64)
    by_person = order[np.argsort(persons[order], kind="stable")]
    owners = persons[by_person]
    ranks[by_person] = np.arange(len(owners)) - np.searchsorted(owners, owners)
    return ranks


@lru_cache(maxsize=1 << 16)
def chance_of_value(n_rows: int, n_with_value: int, n_taken: int) -> Fraction:
    """The chance that some of the taken rows has the value.

    >>> chance_of_value(4, 1, 3), chance_of_value(4, 2, 3)
    (Fraction(3, 4), Fraction(1, 1))
    """
    if n_taken > n_rows - n_with_value:
        return Fraction(1)
    fewer, more = sorted((n_taken, n_with_value))
    none = Fraction(math.perm(n_rows - more, fewer), math.perm(n_rows, fewer))
    return 1 - none
