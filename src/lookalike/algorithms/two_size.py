"""two-size: the best two bucket sizes for ceilings that differ from value to value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.algorithms.shared.bucket_sizes import Found, Range, Sized, two_sizes
from lookalike.algorithms.shared.buckets import Asked
from lookalike.data.parameters import Choice
from lookalike.progress import Progress


@dataclass(frozen=True)
class TwoSize(Sized):
    """Buckets of the two sizes that lose least, for its own ceiling for each value.

    >>> str(TwoSize(pruning="loss"))
    'two-size:pruning=loss'
    """

    name: ClassVar[str] = "two-size"

    pruning: Choice = Choice("full", "loss", "none", default="full")
    """How the search is cut short; for experiments, the result is the same."""

    def search_sizes(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        return two_sizes(asked.counts, tried, self.pruning), ()
