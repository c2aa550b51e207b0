"""Further rooms of the exam: releases by the library's own methods, in parts, on disk, and plants that chance tells."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.algorithms import parse_algorithm
from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Randomizer, Ranges
from lookalike.errors import Infeasible, LookalikeError, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.audit.making import (
    bucketized,
    grouped,
    matched,
    mixed_table,
    mixing_matrix,
    moved,
    number_table,
    perturbed,
    ring,
)
from tests.audit.planting import boxes, folders, foreign, parts
from tests.audit.planting.cases import FORMS, Case, honest
from tests.audit.planting.exam import Marks, edges_of, hold
from tests.audit.planting.messages import MESSAGES
from tests.audit.planting.plants import PLANTS
from tests.audit.planting.tables import random_table
from tests.oracles.truthful import faults, keeps, promised
from tests.reading import read_release

PROMISES = (
    "k-anonymity:2",
    "l-diversity:2",
    "l-diversity:2,kind=distinct",
    "l-diversity:2,kind=entropy",
    "l-diversity:2,kind=recursive,c=3",
    "alpha-k:alpha=0.6,k=2",
    "t-closeness:0.4",
    "beta-likeness:2",
    "beta-likeness:1,bound=basic",
    "delta-disclosure:1.5",
    "f-privacy:theta=2,base=0.1",
    "rho-privacy:rho1=0.4,rho2=0.8",
)


def sit_method(marks: Marks, name: str, seed: int) -> None:
    """What one of the library's methods makes of a small table keeps its promise; then plants on it."""
    rng = np.random.default_rng([seed, sum(name.encode())])
    data = random_table(rng, int(rng.integers(6, 14)))
    algorithm = parse_algorithm(name)
    try:
        promises = settle([Promise(parse_model(str(rng.choice(PROMISES))))], data)
        requirements = require(promises, data)
        for promise, requirement in zip(promises, requirements, strict=True):
            if promise.model.refuses_form(algorithm.form) or algorithm.refuses(promise, requirement):
                return
        if algorithm.refuses_columns(data.domains):
            return
        release, linkage = algorithm.anonymize(data, requirements, Randomness(seed), silent)
    except (Infeasible, Unsupported):
        return
    if isinstance(release, Bucketized) and release.withheld.n_suppressed:
        return
    case = Case(release, data, linkage.graph, tuple(promises))
    where = f"{name}, seed {seed}, {promises[0]}"
    right = keeps(release, data, promises, linkage.graph)
    passed = verify(data, release, promises, graph=linkage.graph).passed
    marks.honest[f"by {algorithm.name}"] += 1
    if not right or not passed:
        marks.wrong.append(f"{where}: made to keep its promise; the oracle: {right}, the audit: {passed}")
    for kind in rng.permutation(list(PLANTS))[:8].tolist():
        changed = PLANTS[kind](rng, case)
        if changed is not None:
            hold(marks, changed, kind, f"{where}: {kind}")


def sit_parts(marks: Marks, form: str, seed: int) -> None:
    """Parts audited one by one and joined."""
    rng = np.random.default_rng([seed, 100 + parts.FORMS_IN_PARTS.index(form)])
    data, cases = parts.in_parts(rng, form)
    where = f"{form} in parts, seed {seed}"
    edges = parts.edges_in_parts(rng, data, cases)
    audit = parts.audited(cases, [promise for promise, _, _ in edges])
    marks.honest[f"{form} in parts"] += 1
    for (promise, holds, kind), verdict in zip(edges, audit.verdicts, strict=True):
        (marks.kept if holds else marks.broken)[kind] += 1
        if verdict.passed != holds:
            marks.wrong.append(f"{where}: {promise} is {'kept' if holds else 'broken'}, the audit: {verdict.passed}")
    promises = [promise for promise, holds, _ in edges if holds][:2]
    for wrong in parts.WRONGS:
        passed = parts.audited(parts.wronged(wrong, cases), promises).passed
        if wrong != "none":
            marks.planted[wrong] += 1
        if passed != (wrong == "none"):
            marks.wrong.append(f"{where}: {wrong}, the audit: {passed}")
    for kind in rng.permutation(list(PLANTS))[:10].tolist():
        changed = PLANTS[kind](rng, cases[0])
        if changed is None:
            continue
        mixed = [changed, *cases[1:]]
        right = parts.keeps_in_parts(data, mixed, promises)
        if form == "perturbed" and kind in ("another matrix", "matrix with a column of another"):
            # One matrix for all: even a true change of one part's is a violation.
            right &= all(
                (one.weights == other.weights).all()
                for one, other in zip(changed.release.randomizers, cases[1].release.randomizers, strict=True)
            )
        passed = parts.audited(mixed, promises).passed
        right &= not _told_by_draws(kind, passed)
        (marks.harmless if right else marks.planted)[f"{kind}, in one part"] += 1
        if passed != right:
            marks.wrong.append(f"{where}: {kind}: {'harmless' if right else 'a violation'}, the audit: {passed}")


