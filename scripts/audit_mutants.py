"""Is the audit's exam sharp enough? Small mistakes are put into the audit and the models, one at a time.

    python scripts/audit_mutants.py [seeds]

Each mutant is the package with one comparison turned, one prior wrong or one check skipped; the exam must
find releases on which it disagrees with the oracle. Prints every mutant and the score; a mutant that survives fails.
"""

from __future__ import annotations

import importlib.abc
import os
import sys
import tempfile
import time
import warnings
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "lookalike"
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
SEEDS = 6


class Mutant(NamedTuple):
    """A file of the package, what stands there, and what a mistake would make of it."""

    file: str
    right: str
    wrong: str


MUTANTS = [
    Mutant("models/shared/model.py", "return level.value >= self.k", "return level.value > self.k"),
    Mutant("models/shared/model.py", "return level.value >= self.k", "return level.value + 1 >= self.k"),
    Mutant("models/alpha_k.py", "return level.value <= self.alpha", "return level.value < self.alpha"),
    Mutant("models/alpha_k.py", "if smallest.value < self.k:", "if smallest.value < self.k - 1:"),
    Mutant("models/shared/exposures.py", "unit = int(np.argmin(sizes))", "unit = int(np.argmax(sizes))"),
    Mutant("models/f_privacy.py", "return level.value <= 1", "return level.value < 1"),
    Mutant("models/f_privacy.py", "belief / ceiling > worst", "belief / ceiling < worst"),
    Mutant("models/t_closeness.py", "level.value <= self.t", "level.value < self.t"),
    Mutant("models/t_closeness.py", "(-self.t, Fraction(2))]) <= 0", "(-self.t, Fraction(2))]) >= 0"),
    Mutant("models/t_closeness.py", "scale, moved = len(exposure.prior) - 1,", "scale, moved = len(exposure.prior),"),
    Mutant("models/delta_disclosure.py", "return level.value < self.delta", "return level.value <= self.delta + 1"),
    Mutant("models/delta_disclosure.py", "[(direction, factor)]) >= 0", "[(direction, factor)]) <= 0"),
    Mutant("models/delta_disclosure.py", "if lowest.beliefs[code] == 0:", "if False:"),
    Mutant(
        "models/t_closeness.py", "weights * n_records - priors * sizes, 0", "weights * n_records - priors * sizes, -1"
    ),
    Mutant("models/t_closeness.py", "gains * steps", "gains"),
    Mutant("models/t_closeness.py", "(_float_sums(terms, exposure) + 1) / 2", "_float_sums(terms, exposure) + 1"),
    Mutant("models/t_closeness.py", "bits[n_held < np.count_nonzero(exposure.prior)] = np.inf", "pass"),
    Mutant("models/l_diversity.py", "else level.value >= self.ell", "else level.value > self.ell"),
    Mutant("models/l_diversity.py", "return level.value < self.c if", "return level.value <= self.c if"),
    Mutant("models/l_diversity.py", "if not decided[counts]:", "if decided[counts]:"),
    Mutant(
        "models/l_diversity.py", "np.where(positive, exposure.weights, 0)", "np.where(positive, 0, exposure.weights)"
    ),
    Mutant(
        "models/shared/exposures.py", "quotients >= (extremes * (1 - _GUARD))", "quotients <= (extremes * (1 - _GUARD))"
    ),
    Mutant("models/shared/exposures.py", "entries[held < exposure.n_units] = -1", "pass"),
    Mutant("models/beta_likeness.py", "return level.value <= self.beta", "return level.value < self.beta"),
    Mutant("models/beta_likeness.py", "if sign_of(gain, [log_share]) > 0:", "if sign_of(gain, [log_share]) < 0:"),
    Mutant("models/beta_likeness.py", "if fallen.value > self.negative:", "if fallen.value >= self.negative:"),
    Mutant("models/beta_likeness.py", "gain = belief * exposure.n_records / number - 1", "gain = belief - 1"),
    Mutant("models/rho_privacy.py", "return level.value <= self.rho2", "return level.value < self.rho2"),
    Mutant("models/rho_privacy.py", "if cost > capacity:", "if cost >= capacity:"),
    Mutant(
        "models/l_diversity.py", "return sign_of(Fraction(0), terms) >= 0", "return sign_of(Fraction(0), terms) > 0"
    ),
    Mutant("models/l_diversity.py", "starts[:-1] + ell - 1, starts[1:]", "starts[:-1] + ell, starts[1:]"),
    Mutant("audit/preconditions.py", "lengths == {wanted} and not negative", "not negative"),
    Mutant("audit/preconditions.py", "if wrong.any():", "if False:"),
    Mutant("audit/preconditions.py", "return Check(_A_ROW, n_left <= 0, detail)", "return Check(_A_ROW, True, detail)"),
    Mutant("audit/preconditions.py", "return Check(_A_ROW, n_left <= 0", "return Check(_A_ROW, n_left <= 1"),
    Mutant("audit/buckets.py", "return Check(A_BUCKET, n_left <= 0, detail)", "return Check(A_BUCKET, True, detail)"),
    Mutant("audit/preconditions.py", 'Check("quasi-identifiers kept", passed', 'Check("quasi-identifiers kept", True'),
    Mutant("audit/preconditions.py", "        if n_hidden:\n            yield", "        if False:\n            yield"),
    Mutant("audit/preconditions.py", "any(counts.any() for counts in withheld.dummies)", "False"),
    Mutant("audit/preconditions.py", "(column < 0) | (column >= domain.n_codes)", "(column < 0)"),
    Mutant(
        "audit/matching.py", 'Check("graph within the ranges", n_outside == 0', 'Check("graph within the ranges", True'
    ),
    Mutant("audit/matching.py", "uneven = of_record[owner] != of_row[rows]", "uneven = of_record[owner] < 0"),
    Mutant(
        "audit/matching.py", 'Check("graph carries the truth", n_left <= 0', 'Check("graph carries the truth", True'
    ),
    Mutant("audit/matching.py", "if found.exists is False and requirement.stricter:", "if False:"),
    Mutant(
        "audit/verify.py",
        "            return judge_promise(promise, seen), seen, []",
        "            return verdict_of(promise, True, '', None) if by_flow else judge_promise(promise, seen), seen, []",
    ),
    Mutant("audit/perturbation.py", 'yield Check(f"matrix of {where}", problem is None,', 'yield Check("", True,'),
    Mutant("audit/perturbation.py", 'Check("carried values kept", n_changed == 0', 'Check("carried values kept", True'),
    Mutant("audit/perturbation.py", 'return 0.0, f"{counted(n_never', 'return 1.0, f"{counted(n_never'),
    Mutant("audit/exposures.py", "kept = ~reading.is_told_dummy[rows]", "kept = reading.is_told_dummy[rows]"),
    Mutant("audit/exposures.py", "joint = weights[published] * counts.astype(exact)", "joint = weights[published]"),
    Mutant("audit/exposures.py", "joint = weights[published]", "joint = weights.T[published]"),
    Mutant("audit/exposures.py", "component[owner] == component[node_of_row[rows]]", "component[owner] >= 0"),
    Mutant(
        "audit/reading.py",
        "(original.sensitive, original.carried), (release.sensitive, release.carried)",
        "(original.carried,), (release.carried,)",
    ),
    Mutant("audit/joining.py", "if n_records != first.n_whole:", "if False:"),
    Mutant("audit/joining.py", "if not same or part.n_whole != first.n_whole:", "if False:"),
    Mutant("audit/order/__init__.py", "if worst.chance < SELDOM:", "if False:"),
    Mutant("audit/order/__init__.py", "reading.unpublished.items()", "()"),
    Mutant("audit/order/sorting.py", "2 * fewest_inversions(extreme, sizes, ties)", "1.0"),
    Mutant("audit/order/sorting.py", "if rises.any() != falls.any() or (", "if True or ("),
    Mutant("audit/perturbation.py", "if found.chance < SELDOM:", "if False:"),
    Mutant(
        "audit/perturbation.py", "tests = self.kept.at_least, self.kept.at_most, self.by_rule", "tests = self.by_rule"
    ),
    Mutant("audit/perturbation.py", "self.by_rule, by_pair, _chance_of(self.chosen)", "1.0"),
    Mutant("audit/perturbation.py", "whole = sizes == np.bincount(", "whole = 1 == np.bincount("),
    Mutant("pipeline/hidden_data/folder.py", "if extra := sorted(found - known):", "if extra := []:"),
    Mutant("pipeline/hidden_data/folder.py", "if path.is_symlink():", "if False:"),
    Mutant("pipeline/hidden_data/folder.py", "for name in (*folders, *files):", "for name in files:"),
    Mutant("pipeline/hidden_data/folder.py", "if raw == text.encode():", "if raw.split() == text.encode().split():"),
    Mutant("pipeline/hidden_data/folder.py", "SCHEMA: opened.schema.to_yaml(),", ""),
    Mutant(
        "pipeline/hidden_data/folder.py",
        "README: readme(release, plain, manifest.tables, names, manifest.parts, opened.schema),",
        "",
    ),
    Mutant("pipeline/hidden_data/folder.py", "if isinstance(release, Bucketized):", "if False:"),
    Mutant("pipeline/hidden_data/folder.py", "if problem is None and isinstance(release, Perturbed):", "if False:"),
    Mutant("pipeline/hidden_data/folder.py", "if stated != state_promise(", "if False and stated != state_promise("),
    Mutant(
        "pipeline/hidden_data/folder.py",
        "if not manifest.promises:\n        return Check(_PROMISES, False",
        "if False:\n        return Check(_PROMISES, False",
    ),
    Mutant(
        "pipeline/hidden_data/tables.py",
        "elif (row := _first_other_cell(field, found, own_field, wanted)) is not None:",
        "elif (row := None) is not None:",
    ),
    Mutant("pipeline/hidden_data/tables.py", "    if field.type is not own_field.type:", "    if True:"),
    Mutant("pipeline/hidden_data/tables.py", "if distinct[0] < 0 or not even or", "if distinct[0] < 0 or"),
    Mutant("pipeline/hidden_data/tables.py", "if differ(paths[CSV], again[CSV]):", "if False:"),
    Mutant("pipeline/hidden_data/tables.py", "if differ(paths[PARQUET], again[PARQUET]):", "if False:"),
    Mutant("pipeline/hidden_data/other_tools.py", "    if telling:", "    if False:"),
    Mutant(
        "pipeline/hidden_data/other_tools.py",
        "            if seen.setdefault(content, cell) != cell:",
        "            if False:",
    ),
    Mutant(
        "pipeline/hidden_data/other_tools.py",
        "seen.setdefault(content, cell) != cell:",
        "(seen.setdefault(content, cell) or '').strip() != (cell or '').strip():",
    ),
    Mutant("pipeline/hidden_data/other_tools.py", "if len(set(named)) < len(named):", "if False:"),
    Mutant("pipeline/hidden_data/other_tools.py", "if len(parquet) > 1:", "if False:"),
    Mutant(
        "pipeline/hidden_data/other_tools.py",
        "if problem := metadata_problem(key, value, facts):",
        "if problem := None:",
    ),
    Mutant("pipeline/hidden_data/arrow.py", "if problem is not None or key in seen:", "if key in seen:"),
    Mutant("pipeline/hidden_data/arrow.py", 'return "has metadata of a column"', "return None"),
    Mutant("pipeline/hidden_data/metadata.py", "in range(shown, len(used) + 1)", "in range(shown, len(used) + 2)"),
    Mutant("pipeline/hidden_data/archives.py", "if len(members) != 1:", "if not members:"),
    Mutant("pipeline/hidden_data/archives.py", "if not found:", "if False:"),
    Mutant("pipeline/hidden_data/excel.py", "    if others:", "    if False:"),
]

