"""Plain tables drawn from a release: what stands in it, with a value in the place of every range, set and bucket.

cells      codes drawn from published cells
redrawn    true values drawn from perturbed ones
worlds     whole tables, whatever the form of the release
"""

from __future__ import annotations

from lookalike.sampling.worlds import World, draw_world

__all__ = ["World", "draw_world"]
