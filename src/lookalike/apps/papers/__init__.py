"""The papers' experiments, each under a name: data set, parameters, repetitions, results, figure, and what must show.

experiments   what an experiment is, its shape tests, and what it measures with: audited releases, losses, query errors
datasets      the papers' tables, from a folder or as labelled stand-ins
run           finds them by name, runs them, writes results and pictures
    bl gb ma hg ff   the experiments, one file a paper; queries of BL and HG have files of their own
"""

from __future__ import annotations

from lookalike.apps.papers.experiments import Experiment, Figure, Results, Shape
from lookalike.apps.papers.run import EXPERIMENTS, find, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "Figure", "Results", "Shape", "find", "reproduce"]