EXAM_ROOMS = ("grouped", "perturbed")
"""Forms that are also examined in parts."""


def first_disagreement(seeds: int) -> str | None:
    """What the exam says first against the audit as it is imported; None: nothing."""
    from tests.audit.planting import exam
    from tests.audit.planting.cases import FORMS
    from tests.audit.planting.exam import Marks, sit
    from tests.audit.planting.parts import FORMS_IN_PARTS
    from tests.audit.planting.plants import PLANTS
    from tests.audit.planting.rooms import sit_chance, sit_forced, sit_parts, sit_ties, sit_told_by_parts

    exam.PLANTS_A_CASE = len(PLANTS)
    marks = Marks()
    try:
        for seed in range(seeds):
            for form in FORMS:
                sit(marks, form, seed)
                if marks.wrong:
                    return marks.wrong[0]
            for form in EXAM_ROOMS:
                sit_parts(marks, form, seed)
            for form in FORMS_IN_PARTS:
                sit_told_by_parts(marks, form, seed)
            if seed == 0:
                sit_chance(marks, seed)
                sit_ties(marks)
                sit_forced(marks)
            if marks.wrong:
                return marks.wrong[0]
    except Exception as error:
        return f"stopped by {type(error).__name__}"
    return None


def first_disagreement_on_files(seeds: int) -> str | None:
    """The same for what is read from files."""
    from tests.audit.planting.cases import FORMS
    from tests.audit.planting.exam import Marks
    from tests.audit.planting.rooms import sit_boxes, sit_foreign, sit_messages

    marks = Marks()
    try:
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                sit_boxes(marks, seed, Path(folder))
                if marks.wrong:
                    return marks.wrong[0]
                for table in range(10):
                    sit_foreign(marks, 10 * seed + table, Path(folder))
                    if marks.wrong:
                        return marks.wrong[0]
            for form in FORMS:
                with tempfile.TemporaryDirectory() as folder:
                    sit_messages(marks, form, seed, Path(folder))
                if marks.wrong:
                    return marks.wrong[0]
    except Exception as error:
        return f"stopped by {type(error).__name__}"
    return None


