"""What a release shows of its groups or buckets, as far as several releases are read together: values by group.

`Contents` is kept in the ledger of a series, so that an earlier release counts even if its folder is gone: what was
handed over cannot be taken back. A group is numbered by the place of its first row in the table of values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from lookalike import models
from lookalike.audit.reading import Ints, Reading, joint_ids
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, texts_of
from lookalike.data.release import Bucketized, Grouped, Release
from lookalike.data.schema import Role
from lookalike.errors import Unsupported
from lookalike.files.releases.cells import Encoding, print_cells, raw_values
from lookalike.files.releases.read import ReleaseFolder

CLASS, ROWS = "group", "rows"
FORMS = (Grouped.form, Bucketized.form)
_WHY_NOT = {
    "matched": "in a matched release every row has its own cells, so who is with whom is known to its maker alone",
    "perturbed": "a perturbed release has redrawn values, which are compared in no other way than by chance",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Contents:
    """The values of each group of a release, and what was promised of it."""

    form: str
    promises: tuple[Promise, ...]
    sensitive: tuple[str, ...]
    carried: tuple[str, ...]
    frame: pl.DataFrame
    """`group`, a `value of` each sensitive and carried column (null: missing), and the number of `rows`."""
    made_up: Mapping[int, int] = field(default_factory=dict)
    """By group, rows that no person is behind, where there are any."""
    adversary: str = READS_RELEASE
    """The attacker it was promised against. A series promises nothing about values against another one."""

    @property
    def groups(self) -> Ints:
        """The groups in the order of their first rows."""
        return np.unique(self.frame[CLASS].to_numpy()).astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """Rows of each of them."""
        summed = self.frame.group_by(CLASS).agg(pl.col(ROWS).sum()).sort(CLASS)
        return summed[ROWS].to_numpy().astype(np.int64)


def refuse_form(form: str, what: str) -> None:
    """Raise `Unsupported` for a release that cannot be held against others."""
    if form not in FORMS:
        why = _WHY_NOT.get(form, "its form is unknown")
        raise Unsupported(
            f"{what} cannot be read together with other releases: {why}. Publish people whose data goes out again in "
            "groups or buckets (--algorithm groups, mondrian or anatomy)."
        )


def describe_release(release: Release, data: Microdata, promises: Sequence[Promise]) -> tuple[Contents, Ints]:
    """The contents of a release in memory, and the group of each row of the table of values."""
    refuse_form(release.form, "This release")
    class_of_row = classes_of_rows(release, data)
    columns = {
        domain.name: [None if code == domain.missing_code else domain.texts[code] for code in codes.tolist()]
        for domains, block in (
            (release.domains.sensitive, release.sensitive),
            (release.domains.carried, release.carried),
        )
        for domain, codes in zip(domains, block.T, strict=True)
    }
    return (
        Contents(
            form=release.form,
            promises=tuple(promises),
            sensitive=tuple(domain.name for domain in release.domains.sensitive),
            carried=tuple(domain.name for domain in release.domains.carried),
            frame=_count(class_of_row, columns),
            made_up=_count_made_up(release, class_of_row),
        ),
        class_of_row,
    )


def classes_of_rows(release: Release, data: Microdata) -> Ints:
    """The group of each row of the table of values."""
    assert isinstance(release, Grouped | Bucketized)
    reading = Reading(release, data)
    return _number_by_first_row(reading.unit_of_row if isinstance(release, Grouped) else reading.buckets[1])


def _number_by_first_row(units: Ints) -> Ints:
    """Each row's unit, numbered by the place of its first row."""
    _, firsts, inverse = np.unique(units, return_index=True, return_inverse=True)
    return firsts[inverse.reshape(-1)].astype(np.int64)


