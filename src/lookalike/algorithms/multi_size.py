"""multi-size: the best two bucket sizes, divided again while that loses less."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from lookalike.algorithms.shared.bucket_sizes import Found, Range, Sized, several_sizes
from lookalike.algorithms.shared.buckets import Asked
from lookalike.progress import Progress


@dataclass(frozen=True)
class MultiSize(Sized):
    """Buckets of several sizes: two that lose least, each divided again while that loses less.

    >>> str(MultiSize(largest=60))
    'multi-size:largest=60'
    """

    name: ClassVar[str] = "multi-size"
    suits: ClassVar[Collection[str]] = ("f-privacy",)

    def search_sizes(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        return several_sizes(asked.counts, tried), ()
