"""Each column before and after, and which tables of two columns may be trusted.

Before: shares of the original. After: what the release answers when it is asked how many records have each value, by
the estimator that recipients use (`analysis.counts`). Columns of many values are put into bins, alike for both sides.

A column, and a table of two columns, is judged by two total variation distances from the original, each the share of
records that would have to change their place for the two to be equal:

    distance     of what the release answers
    without      of what a reader would have without the release: of a column, all its values equally frequent; of a
                 table, the original's columns without any association between them

    ok        distance <= 5 %, or <= 10 % and at most half of `without`
    gone      otherwise, if distance >= 90 % of `without`
    blurred   all others

Cost: one query per bin of a column, and per pair of bins of two columns.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.counts import Queries, estimate_counts
from lookalike.analysis.spreading import Masks, Numbers
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.release import Bucketized, Perturbed, Release
from lookalike.data.schema import Kind
from lookalike.evaluation import charts
from lookalike.progress import Progress, silent

OK, BLURRED, GONE = "ok", "blurred", "gone"
_FINE, _FAIR, _NO_BETTER = 0.05, 0.10, 0.9
_MOST_LINES, _MOST_BINS, _MOST_COLUMNS = 12, 8, 12
"""Bins of a column shown by itself and in a pair; columns of which pairs are made."""
EXACT, ESTIMATED, _REDRAWN = "exact", "estimated", "redrawn"


@dataclass(frozen=True)
class ShareLine:
    """The share of the records that have a value, or a value of a bin."""

    value: str
    original: float
    release: float


@dataclass(frozen=True)
class ColumnShares:
    """One column before and after."""

    column: str
    how: str
    """`exact`: published as it is; `estimated`: from generalised cells; `redrawn`: from redrawn values."""
    lines: tuple[ShareLine, ...]
    distance: float
    """From the original's shares: the share of records that have another value, or another bin of values."""
    without: float
    """The same if all values were equally frequent."""

    @property
    def word(self) -> str:
        return judge(self.distance, self.without)


@dataclass(frozen=True)
class PairTrust:
    """Whether the table of two columns may be trusted."""

    one: str
    other: str
    distance: float
    """From the original's table: the share of records that have another place in it."""
    without: float
    """The same for a table without association between the two columns."""

    @property
    def word(self) -> str:
        return judge(self.distance, self.without)

    @property
    def kept(self) -> float | None:
        """The share of the association that is kept, at least 0; None where the original has next to none."""
        return round(max(0.0, 1.0 - self.distance / self.without), 4) if self.without >= _FINE else None


@dataclass(frozen=True)
class BeforeAfter:
    """Columns before and after, and pairs of them."""

    columns: tuple[ColumnShares, ...]
    pairs: tuple[PairTrust, ...]
    notes: tuple[str, ...] = ()

    def named(self, word: str) -> list[PairTrust]:
        return [pair for pair in self.pairs if pair.word == word]

    def round(self) -> BeforeAfter:
        """To whole percents; words are given for what is printed."""
        columns = tuple(
            replace(
                column,
                distance=round(column.distance, 2),
                without=round(column.without, 2),
                lines=tuple(
                    replace(line, original=round(line.original, 2), release=round(line.release, 2))
                    for line in column.lines
                ),
            )
            for column in self.columns
        )
        pairs = tuple(
            replace(pair, distance=round(pair.distance, 2), without=round(pair.without, 2)) for pair in self.pairs
        )
        return replace(self, columns=columns, pairs=pairs)

    def to_plain(self) -> dict[str, Any]:
        return {
            "columns": [
                {
                    "column": column.column,
                    "how": column.how,
                    "word": column.word,
                    "distance": column.distance,
                    "lines": [
                        {"value": line.value, "original": line.original, "release": line.release}
                        for line in column.lines
                    ],
                }
                for column in self.columns
            ],
            "pairs": [
                {
                    "columns": [pair.one, pair.other],
                    "word": pair.word,
                    "distance": pair.distance,
                    "without_association": pair.without,
                    "association_kept": pair.kept,
                }
                for pair in self.pairs
            ],
        }


def judge(distance: float, without: float) -> str:
    """`ok`, `blurred` or `gone`.

    >>> judge(0.04, 0.02), judge(0.08, 0.3), judge(0.2, 0.3), judge(0.28, 0.3)
    ('ok', 'ok', 'blurred', 'gone')
    """
    if distance <= _FINE or (distance <= _FAIR and distance <= without / 2):
        return OK
    return GONE if distance >= _NO_BETTER * without else BLURRED


def compare_before_after(original: Microdata, release: Release, progress: Progress = silent) -> BeforeAfter:
    """All columns, and all pairs of the first columns."""
    domains = (*original.domains.quasi, *original.domains.sensitive)
    codes = np.concatenate((original.quasi.T, original.sensitive.T))
    n_quasi = len(original.domains.quasi)
    columns = []
    for place, (domain, of) in enumerate(zip(domains, codes, strict=True)):
        progress("distributions", place / len(domains) / 4)
        bins = _Bins.of(domain, of, _MOST_LINES)
        before = _shares(np.bincount(bins.bin_of_code[of], minlength=len(bins.labels)))
        after = _ask(original, release, {place: bins})
        alike = _shares(np.bincount(bins.bin_of_code, minlength=len(bins.labels)))
        columns.append(
            ColumnShares(
                domain.name,
                _find_how(release, place, n_quasi),
                tuple(ShareLine(*line) for line in zip(bins.labels, before.tolist(), after.tolist(), strict=True)),
                _distance(after, before),
                _distance(alike, before),
            )
        )
    paired = _choose_paired(n_quasi, len(domains))
    bins_of = {place: _Bins.of(domains[place], codes[place], _MOST_BINS) for place in paired}
    pairs = []
    found = list(itertools.combinations(paired, 2))
    for turn, (one, other) in enumerate(found):
        progress("distributions", 0.25 + 0.75 * turn / len(found))
        first, second = bins_of[one], bins_of[other]
        shape = len(first.labels), len(second.labels)
        both = first.bin_of_code[codes[one]] * shape[1] + second.bin_of_code[codes[other]]
        before = _shares(np.bincount(both, minlength=shape[0] * shape[1])).reshape(shape)
        after = _ask(original, release, {one: first, other: second}).reshape(shape)
        apart = np.outer(before.sum(axis=1), before.sum(axis=0))
        names = domains[one].name, domains[other].name
        pairs.append(PairTrust(*names, _distance(after, before), _distance(apart, before)))
    progress("distributions", 1.0)
    notes: tuple[str, ...] = ()
    if len(paired) < len(domains):
        notes = (
            f"Tables of two columns were judged for {len(paired)} of the {len(domains)} columns: more pairs "
            "would take long.",
        )
    return BeforeAfter(tuple(columns), tuple(pairs), notes)


