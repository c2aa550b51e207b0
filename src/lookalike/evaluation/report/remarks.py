"""What a report says beside its figures: what is not promised, and what a published report leaves out."""

from __future__ import annotations

from lookalike.data.series_modes import describe_mode
from lookalike.errors import quoted
from lookalike.evaluation.evaluate import Evaluation
from lookalike.evaluation.report.basis import Basis


def list_cautions(basis: Basis) -> tuple[str, ...]:
    """What is not promised."""
    several: tuple[str, ...] = ()
    if basis.unit is not None and basis.unit.known == "one row":
        several = (
            f"An attacker who knows several rows of a {basis.unit.noun} that lie in different groups (an age at two "
            "visits) can combine them and infer more.",
        )
    columns = list(dict.fromkeys(quoted(promise.column) for promise in basis.promises if promise.column is not None))
    about = (
        f"It limits what can be learned about a person's {' and '.join(columns)}."
        if columns
        else "It does not limit what can be learned about a person's sensitive values."
    )
    alone = "The promise is about this release alone. A second release of overlapping data can break both."
    return (
        alone if basis.series is None else f"{describe_mode(basis.series)} Releases outside of it can break both.",
        "It holds against the attacker named above. Someone who knows more, such as the sensitive values of others in "
        "the table, can infer more.",
        *several,
        f"{about} It does not hide that a person is in the table.",
        "What is true of whole groups (smokers fall ill more often) can still be learned: the data are for that.",
    )


_SCORES_KEPT = (
    "Figures that are scored on the original (results of attacks, errors of queries, predictions) are not published: "
    "they could reveal more about people than the release does."
)
_LEVELS_KEPT = "How sure an attacker can be of each value is not published: it depends on more than the release shows."


def list_withheld(basis: Basis, evaluation: Evaluation | None) -> list[str]:
    """What a published report does not say, and why."""
    if basis.internal:
        return []
    said = [] if evaluation is not None else [_SCORES_KEPT]
    said += [] if basis.seen or not basis.domains.sensitive else [_LEVELS_KEPT]
    unstated = [quoted(domain.name) for domain in basis.domains.quasi if domain.name not in basis.loss_by_column]
    if unstated:
        said.append(
            f"The loss of {', '.join(unstated)} is not published: it is measured against values of the original that "
            "the release does not show."
        )
    return said
