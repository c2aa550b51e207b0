"""Kernels compiled beforehand: for the types that runs call them with, and shared out among processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lookalike.algorithms import ALGORITHMS
from lookalike.audit import name_kernels
from lookalike.kernels import list_kernels
from lookalike.pipeline.warm_up import _divide, warm_up

RUNS = """
import polars

import lookalike as la
from lookalike import kernels
from lookalike.pipeline import warm_up

warm_up.warm_up = lambda *given: 0
rows = [(age, sex, age % 7) for age in range(20, 80) for sex in "fm"]
table = polars.DataFrame(rows, schema=["age", "sex", "illness"], orient="row")
asked = {"qi": ["age", "sex"], "sensitive": "illness", "numeric": ["age"], "seed": 1}
for name, model in [line.split() for line in SERVED]:
    la.publish(table, model=model, algorithm=name, **asked)
for name, (kernel, types) in kernels._ENTRIES.items():
    declared = tuple(kernels._type_of(text) for text in types.split(", "))
    for found in kernel.signatures:
        if name != "axes.sort_by_code" and found != declared:
            print(name, found, declared)
"""


def test_kernels_are_compiled_for_the_types_that_runs_call_them_with() -> None:
    served = ["groups l-diversity:3", "groups:mode=strict l-diversity:3", "mondrian t-closeness:0.5"]
    served += ["heterogeneous l-diversity:3", "freeform k-anonymity:3", "ring k-anonymity:3", "burel beta-likeness:3"]
    served += ["anatomy l-diversity:3", "two-size l-diversity:3", "greedy-grouping l-diversity:2"]
    told = subprocess.run(
        [sys.executable, "-c", RUNS.replace("SERVED", repr(served))], capture_output=True, text=True, check=True
    )
    assert told.stdout == ""


def test_every_kernel_that_is_named_exists() -> None:
    known = set(list_kernels())
    for kind in ALGORITHMS.values():
        assert known.issuperset(kind.kernels), kind.name
    for form in ("grouped", "matched", "bucketized", "perturbed"):
        assert known.issuperset(name_kernels(form, 10**6))


@pytest.mark.parametrize("n_processes", [1, 2, 3, 8, 100])
def test_kernels_are_shared_out_and_none_is_lost(n_processes: int) -> None:
    kernels = list_kernels()
    batches = _divide(kernels, n_processes)
    assert sorted(name for batch in batches for name in batch) == sorted(kernels)
    assert len(batches) == min(n_processes, len(kernels))
    assert all(batches)
    modules = [{name.partition(".")[0] for name in batch} for batch in batches]
    if n_processes <= 3:
        assert sum(map(len, modules)) == len(set.union(*modules))


def test_nothing_to_compile_starts_nobody() -> None:
    assert _divide([], 4) == []


def test_what_a_process_compiles_the_next_one_finds(tmp_path: Path) -> None:
    code = (
        "from lookalike.pipeline.warm_up import find_missing, warm_up; names = ['regular.take_apart']; "
        "print(find_missing(names), warm_up(names), find_missing(names), warm_up(names))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "['regular.take_apart'] 1 [] 0\n"


def test_a_folder_with_a_module_of_some_name_is_not_imported_from(tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text("open('imported', 'w').close()")
    code = "from lookalike.pipeline.warm_up import warm_up; print(warm_up(['regular.take_apart']))"
    told = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "1\n"
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("executable", [None, "", "/nowhere/python"])
def test_where_no_process_can_be_started_nothing_fails(executable: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", executable)
    monkeypatch.setattr("lookalike.pipeline.warm_up.list_compiled", set)
    assert warm_up(["regular.take_apart"]) == 0


def test_without_a_compiler_nothing_is_missing() -> None:
    code = "from lookalike.pipeline.warm_up import find_missing; print(find_missing())"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "[]\n"


def test_matrix_products_of_others_compile_as_before() -> None:
    """Kernels do without BLAS, so SciPy is not loaded for it; anyone who needs it gets it from Numba."""
    code = (
        "import sys, lookalike.kernels, numba, numpy; assert 'scipy.linalg' not in sys.modules\n"
        "print(numba.njit(lambda one: numpy.dot(one, one))(numpy.eye(2)).tolist())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[[1.0, 0.0], [0.0, 1.0]]\n"
