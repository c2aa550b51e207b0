"""Synthetic records under differential privacy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lookalike.algorithms import parse_synthesizer
from lookalike.algorithms.shared.mechanisms import epsilon_of_beta
from lookalike.algorithms.shared.synthesis import Synthesis, Synthesizer, describe_cautions
from lookalike.data.frequent_values import set_cells, wants_frequent
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Number
from lookalike.data.person_columns import refuse_repeated
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import Schema
from lookalike.data.suspect_codes import note_codes_of
from lookalike.errors import RecipeError, Unsupported, quoted
from lookalike.files.identifiers.values import refuse_identifiers
from lookalike.files.tables import find_library, read_columns
from lookalike.pipeline.arguments import explain_arguments
from lookalike.pipeline.person_rows import bound_contribution
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


@explain_arguments
def synthesize(
    table: Any,
    *,
    epsilon: Number | None = None,
    beta: Number | None = None,
    method: Synthesizer | str | None = None,
    qi: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    schema: Schema | str | Path | None = None,
    numeric: str | Iterable[str] = (),
    categorical: str | Iterable[str] = (),
    coarsen: Mapping[str, Mapping[str, Any]] | None = None,
    carry: str | Iterable[str] = (),
    person: str | None = None,
    keep_identifiers: str | Iterable[str] = (),
    contribution: int | None = None,
    rows_are_persons: bool = False,
    rows: int | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Synthesis:
    """Synthetic records over the columns that have a role, under differential privacy.

    Give `epsilon`, or `beta` for the epsilon that the literature sets beside beta-likeness, ln(1 + beta). `method` is
    the name of a synthesizer ("mst"; "privbayes" by default), with settings if you like ("mst:delta=1e-10"). One that
    has an epsilon already (`MST(1)`, "mst:1") needs no other. Roles make no difference here. `rows` is how many records
    to draw; as many as the table has, if left out.

    `person` names the column that says whose record it is, and `contribution` how many records of a person are learned
    from at most; further ones are left out, drawn at random. Epsilon (with delta) is then that of a person, not of a
    record. `rows_are_persons` states that every record is a different person although that column repeats.
    `keep_identifiers` names columns that are used although their values hold e-mail addresses, phone numbers, names of
    persons or the like, which is refused otherwise: synthetic records repeat values of the table.
    """
    made_already = method if isinstance(method, Synthesizer) else None
    named = method if isinstance(method, str) else None
    n_given = sum(given is not None for given in (epsilon, beta, made_already))
    if n_given > 1 or (n_given == 0 and ":" not in (named or "")):
        raise RecipeError("Give one of epsilon, beta and method with its own epsilon: how much may one record change?")
    budget = epsilon if beta is None else epsilon_of_beta(beta)
    chosen = made_already or parse_synthesizer(named, {} if budget is None else {"epsilon": budget})
    chosen.prepare()
    settings = PersonSettings(contribution=contribution, rows_are_persons=rows_are_persons)
    given = Schema.of(
        schema,
        qi=qi,
        sensitive=sensitive,
        carry=carry,
        numeric=numeric,
        categorical=categorical,
        coarsen=coarsen,
        person=person,
    )
    given = set_cells(given, keep_identifiers=keep_identifiers)
    read = read_columns(table, given, progress=progress, **reading)
    refuse_repeated(read, given, settings)
    if counted := [quoted(attribute.name) for attribute in given.published if wants_frequent(attribute)]:
        raise Unsupported(
            f"Column {', '.join(counted)}: taxonomy frequent counts values exactly, and differential privacy allows no "
            "count without noise. Leave it out, or list the values that are public (domain: {values: [...]})."
        )
    encoded = Microdata.encode(read, given)
    suspect = (*refuse_identifiers(encoded.domains), *note_codes_of(read, [one.name for one in given.published]))
    data, most_records, left_out = bound_contribution(encoded, settings, seed)
    made = chosen.synthesize(data, Randomness(seed), progress, rows=rows, most_records=most_records)
    untyped = tuple(
        attribute.name
        for attribute in given.published
        if attribute.type is None or (attribute.kind is None and attribute.order is None)
    )
    notes = (*read.notes, *suspect, *left_out, *describe_cautions(made, untyped, seed))
    return Synthesis(made, chosen, notes, untyped, find_library(table))
