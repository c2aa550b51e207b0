"""What is asked: COUNT(*) WHERE a column's value is one of some, AND another's is one of some, ..."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domains

Masks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Queries:
    """So many conjunctions over the columns of a table. A column that a query does not ask about has all its codes."""

    quasi: tuple[Masks, ...]
    """[queries, codes] for each quasi-identifier: the codes that are wanted."""
    sensitive: tuple[Masks, ...]

    @classmethod
    def everything(cls, domains: Domains, n_queries: int) -> Queries:
        """Queries that ask about nothing yet."""
        quasi, sensitive = (
            tuple(np.ones((n_queries, domain.n_codes), dtype=bool) for domain in group)
            for group in (domains.quasi, domains.sensitive)
        )
        return cls(quasi, sensitive)

    def __len__(self) -> int:
        return len((self.quasi + self.sensitive)[0])

    def __getitem__(self, chosen: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Queries:
        return Queries(tuple(mask[chosen] for mask in self.quasi), tuple(mask[chosen] for mask in self.sensitive))

    @property
    def asked(self) -> Masks:
        """[queries, quasi-identifiers] whether a query asks about a column at all."""
        return np.stack([~mask.all(axis=1) for mask in self.quasi], axis=1)

    @classmethod
    def joined(cls, parts: Iterable[Queries]) -> Queries:
        parts = list(parts)
        return cls(
            tuple(np.concatenate(masks) for masks in zip(*(part.quasi for part in parts), strict=True)),
            tuple(np.concatenate(masks) for masks in zip(*(part.sensitive for part in parts), strict=True)),
        )
