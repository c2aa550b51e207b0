"""PrivBayes on the tables of the experiments, over the same codes as the original."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from lookalike.algorithms.privbayes import PrivBayes, epsilon_of_beta
from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.randomness import Randomness


@lru_cache(maxsize=64)
def synthesize(data: Microdata, beta: float, seed: int) -> Microdata:
    """As many synthetic records as there are, with epsilon = ln(1 + beta), coded as the original is."""
    made = PrivBayes(epsilon_of_beta(beta)).synthesize(data, Randomness(seed)).data
    quasi, sensitive = (
        np.stack([recode(mine, codes[:, place], theirs) for place, (mine, theirs) in enumerate(pairs)], axis=1)
        for codes, pairs in (
            (made.quasi, list(zip(made.domains.quasi, data.domains.quasi, strict=True))),
            (made.sensitive, list(zip(made.domains.sensitive, data.domains.sensitive, strict=True))),
        )
    )
    return Microdata(data.schema, data.domains, quasi, sensitive, np.zeros((len(quasi), 0), dtype=np.int32))


def recode(mine: Domain, codes: Codes, theirs: Domain) -> Codes:
    """Codes of one domain as codes of another: of the same value, or of the nearest where the other has no such."""
    if mine is theirs:
        return codes
    own, other = mine.values.astype(np.float64), theirs.values.astype(np.float64)
    after = np.clip(np.searchsorted(other, own), 1, max(len(other) - 1, 1))
    nearest = np.where(own - other[after - 1] <= other[np.minimum(after, len(other) - 1)] - own, after - 1, after)
    return nearest[np.minimum(codes, len(own) - 1)].astype(np.int32)
