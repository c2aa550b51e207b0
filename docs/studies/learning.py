"""An attacker who learns from a release of usual size how values go with quasi-identifiers.

The second part of `adversaries.py`.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

import numpy as np
from exact_bayes import MODES, required
from numpy.typing import NDArray
from printing import percent, say, show

from lookalike.algorithms.groups import Groups
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Extents, Grouped, Ranges
from lookalike.data.schema import Schema
from lookalike.errors import Infeasible
from lookalike.files.tables import read_table
from lookalike.metrics import METRICS
from lookalike.randomness import Randomness
from lookalike.samples import census

SMOOTHING = 1.0
ROUNDS_OF_RELEARNING = 20


@dataclass(frozen=True)
class NaiveBayes:
    log_prior: NDArray[np.float64]
    """[values]"""
    log_likelihoods: list[NDArray[np.float64]]
    """[codes, values] one a quasi-identifier."""

    @classmethod
    def learn(cls, cells: Sequence[NDArray[np.float64]], values: NDArray[np.float64]) -> NaiveBayes:
        """From units (groups or records): how their weight lies on the codes, and how much of each value they have."""
        likelihoods = []
        for spread in cells:
            together = spread.T @ values + SMOOTHING
            likelihoods.append(np.log(together / together.sum(axis=0)))
        totals = values.sum(axis=0) + SMOOTHING
        return cls(np.log(totals / totals.sum()), likelihoods)

    def log_likelihood(self, quasi: NDArray[np.int32]) -> NDArray[np.float64]:
        """[records, values]"""
        total = np.zeros((len(quasi), len(self.log_prior)))
        for place, table in enumerate(self.log_likelihoods):
            total += table[quasi[:, place]]
        return total


def spread_over_codes(extents: Extents, n_codes: int, missing_code: int) -> NDArray[np.float64]:
    """[units, codes] a weight of 1 a unit, divided evenly among the codes that its cell may stand for."""
    if isinstance(extents, Ranges):
        codes = np.arange(n_codes)
        inside = (extents.lows[:, None] <= codes) & (codes <= extents.highs[:, None])
        if missing_code < n_codes:
            inside[:, missing_code] |= extents.missing
    else:
        inside = np.zeros((len(extents), n_codes), dtype=np.bool_)
        inside[np.repeat(np.arange(len(extents)), extents.sizes), extents.members] = True
    weights: NDArray[np.float64] = inside / inside.sum(axis=1, keepdims=True)
    return weights


@dataclass(frozen=True)
class Attacks:
    """Shares of records whose value is guessed right."""

    any_value: float
    """Learnt from the release; any value of the table may be guessed."""
    in_group: float
    """The same, but told the record's group."""
    relearnt: float
    """Told everybody's quasi-identifiers and groups, and learnt again from what is most plausible so far."""
    in_group_knowing: float
    """Told the record's group, learnt from the original table."""

    @classmethod
    def mean(cls, several: Sequence[Attacks]) -> Attacks:
        return cls(*np.mean([list(vars(one).values()) for one in several], axis=0).tolist())


def exact_cells(data: Microdata) -> list[NDArray[np.float64]]:
    return [np.eye(domain.n_codes)[data.quasi[:, place]] for place, domain in enumerate(data.domains.quasi)]


def exact_values(data: Microdata) -> NDArray[np.float64]:
    return np.eye(data.domains.sensitive[0].n_codes)[data.sensitive[:, 0]]


