"""Tables that are published in one piece, by themselves or held against other releases of the same people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.data.control import HeldOut, check_apart, encode_control
from lookalike.data.folding import fold_for, made_columns
from lookalike.data.long_tails import note_long_tails
from lookalike.data.microdata import Microdata, Table
from lookalike.data.statement import Statement
from lookalike.data.suspect_codes import note_codes_of
from lookalike.data.total_rows import note_totals
from lookalike.files.identifiers.values import refuse_identifiers
from lookalike.files.tables import read_columns
from lookalike.pipeline.carried import refuse_carried
from lookalike.pipeline.common_knowledge import refuse_ruled
from lookalike.pipeline.recipe import Prepared
from lookalike.pipeline.run import Stopwatch, run
from lookalike.progress import Progress
from lookalike.publication.result import Publication

# What evaluates and writes takes longer to load than a small table to publish: it is loaded when it is first needed.
if TYPE_CHECKING:
    from lookalike.pipeline.series.publishing import Asked, Earlier, Step


def ask_about_series(
    after: Iterable[Earlier] | Earlier, series: str | Path | None, mode: str | None, parent: Path | None
) -> Asked | None:
    """What is said about other releases of the same people; None: nothing."""
    if isinstance(after, str | Path):
        after = [after]
    listed = list(after)
    if not listed and series is None and mode is None:
        return None
    from lookalike.pipeline.series.publishing import Asked

    return Asked.of(listed, series, mode, parent)


def publish_whole(
    prepared: Prepared,
    read: Table,
    asked: Asked | None,
    goes_to: str | Path | None,
    stated: Statement,
    watch: Stopwatch,
    progress: Progress,
    reading: dict[str, Any],
    group: ControlGroup | None = None,
) -> Publication:
    """In one piece: made, audited, and held against earlier releases where some are named."""
    step: Step | None = None
    published = [attribute.name for attribute in prepared.recipe.schema.published]
    removed = tuple(name for name in read.all_names if name not in published)
    suspect: tuple[str, ...] = (
        *note_codes_of(read, published),
        *note_totals(read),
        *note_long_tails(read, prepared.recipe.schema),
    )
    warned: tuple[str, ...] = ()
    names: Sequence[str] | None = None
    if asked is not None:
        from lookalike.pipeline.series.invariance import plain_name
        from lookalike.pipeline.series.publishing import open_step

        with watch.step("series"):
            step = open_step(asked, prepared, read, reading)
            prepared = step.prepared
        names = None if prepared.data.owners is None else [plain_name(name) for name in step.names]
    else:
        from lookalike.pipeline.series.people import find_names
        from lookalike.pipeline.series.registry import warn_of_known

        names = find_names(read, prepared.data)
        warned = warn_of_known(goes_to, read, prepared.data)
    warned += refuse_identifiers(prepared.data.domains)
    made = run(prepared, progress, with_carried=True)
    warned += refuse_carried(made.carried, made.domains)
    warned += refuse_ruled(made)
    if step is not None:
        with watch.step("series"):
            step.check(made)
    made = replace(made, seconds={**watch.seconds, **made.seconds}, notes=(*warned, *suspect, *made.notes))
    if group is None:
        return Publication(made, stated, removed, step=step, recognised=names)
    held_out = group.held_out
    made = replace(
        made,
        control=group.people,
        held_out=None if held_out is None else held_out.share,
        notes=(*made.notes, *group.notes),
    )
    return Publication(made, stated, removed, step=step, recognised=names, held_out=held_out)


@dataclass(frozen=True, eq=False)
class ControlGroup:
    """People who are not in the release, over its domains."""

    people: Microdata
    held_out: HeldOut | None
    """How they were held out of the table, if they were."""
    notes: tuple[str, ...]


def encode_group(
    control: Any,
    held_out: HeldOut | None,
    table: Table,
    prepared: Prepared,
    *,
    order: str | None,
    reading: dict[str, Any],
) -> ControlGroup:
    """The people who were held out of the table, or those of another one, which must be others."""
    schema, persons = prepared.data.schema, prepared.recipe.persons
    if held_out is not None:
        people, notes = encode_control(fold_for(prepared.recipe.schema, held_out.people, persons), prepared.data)
        return ControlGroup(people, held_out, (held_out.note, *notes))
    others = read_columns(control, schema, order=order, made=made_columns(persons.fold), **reading)
    check_apart(table, others, prepared.recipe.schema)
    people, notes = encode_control(fold_for(prepared.recipe.schema, others, persons), prepared.data)
    return ControlGroup(people, None, (*others.notes, *notes))
