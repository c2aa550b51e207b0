"""The library's main entry point: `publish` a table, look at the result, `write` it.

import lookalike as la
la.publish(frame, qi=["age", "sex"], sensitive="diagnosis", model=la.BetaLikeness(2)).write("out")
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm
from lookalike.data.control import hold_out, read_share
from lookalike.data.ends import Ends
from lookalike.data.folding import fold_texts, made_columns
from lookalike.data.knowledge import Knowledge
from lookalike.data.person_columns import refuse_repeated
from lookalike.data.person_settings import APART, RANDOM, PersonSettings
from lookalike.data.schema import Schema
from lookalike.data.statement import Statement
from lookalike.errors import RecipeError, unknown_name
from lookalike.files.tables import find_library, read_columns
from lookalike.pipeline.arguments import explain_arguments
from lookalike.pipeline.backends import BACKENDS, SPARK, Backend
from lookalike.pipeline.recipe import ModelLike, Recipe, prepare
from lookalike.pipeline.run import Stopwatch
from lookalike.progress import Progress, silent
from lookalike.publication.in_parts import is_spark_frame, open_backend, publish_in_parts
from lookalike.publication.result import Publication
from lookalike.publication.synthetic import synthesize
from lookalike.publication.whole import ask_about_series, encode_group, publish_whole
from lookalike.randomness import Randomness

# What evaluates and writes takes longer to load than a small table to publish: it is loaded when it is first needed.
if TYPE_CHECKING:
    from lookalike.pipeline.series.publishing import Earlier

__all__ = ["Publication", "publish", "synthesize"]


@explain_arguments
def publish(
    table: Any,
    *,
    model: ModelLike | Iterable[ModelLike],
    algorithm: Algorithm | str | None = None,
    schema: Schema | str | Path | None = None,
    qi: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    carry: str | Iterable[str] = (),
    numeric: str | Iterable[str] = (),
    categorical: str | Iterable[str] = (),
    coarsen: Mapping[str, Mapping[str, Any] | str] | None = None,
    frequent: Mapping[str, int] | None = None,
    longest_set: int | None = None,
    keep_identifiers: str | Iterable[str] = (),
    carry_anyway: str | Iterable[str] = (),
    knowledge: Knowledge | str | Path | None = None,
    knowledge_report_only: bool = False,
    person: str | None = None,
    household: str | None = None,
    after: Iterable[Earlier] | Earlier = (),
    series: str | Path | None = None,
    mode: str | None = None,
    destination: str | Path | None = None,
    rows: str = APART,
    keep: str = RANDOM,
    contribution: int | None = None,
    order: str | None = None,
    fold: str | Iterable[str] = (),
    number_known: bool = True,
    rows_are_persons: bool = False,
    ends: str | Mapping[str, object] | Iterable[str] | None = None,
    adversary: str = READS_RELEASE,
    seed: int | None = None,
    title: str | None = None,
    recipient: str | None = None,
    purpose: str | None = None,
    legal_basis: str | None = None,
    review_date: str | datetime.date | None = None,
    contact: str | None = None,
    population: int | None = None,
    date: str | datetime.date | None = None,
    control: Any = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    scheme_out: str | Path | None = None,
    part_rows: int | None = None,
    backend: str | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Publication:
    """Publish a table so that it keeps every promise in `model`; raises rather than return a release that does not.

    `table` is a path (CSV, Parquet, Arrow, Excel), a URL (also of a table in a database), a pandas, Polars or Spark
    data frame, a pyarrow table, or anything that speaks the Arrow PyCapsule interface. Columns that get no role are not
    published. A model is an object (`BetaLikeness(3)`), its text (`"beta-likeness:3"`), or a promise for one column
    (`"occupation=beta-likeness:3"`). Further arguments go to the reader (`delimiter`, `encoding`, `missing` ...).

    `coarsen` says how sensitive and carried columns become coarser before they are published, by column:
    `{"salary": {"round": 1000, "top": 90000}}`, or `{"salary": "round:1000, top:90000"}`. Promises are then
    about the blocks.
    `frequent` names columns of which only values of so many persons keep their names, as `{"town": 20}`; all others
    become "(other)". `longest_set` is how many values per cell lists at most (100 by default; 0: any number): a cell
    that
    would list more is published as `*`. `keep_identifiers` names columns that are published although their values hold
    e-mail addresses, phone numbers, names of persons or the like, which is refused otherwise; the release says so.
    `carry_anyway` names carried columns that are published although someone who knows their values would find persons
    by them, which is refused otherwise: you state that nobody outside knows them, and the release says so.

    `knowledge` names a file of rules that everybody knows (men: not childbirth). All promises must then also hold for
    someone who uses them, or the release is refused; `knowledge_report_only` publishes it and reports the figures.

    `person` names the column that identifies persons: promises then count distinct persons (`household`: households).
    `rows="one"` publishes one row per person (`keep`: first, last or random), `contribution` at most so many.
    `rows="linked"` publishes whole persons, each with a fresh number that links the rows; `order` names the column that
    a person's rows are ordered by (the order of the table, if left out). `fold` makes columns constant per person, each
    as "column=rule": first, last, least, greatest, most-frequent, any:VALUE, or number for their own column with
    the number of rows. By default the attacker may know how many rows a person has; `number_known=False` states that
    nobody does.
    `rows_are_persons` states that rows are different persons although an identifier repeats.

    `after` names earlier releases of the same people, as folders or as pairs of a folder and its original: the release
    is refused unless all promises hold for someone who reads all of them. `series` names a series that keeps a private
    ledger beside its releases and does so every time; `mode` is how ("checked", "m-invariant", or
    with `apply_scheme` "frozen"). What is not written here at once says with `destination` which folder it will be
    written to.

    The ends of published ranges are rounded outwards, so that they are nobody's values, as far as the loss of a column
    rises by at most 2 %. `ends="exact"` keeps them exact, `ends={"age": 5}` rounds a column to multiples of 5 (dates to
    days, as "7d"; times also "1h", "15m").

    `control` is a control group for the attacks of the owner's report: a table with people of the same kind who are not
    in this one, or a share of the persons (0.1), who are drawn at random before anything else, left out of the release
    and kept in the PRIVATE folder. Promises, audit and losses are then those of the other people.

    `part_rows` publishes about so many records at a time, on this machine or, with `backend="spark"` or a Spark data
    frame, on the executors of a cluster. Parts are written as they are made, so they need `out`, the folder (one that
    all machines see under one name). A release in one piece is written there too if `out` is given; else see `write`.

    `title`, `recipient`, `purpose`, `legal_basis`, `review_date` and `contact` are printed on the first page of the
    report; a schema may hold them under `report`. `population` is how many people there are of whom those in the table
    are a random sample: the first page then has the risk for someone who does not know whether a person is in it.
    `date` is the date of the release and its report, by default today's.

    `scheme_out` makes cells that do not overlap, and writes them as a scheme once the folder is written, so that later
    tables can be published in the same cells (`apply_scheme`).
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
    if scheme_out is not None:
        from lookalike.files.schemes import check_scheme_target, render_scheme

        check_scheme_target(scheme_out, overwrite=overwrite or out is None)
    recipe = Recipe.of(
        model=model,
        algorithm=algorithm,
        adversary=adversary,
        seed=seed,
        schema=schema,
        qi=qi,
        sensitive=sensitive,
        carry=carry,
        numeric=numeric,
        categorical=categorical,
        coarsen=coarsen,
        frequent=frequent,
        longest_set=longest_set,
        keep_identifiers=keep_identifiers,
        carry_anyway=carry_anyway,
        knowledge=knowledge,
        knowledge_report_only=knowledge_report_only,
        person=person,
        household=household,
        persons=PersonSettings(
            rows=rows,
            keep=keep,
            contribution=contribution,
            order=order,
            fold=fold_texts(fold),
            number_known=number_known,
            rows_are_persons=rows_are_persons,
        ),
        for_scheme=scheme_out is not None,
        ends=Ends.read(ends),
    )
    stated |= recipe.schema.report
    if backend is not None and backend not in BACKENDS:
        raise RecipeError(unknown_name("back end", backend, BACKENDS))
    for argument, place in (("out", out), ("destination", destination)):
        if place is not None and not isinstance(place, str | os.PathLike):
            raise RecipeError(f"{argument} is of type {type(place).__name__}. Give the path of the folder.")
    goes_to = destination or out
    asked = ask_about_series(after, series, mode, None if goes_to is None else Path(goes_to).absolute().parent)
    if part_rows is not None or backend == SPARK or isinstance(table, Backend) or is_spark_frame(table):
        if asked is not None:
            raise RecipeError("Releases in parts are not held against others. Publish in one piece, without parts.")
        if recipe.knowledge is not None:
            raise RecipeError(
                "Rules are held against a release in one piece. Leave them out, or publish without parts."
            )
        from lookalike.pipeline.parts.persons import refuse_folding

        refuse_folding(recipe.persons)
        if control is not None:
            raise RecipeError(
                "Attacks are not made on a release in parts, so it has no control group. Leave control out, or publish "
                "in one piece."
            )
        if scheme_out is not None:
            raise RecipeError("A scheme is made of all groups at once. Leave scheme_out out, or publish in one piece.")
        lies_at, recipe, notes, options, header = open_backend(
            table, recipe, backend, part_rows, goes_to, progress, reading
        )
        made = publish_in_parts(
            lies_at,
            recipe,
            out,
            stated=stated,
            overwrite=overwrite,
            part_rows=part_rows,
            options=options,
            notes=notes,
            header=header,
            progress=progress,
        )
        return replace(made, library=find_library(table))
    watch = Stopwatch()
    with watch.step("read"):
        made_later = made_columns(recipe.persons.fold)
        read = read_columns(table, recipe.schema, order=order, made=made_later, progress=progress, **reading)
        refuse_repeated(read, recipe.schema, recipe.persons)
    share, held_out = (None if control is None else read_share(control)), None
    if share is not None:
        if asked is not None:
            raise RecipeError(
                "People cannot be held out of a release that is held against others: the releases would be of other "
                "people each time. Give a file with other people as control group."
            )
        draws = Randomness(seed).child("control group").uniforms(read.n_rows)
        read, held_out = hold_out(read, recipe.schema, share, draws)
    with watch.step("encode"):
        if asked is not None:
            recipe = asked.choose_method(recipe)
        prepared = prepare(recipe, read, eligible=asked is None or asked.needs_eligible_table)
    group = None
    if control is not None:
        with watch.step("control group"):
            group = encode_group(control, held_out, read, prepared, order=order, reading=reading)
    publication = publish_whole(prepared, read, asked, goes_to, stated, watch, progress, reading, group)
    publication = replace(publication, library=find_library(table))
    if scheme_out is not None:
        publication = replace(publication, scheme_out=Path(scheme_out))
        # What cannot be written as asked is refused before anything is written.
        render_scheme(scheme_out, publication.scheme())
    if out is not None:
        publication.write(out, overwrite=overwrite, progress=progress)
    return publication
