"""Whether promises also hold for someone who uses common knowledge (men: not childbirth), and what is said if not."""

from __future__ import annotations

from lookalike.audit import Conditioned
from lookalike.audit.conditioning import BY_ROWS
from lookalike.audit.verdicts import format_number
from lookalike.errors import RecipeError, counted
from lookalike.pipeline.run import MadeWhole


def refuse_ruled(made: MadeWhole) -> tuple[str, ...]:
    """Sentences about promises that fail under the rules; raises `RecipeError` unless they are only to be reported."""
    failing = [one for one in made.conditioned if one.verdict.passed is False]
    beyond = [one for one in made.conditioned if one.verdict.passed is None and one.n_broken]
    n_persons = made.data.n_rows if made.data.persons is None else made.data.n_persons
    said = tuple(_describe_rules(one, n_persons) for one in (*failing, *beyond))
    if not failing or made.recipe.knowledge_report_only:
        return said
    listed = " ".join(said[: len(failing)])
    raise RecipeError(
        f"{listed} Promise no more than what is reached with the rules, promise more than you need (larger groups, a "
        "lower ceiling) until that is reached, or publish and have it reported: --knowledge-report-only "
        "(knowledge_report_only=True)."
    )


def _describe_rules(one: Conditioned, n_persons: int) -> str:
    """A promise that does not hold for someone who uses the rules."""
    who = "Someone who uses the rules of common knowledge"
    if one.way != BY_ROWS:
        who += " and knows who is in each group"
    if one.n_broken is None:
        return f"{who}: whether {one.promise} holds is {one.verdict.detail}."
    reached = format_number(one.verdict.reached)
    return f"{who} breaks {one.promise} for {one.n_broken:,} of {counted(n_persons, 'person')} (reached: {reached})."
