"""Methods that go wrong, for comparisons that must show it. In their own module, so that processes find them."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.algorithms.mondrian import Mondrian
from lookalike.data.microdata import Microdata
from lookalike.data.release import RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.models.k_anonymity import KAnonymity
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Careless(Mondrian):
    """Keeps 2-anonymity, whatever was asked."""

    name: ClassVar[str] = "careless"

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, RecordMap]:
        weak = KAnonymity(2).requirement(np.array([data.n_rows]), None, None)
        return super().anonymize(data, [weak], rng, progress)


@dataclass(frozen=True)
class Crashing(Mondrian):
    """Raises with a value of the table in its message."""

    name: ClassVar[str] = "crashing"

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, RecordMap]:
        raise ValueError(data.domains.sensitive[0].texts[0])


@dataclass(frozen=True)
class Dying(Mondrian):
    """Is killed by the system."""

    name: ClassVar[str] = "dying"

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, RecordMap]:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("still alive")
