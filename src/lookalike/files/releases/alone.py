"""The domains of a release's columns, worked out from the release alone.

An auditor reads a release over the domains of the original; anyone who has only the release does not know them. What a
cell may hide is then what the release itself makes possible:

    exact       the values that are in the column (of a redrawn one, those of its matrix)
    range       every whole number or day between the least and the greatest end; fractions on a grid as fine as the
                ends are written
    span        the declared order; without one, the values at the ends
    set         every value that is listed somewhere in the column, or declared
    node        the leaves of the tree; for rules, what `taxonomy_over` finds
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.coarsening import Coarsening
from lookalike.data.microdata import Domain, Domains, parse_number, texts_of
from lookalike.data.release import Bucketized, Perturbed, Release
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.data.taxonomy import OTHER, ROOT, Taxonomy, build
from lookalike.errors import DataError, explain_change, explain_damage, quoted
from lookalike.files.releases.cells import Encoding, Field, raw_values, values_of
from lookalike.files.releases.describe import PublishedManifest
from lookalike.files.releases.read import ReleaseFolder, read_matrix

_WHOLE = re.compile(r"\[?(-?\d+)(?:-|\.\.)(-?\d+)\]?")
_HALF_OPEN = re.compile(r"\[(.+), (.+)\)")
_YEAR = re.compile(r"(\d{4})(s?)")
_MOST_LISTED = 200_000
_POINTS = 10
"""Numbers that stand for an interval of fractions."""


def taxonomy_over(
    spec: Mapping[str, Any],
    labels: Iterable[str],
    type: ValueType,
    column: str,
    *,
    with_missing: bool,
    with_others: bool = False,
) -> Taxonomy:
    """The taxonomy of a published column over the values that can be below the labels that it shows."""
    shown = sorted(set(labels))
    form = next((form for form in _LISTED if form in spec), None)
    if form is None:
        return build(spec, [], [], column=column, with_missing=with_missing, with_others=with_others)
    values = _LISTED[form](shown, spec, type)
    if len(values) > _MOST_LISTED:
        raise DataError(
            f"Column {quoted(column)}: more than {_MOST_LISTED:,} values are possible below the nodes of its taxonomy, "
            "too many to draw from."
        )
    return build(spec, list(values.values()), list(values), column=column, with_missing=with_missing)


def _numbers(shown: Sequence[str], spec: Mapping[str, Any], type: ValueType) -> dict[str, Any]:
    """Whole numbers of every interval; of intervals of fractions some numbers inside."""
    found: dict[str, Any] = {}
    whole: set[int] = set()
    for label in shown:
        if inside := _WHOLE.fullmatch(label):
            low, high = int(inside[1]), int(inside[2])
            if len(whole) <= _MOST_LISTED:
                whole.update(range(low, min(high, low + _MOST_LISTED + 1) + 1))
        elif inside := _HALF_OPEN.fullmatch(label):
            start, end = float(inside[1]), float(inside[2])
            points = [start + (end - start) * step / _POINTS for step in range(_POINTS)]
            # One that is not whole: the rule writes intervals of whole numbers in another way.
            points.append(start + min(end - start, 1.0) / 2)
            found |= {_format_point(point): float(_format_point(point)) for point in points}
        elif label != ROOT:
            number = parse_number(label, ValueType.NUMBER)
            if type is ValueType.INTEGER:
                whole.add(int(number))
            else:
                found[label] = number
    return {str(number): number for number in sorted(whole)} | dict(sorted(found.items(), key=lambda pair: pair[1]))


def _format_point(point: float) -> str:
    return np.format_float_positional(float(f"{point:.12g}"), trim="-")


def _prefixes(shown: Sequence[str], spec: Mapping[str, Any], type: ValueType) -> dict[str, Any]:
    """Values that are shown; and prefixes that have none of them below."""
    levels = spec["prefixes"] if isinstance(spec["prefixes"], list) else [spec["prefixes"]]

    def kept(label: str) -> int | None:
        """How many characters a node keeps; None for a value."""
        stars = "*" * len(label)
        return min((level for level in levels if level < len(label) and label[level:] == stars[level:]), default=None)

    leaves = {label: label for label in shown if label != ROOT and kept(label) is None}
    for label in sorted(set(shown) - set(leaves) - {ROOT}, key=lambda label: -(kept(label) or 0)):
        start = label[: kept(label)]
        if not any(leaf.startswith(start) and len(leaf) == len(label) for leaf in leaves):
            leaves[label] = label
    return leaves or dict.fromkeys(shown, ROOT)


def _days(shown: Sequence[str], spec: Mapping[str, Any], type: ValueType) -> dict[str, Any]:
    """The days of all years that are shown, as far as they lie below a label."""

    def as_text(day: datetime.date) -> str:
        return f"{day}T00:00:00" if type is ValueType.DATETIME else day.isoformat()

    years: set[int] = set()
    found: dict[str, Any] = {}
    for label in shown:
        start = _YEAR.match(label)
        if start is None:
            continue
        years.update(range(int(start[1]), int(start[1]) + (10 if start[2] else 1)))
        if "-W" in label:
            years.update((int(start[1]) - 1, int(start[1]) + 1))
        try:
            moment = datetime.datetime.fromisoformat(label)
        except ValueError:
            continue
        if len(label) >= len("2024-01-01") and "W" not in label:
            found[label] = moment if type is ValueType.DATETIME else moment.date()
    days = [
        datetime.date(year, 1, 1) + datetime.timedelta(days=place)
        for year in sorted(years)
        if 1 <= year < datetime.MAXYEAR
        for place in range((datetime.date(year + 1, 1, 1) - datetime.date(year, 1, 1)).days)
    ]
    if not days:
        return found or dict.fromkeys(shown, datetime.date.min)
    tree = build({"dates": spec["dates"]}, days, [as_text(day) for day in days], column="dates", with_missing=False)
    wanted = [tree.node(label) for label in shown if label != ROOT]
    below = {place for node in wanted if node is not None for place in range(tree.firsts[node], tree.lasts[node] + 1)}
    by_text = {as_text(day): day for day in days}
    found |= {text: by_text[text] for place, text in enumerate(tree.leaves) if place in below}
    return dict(sorted(found.items()))


_LISTED: dict[str, Callable[[Sequence[str], Mapping[str, Any], ValueType], dict[str, Any]]] = {
    "intervals": _numbers,
    "prefixes": _prefixes,
    "dates": _days,
}


MOST_POINTS = 100_000
"""A column whose ends lie farther apart than this is drawn on about so many points, and the ends."""
_SECONDS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1_000)
_DECIMALS = 6


def read_alone(folder: ReleaseFolder) -> Release:
    """A release over what its folder says itself; no original is needed."""
    manifest, frames = folder.manifest, folder.frames
    # A column of bucket numbers may have the name of a column of the other table.
    fields = {
        field.name: (table, field)
        for table, listed in manifest.tables.items()
        for field in listed
        if not field.is_number
    }
    domains: dict[Role, list[Domain]] = {role: [] for role in Role}
    for attribute in folder.schema.published:
        if attribute.name not in fields:
            raise explain_damage(f"{folder.path} lacks the column {quoted(attribute.name)}")
        table, field = fields[attribute.name]
        try:
            domain = _domain(attribute, field, frames[table][field.name], manifest)
        except (ValueError, TypeError, ArithmeticError, pl.exceptions.PolarsError):
            raise explain_change(
                f"Column {quoted(attribute.name)} of {folder.path} holds cells that its manifest does not allow"
            ) from None
        domains[attribute.role].append(domain)
    known = Domains(*(tuple(domains[role]) for role in (Role.QUASI, Role.SENSITIVE, Role.CARRIED)))
    release = folder.over(known)
    if isinstance(release, Bucketized) and not np.array_equal(
        np.bincount(release.bucket_of_quasi), np.bincount(release.bucket_of_sensitive)
    ):
        raise explain_change("Buckets have other sizes in qit than in sat")
    return release


def _domain(attribute: Attribute, field: Field, cells: pl.Series, manifest: PublishedManifest) -> Domain:
    attribute = replace(attribute, kind=attribute.kind or Kind(field.kind))
    if field.encoding is Encoding.EXACT:
        return _build_exact(attribute, field, cells, manifest)
    if attribute.taxonomy is not None and attribute.role is Role.QUASI:
        return _with_taxonomy(attribute, attribute.taxonomy, field, cells)
    missing = bool(cells.struct.field("missing").any())
    if field.is_range:
        type = attribute.type or field.type
        return _build_domain(attribute, type, _grid(cells, field.type, type), missing)
    if field.encoding is Encoding.SPAN:
        ends = pl.concat([cells.struct.field("low"), cells.struct.field("high")]).drop_nulls().unique().to_list()
        return _build_listed(attribute, attribute.order, ends, missing)
    return _build_listed(attribute, attribute.values, _list_members(cells), missing)


def _list_members(cells: pl.Series) -> list[str]:
    return cells.struct.field("values").explode(empty_as_null=False).drop_nulls().unique().to_list()


def _build_exact(attribute: Attribute, field: Field, cells: pl.Series, manifest: PublishedManifest) -> Domain:
    attribute = replace(attribute, taxonomy=None)
    if manifest.form == Perturbed.form and attribute.role is Role.SENSITIVE:
        published, cells = cells, read_matrix(field.name, manifest)[0]
        if not published.is_in(cells.implode(), nulls_equal=True).all():
            raise explain_change(f"Column {quoted(field.name)} holds values that its matrix does not have")
    known = cells.drop_nulls().unique().sort()
    missing = cells.null_count() > 0
    if attribute.prepare is not None:
        labels = Coarsening(attribute.name, attribute.prepare).sort_labels(known.cast(pl.String).to_list())
        return _build_domain(attribute, ValueType.STRING, np.array(labels, dtype=object), missing)
    listed = attribute.order if attribute.kind is Kind.ORDERED else None
    if listed is not None and field.type is ValueType.STRING and manifest.form != Perturbed.form:
        return _build_listed(attribute, listed, known.to_list(), missing)
    return _build_domain(attribute, field.type, raw_values(known, field.type), missing)


def _with_taxonomy(attribute: Attribute, spec: Mapping[str, Any], field: Field, cells: pl.Series) -> Domain:
    if field.encoding is Encoding.SET:
        labels, missing = _list_members(cells), bool(cells.struct.field("missing").any())
    else:
        labels, missing = cells.drop_nulls().unique().to_list(), cells.null_count() > 0
    type = attribute.type or ValueType.STRING
    known = {"with_missing": missing or attribute.missing, "with_others": attribute.others}
    tree = taxonomy_over(spec, labels, type, attribute.name, **known)
    missing = known["with_missing"]
    type, values = _parse_texts(list(tree.leaves[: tree.n_leaves - missing]), type)
    return Domain(attribute, type, values, missing, 0.0, 0.0, tree.n_leaves, False, tree)


def _build_listed(attribute: Attribute, declared: Sequence[str] | None, texts: list[str], missing: bool) -> Domain:
    """The declared values in their order, or those that are shown in their own."""
    if declared is not None:
        declared = (OTHER, *declared) if attribute.others else declared
        extra = sorted(set(texts) - set(declared))
        return _build_domain(attribute, ValueType.STRING, np.array([*declared, *extra], dtype=object), missing)
    type, values = _parse_texts(texts, attribute.type or ValueType.STRING)
    return _build_domain(attribute, type, values[np.argsort(values)], missing)


def _build_domain(attribute: Attribute, type: ValueType, values: NDArray[Any], missing: bool) -> Domain:
    numeric = attribute.kind is Kind.NUMERIC and attribute.prepare is None and len(values) > 0
    low, high = (float(values[0]), float(values[-1])) if numeric else (0.0, float(max(len(values) - 1, 0)))
    return Domain(attribute, type, values, missing, low, high, len(values) + missing, False)


def _parse_texts(texts: list[str], type: ValueType) -> tuple[ValueType, NDArray[Any]]:
    """Texts as values of the column's type; as they are, where one of them is no such value."""
    with suppress(TypeError, ValueError):
        values = raw_values(values_of(texts, type), type)
        if list(texts_of(values, type)) == texts:
            return type, values
    return ValueType.STRING, np.array(texts, dtype=object)


