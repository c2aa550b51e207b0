"""BUREL on a Hilbert curve through the codes as they are: an experiment, in no registry.

BUREL draws each group from records that are close on a Hilbert curve. Neither paper prints how wide each column is on
that curve. `burel` makes all columns equally wide. Here the codes of the tables are used as they are, so that countries
(up to 82 apart) count more than genders (1 apart). There are as many groups, narrower ones in age and wider ones in
gender: they lose more, answer counts better and teach naive Bayes more. So what HG reports about BuReL's counts, and
about naive Bayes, depends on a detail that is not printed.

Every group keeps the promise: which records are close decides nothing about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.burel import Burel
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, ChoiceOrNumber


@dataclass(frozen=True)
class BurelOnPlainCurve(Burel):
    """BUREL as its authors' program has it, except for the scale of the curve."""

    name: ClassVar[str] = "burel-on-plain-curve"

    retrieve: Choice = Choice("curve", default="curve")
    fill: ChoiceOrNumber = ChoiceOrNumber("auto", default="1")

    def place_on_curve(self, data: Microdata) -> NDArray[np.int64]:
        """Along the curve through the codes themselves."""
        from lookalike.kernels.hilbert import hilbert_keys

        cells = np.empty(data.quasi.shape, dtype=np.int64)
        for attr, domain in enumerate(data.domains.quasi):
            codes = domain.values.astype(np.int64)
            cells[:, attr] = (codes - min(0, int(codes.min())))[data.quasi[:, attr]]
        bits = max(1, int(cells.max()).bit_length())
        return np.asarray(hilbert_keys(cells, bits), dtype=np.int64)
