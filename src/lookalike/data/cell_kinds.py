"""How the cells of each quasi-identifier are published: what a reader can take for someone's own value.

exact     every cell is one value
ends      intervals that end in values of the group's records: someone has the lowest and someone the highest
rounded   intervals whose ends lie on one grid for all groups
listed    sets of the values that the group's records have
nodes     nodes of a taxonomy
"""

from __future__ import annotations

import numpy as np

from lookalike.data.ends import find_step
from lookalike.data.microdata import Domain
from lookalike.data.release import Extents, Grouped, Matched, Release, Sets

EXACT, ENDS, ROUNDED, LISTED, _NODES = ("exact", "ends", "rounded", "listed", "nodes")


def describe_cells(release: Release) -> dict[str, str]:
    """The kind of each quasi-identifier's cells, by name."""
    domains = release.domains.quasi
    if not isinstance(release, Grouped | Matched):
        return dict.fromkeys((domain.name for domain in domains), EXACT)
    return {domain.name: _kind_of(domain, held) for domain, held in zip(domains, release.extents, strict=True)}


def _kind_of(domain: Domain, extents: Extents) -> str:
    if isinstance(extents, Sets):
        return EXACT if bool((extents.sizes <= 1).all()) else LISTED
    lengths = np.maximum(extents.highs - extents.lows + 1, 0) + extents.missing
    has_points = bool((extents.low_points < extents.high_points).any())
    if bool((lengths <= 1).all()) and not has_points:
        return EXACT
    if domain.taxonomy is not None:
        return _NODES
    return ENDS if find_step(domain, extents) is None else ROUNDED