def sit_parts_on_disk(marks: Marks, form: str, seed: int, folder: Path) -> None:
    """A folder of parts, honest and with one changed: audited part by part, held against units of each part."""
    rng = np.random.default_rng([seed, 400 + parts.FORMS_IN_PARTS.index(form)])
    data, cases = parts.in_parts(rng, form)
    out, where = folder / f"{form}-{seed}", f"{form} in parts on disk, seed {seed}"
    folders.write_in_parts(cases, out)
    whole, _ = read_release(out, data)
    promises = [
        promise
        for promise, _, _ in parts.edges_in_parts(rng, data, cases)
        if parts.keeps_on_disk(data, whole, cases, [promise])
    ][:3]
    kinds = [kind for kind in PLANTS if not kind.startswith(("range", "value outside")) and "withheld" not in kind]
    for kind in ("honest", *rng.permutation(kinds)[:6].tolist()):
        changed = cases[0] if kind == "honest" else PLANTS[kind](rng, cases[0])
        if changed is None or changed.release.withheld is not cases[0].release.withheld:
            continue
        try:
            folders.write_in_parts([changed, *cases[1:]], out)
            whole, _ = read_release(out, data)
        except LookalikeError:
            marks.planted[f"{kind}, refused when it was written in parts"] += 1
            if not any(faults(changed.release, changed.data)):
                marks.wrong.append(f"{where}: {kind}: nothing is wrong, and it cannot be written")
            continue
        passed = folders.passes_in_parts(data, promises, out)
        right = parts.keeps_on_disk(data, whole, [changed, *cases[1:]], promises)
        right &= not _told_by_draws(kind, passed)
        if kind == "honest":
            marks.honest[f"{form} in parts on disk"] += 1
        else:
            (marks.harmless if right else marks.planted)[f"{kind}, in one part on disk"] += 1
        if passed != right:
            marks.wrong.append(f"{where}: {kind}: {'harmless' if right else 'a violation'}, the audit: {passed}")


def sit_told_by_parts(marks: Marks, form: str, seed: int) -> None:
    """An honest release whose parts tell nothing, then the same rows dealt to parts by what is not published."""
    rng = np.random.default_rng([seed, 500 + parts.FORMS_IN_PARTS.index(form)])
    case, honest_parts, telling = parts.told_by_parts(rng, form)
    for kind, of_rows in (("honest", honest_parts), *telling.items()):
        passed = verify(case.data, case.release, case.promises, graph=case.graph, parts=of_rows).passed
        if kind == "honest":
            marks.honest[f"{form} in parts that tell nothing"] += 1
        else:
            marks.planted[f"part of a row told by {kind}"] += 1
        if passed != (kind == "honest"):
            marks.wrong.append(f"{form} told by parts, seed {seed}: {kind}, the audit: {passed}")


def _told_by_draws(kind: str, passed: bool) -> bool:
    """Whether the values could not be draws from a matrix that was changed, which the oracle does not look at."""
    return not passed and "matrix" in kind


