"""All losses of a release: joined from its parts, and those that may lie in its folder.

What a part hands on, and how it is joined, each metric says itself; no part sees another. The figures are those of the
whole release, up to the rounding of floats, where no group has rows in two parts. In a folder lie losses that follow
from the release and declared domains (decision 17).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.data.contracts import DOMAINS, ORIGINAL, Metric
from lookalike.data.microdata import Domain, Domains, Microdata
from lookalike.data.release import FORMS, Bucketized, Grouped, Matched, Perturbed, Ranges, Release
from lookalike.data.schema import Kind
from lookalike.errors import RecipeError, counted
from lookalike.metrics import METRICS
from lookalike.metrics.shared.cells import count_records, loss_by_column, mean_loss

_DIGITS = 6
_NEARNESS = 1e-9


@dataclass(frozen=True)
class ShownRanges:
    """The ranges of a column of numbers or dates without a declared domain, in sums that parts join.

    Rounded ends do not show where the values of the original begin and end. A loss that is measured against these would
    tell it, so the published one is measured from the least to the greatest end that is published.
    """

    low: float
    high: float
    length: float
    """All lengths of ranges added up, row by row."""
    n_blank: int
    """Rows whose range is open to a side, or may also hide a missing value: they have lost everything."""
    n_rows: int

    @classmethod
    def of(cls, release: Release) -> dict[str, ShownRanges]:
        """By column; nothing of releases without ranges."""
        if not isinstance(release, Grouped | Matched):
            return {}
        rows = np.bincount(release.unit_of_row, minlength=len(release.extents[0]))
        found = {}
        for domain, extents in zip(release.domains.quasi, release.extents, strict=True):
            if isinstance(extents, Ranges) and domain.kind is Kind.NUMERIC and not domain.declared:
                ends = np.concatenate([extents.low_points, extents.high_points])
                ends = ends[np.isfinite(ends)]
                lengths = np.nan_to_num(extents.high_points - extents.low_points, nan=0.0, posinf=np.inf)
                blank = np.isinf(lengths) | (extents.missing & (extents.highs >= extents.lows))
                found[domain.name] = cls(
                    low=float(ends.min(initial=np.inf)),
                    high=float(ends.max(initial=-np.inf)),
                    length=float((lengths * rows)[~blank].sum()),
                    n_blank=int(rows[blank].sum()),
                    n_rows=release.n_rows,
                )
        return found

    @classmethod
    def join(cls, parts: Sequence[Mapping[str, ShownRanges]]) -> dict[str, ShownRanges]:
        return {
            name: cls(
                low=min(part[name].low for part in parts),
                high=max(part[name].high for part in parts),
                length=math.fsum(part[name].length for part in parts),
                n_blank=sum(part[name].n_blank for part in parts),
                n_rows=sum(part[name].n_rows for part in parts),
            )
            for name in (parts[0] if parts else {})
        }

    @property
    def loss(self) -> float:
        """The mean NCP of the rows."""
        known = self.length / (self.high - self.low) if self.high > self.low else 0.0
        return (known + self.n_blank) / max(self.n_rows, 1)


@dataclass(frozen=True)
class PartLosses:
    """What the losses of the whole need of one part: a few sums."""

    n_records: int
    """Rows, published and suppressed."""
    columns: Mapping[str, float]
    """The mean NCP of each quasi-identifier."""
    metrics: Mapping[str, Any]
    """For each metric that joins, what its `of_part` says."""
    shown: Mapping[str, ShownRanges]

    @classmethod
    def of(cls, original: Microdata, release: Release, kinds: Iterable[type[Metric]]) -> PartLosses:
        handed_on = {kind.name: kind().of_part(original, release) for kind in kinds if kind.joins}
        return cls(count_records(release), loss_by_column(release), handed_on, ShownRanges.of(release))


def join_losses(
    parts: Sequence[PartLosses], kinds: Iterable[type[Metric]]
) -> tuple[dict[str, float], dict[str, float]]:
    """Every metric that applies, by name, and the loss of each column: what `pipeline.measure` says of one release."""
    if not parts:
        raise RecipeError("There is no part to join. A release has at least one.")
    joined = {kind.name: kind().join([part.metrics[kind.name] for part in parts]) for kind in kinds if kind.joins}
    known = {name: float(loss) for name, loss in joined.items() if not math.isnan(loss)}
    records = max(sum(part.n_records for part in parts), 1)
    by_column = {of: math.fsum(part.columns[of] * part.n_records for part in parts) for of in parts[0].columns}
    return known, {of: total / records for of, total in by_column.items()}


def round_figure(figure: float) -> float:
    """A figure as it is published. Its last digits depend on the machine, and could hide a message.

    >>> round_figure(0.123456789), round_figure(1234567.0)
    (0.123457, 1234567.0)
    """
    return figure if figure.is_integer() else float(f"{figure:.{_DIGITS}g}")


def public_losses(
    losses: Mapping[str, float],
    by_column: Mapping[str, float],
    domains: Domains,
    form: str,
    n_suppressed: int,
    ranges: Mapping[str, ShownRanges],
    rounding: Callable[[float], float] = round_figure,
    *,
    by_persons: bool = False,
) -> tuple[dict[str, float], dict[str, float]]:
    """Of the losses of a release and of its columns those that anybody can work out from its folder.

    `ranges`: what the release shows of columns whose domain is not declared. `by_persons`: sizes are numbers of
    persons, which the release does not show.
    """
    losses, by_column = _measure_as_shown(losses, by_column, ranges)
    exact = form in (Bucketized.form, Perturbed.form)
    shown = {domain.name for domain in domains.quasi if exact or _shows_domain(domain, n_suppressed)}
    hidden = {ORIGINAL} if shown >= set(by_column) else {ORIGINAL, DOMAINS}
    return (
        {
            name: rounding(loss)
            for name, loss in losses.items()
            if name in METRICS
            and METRICS[name].needs not in hidden
            and (not by_persons or getattr(METRICS[name], "counts_rows", True))
        },
        {name: rounding(loss) for name, loss in by_column.items() if name in shown},
    )


def _measure_as_shown(
    losses: Mapping[str, float], by_column: Mapping[str, float], ranges: Mapping[str, ShownRanges]
) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Losses of ranges against the published ends instead of those of the original."""
    shown = {**by_column, **{name: found.loss for name, found in ranges.items()}}
    if not ranges:
        return losses, shown
    change = mean_loss(shown) - mean_loss({**by_column})
    means = {name for name in losses if name in METRICS and getattr(METRICS[name], "over_columns", False)}
    return {name: loss + change if name in means else loss for name, loss in losses.items()}, shown


