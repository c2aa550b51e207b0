"""The papers' experiments, each under a name: data set, parameters, repetitions, results, figures, and claims judged.

claims        what a paper says it found, how it is tested, and the five verdicts
experiments   what an experiment is, and what it measures with: audited releases, losses, query errors
datasets      the papers' tables, from a folder, a package, or invented and called so
journal       what a run has measured so far
run           finds experiments by name, runs them, writes results and pictures
    bl gb ma hg ff   a folder per paper: its story and the list of its experiments, and a module per topic
    today            what a user would pick today: experiments that belong to no paper
"""

from __future__ import annotations

from lookalike.apps.papers.claims import Claim, Verdict
from lookalike.apps.papers.experiments import Experiment, Figure, Paper, Results
from lookalike.apps.papers.run import EXPERIMENTS, PAPERS, find, reproduce

__all__ = [
    "EXPERIMENTS",
    "PAPERS",
    "Claim",
    "Experiment",
    "Figure",
    "Paper",
    "Results",
    "Verdict",
    "find",
    "reproduce",
]
