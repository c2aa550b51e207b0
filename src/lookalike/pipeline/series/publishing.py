"""One release of a series: the earlier ones, the check of all together, and its entry in the ledger.

step = open_step(...)        reads the earlier releases, or the ledger, before anything is made
step.check(made)             raises `AuditFailed` unless all releases together keep all promises
with step.record(folder):    the release is entered in the ledger before it appears, and confirmed after
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.audit.reading import Ints
from lookalike.audit.series import SeriesAudit, refuse_model
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Attribute, Schema
from lookalike.data.series_modes import AFTER, CHECKED, FROZEN, M_INVARIANT, MODES
from lookalike.errors import DataError, RecipeError, Unsupported, counted, quoted, unknown_name
from lookalike.files.releases.private import check_belongs, private_folder
from lookalike.files.releases.read import ReleaseFolder, find_release
from lookalike.files.tables import read_whole
from lookalike.pipeline.person_rows import keep_rows
from lookalike.pipeline.recipe import Prepared, Recipe
from lookalike.pipeline.run import MadeWhole
from lookalike.pipeline.series import registry
from lookalike.pipeline.series.check import Before, Now, hold_together, refuse_broken
from lookalike.pipeline.series.contents import Contents, describe_release, read_contents, refuse_form
from lookalike.pipeline.series.freezing import hold_frozen, prepare_frozen
from lookalike.pipeline.series.invariance import choose_m_invariant, hold_invariance, prepare_m_invariant
from lookalike.pipeline.series.ledger import (
    MARKER,
    Entry,
    Ledger,
    check_folders,
    check_writable,
    describe_ledger,
    digest_release,
    digest_schema,
    hold_lock,
    read_ledger,
    settle_pending,
)
from lookalike.pipeline.series.people import (
    count_again,
    count_changes,
    digest,
    groups_of_records,
    list_people,
    name_records,
    name_rows,
    new_key,
    read_people,
    refuse_changes,
)
from lookalike.pipeline.series.placing import place_original, place_records

Earlier = str | Path | tuple[str | Path, Any]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is said about other releases of the same people."""

    after: tuple[tuple[Path, Any], ...] = ()
    """Earlier releases, each with its original or None."""
    ledger: Path | None = None
    mode: str | None = None

    @classmethod
    def of(
        cls, after: Iterable[Earlier] | Earlier, series: str | Path | None, mode: str | None, parent: Path | None
    ) -> Asked:
        listed = [after] if isinstance(after, str | Path) else list(after)
        if mode is not None and mode not in MODES:
            raise RecipeError(unknown_name("mode", mode, MODES))
        if mode is not None and series is None:
            raise RecipeError("A mode is kept by a series. Name the series too (--series NAME).")
        if listed and series is not None:
            raise RecipeError(
                "A series knows its earlier releases. Leave out --after, or publish without --series to hold the "
                "release against single ones."
            )
        pairs = [one if isinstance(one, tuple) else _split_earlier(str(one)) for one in listed]
        found = tuple((Path(release), original) for release, original in pairs)
        if series is None:
            return cls(after=found)
        ledger = registry.find_ledger(series, parent)
        kept = read_ledger(ledger).mode if (ledger / MARKER).is_file() else None
        if mode is not None and kept not in (None, mode):
            raise RecipeError(
                f"The series in {ledger} is kept in mode {kept}, and a series keeps its mode. Leave out --mode, or "
                "begin a series with another name."
            )
        return cls(after=found, ledger=ledger, mode=mode or kept or CHECKED)

    @property
    def needs_eligible_table(self) -> bool:
        """Whether some release of the table's own rows must be able to keep the promises; made-up rows can help."""
        return self.mode != M_INVARIANT

    def choose_method(self, recipe: Recipe) -> Recipe:
        """The recipe with the method that the mode of the series asks for."""
        return choose_m_invariant(recipe) if self.mode == M_INVARIANT else recipe


def _split_earlier(text: str) -> tuple[str, str | None]:
    """RELEASE or RELEASE=ORIGINAL; a path with an equals sign that exists is a release.

    >>> _split_earlier("january=stays.csv")
    ('january', 'stays.csv')
    """
    if os.path.exists(text) or "=" not in text:
        return text, None
    release, _, original = text.rpartition("=")
    return release, original