def _grid(cells: pl.Series, written: ValueType, type: ValueType) -> NDArray[Any]:
    """The values that intervals may hide, sorted; all ends of a whole column are among them."""
    parts = [cells.struct.field(end).drop_nulls() for end in ("low", "high")]
    ends = np.unique(raw_values(pl.concat(parts), written))
    if not len(ends):
        return np.zeros(0, dtype=np.float64 if type is ValueType.NUMBER else np.int64)
    if type is not ValueType.NUMBER:
        # Moments in the coarsest unit of time that all of them are whole in.
        units = (unit for unit in _SECONDS if not (ends.astype(np.int64) % unit).any())
        return _whole_grid(ends, next(units, 1) if type is ValueType.DATETIME else 1)
    decimals = max(len(np.format_float_positional(end, trim="-").partition(".")[2]) for end in ends[:10_000])
    decimals = min(decimals, _DECIMALS)
    with np.errstate(over="ignore"):
        n_steps = float(ends[-1] * 10.0**decimals - ends[0] * 10.0**decimals)
    if n_steps < MOST_POINTS:
        points = np.round(ends[0] + np.arange(round(n_steps) + 1) / 10.0**decimals, decimals)
        return np.unique(np.append(points, ends))
    shares = np.arange(MOST_POINTS) / (MOST_POINTS - 1)
    return np.unique(np.append(ends[0] * (1 - shares) + ends[-1] * shares, ends))


def _whole_grid(ends: NDArray[Any], step: int) -> NDArray[Any]:
    low, high = int(np.ceil(ends[0])), int(np.floor(ends[-1]))
    step *= 1 + (high - low) // step // MOST_POINTS
    # Python's integers: the span of a column may be more than 64 bits hold.
    points = [low + step * place for place in range((high - low) // step + 1)]
    whole = ends[ends == np.rint(ends)].astype(np.int64)
    return np.unique(np.append(np.array(points, dtype=np.int64), whole))
