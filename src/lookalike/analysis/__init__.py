"""What an analyst does with a release: counts, cross tables and intervals, from the release folder alone."""

from __future__ import annotations

from lookalike.analysis.estimates import Estimate
from lookalike.analysis.published import PublishedRelease, load
from lookalike.analysis.reconstruction import Reconstruction, baseline

__all__ = ["Estimate", "PublishedRelease", "Reconstruction", "baseline", "load"]