@dataclass(eq=False, kw_only=True)
class Step:
    """One run's part in several releases."""

    prepared: Prepared
    """The recipe, with the method that the mode needs."""
    names: Sequence[str]
    """What each record is recognised by."""
    rows: Sequence[str]
    before: list[Before] = field(default_factory=list)
    ledger: Ledger | None = None
    notes: list[str] = field(default_factory=list)
    audit: SeriesAudit | None = None
    now: Now | None = None
    data: Microdata | None = None
    """The records that are published, once they are."""
    recorded: bool = False

    def check(self, made: MadeWhole) -> None:
        """Hold the new release and all earlier ones against all their promises."""
        refuse_form(made.form, "This release")
        contents, class_of_row = describe_release(made.release, made.data, made.promises)
        groups = groups_of_records(class_of_row, made.record_map.record_of_row, made.data.n_rows)
        self.now, self.data = Now(contents=contents, groups=groups, names=self.names), made.data
        if self.ledger is not None and self.ledger.mode == M_INVARIANT:
            self.notes += hold_invariance(self.before, self.now, made.data, int(self.ledger.extra["m"]))
        elif self.ledger is not None and self.ledger.mode == FROZEN:
            self.notes += hold_frozen(self.before, self.now, made.data, made.adversary)
        elif self.before:
            self.audit = hold_together(self.before, self.now, made.data)
            refuse_broken(self.audit)
            self.notes += self.audit.lines

    def to_plain(self) -> dict[str, Any]:
        """The result, ready for JSON."""
        name = None if self.ledger is None else self.ledger.name
        return {"name": name, "mode": self.mode, "audit": None if self.audit is None else self.audit.to_plain()}

    @property
    def mode(self) -> str:
        """What the release says of how it was held against others: the mode and no number of anything."""
        return AFTER if self.ledger is None else self.ledger.mode

    @contextmanager
    def record(self, folder: Path, *, overwrite: bool) -> Iterator[None]:
        """Enter the release in the ledger, let it be written, and confirm it."""
        if self.ledger is None:
            yield
            return
        assert self.now is not None, "A release is checked before it is written."
        assert self.data is not None
        with hold_lock(self.ledger.folder.parent):
            ledger = self._unchanged(self.ledger)
            place = folder.absolute()
            for entry in ledger.entries:
                if ledger.place_of(entry).absolute() == place:
                    raise RecipeError(
                        f"{folder} holds {entry.name} of the series. What was handed over cannot be replaced: choose "
                        "another folder."
                    )
            entry = self._describe(ledger, place, digest_release(place) if overwrite else "")
            people = list_people(self.names, self.data, self.now.groups, ledger.key)
            rows = [digest(ledger.key, "row", row) for row in self.rows]
            pending = ledger.with_entry(entry, self.now.contents, people, rows)
            pending.write()
            if (said := registry.register(ledger.folder)) is not None:
                self.notes.append(said)
            try:
                yield
            except BaseException:
                if digest_release(place) == entry.before:
                    (ledger if ledger.entries else pending.without(entry)).write()
                raise
            self.ledger = pending.confirmed(digest_release(place))
            self.ledger.write()
            self.recorded = True

    def _unchanged(self, opened: Ledger) -> Ledger:
        if not (opened.folder / MARKER).is_file():
            if opened.entries:
                raise DataError(f"The ledger in {opened.folder} is gone. Restore it, and run again.")
            return opened
        found = read_ledger(opened.folder)
        if found.entries != opened.entries or (found.entries and found.key != opened.key):
            raise RecipeError(
                f"Another release was published in the {describe_ledger(found)} since this one was made, so they were "
                "not checked together. Publish again."
            )
        return opened

    def _describe(self, ledger: Ledger, place: Path, before: str) -> Entry:
        assert self.now is not None
        parent = ledger.folder.absolute().parent
        contents = self.now.contents
        return Entry(
            number=1 + max((entry.number for entry in ledger.entries), default=0),
            folder=place.relative_to(parent).as_posix() if place.is_relative_to(parent) else str(place),
            digest="",
            before=before,
            form=contents.form,
            promises=tuple((str(promise.model), promise.column) for promise in contents.promises),
            sensitive=contents.sensitive,
            carried=contents.carried,
            made_up=tuple(sorted(contents.made_up.items())),
        )