def sit_folder(marks: Marks, form: str, seed: int, folder: Path) -> None:
    """A release on disk: read back as it was, then with its files changed."""
    rng = np.random.default_rng([seed, 200])
    case = honest(rng, form)
    where = f"{form} on disk, seed {seed}"
    kept = [promise for promise, (_, holds), _ in edges_of(rng, case) if holds]
    case = replace(case, promises=tuple(kept[:3]))
    out = folder / f"{form}-{seed}"
    folders.write(case, out)
    marks.honest[f"{form} on disk"] += 1
    if not folders.passes(case, out):
        marks.wrong.append(f"{where}: an honest folder is refused")
    for kind in rng.permutation(list(PLANTS))[:6].tolist():
        changed = PLANTS[kind](rng, case)
        if changed is None or kind == "value outside the domain" or not changed.release.n_rows:
            continue
        if kind.startswith("range") and any(domain.taxonomy for domain in case.data.domains.quasi):
            # A file names nodes of a taxonomy and cannot say what lies between them.
            continue
        told = folders.as_read(changed)
        right = keeps(told.release, told.data, told.promises, told.graph)
        try:
            same_words = changed.release.withheld is case.release.withheld and "matrix" not in kind
            if same_words:
                folders.write(case, out)
                folders.rewrite_tables(changed, out)
            else:
                folders.write(changed, out)
            passed = folders.passes(changed, out)
        except LookalikeError:
            passed = False
        right &= not _told_by_draws(kind, passed)
        (marks.harmless if right else marks.planted)[f"{kind}, on disk"] += 1
        if passed != right:
            marks.wrong.append(f"{where}: {kind}: {'harmless' if right else 'a violation'}, the audit: {passed}")
    for kind in rng.permutation(list(folders.EDITS))[:6].tolist():
        folders.write(case, out)
        if folders.EDITS[kind](rng, out):
            marks.planted[kind] += 1
            if folders.passes(case, out):
                marks.wrong.append(f"{where}: {kind}: not noticed")


def sit_messages(marks: Marks, form: str, seed: int, folder: Path) -> None:
    """Folders that decode to an honest release and say more."""
    rng = np.random.default_rng([seed, 500 + FORMS.index(form)])
    case = honest(rng, form)
    where, true, out = f"{form} with a message, seed {seed}", folder / "honest", folder / "out"
    folders.write(case, true)
    marks.honest[f"{form} on disk"] += 1
    if not folders.passes(case, true):
        marks.wrong.append(f"{where}: an honest folder is refused")
    for kind, plant in MESSAGES.items():
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(true, out)
        if plant(rng, out):
            marks.planted[kind] += 1
            if folders.passes(case, out):
                marks.wrong.append(f"{where}: {kind}: not noticed")


def sit_foreign(marks: Marks, seed: int, folder: Path) -> None:
    """Tables of other tools, in one notation and with a cell that is spelled to say more."""
    rng = np.random.default_rng([seed, 600])
    data, _, rows = foreign.honest_table(rng)
    path, where = folder / "other.csv", f"a table of another tool, seed {seed}"
    foreign.write(path, rows)
    marks.honest["of another tool"] += 1
    if not foreign.passes(path, data):
        marks.wrong.append(f"{where}: an honest table is refused")
    for kind, respell in foreign.RESPELLINGS.items():
        changed = [dict(row) for row in rows]
        if respell(rng, changed):
            foreign.write(path, changed)
            marks.planted[f"{kind}, in a table of another tool"] += 1
            if foreign.passes(path, data):
                marks.wrong.append(f"{where}: {kind}: not noticed")


def sit_boxes(marks: Marks, seed: int, folder: Path) -> None:
    """The same in files of other kinds, and files that hold more than the table."""
    data, _, rows = foreign.honest_table(np.random.default_rng([seed, 610]))
    for kind, box in boxes.HONEST_BOXES.items():
        marks.honest[f"of another tool, in {kind}"] += 1
        if not foreign.passes(box(folder, rows), data):
            marks.wrong.append(f"a table of another tool in {kind}, seed {seed}: an honest table is refused")
    for kind, box in boxes.PLANTED_BOXES.items():
        marks.planted[kind] += 1
        if foreign.passes(box(folder, rows), data):
            marks.wrong.append(f"a table of another tool, seed {seed}: {kind}: not noticed")


def sit_ties(marks: Marks) -> None:
    """Logarithms that meet a whole bound although counts are uneven: 1/2 and four times 1/8 are as uncertain as 4."""
    data = number_table([[0]] * 8, [0, 0, 0, 0, 1, 2, 3, 4])
    release = grouped(data, [0] * 8, [5, 2, 7, 0, 4, 1, 6, 3])
    promise = Promise(parse_model("l-diversity:4,kind=entropy"), "s")
    marks.kept["l-diversity entropy"] += 1
    if not promised(release, data, promise).holds or not verify(data, release, [promise]).passed:
        marks.wrong.append("a tie of entropies is kept, and was refused")


