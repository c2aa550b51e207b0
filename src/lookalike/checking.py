"""Reads a release back together with its original, to audit it again, measure it or attack it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks import parse_attack
from lookalike.attacks.run import Attacks, attack_target
from lookalike.audit import Audit, Examined, condition, examine_knowing
from lookalike.audit import verify as audit_release
from lookalike.audit.persons import ROWS_TOGETHER
from lookalike.data.contracts import Attack, Promise, Target
from lookalike.data.control import as_plain_release, check_apart, encode_control
from lookalike.data.knowledge import Knowledge, as_knowledge, sort_into_kinds
from lookalike.data.microdata import Microdata
from lookalike.data.release import Matched, MatchGraph
from lookalike.data.schema import Schema
from lookalike.errors import DataError, RecipeError, counted
from lookalike.evaluation.counting import Counting
from lookalike.evaluation.fidelity import Fidelity, compare
from lookalike.evaluation.protocol import Protocol, read_protocol
from lookalike.evaluation.reopen import Reopened, reopen
from lookalike.files.releases.assemble import count_suppressed
from lookalike.files.releases.parts import mix_parts, parts_of_rows
from lookalike.files.releases.private import (
    CONTROL,
    check_belongs,
    has_record_map,
    is_private_folder,
    private_folder,
    read_graph,
    read_held_out,
    read_record_map,
    read_salt,
)
from lookalike.files.tables import read_whole
from lookalike.metrics.shared.losses import explain_suppressed
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.arguments import explain_arguments
from lookalike.pipeline.recipe import ModelLike, parse_promises, settle
from lookalike.pipeline.run import name_domains
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


@explain_arguments
def verify(
    original: Any,
    release: str | Path,
    *,
    model: ModelLike | Iterable[ModelLike] = (),
    schema: Schema | str | Path | None = None,
    person: str | None = None,
    household: str | None = None,
    rows_are_persons: bool = False,
    number_known: bool | None = None,
    private: str | Path | None = None,
    suppressed: int = 0,
    ignore: Iterable[str] = (),
    knows_carried: str | Iterable[str] = (),
    knowledge: Knowledge | str | Path | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Audit:
    """Audit a release folder, or a table that another tool made, against the original it was made from.

    Without `model` a folder is held to what it promises itself; without `schema`, under its own column roles. `private`
    is the folder that `write(private=True)` left; a matched release is judged by the graph in it, and promises about
    persons with several rows by the record map. Columns that get no role make the audit fail, but for those to
    `ignore`, which it names.

    Persons are counted by the column that the release names, or by `person` (`household`). Where an identifier repeats
    and neither names a column, the audit is refused, unless `rows_are_persons` says that rows are different persons.
    `number_known`: whether an attacker may know how many rows a person has; by default as the release states.
    `knows_carried` names carried columns that the attacker knows of a person besides the quasi-identifiers: promises
    are then judged on classes that these columns split. `knowledge` names a file of rules that everybody knows: each
    promise is then also judged against someone who uses them, in its own verdict.
    """
    known = [knows_carried] if isinstance(knows_carried, str) else list(knows_carried)
    ignored = [ignore] if isinstance(ignore, str) else ignore
    folder = None if private is None else Path(private)
    counting = Counting(rows_are_persons=rows_are_persons, number_known=number_known, private=folder)
    reopened = reopen(
        original,
        release,
        Schema.of(schema, person=person, household=household),
        suppressed=suppressed,
        audited=True,
        ignore=ignored,
        counting=counting,
        progress=progress,
        **reading,
    )
    found = _audit_reopened(reopened, parse_promises(model), private, known, as_knowledge(knowledge), progress)
    return replace(found, notes=(*reopened.notes, *found.notes))


def _audit_reopened(
    reopened: Reopened,
    promises: tuple[Promise, ...],
    private: str | Path | None,
    knows_carried: Sequence[str],
    knowledge: Knowledge | None,
    progress: Progress,
) -> Audit:
    """The audit of a release that was read back; without `promises`, of what it promises itself."""
    from lookalike.evaluation.report.check import Rebuilt, check_documents

    if not promises and not reopened.promises:
        raise RecipeError(
            "The release promises nothing that could be checked. Say what to hold it to, for example --model "
            "k-anonymity:10."
        )
    graph, record_of_row = None, None
    release, parts = mix_parts(reopened.release, reopened.parts)
    if private is not None:
        # Graph and record map number the rows as they are written.
        graph, record_of_row = _read_private(Path(private), reopened)
        release, parts = reopened.release, parts_of_rows(reopened.parts)
    asked = settle(promises or reopened.promises, reopened.data)
    own = settle(reopened.promises, reopened.data) if reopened.promises else ()
    if set(asked) == set(own):
        asked = own
    examined = pipeline.examine(
        reopened.data,
        release,
        asked,
        graph=graph,
        adversary=reopened.adversary,
        unpublished=reopened.unpublished,
        parts=parts,
        record_of_row=record_of_row,
        number_known=reopened.data.number_known,
        progress=progress,
    )
    stated = [] if graph is None else ["that the release was drawn from the private graph"]
    if promises:
        stated += [f"its own promise {promise}" for promise in reopened.promises if promise not in asked]
    rebuilt, documents = Rebuilt(), reopened.documents
    if documents is not None and documents.contents:
        if not reopened.as_stated:
            rebuilt = Rebuilt(not_checked=(f"{', '.join(documents.contents)} (they count other persons than you)",))
        elif any(verdict.is_open for verdict in examined.audit.verdicts) and reopened.data.persons is not None:
            said = f"{', '.join(documents.contents)} (what is promised of persons is not decided without --private DIR)"
            rebuilt = Rebuilt(not_checked=(said,))
        elif asked == own:
            rebuilt = check_documents(
                documents,
                reopened.data,
                reopened.release,
                examined,
                own,
                reopened.algorithm,
                persons=reopened.persons,
            )
        else:
            said = f"{', '.join(documents.contents)} (about the promises of the release itself)"
            rebuilt = Rebuilt(not_checked=(said,))
    rebuilt = rebuilt.beside(reopened.checks)
    grounds = replace(
        reopened.grounds,
        stated=(*reopened.grounds.stated, *stated, *rebuilt.stated),
        not_checked=(*reopened.grounds.not_checked, *rebuilt.not_checked),
    )
    knowing = examine_knowing(examined, knows_carried) if knows_carried else examined
    found = knowing.audit
    if knowledge is not None:
        found = _judge_by_rules(knowing, knowledge, reopened, private)
    return replace(found, checks=(*reopened.checks, *rebuilt.checks, *found.checks), grounds=grounds)


def _judge_by_rules(examined: Examined, knowledge: Knowledge, reopened: Reopened, private: str | Path | None) -> Audit:
    """The audit with verdicts about someone who uses rules; those about a stronger attacker are measured."""
    kinds = sort_into_kinds(knowledge, reopened.data)
    record_of_row = None
    if private is not None and has_record_map(Path(private)):
        record_of_row = read_record_map(Path(private))
    found = [one.verdict for one in condition(examined, kinds, record_of_row)]
    audit = examined.audit
    return replace(
        audit,
        verdicts=(*audit.verdicts, *(one for one in found if one.passed is not None)),
        measured=(*audit.measured, *(one for one in found if one.passed is None)),
        notes=(*audit.notes, *kinds.notes),
    )


def _count_with(private: str | Path | None) -> Counting:
    return Counting(private=None if private is None else Path(private))


def _read_private(private: Path, reopened: Reopened) -> tuple[MatchGraph | None, NDArray[np.int64] | None]:
    """What the private folder has that this release is judged by: a graph, or whose row each is."""
    check_belongs(private, reopened.folder)
    if isinstance(reopened.release, Matched):
        return read_graph(private), None
    # A release whose rows are counted, as one with one row per person, needs no more of it than a salt, if any, and the
    # people who are held out.
    says_whose = reopened.persons is not None and is_private_folder(private)
    kept = has_record_map(private) or read_salt(private) is not None or read_held_out(private) is not None
    if reopened.data.persons is None and (says_whose or kept):
        return None, None
    return None, read_record_map(private)


class Measured(dict[str, float]):
    """What a release lost against its original: each loss by its name, and beside them what they were measured of."""

    def __init__(self, losses: Mapping[str, float], by_column: dict[str, float], reopened: Reopened) -> None:
        super().__init__(losses)
        self.loss_by_column = by_column
        self.form = reopened.release.form
        self.n_rows = reopened.release.n_rows
        self.domains = name_domains(reopened.data.domains)
        self.notes = reopened.notes

    def to_plain(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "rows": self.n_rows,
            "loss": dict(self),
            "loss_by_column": self.loss_by_column,
            "domains": self.domains,
        }


@explain_arguments
def measure(
    original: Any,
    release: str | Path,
    *,
    schema: Schema | str | Path | None = None,
    person: str | None = None,
    household: str | None = None,
    private: str | Path | None = None,
    suppressed: int = 0,
    progress: Progress = silent,
    **reading: Any,
) -> Measured:
    """The losses of a release folder, or of a table that another tool made, against its original.

    Where persons (by the column that the release names, or by `person` or `household`) have several rows, sizes of
    groups are numbers of persons. They are left out where records fit several groups and no `private` folder tells
    which record is where. All else is about rows.
    """
    given, counting = Schema.of(schema, person=person, household=household), _count_with(private)
    reopened = reopen(original, release, given, suppressed=suppressed, counting=counting, progress=progress, **reading)
    data, crowds = reopened.data, None
    missing = data.n_rows - reopened.release.n_rows - reopened.release.withheld.n_suppressed
    if reopened.is_foreign and missing > 0:
        # Another tool does not say what it left out.
        withheld = replace(reopened.release.withheld, n_suppressed=reopened.release.withheld.n_suppressed + missing)
        smaller = replace(reopened.release, withheld=withheld)
        said = f"The release has {counted(missing, 'row')} fewer than the original: they count as suppressed."
        reopened = replace(
            reopened,
            release=replace(smaller, withheld=count_suppressed(data, smaller)),
            notes=(*reopened.notes, said),
        )
    if data.persons is not None:
        record_of_row = None if private is None else _read_private(Path(private), reopened)[1]
        examined = pipeline.examine(data, reopened.release, (), record_of_row=record_of_row, progress=progress)
        crowds = examined.exposure(None).crowds
    found = Measured(*pipeline.measure(data, reopened.release, crowds), reopened)
    if said := explain_suppressed(reopened.release.withheld.n_suppressed):
        found.notes = (*found.notes, said)
    if data.persons is not None:
        noun = data.schema.unit_name
        sizes = f"Sizes of groups are numbers of different {noun}s" if crowds else f"Sizes by {noun}s are not known"
        found.notes = (*found.notes, f"{sizes}; all other figures count every row alike.")
    return found


@explain_arguments
def attack(
    original: Any,
    release: str | Path,
    *,
    attacks: Attack | str | Iterable[Attack | str] = (),
    control: Any = None,
    others: str | Path | Sequence[str | Path] = (),
    private: str | Path | None = None,
    protocol: str | Path | None = None,
    synthetic: bool = False,
    schema: Schema | str | Path | None = None,
    person: str | None = None,
    household: str | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Attacks:
    """Make attacks on a release folder, or on a table of another tool; all that apply if none is named.

    `control` is a table with people of the same kind who are not in the release: the same guesses are made about them.
    Where people were held out of the release (`publish(..., control=0.1)`), they are the control group; they are found
    in the PRIVATE folder, beside the release or named by `private`.

    `protocol` names a file that says what was tried, with the seed: it is written where there is none. Where there is
    one, its attacks are made again.

    `synthetic` states that the rows are made up (`synthesize`, or another tool's), so that nobody has a row. Only
    attacks that look for no row are made then.

    `others` are further releases of the same original, for attacks that combine them; `private` is the PRIVATE folder
    of a matched release, for attacks that assume a leak of it, or of a release in which persons have several rows: to
    count who is in which group. Persons are counted by the column that the release names, or by `person` or
    `household`.
    """
    given = Schema.of(schema, person=person, household=household)
    listed = [attacks] if isinstance(attacks, str | Attack) else [*attacks]
    earlier = None if protocol is None else read_protocol(Path(protocol))
    if earlier is not None:
        if listed or seed is not None:
            raise RecipeError(f"{protocol} says which attacks are made, and with which seed. Leave these out.")
        listed, seed = [*earlier.attacks], earlier.seed
    elif protocol is not None and seed is None:
        seed = int(Randomness().integers(1 << 31, 1)[0])
    if synthetic:
        if private is not None or others:
            raise RecipeError("Synthetic records have no PRIVATE folder, and no other releases of the same people.")
        return _attack_synthetic(original, release, given, listed, control, protocol, earlier, seed, progress, reading)
    reopened = reopen(original, release, given, counting=_count_with(private), progress=progress, **reading)
    checks = audit_release(reopened.data, reopened.release, ()).checks
    # Rows of a person in several groups are a fault of the promise, and the release is one of this table all the same.
    failed = [check for check in checks if check.blocks and check.name not in ("row order", ROWS_TOGETHER)]
    if failed:
        raise DataError(
            f"{release} does not belong to this original, or was changed: {failed[0].name}, {failed[0].detail}. Name "
            f"the table that the release was made from.{' '.join(('', *reopened.notes)) if reopened.notes else ''}"
        )
    group, notes = _read_control(control, reopened, reading)
    graph, record_of_row = (None, None) if private is None else _read_private(Path(private), reopened)
    others_listed = [others] if isinstance(others, str | Path) else others
    target = Target(
        release=reopened.release,
        original=reopened.data,
        promises=settle(reopened.promises, reopened.data) if reopened.promises else (),
        algorithm=reopened.algorithm,
        graph=graph,
        record_of_row=record_of_row,
        others=tuple(reopen(original, other, given).release for other in others_listed),
        control=group,
        adversary=reopened.adversary,
    )
    chosen = [parse_attack(one) if isinstance(one, str) else one for one in listed]
    found = replace(attack_target(target, chosen, Randomness(seed), progress), notes=notes)
    return _keep_protocol(found, target, protocol, earlier, seed)


def _read_control(
    control: Any, reopened: Reopened, reading: dict[str, Any]
) -> tuple[Microdata | None, tuple[str, ...]]:
    """The control group over the domains of the original, and what to say of it."""
    if control is None and reopened.held_out is None:
        return None, ()
    is_own = isinstance(control, str | Path) and Path(control).name == CONTROL and reopened.held_out is not None
    if control is None or (is_own and Path(control).absolute().parent == private_folder(reopened.folder.absolute())):
        assert reopened.held_out is not None
        return encode_control(reopened.held_out, reopened.data)
    schema, counted = reopened.data.schema, reopened.counted
    table = read_whole(control, schema, made=counted.made, **reading)
    table = counted.fold(table, schema)
    check_apart(reopened.table, table, schema)
    group, notes = encode_control(table, reopened.data)
    return group, (*table.notes, *notes)


def _attack_synthetic(
    original: Any,
    release: str | Path,
    schema: Schema,
    attacks: Sequence[Attack | str],
    control: Any,
    protocol: str | Path | None,
    earlier: Protocol | None,
    seed: int | None,
    progress: Progress,
    reading: dict[str, Any],
) -> Attacks:
    """Attacks on records that are made up: a plain table whose rows are nobody's."""
    if not schema.published:
        raise RecipeError(
            "Synthetic records do not say which column is what. Name the quasi-identifiers and the sensitive column "
            "(--qi A,B --sensitive S, or --schema FILE)."
        )
    table = read_whole(original, schema, **reading)
    data = Microdata.encode(table, schema)
    made = read_whole(release, data.schema)
    data, rows, notes = as_plain_release(made, data)
    group = None
    if control is not None:
        others = read_whole(control, data.schema, **reading)
        check_apart(table, others, data.schema)
        group, said = encode_control(others, data)
        notes = (*notes, *said)
    target = Target(release=rows, original=data, control=group, synthetic=True)
    chosen = [parse_attack(one) if isinstance(one, str) else one for one in attacks]
    found = replace(attack_target(target, chosen, Randomness(seed), progress), notes=notes)
    return _keep_protocol(found, target, protocol, earlier, seed)


def _keep_protocol(
    found: Attacks, target: Target, protocol: str | Path | None, earlier: Protocol | None, seed: int | None
) -> Attacks:
    """What was found; the protocol is written, or held against what is found today."""
    if protocol is None:
        return found
    assert seed is not None
    today = Protocol.of(found, target, seed)
    if earlier is None:
        today.write(Path(protocol))
        said: tuple[str, ...] = (
            f"What was tried is in {protocol}. Its figures are scored on the original: it is for internal use only.",
        )
    else:
        said = earlier.compare(today)
    return replace(found, notes=(*found.notes, *said))


@explain_arguments
def fidelity(
    original: Any,
    release: str | Path,
    *,
    schema: Schema | str | Path | None = None,
    suppressed: int = 0,
    seed: int = 0,
    progress: Progress = silent,
    **reading: Any,
) -> Fidelity:
    """Compare a release with its original: counts, pairs, correlations, a machine that tells them apart, predictions.

    `release` is a folder or another tool's table; what `publish` gave has a method of this name. Distances are exact
    expectations; what needs chance (worlds drawn from the release, trees) takes it from `seed`.
    """
    reopened = reopen(original, release, schema, suppressed=suppressed, progress=progress, **reading)
    found = compare(reopened.data, reopened.release, seed, progress)
    return replace(found, notes=(*reopened.notes, *found.notes))