def loss_text(form: str, losses: Mapping[str, float]) -> str:
    """What a release of this form lost, in one phrase."""
    name, phrase = FORMS[form].headline
    shown = phrase.format(losses[name]).replace("%", " %") if name in losses else "not measured"
    suppressed = int(losses.get("suppressed", 0))
    return f"{shown}, {suppressed:,} suppressed" if suppressed else shown


def explain_suppressed(n_suppressed: int) -> str:
    """How losses count suppressed records, in a sentence.

    >>> explain_suppressed(1), explain_suppressed(0)
    ('The losses count 1 suppressed record as fully lost.', '')
    """
    return f"The losses count {counted(n_suppressed, 'suppressed record')} as fully lost." if n_suppressed else ""


def same_figure(stated: object, figure: float) -> bool:
    """Whether a published figure is this one, worked out on any machine.

    >>> same_figure(0.123457, 0.1234564999999999), same_figure(0.123457, 0.1234567), same_figure(0.12346, 0.1234567)
    (True, True, False)
    """
    if math.isinf(figure):
        return False
    nearest = (figure, figure * (1 - _NEARNESS), figure * (1 + _NEARNESS), float(round(figure)))
    close = [one for one in nearest if math.isclose(one, figure, rel_tol=2 * _NEARNESS)]
    return type(stated) is float and stated in {round_figure(one) for one in close}


def _shows_domain(domain: Domain, n_suppressed: int) -> bool:
    """Whether the folder shows what the losses of a generalised column are measured against.

    All values together, the published ends of ranges, or declared ends, do. A taxonomy made by a rule counts the
    different values of the original below each node, and an observed end, or the only missing value, may be that of a
    suppressed record. "(other)" counts as all the values that it stands for, which are named nowhere.
    """
    if domain.n_outside > 1 or (domain.taxonomy is not None and not domain.declared):
        return False
    return not n_suppressed or (domain.declared and domain.kind is Kind.NUMERIC)
