"""The new release and those before it, with persons and values numbered alike, held against all their promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from lookalike.audit.paths import ABSENT, ClassValues
from lookalike.audit.reading import Ints
from lookalike.audit.series import SeriesAudit, SeriesRelease, audit_series
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.schema import Kind, ValueType
from lookalike.errors import AuditFailed, RecipeError, Unsupported, counted, quoted
from lookalike.files.releases.assemble import DomainIndex
from lookalike.pipeline.series.contents import CLASS, ROWS, Contents, value_column
from lookalike.pipeline.series.people import People, digest


@dataclass(frozen=True, eq=False, kw_only=True)
class Before:
    """An earlier release, and what is known of who was in which group of it: one of the three ways."""

    name: str
    contents: Contents
    people: People | None = None
    """By digests under `key`."""
    key: str = ""
    named: Mapping[str, int] | None = None
    """By identifier: the group of each person of the earlier original."""
    placed: Ints | None = None
    """By the files alone: the group of each record of the new table, -1 where it is not in the release."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Now:
    """The new release: its contents, the group of each record, and what each record is recognised by."""

    contents: Contents
    groups: Ints
    names: Sequence[str]


@dataclass(eq=False)
class _Numbering:
    """One number per person, whatever the person is known by."""

    names: dict[str, int]
    keys: tuple[str, ...]
    by_digest: dict[tuple[str, str], int] = field(default_factory=dict)
    n_persons: int = 0

    @classmethod
    def of(cls, names: Sequence[str], keys: tuple[str, ...]) -> _Numbering:
        made = cls({}, keys)
        for name in names:
            made.number(name)
        if made.n_persons != len(names):
            raise RecipeError(
                f"{counted(len(names) - made.n_persons, 'record')} have the identifier of another record. Publish one "
                "row per person (--rows one --keep first)."
            )
        return made

    def number(self, name: str) -> int:
        if name not in self.names:
            self.names[name] = self.n_persons
            for key in self.keys:
                self.by_digest[key, digest(key, "person", name)] = self.n_persons
            self.n_persons += 1
        return self.names[name]

    def number_digest(self, key: str, person: str) -> int:
        if (key, person) not in self.by_digest:
            self.by_digest[key, person] = self.n_persons
            self.n_persons += 1
        return self.by_digest[key, person]

    def number_unknown(self, count: int) -> Ints:
        self.n_persons += count
        return np.arange(self.n_persons - count, self.n_persons)


def hold_together(before: Sequence[Before], now: Now, data: Microdata) -> SeriesAudit:
    """The audit of the new release and the earlier ones together; does not raise if it fails."""
    releases, domains, codes = number_alike(before, now, data)
    _refuse_distributions(domains, data, releases)
    return audit_series(releases, domains, codes)


def number_alike(
    before: Sequence[Before], now: Now, data: Microdata
) -> tuple[list[SeriesRelease], list[Domain], list[Ints]]:
    """All releases over the same persons and values; the new one comes last."""
    numbering = _Numbering.of(now.names, tuple(dict.fromkeys(one.key for one in before if one.people is not None)))
    placed = [_number_persons(one, numbering) for one in before]
    placed.append((np.arange(len(now.names)), now.groups))
    contents = [*(one.contents for one in before), now.contents]
    names = [*(one.name for one in before), "the new release"]
    values, domains, codes = _join_values(contents, names, data)
    releases = []
    for name, shown, held, (persons, groups) in zip(names, contents, values, placed, strict=True):
        listed = shown.groups
        inside = groups != ABSENT
        places = np.searchsorted(listed, groups[inside])
        if (places >= len(listed)).any() or (listed[places] != groups[inside]).any():
            raise AuditFailed(f"The list of who is in which group of {name} names groups that it does not have.")
        class_of_person = np.full(numbering.n_persons, ABSENT, dtype=np.int64)
        class_of_person[persons[inside]] = places
        releases.append(
            SeriesRelease(
                name=name,
                class_of_person=class_of_person,
                made_up=np.array([shown.made_up.get(group, 0) for group in listed.tolist()], dtype=np.int64),
                values=held,
                promises=shown.promises,
                adversary=shown.adversary,
            )
        )
    return releases, domains, codes


def _number_persons(one: Before, numbering: _Numbering) -> tuple[Ints, Ints]:
    """The persons of an earlier release and the group of each."""
    if one.people is not None:
        persons = [numbering.number_digest(one.key, person) for person in one.people.persons]
        return np.array(persons, dtype=np.int64), one.people.groups
    if one.named is not None:
        persons = [numbering.number(name) for name in one.named]
        return np.array(persons, dtype=np.int64), np.array(list(one.named.values()), dtype=np.int64)
    assert one.placed is not None
    # Rows that nobody of the new table has are of persons who are not in it.
    listed, sizes = one.contents.groups, one.contents.sizes
    inside = one.placed >= 0
    left = sizes - np.bincount(np.searchsorted(listed, one.placed[inside]), minlength=len(listed))
    left -= np.array([one.contents.made_up.get(group, 0) for group in listed.tolist()], dtype=np.int64)
    left = np.maximum(left, 0)
    others = numbering.number_unknown(int(left.sum()))
    placed = np.concatenate((np.flatnonzero(inside), others)).astype(np.int64)
    return placed, np.concatenate((one.placed[inside], np.repeat(listed, left)))


