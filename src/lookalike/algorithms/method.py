"""What all methods have in common; each fits `contracts.Algorithm` once it has a name, a form and `anonymize`."""

from __future__ import annotations

from typing import Self

from lookalike.adversary import READS_RELEASE
from lookalike.contracts import Promise
from lookalike.microdata import Domains
from lookalike.notation import part_text
from lookalike.requirement import Requirement


class Method:
    """A method with the usual answers: one setting for all adversaries, nothing to warn of, every promise served."""

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
