"""The catalogue of plants, each a single change to an honest release.

A plant gives the changed case, or None where it has nothing to change. Whether the change is a violation is not said
here: some are harmless (two equal values exchanged), and the oracle decides.
"""

from __future__ import annotations

from tests.audit.planting import cell_plants, form_plants, row_plants  # noqa: F401
from tests.audit.planting.catalogue import PLANTS

__all__ = ["PLANTS"]