class Mistaken(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports one module of the package with a mistake in it."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None

    def get_filename(self, fullname: str) -> str:
        return str(self.path)

    def get_data(self, path: str) -> bytes:
        return self.source.encode()


def noticed(mutant: Mutant | None, seeds: int) -> str | None:
    """The exam against a mutant (None: against the audit as it is), in a process of its own."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        # Compiled kernels and libraries stay; everything else of the package is imported again.
        for name in [name for name in sys.modules if name.startswith(("lookalike", "tests"))]:
            if not name.startswith("lookalike.kernels"):
                del sys.modules[name]
        if mutant is not None:
            path = PACKAGE / mutant.file
            source = path.read_text(encoding="utf-8").replace(mutant.right, mutant.wrong)
            name = "lookalike." + mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            sys.meta_path.insert(0, Mistaken(name, path, source))
        # Polars starts threads, which a fork does not take along: files are read in children alone.
        on_files = mutant is None or mutant.file.startswith("pipeline/hidden_data/")
        found = first_disagreement_on_files(seeds) if on_files else None
        if mutant is None or not on_files:
            found = found or first_disagreement(seeds)
        os.write(sending, (found or "").encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        found = pipe.read().decode()
    os.waitpid(child, 0)
    return found or None


def main(arguments: list[str]) -> int:
    seeds = int(arguments[0]) if arguments else SEEDS
    warnings.simplefilter("ignore")
    started, survivors = time.perf_counter(), 0
    assert first_disagreement(1) is None, "the audit itself does not pass its exam"
    assert noticed(None, 1) is None, "the audit does not pass its exam when it is imported again"
    for mutant in MUTANTS:
        if mutant.right not in (PACKAGE / mutant.file).read_text(encoding="utf-8"):
            raise SystemExit(f"{mutant.file} has changed and no longer says {mutant.right!r}: correct the list")
        found = noticed(mutant, seeds)
        survivors += found is None
        words = f"{'noticed ' if found else 'SURVIVED'}  {mutant.file}: {mutant.wrong!r}"
        print(f"{words[:110]}  {found or ''}"[:200], flush=True)
    n_noticed = len(MUTANTS) - survivors
    print(f"\n{n_noticed} of {len(MUTANTS)} mutants noticed, {time.perf_counter() - started:.0f} seconds")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
