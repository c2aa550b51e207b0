"""Is a release about this table, and what does it show of whom? Slow and obvious, for tables of few rows.

`faults` lists what is wrong with a release apart from its promises; `units` are what a reader narrows a person down
to. Written from the definitions of the four forms, with nothing of the library's audit. What only chance can tell
(the order of rows, whether a matrix was used) is not looked at: too few rows show nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from lookalike.data.release import Bucketized, Matched, Perturbed
from tests.oracles.containment import classes, fit_table, largest_assignment, same_values
from tests.oracles.promises import Judged, Unit, judged


def keeps(release: Any, data: Any, promises: Any, graph: Any = None) -> bool:
    """Whether a release is truthful and keeps every promise."""
    if any(faults(release, data, graph)):
        return False
    return all(promised(release, data, promise, graph).holds for promise in promises)


def promised(release: Any, data: Any, promise: Any, graph: Any = None) -> Judged:
    """What one promise comes to."""
    model = promise.model
    if isinstance(release, Perturbed) and model.name in ("k-anonymity", "k-concealment", "alpha-k"):
        return Judged(float("nan"), False)
    if isinstance(release, Matched) and model.name == "k-concealment":
        return judged(model, [{0: number} for number in possible(release, data)], [data.n_rows])
    if model.about_identity:
        return judged(model, units(release, data, None, graph), [data.n_rows])
    column = [domain.name for domain in data.domains.sensitive].index(promise.column)
    return judged(model, units(release, data, column, graph), prior(data, column), data.domains.sensitive[column])


def prior(data: Any, column: int) -> list[int]:
    counts = Counter(data.sensitive[:, column].tolist())
    return [counts[code] for code in range(data.domains.sensitive[column].n_codes)]


def possible(release: Any, data: Any) -> list[int]:
    """For each record the rows that some complete assignment gives it: take the pair out and place all others."""
    fitting = fit_table(release, data)
    n_records = len(fitting)
    found = []
    for record in range(n_records):
        others = np.delete(fitting, record, axis=0)
        rows = np.flatnonzero(fitting[record]).tolist()
        found.append(sum(largest_assignment(np.delete(others, row, axis=1)) == n_records - 1 for row in rows))
    return found


def units(release: Any, data: Any, column: int | None, graph: Any = None) -> list[Unit]:
    """The weights of values in everything that a person can be narrowed down to."""
    if isinstance(release, Perturbed):
        assert column is not None
        return _posteriors(release, data, column)
    known = [set(data.sensitive[:, index].tolist()) for index in range(data.sensitive.shape[1])]
    real = [all(code in known[index] for index, code in enumerate(row)) for row in release.sensitive.tolist()]
    values = [0] * len(real) if column is None else release.sensitive[:, column].tolist()
    if isinstance(release, Matched):
        assert graph is not None
        ends = graph.starts.tolist()
        members = [graph.rows[start:stop].tolist() for start, stop in zip(ends, ends[1:], strict=False)]
    else:
        names = release.bucket_of_sensitive.tolist() if isinstance(release, Bucketized) else classes(release)
        by_name: dict[Any, list[int]] = {}
        for row, name in enumerate(names):
            by_name.setdefault(name, []).append(row)
        members = list(by_name.values())
    found = [Counter(values[row] for row in rows if real[row]) for rows in members]
    return [unit for unit in found if unit]


def _posteriors(release: Any, data: Any, column: int) -> list[Unit]:
    """Bayes in whole numbers, among the records that carry the same."""
    weights = release.randomizers[column].weights.tolist()
    stocks: dict[tuple[int, ...], Counter[int]] = {}
    for carried, code in zip(data.carried.tolist(), data.sensitive[:, column].tolist(), strict=True):
        stocks.setdefault(tuple(carried), Counter())[code] += 1
    shown: dict[tuple[int, ...], set[int]] = {}
    for carried, code in zip(release.carried.tolist(), release.sensitive[:, column].tolist(), strict=True):
        shown.setdefault(tuple(carried), set()).add(code)
    found = []
    for carried, stock in stocks.items():
        for seen in shown.get(carried, set()) if carried else range(len(weights)):
            unit = {code: weights[seen][code] * number for code, number in stock.items()}
            if any(unit.values()):
                found.append({code: weight for code, weight in unit.items() if weight})
    return found


def faults(release: Any, data: Any, graph: Any = None) -> Iterator[str]:
    """What is wrong, in words."""
    if any(_outside(release, data)):
        yield "codes that the table does not have"
        return
    withheld = release.withheld
    wanted = data.n_rows - withheld.n_suppressed + withheld.n_dummies
    if {release.n_rows, len(release.sensitive)} != {wanted} or min(withheld.n_suppressed, withheld.n_dummies) < 0:
        yield "other numbers of rows than declared"
        return
    if isinstance(release, Perturbed):
        yield from _perturbed_faults(release, data)
        return
    yield from _value_faults(release, data)
    if isinstance(release, Bucketized):
        yield from _bucket_faults(release, data)
        return
    fitting = fit_table(release, data) & same_values(release, data)
    if largest_assignment(fitting) < data.n_rows - withheld.n_suppressed:
        yield "not everybody has a row"
    if isinstance(release, Matched) and graph is not None:
        yield from _graph_faults(release, data, graph)


def _outside(release: Any, data: Any) -> Iterator[bool]:
    blocks = [(release.sensitive, data.domains.sensitive), (release.carried, data.domains.carried)]
    if isinstance(release, Bucketized | Perturbed):
        blocks.append((release.quasi, data.domains.quasi))
    for codes, domains in blocks:
        for index, domain in enumerate(domains):
            yield any(not 0 <= code < domain.n_codes for code in codes[:, index].tolist())


def _rows(*blocks: Any) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, np.hstack(blocks).tolist()))


def _lost_and_new(before: Counter[Any], after: Counter[Any]) -> tuple[int, int]:
    return (before - after).total(), (after - before).total()


def _value_faults(release: Any, data: Any) -> Iterator[str]:
    withheld = release.withheld
    lost, new = _lost_and_new(_rows(data.sensitive, data.carried), _rows(release.sensitive, release.carried))
    if lost > withheld.n_suppressed or new > withheld.n_dummies:
        yield "joint values lost or new"
    hidden = withheld.indistinguishable and withheld.n_dummies > 0
    for index, domain in enumerate(data.domains.sensitive if not hidden else ()):
        nothing = [0] * domain.n_codes
        left_out = withheld.suppressed[index].tolist() if withheld.suppressed else nothing
        made_up = withheld.dummies[index].tolist() if withheld.dummies else nothing
        if (sum(left_out), sum(made_up)) != (withheld.n_suppressed, withheld.n_dummies) or min(left_out + made_up) < 0:
            yield "withheld records do not add up"
        published = Counter(release.sensitive[:, index].tolist())
        before = prior(data, index)
        if any(published[code] != before[code] - left_out[code] + made_up[code] for code in range(domain.n_codes)):
            yield "values more or less often than declared"
    known = [set(data.sensitive[:, index].tolist()) for index in range(data.sensitive.shape[1])]
    told = sum(any(code not in known[at] for at, code in enumerate(row)) for row in release.sensitive.tolist())
    if withheld.n_dummies and not withheld.indistinguishable and told != withheld.n_dummies:
        yield "made-up rows that nobody can tell"
    if hidden and told != withheld.n_dummies and any(counts.any() for counts in withheld.dummies):
        yield "made-up rows that the manifest tells apart"


def _bucket_faults(release: Any, data: Any) -> Iterator[str]:
    withheld = release.withheld
    lost, new = _lost_and_new(_rows(data.quasi), _rows(release.quasi))
    if lost > withheld.n_suppressed or new > withheld.n_dummies:
        yield "quasi-identifiers lost or new"
    if Counter(release.bucket_of_quasi.tolist()) != Counter(release.bucket_of_sensitive.tolist()):
        yield "buckets differ between the tables"
    elif not everybody_in_a_bucket(release, data):
        yield "not everybody has a bucket"


def everybody_in_a_bucket(release: Any, data: Any) -> bool:
    """Whether records can be dealt to buckets so that both tables are met: by trying. Nothing may be withheld."""
    points = Counter(zip(release.bucket_of_quasi.tolist(), map(tuple, release.quasi.tolist()), strict=True))
    owned = map(tuple, np.hstack((release.sensitive, release.carried)).tolist())
    values = Counter(zip(release.bucket_of_sensitive.tolist(), owned, strict=True))
    records = sorted(
        zip(
            map(tuple, data.quasi.tolist()),
            map(tuple, np.hstack((data.sensitive, data.carried)).tolist()),
            strict=True,
        )
    )
    buckets = sorted(set(release.bucket_of_quasi.tolist()))

    @cache
    def dealt(place: int, points_left: frozenset[Any], values_left: frozenset[Any]) -> bool:
        """Whether the records from this one on find a place in what is left."""
        if place == len(records):
            return True
        listed, held = Counter(dict(points_left)), Counter(dict(values_left))
        point, value = records[place]
        for bucket in buckets:
            if listed[bucket, point] and held[bucket, value]:
                fewer = (listed - Counter({(bucket, point): 1}), held - Counter({(bucket, value): 1}))
                if dealt(place + 1, *(frozenset(left.items()) for left in fewer)):
                    return True
        return False

    return dealt(0, frozenset(points.items()), frozenset(values.items()))


def _perturbed_faults(release: Any, data: Any) -> Iterator[str]:
    if _rows(data.quasi) != _rows(release.quasi):
        yield "quasi-identifiers lost or new"
    if _rows(data.carried) != _rows(release.carried):
        yield "carried values lost or new"
    for column, randomizer in enumerate(release.randomizers):
        weights = randomizer.weights.tolist()
        sums = [sum(row[code] for row in weights) for code in range(len(weights))]
        if min(min(row) for row in weights) < 0 or randomizer.total <= 0 or set(sums) != {randomizer.total}:
            yield "a matrix that is none"
            return
        before = prior(data, column)
        for code in set(release.sensitive[:, column].tolist()):
            if not any(weights[code][own] * number for own, number in enumerate(before)):
                yield "a value that is never drawn"


def _graph_faults(release: Any, data: Any, graph: Any) -> Iterator[str]:
    ends = graph.starts.tolist()
    edges = [
        (record, row)
        for record, (start, stop) in enumerate(zip(ends, ends[1:], strict=False))
        for row in graph.rows[start:stop].tolist()
    ]
    if len(ends) != data.n_rows + 1 or len(set(edges)) < len(edges) or len(edges) != len(graph.rows):
        yield "no graph over these records"
        return
    joined = np.zeros((data.n_rows, release.n_rows), dtype=bool)
    for record, row in edges:
        joined[record, row] = True
    if (joined & ~fit_table(release, data)).any():
        yield "an edge to a row that does not fit"
    of_record, of_row = joined.sum(axis=1).tolist(), joined.sum(axis=0).tolist()
    if 0 in of_record + of_row or any(of_record[record] != of_row[row] for record, row in edges):
        yield "ends of an edge with different numbers of edges"
    if largest_assignment(joined & same_values(release, data)) < data.n_rows:
        yield "the truth is not in the graph"
