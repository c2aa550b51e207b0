"""What an audit of files rests on: whose word a column's role is, what is only stated, which columns are exact.

A release folder brings its own roles, taxonomies and domains. A verifier may give other ones, and these rule: a
column that both describe differently is refused, and one that only the publisher describes is said to be so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.audit import Check, ExactColumn
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.release import Release
from lookalike.data.schema import Attribute, Schema
from lookalike.errors import DataError, RecipeError, quoted, unknown_name
from lookalike.files.releases.describe import PublishedManifest, quote_text

_DECLARED = ("taxonomy", "order", "low", "high", "values", "size", "date_format", "missing_codes", "prepare")
_DESCRIBED = ("kind", "type", *_DECLARED)
_FLAGS = {
    "others": "that further values are one",
    "missing": "that values may be missing",
    "keep_identifiers": "that e-mail addresses, phone numbers or names identify nobody",
    "carry_anyway": "that nobody outside knows the values",
}
_NAMES = {
    "low": "least value",
    "high": "greatest value",
    "size": "number of values",
    "date_format": "date format in the original",
    "missing_codes": "codes for missing values",
    "prepare": "way of making values coarser",
}


@dataclass(frozen=True)
class Findings:
    """What the files of a release were found to be."""

    checks: tuple[Check, ...] = ()
    not_checked: tuple[str, ...] = ()
    normalised: tuple[str, ...] = ()


def list_declared(attribute: Attribute) -> list[str]:
    """What a schema says of a column besides its role and what kind of values it has."""
    return [
        *(
            f"{_NAMES.get(part, part)} of {quoted(attribute.name)}"
            for part in _DECLARED
            if getattr(attribute, part) is not None
        ),
        *(f"{said} in {quoted(attribute.name)}" for part, said in _FLAGS.items() if getattr(attribute, part)),
    ]


def agree_schema(published: Schema, given: Schema, ignored: Collection[str] = ()) -> tuple[Schema, tuple[str, ...]]:
    """The schema to audit under, in the publisher's order of columns, and what in it only the publisher states."""
    names = [attribute.name for attribute in published.published]
    wanted = {attribute.name: attribute for attribute in given.published}
    for name in ignored:
        if name not in names:
            raise RecipeError(unknown_name("published column", name, names))
        if name in wanted:
            raise RecipeError(f"Column {quoted(name)} has a role and is to be ignored. Say one of the two.")
    for name, attribute in wanted.items():
        if name not in names:
            raise DataError(
                f"The release has no column {quoted(name)}, which you call {attribute.role}. "
                f"{unknown_name('column', name, names)}"
            )
    kept: list[Attribute] = []
    stated: list[str] = []
    for attribute in published.published:
        if attribute.name in ignored:
            continue
        own = wanted.get(attribute.name)
        if own is None:
            raise DataError(
                f"The release publishes column {quoted(attribute.name)} as {attribute.role}, and you give it no role. "
                f"Name its role, or leave it unchecked with --ignore {quoted(attribute.name)}."
            )
        merged, only_stated = _merge(attribute, own)
        kept.append(merged)
        stated += only_stated
    return Schema(tuple(kept)), tuple(stated)


def _merge(published: Attribute, given: Attribute) -> tuple[Attribute, list[str]]:
    if published.role is not given.role:
        raise DataError(
            f"The release treats column {quoted(given.name)} as {published.role}, and you call it {given.role}. Its "
            "promises do not speak of your roles."
        )
    stated = [f"{said} in {quoted(given.name)}" for part, said in _FLAGS.items() if getattr(published, part)]
    merged = replace(
        given,
        others=published.others,
        missing=published.missing,
        longest_set=published.longest_set,
        keep_identifiers=published.keep_identifiers,
        carry_anyway=published.carry_anyway,
    )
    for part in _DESCRIBED:
        theirs, yours = getattr(published, part), getattr(given, part)
        if yours is None:
            merged = replace(merged, **{part: theirs})
            if theirs is not None and part in _DECLARED:
                stated.append(f"{_NAMES.get(part, part)} of {quoted(given.name)}")
        elif theirs is not None and theirs != yours and not (part == "taxonomy" and "file" in yours):
            raise DataError(
                f"The release states another {_NAMES.get(part, part)} of column {quoted(given.name)} than you do. Get "
                "the release again, or leave yours out to take the publisher's."
            )
    return merged, stated


def list_stated(manifest: PublishedManifest) -> tuple[str, ...]:
    """What a folder states and no file can show."""
    stated = [
        f"that its title is {quote_text(manifest.title)}",
        f"that the method was {quote_text(manifest.algorithm)[1:-1]}",
        "that chance alone ordered the rows and broke ties",
    ]
    if manifest.n_dummies and manifest.indistinguishable:
        stated.append(
            f"that nobody can tell which {manifest.n_dummies:,} rows are made up, so that they hide people too"
        )
    if manifest.held_out is not None:
        stated.append(f"that a share of {manifest.held_out} of the people, drawn at random, is not in it")
    if manifest.created is not None:
        stated.insert(1, f"that it was made on {manifest.created.isoformat()}")
    if manifest.adversary != READS_RELEASE:
        stated.insert(0, f"that it holds against an attacker who {manifest.wording.describe_adversary()}")
    return tuple(stated)


def exact_counts(release: Release) -> tuple[NDArray[np.int64], ...]:
    """How often each value occurs in the columns of plain values that are no quasi-identifiers."""
    blocks = ((release.domains.sensitive, release.sensitive), (release.domains.carried, release.carried))
    return tuple(
        np.bincount(codes[:, place], minlength=domain.n_codes)
        for domains, codes in blocks
        for place, domain in enumerate(domains)
    )


def exact_columns(release: Release, counts: Sequence[NDArray[np.int64]] | None = None) -> tuple[ExactColumn, ...]:
    """Those columns, and how many rows each singles out; `counts` where the rows are not at hand."""
    domains = (*release.domains.sensitive, *release.domains.carried)
    known = exact_counts(release) if counts is None else counts
    return tuple(
        ExactColumn(domain.name, str(domain.attribute.role), int(np.count_nonzero(often == 1)), int(often.sum()))
        for domain, often in zip(domains, known, strict=True)
    )