def _join_values(
    contents: Sequence[Contents], names: Sequence[str], data: Microdata
) -> tuple[list[ClassValues], list[Domain], list[Ints]]:
    """Values by group with common numbers, each sensitive column with all values, and the code of each number there."""
    sensitive, carried = contents[-1].sensitive, set(contents[-1].carried)
    for shown, name in zip(contents, names, strict=True):
        if set(shown.sensitive) != set(sensitive):
            raise Unsupported(
                f"The sensitive columns of {name} are {', '.join(map(quoted, shown.sensitive))}, and those of the new "
                f"release {', '.join(map(quoted, sensitive))}. Releases are held against each other over the same "
                "sensitive columns."
            )
        carried &= set(shown.carried)
    columns = [*sensitive, *(name for name in contents[-1].carried if name in carried)]
    known = {domain.name: domain for domain in (*data.domains.sensitive, *data.domains.carried)}
    frames = []
    for shown in contents:
        keys = [CLASS, *map(value_column, columns)]
        frames.append(shown.frame.group_by(keys, maintain_order=True).agg(pl.col(ROWS).sum()))
    domains, coded = [], []
    for column in columns:
        domain, code_of = _all_values(known[column], [frame[value_column(column)] for frame in frames])
        domains.append(domain)
        coded.append(
            [
                np.array([code_of[text] for text in frame[value_column(column)].to_list()], dtype=np.int64)
                for frame in frames
            ]
        )
    stacked = (
        np.column_stack([np.concatenate(parts) for parts in coded])
        if columns
        else np.zeros((sum(map(len, frames)), 1), dtype=np.int64)
    )
    distinct, numbers = np.unique(stacked, axis=0, return_inverse=True)
    numbers = numbers.reshape(-1).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum([len(frame) for frame in frames])])
    values = []
    for shown, frame, start, end in zip(contents, frames, starts[:-1], starts[1:], strict=True):
        places = np.searchsorted(shown.groups, frame[CLASS].to_numpy())
        values.append(sum_counts(places, numbers[start:end], frame[ROWS].to_numpy(), len(shown.groups)))
    codes = [distinct[:, place].astype(np.int64) for place in range(len(sensitive))]
    return values, domains[: len(sensitive)], codes


def sum_counts(classes: Ints, numbers: Ints, counts: Ints, n_classes: int) -> ClassValues:
    """Counts by class and number; the same value may be written in two ways."""
    pairs, place = np.unique(np.column_stack((classes, numbers)), axis=0, return_inverse=True)
    summed = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(summed, place.reshape(-1), counts)
    return ClassValues(n_classes, pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64), summed)


def _all_values(domain: Domain, texts: Sequence[pl.Series]) -> tuple[Domain, dict[str | None, int]]:
    """A column with the values of all releases, and the code of each text; the later table's values keep theirs."""
    index = DomainIndex(domain)
    shown = pl.concat(texts).unique().to_list()
    code_of = {text: index.find(text) for text in shown if text is not None}
    new = sorted(text for text, code in code_of.items() if code < 0)
    code_of |= {text: len(domain.values) + place for place, text in enumerate(new)}
    with_missing = domain.has_missing or None in shown
    named: dict[str | None, int] = {**code_of, None: len(domain.values) + len(new)}
    if not new and with_missing == domain.has_missing:
        return domain, named
    values = np.empty(len(domain.values) + len(new), dtype=object)
    values[:] = [*domain.texts[: len(domain.values)], *new]
    attribute = replace(domain.attribute, kind=Kind.CATEGORICAL, taxonomy=None, order=None, type=ValueType.STRING)
    size = len(values) + with_missing
    return Domain(attribute, ValueType.STRING, values, with_missing, 0.0, float(size), size, False), named


def _refuse_distributions(domains: Sequence[Domain], data: Microdata, releases: Sequence[SeriesRelease]) -> None:
    """Refuse distances between distributions where releases have other values: they are over values of one table."""
    for domain, own in zip(domains, data.domains.sensitive, strict=True):
        for release in releases:
            for promise in release.promises:
                if promise.column == domain.name and promise.model.by_distribution and domain is not own:
                    raise Unsupported(
                        f"{promise} of {release.name} compares distributions, and the releases have different values "
                        f"of {quoted(domain.name)}. Promise something about each value instead, as l-diversity does."
                    )


_REMEDY = (
    "Hand over the earlier release again, or leave out the people who were published before. Plan ahead for people "
    "whose data goes out again: publish them from the first release on in a series, by lookalike apply SCHEME --series "
    "NAME --mode frozen or by lookalike publish --series NAME --mode m-invariant."
)


def refuse_broken(found: SeriesAudit) -> None:
    """Raise `AuditFailed` if the releases together break a promise."""
    if not found.passed:
        broken = [str(held) for held in found.held if not held.passed]
        others = [line for line in found.lines if line not in [str(held) for held in found.held]]
        said = "\n".join(f"  {line}" for line in (*broken, *others))
        raise AuditFailed(
            "The new release keeps its promises alone, but not together with "
            f"{counted(found.n_releases - 1, 'earlier release')}; nothing is written. {_REMEDY}\n{said}"
        )