def attack(data: Microdata, release: Grouped, group_of_record: NDArray[np.int32]) -> Attacks:
    """How well each attacker guesses the sensitive value of every record of the original."""
    truth, n_values, n_groups = data.sensitive[:, 0], data.domains.sensitive[0].n_codes, len(release.extents[0])
    values_of_group = np.zeros((n_groups, n_values))
    np.add.at(values_of_group, (release.group_of_row, release.sensitive[:, 0]), 1.0)
    cells = [
        spread_over_codes(extents, domain.n_codes, domain.missing_code)
        for extents, domain in zip(release.extents, data.domains.quasi, strict=True)
    ]
    with np.errstate(divide="ignore"):
        log_share = np.log(values_of_group)[group_of_record]

    def right(scores: NDArray[np.float64]) -> float:
        return float(np.mean(scores.argmax(axis=1) == truth))

    reader = NaiveBayes.learn(cells, values_of_group)
    likelihood = reader.log_likelihood(data.quasi)
    exact = exact_cells(data)
    plausible = likelihood + log_share
    for _ in range(ROUNDS_OF_RELEARNING):
        weights = np.exp(plausible - plausible.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        plausible = NaiveBayes.learn(exact, weights).log_likelihood(data.quasi) + log_share
    knowing = NaiveBayes.learn(exact, exact_values(data))
    return Attacks(
        any_value=right(likelihood + reader.log_prior),
        in_group=right(likelihood + log_share),
        relearnt=right(plausible),
        in_group_knowing=right(knowing.log_likelihood(data.quasi) + log_share),
    )


def released(data: Microdata, mode: str, ell: int, seed: int, cell: int = 0) -> tuple[Grouped, NDArray[np.int32]]:
    """A release, and the group of each record. The size of cells is that of the strict mode."""
    algorithm = Groups(mode=mode, cell=cell if mode == "strict" else 0)
    release, linkage = algorithm.anonymize(data, required(data, ell), Randomness(seed), _untold)
    group_of_record = np.empty(data.n_rows, dtype=np.int32)
    group_of_record[linkage.record_of_row] = release.group_of_row
    return release, group_of_record


def _untold(step: str, share: float, note: str = "") -> None:
    """Nobody watches the progress."""


def most_frequent(data: Microdata) -> float:
    return float(data.counts(0).max() / data.n_rows)


def from_original(data: Microdata) -> float:
    """The naive Bayes that learns from the original table, and any value may be guessed."""
    knowing = NaiveBayes.learn(exact_cells(data), exact_values(data))
    scores = knowing.log_likelihood(data.quasi) + knowing.log_prior
    return float(np.mean(scores.argmax(axis=1) == data.sensitive[:, 0]))


def interval(share: float, n_records: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z = 1.959964
    middle = share + z * z / (2 * n_records)
    half = z * math.sqrt(share * (1 - share) / n_records + (z / (2 * n_records)) ** 2)
    return (middle - half) / (1 + z * z / n_records), (middle + half) / (1 + z * z / n_records)


def learning_attacks(data: Microdata, ells: Sequence[int], releases: int, cell: int) -> list[list[str]]:
    rows = []
    for ell, mode in itertools.product(ells, MODES):
        losses, attacks = [], []
        row = [str(ell), mode, "refused", percent(1 / ell), *[""] * len(fields(Attacks))]
        with suppress(Infeasible):
            for seed in range(1, releases + 1):
                release, group_of_record = released(data, mode, ell, seed, cell)
                losses.append(METRICS["gcp"]().measure(data, release))
                attacks.append(attack(data, release, group_of_record))
            row[2] = f"{np.mean(losses):.3f}"
            row[4:] = [_with_interval(share, data.n_rows) for share in vars(Attacks.mean(attacks)).values()]
        rows.append(row)
    return rows


def coded_table(table: Table) -> Microdata:
    """All columns quasi-identifiers but the last, which is sensitive; age and education are numbers."""
    *quasi, sensitive = table.names
    categorical = [name for name in table.names if name.casefold() not in ("age", "education")]
    return Microdata.encode(table, Schema.of(qi=quasi, sensitive=[sensitive], categorical=categorical))


def _with_interval(share: float, n_records: int) -> str:
    low, high = interval(share, n_records)
    return f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def show_learning(options: argparse.Namespace) -> None:
    paths = sorted(options.data.glob("*.csv")) if options.data else []
    tables = {path.name: read_table(path) for path in paths} or {"stand-in": census(options.rows)}
    for name, table in tables.items():
        data = coded_table(table)
        baselines = [("most frequent value", most_frequent(data)), ("learnt from the original", from_original(data))]
        say(f"Learning attackers; {name}, {data.n_rows:,} records, mean of {options.releases} releases.\n")
        show(["guess", "right"], [[said, _with_interval(share, data.n_rows)] for said, share in baselines])
        header = ["l", "mode", "GCP", "1/l", "any value", "in group", "relearnt", "in group, from original"]
        show(header, learning_attacks(data, options.ell, options.releases, options.cell))