def sit_forced(marks: Marks) -> None:
    """Three fit two rows each, and yet one of them has no choice: the other two need the rows that they share."""
    data = number_table([[0], [1], [5]], [0, 1, 2])
    release, graph = matched(data, [[0, 1], [0, 1], [2]], [0, 1, 2], [1, 2, 0])
    (ages,) = release.extents
    wide = Ranges.of(data.domains.quasi[0], ages.lows, np.where(ages.highs == 1, 2, ages.highs), ages.missing)
    release = replace(release, extents=(wide,))
    for promise, holds in (
        (Promise(parse_model("k-concealment:1")), True),
        (Promise(parse_model("k-concealment:2")), False),
    ):
        assert promised(release, data, promise, graph).holds == holds
        (marks.kept if holds else marks.broken)["k-concealment, no choice"] += 1
        if verify(data, release, [promise], graph=graph).verdicts[0].passed != holds:
            marks.wrong.append(f"{promise} is {'kept' if holds else 'broken'}, and the audit says otherwise")


def sit_chance(marks: Marks, seed: int) -> None:
    """What only chance tells, on enough rows: rows in input order, and values not redrawn as is said."""
    rng = np.random.default_rng([seed, 300])
    n_rows = 400
    data = mixed_table(rng, n_rows, n_ages=200)
    orders = {"in input order": np.arange(n_rows), "in reversed order": np.arange(n_rows)[::-1].copy()}
    groups = rng.permutation(n_rows) // 4
    matrix = mixing_matrix(4, 4, 10)
    for words, order in orders.items():
        shuffled = rng.permutation(n_rows)
        for form, made, true in (
            ("grouped", grouped(data, groups, order), grouped(data, groups, shuffled)),
            (
                "bucketized",
                bucketized(data, groups, order, rng.permutation(n_rows)),
                bucketized(data, groups, shuffled, rng.permutation(n_rows)),
            ),
            ("perturbed", perturbed(rng, data, [matrix], order), perturbed(rng, data, [matrix], shuffled)),
        ):
            _told_by_chance(marks, f"{form} {words}", Case(made, data), Case(true, data), seed)
    release, graph = ring(rng, data, 3)
    redrawn = perturbed(rng, data, [mixing_matrix(4, 7, 10)], rng.permutation(n_rows))
    lied = replace(redrawn, randomizers=(matrix,))
    _told_by_chance(marks, "redrawn by another matrix", Case(lied, data), Case(release, data, graph), seed)
    plain = replace(lied, sensitive=data.sensitive, quasi=data.quasi, carried=data.carried)
    turned = rng.permutation(n_rows)
    bare = replace(plain, sensitive=plain.sensitive[turned], quasi=plain.quasi[turned], carried=plain.carried[turned])
    _told_by_chance(marks, "not redrawn at all", Case(bare, data), Case(redrawn, data), seed)
    for size in (2, 3, 5):
        _sit_twins(marks, rng, size, seed)
    _sit_sorted(marks, rng, data, seed)
    _sit_aligned(marks, rng, data, seed)
    _sit_alike(marks, rng, data, seed)
    _sit_chosen(marks, rng, seed)
    _sit_numbered(marks, rng, data, seed)


def _sit_numbered(marks: Marks, rng: np.random.Generator, data: Microdata, seed: int) -> None:
    """Buckets numbered by what is in them."""
    n_rows = data.n_rows
    buckets, ages, hidden = rng.permutation(n_rows) // 4, data.quasi[:, 0], data.sensitive[:, 0]
    n_buckets = int(buckets.max()) + 1
    members = [np.flatnonzero(buckets == bucket) for bucket in range(n_buckets)]
    honest = bucketized(data, buckets, rng.permutation(n_rows), rng.permutation(n_rows))
    for kind, figures in (
        ("buckets numbered by mean age", [ages[rows].mean() for rows in members]),
        ("buckets numbered by who has the first value", [ages[min(rows, key=lambda r: hidden[r])] for rows in members]),
        ("buckets numbered by input order", [rows.min() for rows in members]),
    ):
        numbers = np.argsort(np.lexsort((rng.permutation(n_buckets), figures)))
        made = bucketized(data, numbers[buckets], rng.permutation(n_rows), rng.permutation(n_rows))
        _told_by_chance(marks, kind, Case(made, data), Case(honest, data), seed)