def open_step(asked: Asked, prepared: Prepared, table: Table | None, reading: dict[str, Any]) -> Step:
    """The earlier releases, read and checked for being what was published; changes of values are refused."""
    data = prepared.data
    for promise in prepared.promises:
        if (reason := refuse_model(promise)) is not None:
            raise Unsupported(f"{promise} cannot be held against several releases: {reason}.")
    refuse_form(prepared.algorithm.form, "This release")
    if asked.mode in (None, CHECKED):
        _refuse_method(prepared.promises, prepared.recipe.adversary)
    step = Step(prepared=prepared, names=name_records(table, data), rows=name_rows(data))
    if asked.ledger is not None:
        _open_ledger(step, asked, data)
    for release, original in asked.after:
        step.before.append(_open_earlier(step, release, original, data, reading))
    return _with_mode(step)


def _refuse_method(promises: Sequence[Promise], adversary: str) -> None:
    """Refuse promises about values against someone who knows the method: releases are read together without it."""
    broken = [str(promise) for promise in promises if not promise.model.about_identity]
    if adversary == KNOWS_METHOD and broken:
        raise Unsupported(
            f"{broken[0]} is asked for against someone who knows the method, and several releases are held together "
            "against someone who reads them. Protect against that reader (--adversary reads-release), or promise "
            "k-anonymity alone."
        )


def _open_ledger(step: Step, asked: Asked, data: Microdata) -> None:
    assert asked.ledger is not None
    check_writable(asked.ledger)
    if not (asked.ledger / MARKER).is_file():
        name = asked.ledger.name.removesuffix(" SERIES PRIVATE")
        step.ledger = Ledger.new(name, asked.ledger, asked.mode or CHECKED, data)
        step.notes.append(f"New series {quoted(name)} in mode {step.ledger.mode}. Its ledger: {asked.ledger}")
        return
    ledger = read_ledger(asked.ledger)
    if ledger.has_pending:
        # Not while another run is writing its release: it would be taken for one that never appeared.
        with hold_lock(asked.ledger.parent):
            ledger, said = settle_pending(read_ledger(asked.ledger))
            if said is not None:
                ledger.write()
                step.notes.append(said)
    if ledger.schema != digest_schema(data):
        raise RecipeError(
            f"The columns, their roles or their kinds differ from those of the series {quoted(ledger.name)}. Publish "
            "with the columns of its first release, or begin a series with another name for other people."
        )
    step.notes += check_folders(ledger)
    step.ledger = ledger
    now = list_people(step.names, data, _nowhere(data), ledger.key)
    for entry in ledger.entries:
        people = ledger.people_of(entry)
        if ledger.mode != M_INVARIANT:
            refuse_changes(count_changes(people, now), entry.name)
        before = Before(name=entry.name, contents=ledger.contents_of(entry), people=people, key=ledger.key)
        step.before.append(before)
    if ledger.entries and ledger.recognised_by:
        step.notes.append(count_again(ledger.persons, now.persons, "the series"))


def _with_mode(step: Step) -> Step:
    """The step with what the mode of its series needs."""
    if step.ledger is not None and step.ledger.mode == M_INVARIANT:
        prepared, names, m, said = prepare_m_invariant(step.prepared, step.names, step.before, step.ledger.extra)
        step.prepared, step.names = prepared, names
        step.ledger = replace(step.ledger, extra={**step.ledger.extra, "m": m})
        step.notes += said
    if step.ledger is not None and step.ledger.mode == FROZEN:
        prepared, records, scheme, said = prepare_frozen(step.prepared, step.names, step.before, step.ledger.extra)
        step.prepared = prepared
        step.names, step.rows = ([listed[record] for record in records] for listed in (step.names, step.rows))
        step.ledger = replace(step.ledger, extra={**step.ledger.extra, "scheme": scheme})
        step.notes += said
    return step


