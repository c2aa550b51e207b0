"""Opening a release: every file is read once, and questions read nothing more."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike import untrusted
from lookalike.analysis.counts import Queries, estimate_counts
from lookalike.files.releases.write import write_release
from tests.apps.cli.running import lookalike
from tests.files.releases.release_forms import FORMS, MANIFEST, clinic_release


@pytest.fixture
def files_read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file is read, by name."""
    found: Counter[str] = Counter()
    for owner, name in ((pl, "read_parquet"), (pl, "read_csv"), (untrusted, "read_bytes")):
        real = getattr(owner, name)

        def counting(path: Any, *rest: Any, real: Any = real, **options: Any) -> Any:
            found[Path(path).name] += 1
            return real(path, *rest, **options)

        monkeypatch.setattr(owner, name, counting)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_file_is_read_once(form: str, tmp_path: Path, files_read: Counter[str]) -> None:
    _, release = clinic_release(form)
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    tables = ("qit", "sat") if form == "bucketized" else ("release",)
    once = {
        "datapackage.json",
        "schema.yaml",
        *(f"{name}.{ending}" for name in tables for ending in ("csv", "parquet")),
    }
    files_read.clear()
    opened = la.open_release(tmp_path / "out")
    assert files_read == dict.fromkeys(once, 1)
    opened.query("SELECT COUNT(*), diagnosis WHERE age > 30 GROUP BY diagnosis")
    opened.sample(1)
    assert files_read == dict.fromkeys(once, 1)
    files_read.clear()
    assert lookalike("query", tmp_path / "out", "SELECT COUNT(*) WHERE age > 30").returncode == 0
    assert files_read == dict.fromkeys(once, 1)


@pytest.mark.parametrize("form", ["bucketized", "perturbed"])
def test_a_folder_answers_as_the_release_in_memory_does(form: str, tmp_path: Path) -> None:
    data, release = clinic_release(form)
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    opened = la.open_release(tmp_path / "out")
    names = [domain.name for domain in data.domains.quasi]
    known, illness = data.domains.quasi[names.index("age")], data.domains.sensitive[0]
    queries = Queries.everything(data.domains, 1)
    queries.quasi[names.index("age")][0, : len(known.values)] = known.values > 30
    queries.quasi[names.index("age")][0, len(known.values) :] = False
    queries.sensitive[0][0] = np.arange(illness.n_codes) == list(illness.values).index("flu")
    answers = estimate_counts(queries, release)
    found = opened.count({"age": (31, None), illness.name: "flu"})
    assert (found.unclipped, found.error) == (pytest.approx(answers.counts[0]), pytest.approx(answers.errors[0]))