def _sit_alike(marks: Marks, rng: np.random.Generator, data: Microdata, seed: int) -> None:
    """Rows that stand close to each other and are alike in what is hidden, in an order that does not rise."""
    n_rows = data.n_rows
    around = np.argsort(data.quasi[:, 0], kind="stable")
    groups = np.empty(n_rows, dtype=np.int64)
    groups[around] = np.arange(n_rows) // 4
    hospitals, buckets = rng.integers(0, 5, n_rows), rng.permutation(n_rows) // 5
    redrawn = perturbed(rng, data, [mixing_matrix(4, 4, 10)], np.arange(n_rows))
    kept = (redrawn.sensitive == data.sensitive).all(axis=1)
    together = np.array([1, 3, 0, 4, 2])[hospitals]
    chunks = rng.permutation(n_rows) // 20 * n_rows + np.argsort(around)
    for kind, key, made in (
        ("grouped, hospitals together", together, lambda at: grouped(data, groups, at)),
        ("grouped, chunks sorted by age", chunks, lambda at: grouped(data, groups, at)),
        ("points, hospitals together", together, lambda at: bucketized(data, buckets, at, rng.permutation(n_rows))),
        ("values, hospitals together", together, lambda at: bucketized(data, buckets, rng.permutation(n_rows), at)),
        ("perturbed, kept values first", ~kept, lambda at: moved(redrawn, at)),
        ("perturbed, true values together", (data.sensitive[:, 0] + 2) % 3, lambda at: moved(redrawn, at)),
    ):
        wrong = Case(made(np.lexsort((rng.permutation(n_rows), key))), data, unpublished={"hospital": hospitals})
        right = Case(made(rng.permutation(n_rows)), data, unpublished={"hospital": hospitals})
        _told_by_chance(marks, kind, wrong, right, seed)


def _sit_aligned(marks: Marks, rng: np.random.Generator, data: Microdata, seed: int) -> None:
    """Two tables of buckets in the same order, below a sort by what is published."""
    n_rows = data.n_rows
    buckets, hidden = rng.permutation(n_rows) // 5, data.sensitive[:, 0]
    drawn, other = rng.permutation(n_rows), rng.permutation(n_rows)

    def sort(column: Any, order: Any) -> Any:
        return order[np.argsort(column[order], kind="stable")]

    for kind, points, wrong, right in (
        ("both by bucket, the same order below", sort(buckets, drawn), sort(buckets, drawn), sort(buckets, other)),
        ("values by value, the order of the points below", drawn, sort(hidden, drawn), sort(hidden, other)),
    ):
        made, true = (bucketized(data, buckets, points, values) for values in (wrong, right))
        _told_by_chance(marks, kind, Case(made, data), Case(true, data), seed)


def _sit_chosen(marks: Marks, rng: np.random.Generator, seed: int) -> None:
    """As many values kept and changed as the matrix says, but of people who were chosen by a column."""
    n_rows, matrix = 600, mixing_matrix(4, 5, 11)
    quasi = np.column_stack([rng.integers(low, high, n_rows) for low, high in ((20, 80), (0, 2), (0, 50))])
    data = number_table(quasi, rng.integers(0, 4, n_rows))
    names = rng.permutation(n_rows)
    true = Case(perturbed(rng, data, [matrix], rng.permutation(n_rows)), data, unpublished={"name": names})
    for kind, column in (
        ("the young", quasi[:, 0]),
        ("one sex", quasi[:, 1]),
        ("even ages", quasi[:, 0] % 2),
        ("the young of one sex and the old of the other", (quasi[:, 0] < 50) == quasi[:, 1]),
        ("names", names),
    ):
        order = rng.permutation(n_rows)
        sensitive = chosen_to_keep(rng, data, matrix, column)[order]
        made = replace(true.release, sensitive=sensitive, quasi=data.quasi[order], carried=data.carried[order])
        _told_by_chance(marks, f"values kept of {kind}", replace(true, release=made), true, seed)