def _choose_paired(n_quasi: int, n_columns: int) -> list[int]:
    """Columns that pairs are made of: the sensitive ones, and as many of the others as there is room for."""
    sensitive = list(range(n_quasi, n_columns))[:_MOST_COLUMNS]
    return sorted([*range(min(n_quasi, _MOST_COLUMNS - len(sensitive))), *sensitive])


@dataclass(frozen=True, eq=False)
class _Bins:
    """The values of a column in bins that a chart has room for; missing is its own bin, the last."""

    bin_of_code: NDArray[np.int64]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, domain: Domain, codes: NDArray[Any], most: int) -> _Bins:
        """Bins of neighbours with about as many records each where values have an order, else the frequent values."""
        counts = np.bincount(codes, minlength=domain.n_codes)[: len(domain.values)]
        n_values, texts = len(domain.values), domain.texts
        in_order = domain.kind is not Kind.CATEGORICAL and domain.taxonomy is None
        if n_values <= most:
            labels, bin_of_code = list(texts[:n_values]), np.arange(n_values)
        elif in_order:
            middle = np.cumsum(counts) - counts / 2
            at = np.minimum(middle * most // max(int(counts.sum()), 1), most - 1)
            bin_of_code = np.unique(at, return_inverse=True)[1].reshape(-1)
            starts = np.searchsorted(bin_of_code, np.arange(bin_of_code[-1] + 2))
            ends = [(texts[first], texts[after - 1]) for first, after in itertools.pairwise(starts.tolist())]
            labels = [low if low == high else f"{low} to {high}" for low, high in ends]
        else:
            frequent = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
            bin_of_code = np.full(n_values, most - 1)
            bin_of_code[frequent] = np.arange(most - 1)
            labels = [*(texts[code] for code in frequent.tolist()), f"{n_values - most + 1} other values"]
        if domain.has_missing:
            bin_of_code = np.append(bin_of_code, len(labels))
            labels.append("missing")
        return cls(bin_of_code.astype(np.int64), tuple(labels))


def _ask(original: Microdata, release: Release, bins: dict[int, _Bins]) -> Numbers:
    """The share of each bin, or of each combination of bins, as the release answers."""
    domains = (*original.domains.quasi, *original.domains.sensitive)
    crossed = np.indices([len(one.labels) for one in bins.values()]).reshape(len(bins), -1)
    n_queries = crossed.shape[1]
    masks: list[Masks] = [np.broadcast_to(np.ones(1, dtype=bool), (n_queries, domain.n_codes)) for domain in domains]
    for (place, one), wanted in zip(bins.items(), crossed, strict=True):
        masks[place] = one.bin_of_code[None, :] == wanted[:, None]
    n_quasi = len(original.domains.quasi)
    return _shares(estimate_counts(Queries(tuple(masks[:n_quasi]), tuple(masks[n_quasi:])), release).counts)


def _shares(counts: NDArray[Any]) -> Numbers:
    known = np.maximum(counts, 0.0)
    return np.asarray(known / max(float(known.sum()), 1e-300))


def _distance(one: Numbers, other: Numbers) -> float:
    return float(0.5 * np.abs(one - other).sum())


def _find_how(release: Release, place: int, n_quasi: int) -> str:
    if place >= n_quasi:
        return _REDRAWN if isinstance(release, Perturbed) else EXACT
    return EXACT if isinstance(release, Bucketized | Perturbed) else ESTIMATED


def draw_shares(column: ColumnShares, width: int = 300) -> charts.Chart:
    """The shares of one column: a mark for the original and one of another shape for the release, line by line."""
    rows = [{"value": line.value, "original": line.original, "release": line.release} for line in column.lines]
    marks = {"original": "original", "release": "release"}
    return charts.spans(rows, "value", marks, x_title=f"{column.column}: share of records", width=width)


_DARKNESS = {OK: 0.0, BLURRED: 0.5, GONE: 1.0}


def draw_trust(found: BeforeAfter) -> charts.Chart:
    """A tile with its word for each pair of columns, the darker the less it may be trusted."""
    rows = [
        {"one": pair.one, "other": pair.other, "dark": _DARKNESS[pair.word], "word": pair.word}
        for pair in sorted(found.pairs, key=lambda pair: [column.column for column in found.columns].index(pair.one))
    ]
    return charts.tiles(
        rows, "one", "other", "dark", label="word", x_title="", y_title="", legend=False, size=_TILE,
        title="Which tables of two columns may be trusted",
    )  # fmt: skip


_TILE = 48
"""Pixels that the longest word has room in."""
