"""What all methods have in common; each fits `contracts.Algorithm` once it has a name, a form and `anonymize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from lookalike.data.contracts import READS_RELEASE, Promise
from lookalike.data.microdata import Domains, Microdata
from lookalike.data.parameters import part_text
from lookalike.data.release import Linkage, Release
from lookalike.data.requirement import Requirement
from lookalike.progress import Progress
from lookalike.randomness import Randomness


class Method:
    """A method with the usual answers: one setting for all adversaries, nothing to warn of, every promise served."""

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, Linkage]:
        """A release in which every group satisfies every requirement; fails closed.

        Before the method sees the records, they are numbered at random. Methods break ties by record number, and the
        proofs against an attacker who knows the method take these numbers to be independent of the sensitive values.
        The order of the input is not: a file may be sorted by diagnosis.
        """
        record_of_number = rng.child("record numbers").permutation(data.n_rows)
        release, linkage = self.make_release(data.take(record_of_number), requirements, rng, progress)
        return release, linkage.renumber(record_of_number)

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, Linkage]:
        """The method itself, on records that come in random order."""
        raise NotImplementedError

    @property
    def adversary(self) -> str:
        return READS_RELEASE

    def facing(self, adversary: str) -> Self:
        return self

    def cautions(self) -> list[str]:
        return []

    def study_only(self) -> str | None:
        return None

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None

    def refuses_columns(self, domains: Domains) -> str | None:
        return None

    def __str__(self) -> str:
        return part_text(self)