def chosen_to_keep(rng: np.random.Generator, data: Microdata, matrix: Randomizer, column: Any) -> Any:
    """Of each value as many are kept as the matrix says, those first in the column; the others are drawn anew."""
    shares = matrix.weights / matrix.total
    sensitive = data.sensitive.copy()
    for value in range(len(shares)):
        owners = np.flatnonzero(data.sensitive[:, 0] == value)
        owners = owners[np.lexsort((rng.random(len(owners)), np.asarray(column)[owners]))]
        left = np.where(np.arange(len(shares)) == value, 0.0, shares[:, value])
        others = owners[round(shares[value, value] * len(owners)) :]
        sensitive[others, 0] = rng.choice(len(shares), len(others), p=left / left.sum())
    return sensitive


def _sit_sorted(marks: Marks, rng: np.random.Generator, data: Microdata, seed: int) -> None:
    """Rows sorted by what is not published of them: exact quasi-identifiers, hidden values, names."""
    n_rows = data.n_rows
    around = np.argsort(data.quasi[:, 0], kind="stable")
    groups = np.empty(n_rows, dtype=np.int64)
    groups[around] = np.arange(n_rows) // 8
    buckets = rng.permutation(n_rows) // 5
    slots = [[int(around[(slot + step) % n_rows]) for step in range(3)] for slot in range(n_rows)]
    names, matrix, place = rng.permutation(n_rows), mixing_matrix(4, 4, 10), np.argsort(around)
    hidden = data.sensitive[:, 0]
    kinds = {
        "grouped, sorted by {}": ((("age", data.quasi[:, 0]), ("names", names)), lambda at: grouped(data, groups, at)),
        "matched, sorted by {}": (
            (("age", data.quasi[:, 0]), ("names", names)),
            lambda at: matched(data, slots, [slot[0] for slot in slots], place[at])[0],
        ),
        "points of buckets sorted by {}": (
            (("value", hidden), ("names", names)),
            lambda at: bucketized(data, buckets, at, rng.permutation(n_rows)),
        ),
        "values of buckets sorted by {}": (
            (("age", data.quasi[:, 0]), ("names", names)),
            lambda at: bucketized(data, buckets, rng.permutation(n_rows), at),
        ),
        "perturbed, sorted by {}": (
            (("value", hidden), ("names", names)),
            lambda at: perturbed(rng, data, [matrix], at),
        ),
    }
    for words, (columns, made) in kinds.items():
        honest = made(rng.permutation(n_rows))
        for name, column in columns:
            wrong = Case(made(np.lexsort((rng.permutation(n_rows), column))), data, unpublished={"names": names})
            _told_by_chance(marks, words.format(name), wrong, Case(honest, data, unpublished={"names": names}), seed)


def _sit_twins(marks: Marks, rng: np.random.Generator, size: int, seed: int) -> None:
    """Perturbed releases in which no combination of quasi-identifiers is unique."""
    n_rows, order = 400, rng.permutation(400)
    values = np.concatenate((np.arange(4), rng.integers(0, 4, n_rows - 4)))
    data = number_table((np.arange(n_rows) // size)[:, None], rng.permutation(values))
    honest = perturbed(rng, data, [mixing_matrix(4, 1, 4)], rng.permutation(n_rows))
    for words, shift in (("not redrawn", 0), ("exchanged by a rule", 1)):
        wrong = replace(honest, quasi=data.quasi[order], sensitive=(data.sensitive[order] + shift) % 4)
        kind = f"{words}, {size} records with equal quasi-identifiers"
        _told_by_chance(marks, kind, Case(wrong, data), Case(honest, data), seed)


def _told_by_chance(marks: Marks, kind: str, wrong: Case, right: Case, seed: int) -> None:
    marks.planted[kind] += 1
    marks.honest["of 400 rows"] += 1
    if verify(wrong.data, wrong.release, [], graph=wrong.graph, unpublished=wrong.unpublished).passed:
        marks.wrong.append(f"{kind}, seed {seed}: not noticed")
    if not verify(right.data, right.release, [], graph=right.graph, unpublished=right.unpublished).passed:
        marks.wrong.append(f"{kind}, seed {seed}: the honest one is refused")
