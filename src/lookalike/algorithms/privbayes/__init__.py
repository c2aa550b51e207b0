"""Synthetic records under differential privacy: another promise than the models', and no release in their sense.

One method so far, PrivBayes. What it gives is about nobody; what it promises is said in docs/synthesis.md.
"""

from __future__ import annotations

from lookalike.algorithms.privbayes.budget import Budget, Shape, epsilon_of_beta
from lookalike.algorithms.privbayes.method import PrivBayes, Synthesized

__all__ = ["Budget", "PrivBayes", "Shape", "Synthesized", "epsilon_of_beta"]
