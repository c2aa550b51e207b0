"""What attacks share: how they print, and that they take every target unless they say otherwise."""

from __future__ import annotations

from typing import ClassVar

from lookalike.data.contracts import Target
from lookalike.data.parameters import component_text
from lookalike.errors import Unsupported


class WrittenAttack:
    """The base of attacks."""

    name: ClassVar[str]
    remedy: ClassVar[str] = ""
    most_records: ClassVar[int | None] = 20_000
    forms: ClassVar[frozenset[str] | None] = None

    def __str__(self) -> str:
        return component_text(self)

    def refuses(self, target: Target) -> str | None:
        form = target.release.form
        if self.forms is None or form in self.forms:
            return None
        return f"it is about {' and '.join(sorted(self.forms))} releases, and this one is {form}."

    def check(self, target: Target) -> None:
        """Raise `Unsupported`, with the reason, if the attack cannot be made."""
        reason = self.refuses(target)
        if reason is not None:
            raise Unsupported(f"{self.name}: {reason}")


def needs_sensitive(target: Target) -> str | None:
    """Why an attack on values cannot be made on this target, or None."""
    if target.original.domains.sensitive:
        return None
    return "the table has no sensitive column, so there is no value to guess. Name one in the schema."