def _count_made_up(release: Release, class_of_row: Ints) -> dict[int, int]:
    if not release.withheld.n_dummies:
        return {}
    declared = getattr(release, "made_up_of_group", None)
    if declared is None:
        raise _not_declared("This release")
    groups, firsts = np.unique(release.unit_of_row, return_index=True)  # type: ignore[union-attr]
    counts = np.asarray(declared)[groups].tolist()
    return {int(class_of_row[first]): count for first, count in zip(firsts, counts, strict=True) if count}


def _not_declared(what: str) -> Unsupported:
    return Unsupported(
        f"{what} has made-up rows and does not say how many each group has, so it cannot be read together with others. "
        "Use another method for people whose data goes out again."
    )


def read_contents(path: Path) -> tuple[Contents, ReleaseFolder, Ints]:
    """The contents of a release folder, the folder, and the group of each row of the table of values."""
    opened = ReleaseFolder(path)
    manifest = opened.manifest
    refuse_form(manifest.form, f"The release in {path}")
    name = "sat" if manifest.form == Bucketized.form else "release"
    frame, fields = opened.frames[name], manifest.tables[name]
    if any(one.encoding is Encoding.PERSON for one in fields):
        raise Unsupported(
            f"The release in {path} has linked rows, and releases can be checked together only with one row per "
            "person. Nothing can be checked against it. Publish people whose data goes out again with one row per "
            "person from the first release on (--rows one --keep first)."
        )
    numbers = [one.name for one in fields if one.encoding is Encoding.BUCKET]
    quasi = [one for one in fields if one.role == Role.QUASI]
    keys = [frame[column] for column in numbers] or [print_cells(one, frame[one.name]) for one in quasi]
    class_of_row = _number_by_first_row(joint_ids([_place_of(key) for key in keys], len(frame)))
    by_role = {role: [one for one in fields if one.role == role] for role in (Role.SENSITIVE, Role.CARRIED)}
    columns = {}
    for one in (*by_role[Role.SENSITIVE], *by_role[Role.CARRIED]):
        known = frame[one.name].unique().drop_nulls()
        texts = dict(zip(known.to_list(), texts_of(raw_values(known, one.type), one.type), strict=True))
        columns[one.name] = [None if value is None else texts[value] for value in frame[one.name].to_list()]
    made_up: dict[int, int] = {}
    if manifest.n_dummies:
        declared = opened.made_up_of_number
        if declared is None:
            raise _not_declared(f"The release in {path}")
        firsts = np.unique(class_of_row)
        shown = frame[numbers[0]].to_numpy()[firsts].tolist()
        made_up = {int(first): declared.get(number, 0) for first, number in zip(firsts, shown, strict=True)}
    promises = tuple(Promise(models.parse_model(said.text), said.column) for said in manifest.promises)
    return (
        Contents(
            form=manifest.form,
            promises=promises,
            sensitive=tuple(one.name for one in by_role[Role.SENSITIVE]),
            carried=tuple(one.name for one in by_role[Role.CARRIED]),
            frame=_count(class_of_row, columns),
            made_up={group: count for group, count in made_up.items() if count},
            adversary=manifest.adversary,
        ),
        opened,
        class_of_row,
    )


def _place_of(series: pl.Series) -> Ints:
    """Equal cells get equal numbers."""
    distinct = series.unique(maintain_order=True)
    places = pl.Series(np.arange(len(distinct), dtype=np.int64))
    return series.replace_strict(distinct, places, return_dtype=pl.Int64).to_numpy()


def _count(class_of_row: Ints, columns: Mapping[str, list[str | None]]) -> pl.DataFrame:
    listed = [pl.Series(value_column(name), texts, dtype=pl.String) for name, texts in columns.items()]
    frame = pl.DataFrame([pl.Series(CLASS, class_of_row, dtype=pl.Int64), *listed])
    keys = [CLASS, *map(value_column, columns)]
    return frame.group_by(keys, maintain_order=True).agg(pl.len().cast(pl.Int64).alias(ROWS))


def value_column(name: str) -> str:
    """What a column of values is called in the frame, so that none is taken for the group or the number of rows."""
    return f"value of {name}"
