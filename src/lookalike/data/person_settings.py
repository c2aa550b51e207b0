"""How the rows of one person are published. Loads nothing, since every command's help needs the words."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.errors import RecipeError, quoted

APART, LINKED, ONE = ROWS = ("apart", "linked", "one")
"""Rows without any person number; rows with a fresh number per person; one row per person."""
FIRST, LAST, RANDOM = KEPT = ("first", "last", "random")
"""Which row of a person is kept where one is published."""


@dataclass(frozen=True, kw_only=True)
class PersonSettings:
    """How the rows of one person are published."""

    rows: str = APART
    keep: str = RANDOM
    """`rows=one`: which row."""
    contribution: int | None = None
    """The most rows per person; further ones, drawn at random, are left out."""
    order: str | None = None
    """The column that a person's rows are ordered by; None: the order of the table."""
    fold: tuple[str, ...] | None = None
    """Columns whose values become one per person, each as COLUMN=RULE (`data.folding`)."""
    number_known: bool = True
    """Whether the attacker may know how many rows a person has."""
    salt: str | None = None
    """What rows are drawn by, in hexadecimal digits; published, so that an audit can draw the same."""
    rows_are_persons: bool = False
    """Whether the publisher states that every row is another person, although an identifier repeats."""

    def __post_init__(self) -> None:
        for name, given, known in (("rows", self.rows, ROWS), ("keep", self.keep, KEPT)):
            if given not in known:
                raise RecipeError(f"{name} must be one of {', '.join(known)}, not {quoted(given)}.")
        if self.contribution is not None and self.contribution < 1:
            raise RecipeError(f"contribution is the most rows per person: 1 or more, not {self.contribution}.")

    @property
    def most_rows(self) -> int | None:
        """The most rows of a person that are published; None: all."""
        return 1 if self.rows == ONE else self.contribution