def _nowhere(data: Microdata) -> Ints:
    """The groups of records of which nothing is known yet."""
    return np.full(data.n_rows, -1, dtype=np.int64)


def _open_earlier(step: Step, release: Path, original: Any, data: Microdata, reading: dict[str, Any]) -> Before:
    opened_folder = find_release(release).path
    contents, opened, class_of_row = read_contents(opened_folder)
    opened.check_files()
    name = f"the release in {release}"
    unit = data.schema.person or data.schema.household
    _refuse_several_rows(opened, name)
    if original is not None:
        return _by_original(step, name, contents, opened, class_of_row, original, data, reading)
    private = private_folder(opened_folder.absolute())
    kept = read_people(private) if unit is not None and private.is_dir() else None
    if kept is not None:
        check_belongs(private, opened_folder)
        people, key = kept
        now = list_people(step.names, data, _nowhere(data), key)
        refuse_changes(count_changes(people, now), name)
        step.notes.append(count_again(people.published, now.persons, name))
        return Before(name=name, contents=contents, people=people, key=key)
    if unit is not None:
        raise RecipeError(
            f"Nothing says who was in which group of {name}: {private} has no list of people. Give the table that it "
            f"was made from: --after {shlex.quote(f'{release}=ORIGINAL.csv')}."
        )
    placed, n_open = place_records(opened, data, class_of_row)
    n_found = int((placed >= 0).sum())
    step.notes.append(
        f"Without a person column, people of {name} are recognised by its files: {n_found:,} of "
        f"{counted(data.n_rows, 'record')} find a row there that they fit with their values"
        + (f", {n_open:,} of them in more than one group." if n_open else ".")
        + " This takes their quasi-identifiers to be the same; name the person column (--person) if they changed."
    )
    return Before(name=name, contents=contents, placed=placed)


def _refuse_several_rows(opened: ReleaseFolder, name: str) -> None:
    """Raise `Unsupported` if a release counts persons who may have several rows in it."""
    stated = opened.manifest.persons
    if stated is not None and stated.counted is not None and stated.settings.most_rows != 1:
        raise Unsupported(
            f"{name[0].upper()}{name[1:]} may have several rows per {stated.unit}, and releases can be checked "
            f"together only with one row per {stated.unit}. Nothing can be checked against it. Publish people whose "
            "data goes out again with one row each from the first release on (--rows one --keep first)."
        )


def _keep_published(own: Microdata, opened: ReleaseFolder, name: str, original: Any) -> Microdata:
    """The rows of the original that a release with one row per person was made of."""
    stated = opened.manifest.persons
    if own.persons is None or stated is None:
        return own
    given = stated.settings
    if stated.hides_salt or given.order is not None or given.fold is not None:
        raise RecipeError(
            f"{quoted(str(original))} has several rows per {stated.unit}, and {name} has one that cannot be found "
            "again from the two. Leave =ORIGINAL out and keep the PRIVATE folder of the release beside it: it lists "
            "who was in which group."
        )
    return keep_rows(own, given)


def _by_original(
    step: Step,
    name: str,
    contents: Contents,
    opened: ReleaseFolder,
    class_of_row: Ints,
    original: Any,
    data: Microdata,
    reading: dict[str, Any],
) -> Before:
    unit = data.schema.person or data.schema.household
    schema = opened.schema
    if unit is not None:
        schema = Schema((*schema.attributes, Attribute(name=unit.name, role=unit.role)))
    table = read_whole(original, schema, **reading)
    own = Microdata.encode(table, schema)
    own = _keep_published(own, opened, name, original)
    names = name_records(table, own)
    groups = place_original(opened, own, class_of_row)
    if unit is not None:
        key = new_key()
        earlier = list_people(names, own, groups, key)
        now = list_people(step.names, data, _nowhere(data), key)
        if {domain.name for domain in own.domains.all} >= {domain.name for domain in data.domains.all}:
            refuse_changes(count_changes(earlier, now), name)
        step.notes.append(count_again(names, step.names, name))
    return Before(name=name, contents=contents, named=dict(zip(names, groups.tolist(), strict=True)))
