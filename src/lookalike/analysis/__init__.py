"""What an analyst does with a release: counts, cross tables and intervals, from the release folder alone.

One file a form (`perturbed`, `bucketized`) behind one class (`published`); `loading` chooses, `sql` reads questions.
`plain` draws plain tables from any form, `pooling` makes one result of theirs.
"""

from __future__ import annotations

from lookalike.analysis.estimate import Estimate
from lookalike.analysis.loading import load
from lookalike.analysis.plain import sample
from lookalike.analysis.pooling import Pooled, pool
from lookalike.analysis.release import PublishedRelease
from lookalike.data.reconstruct import Reconstruction, baseline

__all__ = ["Estimate", "Pooled", "PublishedRelease", "Reconstruction", "baseline", "load", "pool", "sample"]
