"""The papers' experiments, each under a name: data set, parameters, repetitions, results, figure, and what must show.

experiments   what an experiment is; its shape tests
datasets      the papers' tables, from a folder or as labelled stand-ins
bench         what experiments measure with: audited releases, losses, query errors, attacks
running       runs them, writes results and pictures
    bl gb ma hg ff   the experiments, one file a paper; names that begin alike belong together
"""

from __future__ import annotations

from lookalike.apps.papers.catalogue import EXPERIMENTS, find
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Shape
from lookalike.apps.papers.running import reproduce

__all__ = ["EXPERIMENTS", "Experiment", "Figure", "Results", "Shape", "find", "reproduce"]
