"""Publishes a further table in the cells of a scheme: `apply_scheme`.

import lookalike as la
la.publish("january.csv", ..., scheme_out="scheme.yaml").write("january")
la.apply_scheme("february.csv", "scheme.yaml", suppress=0.02).write("february")
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.algorithms.shared.fixed_cells import FixedCells
from lookalike.data.folding import fold_texts, made_columns
from lookalike.data.frequent_values import set_cells
from lookalike.data.parameters import Number
from lookalike.data.person_columns import refuse_repeated
from lookalike.data.person_settings import APART, RANDOM, PersonSettings
from lookalike.data.schema import Schema
from lookalike.data.scheme import Scheme
from lookalike.data.statement import Statement
from lookalike.errors import RecipeError
from lookalike.files.schemes import read_scheme
from lookalike.files.tables import find_library, read_columns
from lookalike.pipeline.arguments import explain_arguments
from lookalike.pipeline.recipe import ModelLike, Recipe, parse_promises, prepare
from lookalike.pipeline.run import Stopwatch
from lookalike.progress import Progress, silent
from lookalike.publication import Publication
from lookalike.publication.whole import ask_about_series, publish_whole

if TYPE_CHECKING:
    from lookalike.pipeline.series.publishing import Earlier


@explain_arguments
def apply_scheme(
    table: Any,
    scheme: Scheme | str | Path,
    *,
    suppress: Number = 0,
    model: ModelLike | Iterable[ModelLike] = (),
    person: str | None = None,
    household: str | None = None,
    rows: str = APART,
    keep: str = RANDOM,
    order: str | None = None,
    fold: str | Iterable[str] = (),
    contribution: int | None = None,
    number_known: bool = True,
    rows_are_persons: bool = False,
    carry_anyway: str | Iterable[str] = (),
    adversary: str | None = None,
    seed: int | None = None,
    title: str | None = None,
    recipient: str | None = None,
    purpose: str | None = None,
    legal_basis: str | None = None,
    review_date: str | datetime.date | None = None,
    contact: str | None = None,
    population: int | None = None,
    date: str | datetime.date | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    after: Iterable[Earlier] | Earlier = (),
    series: str | Path | None = None,
    mode: str | None = None,
    destination: str | Path | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Publication:
    """Publish a table in the cells of a scheme, with the scheme's promise; raises if a cell does not keep it.

    The release is audited against this table like any other. `suppress` is the largest share of records that may be
    left out: whole cells that do not keep the promise by themselves. Records with values that the scheme's domain lacks
    are published in outer cells; `notes` count them. `model` replaces the promises of the scheme, `adversary` whom they
    hold against. `carry_anyway` names carried columns whose values nobody outside knows. All other arguments are
    those of `publish`; a `series` with `mode="frozen"` publishes the same people again and again in these cells, and
    lets rows wait that would give someone away.
    """
    stated = Statement.of(
        title=title,
        recipient=recipient,
        purpose=purpose,
        legal_basis=legal_basis,
        review_date=review_date,
        contact=contact,
        population=population,
        date=date,
    )
    given = scheme if isinstance(scheme, Scheme) else read_scheme(scheme)
    promises = parse_promises(model) or parse_promises(given.promises)
    if not promises:
        raise RecipeError(
            "The scheme promises nothing. Say what the release must keep, for example --model k-anonymity:5."
        )
    recipe = Recipe(
        schema=set_cells(Schema.of(given.schema, person=person, household=household), carry_anyway=carry_anyway),
        promises=promises,
        algorithm=FixedCells(suppress).over(given),
        adversary=adversary or given.adversary,
        seed=seed,
        persons=PersonSettings(
            rows=rows,
            keep=keep,
            order=order,
            fold=fold_texts(fold),
            contribution=contribution,
            number_known=number_known,
            rows_are_persons=rows_are_persons,
        ),
    )
    goes_to = destination or out
    asked = ask_about_series(after, series, mode, None if goes_to is None else Path(goes_to).absolute().parent)
    watch = Stopwatch()
    with watch.step("read"):
        made_later = made_columns(recipe.persons.fold)
        read = read_columns(table, recipe.schema, order=order, made=made_later, progress=progress, **reading)
        refuse_repeated(read, recipe.schema, recipe.persons)
    with watch.step("encode"):
        recipe = recipe if asked is None else asked.choose_method(recipe)
        prepared = prepare(recipe, read, eligible=asked is None or asked.needs_eligible_table)
    stated |= recipe.schema.report
    publication = publish_whole(prepared, read, asked, goes_to, stated, watch, progress, reading)
    publication = replace(publication, library=find_library(table))
    if out is not None:
        publication.write(out, overwrite=overwrite, progress=progress)
    return publication
