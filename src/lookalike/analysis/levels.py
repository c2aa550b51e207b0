"""Codes of one length in drawn tables: prefixes among full codes would be values that nobody has.

A release shows some zip codes whole, most as `021**`, and of some prefixes no longer code is known: in such a cell
nothing but the prefix can be drawn. So that a column does not mix both, all its codes are cut to the finest level at
which nearly all rows have one. Rows of which less is known than that have no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from lookalike.data.microdata import Domain
from lookalike.data.release import Grouped, Matched, Ranges, Release
from lookalike.errors import quoted

_ENOUGH = 0.95
"""Rows that have a code of the level which is chosen."""
_STAR = "*"


@dataclass(frozen=True)
class CutCodes:
    """A column of codes that are all cut to their first characters."""

    column: str
    kept: int

    def apply(self, values: pl.Series) -> pl.Series:
        """The codes cut; those that are shorter are missing."""
        texts = [text for text in values.unique().to_list() if text is not None]
        cut = [_cut(text, self.kept) for text in texts]
        return values.replace_strict(texts, cut, default=None, return_dtype=pl.String).alias(self.column)

    def describe(self) -> str:
        return (
            f"{quoted(self.column)} is cut to {self.kept} characters in every row: of many rows the release does not "
            "show more. Rows of which it shows less have no value there."
        )


def cut_prefixes(release: Release) -> list[CutCodes]:
    """The columns whose codes the release does not show in one length."""
    found = []
    for domain, extents in zip(release.domains.quasi, getattr(release, "extents", ()), strict=False):
        assert isinstance(release, Grouped | Matched)
        levels = (domain.attribute.taxonomy or {}).get("prefixes")
        if levels is None or domain.taxonomy is None or not isinstance(extents, Ranges):
            continue
        listed = sorted(levels if isinstance(levels, list) else [levels], reverse=True)
        rows = np.bincount(release.unit_of_row, minlength=len(extents)).astype(np.float64)
        kept = _choose_level(domain, extents, rows, listed)
        if kept is not None:
            found.append(CutCodes(domain.name, kept))
    return found


def _choose_level(domain: Domain, extents: Ranges, rows: np.ndarray, levels: Sequence[int]) -> int | None:
    """How many characters to keep; None if every code that can be drawn is whole."""
    texts = [str(text) for text in domain.texts[: len(domain.values)]]
    lengths = np.array([_n_known(text, levels) for text in texts])
    if not np.isfinite(lengths).all():
        # Of a cell the leaves are alike: the share of its rows that draw a code of each level.
        for level in levels:
            known = np.concatenate(([0.0], np.cumsum(lengths >= level)))
            lows = np.minimum(extents.lows, len(texts))
            highs = np.clip(extents.highs + 1, lows, len(texts))
            share = (known[highs] - known[lows]) / np.maximum(highs - lows, 1)
            drawn = highs > lows
            if float(rows[drawn] @ share[drawn]) >= _ENOUGH * float(rows[drawn].sum()):
                return level
        return levels[-1]
    return None


def _n_known(text: str, levels: Sequence[int]) -> float:
    """How many characters of a code are known; without end for a whole one."""
    stars = [level for level in levels if level < len(text) and set(text[level:]) == {_STAR}]
    if stars:
        return min(stars)
    return 0 if set(text) == {_STAR} else np.inf


def _cut(text: str, kept: int) -> str | None:
    shown = len(text.rstrip(_STAR))
    return text[:kept] + _STAR * (len(text) - kept) if shown >= kept else None
